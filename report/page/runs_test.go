package page

import (
	"errors"
	"strings"
	"testing"

	"servesim/analysis"
	"servesim/report"
	"servesim/report/figure"
	"servesim/report/lives"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/observe"
)

// compared returns the page of a comparison of the default scenario, shortened, with and
// without chunked prefill.
func compared(t *testing.T, draw Draw) (*Page, error) {
	t.Helper()
	var runs []Run
	var named []analysis.Run
	for _, setting := range []string{"enable_chunked_prefill=false", "max_num_batched_tokens=512"} {
		var src scenario.Source
		for _, text := range []string{"requests=1500", setting} {
			s, err := scenario.ParseSetting(text)
			if err != nil {
				t.Fatal(err)
			}
			src.Settings = append(src.Settings, s)
		}
		p, err := scenario.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		slow, pairs := lives.New(3), &analysis.Pairing{}
		r := Run{Run: figure.Run{Name: setting, Latencies: new(figure.Latencies), History: figure.NewHistory(0), SLO: p.SLO}}
		r.History.Each = slow.Each
		said, err := p.Simulate(t.Context(), scenario.Options{Percentiles: analysis.TailPercentiles(), Sinks: []observe.Sink{r.History}, Measured: []observe.Sink{r.Latencies, pairs}})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.History.Finish(); err != nil {
			t.Fatal(err)
		}
		r.Report, r.Slow, r.Prompts = said.Report, slow.List(), p.Prompts()
		runs, named = append(runs, r), append(named, analysis.Run{Name: setting, Report: said.Report, Pairs: pairs})
	}
	c, err := analysis.Compare(named)
	if err != nil {
		t.Fatal(err)
	}
	return OfComparison(&Content{Title: "title", Runs: runs, Blocks: report.Blocks(&report.Document{Comparison: c}), Draw: draw}, c)
}

// TestComparisonTellsWhy holds the words of a comparison to what they must say, twice in
// the same bytes.
func TestComparisonTellsWhy(t *testing.T) {
	p, err := compared(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, wants := range map[string][]string{
		p.Verdict: {"From enable_chunked_prefill=false to max_num_batched_tokens=512: ", "P99 worst gap falls ", "-fold, from ", "P99 TTFT rises from "},
		p.Why:     {"Every answer waits", "enable_chunked_prefill=false computes each prompt whole, in one step; max_num_batched_tokens=512 cuts prompts into chunks, of at most 512 tokens a step. Of ", " or more enable_chunked_prefill=false has ", "max_num_batched_tokens=512 none; ", "few long stalls against many short ones."},
	} {
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q lacks %q", text, want)
			}
		}
	}
	if len(p.First) != 1 || p.First[0].Figure.Kind != "stalls" || len(p.First[0].Figure.Panels) != 4 {
		t.Fatalf("the first figure is %+v", p.First)
	}
	for i, want := range []int{0, 0, 1, 1} {
		if p.First[0].Runs[i] != want {
			t.Errorf("panel %d shows run %d, want %d", i, p.First[0].Runs[i], want)
		}
	}
	again, err := compared(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if written(t, p) != written(t, again) {
		t.Error("the same comparison has other bytes the second time")
	}
}

// TestDrawFails holds that an error of a drawer is told.
func TestDrawFails(t *testing.T) {
	broken := errors.New("no ink")
	if _, err := compared(t, func(*figure.Figure) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("found %v, want %v", err, broken)
	}
}

// TestChangeText holds the words for changes.
func TestChangeText(t *testing.T) {
	ms := func(x int64) sim.Duration { return sim.Duration(x) * sim.Millisecond }
	for _, c := range []struct {
		change analysis.Change
		want   string
	}{
		{analysis.Change{Name: "ITL", Statistic: "p99", Base: ms(50), Run: ms(10), Direction: analysis.Better}, "P99 ITL falls 5.0-fold, from 50 ms to 10 ms"},
		{analysis.Change{Name: "TTFT", Statistic: "p99", Base: ms(500), Run: ms(1000), Direction: analysis.Worse}, "P99 TTFT rises from 500 ms to 1,000 ms"},
		{analysis.Change{Name: "TPOT", Statistic: "mean", Base: ms(12), Run: ms(12), Direction: analysis.Same}, "mean TPOT stays as it is"},
		{analysis.Change{Name: "E2E", Statistic: "p99", Base: ms(12), Run: ms(13), Direction: analysis.Unclear}, "P99 E2E rises from 12 ms to 13 ms (perhaps by chance)"},
	} {
		if got := changeText(&c.change); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
