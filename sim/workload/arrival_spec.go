package workload

import (
	"math/rand/v2"

	"servesim/sim"
)

// ArrivalSpec describes when requests arrive, in a scenario file. Which keys it
// needs follows from process:
//
//	{ process = "constant", rate_per_s = 10 }
//	{ process = "poisson", rate_per_s = 10 }
//	{ process = "gamma", rate_per_s = 10, cv = 2.5 }
//	{ process = "piecewise", window = "60s", rates_per_s = [3, 5, 4], repeat = true, cv = 1.05 }
//	{ process = "on_off", burst_size = { dist = "lognormal", mu = 3.3, sigma = 1.4 },
//	  gap = { dist = "exponential", mean = "100ms" }, off = { dist = "exponential", mean = "20s" } }
//
// The first request arrives at 0, unless the first rates of a profile are 0.
type ArrivalSpec struct {
	// Process names the process.
	Process string `toml:"process"`
	// RatePerS is the mean rate in requests per second. piecewise and on_off
	// have a rate of their own; if RatePerS is given, piecewise multiplies its
	// rates, and on_off divides the lengths of all gaps, so that the mean over
	// time is RatePerS.
	RatePerS *float64 `toml:"rate_per_s"`
	// CV is the coefficient of variation of the gaps of gamma: 1 is Poisson,
	// more is burstier. vLLM's --burstiness is 1/cv². For piecewise it is that
	// of the gaps in operational time, the integral of the rate; the default
	// is 1.
	CV *float64 `toml:"cv"`
	// Window is how long each of RatesPerS holds.
	Window *sim.Duration `toml:"window"`
	// RatesPerS are the successive rates of piecewise; 0 is allowed.
	RatesPerS []float64 `toml:"rates_per_s"`
	// Repeat begins RatesPerS again after the last; the default is to end
	// there.
	Repeat *bool `toml:"repeat"`
	// BurstSize is the number of requests of a burst of on_off.
	BurstSize *LengthSpec `toml:"burst_size"`
	// Gap is the time between two requests of one burst.
	Gap *DelaySpec `toml:"gap"`
	// Off is the time between the last request of a burst and the first of
	// the next.
	Off *DelaySpec `toml:"off"`
}

// arrivalKinds returns the values of ArrivalSpec.Process and their keys.
func arrivalKinds() []specKind {
	return []specKind{
		{"constant", []string{"rate_per_s"}},
		{"poisson", []string{"rate_per_s"}},
		{"gamma", []string{"rate_per_s", "cv"}},
		{"piecewise", []string{"window", "rates_per_s", "repeat", "cv", "rate_per_s"}},
		{"on_off", []string{"burst_size", "gap", "off", "rate_per_s"}},
	}
}

// The ranges of what ArrivalSpec allows. A rate of 1e9 per second is one
// request a nanosecond; a coefficient of variation of 0.001 is all but
// constant, and at 100 one gap in ten thousand holds all the time.
const (
	minRate, maxRate = 1e-6, 1e9
	minCV, maxCV     = 0.001, 100
)

// arrival checks the spec at key and returns a function that starts the
// process on its stream.
func (c *specCheck) arrival(key string, s *ArrivalSpec) func(rand.PCG) arrivals {
	keys := []specKey{
		{"rate_per_s", s.RatePerS != nil}, {"cv", s.CV != nil}, {"window", s.Window != nil},
		{"rates_per_s", s.RatesPerS != nil}, {"repeat", s.Repeat != nil},
		{"burst_size", s.BurstSize != nil}, {"gap", s.Gap != nil}, {"off", s.Off != nil},
	}
	if !c.kind(key, "process", s.Process, arrivalKinds(), keys) {
		return nil
	}
	own := s.Process == "piecewise" || s.Process == "on_off"
	var rate float64
	if s.RatePerS != nil || !own {
		rate = c.rate(sub(key, "rate_per_s"), s.RatePerS)
	}
	cv := 1.0
	if s.CV != nil || s.Process == "gamma" {
		cv = c.real(sub(key, "cv"), s.CV, minCV, maxCV, "a coefficient of variation")
	}
	switch s.Process {
	case "constant":
		return func(rand.PCG) arrivals { return newConstant(rate) }
	case "piecewise":
		return c.piecewise(key, s, rate, cv)
	case "on_off":
		return c.onOff(key, s, rate)
	}
	gap := gapOfRate(rate, cv)
	return func(src rand.PCG) arrivals { return &renewal{gap: gap, src: src} }
}

func (c *specCheck) rate(key string, v *float64) float64 {
	return c.real(key, v, minRate, maxRate, "a rate in requests per second")
}
