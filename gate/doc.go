// Package gate is limits as code for continuous integration: a file says what users
// must get, at which load, and how well that must be known, and a Gate answers with
// a verdict, its evidence and what to measure next.
//
// A gate is on goodput, the share of requests that met every limit at once, failed
// ones included; it refuses what would pass for one and isn't, such as a limit on
// throughput alone. It judges simulated runs and those that a benchmark tool
// measured, which Read, Simulate and Measure keep to the same rules.
//
// It opens no file but those that a scenario names; files of results are opened by
// its caller. The same file gives the same bytes however many cores it has.
package gate
