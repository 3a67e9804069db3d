package workload

import "servesim/internal/infile"

// Fault is something wrong with a trace: where it is, what was found there,
// what is allowed and how to put it right. Every error of Open, Read and
// Trace.Next but io.EOF is a *Fault.
type Fault = infile.Fault
