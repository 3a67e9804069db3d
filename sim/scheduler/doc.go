// Package scheduler holds the batching policies: which requests run in the next
// step, how many prompt tokens each computes, and who is preempted.
//
// A policy is named for an engine and its version range, because details decide
// tails; each reproduces, step for step, schedules recorded from the real
// engine, or of TensorRT-LLM those of a model written from its source. It knows
// no clock: the engine tells it what arrived and what ended, and it answers with
// the next step and with how often that step can repeat unchanged.
//
// Decoding sequences are not touched each step. They form a group with one
// step counter; a sequence's progress is the difference between the counter and
// its value when the sequence joined. Work a step is therefore proportional to
// what changes, except where the order of the batch matters (a step that
// preempts or cannot serve every decode, V0 with an unfinished prompt, V0's
// priorities), which is walked as the engine does.
//
// With asynchronous scheduling a call does not see the result of the step
// before, only that of the one before that: who ended keeps its slot and its
// blocks for one more step, and the engine, which knows the clock, tells of
// arrivals a step late.
//
// SGLang decodes such a request once more in that step, for nothing, and a plan of
// it can take back the token of the step before from a request that it retracts
// (Loss.Discarded): its caller makes the next plan before it hands tokens out.
package scheduler
