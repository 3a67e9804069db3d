package capacity

import (
	"math"

	"servesim/analysis"
)

// A Judgement says whether the limits hold at a rate.
type Judgement string

// The judgements.
const (
	// Holds and Fails: the 95 % intervals of a run leave no doubt.
	Holds Judgement = "holds"
	Fails Judgement = "fails"
	// Close: they do even of the longest run.
	Close Judgement = "too close to call"
)

// Limit is how a run did by one of the limits on it.
type Limit struct {
	analysis.Verdict
	// Holds tells that it is kept by its value, whatever its interval is.
	Holds bool
	// Used is what of the limit is used up: the percentile as a share of the longest
	// time allowed, or the share of requests that were not good as a share of that
	// allowed. Above 1 the limit is missed.
	Used float64

	share float64        // of a limit on goodput: the least
	most  analysis.Limit // otherwise: the longest time
}

// settled tells whether l is kept, or missed, all over its interval made wider
// times as wide.
func (l *Limit) settled(wider float64) (kept, missed bool) {
	switch i, j := l.ShareInterval, l.Value.Interval; {
	case l.IsGoodput && i.OK:
		share, _ := l.Share()
		return share-float64((share-i.Lo)*wider) >= l.share, share+float64((i.Hi-share)*wider) < l.share
	case l.Value.Unbounded:
		// Those that failed are a share of all that needs no interval where it is
		// much more than is allowed.
		return false, wider == 1 || float64(l.Failed) > 2*float64((1-l.Value.P.Fraction())*float64(l.Count))
	case j.OK:
		v := float64(l.Value.Value)
		low, high := v-float64((v-float64(j.Lo))*wider), v+float64((float64(j.Hi)-v)*wider)
		return l.within(high), !l.within(low)
	}
	// Too few values, or a state that isn't steady: only what is far beyond is sure.
	return false, wider == 1 && l.Used > 2
}

// within tells whether a time in ps keeps to the limit.
func (l *Limit) within(ps float64) bool {
	return ps < float64(l.most.Max) || ps == float64(l.most.Max) && !l.most.Strict
}

// limits returns how verdicts on slo came about, but for those without data.
func limits(slo *analysis.SLO, verdicts []analysis.Verdict) []Limit {
	var list []Limit
	for i, v := range verdicts {
		if v.Judgement == analysis.NoData {
			continue
		}
		l := Limit{Verdict: v}
		if v.IsGoodput {
			share, _ := v.Share()
			l.share = slo.MinGoodput.Fraction()
			l.Holds = share >= l.share
			l.Used = ratio(1-share, 1-l.share)
		} else {
			l.most = slo.Run[i].Limit
			l.Holds = !v.Value.Unbounded && l.within(float64(v.Value.Value))
			l.Used = ratio(float64(v.Value.Value), float64(l.most.Max))
			if v.Value.Unbounded {
				l.Used = math.Inf(1)
			}
		}
		list = append(list, l)
	}
	return list
}

// ratio returns a/b, which is +Inf if only b is 0.
func ratio(a, b float64) float64 {
	if b == 0 && a == 0 {
		return 0
	}
	return a / b
}

// binding returns the limit of which the most is used up, the first if several are
// as much, nil if there is none.
func binding(list []Limit) *Limit {
	var most *Limit
	for i := range list {
		if most == nil || list[i].Used > most.Used {
			most = &list[i]
		}
	}
	return most
}

// allHold tells whether every limit is kept by its value.
func allHold(list []Limit) bool {
	for i := range list {
		if !list[i].Holds {
			return false
		}
	}
	return true
}

// judge returns what limits, and whether the queue grew without end, say of a rate.
// Intervals are taken wider times as wide; 1 is the last look.
func judge(list []Limit, overloaded bool, wider float64) Judgement {
	all := true
	for i := range list {
		kept, missed := list[i].settled(wider)
		if missed || overloaded && !list[i].Holds {
			return Fails
		}
		all = all && kept
	}
	switch {
	case all && !overloaded:
		return Holds
	case overloaded && wider == 1:
		return Fails
	}
	return Close
}
