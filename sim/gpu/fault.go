package gpu

import "errors"

// A SetupFault is one thing wrong with a Setup.
type SetupFault struct {
	// Field is the field at fault: TP, EP, DPAttention, PP, Weights, KV, Engine, or one of Host, such
	// as Host.Base.
	Field string
	// Err says what is wrong with it.
	Err error
}

// Error returns what Err says.
func (f *SetupFault) Error() string { return f.Err.Error() }

// Unwrap returns Err.
func (f *SetupFault) Unwrap() error { return f.Err }

// blame makes each of the errors that err joins a fault of field.
func blame(field string, err error) error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return &SetupFault{field, err}
	}
	var faults []error
	for _, e := range joined.Unwrap() {
		faults = append(faults, &SetupFault{field, e})
	}
	return errors.Join(faults...)
}
