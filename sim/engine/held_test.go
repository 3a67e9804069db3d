package engine

import (
	"testing"

	"servesim/sim/observe"
	"servesim/sim/scheduler"
)

// TestReasonsAreTheSame holds that the policies' reasons are those of records.
func TestReasonsAreTheSame(t *testing.T) {
	for h := scheduler.NotHeld; h.String() != "unknown" || observe.Held(h).String() != "unknown"; h++ {
		if got := observe.Held(h).String(); got != h.String() {
			t.Errorf("reason %d is %q to policies and %q in records", h, h, got)
		}
	}
}
