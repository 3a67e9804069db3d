// Command servesim replays a request trace through a model of an LLM serving
// engine and says which latency each user would have seen, how many of them
// met every limit at once, and why the tail looks as it does.
//
// A scenario, a TOML file, says what is simulated; flags say which scenario and
// where results go. Each verb has a file of this package, large ones several.
// The result goes to stdout, the warnings that belong to it included, and
// nothing else does; progress and faults go to stderr. The exit status is 0 if
// all went well, 1 if the work failed, 2 if the command line or a file it names
// is at fault, 3 if a limit that had to be met was missed, 4 if a gate is too
// close to call.
//
// README.md is the manual; its command blocks are executed by a test.
package main
