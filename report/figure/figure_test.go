package figure

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wellFormed returns what no figure may have.
func wellFormed(t *testing.T, f *Figure) {
	t.Helper()
	if f.Kind == "" || f.Title == "" || f.Caption == "" || f.Text == "" || f.Columns < 1 || len(f.Panels) == 0 || len(f.Panels)%f.Columns != 0 && len(f.Widths) > 0 {
		t.Errorf("%s: title %q, caption %q, text %q, %d panels in %d columns", f.Kind, f.Title, f.Caption, f.Text, len(f.Panels), f.Columns)
	}
	for i, p := range f.Panels {
		for _, a := range []Axis{p.X, p.Y} {
			if !(a.Min < a.Max) || a.Scale == Log && a.Min <= 0 || math.IsInf(a.Max-a.Min, 0) {
				t.Errorf("%s, panel %d: axis %q from %g to %g, %s", f.Kind, i, a.Label, a.Min, a.Max, a.Scale)
			}
		}
		for _, s := range p.Series {
			if len(s.X) == 0 || len(s.X) != len(s.Y) || s.Low != nil && len(s.Low) != len(s.Y) || s.Notes != nil && len(s.Notes) != len(s.Y) || s.IDs != nil && len(s.IDs) != len(s.Y) {
				t.Errorf("%s, panel %d, %q: %d x, %d y, %d low, %d notes, %d ids", f.Kind, i, s.Label, len(s.X), len(s.Y), len(s.Low), len(s.Notes), len(s.IDs))
			}
			if most := max(mostPoints, 4/fineness); len(s.X) > int(most) {
				t.Errorf("%s, panel %d, %q: %d points, more than %g", f.Kind, i, s.Label, len(s.X), most)
			}
			for k := range s.X {
				if s.Shape != Bars && (s.X[k] < p.X.Min || s.X[k] > p.X.Max || s.Y[k] < p.Y.Min || s.Y[k] > p.Y.Max) {
					t.Errorf("%s, panel %d, %q: (%g, %g) is outside %g..%g, %g..%g", f.Kind, i, s.Label, s.X[k], s.Y[k], p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
				}
			}
		}
	}
}

func TestFiguresOfRuns(t *testing.T) {
	runs := chunkedOrNot(t)
	again := chunkedOrNot(t)
	for i, f := range figures(runs) {
		wellFormed(t, f)
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatalf("%s: %v", f.Kind, err)
		}
		var back Figure
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		other, err := json.Marshal(figures(again)[i])
		if err != nil || !bytes.Equal(text, other) {
			t.Errorf("%s: two runs give different figures: %v", f.Kind, err)
		}
		backText, _ := json.Marshal(&back)
		if diff := cmp.Diff(string(text), string(backText)); diff != "" {
			t.Errorf("%s changes by going through JSON: %s", f.Kind, diff)
		}
	}
}

// TestSizeDoesNotGrowWithTheRun: the figures of a long run have a little more to show
// than those of a short one, and go into a page.
func TestSizeDoesNotGrowWithTheRun(t *testing.T) {
	size := func(requests string) (n int) {
		for _, f := range figures([]Run{simulated(t, "", requests, "rate_per_s=12", "max_num_batched_tokens=512")}) {
			wellFormed(t, f)
			text, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			n += len(text)
		}
		return n
	}
	short, long := size("requests=3000"), size("requests=30000")
	if long > 2*short || long > 1<<20 {
		t.Errorf("the figures of 3,000 requests take %d bytes, those of 30,000 %d", short, long)
	}
}
