package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestInterruptibleReadsItAll holds that a stream comes through as it is.
func TestInterruptibleReadsItAll(t *testing.T) {
	text := strings.Repeat("0123456789", interruptBuffer/5)
	for _, from := range []io.Reader{strings.NewReader(text), iotest.DataErrReader(strings.NewReader(text)), iotest.HalfReader(strings.NewReader(text))} {
		got, err := io.ReadAll(&interruptible{ctx: t.Context(), from: from})
		if err != nil || string(got) != text {
			t.Errorf("%d of %d bytes, %v", len(got), len(text), err)
		}
	}
	broken := errors.New("broken")
	r := &interruptible{ctx: t.Context(), from: io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(broken))}
	if got, err := io.ReadAll(r); string(got) != "ab" || !errors.Is(err, broken) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSilentStdinIsInterrupted runs a trace from a pipe that says nothing, or
// stops in the middle.
func TestSilentStdinIsInterrupted(t *testing.T) {
	for _, begun := range []string{"", azure} {
		inFolder(t, map[string]string{"s.toml": small})
		silent, in := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		var out, stderr bytes.Buffer
		done := make(chan int)
		go func() {
			done <- Main(ctx, env{stdin: silent, stdout: &out, stderr: &stderr}, []string{"run", "s.toml", "--trace", "-", "--records", "r.jsonl"})
		}()
		if begun != "" {
			if _, err := io.WriteString(in, begun); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		select {
		case code := <-done:
			if code != exitFailed || out.Len() > 0 || !strings.Contains(stderr.String(), "interrupted: there is no result") {
				t.Errorf("exit %d, stdout %q, stderr %q", code, &out, &stderr)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("it still waits")
		}
		in.Close()
	}
}
