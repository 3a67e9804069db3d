// Package scheduler holds the batching policies: which requests run in the next
// step, how many prompt tokens each computes, and who is preempted.
//
// A policy is named for an engine and its version range, because details decide
// tails; each reproduces, step for step, schedules recorded from the real
// engine. It knows no clock: the engine tells it what arrived and what ended,
// and it answers with the next step and with how often that step can repeat
// unchanged.
//
// Decoding sequences are not touched each step. They form a group with one
// step counter; a sequence's progress is the difference between the counter and
// its value when the sequence joined. Work a step is therefore proportional to
// what changes, except where the order of the batch matters (a step that
// preempts or cannot serve every decode, V0 with an unfinished prompt, V0's
// priorities), which is walked as the engine does.
//
// Schedules are those of synchronous scheduling, in which a call sees the
// result of the step before. With asynchronous scheduling the real engine plans
// one step ahead of that: an arrival may wait a step longer, and blocks return a
// step later. Only the overlap of its host time is modelled, in the cost of a step.
package scheduler
