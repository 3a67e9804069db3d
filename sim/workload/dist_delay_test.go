package workload

import (
	"math"
	"strings"
	"testing"

	"servesim/sim"
)

func TestDelay(t *testing.T) {
	if d, ok := (Delay{}).Constant(); d != 0 || !ok {
		t.Errorf("the zero Delay is %v, %v; want constant 0", d, ok)
	}
	src := sim.Seed(1).Stream("x")
	before := *src
	if d := ConstantDelay(5 * sim.Millisecond).Draw(src); d != 5*sim.Millisecond || *src != before {
		t.Errorf("a constant delay drew %v, or drew from the source", d)
	}
	mean := 2 * sim.Second
	d, err := (&DelaySpec{Dist: "exponential", Mean: &mean}).Delay()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Constant(); ok {
		t.Error("an exponential delay says it is constant")
	}
	const n = 100_000
	sample := make([]float64, n)
	for i := range sample {
		v := d.Draw(src)
		if v < 0 || v > MaxDelay {
			t.Fatalf("drew %v", v)
		}
		sample[i] = v.Seconds()
	}
	if got := ks(sample, func(x float64) float64 { return 1 - math.Exp(-max(x, 0)/2) }); got > ksBound/math.Sqrt(n) {
		t.Errorf("distance from an exponential of mean 2 s is %.4f", got)
	}
	if allocs := testing.AllocsPerRun(1000, func() { d.Draw(src) }); allocs != 0 {
		t.Errorf("Draw allocates %v times", allocs)
	}
}

// TestDelaysFollowTheirLaws draws from each kind of delay and compares with its
// distribution function, written out here in seconds.
func TestDelaysFollowTheirLaws(t *testing.T) {
	s, ms := func(x float64) *sim.Duration { d, _ := sim.FromSeconds(x); return &d }, sim.Millisecond
	normal := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	step := func(at, x float64) float64 {
		if x < at {
			return 0
		}
		return 1
	}
	inUnit := func(x float64) float64 { return min(max(x, 0), 1) }
	for _, c := range []struct {
		name string
		spec DelaySpec
		cdf  func(x float64) float64
		mean float64
	}{
		{"uniform", DelaySpec{Dist: "uniform", Min: s(1), Max: s(3)}, func(x float64) float64 { return inUnit((x - 1) / 2) }, 2},
		{"normal below 0", DelaySpec{Dist: "normal", Mean: s(1), Stddev: s(1)},
			func(x float64) float64 { return max(0, normal(x-1)-normal(-1)) / normal(1) },
			1 + math.Exp(-0.5)/math.Sqrt(2*math.Pi)/normal(1)},
		{"lognormal", DelaySpec{Dist: "lognormal", Mean: s(1), Sigma: pointer(0.5)},
			func(x float64) float64 { return normal((math.Log(max(x, 1e-300)) + 0.125) / 0.5) }, 1},
		{"exponential up to 1 s", DelaySpec{Dist: "exponential", Mean: s(1), Max: s(1)},
			func(x float64) float64 { return (1 - math.Exp(-inUnit(x))) / (1 - math.Exp(-1)) }, 1 - 1/(math.E-1)},
		{"knots", DelaySpec{Dist: "knots", P: []float64{0, 50, 100}, Values: []sim.Duration{0, 500 * ms, 2500 * ms}},
			func(x float64) float64 { return inUnit(max(min(x, 0.5), 0) + max(0, x-0.5)/4) }, 0.875},
		{"mixture", DelaySpec{Dist: "mixture", Parts: []DelaySpec{
			{Weight: pointer(3.0), Dist: "constant", Value: s(2)}, {Weight: pointer(1.0), Dist: "uniform", Min: s(0), Max: s(1)}}},
			func(x float64) float64 { return 0.75*step(2, x) + 0.25*inUnit(x) }, 1.625},
	} {
		d, err := c.spec.Delay()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		const n = 50_000
		src, sample := sim.Seed(2).Stream(c.name), make([]float64, n)
		for i := range sample {
			sample[i] = d.Draw(src).Seconds()
		}
		if got := ks(sample, c.cdf); got > ksBound/math.Sqrt(n) {
			t.Errorf("%s: distance %.4f, want at most %.4f", c.name, got, ksBound/math.Sqrt(n))
		}
		if got := d.meanPs() / psPerSecond; math.Abs(got/c.mean-1) > 1e-9 {
			t.Errorf("%s: mean %g s, want %g", c.name, got, c.mean)
		}
	}
}

func TestBadDelays(t *testing.T) {
	second := pointer(sim.Second)
	for _, c := range []struct {
		spec *DelaySpec
		want string
	}{
		{nil, `network.request: missing; write for example { dist = "constant", value = "5ms" }`},
		{&DelaySpec{}, "network.request.dist: missing; choose one of constant, uniform, exponential, normal, lognormal, knots, mixture"},
		{&DelaySpec{Dist: "constant"}, "network.request.value: missing; a duration from 0s to 86400s is needed"},
		{&DelaySpec{Dist: "constant", Value: pointer(-sim.Second)}, "network.request.value: is -1s; a duration from 0s to 86400s is allowed"},
		{&DelaySpec{Dist: "constant", Value: second, Max: second}, `network.request.max: has no meaning with dist = "constant", whose keys are value; remove it`},
		{&DelaySpec{Dist: "constant", Value: second, Weight: pointer(1.0)}, "network.request.weight: has no meaning outside a mixture; remove it"},
		{&DelaySpec{Dist: "exponential", Mean: pointer(sim.Duration(0))}, "network.request.mean: is 0s; a mean from 1ps to 86400s is allowed"},
		{&DelaySpec{Dist: "normal", Mean: second}, "network.request.stddev: missing; a standard deviation from 0s to 86400s is needed"},
		{&DelaySpec{Dist: "lognormal", Mean: second, Sigma: pointer(math.NaN())}, "network.request.sigma: is NaN; "},
		{&DelaySpec{Dist: "uniform", Min: second}, "network.request.max: missing; "},
		{&DelaySpec{Dist: "uniform", Min: second, Max: pointer(sim.Duration(1))}, "network.request.min: is 1s, above max, which is 1ps"},
		{&DelaySpec{Dist: "exponential", Mean: second, Min: pointer(sim.Minute)}, "network.request: 0 % of what this distribution draws lies from 60s to 86400s; at least 1 % is needed"},
		{&DelaySpec{Dist: "knots", P: []float64{0, 100}, Values: []sim.Duration{5, 4}}, "network.request.values: entry 2 is 4ps after 5ps; values must not fall"},
		{&DelaySpec{Dist: "knots", P: []float64{0, 100}, Values: []sim.Duration{-1, 4}}, "network.request.values: entry 1 is -1ps; values from 0s to 86400s are allowed"},
		{&DelaySpec{Dist: "knots", P: []float64{0}, Values: []sim.Duration{4}}, "network.request.p: has 1 entries; at least 2 are needed, rising from 0 to 100"},
		{&DelaySpec{Dist: "mixture"}, "network.request.parts: missing or empty; a mixture needs at least one part"},
		{&DelaySpec{Dist: "mixture", Parts: []DelaySpec{{Dist: "mixture", Weight: pointer(1.0)}}},
			"network.request.parts[0].dist: is a mixture in a mixture; list its parts here instead"},
	} {
		faults := c.spec.Check("network.request")
		if len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), c.want) {
			t.Errorf("faults %q, want one: %q", faults, c.want)
		}
	}
}
