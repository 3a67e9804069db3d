package workers

import (
	"context"
	"errors"
)

// Fault returns the first of faults, one for each number or nil, that isn't of work
// which was interrupted because other work failed or the user asked; nil if there
// is none.
func Fault(faults []error) error {
	for _, err := range faults {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return nil
}
