package scheduler_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"servesim/sim/scheduler"
)

// pair is two equal policies: fast advances over many steps at once, slow makes
// each.
type pair struct {
	t          *rapid.T
	c          scheduler.Config
	fast, slow scheduler.Inspector
	live       []scheduler.Handle
	rank       int64
	longest    int64 // most steps advanced at once
}

// add puts one drawn sequence into both.
func (p *pair) add() {
	s := anySeq(p.t, p.c, p.rank)
	if p.fast.Fits(s) != "" {
		return
	}
	h := scheduler.Handle(p.rank) // each sequence has a handle of its own
	p.rank++
	p.live = append(p.live, h)
	p.fast.Add(h, s)
	p.slow.Add(h, s)
}

// abort takes one sequence out of both.
func (p *pair) abort() {
	if len(p.live) == 0 {
		return
	}
	i := rapid.IntRange(0, len(p.live)-1).Draw(p.t, "abort")
	p.fast.Abort(p.live[i])
	p.slow.Abort(p.live[i])
	p.live = slices.Delete(p.live, i, i+1)
}

// gone forgets sequences that have left.
func (p *pair) gone(hs []scheduler.Handle) {
	p.live = slices.DeleteFunc(p.live, func(h scheduler.Handle) bool { return slices.Contains(hs, h) })
}

// step plans in both and advances by a drawn number of steps. So many arrivals
// come during the last of them, which is when the engine delivers them.
func (p *pair) step(arrivals int) (moved bool) {
	step, want := p.fast.Plan(), p.slow.Plan()
	if diff := cmp.Diff(want, step, cmpopts.EquateEmpty()); diff != "" {
		p.t.Fatalf("the plans differ (-slow +fast):\n%s", diff)
	}
	for _, d := range step.Dropped {
		p.gone([]scheduler.Handle{d.Seq})
	}
	p.same()
	if step.Empty() {
		p.fast.Idle()
		p.slow.Idle()
		return len(step.Preempted)+len(step.Dropped) > 0 || step.Again
	}
	most := p.fast.Repeat()
	if most < 1 {
		p.t.Fatalf("the step runs %d times", most)
	}
	k := rapid.OneOf(rapid.Just(most), rapid.Int64Range(1, most)).Draw(p.t, "steps")
	p.longest = max(p.longest, k)
	decodes, kv, held := step.Decodes, step.DecodeKV, step.Held
	for i := int64(1); i < k; i++ {
		if done := p.slow.Advance(1); len(done) > 0 {
			p.t.Fatalf("%v end after %d of %d steps", done, i, k)
		}
		kv += int64(decodes)
		next := p.slow.Plan()
		if diff := cmp.Diff(&scheduler.Step{Decodes: decodes, DecodeKV: kv, Held: held}, next, cmpopts.EquateEmpty()); diff != "" {
			p.t.Fatalf("step %d of %d is not the first one again:\n%s", i, k, diff)
		}
	}
	for range arrivals {
		p.add()
	}
	got, done := slices.Clone(p.fast.Advance(k)), slices.Clone(p.slow.Advance(1))
	slices.Sort(got)
	slices.Sort(done)
	if !slices.Equal(got, done) {
		p.t.Fatalf("after %d steps %v have ended; one by one %v", k, got, done)
	}
	if p.fast.Peak() != p.slow.Peak() {
		p.t.Fatalf("the last of %d steps used %d blocks; one by one %d", k, p.fast.Peak(), p.slow.Peak())
	}
	p.gone(got)
	p.same()
	return true
}

// same checks that both have the same lists, free blocks and batch.
func (p *pair) same() {
	state := func(x scheduler.Inspector) string {
		running, waiting, free := x.Counts()
		rs, ws := x.Queues()
		return fmt.Sprint(running, waiting, free, rs, ws)
	}
	if fast, slow := state(p.fast), state(p.slow); fast != slow {
		p.t.Fatalf("running, waiting, free blocks and lists: %s; one by one %s", fast, slow)
	}
	if len(p.live) > 0 {
		running, waiting, _ := p.fast.Counts()
		if running+waiting != len(p.live) {
			p.t.Fatalf("%d run and %d wait, of %d", running, waiting, len(p.live))
		}
	}
}

// alone lets one more sequence decode by itself: all of it is one stretch, if
// there are blocks enough, whatever went before.
func (p *pair) alone() {
	s := scheduler.Seq{Rank: p.rank, Prompt: 1, Output: min(8, p.c.OutputLimit(1))}
	usable := p.c.NumGPUBlocks - 1
	if p.c.Policy != "vllm-v1" {
		usable -= 1 + int64(float64(p.c.NumGPUBlocks)*p.c.Watermark)
	}
	if !p.c.ReservesModelLen() && usable*int64(p.c.BlockSize) < int64(s.Prompt+s.Output) || s.Output < 2 {
		return
	}
	p.fast.Add(scheduler.Handle(p.rank), s)
	if p.fast.Plan().Again {
		p.fast.Plan()
	}
	p.fast.Advance(1)
	p.fast.Plan()
	if got := p.fast.Repeat(); got != int64(s.Output)-1 {
		p.t.Fatalf("a sequence alone, with %d tokens to go, runs %d steps at once", s.Output-1, got)
	}
}

// TestRepeat is the law of the fast path: k steps at once are k steps.
func TestRepeat(t *testing.T) {
	longest := int64(0)
	modes(t, func(t *testing.T, draw func(*rapid.T) scheduler.Config) {
		rapid.Check(t, func(t *rapid.T) {
			c := draw(t)
			c.Regenerate = c.OfSarathiServe() && !c.ReservesModelLen() && rapid.Bool().Draw(t, "regenerate")
			p := &pair{t: t, c: c, fast: newPolicy(t, c), slow: newPolicy(t, c)}
			for range rapid.IntRange(1, 30).Draw(t, "turns") {
				switch rapid.IntRange(0, 5).Draw(t, "turn") {
				case 0, 1:
					p.add()
				case 2:
					p.abort()
				default:
					p.step(rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "arrivals"))
				}
			}
			for steps := 0; len(p.live) > 0; steps++ {
				if !p.step(0) || steps > 20_000 {
					t.Fatalf("after %d steps %v are left, and nothing moves or ever ends", steps, p.live)
				}
			}
			longest = max(longest, p.longest)
			p.alone()
		})
	})
	if longest < 20 {
		t.Errorf("no more than %d steps were ever made at once; the law was hardly tried", longest)
	}
}
