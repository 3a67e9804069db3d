// Package observe defines the records that a run emits, the sinks that take
// them, and the files that keep them.
//
// A run emits records and nothing else: every number that anyone sees is
// computed from them, so a simulated and a measured run are graded by the same
// code. Package observe computes nothing.
package observe
