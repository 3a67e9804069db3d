package dialect

import (
	"testing"

	"pgregory.net/rapid"

	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// Law: the peaks are those that counting every second and every instant at which a
// call is sent gives, whatever the order of the calls.
func TestPeaksAreCounted(t *testing.T) {
	vllm, err := Parse("vllm")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		calls := drawCalls(t, int64(20*sim.Millisecond))
		s := New(vllm, Options{Facts: transcript.Everything()})
		perSecond, together := map[sim.Time]float64{}, 0.0
		origin, first := sim.Time(0), true
		good := calls[:0:0]
		for i := range calls {
			if err := s.Call(&calls[i]); err != nil {
				t.Fatal(err)
			}
			v := see(&calls[i], &pauses{})
			if calls[i].Outcome == observe.Completed && v.choices > 0 {
				good = append(good, calls[i])
				if first || calls[i].Sent < origin {
					origin, first = calls[i].Sent, false
				}
			}
		}
		most := 0.0
		for i := range good {
			for k := range good[i].Chunks {
				second := (good[i].Chunks[k].At - origin) / sim.Time(sim.Second)
				perSecond[second]++
				most = max(most, perSecond[second])
			}
			n := 0.0
			for k := range good {
				if c := &good[k]; c.Sent <= good[i].Sent && c.Chunks[len(c.Chunks)-1].At > good[i].Sent {
					n++
				}
			}
			together = max(together, n)
		}
		r := s.Results()[0]
		for key, want := range map[string]float64{"max_output_tokens_per_s": most, "max_concurrent_requests": together, "request_throughput": float64(len(good))} {
			x, ok := r.Rate(key)
			got := x.Value
			if key == "request_throughput" {
				got = x.Amount
			}
			if !ok || got != want || x.Need != "" {
				t.Fatalf("%s: %+v, want %v", key, x, want)
			}
		}
	})
}

// TestPeaksGiveUp sends an early call after more than can be kept.
func TestPeaksGiveUp(t *testing.T) {
	p := peaks{}
	c := transcript.Call{Sent: sim.Time(sim.Second), Chunks: make([]transcript.Chunk, maxPeak+1)}
	for i := range c.Chunks {
		c.Chunks[i] = transcript.Chunk{At: 2 * sim.Time(sim.Second), Tokens: 1}
	}
	v := see(&c, &pauses{})
	p.take(&v)
	if n, ok := p.most(); !ok || n != maxPeak+1 {
		t.Errorf("%d, %v", n, ok)
	}
	early := transcript.Call{Chunks: []transcript.Chunk{{At: 1, Tokens: 1}}}
	v = see(&early, &pauses{})
	p.take(&v)
	if n, ok := p.most(); ok {
		t.Errorf("%d in a second, though the seconds begin elsewhere", n)
	}
	if n, ok := p.together(); !ok || n != 1 {
		t.Errorf("%d at once, %v", n, ok)
	}
}
