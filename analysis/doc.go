// Package analysis computes every number that anyone sees from the records of
// a run, simulated or measured: quantiles, latencies, goodput, comparisons.
//
// Spans are integers of picoseconds from the records to the result. Nothing is
// rounded except where a quotient has to be, to the nearest picosecond, and the
// comment of that number says so. "No data" is OK == false, never 0.
package analysis
