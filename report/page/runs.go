package page

import (
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/report"
	"servesim/report/figure"
	"servesim/report/lives"
)

// A Run is one that a page shows.
type Run struct {
	// Run has its figures. Its Report must not be nil; without a History there are
	// only figures of distributions.
	figure.Run
	// Slow are the lives of its slowest requests.
	Slow []lives.Life
	// Facts say what ran.
	Facts []Fact
	// Prompts says what its engine does with a prompt, as what follows the run's name
	// in a sentence; empty if that isn't known.
	Prompts string
}

// A Draw draws a figure as a still picture, in SVG.
type Draw func(*figure.Figure) ([]byte, error)

// A Content is what a page of runs is made of.
type Content struct {
	Title string
	// Runs are one, or those that are compared.
	Runs []Run
	// Facts are common to all runs.
	Facts []Fact
	// Blocks are what text says of the runs.
	Blocks []report.Block
	// Draw is nil if there are to be no still pictures.
	Draw Draw
}

// OfRun returns the page of the only run of c. The errors are those of Draw.
func OfRun(c *Content) (*Page, error) {
	r := &c.Runs[0]
	p := &Page{Kind: "run", Title: c.Title, Verdict: verdictOfRun(r.Report), Facts: append(slices.Clone(c.Facts), r.Facts...)}
	return p, p.compose(c)
}

// OfComparison returns the page of the runs of c, which said compares. The errors are
// those of Draw.
func OfComparison(c *Content, said *analysis.Comparison) (*Page, error) {
	p := &Page{Kind: "compare", Title: c.Title, Facts: slices.Clone(c.Facts)}
	if len(c.Runs) == 2 {
		p.Verdict = verdictOfPair(said.Runs[0].Name, said.Runs[1].Name, &said.Paired[0])
	} else {
		p.Verdict = verdictOfMany(said)
	}
	list, _ := figuresOf(c.Runs)
	p.Why = strings.TrimSpace(promptsOf(c.Runs) + " " + contrastOf(list))
	for _, r := range c.Runs {
		p.Facts = append(p.Facts, Fact{Text: r.Name + ":"})
		p.Facts = append(p.Facts, r.Facts...)
	}
	return p, p.compose(c)
}

// compose adds the figures and sections of the runs of content.
func (p *Page) compose(content *Content) error {
	runs := content.Runs
	list, history := figuresOf(runs)
	gaps := history && len(known(runs, figure.ITL)) > 0
	first := known(runs, figure.ITL, figure.TTFT)
	p.Reading = reading(gaps, len(first))
	if history && slices.ContainsFunc(runs, func(r Run) bool { return r.Report.WarmUp != nil }) {
		p.Reading += " Figures in time, blame and lives have the warm-up too, which tables and distributions leave out."
	}
	c := composer{draw: content.Draw, runs: len(runs)}
	if gaps {
		p.First = c.pictures(figure.Stalls(list))
	} else {
		p.First = c.pictures(figure.CCDF(first, list))
	}
	p.add(Section{Title: "Tables", Blocks: content.Blocks})
	all := known(runs, figure.TTFT, figure.TPOT, figure.ITL, figure.E2E)
	p.add(Section{Title: "Distributions", Note: distributionNote(len(runs)),
		Pictures: c.pictures(figure.CCDF(all, list), figure.ECDF(all, list))})
	if history {
		p.add(Section{Title: "Engine", Pictures: c.pictures(figure.State(list), figure.Batch(list))})
		c.blame(p, runs, list)
		p.add(c.slowest(runs))
	}
	return c.err
}

// distributionNote says how distributions of so many runs are read.
func distributionNote(runs int) string {
	marks := "Lines are"
	if runs > 1 {
		marks = "Rings are"
	}
	return marks + " P50, P99, P99.9 and the worst value. On a logarithmic axis the tail is as wide as the rest."
}

// known returns those of metrics of which a run has values.
func known(runs []Run, metrics ...figure.Metric) (list []figure.Metric) {
	for _, m := range metrics {
		if slices.ContainsFunc(runs, func(r Run) bool {
			return slices.ContainsFunc(r.Report.Metrics(), func(k analysis.Metric) bool { return k.Key == string(m) && k.OK })
		}) {
			list = append(list, m)
		}
	}
	return list
}

// add appends a section.
func (p *Page) add(s Section) { p.Sections = append(p.Sections, s) }

// figuresOf returns what figures of runs are made of, and tells whether all have a
// history.
func figuresOf(runs []Run) (list []figure.Run, history bool) {
	history = true
	for _, r := range runs {
		list = append(list, r.Run)
		history = history && r.History != nil
	}
	return list, history
}

// A composer makes pictures, until one fails.
type composer struct {
	draw Draw
	runs int
	err  error
}

// pictures draws those of figures that have a panel.
func (c *composer) pictures(figures ...*figure.Figure) []Picture {
	var list []Picture
	for _, f := range figures {
		if len(f.Panels) == 0 || c.err != nil {
			continue
		}
		p := Picture{Figure: f}
		for i := range f.Panels {
			p.Runs = append(p.Runs, runOf(f.Kind, i, c.runs))
		}
		if c.draw != nil {
			p.Still, c.err = c.draw(f)
		}
		list = append(list, p)
	}
	return list
}

// runOf returns which of so many runs panel i of a kind of figure shows.
func runOf(kind string, i, runs int) int {
	switch kind {
	case "stalls":
		return i / 2
	case "timeline":
		return i
	case "batch":
		return i % runs
	}
	return 0
}

// blame adds what latencies were spent on.
func (c *composer) blame(p *Page, runs []Run, list []figure.Run) {
	metrics := []figure.Metric{figure.TTFT, figure.TPOT, figure.WorstGap, figure.E2E}
	s := Section{Title: "Blame", Note: "Every part of a latency has a cause, and the parts sum to the whole. The median is the mean of the requests from the 40th to the 60th percentile, the tail that from the 99th on.",
		Pictures: c.pictures(figure.Blame(metrics, list))}
	for _, r := range runs {
		if len(runs) > 1 {
			s.Blocks = append(s.Blocks, report.Block{Text: r.Name})
		}
		s.Blocks = append(s.Blocks, report.BlameBlocks(r.History.Blame())...)
	}
	p.add(s)
}

// slowest is the section of the lives of runs.
func (c *composer) slowest(runs []Run) Section {
	s := Section{Title: "Slowest requests", Note: "Open one to see its life. Its track is what each moment of it went to, from its arrival on the left to its end on the right. Points of the figures above lead here."}
	for i := range runs {
		for k := range runs[i].Slow {
			l := Life{Run: i, Life: &runs[i].Slow[k]}
			if len(runs) > 1 {
				l.Of = runs[i].Name
			}
			s.Lives = append(s.Lives, l)
		}
	}
	return s
}

// reading says how the first figure is read, of gaps over time or of so many
// latencies.
func reading(gaps bool, latencies int) string {
	switch {
	case latencies == 0:
		return "No request has a first token: there is no latency to show."
	case !gaps:
		return "Each curve is the share of values that are longer than so much; lines are percentiles and the worst."
	}
	return "Left: the longest gaps between two tokens of an answer as the run went, coloured by the length of the prompt that others waited for. Right, at the same heights: how many gaps are longer. Lines across mark P99, P99.9 and the worst gap."
}
