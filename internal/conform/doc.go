// Package conform replays schedules recorded from the real engines' schedulers
// through the policies of sim/scheduler and compares them step by step: tokens
// per sequence in batch order, emissions, ends, preemptions, free blocks, and
// where recorded the running list and the queue.
package conform
