package explain

import (
	"strings"
	"testing"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim"
)

// change is a change by hand, in ms.
func change(base, run float64, way analysis.Direction) analysis.Change {
	d := func(x float64) sim.Duration { return sim.Duration(x * float64(sim.Millisecond)) }
	return analysis.Change{Name: "x", Base: d(base), Run: d(run), Direction: way}
}

// usual is a pair in which chunking protects the worst gap and not P99 of ITL.
func usual() *Pair {
	p := &Pair{Coarse: "whole", Fine: "cut", Budget: 2048, Cuts: true, Statistics: Statistics(),
		Before: Spread{Lost: 100, Share: 0.04, Each: 0.050}, After: Spread{Lost: 101, Share: 0.06, Each: 0.034}}
	p.Changes = make([]analysis.Change, statistics)
	for i := range p.Changes {
		p.Changes[i] = change(100, 100, analysis.Same)
	}
	p.Changes[gap99] = change(1000, 100, analysis.Better)
	p.Changes[itl99] = change(50, 80, analysis.Worse)
	p.Changes[itl999] = change(180, 90, analysis.Better)
	p.Rules = ruled()
	p.Rules[0].Off, p.Rules[0].On, p.Rules[0].AnyOff, p.Rules[0].AnyOn = 0.007, 0.02, 0.04, 0.06
	p.Rules[1].Off, p.Rules[1].On, p.Rules[1].AnyOff, p.Rules[1].AnyOn = 0.007, 0.02, 0.04, 0.06
	p.Rules[0].Predicted, p.Rules[0].Found = analysis.Worse, analysis.Worse
	p.Rules[1].Predicted, p.Rules[1].Found = analysis.Better, analysis.Better
	return p
}

// TestSentencesFollowTheFacts changes one fact at a time and holds that the sentence
// about it changes with it.
func TestSentencesFollowTheFacts(t *testing.T) {
	for name, c := range map[string]struct {
		about  string
		change func(*Pair)
		before string // of the sentence of the usual pair
		after  string
	}{
		"the work differs":  {"Work", func(p *Pair) { p.After.Lost = 80 }, "is the same, within 5 %", "isn't the same"},
		"no prompts":        {"Work", func(p *Pair) { p.Before, p.After = Spread{}, Spread{} }, "is the same", "no answer streams beside a prompt"},
		"nothing to spread": {"Spread", func(p *Pair) { p.Before, p.After = Spread{}, Spread{} }, "spread over more gaps", "nothing to spread"},
		"gathered":          {"Spread", func(p *Pair) { p.Before, p.After = p.After, p.Before }, "spread over more gaps, each longer by less", "gathered on fewer gaps"},
		"not spread":        {"Spread", func(p *Pair) { p.After = p.Before }, "spread over more gaps", "as many gaps, as much each"},
		"fewer and shorter": {"Spread", func(p *Pair) { p.After.Share, p.After.Each = 0.03, 0.02 }, "spread over more gaps, each", "not spread over more gaps, and yet"},
		"more and longer":   {"Spread", func(p *Pair) { p.After.Each = 0.08 }, "spread over more", "longer by no less"},
		"the mean rises":    {"Mean", func(p *Pair) { p.Changes[tpotMean] = change(10, 12, analysis.Worse) }, "the sum is the same", "not for what prompts cost, which is the same"},
		"the mean and the work": {"Mean", func(p *Pair) {
			p.Changes[tpotMean], p.After.Lost = change(10, 12, analysis.Worse), 150
		}, "a mean is a sum", "the sum that prompts cost isn't the same"},
		"a mean that hides it":        {"Mean", func(p *Pair) { p.After.Lost = 150 }, "a mean is a sum", "too little of the mean to show"},
		"a mean that nobody can tell": {"Mean", func(p *Pair) { p.Changes[tpotMean] = change(10, 11, analysis.Unclear) }, "mean TPOT stays", "+10.0 %), too close to call"},
		"a gap a little better":       {"Worst gap", func(p *Pair) { p.Changes[gap99] = change(100, 80, analysis.Better) }, "by a factor of 10.0", "by less than half"},
		"a gap worse":                 {"Worst gap", func(p *Pair) { p.Changes[gap99] = change(100, 180, analysis.Worse) }, "this is what is protected", "not protected"},
		"a gap the same":              {"Worst gap", func(p *Pair) { p.Changes[gap99] = change(100, 100, analysis.Same) }, "this is what is protected", "aren't protected by more than can be told"},
		"above the boundary before":   {"P99 ITL", func(p *Pair) { p.Rules[0].Predicted = analysis.Better }, "wasn't such a gap and becomes one: longer", "the cuts make it shorter"},
		"below it after":              {"P99 ITL", func(p *Pair) { p.Rules[0].Predicted = analysis.Same }, "becomes one", "of other gaps and should stay"},
		"at it":                       {"P99 ITL", func(p *Pair) { p.Rules[0].Predicted = analysis.Unclear }, "becomes one", "it may go either way"},
		"foretold wrong":              {"P99 ITL", func(p *Pair) { p.Rules[0].Found = analysis.Better }, "(+60.0 %)", "(+60.0 %), which these shares didn't foretell"},
		"no prompt's gap":             {"P99 ITL", func(p *Pair) { p.Rules[0].AnyOff, p.Rules[0].AnyOn = 0.001, 0.009 }, "so it is a gap beside a prompt in both", "it isn't a gap beside a prompt in either"},
		"a prompt's gap in one":       {"P99 ITL", func(p *Pair) { p.Rules[0].AnyOff = 0.001 }, "in both", "only in cut that is 1 % or more"},
		"no cuts":                     {"P99 ITL", func(p *Pair) { p.Cuts = false }, "Beside steps over 2,048 tokens", "in both. It rises"},
		"the other percentile":        {"P99.9 ITL", func(p *Pair) { p.Rules[1].Predicted = analysis.Worse }, "the cuts make it shorter", "less than 0.1 % without the cuts and more with them"},
		"dearer":                      {"Price", func(p *Pair) { p.Changes[ttft99] = change(100, 150, analysis.Worse) }, "P99 TTFT stays", "P99 TTFT rises from 100.0 to 150.0 ms (+50.0 %)"},
		"goodput":                     {"Price", func(p *Pair) { p.Goodput = &analysis.ShareChange{Base: 0.9, Run: 0.8, Direction: analysis.Worse} }, "(0.0 %)", "(0.0 %); goodput falls, 90.0 to 80.0 %"},
		"better moves":                {"Better", func(p *Pair) { p.Changes[itl99] = change(50, 40, analysis.Better) }, "P99.9 ITL -50.0 %", "P99 ITL -20.0 %, P99.9 ITL -50.0 %"},
	} {
		t.Run(name, func(t *testing.T) {
			p := usual()
			if got := told(p, c.about); !strings.Contains(got, c.before) {
				t.Errorf("usually %q lacks %q", got, c.before)
			}
			c.change(p)
			got := told(p, c.about)
			if !strings.Contains(got, c.after) || strings.Contains(got, c.before) && !strings.Contains(c.after, c.before) {
				t.Errorf("%q; want %q, and no %q", got, c.after, c.before)
			}
		})
	}
}

// told returns what p says under a name.
func told(p *Pair, about string) string {
	for _, s := range p.Sentences() {
		if s.Name == about {
			return s.Text
		}
	}
	return ""
}

// TestPairGolden tells a pair and the same pair in the other order, whose story is
// the same.
func TestPairGolden(t *testing.T) {
	whole := source(t, "enable_chunked_prefill=false")
	cut := source(t, "max_num_batched_tokens=1024")
	w := Work{Jobs: 2}
	a, err := Compare(t.Context(), []scenario.Source{whole, cut}, []string{"whole", "cut"}, 5, w)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Compare(t.Context(), []scenario.Source{cut, whole}, []string{"cut", "whole"}, 5, Work{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "pair.txt", written(t, a.Write))
	golden(t, "pair.json", written(t, a.JSON))
	for i, s := range a.List[0].Sentences() {
		if s != b.List[0].Sentences()[i] {
			t.Errorf("%s: %q, and in the other order %q", s.Name, s.Text, b.List[0].Sentences()[i].Text)
		}
	}
}

// TestPredict holds the rule by its table.
func TestPredict(t *testing.T) {
	for _, c := range []struct {
		off, on float64
		want    analysis.Direction
	}{{0.02, 0.05, analysis.Better}, {0.01, 0.01, analysis.Better}, {0.0099, 0.01, analysis.Worse}, {0.001, 0.3, analysis.Worse}, {0.001, 0.0099, analysis.Same}, {0, 0, analysis.Same}} {
		if got := predict(c.off, c.on, 0.01); got != c.want {
			t.Errorf("%v and %v: %s, want %s", c.off, c.on, got, c.want)
		}
	}
	if agreed(0, "", analysis.Better) != analysis.Better || agreed(2, analysis.Better, analysis.Better) != analysis.Better || agreed(1, analysis.Better, analysis.Same) != analysis.Unclear || agreed(2, analysis.Unclear, analysis.Same) != analysis.Unclear {
		t.Error("seeds that disagree must foretell nothing")
	}
}
