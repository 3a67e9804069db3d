// Package workers does what is numbered from 0 up on several goroutines at once.
//
// It collects neither results nor errors: what is done keeps its own, by its
// number, so that nothing depends on which goroutine did it. Fault picks the error to
// tell among them.
package workers
