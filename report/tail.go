package report

import (
	"fmt"
	"io"
	"strings"

	"servesim/analysis"
	"servesim/analysis/tail"
	"servesim/sim"
)

// TailText writes what a population of gaps says, and what is true of claims
// about it. The only errors are those of w.
func TailText(w io.Writer, l *tail.Lab, claims []tail.Claim) error {
	var p page
	o := &l.Options
	p.item("Gaps", "%s", o.Population)
	p.item("", "mean %s ms%s; standard deviation %s ms", ps(l.Mean), spelled(o.Population), ps(l.Deviation))
	for i := range claims {
		p.item("Said", "%s", said(&claims[i], o.Population))
	}
	p.line("")
	p.answers(l)
	p.within(l)
	p.good(l)
	p.lessons(l)
	return p.to(w)
}

// ps prints a number of ps in milliseconds.
func ps(x float64) string { return Number(x / 1e9) }

// spelled writes how the mean of a short list of gaps comes about.
func spelled(p *tail.Population) string {
	if _, fixed := p.Longest(); !fixed || p.Total == 0 {
		return ""
	}
	var terms []string
	for _, q := range p.Parts {
		terms = append(terms, fmt.Sprintf("%d x %s", q.Count, Number(q.Median.Milliseconds())))
	}
	return fmt.Sprintf(" = (%s) / %d", strings.Join(terms, " + "), p.Total)
}

// said says whether a claim is true of p.
func said(c *tail.Claim, p *tail.Population) string {
	is, right := c.Check(p)
	text := fmt.Sprintf("%s %v", c.Name(), c.Value)
	switch {
	case right && is == float64(c.Value):
		return text + ": true"
	case right:
		return text + fmt.Sprintf(": true of %s ms, rounded", ps(is))
	}
	text += fmt.Sprintf(": not true; it is %s ms", ps(is))
	if longest, ok := p.Longest(); ok && c.Value > longest {
		text += fmt.Sprintf(", and no gap takes longer than %v", longest)
	}
	return text
}

// lengths begins a table with a column for each length of answers.
func lengths(l *tail.Lab, first string) table {
	t := table{left: 1}
	head := []string{first}
	for i := range l.Answers {
		head = append(head, analysis.Grouped(l.Answers[i].Gaps)+" gaps")
	}
	t.add(head...)
	return t
}

// row adds a row with a cell for each length.
func (t *table) row(name string, l *tail.Lab, cell func(*tail.Answer) string) {
	cells := []string{name}
	for i := range l.Answers {
		cells = append(cells, cell(&l.Answers[i]))
	}
	t.add(cells...)
}

// answers is the table of percentiles: of one gap, of TPOT and of the worst gap.
func (p *page) answers(l *tail.Lab) {
	t := table{left: 1}
	head := []string{"ms", "mean"}
	for _, at := range l.Options.Percentiles {
		head = append(head, at.String())
	}
	t.add(head...)
	row := func(name, mean string, value func(i int) sim.Duration) {
		cells := []string{name, mean}
		for i := range l.Options.Percentiles {
			cells = append(cells, milliseconds(value(i)))
		}
		t.add(cells...)
	}
	row("ITL, of each gap", ps(l.Mean), func(i int) sim.Duration { return l.Gaps[i] })
	for k := range l.Answers {
		a := &l.Answers[k]
		name := "TPOT, of " + analysis.Counted(a.Gaps, "gap")
		if !a.Exact {
			name += ", drawn"
		}
		row(name, ps(l.Mean), func(i int) sim.Duration { return a.TPOT[i].Value })
	}
	for k := range l.Answers {
		a := &l.Answers[k]
		mean := ""
		if m, ok := l.Options.Population.MeanWorstOf(a.Gaps); ok {
			mean = ps(m)
		}
		row("worst gap, of "+analysis.Grouped(a.Gaps), mean, func(i int) sim.Duration { return a.WorstGap[i] })
	}
	t.write(p)
	p.line("")
}

// within is the table of goodput as the limit on TPOT tightens.
func (p *page) within(l *tail.Lab) {
	t := lengths(l, "Answers with")
	t.row("a gap of the slowest part", l, func(a *tail.Answer) string { return Percent(a.Spiked) })
	for i, limit := range l.Options.Limits {
		t.row("TPOT <= "+limit.String(), l, func(a *tail.Answer) string { return Percent(a.Within[i].Share) })
	}
	t.write(p)
	p.line("")
}

// good is the table of goodput under sets of limits.
func (p *page) good(l *tail.Lab) {
	if len(l.Options.SLOs) == 0 {
		return
	}
	t := lengths(l, fmt.Sprintf("Goodput, TTFT %v", l.Options.TTFT))
	for i, s := range l.Options.SLOs {
		t.row(s.Name, l, func(a *tail.Answer) string { return Percent(a.Good[i].Share) })
	}
	t.write(p)
	p.line("")
	for _, s := range l.Options.SLOs {
		if text := s.Limits.String(); text != s.Name {
			p.item(s.Name, "%s", text)
		}
	}
	p.item("drawn", "%s of each length", analysis.Counted(l.Options.Draws, "answer"))
	p.line("")
}

// lessons says in sentences what the tables show.
func (p *page) lessons(l *tail.Lab) {
	o := &l.Options
	slowest := o.Population.Parts[len(o.Population.Parts)-1]
	for i, at := range o.Percentiles {
		beyond := 1 - at.Fraction()
		if len(o.Population.Parts) < 2 || beyond <= 0 || i < len(o.Percentiles)-1 {
			continue
		}
		if slowest.Share > beyond {
			p.item(at.String(), "of the gaps, %s are of the slowest part, more than the %s beyond %s: it is one of them, %s ms, wherever the rest lies",
				Percent(slowest.Share), Percent(beyond), at, milliseconds(l.Gaps[i]))
		} else {
			p.item(at.String(), "of the gaps, %s are of the slowest part, no more than the %s beyond %s: it tells nothing of how slow these are",
				Percent(slowest.Share), Percent(beyond), at)
		}
	}
	longest, last := &l.Answers[len(l.Answers)-1], len(o.Percentiles)-1
	p.item("TPOT", "is the mean of an answer's gaps, and means lie close together: the standard deviation of %s is %s ms, that of one gap %s ms. %s of TPOT lies %s ms from the mean, that of ITL %s ms",
		analysis.Grouped(longest.Gaps), ps(l.Deviation/root(longest.Gaps)), ps(l.Deviation), o.Percentiles[last],
		away(longest.TPOT[last].Value, l.Mean), away(l.Gaps[last], l.Mean))
	short, first, tight := &l.Answers[0], o.Limits[0], len(o.Limits)-1
	p.item("goodput", "as the limit goes from %v to %v, answers of %s go from %s to %s, those of %s from %s to %s",
		first, o.Limits[tight], analysis.Counted(short.Gaps, "gap"), Percent(short.Within[0].Share), Percent(short.Within[tight].Share),
		analysis.Grouped(longest.Gaps), Percent(longest.Within[0].Share), Percent(longest.Within[tight].Share))
	p.item("beware", "gaps are independent here; an engine's come in crowds, so that TPOT spreads more")
}
