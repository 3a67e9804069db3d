package main

import (
	"fmt"
	"strings"
)

// A fault is one thing wrong with a configuration.
type fault struct {
	where string // file and line, or the flag
	key   string // the dotted key, or empty
	text  string // what was found, what is allowed
}

// String returns the fault as one line of a message.
func (f fault) String() string {
	parts := make([]string, 0, 3)
	for _, p := range []string{f.where, f.key, f.text} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ": ")
}

// A usageError is a fault of the command line or of a file it names. It ends
// the command with exitUsage.
type usageError struct{ err error }

// Error implements error.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap returns the error within.
func (e *usageError) Unwrap() error { return e.err }

// usagef returns a usageError with a formatted text.
func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// faultsError joins faults into one usageError, a line each; nil if there are none.
func faultsError(faults []fault) error {
	if len(faults) == 0 {
		return nil
	}
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = f.String()
	}
	return &usageError{fmt.Errorf("%s", strings.Join(lines, "\n"))}
}
