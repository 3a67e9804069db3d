package capacity

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim/gpu"
	"servesim/sim/observe"
)

// Options say how an answer is sought.
type Options struct {
	// Resolution is the ratio of neighbouring rates, less 1.
	Resolution float64
	// Target is the least share of good requests of a scenario that does not give one.
	Target analysis.Percentile
	// Requests is the number of requests of a run, where they can be drawn without
	// end; if their rate changes in cycles, there are enough for whole ones.
	Requests int64
	// Runs is the largest number of runs, under seeds of their own, that a rate is
	// judged with.
	Runs int
	// Jobs is the number of simulations at once, at least 1.
	Jobs int
	// Prices are in US dollars for a GPU and hour, by profile, in the place of those
	// of the profiles.
	Prices map[string]float64
	// Watts are the most that a GPU draws, in W, by profile, in the place of the
	// datasheets' TDP.
	Watts map[string]float64
	// Progress, if it isn't nil, hears of each trial that the answer rests on.
	Progress func(*Trial)
}

// The defaults of Options.
const (
	DefaultResolution = 0.02
	DefaultRequests   = 10_000
	DefaultRuns       = 20
)

// Check returns a scenario.UsageError of what is wrong with o.
func (o *Options) Check() error {
	if !(o.Resolution >= 0.001 && o.Resolution <= 0.5) {
		return usagef("resolution: found %g %%; must be from 0.1 to 50 %%, the step from a rate to the next", 100*o.Resolution)
	}
	if o.Requests < 1000 || o.Requests > 1e9 {
		return usagef("requests: found %d; a run has from 1,000 to 1,000,000,000 of them", o.Requests)
	}
	if o.Runs < analysis.FewestReplications || o.Runs > 1000 {
		return usagef("runs: found %d; a rate is judged with up to %d to 1,000 of them", o.Runs, analysis.FewestReplications)
	}
	for _, name := range sortedKeys(o.Prices) {
		if p := o.Prices[name]; !(p > 0 && p < 1e6) {
			return usagef("price of %s: found %g; must be more than 0, in US dollars for a GPU and hour", name, p)
		}
	}
	for _, name := range sortedKeys(o.Watts) {
		if w := o.Watts[name]; !(w > 0 && w < 1e6) {
			return usagef("power of %s: found %g; must be more than 0, in W for a GPU that runs a step", name, w)
		}
	}
	return nil
}

// CheckCosts returns a scenario.UsageError if a price or a power is of none of gpus,
// which are names of profiles.
func (o *Options) CheckCosts(gpus ...string) error {
	for _, of := range []struct {
		what  string
		given map[string]float64
	}{{"price", o.Prices}, {"power", o.Watts}} {
		for _, name := range sortedKeys(of.given) {
			if !slices.ContainsFunc(gpus, func(g string) bool { return strings.EqualFold(g, name) }) {
				return usagef("%s of %s: there is no such GPU here; %[1]ss are of %[3]s", of.what, name, strings.Join(gpus, ", "))
			}
		}
	}
	return nil
}

// checkPower returns a scenario.UsageError if a GPU of profile p is to draw less while
// it runs a step than otherwise.
func (o *Options) checkPower(p *gpu.Profile) error {
	w, given := o.Watts[strings.ToLower(p.Name)]
	switch {
	case given && p.Power == nil:
		return usagef("power of %s: found %g, but profile %[1]s doesn't say what an idle one draws; give it power.idle_w", p.Name, w)
	case given && w < p.Power.IdleW:
		return usagef("power of %s: found %g W; an idle one draws %g W", p.Name, w, p.Power.IdleW)
	}
	return nil
}

// An Answer says how much load a deployment carries.
type Answer struct {
	Plan *scenario.Plan
	// Load says how the rate is raised.
	Load string
	SLO  analysis.SLO
	// Resolution is that of Options.
	Resolution float64
	// Rate is the highest at which every limit is kept, in requests/s. At Lo, and
	// lower, it is beyond doubt that they are, at Hi that one is missed: the
	// capacity is between them. Lo is 0 if no rate is beyond doubt. Unbounded
	// tells that the limits are kept at every rate that can be simulated, of which
	// Rate is the highest; Hi is then +Inf.
	Rate, Lo, Hi float64
	Unbounded    bool
	// At is the trial of Rate, and Over that of the next rate, where a limit is
	// missed; nil if Unbounded.
	At, Over *Trial
	// Saturation is the throughput beyond which queues grow without end.
	Saturation Saturation
	// Today is the rate of the scenario, in requests/s.
	Today float64
	// Table are the trials of shares of Rate, ascending.
	Table []TableRow
	// Cost is what the deployment costs at Rate.
	Cost Cost
	// Instant is the lower bound of InstantOf, nil if nobody asked.
	Instant *Instant
	// Trials and Requests are the number of rates that the answer rests on, and
	// that of all requests simulated for them.
	Trials   int
	Requests int64
}

// TableRow is a rate around an answer.
type TableRow struct {
	// Share is that of Answer.Rate.
	Share float64
	Trial *Trial
}

// Saturation is what an overloaded pool serves.
type Saturation struct {
	// OK is false if no load that can be simulated overloads it.
	OK bool
	// Offered is the rate that came, RequestsPerS that of the completed requests in
	// the last half of the time in which they came, and OutputTokensPerS their
	// output tokens.
	Offered, RequestsPerS, OutputTokensPerS float64
}

// Headroom returns by how much the rate of today may grow until a limit is
// missed, as a share of it; it is negative if one is missed today.
func (a *Answer) Headroom() float64 { return a.Rate/a.Today - 1 }

// Binding returns the limit that is missed first as the rate rises, and whether
// that is for a queue that grows without end. It is nil if no limit is missed.
func (a *Answer) Binding() (l *Limit, overloaded bool) {
	if a.Over == nil {
		return nil, false
	}
	return a.Over.Binding(), a.Over.Overloaded
}

// limitsOf returns what p has to keep, the share of good requests by target if
// it says which are good but not how many.
func limitsOf(p *scenario.Plan, target analysis.Percentile) (analysis.SLO, error) {
	slo := p.SLO
	if slo.Empty() {
		return slo, usagef("the scenario has no limits, so that any rate keeps them; give --slo with one of %s, or --goodput such as \"ttft <= 500ms, tpot <= 25ms\" (servesim list slos says what each asks for)",
			strings.Join(scenario.SLONames(), ", "))
	}
	if len(slo.Goodput) > 0 && slo.MinGoodput == nil && len(slo.Run) == 0 {
		slo.MinGoodput = &target
	}
	return slo, nil
}

// prepare returns the load and the limits of the scenario of src.
func prepare(src scenario.Source, o *Options) (*load, analysis.SLO, error) {
	p, err := scenario.Load(src)
	if err != nil {
		return nil, analysis.SLO{}, err
	}
	if err := o.checkPower(p.Machine.Profile); err != nil {
		return nil, analysis.SLO{}, err
	}
	slo, err := limitsOf(p, o.Target)
	if err != nil {
		return nil, slo, err
	}
	if seed := *p.Scenario.Seed; seed > math.MaxInt64-uint64(o.Runs) {
		return nil, slo, usagef("seed: found %d; it takes %d more after it, up to %d", seed, o.Runs, int64(math.MaxInt64))
	}
	l, err := newLoad(p)
	return l, slo, err
}

// search finds the rates of a.
func (b *bench) search(a *Answer) error {
	g := grid{a.Resolution}
	low, high := b.load.bounds()
	first, final := g.place(low)+1, g.place(high)
	n := b.load.plan.Replicas()
	find := func(start, step int, holds func(*Trial) bool) (int, error) {
		return last(first, start, final, step, func(i int) (bool, error) {
			t, err := b.get(g.rate(i), n)
			if err != nil {
				return false, err
			}
			return holds(t), nil
		})
	}
	today := min(max(g.place(a.Today), first), final)
	rate, err := find(today, max(1, g.place(1.5)), func(t *Trial) bool { return t.Holds })
	if err != nil {
		return err
	}
	if rate < first {
		return b.unmet(g.rate(first), n)
	}
	sure, err := find(rate, 1, func(t *Trial) bool { return t.Judgement == Holds })
	if err != nil {
		return err
	}
	open, err := find(min(rate+1, final), 1, func(t *Trial) bool { return t.Judgement != Fails })
	if err != nil {
		return err
	}
	a.Rate, a.Hi, a.Unbounded = g.rate(rate), math.Inf(1), rate == final
	if sure >= first {
		a.Lo = g.rate(min(sure, rate))
	}
	if open < final {
		a.Hi = g.rate(max(open, rate) + 1)
	}
	if a.At, err = b.get(a.Rate, n); err != nil || a.Unbounded {
		return err
	}
	a.Over, err = b.get(g.rate(rate+1), n)
	return err
}

// unmet returns the error that no rate keeps the limits, for that of the lowest.
func (b *bench) unmet(rate float64, replicas int64) error {
	t, err := b.get(rate, replicas)
	if err != nil {
		return err
	}
	return &scenario.UsageError{Err: &Unmet{fmt.Sprintf("no rate keeps the limits: at %s requests/s, where requests are alone, these are missed: %s", strconv.FormatFloat(rate, 'g', gridDigits, 64), missed(t))}}
}

// saturate finds the throughput of a under overload.
func (b *bench) saturate(a *Answer) error {
	_, high := b.load.bounds()
	rate := 2 * a.Rate
	if a.Over != nil && a.Over.Overloaded {
		rate = 1.5 * a.Rate
	}
	for range 8 {
		if rate > high {
			return nil
		}
		result, err := b.load.at(rate, b.load.plan.Replicas(), b.options.Requests, 0).Simulate(b.ctx, scenario.Options{OutputEdges: []int32{}})
		if err != nil {
			return err
		}
		r := result.Report
		s := &r.Saturation
		if n := r.Counts.Of(observe.Completed); s.State == analysis.Overloaded && n > 0 {
			a.Saturation = Saturation{true, s.ArrivalRate, s.CompletionRate, s.CompletionRate * float64(r.Tokens.Output) / float64(n)}
			return nil
		}
		rate *= 2
	}
	return nil
}

// tableShares are the shares of the capacity in a table.
func tableShares() []float64 { return []float64{0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5} }

// table tries the rates around the answer.
func (b *bench) table(a *Answer) error {
	_, high := b.load.bounds()
	for _, s := range tableShares() {
		rate := short(s * a.Rate)
		if rate > high {
			continue
		}
		t, err := b.get(rate, b.load.plan.Replicas())
		if err != nil {
			return err
		}
		a.Table = append(a.Table, TableRow{s, t})
	}
	return nil
}
