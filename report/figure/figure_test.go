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
			if len(s.X) > mostPoints {
				t.Errorf("%s, panel %d, %q: %d points, more than %d", f.Kind, i, s.Label, len(s.X), mostPoints)
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
	size := 0
	for i, f := range figures(runs) {
		wellFormed(t, f)
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatalf("%s: %v", f.Kind, err)
		}
		size += len(text)
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
	if size > 3<<20 {
		t.Errorf("the figures take %d bytes, more than 3 MB", size)
	}
}
