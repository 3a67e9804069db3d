package explain

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/analysis/blame"
	"servesim/report"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/observe"
)

// Causes are what the slowest requests of a run spent their time on.
type Causes struct {
	Result *scenario.Result
	Blame  *blame.Report
}

// Why simulates the scenario of src and charges its latencies.
func Why(ctx context.Context, src scenario.Source, w Work) (*Causes, error) {
	p, err := scenario.Load(src)
	if err != nil {
		return nil, err
	}
	b := blame.New(blame.Options{})
	r, err := p.Simulate(ctx, scenario.Options{Percentiles: percentiles(), Sinks: []observe.Sink{b}})
	if err != nil {
		return nil, err
	}
	if w.Progress != nil {
		w.Progress(1, 1)
	}
	charged, err := b.Report()
	return &Causes{r, charged}, err
}

// shownCauses is the number of causes that a sentence names.
const shownCauses = 3

// Sentences tells the causes: for each metric those of its slowest requests, and
// whose prompts the longest gaps are due to.
func (c *Causes) Sentences() (list []Sentence) {
	for i := range c.Blame.Bands {
		b := &c.Blame.Bands[i]
		list = append(list, Sentence{b.Metric.String(), tailText(b)})
	}
	return append(list, Sentence{"ITL", gapsText(&c.Blame.Gaps)}, Sentence{"Culprits", culpritsText(c.Blame)})
}

// tailText says what the slowest requests of a metric spent more time on than those
// in the middle.
func tailText(b *blame.Bands) string {
	t, m := &b.Tail, &b.Middle
	if b.All.Count == 0 {
		return "no data: no request completed that has one"
	}
	over := t.Mean - m.Mean
	text := fmt.Sprintf("the slowest %s of %s, from %s ms on, take %s ms in the mean, %s ms more than those in the middle",
		analysis.Grouped(t.Count), analysis.Grouped(b.All.Count), ms(t.Low), ms(t.Mean), ms(over))
	if over <= 0 {
		return text
	}
	type part struct {
		cause blame.Cause
		more  sim.Duration
	}
	var parts []part
	for k := range t.Parts {
		if d := t.Parts[k] - m.Parts[k]; d > 0 {
			parts = append(parts, part{blame.Cause(k), d})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.more, a.more) })
	var words []string
	for _, p := range parts[:min(shownCauses, len(parts))] {
		words = append(words, fmt.Sprintf("%s %s", ms(p.more), p.cause))
	}
	return text + "; most of it is " + strings.Join(words, ", ")
}

// gapsText says whose prompts the longest gaps are due to.
func gapsText(g *blame.Gaps) string {
	if g.Count == 0 {
		return "no data: no request got two tokens"
	}
	text := fmt.Sprintf("the longest %s of %s gaps, from about P99, %s ms, on, exceed P50, %s ms, by %s ms in the mean", analysis.Grouped(g.Tail), analysis.Grouped(g.Count), ms(g.P99), ms(g.Median), ms(g.Excess))
	named := 0.0
	if g.Excess > 0 {
		named = float64(g.Named) / float64(g.Excess)
	}
	from, prompts, part := g.Most()
	if prompts == 0 {
		return text + ", none of it for others' prompts"
	}
	return fmt.Sprintf("%s; others' prompts cause %.1f %% of the excess, and %s of %s tokens or more cause %.1f %%", text, 100*named,
		analysis.Counted(prompts, "prompt"), analysis.Grouped(from), 100*named*part)
}

// culpritsText says which prompts cost others most, of all time between tokens.
func culpritsText(r *blame.Report) string {
	if len(r.Top) == 0 {
		return "no prompt cost another request time between its tokens"
	}
	var requests int64
	part, from := 0.0, int64(0)
	for i := len(r.Lengths) - 1; i >= 0 && part < 0.5; i-- {
		l := &r.Lengths[i]
		requests, part, from = requests+l.Prompts, part+l.Decode, l.From
	}
	text := fmt.Sprintf("prompts of %s tokens or more, %.1f %% of all, cost others %.1f %% of the time that prompts take between tokens, %s ms a request; the costliest are",
		analysis.Grouped(from), 100*float64(requests)/float64(max(1, r.Requests)), 100*part, ms(r.Decode))
	var words []string
	for _, c := range r.Top[:min(shownCauses, len(r.Top))] {
		words = append(words, fmt.Sprintf("%d (%s tokens, %s s in all)", c.ID, grouped(c.Prompt), report.Number(c.Decode.Seconds())))
	}
	return text + " " + strings.Join(words, ", ")
}

// Write writes the causes for people. The only errors are those of w.
func (c *Causes) Write(w io.Writer) error {
	return writeSentences(w, c.Result.Facts(), c.Sentences())
}

// writeSentences writes facts and, after an empty line, sentences.
func writeSentences(w io.Writer, facts []scenario.Fact, list []Sentence) error {
	var b strings.Builder
	for _, f := range facts {
		b.WriteString(report.Fold(fmt.Sprintf("%-*s%s", report.Hang, f.Name, f.Text), report.Hang) + "\n")
	}
	b.WriteString("\n")
	for _, s := range list {
		b.WriteString(report.Item(s.Name, s.Text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
