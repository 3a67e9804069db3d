package workload

import (
	"math"
	"math/rand/v2"

	"servesim/internal/portable"
	"servesim/sim"
)

// MaxDelay is the longest delay that can be drawn, and the default of a
// delay's max: 24 hours.
const MaxDelay = 24 * sim.Hour

// Delay is a duration that is constant or drawn from a distribution, never
// negative. The zero value is constant and 0. A Delay holds no randomness and
// may be shared.
type Delay struct {
	constant sim.Duration
	law      law // in picoseconds, within [0, MaxDelay]; nil if constant
}

// ConstantDelay returns the delay that is always d, which must not be
// negative.
func ConstantDelay(d sim.Duration) Delay { return Delay{constant: d} }

// Draw returns a duration in [0, MaxDelay], taking all randomness from src,
// rounded to the nearest picosecond. It allocates nothing.
func (d Delay) Draw(src *rand.PCG) sim.Duration {
	if d.law == nil {
		return d.constant
	}
	return sim.Duration(d.law.draw(src) + 0.5)
}

// Constant returns the duration if it is always the same; ok is false if it is
// drawn.
func (d Delay) Constant() (v sim.Duration, ok bool) { return d.constant, d.law == nil }

// drawPs returns a duration in picoseconds before rounding.
func (d Delay) drawPs(src *rand.PCG) float64 {
	if d.law == nil {
		return float64(d.constant)
	}
	return d.law.draw(src)
}

// meanPs returns the mean in picoseconds.
func (d Delay) meanPs() float64 {
	if d.law == nil {
		return float64(d.constant)
	}
	_, m := d.law.below(math.MaxFloat64)
	return m
}

// DelaySpec describes a Delay in a scenario file. Which keys it needs follows
// from dist:
//
//	{ dist = "constant", value = "5ms" }
//	{ dist = "uniform", min = "1ms", max = "9ms" }
//	{ dist = "exponential", mean = "2s" }
//	{ dist = "normal", mean = "20ms", stddev = "5ms" }
//	{ dist = "lognormal", mean = "20ms", sigma = 0.5, max = "1s" }
//	{ dist = "knots", p = [0, 50, 100], values = ["1ms", "4ms", "90ms"] }
//	{ dist = "mixture", parts = [{ weight = 9, dist = "constant", value = "1ms" },
//	                             { weight = 1, dist = "exponential", mean = "80ms" }] }
//
// All but constant take min and max, the limits of what is drawn: the
// distribution is the one described, given that the value lies within; a value
// outside is drawn again, never clamped.
type DelaySpec struct {
	// Dist names the distribution.
	Dist string `toml:"dist"`
	// Value is the duration of a constant.
	Value *sim.Duration `toml:"value"`
	// Mean is the mean of an exponential, a normal or a lognormal, before
	// limits.
	Mean *sim.Duration `toml:"mean"`
	// Stddev is the standard deviation of a normal.
	Stddev *sim.Duration `toml:"stddev"`
	// Sigma is the standard deviation of the logarithm of a lognormal.
	Sigma *float64 `toml:"sigma"`
	// P holds the cumulative probabilities of knots in percent, rising from 0
	// to 100.
	P []float64 `toml:"p"`
	// Values holds for each of P the duration that this share of draws does
	// not exceed; in between, the distribution function is linear.
	Values []sim.Duration `toml:"values"`
	// Parts are the distributions of a mixture, each with a Weight.
	Parts []DelaySpec `toml:"parts"`
	// Weight is the share of this part of a mixture; only ratios count.
	Weight *float64 `toml:"weight"`
	// Min is the shortest duration; the default is 0.
	Min *sim.Duration `toml:"min"`
	// Max is the longest duration; the default is MaxDelay.
	Max *sim.Duration `toml:"max"`
}

// Check returns every fault of s, each with its path below table, which is the
// key that holds s or empty.
func (s *DelaySpec) Check(table string) []error {
	var c specCheck
	c.delay(table, s)
	return c.faults
}

// Delay returns the delay that s describes. The error is the first fault.
func (s *DelaySpec) Delay() (Delay, error) {
	var c specCheck
	d := c.delay("", s)
	return d, c.first()
}

// delayKinds returns the values of DelaySpec.Dist and their keys.
func delayKinds() []specKind {
	return []specKind{
		{"constant", []string{"value"}},
		{"uniform", []string{"min", "max"}},
		{"exponential", []string{"mean", "min", "max"}},
		{"normal", []string{"mean", "stddev", "min", "max"}},
		{"lognormal", []string{"mean", "sigma", "min", "max"}},
		{"knots", []string{"p", "values", "min", "max"}},
		{"mixture", []string{"parts", "min", "max"}},
	}
}

// delay checks the spec at key and returns the Delay that it describes, which
// means something only if no fault was added.
func (c *specCheck) delay(key string, s *DelaySpec) Delay {
	if s == nil {
		c.add(key, `missing; write for example { dist = "constant", value = "5ms" }`)
		return Delay{}
	}
	c.weightless(key, s.Weight)
	return c.delayPart(key, s)
}

// delayPart is delay for a spec that may have a weight.
func (c *specCheck) delayPart(key string, s *DelaySpec) Delay {
	keys := []specKey{
		{"value", s.Value != nil}, {"mean", s.Mean != nil}, {"stddev", s.Stddev != nil},
		{"sigma", s.Sigma != nil}, {"p", s.P != nil}, {"values", s.Values != nil},
		{"parts", s.Parts != nil}, {"min", s.Min != nil}, {"max", s.Max != nil},
	}
	before := len(c.faults)
	if !c.kind(key, "dist", s.Dist, delayKinds(), keys) {
		return Delay{}
	}
	if s.Dist == "constant" {
		return Delay{constant: c.span(sub(key, "value"), s.Value, 0, MaxDelay, "a duration")}
	}
	lo, hi := sim.Duration(0), MaxDelay
	if s.Min != nil || s.Dist == "uniform" {
		lo = c.span(sub(key, "min"), s.Min, 0, MaxDelay, "a duration")
	}
	if s.Max != nil || s.Dist == "uniform" {
		hi = c.span(sub(key, "max"), s.Max, 0, MaxDelay, "a duration")
	}
	if len(c.faults) == before && lo > hi {
		c.add(sub(key, "min"), "is %v, above max, which is %v", lo, hi)
	}
	bounded := boundedLaw{c.delayLaw(key, s), float64(lo), float64(hi)}
	if len(c.faults) == before {
		if p, _ := bounded.inside(); p < leastShare {
			c.add(key, "%.2g %% of what this distribution draws lies from %v to %v; at least %g %% is needed: change min or max, or the distribution",
				100*p, lo, hi, 100*leastShare)
		}
	}
	return Delay{law: bounded}
}

func (c *specCheck) delayLaw(key string, s *DelaySpec) law {
	mean := func() float64 {
		return float64(c.span(sub(key, "mean"), s.Mean, sim.Picosecond, MaxDelay, "a mean"))
	}
	switch s.Dist {
	case "uniform":
		if s.Min == nil || s.Max == nil {
			return nil
		}
		return knotLaw{percentKnots([]float64{0, 100}, []float64{float64(*s.Min), float64(*s.Max)})}
	case "exponential":
		return exponentialLaw{mean()}
	case "normal":
		stddev := c.span(sub(key, "stddev"), s.Stddev, 0, MaxDelay, "a standard deviation")
		return normalLaw{mean(), float64(stddev)}
	case "lognormal":
		sigma := c.real(sub(key, "sigma"), s.Sigma, 0.001, 5, "a standard deviation of the logarithm")
		return lognormalLaw{portable.Log(max(mean(), 1)) - float64(sigma*sigma/2), sigma}
	case "knots":
		c.percents(sub(key, "p"), s.P, len(s.Values))
		rising(c, sub(key, "values"), s.Values, 0, MaxDelay)
		values := make([]float64, min(len(s.P), len(s.Values)))
		for i := range values {
			values[i] = float64(s.Values[i])
		}
		return knotLaw{percentKnots(s.P[:len(values)], values)}
	}
	return c.mixLaw(key, s)
}

func (c *specCheck) mixLaw(key string, s *DelaySpec) law {
	if len(s.Parts) == 0 {
		c.add(sub(key, "parts"), "missing or empty; a mixture needs at least one part")
		return nil
	}
	x, weights := mixLaw{}, make([]float64, len(s.Parts))
	for i := range s.Parts {
		at := indexed(sub(key, "parts"), i)
		weights[i] = c.weight(sub(at, "weight"), s.Parts[i].Weight)
		if s.Parts[i].Dist == "mixture" {
			c.add(sub(at, "dist"), "is a mixture in a mixture; list its parts here instead")
			continue
		}
		part := c.delayPart(at, &s.Parts[i])
		if d, ok := part.Constant(); ok {
			x.parts = append(x.parts, constantLaw(d))
		} else {
			x.parts = append(x.parts, part.law)
		}
	}
	x.upTo = cumulate(weights)
	return x
}

// canBeZero reports whether draws round to 0 with a probability that counts,
// over one in a thousand.
func (d Delay) canBeZero() bool {
	if d.law == nil {
		return d.constant == 0
	}
	p, _ := d.law.below(0.5)
	return p > 0.001
}
