package workload

import "servesim/internal/portable"

// LengthSpec describes a Length in a scenario file. Which keys it needs follows
// from dist:
//
//	{ dist = "constant", value = 250 }
//	{ dist = "uniform", min = 100, max = 500 }
//	{ dist = "normal", mean = 800, stddev = 300 }
//	{ dist = "lognormal", mean = 1000, sigma = 0.8, max = 8192 }
//	{ dist = "lognormal", mu = 6.6, sigma = 0.8 }
//	{ dist = "knots", p = [0, 50, 99, 100], values = [2, 1020, 4142, 14050] }
//	{ dist = "mixture", parts = [{ weight = 9, dist = "constant", value = 100 },
//	                             { weight = 1, dist = "constant", value = 9000 }] }
//	{ dist = "by_prompt", prompt_up_to = [512, 1024], p = [0, 50, 100],
//	  values_by_prompt = [[1, 200, 900], [1, 90, 400]] }
//
// All but constant take min and max, the limits of what is drawn: the
// distribution is the one described, given that the value lies within.
type LengthSpec struct {
	// Dist names the distribution.
	Dist string `toml:"dist"`
	// Value is the number of tokens of a constant.
	Value *int64 `toml:"value"`
	// Mean is the mean in tokens of a normal or a lognormal, before limits. A
	// normal is rounded down and drawn again until it is positive, as LLMPerf
	// does with --mean-input-tokens and --stddev-input-tokens
	// (sample_random_positive_int); a lognormal is rounded to the nearest.
	Mean *float64 `toml:"mean"`
	// Stddev is the standard deviation in tokens of a normal; 0 is allowed.
	Stddev *float64 `toml:"stddev"`
	// Mu is the mean of the logarithm of a lognormal, instead of Mean: the
	// median is exp(mu).
	Mu *float64 `toml:"mu"`
	// Sigma is the standard deviation of the logarithm of a lognormal.
	Sigma *float64 `toml:"sigma"`
	// P holds cumulative probabilities in percent, rising from 0 to 100, for
	// knots and by_prompt.
	P []float64 `toml:"p"`
	// Values holds for each of P the number of tokens that this share of
	// requests does not exceed. In between, the distribution function is
	// linear. The first value is where the distribution begins: values above
	// it are drawn.
	Values []int64 `toml:"values"`
	// PromptUpTo holds the longest prompt, in tokens, of each bin of by_prompt,
	// rising. Longer prompts than the last belong to the last bin.
	PromptUpTo []int64 `toml:"prompt_up_to"`
	// ValuesByPrompt holds for each bin what Values is for knots.
	ValuesByPrompt [][]int64 `toml:"values_by_prompt"`
	// Parts are the distributions of a mixture, each with a Weight.
	Parts []LengthSpec `toml:"parts"`
	// Weight is the share of this part of a mixture; only ratios count.
	Weight *float64 `toml:"weight"`
	// Min is the fewest tokens, 1 or more; the default is 1.
	Min *int64 `toml:"min"`
	// Max is the most tokens; the default is MaxTokens.
	Max *int64 `toml:"max"`
}

// lengthKinds returns the values of LengthSpec.Dist and their keys.
func lengthKinds() []specKind {
	return []specKind{
		{"constant", []string{"value"}},
		{"uniform", []string{"min", "max"}},
		{"normal", []string{"mean", "stddev", "min", "max"}},
		{"lognormal", []string{"mean", "mu", "sigma", "min", "max"}},
		{"knots", []string{"p", "values", "min", "max"}},
		{"mixture", []string{"parts", "min", "max"}},
		{"by_prompt", []string{"prompt_up_to", "p", "values_by_prompt", "min", "max"}},
	}
}

// leastShare is the least part of a distribution that limits may leave: below
// it, drawing until a value fits takes over a hundred draws on average.
const leastShare = 0.01

// length checks the spec at key and returns the Length that it describes,
// which means something only if no fault was added.
func (c *specCheck) length(key string, s *LengthSpec) Length {
	if s == nil {
		c.add(key, `missing; write for example { dist = "lognormal", mean = 1000, sigma = 0.8 }`)
		return Length{}
	}
	c.weightless(key, s.Weight)
	return c.lengthPart(key, s)
}

// lengthPart is length for a spec that may have a weight.
func (c *specCheck) lengthPart(key string, s *LengthSpec) Length {
	keys := []specKey{
		{"value", s.Value != nil}, {"mean", s.Mean != nil}, {"stddev", s.Stddev != nil},
		{"mu", s.Mu != nil}, {"sigma", s.Sigma != nil}, {"p", s.P != nil}, {"values", s.Values != nil},
		{"prompt_up_to", s.PromptUpTo != nil}, {"values_by_prompt", s.ValuesByPrompt != nil},
		{"parts", s.Parts != nil}, {"min", s.Min != nil}, {"max", s.Max != nil},
	}
	before := len(c.faults)
	if !c.kind(key, "dist", s.Dist, lengthKinds(), keys) {
		return Length{}
	}
	l := Length{lo: 1, hi: MaxTokens}
	if s.Min != nil || s.Dist == "uniform" {
		l.lo = c.whole(sub(key, "min"), s.Min, 1, MaxTokens, "a number of tokens")
	}
	if s.Max != nil || s.Dist == "uniform" {
		l.hi = c.whole(sub(key, "max"), s.Max, 1, MaxTokens, "a number of tokens")
	}
	if len(c.faults) == before && l.lo > l.hi {
		c.add(sub(key, "min"), "is %d, above max, which is %d", l.lo, l.hi)
	}
	l.tokens = c.tokens(key, s)
	if len(c.faults) == before {
		if p, _ := l.tokens.inside(l.lo, l.hi); p < leastShare {
			c.add(key, "%.2g %% of what this distribution draws lies from %d to %d tokens; at least %g %% is needed: change min or max, or the distribution",
				100*p, l.lo, l.hi, 100*leastShare)
		}
	}
	return l
}

func (c *specCheck) tokens(key string, s *LengthSpec) tokens {
	switch s.Dist {
	case "constant":
		return constantTokens(c.whole(sub(key, "value"), s.Value, 1, MaxTokens, "a number of tokens"))
	case "uniform":
		if s.Min == nil || s.Max == nil {
			return nil
		}
		return knotTokens{percentKnots([]float64{0, 100}, []int64{*s.Min - 1, *s.Max})}
	case "normal":
		mean := c.real(sub(key, "mean"), s.Mean, 0, MaxTokens, "a mean in tokens")
		stddev := c.real(sub(key, "stddev"), s.Stddev, 0, MaxTokens, "a standard deviation in tokens")
		return roundedTokens{normalLaw{mean, stddev}, 0}
	case "lognormal":
		return roundedTokens{c.lognormal(key, s), 0.5}
	case "knots":
		c.percents(sub(key, "p"), s.P, len(s.Values))
		rising(c, sub(key, "values"), s.Values, 0, MaxTokens)
		n := min(len(s.P), len(s.Values))
		return knotTokens{percentKnots(s.P[:n], s.Values[:n])}
	case "mixture":
		return c.mixTokens(key, s)
	}
	return c.promptTokens(key, s)
}

func (c *specCheck) lognormal(key string, s *LengthSpec) law {
	sigma := c.real(sub(key, "sigma"), s.Sigma, 0.001, 5, "a standard deviation of the logarithm")
	if (s.Mean == nil) == (s.Mu == nil) {
		c.add(key, "a lognormal needs either mean, in tokens, or mu, the mean of the logarithm")
		return lognormalLaw{}
	}
	if s.Mu != nil {
		return lognormalLaw{c.real(sub(key, "mu"), s.Mu, 0, portable.Log(MaxTokens), "a mean of the logarithm"), sigma}
	}
	mean := c.real(sub(key, "mean"), s.Mean, 1, MaxTokens, "a mean in tokens")
	return lognormalLaw{portable.Log(max(mean, 1)) - float64(sigma*sigma/2), sigma}
}

func (c *specCheck) mixTokens(key string, s *LengthSpec) tokens {
	if len(s.Parts) == 0 {
		c.add(sub(key, "parts"), "missing or empty; a mixture needs at least one part")
		return nil
	}
	x, weights := mixTokens{}, make([]float64, len(s.Parts))
	for i := range s.Parts {
		at := indexed(sub(key, "parts"), i)
		weights[i] = c.weight(sub(at, "weight"), s.Parts[i].Weight)
		if s.Parts[i].Dist == "mixture" {
			c.add(sub(at, "dist"), "is a mixture in a mixture; list its parts here instead")
			continue
		}
		x.parts = append(x.parts, c.lengthPart(at, &s.Parts[i]))
	}
	x.upTo = cumulate(weights)
	return x
}

func (c *specCheck) promptTokens(key string, s *LengthSpec) tokens {
	bins := len(s.ValuesByPrompt)
	if bins == 0 || bins != len(s.PromptUpTo) {
		c.add(sub(key, "values_by_prompt"), "has %d rows, but prompt_up_to has %d bounds; each bin needs both", bins, len(s.PromptUpTo))
		return nil
	}
	rising(c, sub(key, "prompt_up_to"), s.PromptUpTo, 1, MaxTokens)
	c.percents(sub(key, "p"), s.P, -1)
	t := promptTokens{}
	for i, row := range s.ValuesByPrompt {
		at := indexed(sub(key, "values_by_prompt"), i)
		if len(row) != len(s.P) {
			c.add(at, "has %d values, but p has %d; each percentage needs one", len(row), len(s.P))
			continue
		}
		rising(c, at, row, 0, MaxTokens)
		t.upTo = append(t.upTo, int32(s.PromptUpTo[i]))
		t.bins = append(t.bins, knotTokens{percentKnots(s.P, row)})
	}
	return t
}

// dependsOnPrompt reports whether the spec, or a part of it, is by_prompt.
func (s *LengthSpec) dependsOnPrompt() bool {
	if s == nil {
		return false
	}
	for i := range s.Parts {
		if s.Parts[i].dependsOnPrompt() {
			return true
		}
	}
	return s.Dist == "by_prompt"
}

// Length returns the length that s describes. The error is the first fault.
func (s *LengthSpec) Length() (Length, error) {
	var c specCheck
	l := c.length("", s)
	return l, c.first()
}
