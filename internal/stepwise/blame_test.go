package stepwise

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/analysis/blame"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
)

// lived is a life that a test keeps.
type lived struct {
	ID                       int64
	ToFirst, AfterFirst, Gap blame.Parts
	Costs                    []blame.Cost
	sent, end                sim.Time
	replica                  int32
}

// busy is a Sink that keeps when steps ran.
type busy struct {
	from, to []sim.Time
	replica  []int32
	brief    bool // some step took less than 2 ps for each prompt token in it
}

func (*busy) Request(*observe.Request) error { return nil }

func (b *busy) Step(s *observe.StepRun) error {
	b.from, b.to = append(b.from, s.Start), append(b.to, s.Start.Add(s.Duration()))
	b.replica = append(b.replica, s.Replica)
	tokens := int64(0)
	for _, c := range s.Chunks {
		tokens += int64(c.Tokens)
	}
	b.brief = b.brief || int64(s.First) < 2*tokens
	return nil
}

// idle returns for how long from one instant to another no step of a replica ran.
func (b *busy) idle(replica int32, from, to sim.Time) sim.Duration {
	idle := to.Sub(from)
	for i := range b.from {
		if b.replica[i] != replica {
			continue
		}
		idle -= max(0, min(to, b.to[i]).Sub(max(from, b.from[i])))
	}
	return idle
}

// lives is the lives of a run and what was reported.
type lives struct {
	list   []lived
	report *blame.Report
	told   bool // each life's story too
}

// charge runs c through run and checks every life, and its story if it is to be told.
func charge(c engine.Config, tell bool, run func(engine.Config) error) (*lives, error) {
	l, steps := &lives{told: tell}, &busy{}
	b := blame.New(blame.Options{Top: 1 << 20, Each: func(x *blame.Life) error {
		err := lifeLaws(x, steps.brief)
		var costs []blame.Cost
		if err == nil && tell {
			costs, err = storyLaws(x)
		}
		if err != nil {
			return fmt.Errorf("request %d: %w\n%+v\n%+v", x.Request.ID, err, *x.Request, *x)
		}
		l.list = append(l.list, lived{x.Request.ID, x.ToFirst, x.AfterFirst, x.Gap, costs, x.Request.Joined(), x.Request.End, x.Request.Replica})
		return nil
	}})
	c.Sink, c.Detail = observe.Tee{steps, b}, true
	if err := run(c); err != nil {
		return nil, err
	}
	var err error
	l.report, err = b.Report()
	for _, x := range l.list {
		parts := x.ToFirst
		if idle := parts[blame.Idle] + x.AfterFirst[blame.Idle]; err == nil && x.sent != observe.Never && idle != steps.idle(x.replica, x.sent, x.end) {
			err = fmt.Errorf("request %d: idle for %v; no step ran for %v", x.ID, idle, steps.idle(x.replica, x.sent, x.end))
		}
	}
	slices.SortFunc(l.list, func(a, b lived) int { return int(a.ID - b.ID) })
	return l, err
}

// lifeLaws checks that the parts of a life sum to what the client saw. Steps may be
// so brief that the share of a prompt's tokens in one is rounded to nothing.
func lifeLaws(l *blame.Life, brief bool) error {
	r := l.Request
	first, total := r.First, r.End.Sub(r.Arrival)
	if first == observe.Never {
		first = r.End
	}
	if r.Outcome == observe.Completed {
		total += r.Response
	}
	parts := l.Parts()
	for c, d := range parts {
		if d < 0 {
			return fmt.Errorf("%v took %v", blame.Cause(c), d)
		}
	}
	failed := sim.Duration(0)
	for _, a := range r.Attempts {
		failed += a.To.Sub(a.From)
	}
	if parts[blame.Failed] != failed || parts[blame.NoReplica] != r.Detour-failed {
		return fmt.Errorf("%v on failed replicas and %v without one, of a detour of %v with attempts of %v", parts[blame.Failed], parts[blame.NoReplica], r.Detour, failed)
	}
	if got, want := l.ToFirst.Sum(), first.Sub(r.Arrival); got != want {
		return fmt.Errorf("parts to the first token sum to %v, not %v", got, want)
	}
	if got := parts.Sum(); got != total {
		return fmt.Errorf("parts sum to %v, not %v", got, total)
	}
	if got := l.Gap.Sum(); r.Outcome == observe.Completed && got != r.MaxGap {
		return fmt.Errorf("the longest gap's parts sum to %v, not %v", got, r.MaxGap)
	}
	if again := parts[blame.Redo] > 0; r.Outcome == observe.Completed && again != (r.Recomputed > 0) && (again || !brief) {
		return fmt.Errorf("%d tokens were computed again, in %v", r.Recomputed, parts[blame.Redo])
	}
	return nil
}

// storyLaws checks that the story of l says what l does.
func storyLaws(l *blame.Life) ([]blame.Cost, error) {
	pieces, costs := l.Tell()
	parts := l.Parts()
	var told, named blame.Parts
	at := l.Request.Arrival
	for _, p := range pieces {
		if p.Start != at {
			return nil, fmt.Errorf("a piece begins at %v, not %v: %+v", p.Start, at, pieces)
		}
		at = at.Add(p.Lasts)
		told[p.Cause] += p.Lasts
	}
	for _, c := range costs {
		if c.ID == l.Request.ID || c.Time <= 0 {
			return nil, fmt.Errorf("it cost itself %+v", c)
		}
		named[c.Cause] += c.Time
	}
	if told != parts {
		return nil, fmt.Errorf("the story differs:\n%v", cmp.Diff(parts, told))
	}
	for c := range named {
		if want := told[c]; blame.Cause(c).Named() && named[c] != want || !blame.Cause(c).Named() && named[c] != 0 {
			return nil, fmt.Errorf("prompts are charged %v for %v, of %v", named[c], blame.Cause(c), want)
		}
	}
	return costs, nil
}

// runLaws checks what was reported of all the lives.
func (l *lives) runLaws() error {
	var decode, wait big.Int // of an overloaded run, more than 64 bits
	sum := func(n *big.Int, d sim.Duration) { n.Add(n, big.NewInt(int64(d))) }
	mean := func(n *big.Int) sim.Duration {
		return sim.Duration(new(big.Int).Div(n, big.NewInt(max(1, int64(len(l.list))))).Int64())
	}
	cost := map[int64]sim.Duration{}
	for _, x := range l.list {
		parts := x.ToFirst
		for c := range parts {
			parts[c] += x.AfterFirst[c]
		}
		sum(&decode, parts[blame.DecodeSlowed]+parts[blame.Stalled])
		sum(&wait, parts[blame.Behind]+parts[blame.PrefillSlowed])
		for _, c := range x.Costs {
			if c.Cause == blame.DecodeSlowed || c.Cause == blame.Stalled {
				cost[c.ID] += c.Time
			}
		}
	}
	r := l.report
	if r.Decode != mean(&decode) || r.Wait != mean(&wait) {
		return fmt.Errorf("culprits cost others %v and %v a request; the others say %v and %v", r.Decode, r.Wait, mean(&decode), mean(&wait))
	}
	for _, c := range r.Top {
		cost[c.ID] -= c.Decode
	}
	for id, left := range cost {
		if left != 0 && l.told {
			return fmt.Errorf("request %d cost others %v more than it is charged", id, left)
		}
	}
	tail := 0.0
	for _, x := range r.Gaps.Lengths {
		tail += x.Share
	}
	if r.Gaps.Named > 0 && math.Abs(tail-1) > 1e-9 {
		return fmt.Errorf("shares of the tail sum to %v: %+v", tail, r.Gaps)
	}
	for _, b := range r.Bands {
		for _, band := range []blame.Band{b.All, b.Middle, b.Tail} {
			if band.Parts.Sum() != band.Mean || band.Count > 0 && (band.Mean < band.Low || band.Mean > band.High) {
				return fmt.Errorf("%v: %+v", b.Metric, band)
			}
		}
	}
	return nil
}

func TestBlameSumsAndEnginesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		newConfig := anyConfig(t)
		fast, err := charge(newConfig(), true, func(c engine.Config) error { return engine.Run(context.Background(), c) })
		if err != nil {
			t.Fatal("fast: ", err)
		}
		slow, err := charge(newConfig(), true, Run)
		if err != nil {
			t.Fatal("slow: ", err)
		}
		if d := cmp.Diff(slow, fast, cmp.AllowUnexported(lives{}, lived{})); d != "" {
			t.Fatalf("(-slow +fast):\n%s", d)
		}
		if err := fast.runLaws(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestBlameSumsOnTraces charges every request of the real traces.
func TestBlameSumsOnTraces(t *testing.T) {
	eachReplay(t, func(t *testing.T, newConfig func() engine.Config) {
		tell := os.Getenv(large) == "" // which takes time by the steps of each life
		l, err := charge(newConfig(), tell, func(c engine.Config) error { return engine.Run(context.Background(), c) })
		if err == nil {
			err = l.runLaws()
		}
		if err != nil {
			t.Fatal(err)
		}
		var all blame.Parts
		for _, x := range l.list {
			for c := range all {
				all[c] += x.ToFirst[c] + x.AfterFirst[c]
			}
		}
		t.Logf("%d requests", len(l.list))
		for c, d := range all {
			if d > 0 {
				t.Logf("%v: %v", blame.Cause(c), d/sim.Duration(len(l.list)))
			}
		}
	})
}
