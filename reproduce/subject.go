package reproduce

import (
	"context"
	"fmt"
	"math"
	"strings"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/analysis/tail"
	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// A subject is what quantities are of: a simulated scenario, made-up gaps, or a call.
type subject interface {
	// tasks returns the number of tasks that measuring columns takes, and measure
	// does one of them. A column has a sample of each task that it concerns.
	tasks(columns []string) int
	measure(ctx context.Context, task int, columns []string) (map[string]sample, error)
}

// A sample is a value of one task, with an interval if it has one of its own.
type sample struct {
	value, lo, hi float64
	simulated     bool // by one run of a scenario
}

// single returns a sample without an interval.
func single(x float64) sample { return sample{value: x, lo: x, hi: x} }

// The seed and the number of the answers that are drawn from made-up gaps.
const (
	gapsSeed  = 1
	gapsDraws = 10_000
)

// gaps are made up.
type gaps struct {
	population *tail.Population
	answer     int64
}

// gapColumns lists their columns: of single gaps, and of answers of so many.
func gapColumns() []string {
	return []string{"itl_mean_ms", "itl_p99_ms", "itl_max_ms", "tpot_mean_ms", "tpot_p99_ms", "max_gap_p99_ms"}
}

// tasks implements subject.
func (g *gaps) tasks([]string) int { return 1 }

// measure implements subject.
func (g *gaps) measure(context.Context, int, []string) (map[string]sample, error) {
	ps, err := analysis.ParsePercentiles("99")
	if err != nil {
		return nil, err
	}
	lab, err := tail.Run(tail.Options{
		Population: g.population, Percentiles: ps, Answers: []int64{g.answer}, Draws: gapsDraws, Seed: gapsSeed,
	})
	if err != nil {
		return nil, err
	}
	ms := func(d sim.Duration) sample { return single(d.Milliseconds()) }
	longest := single(math.Inf(1))
	if d, ok := g.population.Longest(); ok {
		longest = ms(d)
	}
	answer := lab.Answers[0]
	tpot := ms(answer.TPOT[0].Value)
	if i := answer.TPOT[0].Interval; i.OK {
		tpot.lo, tpot.hi = i.Lo.Milliseconds(), i.Hi.Milliseconds()
	}
	mean := single(lab.Mean / 1e9)
	return map[string]sample{
		"itl_mean_ms": mean, "itl_p99_ms": ms(lab.Gaps[0]), "itl_max_ms": longest,
		"tpot_mean_ms": mean, // answers have equally many gaps, so the mean of their means is that of the gaps
		"tpot_p99_ms":  tpot, "max_gap_p99_ms": ms(answer.WorstGap[0]),
	}, nil
}

// A call is one answer.
type call struct {
	tokens      int64
	first, last sim.Duration
}

// itlMean ends the columns of calls, which begin with the name of a dialect.
const itlMean = ".itl_mean_ms"

// callColumns lists the columns of calls.
func callColumns() []string {
	var list []string
	for _, d := range dialect.All() {
		for _, m := range d.Metrics {
			if m.Name == dialect.ITL {
				list = append(list, d.Name+itlMean)
				break
			}
		}
	}
	return list
}

// tasks implements subject.
func (c *call) tasks([]string) int { return 1 }

// measure implements subject.
func (c *call) measure(_ context.Context, _ int, columns []string) (map[string]sample, error) {
	var ds []*dialect.Dialect
	for _, name := range columns {
		d, err := dialect.Find(strings.TrimSuffix(name, itlMean))
		if err != nil {
			return nil, err
		}
		ds = append(ds, d)
	}
	sink := dialect.New(ds, dialect.Options{Facts: transcript.Everything()})
	if err := sink.Call(c.seen()); err != nil {
		return nil, err
	}
	out := map[string]sample{}
	for i, r := range sink.Results() {
		v, ok := r.Value(dialect.ITL)
		if !ok || !v.OK {
			return nil, fmt.Errorf("%s has no ITL of a call", r.Dialect.Name)
		}
		out[columns[i]] = single(v.Mean.Milliseconds())
	}
	return out, nil
}

// seen returns the call as its client saw it, a token a chunk.
func (c *call) seen() *transcript.Call {
	seen := &transcript.Call{
		Prompt: 1, Output: int32(c.tokens), Wanted: int32(c.tokens), Outcome: observe.Completed, Closed: sim.Time(0).Add(c.last),
	}
	for i := range c.tokens {
		at := c.first + (c.last-c.first)*sim.Duration(i)/sim.Duration(c.tokens-1)
		seen.Chunks = append(seen.Chunks, transcript.Chunk{At: sim.Time(0).Add(at), Tokens: 1})
	}
	return seen
}
