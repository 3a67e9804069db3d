package figure

import (
	"math"
	"testing"

	"servesim/analysis"
	"servesim/sim"

	"pgregory.net/rapid"
)

// TestCurvesGoThroughTheValues: of a few values each curve has at each what share is
// shorter, or longer, up to the width of a bucket.
func TestCurvesGoThroughTheValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfNDistinct(rapid.Int64Range(1, 1<<40), 2, 60, rapid.ID).Draw(t, "values")
		var c analysis.Curve
		for _, v := range values {
			c.Add(sim.Duration(v))
		}
		for _, beyond := range []bool{false, true} {
			s := distribution(c.Buckets(), int64(len(values)), beyond)
			for i, x := range s.X {
				fewest, most := 0, 0 // that may be at most x
				for _, v := range values {
					if float64(v)/1e9 < x*(1-1.0/4096) {
						fewest++
					}
					if float64(v)/1e9 <= x*(1+1.0/4096) {
						most++
					}
				}
				lo, hi := 100*float64(fewest)/float64(len(values)), 100*float64(most)/float64(len(values))
				if beyond {
					lo, hi = 100-hi, 100-lo
				}
				if s.Y[i] < lo-1e-9 || s.Y[i] > hi+1e-9 {
					t.Fatalf("beyond %v: at %g ms the share is %g %%, want %g to %g", beyond, x, s.Y[i], lo, hi)
				}
			}
		}
	})
}

// TestMarksAreThoseOfReports: percentiles are marked where reports have them, and where
// the curve has that share.
func TestMarksAreThoseOfReports(t *testing.T) {
	runs := chunkedOrNot(t)
	f := CCDF(Metrics(), runs)
	for k, m := range Metrics() {
		for i, r := range runs {
			for _, known := range r.Report.Metrics() {
				if known.Key != string(m) {
					continue
				}
				p99, worst := known.Quantiles[2].Value.Milliseconds(), known.Max.Milliseconds()
				var got []float64
				for _, mark := range f.Panels[k].Marks {
					if mark.Index == i {
						got = append(got, mark.Value)
					}
				}
				if len(got) < 3 || got[1] != p99 || got[len(got)-1] != worst {
					t.Errorf("%s of %s: marks %v, want P99 %g and worst %g", m, r.Name, got, p99, worst)
				}
				s := f.Panels[k].Series[i]
				for j := 1; j < len(s.X); j++ {
					if s.X[j-1] <= p99 && p99 <= s.X[j] && (s.Y[j-1] < 0.9 || s.Y[j] > 1.1) {
						t.Errorf("%s of %s: at P99 the curve goes from %g %% to %g %%, want 1 %%", m, r.Name, s.Y[j-1], s.Y[j])
					}
				}
			}
		}
	}
}

// TestHistoryHasEveryGap: the gaps of a history are as many as the report says, their
// mean is its mean, and the longest of each cell are among them its worst.
func TestHistoryHasEveryGap(t *testing.T) {
	for _, r := range chunkedOrNot(t) {
		count, tallied, sum, worst := int64(0), int64(0), 0.0, sim.Duration(0)
		for _, n := range r.History.gaps.count {
			count += n
		}
		for i := range r.History.gaps.cells {
			c := &r.History.gaps.cells[i]
			tallied += c.count
			sum += float64(c.sum)
			for _, one := range c.longest {
				worst = max(worst, one.length)
			}
		}
		want := r.Report.ITL
		if count != want.Count || tallied != want.Count || worst != want.Max || worst != r.History.around.gap {
			t.Errorf("%s: %d and %d gaps, the worst %v and %v; want %d, %v", r.Name, count, tallied, worst, r.History.around.gap, want.Count, want.Max)
		}
		if got := sum / float64(tallied) * 1e3; math.Abs(got-float64(want.Mean)) > 1e-3*float64(want.Mean) {
			t.Errorf("%s: mean gap %g ps, want %d", r.Name, got, want.Mean)
		}
		if len(r.History.gaps.pending) > 0 {
			t.Errorf("%s: %d prompts are pending at the end", r.Name, len(r.History.gaps.pending))
		}
	}
}
