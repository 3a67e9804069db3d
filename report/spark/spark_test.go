package spark_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/analysis"
	"servesim/report/figure"
	"servesim/report/spark"
	"servesim/sim"
	"servesim/sim/observe"
)

// drawing returns the pictures of requests that each took so long to their first token.
func drawing(t interface{ Fatal(...any) }, ttft []sim.Duration, g spark.Glyphs) string {
	seen, summary := new(figure.Latencies), analysis.NewSummary(analysis.Options{})
	for i, d := range ttft {
		first := sim.Time(d)
		r := &observe.Request{ID: int64(i), First: first, Last: first, End: first, Prompt: 1, Wanted: 1, Output: 1, Computed: 1}
		for _, s := range []observe.Sink{seen, summary} {
			if err := s.Request(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	var b strings.Builder
	if err := spark.Write(&b, figure.Run{Latencies: seen, Report: summary.Report()}, g); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Law: whatever latencies are, pictures fit 80 columns, those of ASCII have nothing
// else, and in those of the same values both have bars at the same places.
func TestPicturesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Int64Range(1, int64(sim.Hour)), 0, 50).Draw(t, "ttft")
		var ttft []sim.Duration
		for _, d := range list {
			ttft = append(ttft, sim.Duration(d)*sim.Nanosecond/1000)
		}
		plain, blocks := drawing(t, ttft, spark.ASCII()), drawing(t, ttft, spark.Blocks())
		for line := range strings.Lines(blocks) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Fatalf("%d columns: %s", n, line)
			}
		}
		same := strings.NewReplacer("▁", ".", "▂", ":", "▃", "-", "▄", "=", "▅", "+", "▆", "*", "▇", "#", "█", "@").Replace(blocks)
		if diff := cmp.Diff(plain, same); diff != "" {
			t.Fatal(diff)
		}
		for _, c := range plain {
			if c > 126 {
				t.Fatalf("%q isn't ASCII", c)
			}
		}
	})
}

// TestPicture is one that can be checked by hand: three requests take 1 ms and one
// takes 100, so that the share is 75 % until the last column.
func TestPicture(t *testing.T) {
	const ms = sim.Millisecond
	got := drawing(t, []sim.Duration{ms, ms, ms, 100 * ms}, spark.ASCII())
	bars := "@" + strings.Repeat(" ", 46) + "-"
	under := strings.Repeat("@", 64)
	want := `Shape, ms      from                                                        to
TTFT          1.000 ` + bars + `    100.0
TPOT       no data
ITL        no data
worst gap  no data
E2E           1.000 ` + bars + `    100.0
a bar is the share of a 48th of the range, on a logarithmic axis; the lowest is
one value or more

TTFT: share of 4 requests of at most so many ms
  100 %  ` + strings.Repeat(" ", 63) + `@
         ` + strings.Repeat("=", 63) + `@
         ` + under + `
         ` + under + `
         ` + under + `
    0 %  ` + under + `
         1.000                                                      100.0
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
