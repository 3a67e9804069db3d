// Package engine joins a workload, a batching policy and a cost model into a
// run: it decides what is true when, and emits the records of package observe.
//
// It has one event per change of the batch (an arrival, a completion, a block
// running out, a piece of the cost curve ending), not one per token. Because
// time is an integer and a decode step's cost grows by a fixed amount, many
// steps are added in closed form and still equal, bit for bit, the sum made one
// step at a time; internal/stepwise makes that sum, and both must emit
// identical records.
//
// A run may be of several replicas, equal engines behind a Router, on one
// calendar. Each goes on by itself until somebody is sent to it, so that a pool
// costs little more than its replicas alone.
//
// At one instant all facts come before all choices: the ends of steps, then
// arrivals and deadlines, then the next batches, the replica of the lowest number
// first; what a choice brings about at its instant is a fact before the next
// choice. What happens during a step is seen by the plan made when it ends; with
// asynchronous scheduling, which plans each step as the one before it starts, that
// is the plan of the next step but one. An idle engine consumes no time.
package engine
