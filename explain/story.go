package explain

import (
	"fmt"
	"math"
	"strings"

	"servesim/analysis"
	"servesim/report"
)

// alike is the share by which two sums may differ and still be called the same.
const alike = 0.05

// A Sentence is one of what a pair says, under a name.
type Sentence struct{ Name, Text string }

// Sentences tells p. Each sentence is chosen by the figures that it gives.
func (p *Pair) Sentences() []Sentence {
	list := []Sentence{
		{"Work", p.work()}, {"Spread", p.spread()}, {"Mean", p.mean()}, {"Worst gap", p.worst()},
	}
	for i := range p.Rules {
		if r := &p.Rules[i]; r.Of != gap99 {
			list = append(list, Sentence{p.Statistics[r.Of].Title(), p.percentile(r)})
		}
	}
	list = append(list, Sentence{"Price", p.price()})
	return append(list, p.moves()...)
}

// ratio writes by how much b differs from a.
func ratio(a, b float64) string {
	if a == 0 {
		return "from nothing"
	}
	return signedPercent(b/a - 1)
}

// seconds writes s seconds.
func seconds(s float64) string { return report.Number(s) + " s" }

// millis writes s seconds in ms.
func millis(s float64) string { return report.Number(1000*s) + " ms" }

// near tells whether b is within alike of a.
func near(a, b float64) bool { return math.Abs(b-a) <= float64(alike*math.Abs(a)) }

// nothing tells that no gap is beside a prompt in either.
func (p *Pair) nothing() bool { return p.Before.Share == 0 && p.After.Share == 0 }

// work says whether prompts cost the same in all.
func (p *Pair) work() string {
	a, b := &p.Before, &p.After
	if p.nothing() {
		return "no answer streams beside a prompt in either, so that prompts cost no gap anything"
	}
	text := fmt.Sprintf("%s prompt tokens are computed beside answers in %s and %s in %s; they make the gaps between tokens longer by %s in all and by %s, %s",
		analysis.Grouped(int64(math.Round(a.Tokens))), p.Coarse, analysis.Grouped(int64(math.Round(b.Tokens))), p.Fine, seconds(a.Lost), seconds(b.Lost), ratio(a.Lost, b.Lost))
	if near(a.Lost, b.Lost) {
		return text + ": the prefill work that decodes sit beside is the same, within 5 %, however it is cut"
	}
	return text + ": the prefill work that decodes sit beside isn't the same, by more than 5 %, so that more than its spreading changes"
}

// spread says on how many gaps the cost of prompts falls.
func (p *Pair) spread() string {
	a, b := &p.Before, &p.After
	if p.nothing() {
		return "there is nothing to spread"
	}
	text := fmt.Sprintf("in %s it falls on %.2f %% of the gaps, %s each in the mean; in %s on %.2f %%, %s each", p.Coarse, 100*a.Share, millis(a.Each), p.Fine, 100*b.Share, millis(b.Each))
	switch {
	case near(a.Share, b.Share) && near(a.Each, b.Each):
		return text + ": as many gaps, as much each, within 5 %"
	case b.Share > a.Share && b.Each < a.Each:
		return text + ": spread over more gaps, each longer by less"
	case b.Share < a.Share && b.Each > a.Each:
		return text + ": gathered on fewer gaps, each longer by more"
	case b.Each < a.Each:
		return text + ": not spread over more gaps, and yet each is longer by less"
	}
	return text + ": not spread, for each gap that it falls on is longer by no less"
}

// went says which way a change goes, with its figures.
func went(c *analysis.Change) string {
	is := fmt.Sprintf("%s to %s ms (%s)", report.Number(c.Base.Milliseconds()), report.Number(c.Run.Milliseconds()), signedPercent(float64(c.Difference())/float64(max(1, c.Base))))
	switch c.Direction {
	case analysis.Better:
		return "falls from " + is
	case analysis.Worse:
		return "rises from " + is
	case analysis.Unclear:
		return "goes from " + is + ", too close to call"
	}
	return "stays, from " + is
}

// mean says what becomes of the means.
func (p *Pair) mean() string {
	tpot, itl := &p.Changes[tpotMean], &p.Changes[itlMean]
	if tpot.Name == "" || tpot.Base == 0 {
		return "no request got two tokens"
	}
	text := fmt.Sprintf("mean TPOT %s, mean ITL %s", went(tpot), went(itl))
	still := sign(tpot.Direction) == 0 && tpot.Direction != analysis.Unclear
	switch same := near(p.Before.Lost, p.After.Lost); {
	case still && same:
		return text + ": a mean is a sum over a count, and the sum is the same"
	case still:
		return text + ": what prompts cost changed, but is too little of the mean to show in it"
	case tpot.Direction == analysis.Unclear:
		return text
	case same:
		return text + ": not for what prompts cost, which is the same, but for steps without them, or because short and long answers share it otherwise"
	}
	return text + ": the sum that prompts cost isn't the same"
}

// worst says what becomes of the longest gap of each answer.
func (p *Pair) worst() string {
	c := &p.Changes[gap99]
	if c.Name == "" || c.Base == 0 {
		return "no request got two tokens"
	}
	text := "its P99 " + went(c)
	switch {
	case c.Direction == analysis.Better && 2*c.Run <= c.Base:
		return fmt.Sprintf("%s: this is what is protected, by a factor of %.1f", text, float64(c.Base)/float64(max(1, c.Run)))
	case c.Direction == analysis.Better:
		return text + ": protected, by less than half"
	case c.Direction == analysis.Worse:
		return text + ": not protected"
	}
	return text + ": the longest gaps aren't protected by more than can be told"
}

// percentile says why a percentile of ITL moves as it does.
func (p *Pair) percentile(r *Rule) string {
	c := &p.Changes[r.Of]
	if c.Name == "" || c.Base == 0 {
		return "no request got two tokens"
	}
	text := fmt.Sprintf("%.2f %% of the gaps in %s and %.2f %% in %s are beside prompts; ", 100*r.AnyOff, p.Coarse, 100*r.AnyOn, p.Fine)
	a, b := r.AnyOff >= r.Beyond, r.AnyOn >= r.Beyond
	limit := percent(r.Beyond)
	switch {
	case a && b:
		text += fmt.Sprintf("that is %s or more, so it is a gap beside a prompt in both", limit)
	case a || b:
		which := p.Coarse
		if b {
			which = p.Fine
		}
		text += fmt.Sprintf("only in %s that is %s or more, so only there it is a gap beside a prompt", which, limit)
	default:
		text += fmt.Sprintf("that is less than %s, so it isn't a gap beside a prompt in either", limit)
	}
	if !p.Cuts {
		return text + ". It " + went(c)
	}
	text += fmt.Sprintf(". Beside steps over %s tokens are %.2f %% and %.2f %%: ", grouped(p.Budget), 100*r.Off, 100*r.On)
	switch r.Predicted {
	case analysis.Better:
		text += fmt.Sprintf("%s or more without the cuts already, so it was as long as such a step, and the cuts make it shorter", limit)
	case analysis.Worse:
		text += fmt.Sprintf("less than %s without the cuts and more with them, so it wasn't such a gap and becomes one: longer", limit)
	case analysis.Same:
		text += fmt.Sprintf("less than %s even with the cuts, so it is of other gaps and should stay", limit)
	default:
		text += fmt.Sprintf("some seeds above and some below %s, so it may go either way", limit)
	}
	text += ". It " + went(c)
	if r.Tells() && !r.Holds() {
		text += ", which these shares didn't foretell"
	}
	return text
}

// price says what the change costs.
func (p *Pair) price() string {
	text := "P99 TTFT " + went(&p.Changes[ttft99])
	if g := p.Goodput; g != nil {
		text += fmt.Sprintf("; goodput %s, %.1f to %.1f %%", wayOf(g.Direction), 100*g.Base, 100*g.Run)
	}
	return text
}

// wayOf says a direction of goodput as a verb.
func wayOf(d analysis.Direction) string {
	switch d {
	case analysis.Better, analysis.BetterSlightly:
		return "rises"
	case analysis.Worse, analysis.WorseSlightly:
		return "falls"
	case analysis.Same:
		return "stays"
	}
	return "is too close to call"
}

// moves lists which statistics go which way.
func (p *Pair) moves() (list []Sentence) {
	for _, way := range []struct {
		name string
		of   func(analysis.Direction) bool
	}{
		{"Better", func(d analysis.Direction) bool { return sign(d) < 0 }},
		{"Worse", func(d analysis.Direction) bool { return sign(d) > 0 }},
		{"Same", func(d analysis.Direction) bool { return sign(d) == 0 && d != analysis.Unclear }},
		{"Unclear", func(d analysis.Direction) bool { return d == analysis.Unclear }},
	} {
		var items []string
		for i := range p.Changes {
			c := &p.Changes[i]
			if c.Name != "" && c.Base > 0 && way.of(c.Direction) {
				items = append(items, fmt.Sprintf("%s %s", p.Statistics[i].Title(), signedPercent(float64(c.Difference())/float64(c.Base))))
			}
		}
		if items != nil {
			list = append(list, Sentence{way.name, strings.Join(items, ", ")})
		}
	}
	return list
}
