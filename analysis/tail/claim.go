package tail

import (
	"errors"
	"fmt"
	"strings"

	"servesim/analysis"
	"servesim/sim"
)

// Claim is what somebody says of a population.
type Claim struct {
	// Of is what it is about: nil for the mean.
	Of *analysis.Percentile
	// Value is what is said, and Unit that of its last digit.
	Value, Unit sim.Duration
}

// ParseClaims reads claims such as "mean 9ms, p99 65ms". All faults are told at once.
func ParseClaims(text string) ([]Claim, error) {
	var list []Claim
	var faults []error
	for word := range strings.SplitSeq(text, ",") {
		c, err := parseClaim(strings.Fields(word))
		if err != nil {
			faults = append(faults, fmt.Errorf("claim %q: %w", strings.TrimSpace(word), err))
			continue
		}
		list = append(list, c)
	}
	return list, errors.Join(faults...)
}

// parseClaim reads a claim.
func parseClaim(words []string) (c Claim, err error) {
	if len(words) != 2 {
		return c, errors.New("write mean or a percentile, and a duration, such as p99 65ms")
	}
	if words[0] != "mean" {
		at, err := analysis.ParsePercentile(words[0])
		if err != nil {
			return c, err
		}
		c.Of = &at
	}
	if c.Value, err = sim.ParseDuration(words[1]); err != nil {
		return c, err
	}
	number := strings.TrimRight(words[1], "munpsµ")
	if strings.Trim(number, "0123456789.") != "" {
		return c, fmt.Errorf("%q has more than one unit", words[1])
	}
	if c.Unit, err = sim.ParseDuration("1" + words[1][len(number):]); err != nil {
		return c, err
	}
	if _, decimals, ok := strings.Cut(number, "."); ok {
		for range decimals {
			c.Unit /= 10
		}
	}
	return c, nil
}

// Name returns what c is about: mean, or the percentile.
func (c *Claim) Name() string {
	if c.Of == nil {
		return "mean"
	}
	return c.Of.String()
}

// Check returns what c is about in p, in ps, and whether c is right to its last digit.
func (c *Claim) Check(p *Population) (is float64, right bool) {
	if is = p.Mean(); c.Of != nil {
		is = float64(p.Quantile(*c.Of))
	}
	off := is - float64(c.Value)
	return is, max(off, -off) <= float64(c.Unit)/2
}

// Longest returns the longest gap there is in p; ok is false if any can be.
func (p *Population) Longest() (d sim.Duration, ok bool) {
	return p.Parts[len(p.Parts)-1].Median, p.fixed()
}
