// Package perfetto writes a run as a trace of Perfetto's own format, a stream of
// TrackEvent packets in protocol buffers, which ui.perfetto.dev and trace_processor
// open: one process for each replica with its steps as slices and its counters, one
// track for each request, and flows from a prompt's chunk to the decodes that it
// delayed.
//
// The fields are those of protos/perfetto/trace in the Perfetto repository. Instants
// are nanoseconds since the run began, rounded down.
//
// What is kept while a run is written is the steps and requests since the oldest
// request that runs began to, so that memory doesn't grow with the run. A run that is
// too long to look at is drawn around the requests that did worst by its limits; a
// Scout, which sees the run once before, says where.
//
// It is no report: it computes no metric, and has every time from the records.
package perfetto
