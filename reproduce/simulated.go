package reproduce

import (
	"context"
	"math"
	"slices"
	"strconv"

	"servesim/analysis"
	"servesim/capacity"
	"servesim/explain"
	"servesim/scenario"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sweep"
)

// The columns of runs beside those of sweeps.
const (
	// kvTokens is the number of tokens whose KV fits in the memory that the ledger
	// leaves, whatever number of blocks the scenario gives the engine.
	kvTokens = "kv_tokens_left"
	// capacityRate is the highest rate at which the limits of the scenario hold, a GPU.
	capacityRate = "capacity_requests_per_s_per_gpu"
	// promptCompute is the GPU time of all steps with prompt tokens without that of
	// all-reduces.
	promptCompute = "prompt_steps_without_all_reduce_ms"
	// gapsBeside is the share of the gaps between tokens that coincide with a step
	// with prompt tokens.
	gapsBeside = "itl_share_beside_prompts"
	// runningMean is the number of requests that hold a slot in a step, in the mean
	// over the time of all steps.
	runningMean = "running_mean"
)

// How finely and how long a capacity is searched for: the ratio of neighbouring rates,
// less 1, the requests of a run, and the most runs that a rate is judged with.
const (
	searchResolution = 0.05
	searchRequests   = 10_000
	searchRuns       = 10
)

// ownColumns lists them.
func ownColumns() []string {
	return []string{kvTokens, capacityRate, promptCompute, gapsBeside, runningMean}
}

// runColumns lists the columns of runs.
func runColumns() []string {
	list := ownColumns()
	for _, c := range sweep.Columns() {
		list = append(list, c.Name)
	}
	return list
}

// A run is a scenario and how often it is run.
type run struct {
	source scenario.Source
	seeds  int64
}

// tasks implements subject: one for each seed, unless only the capacity is asked for,
// and a last one if that is.
func (r *run) tasks(columns []string) int {
	n, search := int(r.seeds), 0
	if slices.Contains(columns, capacityRate) {
		search = 1
	}
	if len(columns) == search {
		n = 0
	}
	return n + search
}

// measure implements subject.
func (r *run) measure(ctx context.Context, task int, columns []string) (map[string]sample, error) {
	if slices.Contains(columns, capacityRate) && task == r.tasks(columns)-1 {
		return r.search(ctx)
	}
	p, err := scenario.Load(r.seeded(int64(task)))
	if err != nil {
		return nil, err
	}
	out := map[string]sample{}
	o := scenario.Options{Percentiles: analysis.TailPercentiles()}
	compute, exposure, slots := &prompts{cost: p.Cost}, explain.NewExposure(), new(crowd)
	for _, c := range columns {
		switch c {
		case promptCompute:
			o.Sinks = append(o.Sinks, compute)
		case gapsBeside:
			o.Sinks = append(o.Sinks, exposure)
		case runningMean:
			o.Measured = append(o.Measured, slots)
		}
	}
	res, err := p.Simulate(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		switch c {
		case capacityRate: // by another task
		case kvTokens:
			out[c] = ofRun(float64(max(0, p.Ledger.KVBytes/p.Ledger.BytesPerToken)))
		case promptCompute:
			out[c] = ofRun(compute.ms)
		case gapsBeside:
			b := exposure.Beside(1)
			out[c] = ofRun(b.Share(b.Prompted))
		case runningMean:
			out[c] = ofRun(slots.mean())
		default:
			out[c] = ofRun(columnOf(res, c))
		}
	}
	return out, nil
}

// ofRun returns the sample of a run.
func ofRun(x float64) sample { return sample{value: x, lo: x, hi: x, simulated: true} }

// columnOf returns a column of sweeps of a result, NaN if it has no data.
func columnOf(r *scenario.Result, name string) float64 {
	for _, c := range sweep.Columns() {
		if c.Name == name {
			return c.Of(r)
		}
	}
	return math.NaN()
}

// search finds the capacity.
func (r *run) search(ctx context.Context) (map[string]sample, error) {
	a, err := capacity.Find(ctx, r.source, capacity.Options{
		Resolution: searchResolution, Requests: searchRequests, Runs: searchRuns, Jobs: 1,
	})
	if err != nil {
		return nil, err
	}
	gpus := float64(a.Plan.GPUs())
	return map[string]sample{capacityRate: {value: a.Rate / gpus, lo: a.Lo / gpus, hi: a.Hi / gpus}}, nil
}

// seeded returns the source under the seed i after its own.
func (r *run) seeded(i int64) scenario.Source {
	src := r.source
	text := strconv.FormatInt(1+i, 10)
	src.Settings = append(src.Settings[:len(src.Settings):len(src.Settings)], scenario.Setting{Key: "seed", Value: 1 + i, Text: "seed=" + text, Flag: src.Path})
	return src
}

// prompts is an observe.Sink that sums up what the GPU computes in steps with
// prompt tokens.
type prompts struct {
	cost *gpu.StepTime
	ms   float64
}

// Request implements observe.Sink.
func (p *prompts) Request(*observe.Request) error { return nil }

// Step implements observe.Sink. The output projection is counted for every prompt
// of the step, whether or not it ends there.
func (p *prompts) Step(s *observe.StepRun) error {
	if len(s.Chunks) == 0 {
		return nil
	}
	w := gpu.Work{DecodeSeqs: int64(s.Decodes), DecodeKV: s.DecodeKV, Samples: int64(s.Decodes)}
	for i := range s.Chunks {
		w.AddChunk(int64(s.Chunks[i].Start), int64(s.Chunks[i].Tokens), true)
	}
	for _, o := range p.cost.Breakdown(w) {
		if o.Name != "all_reduce" {
			p.ms += o.Time.Milliseconds()
		}
	}
	return nil
}

// crowd is an observe.Sink that keeps how many requests ran.
type crowd struct{ time, requests float64 }

// Request implements observe.Sink.
func (c *crowd) Request(*observe.Request) error { return nil }

// Step implements observe.Sink.
func (c *crowd) Step(s *observe.StepRun) error {
	time := s.Duration().Seconds()
	c.time += time
	c.requests += float64(time * float64(s.Running))
	return nil
}

// mean returns the mean over time, NaN without a step.
func (c *crowd) mean() float64 { return c.requests / c.time }
