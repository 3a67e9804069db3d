package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"servesim/sim/gpu"
)

// Result is what a fit found.
type Result struct {
	// GPU and Engine name the constants.
	GPU, Engine string
	// Rows is the number of rows that were fitted, Saturated that of those left
	// out because the simulation exhausts their KV cache; both are 0 for data of
	// another kind. Figures is the number of figures that were compared.
	Rows, Saturated, Figures int
	// Constants are the fitted ones, and Profile has all of them.
	Constants []Constant
	Profile   *gpu.Profile
	// TradeOffs are the pairs that the data tell apart badly, Weak the combinations
	// of constants of which they say less than was known before.
	TradeOffs []TradeOff
	Weak      []Direction
	// Loss is that of the minimum.
	Loss float64
	// Form is what another form of the model would give, nil if none was tried.
	Form *Form
	// Errors are those of the figures with the constants found.
	Errors []Errors
}

// Form is what the fit would give with mixed_step_s free as well: the loss, and
// what that constant then is, in seconds.
type Form struct{ Loss, MixedS float64 }

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

// Interval returns the ends of the interval that holds the constant with 95 %,
// within its range.
func (c *Constant) Interval() (low, high float64) {
	half := float64(1.96 * c.Error)
	return max(c.Least, c.Value-half), min(c.Most, c.Value+half)
}

// ErrNoFigures reports that nothing was measured that a fit could be of.
var ErrNoFigures = errors.New("no measurement is left to fit")

// Fit fits the constants called engine of profile p on which data bear, from those
// of p, which are the means of their priors: without data they stay as they are.
// parts is the number of parts of the figures, of which each is held out once; 0
// or 1 holds none out. The error is ErrNoFigures, or that of data.
func Fit(ctx context.Context, data Data, p *gpu.Profile, engine string, parts int) (*Result, error) {
	q := &problem{data: data, profile: p, engine: engine, jittery: true}
	e := p.Engine[engine]
	for _, x := range Parameters() {
		if x.Key != "mixed_step_s" && data.Bears(x.Key) {
			x.Prior = x.Of(&e)
			x.Why = "the profile that the fit began with"
			q.parameters = append(q.parameters, x)
		}
	}
	r := &Result{GPU: p.Name, Engine: engine}
	return r, r.find(ctx, q, parts)
}

// find looks for the minimum and says what is known about it.
func (r *Result) find(ctx context.Context, q *problem, parts int) error {
	x, loss, err := q.search(ctx)
	if err != nil {
		return err
	}
	r.Loss, r.Profile = loss, q.with(x)
	figures, err := q.data.Figures(ctx, r.Profile)
	if err != nil {
		return err
	}
	for _, f := range figures {
		if !f.Left {
			r.Figures++
		}
	}
	if r.Figures == 0 {
		return ErrNoFigures
	}
	if err := r.identify(ctx, q, x); err != nil {
		return err
	}
	blind, err := q.blind(ctx, x, parts)
	if err != nil {
		return err
	}
	r.Errors = summarise(figures, blind)
	return nil
}

// compareForms fits again with mixed_step_s free as well.
func (r *Result) compareForms(ctx context.Context, q *problem) error {
	more := *q
	for _, p := range Parameters() {
		if p.Key == "mixed_step_s" {
			p.Width = additiveWidth
			more.parameters = append(slices.Clone(q.parameters), p)
		}
	}
	more.profile = r.Profile
	x := make([]float64, 0, len(r.Constants)+1)
	for _, c := range r.Constants {
		x = append(x, c.Value)
	}
	y, additive, err := more.descend(ctx, append(x, additiveStart))
	if err != nil {
		return err
	}
	r.Form = &Form{additive, y[len(y)-1]}
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
	if best == nil {
		return nil, 0, fmt.Errorf("no constants of engine %s have a finite loss", p.engine)
	}
	return best, loss, nil
}
