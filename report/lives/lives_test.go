package lives

import (
	"cmp"
	"slices"
	"testing"

	"servesim/analysis/blame"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/observe"
)

// seen is a run's lives, and all of its requests by each metric, the slowest first.
func seen(t *testing.T, number int) (*Lives, map[blame.Metric][]slow, map[int64]int32) {
	t.Helper()
	var src scenario.Source
	for _, text := range []string{"requests=400", "enable_chunked_prefill=false"} {
		s, err := scenario.ParseSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		src.Settings = append(src.Settings, s)
	}
	p, err := scenario.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	l := New(number)
	all, prompts := map[blame.Metric][]slow{}, map[int64]int32{}
	b := blame.New(blame.Options{Each: func(life *blame.Life) error {
		prompts[life.Request.ID] = life.Request.Prompt
		for _, m := range metrics() {
			if d, ok := life.Metric(m); ok {
				all[m] = append(all[m], slow{life.Request.ID, d})
			}
		}
		return l.Each(life)
	}})
	if _, err := p.Simulate(t.Context(), scenario.Options{Sinks: []observe.Sink{b}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Report(); err != nil {
		t.Fatal(err)
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b slow) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.id, b.id)) })
	}
	return l, all, prompts
}

// TestSlowest holds that the lives are those of the slowest requests and no others, and
// that each is whole: its pieces follow each other and sum to its parts.
func TestSlowest(t *testing.T) {
	l, all, prompts := seen(t, 5)
	byID := map[int64]Life{}
	for _, life := range l.List() {
		if _, twice := byID[life.ID]; twice {
			t.Errorf("request %d is told of twice", life.ID)
		}
		byID[life.ID] = life
	}
	want := map[int64]bool{}
	for m, list := range all {
		for place, one := range list[:5] {
			want[one.id] = true
			life := byID[one.id]
			if i := slices.Index(life.Slowest, m); i < 0 || life.Places[i] != place+1 {
				t.Errorf("request %d is number %d by %v; its life says %v at %v", one.id, place+1, m, life.Slowest, life.Places)
			}
		}
	}
	if len(want) != len(byID) {
		t.Errorf("%d lives, want %d", len(byID), len(want))
	}
	culprits := 0
	for _, life := range byID {
		var parts blame.Parts
		at := life.Arrival
		for _, p := range life.Pieces {
			if p.Start != at {
				t.Errorf("request %d: a piece begins at %v, the one before ends at %v", life.ID, p.Start, at)
			}
			at = p.Start.Add(p.Lasts)
			parts[p.Cause] += p.Lasts
		}
		for c := range parts {
			if whole := life.ToFirst[c] + life.AfterFirst[c]; parts[c] != whole {
				t.Errorf("request %d: its pieces of %v sum to %v, its parts to %v", life.ID, blame.Cause(c), parts[c], whole)
			}
		}
		if parts.Sum() != life.E2E || life.TTFT > life.E2E || life.ToFirst.Sum() != life.TTFT {
			t.Errorf("request %d: pieces of %v, TTFT %v, E2E %v", life.ID, parts.Sum(), life.TTFT, life.E2E)
		}
		for _, c := range life.Culprits {
			culprits++
			if c.Prompt != prompts[c.ID] || c.Time <= 0 || c.Time > life.E2E {
				t.Errorf("request %d: culprit %+v, whose prompt has %d tokens", life.ID, c, prompts[c.ID])
			}
		}
	}
	if culprits == 0 {
		t.Error("nobody's prompt cost anybody time")
	}
}

// TestOrderDoesNotMatter holds that the same lives are picked in whatever order the
// requests come.
func TestOrderDoesNotMatter(t *testing.T) {
	values := []sim.Duration{5, 3, 9, 9, 1, 7, 2, 8, 9, 4}
	picked := func(order []int) []slow {
		l := New(4)
		for _, i := range order {
			if l.offer(0, slow{int64(i), values[i]}) {
				l.kept[int64(i)] = &Life{ID: int64(i)}
			}
		}
		if len(l.kept) != 4 {
			t.Errorf("%d lives are kept, want 4", len(l.kept))
		}
		return l.slowest[0]
	}
	want := []slow{{2, 9}, {3, 9}, {8, 9}, {7, 8}}
	for _, order := range [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, {4, 8, 0, 3, 9, 2, 7, 5, 1, 6}} {
		if got := picked(order); !slices.Equal(got, want) {
			t.Errorf("in order %v: %v, want %v", order, got, want)
		}
	}
}
