package claim

import (
	"context"
	"math"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/workload"
)

// A Point is one combination, and what a replica reaches with it.
type Point struct {
	Layout
	Lengths Lengths
	// Users is the number of users of the replica, 0 offline.
	Users int64
	// Reason says why it can't run, empty if it can; then the rest means nothing.
	Reason string

	// Count is the number of requests, all of which completed.
	Count int64
	// Rates of the replica, over the time from the first call to the last answer.
	OutputPerS, InputPerS, RequestsPerS float64
	// Batch is the mean number of requests that were computed at once, over the time
	// in which steps ran.
	Batch float64
	// Latencies are those of completed requests, by Quantity.
	TTFT, TPOT, ITL, E2E Latency
	// Roof is what the datasheet of the GPU allows.
	Roof Roof
	// Outside is the share of steps outside what step times were fitted on.
	Outside float64
}

// Latency is a distribution in milliseconds, NaN without data.
type Latency struct{ Mean, P50, P90, P99 float64 }

// latencyOf returns d in milliseconds.
func latencyOf(d *analysis.Distribution) Latency {
	nan := math.NaN()
	l := Latency{nan, nan, nan, nan}
	if !d.OK {
		return l
	}
	l.Mean = d.Mean.Milliseconds()
	for _, q := range d.Quantiles {
		switch q.P.String() {
		case "p50":
			l.P50 = q.Value.Milliseconds()
		case "p90":
			l.P90 = q.Value.Milliseconds()
		case "p99":
			l.P99 = q.Value.Milliseconds()
		}
	}
	return l
}

// at returns a statistic of l.
func (l *Latency) at(statistic string) float64 {
	switch statistic {
	case "mean":
		return l.Mean
	case "p50":
		return l.P50
	case "p90":
		return l.P90
	}
	return l.P99
}

// latency returns that of a quantity.
func (p *Point) latency(q Quantity) *Latency {
	switch q {
	case TTFT:
		return &p.TTFT
	case ITL:
		return &p.ITL
	case E2E:
		return &p.E2E
	}
	return &p.TPOT
}

// The number of requests of a run: each user makes several calls, so that all but
// the first meet the load as it goes on, and there are enough for a P99.
const (
	callsPerUser   = 5
	fewestRequests = 100
	fewestOffline  = 1000
)

// combination says in messages where the settings of a point are from.
const combination = "with"

// with returns src as the deployment of p, under any load. What src gives is that of p
// already, but for the longest sequence, which otherwise is what the lengths take.
func with(src scenario.Source, p *Point) scenario.Source {
	type pair struct {
		key   string
		value any
	}
	constant := func(n int64) map[string]any { return map[string]any{"dist": "constant", "value": n} }
	list := []pair{
		{tpKey, p.TP}, {dtypeKey, p.Weights}, {kvKey, p.KV}, {"transform", map[string]any{}}, {"slo", map[string]any{}}, {"run", map[string]any{}}, {"pool", map[string]any{}},
		{"workload", map[string]any{
			"requests": int64(1), "closed_loop": map[string]any{"users": int64(1)},
			"prompt": constant(p.Lengths.Prompt), "output": constant(p.Lengths.Output),
		}},
	}
	list = append(list, pair{"engine.max_model_len", p.Lengths.Prompt + p.Lengths.Output})
	src.Settings = slices.Clone(src.Settings)
	for _, one := range list {
		if _, given := value(src, one.key); given {
			continue
		}
		text := one.key + "=" + scenario.ValueText(one.value)
		src.Settings = append(src.Settings, scenario.Setting{Key: one.key, Value: one.value, Text: text, Flag: combination})
	}
	return src
}

// try fills in what p reaches. The error is a scenario.UsageError if p can't run.
func (p *Point) try(ctx context.Context, src scenario.Source) error {
	plan, err := scenario.Load(with(src, p))
	if err != nil {
		return err
	}
	if n, most := p.Lengths.Prompt+p.Lengths.Output, int64(*plan.Scenario.Engine.MaxModelLen); n > most {
		return usagef("engine.max_model_len: %d tokens are fewer than the %d of prompt and answer; take it out", most, n)
	}
	users, requests := p.Users, max(p.Users*callsPerUser, fewestRequests)
	if users == 0 {
		requests = max(2*int64(*plan.Scenario.Engine.MaxNumSeqs), fewestOffline)
		users = requests
	}
	w := &plan.Scenario.Workload
	w.Requests, w.ClosedLoop = &requests, &workload.ClosedLoopSpec{Users: &users}
	roof := &roofline{cost: plan.Cost.Clone()}
	r, err := plan.Simulate(ctx, scenario.Options{OutputEdges: []int32{}, Measured: []observe.Sink{roof}})
	if err != nil {
		return err
	}
	report := r.Report
	if n := report.Counts.Of(observe.Completed); n < report.Counts.Requests {
		return usagef("of %d requests only %d complete: a claim is of answers that come", report.Counts.Requests, n)
	}
	p.Count = report.Counts.Requests
	t := &report.Throughput
	p.OutputPerS, p.InputPerS, p.RequestsPerS = t.OutputTokens, t.TotalTokens-t.OutputTokens, t.Requests
	p.Batch, p.Outside = report.Engine.Running.Mean, r.Outside
	p.TTFT, p.TPOT, p.ITL, p.E2E = latencyOf(&report.TTFT), latencyOf(&report.TPOT), latencyOf(&report.ITL), latencyOf(&report.E2E)
	p.Roof = roof.of(p, report.Span, report.Engine.Busy)
	return nil
}

// Roof is what a GPU would do if every operator ran at the rates of its datasheet and
// nothing came between.
type Roof struct {
	// Speedup is how many times as fast the run would have been in the same batches.
	Speedup float64
	// Bound is what most of that time is, and Share how much of it.
	Bound gpu.Bound
	Share float64
	// TTFT and TPOT are those of one request alone, in milliseconds, the least that any
	// load can have, and what most of them is.
	TTFT, TPOT           float64
	TTFTBound, TPOTBound gpu.Bound
}

// bound returns what binds at the rates of the datasheet: the run, or of a latency one
// request alone.
func (p *Point) bound(r *Reading) gpu.Bound {
	switch {
	case r.Quantity == TTFT:
		return p.Roof.TTFTBound
	case r.alone():
		return p.Roof.TPOTBound
	}
	return p.Roof.Bound
}

// roofline is an observe.Sink that sums what the steps of a run would take at the
// rates of the datasheet.
type roofline struct {
	cost  *gpu.StepTime
	limit sim.Duration
	by    [3]sim.Duration // of each of bounds
}

// bounds are those that a datasheet has.
func bounds() []gpu.Bound { return []gpu.Bound{gpu.ComputeBound, gpu.MemoryBound, gpu.LinkBound} }

// Request implements observe.Sink.
func (r *roofline) Request(*observe.Request) error { return nil }

// Step implements observe.Sink. Where contexts grow along the run, its middle stands
// for all of it.
func (r *roofline) Step(s *observe.StepRun) error {
	w := gpu.Work{DecodeSeqs: int64(s.Decodes), Samples: int64(s.Decodes), DecodeKV: s.DecodeKV + (s.Steps-1)*int64(s.Decodes)/2}
	for i := range s.Chunks {
		w.AddChunk(int64(s.Chunks[i].Start), int64(s.Chunks[i].Tokens), false)
	}
	r.add(w, s.Steps)
	return nil
}

// add takes in steps steps that do w.
func (r *roofline) add(w gpu.Work, steps int64) {
	for _, o := range r.cost.Breakdown(w) {
		d := o.Limit * sim.Duration(steps)
		r.limit += d
		if i := slices.Index(bounds(), o.Bound); i >= 0 {
			r.by[i] += d
		}
	}
}

// most returns the bound that takes the most of the time, and its share.
func (r *roofline) most() (bound gpu.Bound, share float64) {
	for i, b := range bounds() {
		if s := r.by[i].Seconds() / r.limit.Seconds(); s > share {
			bound, share = b, s
		}
	}
	return bound, share
}

// of returns the roof of p, whose run lasted span and whose engine was busy for busy.
func (r *roofline) of(p *Point, span, busy sim.Duration) Roof {
	out := Roof{Speedup: span.Seconds() / (span - busy + r.limit).Seconds()}
	out.Bound, out.Share = r.most()
	prompt, decode := &roofline{cost: r.cost}, &roofline{cost: r.cost}
	var w gpu.Work
	w.AddChunk(0, p.Lengths.Prompt, true)
	prompt.add(w, 1)
	decode.add(gpu.Work{DecodeSeqs: 1, DecodeKV: p.Lengths.Prompt + 1, Samples: 1}, 1)
	out.TTFT, out.TPOT = prompt.limit.Milliseconds(), decode.limit.Milliseconds()
	out.TTFTBound, _ = prompt.most()
	out.TPOTBound, _ = decode.most()
	return out
}

// reason returns what of err a table has room for.
func reason(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if _, after, ok := strings.Cut(text, "hardware: "); ok {
		text, _, _ = strings.Cut(after, ": each GPU gives")
	}
	return strings.TrimPrefix(text, combination+" ")
}
