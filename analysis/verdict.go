package analysis

import (
	"math"
	"math/bits"

	"servesim/sim/observe"
)

// Judgement says whether a limit was kept.
type Judgement string

// The judgements, as reports spell them.
const (
	// Pass and Fail: the limit was kept, or missed.
	Pass Judgement = "PASS"
	Fail Judgement = "FAIL"
	// TooClose: the limit lies within the 95 % interval of the percentile or share,
	// or within the percentile's resolution. What has no interval is judged by its
	// value alone.
	TooClose Judgement = "TOO CLOSE TO CALL"
	// NoData: no request is in the scope of the limit.
	NoData Judgement = "NO DATA"
)

// Verdict is how a run did by a limit on the whole of it.
type Verdict struct {
	// Limit is the limit as ParseSLO reads it.
	Limit     string
	Judgement Judgement
	// Count is the number of values that the limit is on: requests, those that
	// failed included, or gaps.
	Count int64
	// Failed is the number of requests among them that failed.
	Failed int64
	// Value is the percentile that is limited, by the definition of Distributions,
	// requests that failed being longer than any other. It has no meaning where the
	// judgement is NoData.
	Value QuantileValue
	// Met is the number of values within the limit, -1 for gaps, which aren't
	// counted. Of a limit on goodput it is the number of good requests, and Value
	// has no meaning.
	Met int64
	// IsGoodput tells that the limit is the least share of good requests.
	IsGoodput bool
	// ShareInterval is that of Share, of a limit on goodput.
	ShareInterval ShareInterval
}

// Share returns Met as a share of Count; ok is false if that isn't known.
func (v *Verdict) Share() (share float64, ok bool) {
	if v.Met < 0 {
		return math.NaN(), false
	}
	return ratio(v.Met, v.Count)
}

// Missed returns those of verdicts that are on limits that were missed.
func Missed(verdicts []Verdict) []Verdict {
	var list []Verdict
	for _, v := range verdicts {
		if v.Judgement == Fail {
			list = append(list, v)
		}
	}
	return list
}

// runLimits collects what verdicts need.
type runLimits struct {
	limits []RunLimit
	// own are the values of limits that are not on all requests; the others take
	// those of the Summary.
	own            []Sample
	failed, within []int64
	keep           bool // the values of every limit in own
}

// newRunLimits returns limits without values.
func newRunLimits(limits []RunLimit) runLimits {
	n := len(limits)
	return runLimits{limits: limits, own: make([]Sample, n), failed: make([]int64, n), within: make([]int64, n)}
}

// request takes r, whatever became of it.
func (t *runLimits) request(r *observe.Request) {
	for i := range t.limits {
		l := &t.limits[i]
		if l.Objective == ITL || !l.Scope.Holds(r) {
			continue
		}
		if r.Outcome != observe.Completed {
			if r.Wanted > 1 || l.Objective != TPOT && l.Objective != MaxGap {
				t.failed[i]++
			}
			continue
		}
		d, ok := l.value(r)
		if !ok {
			continue
		}
		if l.met(r) {
			t.within[i]++
		}
		if t.keep || !l.Scope.All() {
			t.own[i].Add(d)
		}
	}
}

// verdicts returns how a run did by every limit on it, by values alone if there
// is a reason to withhold intervals.
func (s *Summary) verdicts(why string) []Verdict {
	var list []Verdict
	for i := range s.limits.limits {
		list = append(list, s.verdict(i, why))
	}
	if p := s.options.SLO.MinGoodput; p != nil {
		list = append(list, s.goodputVerdict(*p, why))
	}
	return list
}

// goodputVerdict returns whether at least p of all requests were good.
func (s *Summary) goodputVerdict(p Percentile, why string) Verdict {
	failed := s.counts.Requests - s.counts.Of(observe.Completed)
	i := s.share()
	if why != "" {
		i.withhold(why)
	}
	return shareVerdict(p, tallyCell{s.good.good, s.counts.Requests}, failed, i)
}

// shareVerdict returns whether at least p of requests were good.
func shareVerdict(p Percentile, c tallyCell, failed int64, i ShareInterval) Verdict {
	v := Verdict{
		Limit: (&SLO{MinGoodput: &p}).String(), Judgement: Fail, IsGoodput: true,
		Count: c.n, Failed: failed, Met: c.good, ShareInterval: i,
	}
	high, low := bits.Mul64(uint64(v.Met), whole)
	highLeast, lowLeast := bits.Mul64(uint64(v.Count), uint64(p.ppb))
	switch {
	case v.Count == 0:
		v.Judgement = NoData
	case i.OK:
		v.Judgement = between95(i.Hi >= p.Fraction(), i.Lo >= p.Fraction())
	case high > highLeast || high == highLeast && low >= lowLeast:
		v.Judgement = Pass
	}
	return v
}

// between95 judges a limit that the better and the worse end of an interval keep.
func between95(better, worse bool) Judgement {
	switch {
	case worse:
		return Pass
	case better:
		return TooClose
	}
	return Fail
}

// verdict returns how a run did by limit i.
func (s *Summary) verdict(i int, why string) Verdict {
	l := &s.limits.limits[i]
	if l.Objective == ITL {
		d := s.itl.Distribution([]Percentile{l.At})
		d.withhold(why)
		return l.verdict(d, 0, -1)
	}
	sample := &s.limits.own[i]
	if l.Scope.All() {
		sample = s.sampleOf(l.Objective)
	}
	failed := s.limits.failed[i]
	d := sample.Censored(Linear, []Percentile{l.At}, failed)
	d.withhold(why)
	return l.verdict(d, failed, s.limits.within[i])
}

// verdict returns how values with the percentile of l did by it, failed of them
// being longer than any and met within it.
func (l *RunLimit) verdict(d Distribution, failed, met int64) Verdict {
	v := Verdict{Limit: l.String(), Count: d.Count + failed, Failed: failed, Met: met}
	switch {
	case d.OK:
		v.Value = d.Quantiles[0]
	case failed > 0:
		v.Value = QuantileValue{P: l.At, Unbounded: true}
	}
	v.Judgement = l.judge(&v)
	return v
}

// sampleOf returns the values of o of every completed request that has one.
func (s *Summary) sampleOf(o Objective) *Sample {
	switch o {
	case Queue:
		return &s.queue
	case TPOT:
		return &s.groups.tpot.all
	case MaxGap:
		return &s.groups.maxGap.all
	case E2EL:
		return &s.groups.e2e.all
	}
	return &s.groups.ttft.all
}

// judge returns what to say of v.
func (l *RunLimit) judge(v *Verdict) Judgement {
	value, off := v.Value.Value, v.Value.Resolution
	switch {
	case v.Count == 0:
		return NoData
	case v.Value.Unbounded:
		return Fail
	case v.Value.Interval.OK:
		return between95(l.within(v.Value.Interval.Lo), l.within(v.Value.Interval.Hi))
	case off > 0 && l.within(max(value-off, 0)) != l.within(value+off):
		return TooClose
	case l.within(value):
		return Pass
	}
	return Fail
}
