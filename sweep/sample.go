package sweep

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"servesim/internal/portable"
	"servesim/scenario"
	"servesim/sim"
)

// sample draws points instead of crossing values.
type sample struct {
	Method string         `toml:"method"`
	Points int64          `toml:"points"`
	Seed   uint64         `toml:"seed"`
	Keys   scenario.Table `toml:"keys"`
}

// The methods of drawing.
const (
	latinHypercube = "latin-hypercube"
	randomly       = "random"
)

// A span is what values of a key are drawn from: the numbers from low to high, or
// choices.
type span struct {
	low, high float64
	whole     bool // whole numbers, high included
	log       bool // the logarithms are uniform
	choices   []any
}

// sample draws the points of s.
func (r *reader) sample(s *sample) {
	if s == nil {
		return
	}
	before := len(r.faults)
	if s.Method != latinHypercube && s.Method != randomly {
		r.fault("sample.method", "found %q; must be %q, or %q", s.Method, latinHypercube, randomly)
	}
	if s.Points < 1 || s.Points > maxPoints {
		r.fault("sample.points", "found %d; must be from 1 to %d points", s.Points, maxPoints)
	}
	if len(s.Keys) == 0 {
		r.fault("sample.keys", "missing; give each key that is drawn a range, such as rate_per_s = { low = 1.0, high = 8.0 }, or a list")
	}
	entries := scenario.Entries("sample.keys", s.Keys, r.where, "low", "high")
	spans := make([]span, len(entries))
	for i, e := range entries {
		spans[i] = r.span(e)
	}
	if len(r.faults) > before {
		return
	}
	if r.many { // one shows what is wrong with keys
		s.Points = 1
	}
	draws := make([]choice, s.Points)
	for i, e := range entries {
		for k, u := range units(s, e.Key) {
			one, ok := r.setting(scenario.Entry{Key: e.Key, Path: e.Path, Value: spans[i].at(u)})
			if !ok {
				break // the key is at fault, with every value
			}
			draws[k] = append(draws[k], one)
		}
	}
	if len(r.faults) == before {
		r.axesOf(draws[0])
		r.plan.draws = draws
	}
}

// units draws a number from 0 to 1 for each point, from a stream of the key: one
// more key moves no draw of the others. A Latin hypercube has one number in each
// of as many strata as there are points (McKay, Beckman and Conover, Technometrics
// 21, 1979).
func units(s *sample, key string) []float64 {
	src := sim.Seed(s.Seed).Stream("sweep.sample " + key)
	list := make([]float64, s.Points)
	for i := range list {
		list[i] = unit(src)
		if s.Method == latinHypercube {
			list[i] = (float64(i) + list[i]) / float64(s.Points)
		}
	}
	if s.Method == latinHypercube {
		for i := len(list) - 1; i > 0; i-- { // Fisher and Yates
			k := int(float64(unit(src) * float64(i+1)))
			list[i], list[k] = list[k], list[i]
		}
	}
	return list
}

// unit draws a number from 0 up to and without 1.
func unit(src *rand.PCG) float64 { return float64(src.Uint64()>>11) / (1 << 53) }

// span reads what the values of an entry are drawn from.
func (r *reader) span(e scenario.Entry) span {
	if list := listOf(e.Value); list != nil {
		if len(list) == 0 {
			r.fault(e.Path, "is an empty list; give values to choose from")
		}
		return span{choices: list}
	}
	t, ok := e.Value.(map[string]any)
	if !ok {
		r.fault(e.Path, "found %s; must be a range, such as { low = 1.0, high = 8.0 }, or a list to choose from", scenario.ValueText(e.Value))
		return span{}
	}
	s := span{whole: true}
	number := func(key string) float64 {
		switch v := t[key].(type) {
		case int64:
			return float64(v)
		case float64:
			s.whole = false
			return v
		}
		r.fault(e.Path, "has %s; %s must be a number, such as { low = 1.0, high = 8.0 }", scenario.ValueText(t), key)
		return math.NaN()
	}
	s.low, s.high = number("low"), number("high")
	for _, key := range slices.Sorted(maps.Keys(t)) {
		switch v := t[key]; {
		case key == "low" || key == "high":
		case key == "scale" && (v == "log" || v == "linear"):
			s.log = v == "log"
		case key == "scale":
			r.fault(e.Path, "found scale %s; must be \"linear\", which is the default, or \"log\"", scenario.ValueText(v))
		default:
			r.fault(e.Path, "unknown key %q; a range has low, high and scale", key)
		}
	}
	if s.low >= s.high {
		r.fault(e.Path, "low, %v, must be less than high, %v", s.low, s.high)
	}
	if s.log && s.low <= 0 {
		r.fault(e.Path, "low, %v, must be more than 0 on a logarithmic scale", s.low)
	}
	return s
}

// at returns the value at u, from 0 to 1: of numbers that aren't whole, to six
// digits, so that the value can be read and given again.
func (s span) at(u float64) any {
	if s.choices != nil {
		return s.choices[int(float64(u*float64(len(s.choices))))]
	}
	low, high := s.low, s.high
	if s.whole {
		high++
	}
	x := low + float64(u*(high-low))
	if s.log {
		x = portable.Exp(portable.Log(low) + float64(u*(portable.Log(high)-portable.Log(low))))
	}
	if s.whole {
		return int64(min(max(math.Floor(x), s.low), s.high))
	}
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	return min(max(x, s.low), s.high)
}
