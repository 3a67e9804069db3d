package main

import (
	"fmt"

	"servesim/internal/strict"
)

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
func faultsError(faults []strict.Fault) error {
	if err := strict.Join(faults); err != nil {
		return &usageError{err}
	}
	return nil
}
