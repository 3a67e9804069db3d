package blame_test

import (
	"testing"

	"servesim/analysis/blame"
	"servesim/sim"
	"servesim/sim/observe"
)

// TestEveryGapIsSeen: what is told of gaps one by one comes to what the report says
// of all, and a culprit's prompt was computed while the gap lasted and took no more
// than all prompts did.
func TestEveryGapIsSeen(t *testing.T) {
	for _, settings := range [][]string{
		{"enable_chunked_prefill=false"}, {"policy=vllm@0.8-v0"}, {"max_num_batched_tokens=512"},
	} {
		ends := map[int64]sim.Time{}
		var count, tail int64
		var longest sim.Duration
		b := blame.New(blame.Options{Gaps: func(s *blame.Seen) {
			end := s.Step.Start.Add(s.Step.First)
			for _, c := range s.Step.Chunks {
				ends[c.ID] = end
			}
			count += s.Gaps.Steps * int64(s.Gaps.Seqs)
			longest = max(longest, s.Gaps.First)
			if s.Gaps.First >= 28*sim.Millisecond && s.Named > 0 {
				tail += int64(s.Gaps.Seqs)
			}
			if (s.Named > 0) != (s.Culprit >= 0) || s.Took > s.Named || s.Named > s.Gaps.First || s.Named > 0 && (s.Gaps.Steps != 1 || s.Tokens < 1) {
				t.Fatalf("%v: seen %+v of gaps %+v", settings, s, s.Gaps)
			}
			if last, ok := ends[s.Culprit]; s.Named > 0 && s.Step.Decodes > 0 && len(s.Step.Chunks) > 0 && (!ok || last.Sub(end) > 0 || end.Sub(last) > s.Gaps.First) {
				t.Fatalf("%v: a gap that ends at %v is due to request %d, whose prompt was computed until %v", settings, end, s.Culprit, last)
			}
		}})
		run(t, plan(t, settings...), observe.Tee{b}, true)
		r, err := b.Report()
		if err != nil {
			t.Fatal(err)
		}
		if count != r.Gaps.Count || tail == 0 || longest < r.Gaps.P99 {
			t.Errorf("%v: %d gaps were seen, %d of them long and due to prompts, the longest %v; want %d", settings, count, tail, longest, r.Gaps.Count)
		}
	}
}
