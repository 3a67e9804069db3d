// Package scenario makes of a scenario file everything that a simulation's
// result follows from, and runs it.
//
// A scenario is a TOML file, and settings of single keys that change it. Load
// reads it, gives each absent key its default, loads the machine and the model
// that it names and checks it all, every fault at once; what comes of it is a
// Plan, which prints itself as a file that runs the same, has a hash, and
// simulates. A Result has the report, what became of the input, and what a
// reader should know of both.
//
// It is neither a command nor a report: it knows no terminal, writes nothing and
// decides nothing about several runs. What it opens are the files that a scenario
// names.
package scenario
