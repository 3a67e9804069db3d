// Package analysis computes every number that anyone sees from the records of
// a run, simulated or measured: quantiles, latencies, goodput, comparisons.
//
// Spans are integers of picoseconds from the records to the result. Only two kinds
// of number are rounded: a quotient, to the nearest picosecond, and the comment of
// that number says so; and the percentiles of more values than are kept, 2^20
// spans or runs of gaps, which come from a histogram and carry a Resolution. "No
// data" is OK == false, never 0.
//
// That histogram is the sketch of the package: log-linear buckets at most 2^-12 of
// their values wide, so that a quantile is within 0.0123 % of the value that it stands
// for, plus 1 ps. Its counts are integers and its bounds powers of two, so that
// merging is exact and the same in any order, on every machine. DDSketch (Masson, Rim
// and Lee, PVLDB 12, 2019) has the same properties but for the last: its bounds are
// powers of a number near 1, found by a logarithm of floats for each value. At
// the same error it takes seven tenths of the memory, which is 32 KiB here for each
// power of two between the shortest and the longest value. A run of gaps that rise by a step costs
// the histogram an addition for each bucket that it crosses, and DDSketch one for
// each gap, of which there are hundreds of times as many as requests.
//
// An Interval says how precisely a run of this length knows a number. It is an
// estimate, made of floats by operations that give the same on every machine.
package analysis
