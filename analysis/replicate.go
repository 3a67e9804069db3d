package analysis

import (
	"fmt"
	"math"
	"slices"

	"servesim/sim"
	"servesim/sim/observe"
)

// A Replication is an observe.Sink that keeps of a run what is pooled with other
// runs of the same scenario under other seeds.
type Replication struct {
	slo                     SLO
	ttft, tpot, maxGap, e2e Sample
	itl                     GapSample
	good                    attained
	limits                  runLimits
	requests, completed     int64
	tokens                  int64 // output tokens of completed requests
	saturation              saturation
	start, end              sim.Time
}

// NewReplication returns an empty Replication, one of n, with what users must
// get, if anything. All together keep about as many values as one Summary does.
func NewReplication(slo SLO, n int) *Replication {
	limit := max(chunkValues, exactValues/int64(max(n, 1)))
	r := &Replication{slo: slo, good: newAttained(slo.Goodput), limits: newRunLimits(slo.Run), start: observe.Never}
	for _, s := range r.samples() {
		s.limit = limit
	}
	r.limits.keep = true
	for i := range r.limits.own {
		r.limits.own[i].limit = limit
	}
	r.itl.limit = limit
	return r
}

// samples returns the samples of r in the order of Replicated.Metrics, without ITL.
func (r *Replication) samples() [4]*Sample {
	return [4]*Sample{&r.ttft, &r.tpot, &r.maxGap, &r.e2e}
}

// Request implements observe.Sink. Its errors are those of Summary.Request.
func (r *Replication) Request(q *observe.Request) error {
	if err := checkRequest(q); err != nil {
		return err
	}
	r.requests++
	r.limits.request(q)
	r.saturation.request(q)
	if r.start < 0 || q.Arrival < r.start {
		r.start = q.Arrival
	}
	if q.Outcome != observe.Completed {
		r.good.failed(q)
		r.end = max(r.end, q.End)
		return nil
	}
	r.end = max(r.end, q.End.Add(q.Response))
	r.completed++
	r.tokens += int64(q.Output)
	r.ttft.Add(q.First.Sub(q.Arrival))
	if tpot, ok := perToken(q); ok {
		r.tpot.Add(tpot)
		r.maxGap.Add(q.MaxGap)
	}
	r.e2e.Add(endToEnd(q))
	r.good.completed(q)
	return nil
}

// Step implements observe.Sink. Its errors are those of Summary.Step.
func (r *Replication) Step(s *observe.StepRun) error {
	for i := range s.Gaps {
		if err := r.itl.Add(&s.Gaps[i]); err != nil {
			return err
		}
	}
	return nil
}

// Replicated is what runs of one scenario under different seeds say together.
type Replicated struct {
	// Runs is the number of replications and Requests that of all requests.
	Runs     int
	Requests int64
	// Unsteady is the number of runs that are overloaded or unsettled. Intervals then
	// are of runs of this length, and of no steady state.
	Unsteady int
	// Metrics are TTFT, TPOT, ITL, worst gap and E2E of all runs together, with
	// intervals from how the runs differ.
	Metrics []Metric
	// SLO is what users must get, and Verdicts how the runs did by every limit on
	// them as a whole.
	SLO      SLO
	Verdicts []Verdict
	// Share is the share of all requests that were good, with no meaning without
	// limits on requests.
	Share         float64
	ShareInterval ShareInterval
	// RequestsPerSecond and OutputPerSecond are the means over runs of the
	// throughput of completed requests and of their output tokens.
	RequestsPerSecond, OutputPerSecond Rate
}

// Rate is a mean over replications, a second.
type Rate struct {
	Evidence
	// Mean is NaN if a run has no length.
	Mean, Lo, Hi float64
}

// Warning says what to know before the rest, "" if there is nothing.
func (r *Replicated) Warning() string {
	if r.Unsteady == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s overloaded, or too short for a steady state: what follows is of runs of this length, and depends on it", r.Unsteady, Counted(int64(r.Runs), "run"))
}

// Replicate pools replications, in any order, with percentiles ps, those of
// DefaultPercentiles if there are none.
func Replicate(list []*Replication, ps []Percentile) *Replicated {
	if len(ps) == 0 {
		ps = DefaultPercentiles()
	}
	out := &Replicated{Runs: len(list)}
	var gaps []*GapSample
	var good []tallyCell
	var requests, tokens []float64
	for _, r := range list {
		gaps = append(gaps, &r.itl)
		good = append(good, tallyCell{r.good.good, r.requests})
		out.Requests += r.requests
		if s := r.saturation.report(); !s.State.Steady() {
			out.Unsteady++
		}
		out.SLO = r.slo
		span := r.end.Sub(r.start)
		requests = append(requests, perSecond(r.completed, span))
		tokens = append(tokens, perSecond(r.tokens, span))
	}
	wanted := asked{Linear, ps, 0}
	for _, m := range new(Report).Metrics() {
		d, ok := Distribution{}, true
		if m.Key == ITL.String() {
			d = poolGaps(gaps, wanted).d
		} else if d, ok = poolOf(list, m.Key, wanted); !ok {
			continue
		}
		m.Distribution = &d
		out.Metrics = append(out.Metrics, m)
	}
	var all int64
	for _, c := range good {
		all += c.good
	}
	out.Share = float64(all) / float64(out.Requests)
	out.ShareInterval = shareInterval(good, true, func() float64 {
		return out.SLO.Goodput.effective(func(o Objective, a asked) Distribution {
			d, _ := poolOf(list, o.String(), a) // a limit on the queue is not kept: no data
			return d
		})
	})
	out.RequestsPerSecond, out.OutputPerSecond = RateOf(requests), RateOf(tokens)
	out.judge(list)
	return out
}

// judge sets the verdicts on the limits of all runs together.
func (r *Replicated) judge(list []*Replication) {
	for i := range r.SLO.Run {
		l := &r.SLO.Run[i]
		var own []*Sample
		var gaps []*GapSample
		var failed, met int64
		for _, one := range list {
			own, gaps = append(own, &one.limits.own[i]), append(gaps, &one.itl)
			failed, met = failed+one.limits.failed[i], met+one.limits.within[i]
		}
		a := asked{Linear, []Percentile{l.At}, failed}
		if l.Objective == ITL {
			r.Verdicts = append(r.Verdicts, l.verdict(poolGaps(gaps, a).d, 0, -1))
			continue
		}
		r.Verdicts = append(r.Verdicts, l.verdict(poolSamples(own, a).d, failed, met))
	}
	if p := r.SLO.MinGoodput; p != nil {
		all := tallyCell{n: r.Requests}
		failed := r.Requests
		for _, one := range list {
			all.good += one.good.good
			failed -= one.completed
		}
		r.Verdicts = append(r.Verdicts, shareVerdict(*p, all, failed, r.ShareInterval))
	}
}

// poolOf describes a metric of the requests of all replications; ok is false if
// they keep none of that name.
func poolOf(list []*Replication, key string, a asked) (d Distribution, ok bool) {
	i := keptAs(key)
	if i < 0 {
		return d, false
	}
	var samples []*Sample
	for _, r := range list {
		samples = append(samples, r.samples()[i])
	}
	return poolSamples(samples, a).d, true
}

// RateOf returns the mean of what each replication has, one value a run, with
// Student's interval if there are FewestReplications or more.
func RateOf(rates []float64) Rate {
	n := float64(len(rates))
	var total, squares float64
	for _, x := range rates {
		total += x
	}
	mean := total / n
	for _, x := range rates {
		squares += float64((x - mean) * (x - mean))
	}
	r := Rate{Evidence: Evidence{Method: Replications, Needs: FewestReplications}, Mean: mean}
	if len(rates) < FewestReplications || math.IsNaN(mean) {
		return r
	}
	half := float64(student95(n-1) * math.Sqrt(squares/(n-1)/n))
	r.OK, r.Needs, r.Effective = true, 0, n
	r.Lo, r.Hi = mean-half, mean+half
	return r
}

// keptAs returns the place of a metric in the samples of a Replication, -1 if it
// isn't there.
func keptAs(key string) int {
	return slices.Index([]string{TTFT.String(), TPOT.String(), MaxGap.String(), E2EL.String()}, key)
}
