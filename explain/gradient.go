package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"servesim/analysis"
	"servesim/scenario"
)

// A Knob is one change of a scenario.
type Knob struct {
	// Name says what is changed and to what, as in max_num_seqs 512.
	Name     string
	Settings []scenario.Setting
	// Reason says why it cannot be made; "" if it can.
	Reason string
}

// Knobs returns the changes of p that a gradient has: budget, slots and KV blocks
// halved and doubled, chunking the other way, the next fewer and more GPUs, and one
// replica fewer and more.
func Knobs(p *scenario.Plan) []Knob {
	e, s := &p.Scenario.Engine, p.Scenario
	var list []Knob
	halves := func(key string, value, least, most int64) {
		for _, to := range []int64{value / 2, value * 2} {
			name := key[lastPart(key):]
			k := Knob{Name: fmt.Sprintf("%s %s", name, analysis.Grouped(to)), Settings: []scenario.Setting{setting(key, strconv.FormatInt(to, 10))}}
			if to < least || to > most {
				k.Reason = fmt.Sprintf("%s is from %s to %s here", name, analysis.Grouped(least), analysis.Grouped(most))
			}
			list = append(list, k)
		}
	}
	const most = 1<<31 - 1
	least := int64(*e.MaxNumSeqs)
	if !*e.EnableChunkedPrefill {
		least = int64(*e.MaxModelLen)
	}
	halves("engine.max_num_batched_tokens", int64(*e.MaxNumBatchedTokens), least, most)
	halves("engine.max_num_seqs", int64(*e.MaxNumSeqs), 1, int64(*e.MaxNumBatchedTokens))
	halves("engine.num_gpu_blocks_override", p.Config.NumGPUBlocks, 2, most)
	list = append(list, toggled(p))
	sizes := []int64{1, 2, 4, 8}
	at := slices.Index(sizes, *s.Hardware.TensorParallelSize)
	for _, i := range []int{at - 1, at + 1} {
		if at >= 0 && i >= 0 && i < len(sizes) {
			n := strconv.FormatInt(sizes[i], 10)
			list = append(list, Knob{Name: "tensor_parallel_size " + n, Settings: []scenario.Setting{setting("hardware.tensor_parallel_size", n)}})
			continue
		}
		which := "fewer"
		if i > at {
			which = "more"
		}
		list = append(list, Knob{Name: "tensor_parallel_size", Reason: fmt.Sprintf("no %s than %d is modelled", which, *s.Hardware.TensorParallelSize)})
	}
	for _, n := range []int64{p.Replicas() - 1, p.Replicas() + 1} {
		if n == 0 {
			list = append(list, Knob{Name: "replicas", Reason: "there is none less than 1"})
			continue
		}
		text := strconv.FormatInt(n, 10)
		list = append(list, Knob{Name: "replicas " + text, Settings: []scenario.Setting{setting("pool.replicas", text)}})
	}
	return list
}

// toggled is chunked prefill the other way. Off, the budget of a step must hold any
// prompt; on again, it is the engine's own.
func toggled(p *scenario.Plan) Knob {
	if *p.Scenario.Engine.EnableChunkedPrefill {
		return Knob{Name: "enable_chunked_prefill false", Settings: chunking(p, 0)}
	}
	return Knob{Name: "enable_chunked_prefill true", Settings: []scenario.Setting{setting("engine.enable_chunked_prefill", "true")}}
}

// A Gradient is what each knob of a scenario would change.
type Gradient struct {
	Plan *scenario.Plan
	// Result is the run of the scenario as it is, under its own seed.
	Result     *scenario.Result
	Seeds      int
	Statistics []Statistic
	// Base are the statistics without a change, means over the seeds, by way of the
	// Base of any change.
	Knobs []KnobChange
}

// A KnobChange is what one knob would change.
type KnobChange struct {
	Knob
	Changes []analysis.Change
	Goodput *analysis.ShareChange
	// Overloaded tells that with it the queue grew without end in most runs.
	Overloaded bool
}

// gradientStatistics are the places in Statistics of those that a gradient prints.
func gradientStatistics() []int { return []int{ttft99, tpot99, itl99, itl999, gap99, e2e99} }

// Gradients simulates the scenario of src with each knob changed, on the same
// arrivals, under so many seeds; a scenario without draws has one run of each, and
// intervals from within it. The error is a scenario.UsageError if src is at fault.
func Gradients(ctx context.Context, src scenario.Source, seeds int, w Work) (*Gradient, error) {
	p, err := scenario.Load(src)
	if err != nil {
		return nil, err
	}
	if !Drawn(p) {
		seeds = 1
	}
	src = withShelf(src)
	g := &Gradient{Plan: p, Seeds: seeds, Statistics: Statistics()}
	sources := []scenario.Source{src}
	for _, k := range Knobs(p) {
		one := with(src, k.Settings...)
		if k.Reason == "" {
			k.Reason = refusal(one)
		}
		if k.Reason == "" {
			sources = append(sources, one)
		}
		g.Knobs = append(g.Knobs, KnobChange{Knob: k})
	}
	runs, err := all(ctx, w, len(sources)*seeds, func(ctx context.Context, i int) (*Measures, error) {
		j := job{source: seeded(sources[i/seeds], *p.Scenario.Seed+uint64(i%seeds)), statistics: g.Statistics, paired: seeds == 1}
		return j.measure(ctx)
	})
	if err != nil {
		return nil, err
	}
	base := runs[:seeds]
	g.Result = base[0].Result
	for i := range g.Knobs {
		k := &g.Knobs[i]
		if k.Reason != "" {
			continue
		}
		runs = runs[seeds:]
		k.Overloaded = overloaded(runs[:seeds])
		if k.Changes, k.Goodput, err = changesOf(g.Statistics, base, runs[:seeds]); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// refusal returns why src cannot run, "" if it can.
func refusal(src scenario.Source) string {
	_, err := scenario.Load(src)
	var usage *scenario.UsageError
	if errors.As(err, &usage) {
		return usage.Err.Error()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
