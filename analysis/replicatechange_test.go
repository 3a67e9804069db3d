package analysis

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"servesim/sim"
)

// replicasOf returns n replications of a queue that serves faster, each of 400
// requests after 100 that warm it up.
func replicasOf(t *testing.T, trial, n int, load, faster float64) []*Replication {
	t.Helper()
	limits, err := ParseSLO("e2e <= 3s")
	if err != nil {
		t.Fatal(err)
	}
	var list []*Replication
	for i := range n {
		r := NewReplication(limits, n)
		src := rand.New(rand.NewPCG(uint64(trial), uint64(i)))
		serveAll(t, &Cut{First: 100, To: r}, poisson(src, 500), func() float64 { return -load * faster * logOf(src) })
		list = append(list, r)
	}
	return list
}

// TestChangesBySeedCover counts how often the intervals of changes between two
// queues, at loads of 0.5 and 0.45, hold the true ones: times in them are exponential.
func TestChangesBySeedCover(t *testing.T) {
	const trials = 150
	mean := func(load float64) float64 { return load / (1 - load) }
	counts := []covered{{name: "mean"}, {name: "p50"}, {name: "p90"}, {name: "goodput"}}
	for i := range trials {
		c, err := CompareReplications([]string{"a", "b"}, [][]*Replication{replicasOf(t, i, 12, 0.5, 1), replicasOf(t, i, 12, 0.5, 0.9)}, DefaultPercentiles())
		if err != nil {
			t.Fatal(err)
		}
		for _, ch := range c.Changes[0] {
			if ch.Key != "e2e" {
				continue
			}
			a, b := mean(0.5), mean(0.45)
			switch ch.Statistic {
			case "mean":
				counts[0].count(ch.Interval, b-a)
			case "p50":
				counts[1].count(ch.Interval, math.Ln2*(b-a))
			case "p90":
				counts[2].count(ch.Interval, math.Log(10)*(b-a))
			}
		}
		g := c.Goodput[0].Interval
		counts[3].count(Interval{g.Evidence, sim.Duration(g.Lo * 1e12), sim.Duration(g.Hi * 1e12)}, math.Exp(-3/mean(0.5))-math.Exp(-3/mean(0.45)))
	}
	for _, c := range counts {
		share := float64(c.held) / float64(c.given)
		t.Logf("%s: %d of %d have an interval, %.1f %% hold it", c.name, c.given, trials, 100*share)
		if lo, hi := tolerated(c.given, 0.92, 0.001), tolerated(c.given, 0.98, 0.999); share < lo || share > hi || c.given < trials*9/10 {
			t.Errorf("%s: want %.1f to %.1f, of nearly all", c.name, 100*lo, 100*hi)
		}
	}
}

// A scenario does not differ from itself, and the other way round a change is the
// other way round.
func TestChangesBySeedTurnRound(t *testing.T) {
	list := [][]*Replication{replicasOf(t, 1, 8, 0.5, 1), replicasOf(t, 1, 8, 0.5, 1), replicasOf(t, 1, 8, 0.5, 0.8)}
	c, err := CompareReplications([]string{"a", "same", "fast"}, list, nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := CompareReplications([]string{"fast", "a"}, [][]*Replication{list[2], list[0]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, same := range c.Changes[0] {
		if same.Difference() != 0 || same.Interval.OK && (same.Direction != Same || same.Interval.Lo < -1 || same.Interval.Hi > 1) {
			t.Errorf("the same: %+v", same)
		}
		to, from := c.Changes[1][i], back.Changes[0][i]
		if to.Difference() != -from.Difference() || to.Interval.OK != from.Interval.OK {
			t.Errorf("there %+v, back %+v", to, from)
		}
	}
	if there, back := c.Goodput[1], back.Goodput[0]; there.Direction != Better || back.Direction != Worse || math.Abs(there.Interval.Lo+back.Interval.Hi) > 1e-9 {
		t.Errorf("goodput there %+v, back %+v", there, back)
	}
	if g := c.Goodput[0]; g.Direction != Same || g.Interval.Lo != 0 || g.Interval.Hi != 0 {
		t.Errorf("goodput of the same: %+v", g)
	}
}

func TestCompareReplicationsFaults(t *testing.T) {
	two := []*Replication{NewReplication(SLO{}, 2), NewReplication(SLO{}, 2)}
	if _, err := CompareReplications([]string{"a"}, [][]*Replication{two}, nil); err == nil {
		t.Error("one scenario is compared")
	}
	if _, err := CompareReplications([]string{"a", "b"}, [][]*Replication{two, two[:1]}, nil); err == nil || !strings.Contains(err.Error(), "b has 1") {
		t.Errorf("two and one replication: %v", err)
	}
	c, err := CompareReplications([]string{"a", "b"}, [][]*Replication{two, two}, nil)
	if err != nil || len(c.Changes[0]) != 0 {
		t.Errorf("nothing changes by %+v, %v", c, err)
	}
}

// Replications of an overloaded queue say so.
func TestReplicationsWarnOfOverload(t *testing.T) {
	for load, want := range map[float64]bool{0.5: false, 3: true} {
		if w := Replicate(replicasOf(t, 1, 5, load, 1), nil).Warning(); (w != "") != want || want && !strings.HasPrefix(w, "5 of 5 runs overloaded") {
			t.Errorf("load %v: %q", load, w)
		}
	}
}
