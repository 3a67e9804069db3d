// Package dialect computes what a benchmark tool would have printed about the
// calls of a run. The tools agree on names such as TTFT and ITL and on little
// else: which chunk ends the wait, whether a pause belongs to a chunk or to a
// token, what a rate is divided by, what a failed call or a short answer counts.
//
// A Dialect is a value that says all this; one engine, Sink, computes any of
// them from the calls of package transcript, and measures that two dialects have
// in common are computed once. What the calls do not support is said and not
// computed. Spans are integers of picoseconds until they are printed.
//
// It runs no tool and reads none of their files.
package dialect
