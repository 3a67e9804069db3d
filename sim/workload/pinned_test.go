package workload

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"servesim/sim"
)

// pinnedDraws returns the first draws of each law from seed 1, as the integers
// that reach a result: tokens, or picoseconds. They are the same on every
// machine; a change of one changes every drawn workload that anyone has a result of.
func pinnedDraws() map[string][5]int64 {
	return map[string][5]int64{
		"arrivals, constant":    {333333333333, 666666666667, 1000000000000, 1333333333333, 1666666666667},
		"arrivals, gamma":       {187039685223, 191712916777, 370202541027, 460777305620, 726417278980},
		"arrivals, on_off":      {1554895280382, 2362153815660, 3667242718957, 4202135576801, 5359892191221},
		"arrivals, piecewise":   {897790489072, 920222000530, 1110996028132, 1173104438138, 1355257562727},
		"arrivals, poisson":     {59329728601, 382825180353, 696357485281, 974682058099, 1316410060688},
		"arrivals, tight gamma": {305716525651, 718285701410, 1036906118774, 1416277636148, 1704589714697},
		"arrivals, wide gamma":  {455581585361, 455583873197, 455584464287, 455584464287, 459261499111},
		"ps, exponential":       {2435472149633, 549666603312, 2147213930942, 957522940698, 23745090534},
		"ps, knots":             {175651164242, 408545425243721, 921560983718, 453737540994, 228179658536},
		"ps, lognormal":         {2076809547214, 1357744623229, 1450054241204, 1674662607244, 957605111492},
		"ps, mixture":           {1000000000000, 156713039019423, 1000000000000, 1450986584650, 1000000000000},
		"ps, normal":            {60422092009651, 60055040645188, 60216601405748, 60245946133662, 60547262816582},
		"ps, uniform":           {22795746873697, 6078707428893, 16279579116834, 54641854030488, 32537416906992},
		"tokens, by_prompt":     {135120, 892537, 331, 888026, 138443},
		"tokens, knots":         {889, 34715, 738, 26839, 22946},
		"tokens, lognormal":     {823, 9019, 9174, 81820, 4240},
		"tokens, mixture":       {64338, 176980, 5, 91336, 62313},
		"tokens, normal":        {565133, 513705, 779491, 461385, 659050},
		"tokens, uniform":       {626869, 819043, 160838, 659966, 344352},
	}
}

// pinnedLengths returns the lengths of pinnedDraws.
func pinnedLengths() map[string]LengthSpec {
	return map[string]LengthSpec{
		"tokens, uniform":   {Dist: "uniform", Min: pointer(int64(100)), Max: pointer(int64(1_000_000))},
		"tokens, normal":    {Dist: "normal", Mean: pointer(800_000.0), Stddev: pointer(300_000.0)},
		"tokens, lognormal": {Dist: "lognormal", Mean: pointer(100_000.0), Sigma: pointer(1.8)},
		"tokens, knots":     {Dist: "knots", P: []float64{0, 30, 99, 100}, Values: []int64{0, 1000, 70_000, 1_000_000}},
		"tokens, mixture": {Dist: "mixture", Parts: []LengthSpec{
			{Dist: "constant", Value: pointer(int64(5)), Weight: pointer(1.0)},
			{Dist: "lognormal", Mu: pointer(11.5), Sigma: pointer(0.5), Weight: pointer(2.0)}}},
		"tokens, by_prompt": {Dist: "by_prompt", PromptUpTo: []int64{10, 500}, P: []float64{0, 50, 100},
			ValuesByPrompt: [][]int64{{0, 1, 2}, {0, 10_000, 1_000_000}}},
	}
}

// pinnedDelays returns the delays of pinnedDraws.
func pinnedDelays() map[string]DelaySpec {
	return map[string]DelaySpec{
		"ps, uniform":     {Dist: "uniform", Min: pointer(sim.Second), Max: pointer(sim.Minute)},
		"ps, exponential": {Dist: "exponential", Mean: pointer(sim.Second)},
		"ps, normal":      {Dist: "normal", Mean: pointer(sim.Minute), Stddev: pointer(sim.Second)},
		"ps, lognormal":   {Dist: "lognormal", Mean: pointer(sim.Second), Sigma: pointer(0.5)},
		"ps, knots":       {Dist: "knots", P: []float64{0, 50, 100}, Values: []sim.Duration{0, sim.Second, sim.Hour}},
		"ps, mixture": {Dist: "mixture", Parts: []DelaySpec{
			{Dist: "constant", Value: pointer(sim.Second), Weight: pointer(1.0)},
			{Dist: "exponential", Mean: pointer(sim.Minute), Weight: pointer(3.0)}}},
	}
}

// pinnedArrivals returns the processes of pinnedDraws.
func pinnedArrivals() map[string]ArrivalSpec {
	return map[string]ArrivalSpec{
		"arrivals, constant":    {Process: "constant", RatePerS: pointer(3.0)},
		"arrivals, poisson":     {Process: "poisson", RatePerS: pointer(3.0)},
		"arrivals, gamma":       {Process: "gamma", RatePerS: pointer(3.0), CV: pointer(1.05)},
		"arrivals, wide gamma":  {Process: "gamma", RatePerS: pointer(3.0), CV: pointer(4.0)},
		"arrivals, tight gamma": {Process: "gamma", RatePerS: pointer(3.0), CV: pointer(0.3)},
		"arrivals, piecewise": {Process: "piecewise", RatesPerS: []float64{1, 7}, Window: pointer(sim.Second),
			Repeat: pointer(true), CV: pointer(1.05), RatePerS: pointer(2.5)},
		"arrivals, on_off": {Process: "on_off", RatePerS: pointer(2.0),
			BurstSize: &LengthSpec{Dist: "lognormal", Mu: pointer(0.5), Sigma: pointer(0.7)},
			Gap:       &DelaySpec{Dist: "lognormal", Mean: pointer(sim.Millisecond), Sigma: pointer(1.0)},
			Off:       &DelaySpec{Dist: "normal", Mean: pointer(sim.Second), Stddev: pointer(sim.Second)}},
	}
}

func TestDrawsArePinned(t *testing.T) {
	got := map[string][5]int64{}
	five := func(name string, draw func(*rand.PCG) int64) {
		src := sim.Seed(1).Stream(name)
		var list [5]int64
		for i := range list {
			list[i] = draw(src)
		}
		got[name] = list
	}
	for name, s := range pinnedLengths() {
		l, err := s.Length()
		if err != nil {
			t.Fatal(name, err)
		}
		five(name, func(src *rand.PCG) int64 { return int64(l.Draw(src, 100)) })
	}
	for name, s := range pinnedDelays() {
		d, err := s.Delay()
		if err != nil {
			t.Fatal(name, err)
		}
		five(name, func(src *rand.PCG) int64 { return int64(d.Draw(src)) })
	}
	for name, s := range pinnedArrivals() {
		var list [5]int64
		for i, at := range instants(t, startArrival(t, &s, 1), 6)[1:] { // all begin at 0
			list[i] = int64(at)
		}
		got[name] = list
	}
	want := pinnedDraws()
	for name, list := range got {
		if list != want[name] {
			t.Errorf("%q draws {%s}, pinned is %v", name, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(list)), ", "), "[]"), want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d laws are drawn and %d are pinned", len(got), len(want))
	}
}

// TestEveryLawIsPinned keeps the table whole: a constant has no draws.
func TestEveryLawIsPinned(t *testing.T) {
	pinned := map[string]bool{"tokens constant": true, "ps constant": true}
	for _, s := range pinnedLengths() {
		pinned["tokens "+s.Dist] = true
	}
	for _, s := range pinnedDelays() {
		pinned["ps "+s.Dist] = true
	}
	for _, s := range pinnedArrivals() {
		pinned["arrivals "+s.Process] = true
	}
	for unit, kinds := range map[string][]specKind{"tokens ": lengthKinds(), "ps ": delayKinds(), "arrivals ": arrivalKinds()} {
		for _, k := range kinds {
			if !pinned[unit+k.name] {
				t.Errorf("nothing pins the draws of %s%s", unit, k.name)
			}
		}
	}
}
