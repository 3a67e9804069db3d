// Package arch holds no code: its tests are the architecture of servesim.
//
// They say which package may import which, how large a file and a function may
// be, and what a library must not do. They run with every `go test ./...`, and
// each fails with a sentence that says what to do instead. Widening a row or a
// budget is a design decision, not a way to get a build green.
package arch
