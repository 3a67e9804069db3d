package tail

import (
	"math"
	"strings"
	"testing"

	"servesim/analysis"
	"servesim/sim"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

const ms = sim.Millisecond

// parsed returns the population of text.
func parsed(t interface {
	Helper()
	Fatal(...any)
}, text string) *Population {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// levels returns percentiles.
func levels(t *testing.T, text string) []analysis.Percentile {
	t.Helper()
	ps, err := analysis.ParsePercentiles(text)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// TestTheToy checks 500 gaps of 7 ms and 20 of 60 ms by hand. The mean is
// (3500 + 1200)/520 = 9.038 ms. Ranks from 0 to 499 are 7 ms: P50 is at 259.5, P90
// at 467.1, P96 at 498.2, P99 at 513.8. P96.2 is at 499.278, 0.278 of the way from 7 to 60.
func TestTheToy(t *testing.T) {
	p := parsed(t, "500 at 7ms, 20 at 60ms")
	if got, want := p.Mean(), 4.7e12/520; got != want {
		t.Errorf("mean %v; want %v", got, want)
	}
	want := []sim.Duration{7 * ms, 7 * ms, 7 * ms, 21_734_000_000, 60 * ms, 60 * ms}
	for i, at := range levels(t, "50 90 96 96.2 99 max") {
		if got := p.Quantile(at); got != want[i] {
			t.Errorf("%v is %v; want %v", at, got, want[i])
		}
	}
	for text, right := range map[string]bool{
		"mean 9ms": true, "mean 9.04ms": true, "mean 9.05ms": false, "mean 10ms": false,
		"p99 65ms": false, "p99 60ms": true, "p50 7ms": true, "p99 0.06s": true, "p99 60.1ms": false,
	} {
		claims, err := ParseClaims(text)
		if err != nil || len(claims) != 1 {
			t.Fatal(text, err)
		}
		if is, got := claims[0].Check(p); got != right {
			t.Errorf("%s: %v, for it is %v; want %v", text, got, is, right)
		}
	}
}

// TestAnswersByHand has answers of two gaps, each 10 or, with probability 1/4, 30 ms:
// TPOT is 10, 20, 30 ms with probabilities 9/16, 6/16, 1/16.
func TestAnswersByHand(t *testing.T) {
	lab, err := Run(Options{
		Population: parsed(t, "75% at 10ms, 25% at 30ms"), Answers: []int64{2}, Draws: 1,
		Percentiles: levels(t, "50 56.25 56.26 93.75 94"),
		Limits:      []sim.Duration{30 * ms, 29 * ms, 20 * ms, 15 * ms, 9 * ms},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &lab.Answers[0]
	if !a.Exact || lab.Mean != 15e9 || a.Spiked != 7./16 {
		t.Errorf("exact %v, mean %v, spiked %v; want 15 ms and 7/16", a.Exact, lab.Mean, a.Spiked)
	}
	for i, want := range []sim.Duration{10, 10, 20, 20, 30} {
		if got := a.TPOT[i].Value; got != want*ms {
			t.Errorf("%v of TPOT is %v; want %v ms", a.TPOT[i].P, got, want)
		}
	}
	for i, want := range []sim.Duration{10, 10, 30, 30, 30} {
		if got := a.WorstGap[i]; got != want*ms {
			t.Errorf("%v of the worst gap is %v; want %v ms", a.TPOT[i].P, got, want)
		}
	}
	for i, want := range []float64{1, 15. / 16, 15. / 16, 9. / 16, 0} {
		if got := a.Within[i].Share; math.Abs(got-want) > 1e-15 {
			t.Errorf("within limit %d: %v; want %v", i, got, want)
		}
	}
	if m, ok := lab.Options.Population.MeanWorstOf(2); !ok || math.Abs(m-(9*10e9+7*30e9)/16) > 1e-3 {
		t.Errorf("the mean worst gap is %v; want 18.75 ms", m)
	}
}

// TestALognormal: the median is the median, P90 and P99 lie 1.2816 and 2.3263
// sigmas from it in the logarithm, the mean is exp(sigma²/2) times it.
func TestALognormal(t *testing.T) {
	p := parsed(t, "100% at 10ms sigma 0.5")
	d := distuv.LogNormal{Mu: math.Log(10e9), Sigma: 0.5}
	for _, at := range levels(t, "1 50 90 99 99.9") {
		if got, want := float64(p.Quantile(at)), d.Quantile(at.Fraction()); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v is %v; want %v", at, got, want)
		}
	}
	if got, want := p.Mean(), d.Mean(); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("mean %v; want %v", got, want)
	}
	if got, want := p.deviation(), d.StdDev(); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("deviation %v; want %v", got, want)
	}
}

func TestBinomial(t *testing.T) {
	for _, c := range []struct {
		n int64
		p float64
	}{{1, 0.5}, {10, 0.01}, {520, 20. / 520}, {100_000, 0.5}, {1_000_000, 0.01}} {
		upTo := binomial(c.n, c.p)
		b := distuv.Binomial{N: float64(c.n), P: c.p}
		for k := int64(0); k <= c.n; k += max(1, c.n/50) {
			if want := b.CDF(float64(k)); math.Abs(upTo[k]-want) > 1e-9 {
				t.Fatalf("at most %d of %d at %v: %v; want %v", k, c.n, c.p, upTo[k], want)
			}
		}
	}
}

// drawPopulation draws a population of shares or counts.
func drawPopulation(t *rapid.T) *Population {
	n := rapid.IntRange(1, 4).Draw(t, "parts")
	var words []string
	for range n {
		word := rapid.StringMatching(`[1-9][0-9]{0,2} at [1-9][0-9]?(\.[0-9])?ms`).Draw(t, "part")
		if rapid.Bool().Draw(t, "spread") {
			word += " sigma 0.3"
		}
		words = append(words, word)
	}
	return parsed(t, strings.Join(words, ", "))
}

// TestQuantilesInvertTheDistribution: up to a quantile lies at least its share,
// and up to a ps less doesn't; and the same of the worst of several.
func TestQuantilesInvertTheDistribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPopulation(t)
		at, err := analysis.ParsePercentile(rapid.StringMatching(`[1-9]?[0-9](\.[1-9])?`).Draw(t, "percentile"))
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.Int64Range(1, 1000).Draw(t, "gaps")
		w := p.WorstOf(n, at)
		if up, less := power(p.UpTo(w), n), power(p.UpTo(w-1), n); up < at.Fraction()-2*slack || w > 0 && less >= at.Fraction() {
			t.Fatalf("%v of the worst of %d in %v is %d, up to which %v lie, and %v a ps before", at, n, p, w, up, less)
		}
		if again := parsed(t, p.String()); again.String() != p.String() {
			t.Fatalf("%v reads back as %v", p, again)
		}
	})
}

// TestDrawsAgreeWithClosedForms draws what is exact as well, and compares: the
// exact share must lie within the drawn one's interval, 4 of 5 times at least.
func TestDrawsAgreeWithClosedForms(t *testing.T) {
	p := parsed(t, "90% at 7ms, 10% at 60ms")
	limits := []sim.Duration{18 * ms, 15 * ms, 12 * ms}
	held, all := 0, 0
	for seed := range 10 {
		o := Options{Population: p, Answers: []int64{20, 40}, Limits: limits, Draws: 2000, Seed: sim.Seed(seed)}
		lab, err := Run(o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range lab.Answers {
			drawn := Answer{Gaps: lab.Answers[i].Gaps}
			if err := lab.Options.draw(&drawn); err != nil {
				t.Fatal(err)
			}
			for k, s := range drawn.Within {
				if !s.Interval.OK {
					continue
				}
				all++
				if x := lab.Answers[i].Within[k].Share; s.Interval.Lo <= x && x <= s.Interval.Hi {
					held++
				}
			}
		}
	}
	if all < 50 || 5*held < 4*all {
		t.Errorf("%d of %d intervals of drawn shares hold the exact ones", held, all)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   `part 1, "": write COUNT at DURATION`,
		"500":                                "write COUNT at DURATION",
		"500 at":                             "write COUNT at DURATION",
		"500 at 7":                           `"7" is not a gap above 0`,
		"500 at 7ms,":                        `part 2, "": write`,
		"0 at 7ms":                           `"0" is not a number of gaps`,
		"-5 at 7ms":                          `"-5" is not a number of gaps`,
		"1.5 at 7ms":                         `"1.5" is not a number of gaps`,
		"500 at 0ms":                         `"0ms" is not a gap above 0`,
		"500 at -7ms":                        `"-7ms" is not a gap above 0`,
		"500 at 2000s":                       "up to 1,000 s",
		"500 at 7ms, 1% at 60ms":             "some parts are counts and some percentages",
		"99% at 7ms, 2% at 60ms":             "the percentages add up to 101; they must to 100",
		"99% at 7ms":                         "add up to 99",
		"0% at 7ms, 100% at 60ms":            `"0" is not a percentage`,
		"NaN% at 7ms":                        `"NaN" is not a percentage`,
		"100.00000001% at 7ms":               "at most 7 decimals",
		"500 at 7ms sigma":                   "write COUNT at DURATION",
		"500 at 7ms sigma -1":                `sigma "-1" is not above 0`,
		"500 at 7ms sigma NaN":               `sigma "NaN" is not above 0`,
		"500 at 7ms sigma 9":                 "up to 3",
		"500 at 7ms width 1":                 "write COUNT at DURATION",
		"2000000000 at 7ms":                  "not a number of gaps from 1 to 1000000000",
		"900000000 at 7ms, 900000000 at 8ms": "1800000000 gaps; at most",
		strings.Repeat("1 at 1ms, ", 16) + "1 at 1ms": "17 parts; at most 16",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	if _, err := Parse("x at 7ms, 5 at y"); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two faults: %v; want both", err)
	}
}

func TestRunRefuses(t *testing.T) {
	p := parsed(t, "500 at 7ms, 20 at 60ms")
	for want, o := range map[string]Options{
		"there is no population":              {Draws: 1},
		"an answer of 0 gaps":                 {Population: p, Draws: 1, Answers: []int64{0}},
		"an answer of 2000000 gaps":           {Population: p, Draws: 1, Answers: []int64{2_000_000}},
		"a TPOT limit of 0s":                  {Population: p, Draws: 1, Limits: []sim.Duration{0}},
		"a first token after -1ps":            {Population: p, Draws: 1, TTFT: -1},
		"0 answers drawn":                     {Population: p},
		"10000000 answers drawn":              {Population: p, Draws: 10_000_000},
		"empty has no limit on each":          {Population: p, Draws: 1, SLOs: []NamedSLO{{Name: "empty"}}},
		"a lognormal part has no longest gap": {Population: parsed(t, "100% at 7ms sigma 1"), Draws: 1, Percentiles: levels(t, "max")},
	} {
		if _, err := Run(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	for text, want := range map[string]string{
		"mean": "write mean or a percentile", "p101 5ms": "above 100", "mode 5ms": "not a percentile", "p99 5": "unit", "p99 1m5s": "more than one unit",
	} {
		if _, err := ParseClaims(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"500 at 7ms, 20 at 60ms", "99% at 7ms sigma 0.2, 1% at 60ms", "100% at 1ps"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%q is %v, which reads back as %v, %v", text, p, again, err)
		}
	})
}
