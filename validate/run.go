package validate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"servesim/internal/workers"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/workload"
)

// seed and those after it decide the draws of every row, so that rows which
// differ only in their deployment see the same requests.
const seed = sim.Seed(1)

// offlinePerSeq is the host time of a sequence and step where no server stands
// before the engine: nothing is detokenised, encoded or sent.
const offlinePerSeq = 2 * sim.Microsecond

// ErrNoProfile reports that there is no profile of a GPU.
var ErrNoProfile = errors.New("no such profile")

// Options say how rows are simulated. The zero value takes the profiles that ship.
type Options struct {
	// Profile returns the profile of a GPU by its name in the table, or
	// ErrNoProfile; nil loads those that ship. Rows may ask for it at the same time.
	Profile func(gpu string) (*gpu.Profile, error)
	// Done is called after each row, from any goroutine, one call at a time; it
	// may be nil.
	Done func()
	// Workers is the number of rows that are simulated at the same time; 0 is
	// one a processor. The result does not depend on it.
	Workers int
}

func (o *Options) profile(name string) (*gpu.Profile, error) {
	if o.Profile != nil {
		return o.Profile(name)
	}
	if !slices.Contains(gpu.ProfileNames(), strings.ToLower(name)) {
		return nil, ErrNoProfile
	}
	return gpu.LoadProfile(name)
}

// RowResult is what became of a row.
type RowResult struct {
	Row *Row
	// Skipped says why the row was not simulated; it is empty if it was.
	Skipped string
	// Saturated tells that the simulated run exhausted its KV cache or fell
	// behind its arrivals.
	Saturated bool
	// Notes are the rules that filled in what the source leaves open.
	Notes []string
	// Simulated is in the order of Metrics; NaN where the run has no such figure.
	Simulated [metricCount]float64
}

// Run simulates the rows, and returns what became of each in their order. The
// error is that of ctx, or of the first row whose run failed for a reason that
// is none of the row's, such as a profile that cannot be read.
func Run(ctx context.Context, rows []Row, o Options) ([]RowResult, error) {
	results, faults := make([]RowResult, len(rows)), make([]error, len(rows))
	jobs := o.Workers
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var done sync.Mutex
	workers.Each(ctx, jobs, len(rows), func(i int) bool {
		results[i], faults[i] = o.one(ctx, &rows[i])
		done.Lock()
		defer done.Unlock()
		if o.Done != nil {
			o.Done()
		}
		return true
	})
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	for _, err := range faults {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// one simulates one row.
func (o *Options) one(ctx context.Context, r *Row) (RowResult, error) {
	out := RowResult{Row: r}
	if ctx.Err() != nil {
		return out, nil
	}
	t, err := load(r)
	var d *deployment
	if err == nil {
		d, err = o.deploy(r)
	}
	var meters []*meter
	for i := 0; err == nil && i < t.repeats(); i++ {
		var m *meter
		if m, err = replay(ctx, r, t, d, seed+sim.Seed(i)); err == nil {
			meters = append(meters, m)
		}
	}
	var why skip
	switch {
	case errors.As(err, &why):
		out.Skipped = string(why)
		return out, nil
	case err != nil:
		return out, fmt.Errorf("row %s: %w", r.ID, err)
	}
	out.Notes = append(append(out.Notes, d.notes...), t.notes...)
	out.Saturated, out.Simulated = mean(meters, r.Load == Poisson)
	return out, nil
}

// mean returns what meters measured on average, and whether the first of them
// was saturated.
func mean(meters []*meter, open bool) (saturated bool, values [metricCount]float64) {
	for _, m := range meters {
		for i, v := range m.values() {
			values[i] += v
		}
	}
	for i := range values {
		values[i] /= float64(len(meters))
	}
	return meters[0].saturated(open), values
}

// replay runs the requests t of row r, drawn from seed, on the server d.
func replay(ctx context.Context, r *Row, t *traffic, d *deployment, seed sim.Seed) (*meter, error) {
	e := d.setup.Profile.Engine[d.setup.Engine]
	perSeq := offlinePerSeq
	if r.Load == Offline {
		d.setup.Host.PerSeq = &perSeq
	}
	mixed := e.MixedStep()
	d.setup.Host.MixedStep = &mixed
	cost, err := gpu.NewCost(d.setup)
	if err != nil {
		return nil, skipf("cost model: %v", firstLine(err))
	}
	source, err := t.spec.Source(seed)
	if err != nil {
		return nil, err
	}
	delay, err := constant(sim.Duration(math.RoundToEven(e.RequestS * 1e12)))
	if err != nil {
		return nil, err
	}
	if r.Load == Offline || r.Load == Static {
		delay = workload.Delay{}
	}
	c := &d.scheduler
	longest := (r.Prompt + r.Output + int64(c.BlockSize) - 1) / int64(c.BlockSize)
	m := &meter{blocks: c.NumGPUBlocks, need: longest, maxSeqs: c.MaxNumSeqs, total: t.requests}
	config := engine.Config{Scheduler: *c, Cost: cost, Source: source, Sink: m, Seed: seed, RequestDelay: delay}
	if t.cached {
		config.Cost = cachedCost{cost, r.Prompt}
	}
	if err := engine.Run(ctx, config); err != nil {
		return nil, err
	}
	if m.completed == 0 {
		return nil, skip("no request completed")
	}
	if m.other > 0 {
		d.note("%d requests did not complete", m.other)
	}
	return m, nil
}

// constant returns a delay that is always d.
func constant(d sim.Duration) (workload.Delay, error) {
	s := workload.DelaySpec{Dist: "constant", Value: &d}
	return s.Delay()
}
