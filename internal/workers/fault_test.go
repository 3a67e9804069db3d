package workers

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestFaultIsTheFirstThatIsNoInterruption(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	cut := fmt.Errorf("run 3: %w", context.Canceled)
	for _, c := range []struct {
		faults []error
		want   error
	}{
		{nil, nil},
		{[]error{nil, nil}, nil},
		{[]error{cut, nil}, nil},
		{[]error{nil, cut, first, second}, first},
		{[]error{second, first}, second},
	} {
		if got := Fault(c.faults); got != c.want {
			t.Errorf("%v: %v, want %v", c.faults, got, c.want)
		}
	}
}
