package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"servesim/scenario"
)

// The exit codes of every verb.
const (
	exitOK     = 0 // the work is done
	exitFailed = 1 // the work failed: a mismatch, a full disk, an interrupt
	exitUsage  = 2 // the command line, or a file that it names, is at fault
	exitSLO    = 3 // the run is done, and missed a limit that it had to meet
	exitClose  = 4 // the runs are done, and too few to say whether a gate is passed
)

// An env is the world as a command may see it; tests pass buffers.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	tty            bool // stderr is a terminal, so a progress bar is welcome
	colour         bool // stdout is a terminal that shows colours
	blocks         bool // characters are UTF-8, so pictures may have blocks
	level          *level
}

// open opens the file at path, or standard input if it stands for that.
func (e env) open(path string) (io.ReadCloser, error) {
	if path == scenario.StdinPath {
		return io.NopCloser(e.stdin), nil
	}
	return os.Open(path)
}

// pathName is what messages call the file at path.
func pathName(path string) string {
	if path == scenario.StdinPath {
		return scenario.StdinName
	}
	return path
}

// errMissedSLO ends a command that did its work and found that a limit was missed.
var errMissedSLO = errors.New("a limit was missed")

// errTooClose ends a command that did its work and can't tell whether a limit was
// missed.
var errTooClose = errors.New("too close to call")

// errMismatch ends a command that found what it looked for to be wrong, and has
// said so.
var errMismatch = errors.New("mismatch")

// report writes err for people and returns the exit code that it asks for.
func (e env) report(err error) int {
	var usage *scenario.UsageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errMismatch):
		return exitFailed
	case errors.Is(err, errMissedSLO):
		e.complain(err)
		return exitSLO
	case errors.Is(err, errTooClose):
		e.complain(err)
		return exitClose
	case errors.Is(err, context.Canceled):
		e.complain(errors.New("interrupted: there is no result, and no file was made; what went into a pipe or a device is cut short"))
		return exitFailed
	case errors.As(err, &usage):
		e.complain(err)
		return exitUsage
	}
	e.complain(err)
	return exitFailed
}

// complain writes each line of err to stderr under the program's name.
func (e env) complain(err error) { say(e.stderr, err.Error()) }

// say writes each line of text to out under the program's name, as visible has it.
func say(out io.Writer, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(out, "servesim: %s\n", visible(strings.TrimRight(line, "\n")))
	}
}
