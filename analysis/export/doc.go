// Package export reads the files in which benchmark tools leave what they saw,
// request by request, and servesim's own records, and gives the calls in them to
// package dialect as package transcript has them.
//
// A file is told by its content, whatever it is called. It is read twice: once to
// find all that is wrong with it, what it knows and what it doesn't, and once for
// its calls, so that a file of any size needs no more memory than one of its
// records. Formats that are one record themselves (vLLM's and SGLang's results)
// need some 30 bytes for each gap of a run. Names of calls cost 30 bytes each, for
// none may come twice.
//
// What a file lacks is said and never made up. It computes no metric.
package export
