package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that the first interrupt or request to
// terminate cancels. A second one ends the program at once, as if nobody had
// asked for the first.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals)
		cancel()
	}()
	return ctx
}

// interruptBuffer is how many bytes an interruptible asks for at once.
const interruptBuffer = 64 << 10

// An interruptible reads from a stream that may never say anything, such as a
// terminal, until its context is cancelled: a Read that waits then returns the
// context's error. What the stream says after that is lost.
type interruptible struct {
	ctx  context.Context
	from io.Reader

	buf  []byte    // what reads into, when none is under way
	rest []byte    // what was read and not yet returned
	err  error     // what follows rest
	read chan turn // what the read under way will say
}

// A turn is what one Read said.
type turn struct {
	n   int
	err error
}

// Read implements io.Reader.
func (r *interruptible) Read(p []byte) (int, error) {
	for len(r.rest) == 0 && r.err == nil {
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		r.more()
	}
	if len(r.rest) > 0 {
		n := copy(p, r.rest)
		r.rest = r.rest[n:]
		return n, nil
	}
	return 0, r.err
}

// more waits for the stream or the end of the context.
func (r *interruptible) more() {
	if r.buf == nil {
		r.buf, r.read = make([]byte, interruptBuffer), make(chan turn, 1)
	}
	go func() {
		n, err := r.from.Read(r.buf)
		r.read <- turn{n, err}
	}()
	select {
	case t := <-r.read:
		r.rest, r.err = r.buf[:t.n], t.err
	case <-r.ctx.Done():
		r.err = r.ctx.Err()
	}
}
