package blame_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/analysis/blame"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
)

// plan returns the default scenario with some keys set.
func plan(tb testing.TB, settings ...string) *scenario.Plan {
	tb.Helper()
	var src scenario.Source
	for _, text := range settings {
		s, err := scenario.ParseSetting(text)
		if err != nil {
			tb.Fatal(err)
		}
		src.Settings = append(src.Settings, s)
	}
	p, err := scenario.Load(src)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// run runs p with its records in detail, or not, in sink.
func run(tb testing.TB, p *scenario.Plan, sink observe.Sink, detail bool) {
	tb.Helper()
	in, err := p.Open()
	if err != nil {
		tb.Fatal(err)
	}
	c := p.Engine(in.Source, sink)
	c.Detail = detail
	if err := engine.Run(context.Background(), c); err != nil {
		tb.Fatal(err)
	}
}

// TestTailOfITLIsChargedToPrompts holds, for the default scenario, that what P99
// of the gaps exceeds the median by is the work of named prompts, chunked or not.
func TestTailOfITLIsChargedToPrompts(t *testing.T) {
	for _, settings := range [][]string{
		{"enable_chunked_prefill=false"}, {"policy=vllm@0.8-v0"}, {"max_num_batched_tokens=512"},
	} {
		b := blame.New(blame.Options{})
		run(t, plan(t, settings...), b, true)
		r, err := b.Report()
		if err != nil {
			t.Fatal(err)
		}
		share := float64(r.Gaps.Named) / float64(r.Gaps.Excess)
		t.Logf("%v: %d gaps of %v or more, %.4f of their excess of %v named", settings, r.Gaps.Tail, r.Gaps.P99, share, r.Gaps.Excess)
		if share < 0.9 || r.Gaps.Tail < r.Gaps.Count/200 {
			t.Errorf("%v: prompts are charged %.3f of the excess of %d gaps", settings, share, r.Gaps.Tail)
		}
		var decode, culprits sim.Duration
		for c, d := range r.Bands[blame.E2E].All.Parts {
			if c := blame.Cause(c); c == blame.DecodeSlowed || c == blame.Stalled {
				decode += d
			}
		}
		if culprits = r.Decode; decode-culprits > 1 || culprits-decode > 1 { // each rounded
			t.Errorf("%v: requests lost %v between tokens to prompts, which are charged %v", settings, decode, culprits)
		}
	}
}

// TestBlameOfAFileIsThatOfTheRun writes records, reads them, and charges both.
func TestBlameOfAFileIsThatOfTheRun(t *testing.T) {
	var file bytes.Buffer
	w, err := observe.NewWriter(&file, observe.Header{})
	if err != nil {
		t.Fatal(err)
	}
	direct, read := blame.New(blame.Options{}), blame.New(blame.Options{})
	run(t, plan(t, "requests=500", "policy=vllm@0.8-v0", "num_gpu_blocks_override=3000", "rate_per_s=40"), observe.Tee{direct, w}, true)
	err = w.Close()
	r, errR := observe.NewReader(&file, "records")
	if err := errors.Join(err, errR); err != nil {
		t.Fatal(err)
	}
	if err := r.Replay(read); err != nil {
		t.Fatal(err)
	}
	a, errA := direct.Report()
	b, errB := read.Report()
	if d := cmp.Diff(a, b); errA != nil || errB != nil || d != "" {
		t.Fatal(errA, errB, d)
	}
	if lost := a.Bands[blame.E2E].All.Parts[blame.Redo]; lost == 0 {
		t.Error("nobody was preempted, so little was tried")
	}
}

// peak is a Blame that looks at how much it remembers.
type peak struct {
	*blame.Blame
	most int
}

func (p *peak) Step(s *observe.StepRun) error {
	err := p.Blame.Step(s)
	p.most = max(p.most, p.Remembers())
	return err
}

// TestMemoryDoesNotGrowWithTheRun runs ten times as many requests.
func TestMemoryDoesNotGrowWithTheRun(t *testing.T) {
	most := func(n int) int {
		p := &peak{Blame: blame.New(blame.Options{})}
		run(t, plan(t, fmt.Sprintf("requests=%d", n)), p, true)
		return p.most
	}
	if few, many := most(2000), most(20_000); many > 3*few+2048 {
		t.Errorf("%d runs of steps are remembered of 2,000 requests, %d of 20,000", few, many)
	}
}

// BenchmarkBlame is a run without details, with them, and with their analysis.
func BenchmarkBlame(b *testing.B) {
	for _, policy := range []string{"vllm@0.20", "vllm@0.8-v0"} {
		p := plan(b, "policy="+policy, "requests=100000", "rate_per_s=12")
		for _, what := range []string{"plain", "detail", "blame"} {
			b.Run("policy="+policy+"/records="+what, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					sink := observe.Sink(observe.Tee{})
					if what == "blame" {
						sink = blame.New(blame.Options{})
					}
					run(b, p, sink, what != "plain")
				}
			})
		}
	}
}
