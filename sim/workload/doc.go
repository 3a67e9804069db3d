// Package workload says which requests arrive when: it reads recorded traces,
// draws synthetic ones, and transforms either.
//
// Everything here is a Source, which yields one request at a time, in order of
// arrival, so a trace of any length is replayed in constant memory. There are
// three exceptions: a trace that is sorted (Options.Sort) is held whole; ids of
// requests that don't count up are kept, to find those that come twice; and so
// is each different text of a session or a class. A closed loop takes memory for
// each of its users.
//
// A request is lengths and an instant; what serving it costs, and when, is not
// known here.
package workload
