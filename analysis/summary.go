package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"servesim/sim"
	"servesim/sim/observe"
)

// outcomes is the number of outcomes of a request.
const outcomes = int(observe.ReplicaFailed) + 1

// Options say what a Summary computes.
type Options struct {
	// Percentiles to report, in any order; DefaultPercentiles if empty.
	Percentiles []Percentile
	// SLO is what users must get, if anything.
	SLO SLO
	// OutputEdges are the first output tokens of each range but the lowest, that
	// ByOutput tells apart, ascending and at most MaxOutputEdges of them;
	// DefaultOutputEdges if nil, one range if empty. Others are an error of the first
	// request.
	OutputEdges []int32
	// GPUs is the number of GPUs of all engines, 0 if it is not known.
	GPUs int64
	// Replicas is the number of engines, 0 to count those that took a step.
	Replicas int
	// KVBlocks is the number of KV blocks of one engine, 0 if it is not known.
	KVBlocks int64
	// Unseen says what the records don't tell.
	Unseen Unseen
	// Header names the run in the Report.
	Header observe.Header
}

// Summary is an observe.Sink that computes a Report. Its memory does not grow
// with the number of records beyond some 100 MB, and it allocates nothing for a
// record but, now and then, a chunk for many.
type Summary struct {
	options                 Options
	counts                  Counts
	reasons                 map[ReasonCount]int64 // by outcome and reason, Count being 0
	tokens                  Tokens
	network, queue, prefill Sample
	decode, response        sum
	itl                     GapSample
	groups                  groups
	good                    attained
	limits                  runLimits
	start, end              sim.Time // the first arrival and the last end
	saturation              saturation
	steps                   stepStats
}

// NewSummary returns an empty Summary.
func NewSummary(o Options) *Summary {
	if len(o.Percentiles) == 0 {
		o.Percentiles = DefaultPercentiles()
	}
	o.Percentiles = slices.Clone(o.Percentiles)
	slices.SortFunc(o.Percentiles, func(a, b Percentile) int { return cmp.Compare(a.ppb, b.ppb) })
	if o.OutputEdges == nil {
		o.OutputEdges = DefaultOutputEdges()
	}
	return &Summary{
		options: o, reasons: make(map[ReasonCount]int64), groups: newGroups(o.OutputEdges),
		good: newAttained(o.SLO.Goodput), limits: newRunLimits(o.SLO.Run), start: observe.Never,
		steps: stepStats{replicas: o.Replicas},
	}
}

// Request implements observe.Sink. It is an error if the instants of r are out
// of order, if it completed without having come to each of them, or if the output
// edges of the options are at fault.
func (s *Summary) Request(r *observe.Request) error {
	if err := checkRequest(r); err != nil {
		return err
	}
	if s.counts.Requests == 0 {
		if err := checkEdges(s.groups.edges); err != nil {
			return err
		}
	}
	s.counts.Requests++
	s.counts.Outcome[r.Outcome]++
	if r.Preemptions > 0 {
		s.counts.Preempted++
		s.counts.Preemptions += int64(r.Preemptions)
	}
	s.tokens.Cached += int64(r.Cached)
	if r.Scheduled != observe.Never {
		s.tokens.Begun += int64(r.Prompt)
	}
	s.tokens.Computed += r.Computed
	s.tokens.Recomputed += r.Recomputed
	if s.start < 0 || r.Arrival < s.start {
		s.start = r.Arrival
	}
	if !s.options.Unseen.Clock {
		s.saturation.request(r)
	}
	s.limits.request(r)
	if r.Outcome != observe.Completed {
		s.end = max(s.end, r.End)
		s.groups.request(r)
		s.good.failed(r)
		s.tokens.Unfinished += int64(r.Output)
		s.reasons[ReasonCount{Outcome: r.Outcome, Reason: r.Reason}]++
		return nil
	}
	s.end = max(s.end, r.End.Add(r.Response))
	s.completed(r)
	return nil
}

// completed takes the latencies of a completed request.
func (s *Summary) completed(r *observe.Request) {
	s.network.Add(r.Sent.Sub(r.Arrival))
	s.queue.Add(r.Scheduled.Sub(r.Sent))
	s.prefill.Add(r.First.Sub(r.Scheduled))
	s.groups.completed(r, s.good.completed(r))
	s.decode.add(uint64(r.Last.Sub(r.First)))
	s.response.add(uint64(r.Response))
	s.tokens.Prompt += int64(r.Prompt)
	s.tokens.Output += int64(r.Output)
	if r.Output < r.Wanted {
		s.counts.CutShort++
	}
}

// perToken returns the TPOT of r, (Last-First)/(Output-1) rounded to the nearest
// picosecond, halves up. ok is false if it has fewer than two output tokens.
func perToken(r *observe.Request) (tpot sim.Duration, ok bool) {
	if r.Output < 2 {
		return 0, false
	}
	n := uint64(r.Output - 1)
	return sim.Duration((uint64(r.Last.Sub(r.First)) + n/2) / n), true
}

// endToEnd returns the time from the call of r to its whole answer.
func endToEnd(r *observe.Request) sim.Duration { return r.Last.Sub(r.Arrival) + r.Response }

// checkRequest tells whether the instants of r are in order.
func checkRequest(r *observe.Request) error {
	if r.Outcome == observe.Completed {
		if 0 <= r.Arrival && r.Arrival <= r.Sent && r.Sent <= r.Scheduled && r.Scheduled <= r.First &&
			r.First <= r.Last && r.Last <= r.End && r.Response >= 0 && r.End <= sim.MaxTime-sim.Time(r.Response) &&
			r.MaxGap >= 0 && r.MaxGap <= r.Last.Sub(r.First) && r.Output >= 1 {
			return nil
		}
		return fmt.Errorf("request %d completed, but its record does not hold together: arrival %d, sent %d, scheduled %d, first %d, last %d, end %d, response %d, max_gap %d ps, output %d tokens; "+
			"each instant is at least 0 and not before the one before it, a gap fits between first and last, and there is an output token",
			r.ID, r.Arrival, r.Sent, r.Scheduled, r.First, r.Last, r.End, r.Response, r.MaxGap, r.Output)
	}
	if int(r.Outcome) >= outcomes {
		return fmt.Errorf("request %d: unknown outcome %d", r.ID, r.Outcome)
	}
	if r.Arrival < 0 || r.End < r.Arrival {
		return fmt.Errorf("request %d %s at %d ps, before its arrival at %d ps, or has no arrival", r.ID, r.Outcome, r.End, r.Arrival)
	}
	return nil
}

// Step implements observe.Sink. It is an error if r cannot be, as with no steps
// or gaps that are negative, or if with it the engines were busy for longer than
// sim.MaxDuration.
func (s *Summary) Step(r *observe.StepRun) error {
	if !s.options.Unseen.Engine {
		if err := s.steps.add(r); err != nil {
			return err
		}
	}
	for i := range r.Gaps {
		if err := s.itl.Add(&r.Gaps[i]); err != nil {
			return fmt.Errorf("replica %d, step at %d ps: %w", r.Replica, r.Start, err)
		}
	}
	return nil
}

// Report returns what the records taken so far say.
func (s *Summary) Report() *Report {
	ps, g := s.options.Percentiles, &s.groups
	r := &Report{
		Header: s.options.Header, Unseen: s.options.Unseen, Percentiles: ps, Counts: s.counts, Tokens: s.tokens,
		TTFT: g.ttft.all.Distribution(ps), Network: s.network.Distribution(ps),
		Queue: s.queue.Distribution(ps), Prefill: s.prefill.Distribution(ps),
		TPOT: g.tpot.all.Distribution(ps), ITL: s.itl.Distribution(ps),
		MaxGap: g.maxGap.all.Distribution(ps), E2E: g.e2e.all.Distribution(ps),
		ByOutput: g.byOutput(ps), ByClass: g.byClass(ps),
	}
	r.Counts.Reasons = s.sortedReasons()
	if s.counts.Requests > 0 {
		r.Start, r.Span = s.start, s.end.Sub(s.start)
	}
	if r.Unseen.Clock {
		r.Start, r.Span = 0, 0
	}
	if n := s.counts.Of(observe.Completed); n > 0 {
		r.MeanDecode, r.MeanResponse = sim.Duration(s.decode.over(n)), sim.Duration(s.response.over(n))
	}
	r.Throughput = s.throughput(r)
	if len(s.options.SLO.Goodput) > 0 {
		a := s.good.report(s.counts.Requests, r.Span, s.share())
		r.Goodput = &a
	}
	r.Saturation = s.saturation.report()
	why := r.Saturation.withholds()
	r.withhold(why)
	r.Verdicts = s.verdicts(why)
	r.Engine = s.steps.report(r.Span)
	r.Engine.KVBlocks = s.options.KVBlocks
	r.Warnings = s.warnings(r)
	return r
}

// share returns the interval of the share of good requests.
func (s *Summary) share() ShareInterval {
	return shareInterval(s.good.tally.cells, false, func() float64 {
		return s.good.limits.effective(func(o Objective, a asked) Distribution { return s.sampleOf(o).Distribution(a.ps) })
	})
}

// throughput returns that of r, which has the rest.
func (s *Summary) throughput(r *Report) Throughput {
	t := Throughput{
		Requests:     perSecond(s.counts.Of(observe.Completed), r.Span),
		OutputTokens: perSecond(s.tokens.Output, r.Span),
		TotalTokens:  perSecond(s.tokens.Prompt+s.tokens.Output, r.Span),
		GPUs:         s.options.GPUs, OutputPerGPU: math.NaN(),
	}
	if r.Unseen.Prompts {
		t.TotalTokens = math.NaN()
	}
	if t.GPUs > 0 {
		t.OutputPerGPU = t.OutputTokens / float64(t.GPUs)
	}
	for _, q := range r.TPOT.Quantiles {
		t.PerUser = append(t.PerUser, UserSpeed{q.P, 1 / q.Value.Seconds()})
	}
	return t
}

// sortedReasons returns the reasons by outcome, most frequent first, then by name.
func (s *Summary) sortedReasons() []ReasonCount {
	var list []ReasonCount
	for r, n := range s.reasons { // sorted below, by a key that is unique
		if r.Reason != "" {
			list = append(list, ReasonCount{r.Outcome, r.Reason, n})
		}
	}
	slices.SortFunc(list, func(a, b ReasonCount) int {
		return cmp.Or(cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}
