package tail

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"servesim/internal/portable"
	"servesim/sim"
)

// Part is a part of a population of gaps.
type Part struct {
	// Count is the number of gaps, if the population is of counts.
	Count int64
	// Share is that of all gaps, from 0 to 1.
	Share float64
	// Median is the gap, or the median of a lognormal with Sigma > 0, the standard
	// deviation of the logarithm of the gap.
	Median sim.Duration
	Sigma  float64
}

// Population is gaps between tokens, by parts that ascend by Median.
type Population struct {
	Parts []Part
	// Total is the number of gaps; 0 if the parts are shares of any number.
	Total int64
}

// The most that a population may have.
const (
	maxParts = 16
	maxTotal = 1_000_000_000
	maxGap   = sim.Duration(1e15) // 1,000 s
	maxSigma = 3.0
)

// Parse reads a population, as in
//
//	500 at 7ms, 20 at 60ms
//	99% at 7ms sigma 0.2, 1% at 60ms
//
// In EBNF, blanks being free between tokens:
//
//	population = part { "," part } .
//	part       = ( count | percent "%" ) "at" duration [ "sigma" number ] .
//	duration   = number ( "s" | "ms" | "us" | "µs" | "ns" | "ps" ) .
//
// All parts are counts or all are percentages, which add up to 100. With sigma,
// a part is lognormal and its duration the median. All faults are told at once.
func Parse(text string) (*Population, error) {
	var p Population
	var faults []error
	var percent int64 // in parts of a billion of 100 %
	counted, shared := false, false
	for i, word := range strings.Split(text, ",") {
		part, ppb, err := parsePart(word)
		if err != nil {
			faults = append(faults, fmt.Errorf("part %d, %q: %w", i+1, strings.TrimSpace(word), err))
			continue
		}
		counted, shared = counted || part.Count > 0, shared || part.Count == 0
		p.Total += part.Count
		percent += ppb
		p.Parts = append(p.Parts, part)
	}
	switch {
	case len(faults) > 0:
	case len(p.Parts) > maxParts:
		faults = append(faults, fmt.Errorf("%d parts; at most %d are taken", len(p.Parts), maxParts))
	case counted && shared:
		faults = append(faults, errors.New("some parts are counts and some percentages; write all as one or as the other"))
	case shared && percent != 1_000_000_000:
		faults = append(faults, fmt.Errorf("the percentages add up to %s; they must to 100", strconv.FormatFloat(float64(percent)/1e7, 'f', -1, 64)))
	case p.Total > maxTotal:
		faults = append(faults, fmt.Errorf("%d gaps; at most %d are taken, or write percentages", p.Total, int64(maxTotal)))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	for i := range p.Parts {
		if counted {
			p.Parts[i].Share = float64(p.Parts[i].Count) / float64(p.Total)
		}
	}
	slices.SortStableFunc(p.Parts, func(a, b Part) int { return int(min(1, max(-1, a.Median-b.Median))) })
	return &p, nil
}

// parsePart reads a part, with its share in parts of a billion if it isn't a count.
func parsePart(text string) (p Part, ppb int64, err error) {
	const form = "write COUNT at DURATION, such as 500 at 7ms, or PERCENT% at DURATION sigma NUMBER"
	amount, rest, ok := strings.Cut(strings.TrimSpace(text), " at ")
	words := strings.Fields(rest)
	if !ok || len(words) != 1 && (len(words) != 3 || words[1] != "sigma") {
		return p, 0, errors.New(form)
	}
	amount = strings.TrimSpace(amount)
	if number, isShare := strings.CutSuffix(amount, "%"); isShare {
		share, err := parsePercent(strings.TrimSpace(number))
		if err != nil {
			return p, 0, err
		}
		p.Share, ppb = float64(share)/1e9, share
	} else if p.Count, err = strconv.ParseInt(amount, 10, 64); err != nil || p.Count < 1 || p.Count > maxTotal {
		return p, 0, fmt.Errorf("%q is not a number of gaps from 1 to %d, nor a percentage", amount, int64(maxTotal))
	}
	if p.Median, err = sim.ParseDuration(words[0]); err != nil || p.Median <= 0 || p.Median > maxGap {
		return p, 0, fmt.Errorf("%q is not a gap above 0 and up to 1,000 s; write it with its unit, such as 7ms", words[0])
	}
	if len(words) == 3 {
		p.Sigma, err = strconv.ParseFloat(words[2], 64)
		if err != nil || !(p.Sigma > 0 && p.Sigma <= maxSigma) {
			return p, 0, fmt.Errorf("sigma %q is not above 0 and up to %v", words[2], maxSigma)
		}
	}
	return p, ppb, nil
}

// parsePercent reads a percentage above 0 and up to 100, in parts of a billion of 100.
func parsePercent(s string) (int64, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if len(frac) <= 7 && len(whole) <= 3 && strings.Trim(whole+frac, "0123456789") == "" && whole != "" {
		if n, err := strconv.ParseInt(whole+frac+"0000000"[len(frac):], 10, 64); err == nil && n > 0 && n <= 1_000_000_000 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%q is not a percentage above 0 and up to 100, with at most 7 decimals", s)
}

// String writes p as Parse reads it.
func (p *Population) String() string {
	var parts []string
	for i := range p.Parts {
		q := &p.Parts[i]
		amount := strconv.FormatInt(q.Count, 10)
		if p.Total == 0 {
			amount = strconv.FormatFloat(math.Round(float64(q.Share*1e9))/1e7, 'f', -1, 64) + "%"
		}
		s := amount + " at " + q.Median.String()
		if q.Sigma > 0 {
			s += " sigma " + strconv.FormatFloat(q.Sigma, 'f', -1, 64)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

// fixed tells whether no part is spread.
func (p *Population) fixed() bool {
	return !slices.ContainsFunc(p.Parts, func(q Part) bool { return q.Sigma > 0 })
}

// Mean returns the mean gap in ps: the sum over parts of share × median ×
// exp(sigma²/2). It is exact, but for the rounding of floats, if nothing is spread.
func (p *Population) Mean() float64 {
	if p.fixed() && p.Total > 0 {
		var sum float64
		for i := range p.Parts {
			sum += float64(float64(p.Parts[i].Count) * float64(p.Parts[i].Median))
		}
		return sum / float64(p.Total)
	}
	var mean float64
	for i := range p.Parts {
		q := &p.Parts[i]
		mean += float64(float64(q.Share*float64(q.Median)) * portable.Exp(float64(q.Sigma*q.Sigma)/2))
	}
	return mean
}

// UpTo returns the share of gaps of at most d.
func (p *Population) UpTo(d sim.Duration) float64 {
	var share float64
	for i := range p.Parts {
		q := &p.Parts[i]
		switch {
		case q.Sigma == 0:
			if q.Median <= d {
				share += q.Share
			}
		case d > 0:
			z := (portable.Log(float64(d)) - portable.Log(float64(q.Median))) / q.Sigma
			share += float64(q.Share * 0.5 * portable.Erfc(-z/math.Sqrt2))
		}
	}
	return share
}

// least returns the smallest gap, in whole ps, of which holds is true. It is true
// from some gap on.
func least(holds func(d sim.Duration) bool) sim.Duration {
	lo, hi := sim.Duration(0), sim.Duration(1e18)
	for lo < hi {
		if mid := lo + (hi-lo)/2; holds(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
