// Package capacity answers how much load a deployment carries while its users get
// what they must, and how many GPUs, of which kind, a given load takes.
//
// It simulates scenarios at chosen rates and judges each by its limits, whose
// intervals package analysis gives. A rate is simulated for longer and longer
// until the intervals say whether it passes, and no longer. Rates are those of a
// fixed grid, and a search visits them in an order that follows from the
// judgements alone, under the same random numbers; so an answer is the same on any
// number of cores, and looser limits never have a smaller one.
//
// It is not a model of queueing: every figure is that of a simulated run.
package capacity
