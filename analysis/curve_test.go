package analysis

import (
	"testing"

	"servesim/sim"
	"servesim/sim/observe"

	"pgregory.net/rapid"
)

// TestBucketsHoldEveryValue: each value, and each gap of runs, is in a bucket no wider
// than 2^-12 of it, and the percentiles are within a bucket of those of all values.
func TestBucketsHoldEveryValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var values Curve
		var gaps GapCurve
		var exact Sample
		counts := map[sim.Duration]int64{}
		for range rapid.IntRange(0, 40).Draw(t, "runs") {
			g := observe.Gaps{
				Seqs: rapid.Int32Range(1, 3).Draw(t, "seqs"), Steps: rapid.Int64Range(1, 5).Draw(t, "steps"),
				First: sim.Duration(rapid.Int64Range(0, 1<<45).Draw(t, "first")), Inc: sim.Duration(rapid.Int64Range(0, 1<<30).Draw(t, "inc")),
			}
			if err := gaps.Add(&g); err != nil {
				t.Fatal(err)
			}
			for i := range g.Steps {
				for range g.Seqs {
					d := g.First + g.Inc*sim.Duration(i)
					values.Add(d)
					exact.Add(d)
					counts[d]++
				}
			}
		}
		a, b := values.Buckets(), gaps.Buckets()
		if len(a) != len(b) {
			t.Fatalf("%d buckets of values, %d of the same gaps", len(a), len(b))
		}
		n := int64(0)
		for i, k := range a {
			if k != b[i] || k.High-k.Low > k.Low>>12 {
				t.Fatalf("bucket %+v of values, %+v of gaps", k, b[i])
			}
			held := int64(0)
			for d, n := range counts {
				if d >= k.Low && d <= k.High {
					held += n
				}
			}
			if held != k.Count {
				t.Fatalf("bucket %+v holds %d values", k, held)
			}
			n += k.Count
		}
		d, e := values.Distribution(TailPercentiles()), exact.Distribution(TailPercentiles())
		if n != e.Count || d.Mean != e.Mean || d.Max != e.Max {
			t.Fatalf("%d values, mean %v, max %v; want %d, %v, %v", n, d.Mean, d.Max, e.Count, e.Mean, e.Max)
		}
		for i, q := range d.Quantiles {
			if off := q.Value - e.Quantiles[i].Value; max(off, -off) > q.Resolution {
				t.Fatalf("%s is %v, want %v within %v", q.P, q.Value, e.Quantiles[i].Value, q.Resolution)
			}
		}
	})
}
