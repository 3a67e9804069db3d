// Package workload says which requests arrive when: it reads recorded traces,
// draws synthetic ones, and transforms either.
//
// Everything here is a Source, which yields one request at a time, in order of
// arrival, so a trace of any length is replayed in constant memory. A request
// is lengths and an instant; what serving it costs, and when, is not known here.
package workload
