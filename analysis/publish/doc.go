// Package publish writes runs as files of other tools: the results of vLLM's and
// AIPerf's benchmarks, tables of requests and steps, and what vLLM's server would
// have told Prometheus.
//
// Times are written as exact decimals, so that who reads them as such has each
// picosecond again, and who reads floats has what the tool would have written.
// Nothing in a file depends on the clock: a run begins when Run.Begin says.
//
// It computes no metric of its own: package dialect does, from the same calls.
package publish
