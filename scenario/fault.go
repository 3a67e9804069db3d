package scenario

import (
	"errors"
	"fmt"
	"strings"

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

// Unfit tells whether err, of Load, is only about how a model lies on the GPUs that
// serve it, and why it can't: on more of them, or others, or in another number format,
// it may run.
func Unfit(err error) (why string, ok bool) {
	var usage *UsageError
	if !errors.As(err, &usage) {
		return "", false
	}
	list := []error{usage.Err}
	var joined interface{ Unwrap() []error }
	if errors.As(usage.Err, &joined) {
		list = joined.Unwrap()
	}
	var texts []string
	for _, one := range list {
		var f strict.Fault
		if !errors.As(one, &f) || f.Key != "hardware" && !strings.HasPrefix(f.Key, "hardware.") && f.Key != "model.dtype" {
			return "", false
		}
		texts = append(texts, f.Text)
	}
	return strings.Join(texts, "; "), true
}
