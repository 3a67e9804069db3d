package explain

import (
	"servesim/analysis"
)

// A Rule is what shares of gaps, or of answers, say of one percentile before it is
// looked at, and what came of it.
//
// A step is over the budget if it has as many tokens or more, or a part of a prompt
// that is longer. Without chunking, gaps that coincide with such a step last as long as
// whole prompts do; with, more gaps coincide with one, and each lasts as long as the
// budget takes. The percentile that leaves a share α beyond it is a gap of the first
// kind if their share is α or more: then chunking makes it shorter. If it isn't, but
// that of the second kind is, chunking makes another gap a chunk's: longer. If neither
// is, the percentile is of other gaps.
type Rule struct {
	// Of is the statistic, in Statistics, and Beyond its share α.
	Of     int
	Beyond float64
	// Off and On are the shares, means over seeds, of gaps (of answers, for the worst
	// gap) that coincide with steps over the budget, without and with chunking.
	Off, On float64
	// AnyOff and AnyOn are the same of steps with any prompts, without and with chunking;
	// for the worst gap they are Off and On.
	AnyOff, AnyOn float64
	// Predicted is Better, Worse or Same; Unclear if seeds are on either side of the
	// boundary.
	Predicted analysis.Direction
	// Plain is what would be predicted if every prompt counted.
	Plain analysis.Direction
	// Found is what the simulation says.
	Found analysis.Direction
}

// ruled are the statistics that rules are about, with the share beyond each.
func ruled() []Rule {
	return []Rule{{Of: itl99, Beyond: 0.01}, {Of: itl999, Beyond: 0.001}, {Of: gap99, Beyond: 0.01}}
}

// rules returns the rules of runs without chunking and with, whose budget is number
// bi among those that off was asked about.
func rules(off, on []*Measures, bi int, changes []analysis.Change) []Rule {
	list := ruled()
	for i := range list {
		r := &list[i]
		r.Found = changes[r.Of].Direction
		for k := range off {
			a, b := &off[k].Beside[bi], &on[k].Beside[0]
			x, y := a.Share(a.Over), b.Share(b.Over)
			u, v := a.Share(a.Prompted), b.Share(b.Prompted)
			if r.Of == gap99 {
				x, y = share(a.OverAnswers, a.Answers), share(b.OverAnswers, b.Answers)
				u, v = x, y
			}
			r.Off, r.On = r.Off+x/float64(len(off)), r.On+y/float64(len(off))
			r.AnyOff, r.AnyOn = r.AnyOff+u/float64(len(off)), r.AnyOn+v/float64(len(off))
			r.Predicted = agreed(k, r.Predicted, predict(x, y, r.Beyond))
			r.Plain = agreed(k, r.Plain, predict(u, v, r.Beyond))
		}
	}
	return list
}

// agreed returns what the k-th seed says if those before it said the same.
func agreed(k int, before, now analysis.Direction) analysis.Direction {
	if k == 0 || before == now {
		return now
	}
	return analysis.Unclear
}

// predict returns what becomes of a percentile beyond which a share of the gaps is,
// by the shares of those over the budget without chunking and with.
func predict(off, on, beyond float64) analysis.Direction {
	switch {
	case off >= beyond:
		return analysis.Better
	case on >= beyond:
		return analysis.Worse
	}
	return analysis.Same
}

// Tells tells whether both the rule and the simulation say something.
func (r *Rule) Tells() bool {
	return r.Predicted != analysis.Unclear && r.Found != analysis.Unclear && r.Found != ""
}

// Holds tells whether the simulation went the way that was predicted.
func (r *Rule) Holds() bool { return sign(r.Predicted) == sign(r.Found) }

// sign is -1 for the better, 1 for the worse and 0 for neither; changes within 1 %
// of the base are neither.
func sign(d analysis.Direction) int {
	switch d {
	case analysis.Better:
		return -1
	case analysis.Worse:
		return 1
	}
	return 0
}
