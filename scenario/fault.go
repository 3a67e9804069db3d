package scenario

import (
	"fmt"

	"servesim/internal/strict"
)

// A UsageError is a fault of what the user gave, a setting or a file, not of the
// work with it.
type UsageError struct{ Err error }

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error within.
func (e *UsageError) Unwrap() error { return e.Err }

// usagef returns a UsageError with a formatted text.
func usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// FaultsError joins faults into one UsageError, a line each; nil if there are none.
func FaultsError(faults []strict.Fault) error {
	if err := strict.Join(faults); err != nil {
		return &UsageError{err}
	}
	return nil
}
