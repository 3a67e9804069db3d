package main

import (
	"fmt"

	"servesim/scenario"
)

// usagef returns a fault of the command line with a formatted text.
func usagef(format string, args ...any) error {
	return &scenario.UsageError{Err: fmt.Errorf(format, args...)}
}
