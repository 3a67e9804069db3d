// Package explain says why a run's latencies are as they are: which prompts cost
// others time, one request's life step by step, what each knob of the engine would
// change, what cutting prompts into chunks protects and what it costs, and where.
//
// It simulates scenarios again with one change each, under the same arrivals, and
// judges differences by intervals: over seeds where requests are drawn, so that the
// luck of a seed cancels, and within the run where they come from a trace. Its
// sentences are chosen by what was computed; the thresholds are constants here, and
// the sentences say them.
//
// It recommends nothing: which change is worth its price is for its reader.
package explain
