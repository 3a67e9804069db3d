package workload

import (
	"io"
	"math"
	"math/rand/v2"

	"servesim/sim"
)

// piecewise is a process whose rate is constant within each window. The gaps
// are drawn in operational time, the integral of the rate, where they have
// mean 1, and mapped back: with exponential gaps this is a non-homogeneous
// Poisson process (Cinlar's inversion).
type piecewise struct {
	gap    gapLaw // mean 1
	src    rand.PCG
	window sim.Duration
	perPs  []float64 // rates in requests per picosecond
	cycle  float64   // requests of one pass through perPs, in the mean
	repeat bool

	at      sim.Time
	piece   int
	end     sim.Time // of the piece
	started bool
}

func (p *piecewise) next() (sim.Time, error) {
	var work float64
	if p.started {
		work = p.gap.draw(&p.src)
	}
	p.started = true
	return p.advance(work)
}

// advance moves the process until the integral of the rate has grown by work,
// and to a window whose rate is above 0.
func (p *piecewise) advance(work float64) (sim.Time, error) {
	if p.repeat && work > p.cycle {
		cycles := math.Floor(work / p.cycle)
		skip := cycles * float64(p.window) * float64(len(p.perPs))
		if !(skip < float64(sim.MaxTime-p.end)) {
			return 0, errTooLate
		}
		work = max(0, work-float64(cycles*p.cycle))
		d := sim.Time(cycles) * sim.Time(p.window) * sim.Time(len(p.perPs))
		if d < 0 || p.end+d < 0 { // skip was rounded just below the limit
			return 0, errTooLate
		}
		p.at, p.end = p.at+d, p.end+d
	}
	for {
		rate := p.perPs[p.piece]
		room := float64(rate * float64(p.end-p.at))
		if work < room {
			// The quotient may round up to the end of the piece; it stays inside.
			p.at = min(p.at+sim.Time(work/rate), p.end)
			return p.at, nil
		}
		work -= room
		if p.piece++; p.piece == len(p.perPs) {
			if !p.repeat {
				p.piece--
				p.at = p.end
				return 0, io.EOF
			}
			p.piece = 0
		}
		if p.end > sim.MaxTime-sim.Time(p.window) {
			return 0, errTooLate
		}
		p.at, p.end = p.end, p.end+sim.Time(p.window)
	}
}

// piecewise checks the keys of a piecewise process; rate is 0 or the mean rate
// that it is scaled to.
func (c *specCheck) piecewise(key string, s *ArrivalSpec, rate, cv float64) func(rand.PCG) arrivals {
	window := c.span(sub(key, "window"), s.Window, sim.Millisecond, 31*24*sim.Hour, "a duration")
	if len(s.RatesPerS) == 0 {
		c.add(sub(key, "rates_per_s"), "missing or empty; at least one rate in requests per second is needed")
		return nil
	}
	var sum float64
	for i, r := range s.RatesPerS {
		if r != 0 && !(r >= minRate && r <= maxRate) {
			c.add(indexed(sub(key, "rates_per_s"), i), "is %g; 0, or a rate in requests per second from %g to %g, is allowed", r, minRate, maxRate)
			return nil
		}
		sum += r
	}
	if sum == 0 {
		c.add(sub(key, "rates_per_s"), "has only zeros, so nothing would ever arrive; at least one rate must be above 0")
		return nil
	}
	factor := 1.0
	if rate > 0 {
		factor = rate * float64(len(s.RatesPerS)) / sum
	}
	p := piecewise{gap: gapOfRate(psPerSecond, cv), window: window, end: sim.Time(window)}
	p.repeat = s.Repeat != nil && *s.Repeat
	for _, r := range s.RatesPerS {
		perPs := r * factor / psPerSecond
		p.perPs = append(p.perPs, perPs)
		p.cycle += float64(perPs * float64(window))
	}
	return func(src rand.PCG) arrivals {
		q := p
		q.src = src
		return &q
	}
}
