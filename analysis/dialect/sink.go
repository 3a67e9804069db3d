package dialect

import (
	"cmp"
	"slices"

	"servesim/analysis"
	"servesim/analysis/transcript"
	"servesim/sim/observe"
)

// Options say what a Sink computes.
type Options struct {
	// Facts are those that the source of the calls knows.
	Facts transcript.Facts
	// Percentiles to report of every metric, in any order; those that each tool
	// prints if empty.
	Percentiles []analysis.Percentile
	// Goodput limits, if any, and limits on percentiles of the run, which Marginal
	// takes for those of its percentile.
	Goodput analysis.Goodput
	Run     []analysis.RunLimit
}

// Sink computes the figures of dialects from calls. The order of the calls does
// not matter. Its memory does not grow beyond some 8 MB for each measure that no
// other dialect has in common, 25 MB for each of pauses, 16 MB for zipped goodput and 32 MB for peaks.
type Sink struct {
	o       Options
	ds      []*Dialect
	series  []*series
	tallies []*tally
	graders []*grader
	times   times
	totals  totals
	leads   leads
	peaks   *peaks // nil if no dialect asks for them
	room    pauses
}

// New returns an empty Sink for dialects.
func New(ds []*Dialect, o Options) *Sink {
	o.Percentiles = slices.Clone(o.Percentiles)
	slices.SortFunc(o.Percentiles, func(a, b analysis.Percentile) int { return cmp.Compare(a.Fraction(), b.Fraction()) })
	s := &Sink{o: o, ds: ds, times: newTimes()}
	for _, d := range ds {
		for i := range d.Metrics {
			if m := d.Metrics[i].Measure; m.need(o.Facts) == "" {
				s.measure(m)
			}
		}
		for i := range d.Rates {
			s.tally(d.Rates[i].Count)
		}
		s.graders = append(s.graders, s.grader(d))
		if d.peaked() && s.peaks == nil {
			s.peaks = &peaks{}
		}
	}
	return s
}

// measure returns the series of m, which is added if it isn't there.
func (s *Sink) measure(m Measure) *series {
	for _, have := range s.series {
		if have.m == m {
			return have
		}
	}
	s.series = append(s.series, &series{m: m})
	return s.series[len(s.series)-1]
}

// tally returns the tally of c, which is added if it isn't there.
func (s *Sink) tally(c Count) *tally {
	for _, have := range s.tallies {
		if have.count == c {
			return have
		}
	}
	s.tallies = append(s.tallies, &tally{count: c})
	return s.tallies[len(s.tallies)-1]
}

// grader returns the grader of d, nil if there is nothing to grade.
func (s *Sink) grader(d *Dialect) *grader {
	if d.Goodput.Rule == NoGoodput || len(s.o.Goodput) == 0 && (d.Goodput.Rule != Marginal || len(s.o.Run) == 0) {
		return nil
	}
	g := &grader{g: &d.Goodput, l: d.Goodput.limitsOf(&s.o)}
	if d.Goodput.need(g.l, s.o.Facts) != "" {
		g.l.keys = nil
	}
	return g
}

// Call implements transcript.Sink. It is an error if c can't be.
func (s *Sink) Call(c *transcript.Call) error {
	if err := c.Check(); err != nil {
		return err
	}
	v := see(c, &s.room)
	s.times.take(&v)
	s.totals.take(&v, s.o.Facts)
	if s.peaks != nil {
		s.peaks.take(&v)
	}
	s.leads.take(&v)
	if c.Outcome == observe.Completed {
		for _, t := range s.tallies {
			t.take(&v)
		}
	}
	for _, x := range s.series {
		if err := x.take(&v); err != nil {
			return err
		}
	}
	for _, g := range s.graders {
		if g != nil {
			g.take(&v, s.o.Facts)
		}
	}
	return nil
}
