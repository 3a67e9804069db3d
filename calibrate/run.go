package calibrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"servesim/sim/gpu"
	"servesim/validate"

	"gonum.org/v1/gonum/mat"
)

// Result is what a calibration found.
type Result struct {
	// GPU and Engine name the constants.
	GPU, Engine string
	// Rows is the number of rows that were fitted, Saturated that of those left
	// out because the simulation exhausts their KV cache.
	Rows, Saturated int
	// Constants are the fitted ones, and Profile has all of them.
	Constants []Constant
	Profile   *gpu.Profile
	// TradeOffs are the pairs that the data tell apart badly.
	TradeOffs []TradeOff
	// Loss is that of the minimum; Additive is that of the same with
	// mixed_step_s free as well, and Mixed what that constant then is, in seconds.
	Loss, Additive, Mixed float64
	// Figures are the errors of the rows with the constants found.
	Figures []validate.Cell
}

// Constant is a fitted constant.
type Constant struct {
	Parameter
	// Value is the fitted value and Error its standard error, in the unit of the key.
	Value, Error float64
	// Told is the share of the prior's variance that the runs remove, from 0, where
	// they say nothing, to 1.
	Told float64
	// Bound tells that the value sits on a bound of its range.
	Bound bool
}

// TradeOff is the correlation of the errors of two constants.
type TradeOff struct {
	A, B        string
	Correlation float64
}

// badCorrelation is the correlation from which on two constants count as told
// apart badly.
const badCorrelation = 0.7

// ErrNoRows reports that no calibration row is for the constants.
var ErrNoRows = errors.New("no calibration row")

// Run calibrates the constants called engine of profile p on those of rows that
// are for it. It calls done, which may be nil, after each simulation of a row, one
// call at a time. The error is that of ctx, or ErrNoRows.
func Run(ctx context.Context, rows []validate.Row, p *gpu.Profile, engine string, done func()) (*Result, error) {
	q := &problem{profile: p, engine: engine, done: done}
	r := &Result{GPU: p.Name, Engine: engine}
	kv, eager := map[gpu.Format]bool{}, false
	var mine []validate.Row
	for i := range rows {
		s, err := validate.Setup(&rows[i], q.options(p))
		if rows[i].Split != validate.Calibration || !strings.EqualFold(rows[i].GPU, p.Name) || err != nil || s.Engine != engine {
			continue
		}
		kv[s.KV] = true
		eager = eager || s.EagerPrefill != nil && *s.EagerPrefill
		mine = append(mine, rows[i])
	}
	if len(mine) == 0 {
		return nil, fmt.Errorf("%w is of %s with engine %s", ErrNoRows, p.Name, engine)
	}
	results, err := validate.Run(ctx, mine, q.options(p))
	if err != nil {
		return nil, err
	}
	for i := range results {
		if results[i].Saturated {
			r.Saturated++
			continue
		}
		q.rows = append(q.rows, mine[i])
	}
	r.Rows = len(q.rows)
	ttft := slices.ContainsFunc(q.rows, func(r validate.Row) bool { return r.TTFTTrusted && r.Measured[validate.TTFTMean] > 0 })
	for _, x := range Parameters() {
		leaveOut := x.Key == "mixed_step_s" || x.Key == "eager_layer_s" && !eager ||
			x.Key == "request_s" && !ttft || x.Key == "kv_bf16_efficiency" && !kv[gpu.BF16] || x.Key == "kv_fp8_efficiency" && !kv[gpu.FP8]
		if !leaveOut {
			q.parameters = append(q.parameters, x)
		}
	}
	return r, r.find(ctx, q)
}

// find looks for the minimum and says what is known about it.
func (r *Result) find(ctx context.Context, q *problem) error {
	x, loss, err := q.search(ctx)
	if err != nil {
		return err
	}
	r.Loss, r.Profile = loss, q.with(x)
	if err := r.identify(ctx, q, x); err != nil {
		return err
	}
	if r.Figures, err = q.figures(ctx, x); err != nil {
		return err
	}
	more := *q
	for _, p := range Parameters() {
		if p.Key == "mixed_step_s" {
			p.Width = additiveWidth
			more.parameters = append(slices.Clone(q.parameters), p)
		}
	}
	more.profile = r.Profile
	y, additive, err := more.descend(ctx, append(slices.Clone(x), additiveStart))
	if err != nil {
		return err
	}
	r.Additive, r.Mixed = additive, y[len(y)-1]
	return nil
}

// The prior's width of mixed_step_s, and where its search starts, when it is
// tried as another form: wide enough to cost nothing.
const (
	additiveWidth = 20e-3
	additiveStart = 10e-3
)

// search returns the best of the minima found from several starts: the priors,
// with the launch time of a layer at several values, since what does not bind
// has no gradient.
func (p *problem) search(ctx context.Context) (best []float64, loss float64, err error) {
	loss = math.Inf(1)
	for _, eager := range []float64{200e-6, 400e-6, 600e-6, 800e-6} {
		x := make([]float64, len(p.parameters))
		varies := false
		for i, q := range p.parameters {
			x[i] = q.Prior
			if q.Key == "eager_layer_s" {
				x[i], varies = eager, true
			}
			least, most := p.bounds(i)
			x[i] = min(max(x[i], least), most)
		}
		y, l, err := p.descend(ctx, x)
		if err != nil {
			return nil, 0, err
		}
		if l < loss {
			best, loss = y, l
		}
		if !varies {
			break
		}
	}
	return best, loss, nil
}

// identify fills in the constants with their errors and trade-offs.
func (r *Result) identify(ctx context.Context, q *problem, x []float64) error {
	f, err := q.terms(ctx, x)
	if err != nil {
		return err
	}
	j, err := q.jacobian(ctx, x, len(f))
	if err != nil {
		return err
	}
	n := len(x)
	normal := mat.NewSymDense(n, nil)
	normal.SymOuterK(1, j.T())
	var c mat.Cholesky
	if !c.Factorize(normal) { // cannot be: each prior adds 1 to its diagonal
		return fmt.Errorf("the constants of %s %s: the normal equations are singular", r.GPU, r.Engine)
	}
	var covariance mat.SymDense
	if err := c.InverseTo(&covariance); err != nil {
		return fmt.Errorf("the constants of %s %s: %w", r.GPU, r.Engine, err)
	}
	// Where the form misses by more than the spreads assumed, so do the errors.
	excess := max(1, square(f)/float64(max(1, len(f)-2*n)))
	for i := range x {
		v := covariance.At(i, i)
		least, most := q.bounds(i)
		r.Constants = append(r.Constants, Constant{
			Parameter: q.parameters[i], Value: x[i],
			Error: math.Sqrt(min(1, float64(v*excess))) * q.parameters[i].Width,
			Told:  max(0, 1-float64(v*excess)), Bound: x[i] <= least || x[i] >= most,
		})
		for k := range i {
			if rho := covariance.At(i, k) / math.Sqrt(float64(v*covariance.At(k, k))); math.Abs(rho) >= badCorrelation {
				r.TradeOffs = append(r.TradeOffs, TradeOff{q.parameters[k].Key, q.parameters[i].Key, rho})
			}
		}
	}
	return nil
}

// figures returns the errors of the rows at x.
func (p *problem) figures(ctx context.Context, x []float64) ([]validate.Cell, error) {
	results, err := validate.Run(ctx, p.rows, p.options(p.with(x)))
	if err != nil {
		return nil, err
	}
	return validate.Cells(validate.Lines(results), validate.ByGPUAndEngine), nil
}

// options returns those of a simulation with profile.
func (p *problem) options(profile *gpu.Profile) validate.Options {
	return validate.Options{Done: p.done, Profile: func(name string) (*gpu.Profile, error) {
		if !strings.EqualFold(name, profile.Name) {
			return nil, validate.ErrNoProfile
		}
		return profile, nil
	}}
}

// with returns the profile with trial constants, and no mixed_step_s unless
// that is one of them.
func (p *problem) with(x []float64) *gpu.Profile {
	trial := *p.profile
	trial.Engine = maps.Clone(p.profile.Engine)
	e := trial.Engine[p.engine]
	e.MixedStepS = 0
	for i := range p.parameters {
		p.parameters[i].Set(&e, x[i])
	}
	trial.Engine[p.engine] = e
	return &trial
}
