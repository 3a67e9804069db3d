package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// A measuredCall is what a fit needs of a call.
type measuredCall struct {
	sent           sim.Time // since the first call
	prompt, output int32
	ttft, tpot     float64 // s; tpot is NaN with one token
}

// A replayed run is a measured one, ready to be simulated.
type replayed struct {
	run    *MeasuredRun
	calls  []measuredCall // in order of sent
	met    []float64      // how many others were under way when each was sent
	step   sim.Duration   // about the time of a step: the median of TPOT
	blocks int
	cells  []cell
}

// A cell is calls of a run that are alike, and their mean of one metric.
type cell struct {
	ttft     bool // the metric: TTFT, or else TPOT
	block    int
	calls    []int
	measured float64 // s
	spread   float64
}

// metric returns the name of the metric of x.
func (x *cell) metric() string {
	if x.ttft {
		return "ttft_mean_ms"
	}
	return "tpot_mean_ms"
}

// The most cached share of prompts that is taken for none, the calls that a block has
// at least, and the classes of load and of length that it is divided into at most.
const (
	mostCached     = 0.02
	callsOfABlock  = 25
	loadClasses    = 3
	contextClasses = 2
)

// newReplayed takes the calls of r that a fit can be of.
func newReplayed(r *MeasuredRun) (*replayed, []Left, error) {
	switch f := r.Facts; {
	case !f.Clock:
		return nil, nil, errors.New("its calls have no common clock, so nobody knows which ran together; export instants, not durations alone")
	case !f.First:
		return nil, nil, errors.New("it does not say when first tokens came; stream the answers")
	case !f.Prompts || !f.Outputs:
		return nil, nil, errors.New("it does not say how many tokens prompts and answers have")
	}
	out := &replayed{run: r}
	if err := out.take(); err != nil {
		return nil, nil, err
	}
	left := []Left{{r.Name, "failed, or lack tokens or instants", len(r.Calls) - len(out.calls)}}
	if left[0].N == 0 {
		left = nil
	}
	if len(out.calls) < leastCalls {
		return nil, nil, fmt.Errorf("%d of its %d calls are complete; a fit needs %d or more", len(out.calls), len(r.Calls), leastCalls)
	}
	out.divide()
	return out, left, nil
}

// take copies the calls that are complete, in order of their instants.
func (o *replayed) take() error {
	cached, prompts := int64(0), int64(0)
	for i := range o.run.Calls {
		c := &o.run.Calls[i]
		first, last, ok := answer(c)
		if c.Outcome != observe.Completed || c.Prompt < 1 || c.Output < 1 || c.Sent == transcript.Never || !ok || first <= c.Sent {
			continue
		}
		if n := int64(c.Prompt) + int64(c.Output); n > int64(o.run.Scheduler.MaxModelLen) {
			return fmt.Errorf("call %d has %d tokens, more than max_model_len of the scenario, %d; say there what the server had", i+1, n, o.run.Scheduler.MaxModelLen)
		}
		if o.run.Facts.Cached && c.Cached > 0 {
			cached += int64(c.Cached)
		}
		prompts += int64(c.Prompt)
		m := measuredCall{sent: c.Sent, prompt: c.Prompt, output: c.Output, ttft: first.Sub(c.Sent).Seconds(), tpot: math.NaN()}
		if c.Output > 1 && last > first {
			m.tpot = last.Sub(first).Seconds() / float64(c.Output-1)
		}
		o.calls = append(o.calls, m)
	}
	if share := float64(cached) / float64(max(1, prompts)); share > mostCached {
		return fmt.Errorf("%.0f %% of its prompt tokens come out of the prefix cache, which a fit does not model; measure with random prompts or --no-enable-prefix-caching", 100*share)
	}
	slices.SortStableFunc(o.calls, func(a, b measuredCall) int { return cmp.Compare(a.sent, b.sent) })
	for i := len(o.calls) - 1; i >= 0; i-- {
		o.calls[i].sent -= o.calls[0].sent
	}
	return nil
}

// answer returns when the first and the last token of c came.
func answer(c *transcript.Call) (first, last sim.Time, ok bool) {
	for i := range c.Chunks {
		if k := &c.Chunks[i]; k.Text() {
			if !ok {
				first = k.At
			}
			last, ok = k.At, true
		}
	}
	return first, last, ok
}

// divide puts the calls into cells: by blocks of time, then by the load that they
// met, then by the length of their prompts or contexts.
func (o *replayed) divide() {
	n := len(o.calls)
	o.blocks = min(maxFolds, max(1, n/callsOfABlock))
	o.met = o.load()
	var tpots []float64
	for _, c := range o.calls {
		if !math.IsNaN(c.tpot) {
			tpots = append(tpots, c.tpot)
		}
	}
	if len(tpots) > 0 {
		median, _ := spreadOf(tpots)
		o.step, _ = sim.FromSeconds(median) // one that cannot be shifts nothing
	}
	prompts, contexts := make([]float64, n), make([]float64, n)
	for i, c := range o.calls {
		prompts[i] = float64(c.prompt)
		contexts[i] = float64(c.prompt) + float64(c.output)/2
	}
	loads, short, long := classes(o.met, loadClasses), classes(prompts, contextClasses), classes(contexts, contextClasses)
	for block := range o.blocks {
		for _, ttft := range []bool{true, false} {
			for class := range loadClasses * contextClasses {
				x := cell{ttft: ttft, block: block}
				for i := block * n / o.blocks; i < (block+1)*n/o.blocks; i++ {
					by := long
					if ttft {
						by = short
					}
					if loads[i]*contextClasses+by[i] == class && (ttft || !math.IsNaN(o.calls[i].tpot)) {
						x.calls = append(x.calls, i)
						x.measured += o.of(i, ttft)
					}
				}
				o.keep(x)
			}
		}
	}
}

// keep adds cell x, whose measured is a sum, unless it is empty.
func (o *replayed) keep(x cell) {
	if len(x.calls) == 0 {
		return
	}
	x.measured /= float64(len(x.calls))
	spread, jitter := tpotSpread, tpotJitter
	if x.ttft {
		spread, jitter = ttftSpread, ttftJitter
	}
	x.spread = math.Sqrt(float64(spread*spread)*float64(o.blocks) + float64(jitter*jitter)/float64(len(x.calls)))
	o.cells = append(o.cells, x)
}

// of returns what call i measured.
func (o *replayed) of(i int, ttft bool) float64 {
	if ttft {
		return o.calls[i].ttft
	}
	return o.calls[i].tpot
}

// load returns how many other calls each call met: those sent before and not ended
// about when it was sent.
func (o *replayed) load() []float64 {
	var ends []float64 // of the calls under way, unsorted
	out := make([]float64, len(o.calls))
	for i, c := range o.calls {
		at := c.sent.Seconds()
		ends = slices.DeleteFunc(ends, func(end float64) bool { return end <= at+together.Seconds() })
		out[i] = float64(len(ends))
		end := at + c.ttft
		if !math.IsNaN(c.tpot) {
			end += float64(c.tpot * float64(c.output-1))
		}
		ends = append(ends, end)
	}
	return out
}

// classes returns the class of each value, of n classes at most that have about as
// many values; equal values are of one class.
func classes(values []float64, n int) []int {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	var edges []float64
	for k := 1; k < n; k++ {
		if e := sorted[k*len(sorted)/n]; e > sorted[0] && (len(edges) == 0 || e > edges[len(edges)-1]) {
			edges = append(edges, e)
		}
	}
	out := make([]int, len(values))
	for i, v := range values {
		for _, e := range edges {
			if v >= e {
				out[i]++
			}
		}
	}
	return out
}
