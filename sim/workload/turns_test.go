package workload_test

import (
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/workload"
)

// TestConversations holds that each prompt of a conversation is what was said before
// and a text as long as a prompt without conversations would be.
func TestConversations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := loopSpec(t)
		apart, _ := serve(t, startLoop(t, s, 9), func(workload.Request) sim.Duration { return sim.Second })
		turns, most := rapid.Float64Range(1, 6).Draw(t, "turns"), rapid.Int64Range(1, 40_000).Draw(t, "max context")
		n := int64(turns)
		s.ClosedLoop.Turns, s.ClosedLoop.MaxContext = &workload.LengthSpec{Dist: "constant", Value: &n}, &most
		all, _ := serve(t, startLoop(t, s, 9), func(workload.Request) sim.Duration { return sim.Second })
		if len(all) != len(apart) {
			t.Fatalf("%d turns, %d calls", len(all), len(apart))
		}
		said, count := map[int64]int32{}, map[int64]int64{}
		for i := range all {
			r, alone := &all[i], &apart[i]
			if (r.Session-alone.Session)%*s.ClosedLoop.Users != 0 || r.Arrival != alone.Arrival || r.Output != alone.Output {
				t.Fatalf("turn %+v\ncall %+v", r, alone)
			}
			if text := r.Prompt - said[r.Session]; text != alone.Prompt {
				t.Fatalf("turn %d of session %d has %d tokens after %d; its text has %d", count[r.Session], r.Session, r.Prompt, said[r.Session], alone.Prompt)
			}
			said[r.Session] = r.Prompt + r.Output
			if count[r.Session]++; count[r.Session] > n || count[r.Session] > 1 && int64(said[r.Session]) > most {
				t.Fatalf("turn %d of %d of session %d, to %d tokens of at most %d", count[r.Session], n, r.Session, said[r.Session], most)
			}
		}
	})
}
