package still

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servesim/report/figure"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// pictureOf returns f in a format.
func pictureOf(tb testing.TB, f *figure.Figure, format Format) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := Write(&b, f, format); err != nil {
		tb.Fatalf("%s as %s: %v", f.Kind, format, err)
	}
	return b.Bytes()
}

// TestGolden compares the SVG of each kind with testdata.
func TestGolden(t *testing.T) {
	names, list := drawn(t)
	for i, f := range list {
		got := pictureOf(t, f, SVG)
		path := filepath.Join("testdata", names[i]+".svg")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("%s differs (-want +got); go test ./report/still -update writes it anew:\n%s", path, diff)
		}
	}
}

// TestSameBytes draws each kind twice in each format.
func TestSameBytes(t *testing.T) {
	_, list := drawn(t)
	_, again := drawn(t)
	for i, f := range list {
		for _, format := range Formats() {
			if format == PNG && f.Kind != "stalls" {
				continue // dots take long, and are those of TestPNGIsDrawn
			}
			one, two := pictureOf(t, f, format), pictureOf(t, again[i], format)
			if !bytes.Equal(one, two) {
				t.Errorf("%s as %s: two runs give different bytes", f.Kind, format)
			}
			if len(one) > 400_000 {
				t.Errorf("%s as %s takes %d bytes", f.Kind, format, len(one))
			}
		}
	}
}

// elements reads an SVG and returns its text, and how many elements it has by name. It
// fails the test unless it is XML and all of it is drawing: no script, no reference.
func elements(t *testing.T, svg []byte) (texts []string, count map[string]int) {
	t.Helper()
	count = map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(svg))
	in := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts, count
		}
		if err != nil {
			t.Fatalf("the SVG is no XML: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			in = e.Name.Local
			count[in]++
			switch in {
			case "svg", "title", "desc", "path", "text":
			default:
				t.Fatalf("the SVG has an element %s", in)
			}
			for _, a := range e.Attr {
				if strings.Contains(a.Name.Local, "href") || strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" {
					t.Fatalf("the SVG has an attribute %s", a.Name.Local)
				}
			}
		case xml.CharData:
			if in == "text" || in == "title" || in == "desc" {
				texts = append(texts, string(e))
			}
		case xml.EndElement:
			in = ""
		}
	}
}

// TestPicturesSaySoInWords: an SVG has its title and its text, each axis its unit, and
// the caption with counts.
func TestPicturesSaySoInWords(t *testing.T) {
	_, list := drawn(t)
	for _, f := range list {
		texts, _ := elements(t, pictureOf(t, f, SVG))
		all := strings.Join(texts, " ")
		for _, want := range []string{f.Title, f.Text} {
			if !strings.Contains(all, want) {
				t.Errorf("%s lacks the words %q", f.Kind, want)
			}
		}
		for _, p := range f.Panels {
			for _, a := range []figure.Axis{p.X, p.Y} {
				if a.Label != "" && a.Unit != "" && !strings.Contains(all, a.Label+" ("+a.Unit+")") {
					t.Errorf("%s lacks the axis of %s in %s", f.Kind, a.Label, a.Unit)
				}
			}
		}
		if !strings.Contains(strings.Join(strings.Fields(all), " "), f.Caption) {
			t.Errorf("%s lacks the caption %q", f.Kind, f.Caption)
		}
	}
}

// TestPNGIsDrawn: a picture in dots has the size of the sheet, is mostly ground, and has
// the colour of each of its series.
func TestPNGIsDrawn(t *testing.T) {
	names, list := drawn(t)
	for i, f := range list {
		if names[i] != "timeline" && names[i] != "blame" && names[i] != "pareto" {
			continue // what is drawn of others TestGolden holds
		}
		img, err := png.Decode(bytes.NewReader(pictureOf(t, f, PNG)))
		if err != nil {
			t.Fatal(err)
		}
		s := lay(f)
		size := img.Bounds().Size()
		if math.Abs(float64(size.X)-s.w.Points()*dpi/72) > 1 || math.Abs(float64(size.Y)-s.h.Points()*dpi/72) > 1 {
			t.Errorf("%s has %d by %d dots", f.Kind, size.X, size.Y)
		}
		seen := map[color.NRGBA]int{}
		for y := range size.Y {
			for x := range size.X {
				seen[color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)]++
			}
		}
		if ground := seen[hex("#FFFFFF")]; ground < size.X*size.Y/2 || ground == size.X*size.Y {
			t.Errorf("%s: %d of %d dots are ground", f.Kind, ground, size.X*size.Y)
		}
		for _, p := range f.Panels {
			for _, s := range p.Series {
				if seen[colorOf(s.Role, s.Index)] == 0 {
					t.Errorf("%s: nothing has the colour of %q", f.Kind, s.Label)
				}
			}
		}
	}
}

// TestWhatCannotBeDrawn is an error, not a picture.
func TestWhatCannotBeDrawn(t *testing.T) {
	good := func() *figure.Figure {
		return &figure.Figure{Columns: 1, Panels: []figure.Panel{{
			X: figure.Axis{Scale: figure.Linear, Max: 1}, Y: figure.Axis{Scale: figure.Log, Min: 1, Max: 10},
			Series: []figure.Series{{Shape: figure.Line, X: []float64{0, 1}, Y: []float64{2, 5}}},
		}}}
	}
	if err := Write(io.Discard, good(), SVG); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(p *figure.Panel){
		"goes from 1 to 1":         func(p *figure.Panel) { p.X.Min = 1 },
		"axis of  goes from 0":     func(p *figure.Panel) { p.Y.Min = 0 },
		"point 2, (NaN, 5)":        func(p *figure.Panel) { p.Series[0].X[1] = math.NaN() },
		"point 1, (0, -1)":         func(p *figure.Panel) { p.Series[0].Y[0] = -1 },
		"2 x, 1 y":                 func(p *figure.Panel) { p.Series[0].Y = p.Series[0].Y[:1] },
		"0 and 0 ends":             func(p *figure.Panel) { p.Series[0].Shape = figure.Bars },
		"the mark \"m\" is at 0":   func(p *figure.Panel) { p.Marks = []figure.Mark{{Label: "m", On: "y"}} },
		"the mark \"m\" is at +In": func(p *figure.Panel) { p.Marks = []figure.Mark{{Label: "m", On: "x", Value: math.Inf(1)}} },
	} {
		f := good()
		spoil(&f.Panels[0])
		if err := Write(io.Discard, f, SVG); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := Write(io.Discard, good(), "gif"); err == nil {
		t.Error("a picture as gif was written")
	}
}
