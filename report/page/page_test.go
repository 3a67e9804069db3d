package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"servesim/analysis/blame"
	"servesim/report"
	"servesim/report/figure"
	"servesim/report/lives"
	"servesim/sim"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample returns a page in which every text is one that name returns.
func sample(name func() string) *Page {
	f := &figure.Figure{
		Kind: "stalls", Title: name(), Columns: 1, Caption: name(), Text: name(),
		Panels: []figure.Panel{{
			Title: name(),
			X:     figure.Axis{Label: name(), Unit: name(), Scale: figure.Linear, Max: 10},
			Y:     figure.Axis{Label: name(), Unit: name(), Scale: figure.Names, Min: -0.5, Max: 1.5, Names: []string{name(), name()}},
			Series: []figure.Series{{
				Label: name(), Role: figure.RoleStall, Shape: figure.Dots, X: []float64{1, 2.5, 1e6 + 1.0/3}, Y: []float64{0, 1, 1},
				Notes: []string{name(), "", name()}, IDs: []int64{7, -1, 8},
			}},
			Marks: []figure.Mark{{Kind: figure.Limit, Label: name(), On: "x", Value: 5, Index: -1}},
		}},
	}
	life := &lives.Life{
		ID: 8, Class: name(), Slowest: []blame.Metric{blame.WorstGap}, Places: []int{1}, Arrival: sim.Time(sim.Second),
		TTFT: 40 * sim.Millisecond, WorstGap: 20 * sim.Millisecond, E2E: 100 * sim.Millisecond, TPOT: 20 * sim.Millisecond, Prompt: 100, Output: 4,
		Pieces: []blame.Piece{
			{Cause: blame.Prefill, Start: sim.Time(sim.Second), Lasts: 40 * sim.Millisecond},
			{Cause: blame.Decode, Start: sim.Time(sim.Second + 40*sim.Millisecond), Lasts: 45 * sim.Millisecond},
			{Cause: blame.DecodeSlowed, Start: sim.Time(sim.Second + 85*sim.Millisecond), Lasts: 15 * sim.Millisecond},
		},
		Culprits: []lives.Culprit{{Cost: blame.Cost{ID: 7, Cause: blame.DecodeSlowed, Time: 15 * sim.Millisecond}, Prompt: 9000}},
	}
	life.ToFirst[blame.Prefill], life.AfterFirst[blame.Decode], life.AfterFirst[blame.DecodeSlowed] = 40*sim.Millisecond, 45*sim.Millisecond, 15*sim.Millisecond
	return &Page{
		Kind: "run", Title: name(), Verdict: name(), Why: name(), Reading: name(), Version: name(),
		Facts: []Fact{{name(), name()}, {"", name()}},
		First: []Picture{{Figure: f, Still: []byte("<svg/>")}},
		Sections: []Section{{
			Title: name(), Note: name(), Lives: []Life{{Of: name(), Life: life}},
			Blocks: []report.Block{
				{Item: true, Name: name(), Text: name()}, {Text: name()},
				{Table: &report.Table{Left: 1, Heads: []string{name(), name()}, Rows: [][]string{{"  " + name(), name()}, {name()}}}},
				{Text: name()}, {Text: "a  b\n" + name()},
			},
		}},
	}
}

// written returns the bytes of p.
func written(tb testing.TB, p *Page) string {
	tb.Helper()
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// bare returns a page without its scripts and its style, and the data between them.
func bare(tb testing.TB, text string) (markup, data string) {
	tb.Helper()
	a, err := load()
	if err != nil {
		tb.Fatal(err)
	}
	for _, part := range []string{string(a.boot), string(a.script), string(a.style), a.policy()} {
		before, after, found := strings.Cut(text, part)
		if !found {
			tb.Fatalf("the page lacks an asset as it is: %.60q", part)
		}
		text = before + after
	}
	const open = `<script type="application/json" id="data">`
	before, rest, found := strings.Cut(text, open)
	data, after, closed := strings.Cut(rest, "</script>")
	if !found || !closed {
		tb.Fatal("the page has no data")
	}
	return before + open + "</script>" + after, data
}

// TestGolden holds the page of the sample without its assets, which have hashes.
func TestGolden(t *testing.T) {
	n := 0
	markup, data := bare(t, written(t, sample(func() string { n++; return "text " + string(rune('a'+n%26)) })))
	got := strings.ReplaceAll(markup, "></", ">\n</") + "\n" + strings.ReplaceAll(data, ",\"", ",\n\"") + "\n"
	const file = "testdata/sample.golden"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("the page differs from %s (-update writes it anew):\n%s", file, d)
	}
}

// TestVendored holds uPlot to the bytes of the npm package of its version: 1.6.32.
func TestVendored(t *testing.T) {
	for name, want := range map[string]string{
		"uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
		"uPlot.min.css":     "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
		"LICENSE":           "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
	} {
		b, err := files.ReadFile("assets/uplot/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has the SHA-256 %x, want that of uplot 1.6.32, %s; a new version changes VERSION and this test too", name, sum, want)
		}
	}
}

// TestNothingIsFetched holds that a page names no address that a browser would open.
func TestNothingIsFetched(t *testing.T) {
	text := written(t, sample(func() string { return "text" }))
	for _, bad := range []string{" src=\"http", " href=\"http", "url(http", "@import", "import(", "fetch(", "XMLHttpRequest", "WebSocket", "eval(", "new Function"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if strings.Count(text, "<script") != 3 || strings.Count(text, "<style") != 1 || strings.Contains(text, " style=") {
		t.Error("the page has scripts or styles that its policy has no hash of")
	}
}

// FuzzHostileText holds that a text, whatever it is, stays text wherever a page has one:
// the page has the same markup as with a harmless one, and its data are JSON with it.
func FuzzHostileText(f *testing.F) {
	for _, s := range []string{
		"</script><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "' onload='x", "{{.}}", "<!-- <script>", "\x00\x01", "\u202egnol\u202c \u2028\u2029",
		"javascript:alert(1)", strings.Repeat("long ", 5000), "\xff\xfe", "]]>", "&lt;b&gt;", "`${1}`",
	} {
		f.Add(s)
	}
	harmless, _ := bare(f, written(f, sample(func() string { return "x" })))
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ReplaceAll(s, "\n", " ") // lines say whether a text is columns, which is other markup
		markup, data := bare(t, written(t, sample(func() string { return s + "x" })))
		for _, mark := range []string{"<", ">", `"`, "'", "\x00"} {
			// What ends up in nothing, such as an empty item, leaves no marks behind.
			if a, b := strings.Count(harmless, mark), strings.Count(markup, mark); a != b {
				// Heads are cut into words with <wbr> between them.
				if mark == "<" || mark == ">" {
					b -= strings.Count(markup, "<wbr>")
					a -= strings.Count(harmless, "<wbr>")
				}
				if a != b {
					t.Fatalf("%q makes %d of %q of %d", s, b, mark, a)
				}
			}
		}
		if strings.ContainsAny(data, "<>\u2028\u2029") {
			t.Fatalf("%q can end its script", s)
		}
		var parsed struct {
			Figures []struct{ Panels []struct{ Title string } }
		}
		if err := json.Unmarshal([]byte(data), &parsed); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD") + "x"; len(strings.ToValidUTF8(s, "")) == len(s) && parsed.Figures[0].Panels[0].Title != want {
			t.Fatalf("%q arrives as %q", want, parsed.Figures[0].Panels[0].Title)
		}
	})
}
