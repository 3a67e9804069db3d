// Package sim is the kernel of the simulator: simulated time, a calendar of
// events, and named random streams.
//
// It knows nothing of requests, schedulers or GPUs, imports only the standard
// library, logs nothing and starts no goroutine. Everything else in the module
// is built on it.
//
// The one invariant: time is an integer number of picoseconds, so a sum of
// durations has the same value in whatever order and in however many parts it
// is added. That is what lets a closed form over many steps equal the sum made
// one step at a time, bit for bit.
package sim
