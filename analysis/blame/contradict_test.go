package blame

import (
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/observe"
)

// anyStep draws a run of steps that follows serial and end, or does not.
func anyStep(t *rapid.T, serial int64, end sim.Time) *observe.StepRun {
	small := rapid.Int64Range(-1, 6)
	r := &observe.StepRun{Serial: serial, Start: end + sim.Time(rapid.Int64Range(0, 3).Draw(t, "pause")), Steps: rapid.Int64Range(1, 4).Draw(t, "steps"),
		First: sim.Duration(rapid.Int64Range(1, 9).Draw(t, "first")), Inc: sim.Duration(rapid.Int64Range(-1, 2).Draw(t, "inc")),
		Decodes: rapid.Int32Range(0, 2).Draw(t, "decodes"), Held: observe.Held(rapid.IntRange(0, 5).Draw(t, "held")),
		Oldest: sim.Time(rapid.Int64Range(-1, 40).Draw(t, "oldest"))}
	r.Base = sim.Duration(rapid.Int64Range(0, int64(r.First)).Draw(t, "base"))
	if rapid.Bool().Draw(t, "prompts") {
		r.Steps = 1
		for range rapid.IntRange(1, 2).Draw(t, "chunks") {
			r.Chunks = append(r.Chunks, observe.Chunk{ID: small.Draw(t, "id"), Start: int32(small.Draw(t, "start")), Tokens: int32(small.Draw(t, "tokens")),
				Resumed: rapid.Bool().Draw(t, "resumed"), Ghost: rapid.Bool().Draw(t, "ghost")})
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "gaps") {
		r.Gaps = append(r.Gaps, observe.Gaps{Seqs: int32(max(0, small.Draw(t, "seqs"))), Steps: max(0, small.Draw(t, "gap steps")),
			First: sim.Duration(max(0, small.Draw(t, "gap first"))), Inc: sim.Duration(small.Draw(t, "gap inc"))})
	}
	return r
}

// anyRequest draws a request whose fields may contradict each other.
func anyRequest(t *rapid.T) *observe.Request {
	instant := rapid.Custom(func(t *rapid.T) sim.Time { return sim.Time(rapid.Int64Range(-1, 40).Draw(t, "t")) })
	r := &observe.Request{ID: rapid.Int64Range(-1, 6).Draw(t, "id"), Outcome: observe.Outcome(rapid.IntRange(0, 4).Draw(t, "outcome")),
		Arrival: instant.Draw(t, "arrival"), Sent: instant.Draw(t, "sent"), Queued: instant.Draw(t, "queued"), Scheduled: instant.Draw(t, "scheduled"),
		First: instant.Draw(t, "first"), Last: instant.Draw(t, "last"), End: instant.Draw(t, "end"), MaxGap: sim.Duration(instant.Draw(t, "gap")),
		Prompt: rapid.Int32Range(0, 9).Draw(t, "prompt")}
	for range rapid.IntRange(0, 2).Draw(t, "spans") {
		s := observe.Span{Step: rapid.Int64Range(0, 9).Draw(t, "step"), Steps: rapid.Int64Range(1, 4).Draw(t, "span")}
		r.Made, r.Output = append(r.Made, s), r.Output+int32(s.Steps)
	}
	for range rapid.IntRange(0, 2).Draw(t, "losses") {
		r.Lost, r.Preemptions = append(r.Lost, rapid.Int64Range(0, 9).Draw(t, "lost")), r.Preemptions+1
	}
	return r
}

// TestContradictionsAreErrors holds that records of any content give an error or
// parts that sum, and nothing worse.
func TestContradictionsAreErrors(t *testing.T) {
	charged, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		b := New(Options{Each: func(l *Life) error {
			charged++
			l.Tell()
			return nil
		}})
		serial, end := int64(0), sim.Time(0)
		for range rapid.IntRange(1, 12).Draw(t, "records") {
			if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
				if err := b.Request(anyRequest(t)); err != nil {
					refused++
				}
				continue
			}
			r := anyStep(t, serial, end)
			if err := b.Step(r); err != nil {
				refused++
			}
			if n := len(b.timelines); n > 0 && b.timelines[0].any {
				serial, end = b.timelines[0].next, b.timelines[0].end()
			}
		}
		if _, err := b.Report(); err != nil {
			refused++
		}
	})
	if charged < 10 || refused < 10 {
		t.Errorf("%d requests were charged and %d records refused; little was tried", charged, refused)
	}
}
