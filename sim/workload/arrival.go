package workload

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"servesim/sim"
)

// arrivals is a process of successive arrival instants.
type arrivals interface {
	// next returns the next instant, never before the last one. The first is
	// 0, as in a recorded trace, unless nothing can arrive then. The error is
	// io.EOF after the last one, or errTooLate.
	next() (sim.Time, error)
}

// errTooLate ends a process whose next instant cannot be represented.
var errTooLate = errors.New("the next arrival is beyond the 106 days that a run can last; raise the rate, or lower requests or duration")

// psPerSecond is one second in picoseconds, as a factor.
const psPerSecond = float64(sim.Second)

// renewal is a process whose gaps are independent and have one law, in
// picoseconds.
type renewal struct {
	gap     gapLaw
	src     rand.PCG
	at      sim.Time
	started bool
}

func (r *renewal) next() (sim.Time, error) {
	if !r.started {
		r.started = true
		return 0, nil
	}
	return r.advance(r.gap.draw(&r.src))
}

// advance moves the process by gap picoseconds, rounded to the nearest.
func (r *renewal) advance(gap float64) (sim.Time, error) {
	at, ok := later(r.at, gap)
	if !ok {
		return 0, errTooLate
	}
	r.at = at
	return at, nil
}

// later returns the instant gap picoseconds after t; ok is false if that is
// beyond sim.MaxTime.
func later(t sim.Time, gap float64) (u sim.Time, ok bool) {
	if !(gap < float64(sim.MaxTime-t)) { // also not a number
		return 0, false
	}
	u = t + sim.Time(gap+0.5)
	return u, u >= t
}

// gapLaw is a law of gaps: mean times a draw of mean 1, which is exponential or
// gamma.
type gapLaw struct {
	// mean is the mean gap in picoseconds.
	mean float64
	// shape is that of a gamma, 1/cv²; 1 is the exponential.
	shape float64
}

func (g gapLaw) draw(src *rand.PCG) float64 {
	if g.shape == 1 {
		return exponentialLaw{g.mean}.draw(src)
	}
	return distuv.Gamma{Alpha: g.shape, Beta: g.shape, Src: src}.Rand() * g.mean
}

// gapOfRate returns the law of gaps of the given rate in requests per second
// and coefficient of variation, which is above 0.
func gapOfRate(perS, cv float64) gapLaw {
	g := gapLaw{mean: psPerSecond / perS, shape: 1 / (cv * cv)}
	if math.Abs(cv-1) < 1e-12 {
		g.shape = 1
	}
	return g
}
