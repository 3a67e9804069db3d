package still

import (
	"bytes"
	"compress/zlib"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"servesim/report/figure"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// spoiled returns a figure all of whose words are text.
func spoiled(text string) *figure.Figure {
	s := figure.Series{
		Label: text, Role: figure.RoleRun, Shape: figure.Line, X: []float64{1, 2}, Y: []float64{1, 5},
		Tags: []string{text, text}, Notes: []string{text, text}, IDs: []int64{1, -1},
	}
	b := figure.Series{Label: text, Role: figure.RoleCause, Shape: figure.Bars, X: []float64{1}, Y: []float64{0}, Low: []float64{0}, High: []float64{1}}
	marks := []figure.Mark{{Kind: figure.Limit, Label: text, On: "x", Value: 1.5}, {Kind: figure.Worst, Label: text, On: "y", Value: 4}, {Kind: figure.Percentile, Label: text, On: "x", Value: 2}}
	x := figure.Axis{Label: text, Unit: text, Scale: figure.Log, Min: 0.5, Max: 20}
	return &figure.Figure{
		Kind: text, Title: text, Caption: text, Text: text, Columns: 2,
		Panels: []figure.Panel{
			{Title: text, X: x, Y: x, Series: []figure.Series{s}, Marks: marks},
			{Title: text, X: figure.Axis{Label: text, Max: 2}, Y: figure.Axis{Scale: figure.Names, Min: -0.5, Max: 0.5, Names: []string{text}}, Series: []figure.Series{b}},
		},
	}
}

// FuzzWords draws figures whose every word is hostile: no picture may be broken by them.
func FuzzWords(f *testing.F) {
	for _, s := range []string{
		"", "plain", "<script>alert(1)</script>", `"><svg onload=x>`, "]]>&amp;&#0;", "a\x00b\x1b[31m", "\xff\xfe", "\u202eright to left\u202c", "\u200f\u2066isolate\u2069",
		"line\nbreak\r\n\ttab\u2028", ") Tj (evil) /JS (app.alert)", "日本語 עברית 👩‍🚀", strings.Repeat("long ", 4000), strings.Repeat("x", 20000),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fig := spoiled(text)
		texts, count := elements(t, pictureOf(t, fig, SVG))
		if count["svg"] != 1 || count["title"] != 1 || count["desc"] != 1 {
			t.Fatalf("the SVG has elements %v", count)
		}
		for _, s := range texts {
			for _, r := range s {
				if r != '\n' && r != utf8.RuneError && !unicode.IsPrint(r) && r != ' ' {
					t.Fatalf("the SVG has the character %U in %q", r, s)
				}
			}
		}
		outlinesOnly(t, pictureOf(t, fig, PDF))
	})
}

// outlinesOnly fails the test unless a PDF draws paths and nothing else.
func outlinesOnly(t *testing.T, pdf []byte) {
	t.Helper()
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(pdf), []byte("%%EOF")) {
		t.Fatal("it isn't a whole PDF")
	}
	rest, drawn := pdf, 0
	for {
		head, after, ok := bytes.Cut(rest, []byte("\nstream\n"))
		for _, word := range []string{"/JS", "/JavaScript", "/URI", "/Annot", "/XObject <<\n/", "/FontFile"} {
			if bytes.Contains(head, []byte(word)) {
				t.Fatalf("the PDF has %s", word)
			}
		}
		if !ok {
			break
		}
		packed, after, _ := bytes.Cut(after, []byte("\nendstream"))
		z, err := zlib.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		ops, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(ops, []byte("Tj")) || bytes.Contains(ops, []byte(" Do")) {
			t.Fatal("the PDF draws text or an object")
		}
		drawn += len(ops)
		rest = after
	}
	if drawn == 0 {
		t.Fatal("the PDF draws nothing")
	}
}

// TestLabelsAreApart: labels are spread so that none lies on another, and in order,
// if they have room.
func TestLabelsAreApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) label {
			return label{at: vg.Length(rapid.Float64Range(-50, 250).Draw(t, "at"))}
		}), 1, 20).Draw(t, "labels")
		spread(labels, 10, 0, 200)
		for i, l := range labels {
			if l.put > 200 || l.put < -1e-9 {
				t.Fatalf("label %d is put at %v", i, l.put)
			}
			if i > 0 && (l.put-labels[i-1].put < 10-1e-9 || l.at < labels[i-1].at) {
				t.Fatalf("labels at %v and %v", labels[i-1].put, l.put)
			}
		}
	})
}

// TestTicks: marks lie within their axis, in order, two at least of them have labels,
// all different, and there are not many more labels than room.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := figure.Axis{Scale: rapid.SampledFrom([]figure.Scale{figure.Linear, figure.Log}).Draw(t, "scale")}
		a.Min = rapid.Float64Range(1e-6, 1e6).Draw(t, "min")
		a.Max = a.Min * rapid.Float64Range(1.05, 1e7).Draw(t, "ratio")
		if a.Scale == figure.Linear && rapid.Bool().Draw(t, "signed") {
			a.Min = -a.Min
		}
		room := rapid.IntRange(4, 14).Draw(t, "room")
		seen := map[string]bool{}
		last := place(&a, a.Min) - 1
		for _, k := range ticks(&a, room) {
			if k.Value <= last || k.Value < place(&a, a.Min)-1e-9 || k.Value > place(&a, a.Max)+1e-9 {
				t.Fatalf("axis %+v: tick %v after %v", a, k, last)
			}
			last = k.Value
			if k.Label != "" {
				if seen[k.Label] {
					t.Fatalf("axis %+v: two ticks have the label %s", a, k.Label)
				}
				seen[k.Label] = true
			}
		}
		if len(seen) < 2 || len(seen) > room+2 {
			t.Fatalf("axis %+v has %d labels for a room of %d: %v", a, len(seen), room, seen)
		}
	})
}
