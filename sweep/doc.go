// Package sweep simulates many scenarios that differ in some of their keys, and
// keeps what each came to.
//
// A plan, a TOML file, says which: a base scenario, keys that are set in all, and
// a list, a grid, windows of time or samples of the others. Each combination is a
// point. Its result goes to a file of its own, whole or not at all, under a name
// that follows from everything the result follows from: points that are there
// aren't simulated again, and points may be divided over goroutines, processes
// and machines without a word between them. Merging reads the files in the order
// of the plan, so that the tables are the same bytes however the work was divided
// and however often it was interrupted.
//
// It submits no jobs and watches none: it writes the files with which a cluster's
// own tools do. It searches nothing: what to look at next is for its reader.
package sweep
