package gate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/analysis/export"
	"servesim/analysis/transcript"
	"servesim/scenario"
)

// An Input is a file of results and the load that it was measured at.
type Input struct {
	// Level is the Name of the load, or "" if the rate of its calls is to tell.
	Level  string
	Source export.Source
}

// nearLoad is how far, as a share of it, the rate of a run's calls may be from that
// of the load that it counts for.
const nearLoad = 0.1

// ParseInput reads what names a file of results and its load: LEVEL=FILE, where LEVEL
// is a share of the target, in percent, or "peak"; or FILE alone.
func ParseInput(text string) (level, path string) {
	head, rest, ok := strings.Cut(text, "=")
	name := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(head), "%"))
	if _, err := strconv.ParseUint(name, 10, 32); ok && (err == nil || name == peakName) {
		return name, rest
	}
	return "", text
}

// Measure judges the runs in files of benchmark tools. The error is a
// scenario.UsageError of all that is wrong with them, or that keeps them from
// being enough.
func (g *Gate) Measure(inputs []Input) (*Outcome, error) {
	m := &measuring{gate: g, runs: make([][]*run, len(g.Levels)), clock: true}
	var errs []error
	seen := map[string]bool{}
	for _, in := range inputs {
		if name := in.Source.Name; seen[name] {
			errs = append(errs, fmt.Errorf("%s: is given twice, and would count twice; leave one out", name))
			continue
		}
		seen[in.Source.Name] = true
		if err := m.file(in); err != nil {
			if errors.Is(err, context.Canceled) {
				return nil, err
			}
			errs = append(errs, err)
		}
	}
	if errs != nil {
		return nil, &scenario.UsageError{Err: errors.Join(errs...)}
	}
	if refused := m.refused(); refused != nil {
		return nil, g.refusals(refused)
	}
	var rows []Row
	for i, l := range g.Levels {
		row := g.row(l, m.runs[i], m.clock)
		row.QueueShare = math.NaN() // only engines know it
		rows = append(rows, row)
	}
	return g.conclude(rows, true, m.cautions)
}

// refused returns why what was measured isn't enough.
func (m *measuring) refused() []string {
	g := m.gate
	var refused, lack, first []string
	for i, l := range g.Levels {
		switch n := len(m.runs[i]); {
		case n == 0:
			lack, first = append(lack, l.Title), append(first, l.Name)
		case n < g.Runs:
			refused = append(refused, fmt.Sprintf("%s at %s can't tell a change from luck; measure %d or more", analysis.Counted(int64(n), "run"), l.Title, g.Runs))
		}
		refused = append(refused, g.evidence(&l, m.runs[i])...)
	}
	if lack != nil {
		refused = append(refused, fmt.Sprintf("no sweep: nothing was measured at %s of the target, %s; measure there too, and say so: --from %s=FILE",
			strings.Join(lack, ", "), g.targetText(), first[0]))
	}
	for _, t := range g.Thresholds {
		if t.throughput() && !m.clock {
			refused = append(refused, fmt.Sprintf("%s can't be judged: a file doesn't say when calls were sent; take the threshold out, or give results that do (servesim analyze shows what a file knows)", t.String()))
		}
	}
	return refused
}

// measuring is the state of Measure.
type measuring struct {
	gate     *Gate
	runs     [][]*run // of each level
	clock    bool     // every file says when calls were sent
	cautions []string
}

// caution adds a sentence, once.
func (m *measuring) caution(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.cautions, text) {
		m.cautions = append(m.cautions, text)
	}
}

// file reads the runs of a file.
func (m *measuring) file(in Input) error {
	g, name := m.gate, in.Source.Name
	if in.Level != "" && g.at(in.Level) < 0 {
		var names []string
		for _, l := range g.Levels {
			names = append(names, l.Name)
		}
		return fmt.Errorf("%s: is labelled %s, which isn't in the gate's sweep: %s", name, in.Level, strings.Join(names, ", "))
	}
	f, err := export.Read(in.Source)
	if err != nil {
		return err
	}
	if d := f.Format.Dialect; d != g.Dialect.Name && d != "servesim" {
		return fmt.Errorf("%s: refused: is of %s, and the gate's dialect is %s, which means other times by the same names; name the tool that measured in [dialect], or measure with %[3]s", name, d, g.Dialect.Name)
	}
	for i, r := range f.Runs {
		if err := g.lacks(&r.Facts); err != nil {
			return fmt.Errorf("%s: run %d: %w", name, i+1, err)
		}
	}
	return m.replay(in.Level, f)
}

// lacks returns what the limits need and a file doesn't know.
func (g *Gate) lacks(f *transcript.Facts) error {
	gaps := limits(&g.SLO, analysis.MaxGap) || limits(&g.SLO, analysis.ITL)
	switch {
	case !f.First || !f.Outputs:
		return errors.New("refused: doesn't say of every answer when its first token came and how many tokens it has, so that nothing is known of TTFT and TPOT; see servesim analyze for what the tool can write")
	case gaps && !f.Gaps:
		return errors.New("refused: doesn't say when each token came, and a limit is on gaps; limit tpot instead, or have the tool write them")
	}
	return nil
}

// replay takes the calls of every run of f.
func (m *measuring) replay(label string, f *export.File) error {
	g := m.gate
	var list []*hearing
	err := f.Replay(func(r *export.Run) (transcript.Sink, error) {
		h := g.hearing(r.Facts)
		list = append(list, h)
		return transcript.Tee{h.calls, h.records}, nil
	})
	if err != nil {
		return err
	}
	var errs []error
	for i, h := range list {
		h.run.hear(h.calls)
		at, err := m.level(label, h)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: run %d: %w", f.Name, i+1, err))
			continue
		}
		m.runs[at] = append(m.runs[at], h.run)
		m.clock = m.clock && h.facts.Clock
		if !h.facts.Failures {
			m.caution("%s doesn't write all failed calls, so that goodput is of those that it wrote", f.Format.Title)
		}
		if !h.facts.Prompts {
			m.caution("%s doesn't say how long prompts are, so that nobody knows whether all are the same", f.Name)
		}
		if n := h.records.Empty(); n > 0 {
			m.caution("%s: %s without a token counts as failed", f.Name, analysis.Counted(n, "answer"))
		}
	}
	return errors.Join(errs...)
}

// level returns the index of the load of a run with a label, or without one.
func (m *measuring) level(label string, h *hearing) (at int, err error) {
	g, rate := m.gate, h.run.rate()
	known := h.facts.Clock && !math.IsNaN(rate) && g.Levels[0].Rate > 0
	if label != "" {
		at = g.at(label)
		if l := &g.Levels[at]; known && !near(rate, l.Rate) {
			m.caution("a run labelled %s (%s) has calls at %s requests/s: the load wasn't that, or requests were too few to tell", l.Title, l.Load(), short(rate))
		}
		return at, nil
	}
	if !known {
		return 0, errors.New("has no label, and nothing tells its load; say at which share of the target it was measured: --from 100=FILE")
	}
	for i := range g.Levels {
		if near(rate, g.Levels[i].Rate) && (at == 0 || math.Abs(rate-g.Levels[i].Rate) < math.Abs(rate-g.Levels[at].Rate)) {
			at = i
		}
	}
	if !near(rate, g.Levels[at].Rate) {
		return 0, fmt.Errorf("has calls at %s requests/s, which is none of the loads of the sweep (%s of %s); measure at one, or say which it was: --from 100=FILE", short(rate), g.sweepText(), g.targetText())
	}
	return at, nil
}

// near tells whether a rate is about that of a load.
func near(rate, of float64) bool { return math.Abs(rate-of) <= float64(nearLoad*of) }

// short writes a rate to three digits.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
