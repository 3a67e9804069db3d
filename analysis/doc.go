// Package analysis computes every number that anyone sees from the records of
// a run, simulated or measured: quantiles, latencies, goodput, comparisons.
//
// Spans are integers of picoseconds from the records to the result. Only two kinds
// of number are rounded: a quotient, to the nearest picosecond, and the comment of
// that number says so; and the percentiles of more values than are kept, 2^20
// spans or runs of gaps, which come from a histogram and carry a Resolution. "No
// data" is OK == false, never 0.
//
// An Interval says how precisely a run of this length knows a number. It is an
// estimate, made of floats by operations that give the same on every machine.
package analysis
