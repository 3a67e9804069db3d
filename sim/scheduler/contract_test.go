package scheduler_test

import (
	"testing"

	"pgregory.net/rapid"

	"servesim/sim/scheduler"
)

// TestContract drives every policy with arrivals and aborts, follows it with a
// model, and at the end lets all sequences finish.
func TestContract(t *testing.T) {
	modes(t, func(t *testing.T, draw func(*rapid.T) scheduler.Config) {
		rapid.Check(t, func(t *rapid.T) {
			m := newModel(t, draw(t))
			for range rapid.IntRange(1, 40).Draw(t, "turns") {
				switch rapid.IntRange(0, 5).Draw(t, "turn") {
				case 0, 1:
					m.add()
				case 2:
					if rapid.IntRange(0, 3).Draw(t, "gives up") == 0 {
						m.abort()
						m.blocks()
						m.queues()
					}
				default:
					m.step()
				}
			}
			for steps := 0; len(m.seqs) > 0; steps++ {
				if !m.step() || steps > 20_000 {
					running, waiting := m.p.Queues()
					t.Fatalf("after %d steps %v run and %v wait, and nothing moves or ever ends", steps, running, waiting)
				}
			}
			if step := m.p.Plan(); !step.Empty() {
				t.Fatalf("all have ended; a step is planned: %+v", step)
			}
			m.blocks() // none is held, so all are free
		})
	})
}
