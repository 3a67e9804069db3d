package analysis

import (
	"math"
	"slices"
	"testing"

	"servesim/sim"
	"servesim/sim/observe"

	"pgregory.net/rapid"
)

// TestAPoolIsOneSample pools values and gaps in parts, some of them folded, and
// compares with all of them in one.
func TestAPoolIsOneSample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole Sample
		var wholeGaps GapSample
		var parts []*Sample
		var gaps []*GapSample
		folded := rapid.Bool().Draw(t, "folded")
		for range rapid.IntRange(1, 8).Draw(t, "parts") {
			s, g := new(Sample), new(GapSample)
			if folded && rapid.Bool().Draw(t, "this one") {
				s = &Sample{hist: new(histogram), watch: new(stretches)}
				g = &GapSample{hist: new(histogram), watch: new(stretches)}
			}
			for _, v := range rapid.SliceOfN(rapid.Int64Range(0, 1e12), 0, 300).Draw(t, "values") {
				s.Add(sim.Duration(v))
				whole.Add(sim.Duration(v))
				run := observe.Gaps{Seqs: int32(v%3) + 1, Steps: v%7 + 1, First: sim.Duration(v), Inc: sim.Duration(v % 11)}
				for _, to := range []*GapSample{g, &wholeGaps} {
					if err := to.Add(&run); err != nil {
						t.Fatal(err)
					}
				}
			}
			parts, gaps = append(parts, s), append(gaps, g)
		}
		ps := drawPercentiles(t)
		same(t, whole.Distribution(ps), poolSamples(parts, asked{Linear, ps, 0}).d)
		same(t, wholeGaps.Distribution(ps), poolGaps(gaps, asked{Linear, ps, 0}).d)
	})
}

// same tells whether two distributions agree but for intervals and resolution.
func same(t *rapid.T, want, got Distribution) {
	if got.OK != want.OK || got.Count != want.Count || got.Mean != want.Mean || got.Min != want.Min || got.Max != want.Max {
		t.Fatalf("pooled %+v, want %+v", got, want)
	}
	for i, q := range got.Quantiles {
		if off := q.Value - want.Quantiles[i].Value; max(off, -off) > q.Resolution {
			t.Fatalf("pooled %v is %d within %d, want %d", q.P, q.Value, q.Resolution, want.Quantiles[i].Value)
		}
	}
}

// TestReplicationsCover counts how often the intervals of ten replications of a
// queue hold what is true of it.
func TestReplicationsCover(t *testing.T) {
	const runs, replications, values = 100, 10, 5000
	m := model{quantile: func(p float64) float64 { return -math.Log(1-p) / 0.3 }, mean: 1 / 0.3}
	counts := [4]covered{{name: "mean"}, {name: "p50"}, {name: "p90"}, {name: "p99"}}
	for i := range runs {
		var list []*Sample
		for k := range replications {
			s := new(Sample)
			queue(0.7)(sim.Seed(i*replications+k).Stream("replications"), values, s.Add)
			list = append(list, s)
		}
		d := poolSamples(list, asked{Linear, DefaultPercentiles(), 0}).d
		counts[0].count(d.MeanInterval, m.mean)
		for k, q := range d.Quantiles {
			counts[k+1].count(q.Interval, m.quantile(q.P.Fraction()))
		}
	}
	for _, c := range counts {
		share := float64(c.held) / float64(c.given)
		t.Logf("%s: %d of %d have an interval, %.1f %% hold it", c.name, c.given, runs, 100*share)
		if lo, hi := tolerated(c.given, 0.92, 0.001), tolerated(c.given, 0.98, 0.999); share < lo || share > hi || c.given < runs*9/10 {
			t.Errorf("%s: want %.1f to %.1f, of nearly all", c.name, 100*lo, 100*hi)
		}
	}
}

// TestReplicate has five runs of two requests each, one good: the share is a
// half, a request takes 1 s, its first token 0.5 s.
func TestReplicate(t *testing.T) {
	limits, err := ParseSLO("e2e <= 1s; goodput >= 60%")
	if err != nil {
		t.Fatal(err)
	}
	var list []*Replication
	for i := range 5 {
		r := NewReplication(limits, 5)
		for k := range 2 {
			at := func(ms int64) sim.Time { return sim.Time(0).Add(sim.Duration(ms) * sim.Millisecond) }
			end := at(1000 + 1000*int64(k))
			q := observe.Request{
				ID: int64(k), Outcome: observe.Completed, Arrival: 0, Sent: 0, Scheduled: 0, First: at(500), Last: end, End: end,
				MaxGap: 500 * sim.Millisecond, Output: 1 + int32(i), Wanted: 1 + int32(i),
			}
			if err := r.Request(&q); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, r)
	}
	got := Replicate(list, nil)
	if got.Runs != 5 || got.Requests != 10 || got.Share != 0.5 {
		t.Errorf("%d runs, %d requests, share %v; want 5, 10, 0.5", got.Runs, got.Requests, got.Share)
	}
	// Each run lasts 2 s; output tokens are 2, 4, 6, 8, 10: a mean of 3/s, a deviation
	// of √2.5 over √5 runs, 2.776 of which are 1.963.
	if r := got.OutputPerSecond; r.Mean != 3 || math.Abs(r.Lo-1.037) > 0.001 || math.Abs(r.Hi-4.963) > 0.001 {
		t.Errorf("output tokens/s %v, %v to %v; want 3, 1.037 to 4.963", r.Mean, r.Lo, r.Hi)
	}
	if v := got.Verdicts; len(v) != 1 || v[0].Judgement != Fail || v[0].Met != 5 || v[0].Count != 10 {
		t.Errorf("verdicts %+v; want that 5 of 10 fail 60 %%", v)
	}
	if r := got.RequestsPerSecond; r.Mean != 1 || r.Lo != 1 || r.Hi != 1 {
		t.Errorf("requests/s %+v; want 1", r)
	}
	var keys []string
	for _, m := range got.Metrics {
		keys = append(keys, m.Key)
	}
	if want := []string{"ttft", "tpot", "itl", "max_gap", "e2e"}; !slices.Equal(keys, want) {
		t.Errorf("metrics %v; want %v", keys, want)
	}
	if d := got.Metrics[0].Distribution; d.Mean != 500*sim.Millisecond || d.Count != 10 {
		t.Errorf("TTFT %+v; want 500 ms of 10", d)
	}
}
