package reproduce

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// estimates draws an interval with a value in it.
func estimates() *rapid.Generator[Estimate] {
	return rapid.Custom(func(t *rapid.T) Estimate {
		x := rapid.SliceOfN(rapid.Float64Range(-100, 100), 3, 3).Draw(t, "lo, value, hi")
		slices.Sort(x)
		return Estimate{Value: x[1], Lo: x[0], Hi: x[2]}
	})
}

// ranges draws a range, an end of which may be infinite.
func ranges() *rapid.Generator[Range] {
	return rapid.Custom(func(t *rapid.T) Range {
		ends := []float64{math.Inf(-1), math.Inf(1)}
		x := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-100, 100), rapid.SampledFrom(ends)), 2, 2).Draw(t, "ends")
		slices.Sort(x)
		return Range{Lo: x[0], Hi: x[1]}
	})
}

// better orders outcomes from missed to met.
func better(o Outcome) int { return slices.Index([]Outcome{Missed, Open, Met}, o) }

// Law: a check is met if and only if every value of the interval is in the range,
// missed if and only if none is.
func TestJudgeGoesByTheWholeInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, r := estimates().Draw(t, "estimate"), ranges().Draw(t, "range")
		in := func(x float64) bool { return r.Lo <= x && x <= r.Hi }
		got := Judge(e, r)
		if (got == Met) != (in(e.Lo) && in(e.Hi)) {
			t.Fatalf("%+v in %+v is %s", e, r, got)
		}
		some := in(e.Lo) || in(e.Hi) || e.Lo < r.Lo && r.Hi < e.Hi
		if (got == Missed) != !some {
			t.Fatalf("%+v in %+v is %s", e, r, got)
		}
	})
}

// Law: a wider range never makes an outcome worse, and a narrower interval never one
// that was settled another.
func TestJudgeIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, r := estimates().Draw(t, "estimate"), ranges().Draw(t, "range")
		wider := Range{Lo: r.Lo - rapid.Float64Range(0, 50).Draw(t, "down"), Hi: r.Hi + rapid.Float64Range(0, 50).Draw(t, "up")}
		if better(Judge(e, wider)) < better(Judge(e, r)) {
			t.Fatalf("%+v is %s in %+v and %s in the wider %+v", e, Judge(e, r), r, Judge(e, wider), wider)
		}
		narrow := Estimate{Value: e.Value, Lo: e.Value, Hi: e.Value}
		if o := Judge(e, r); o != Open && Judge(narrow, r) != o {
			t.Fatalf("%+v is %s in %+v, its value alone %s", e, o, r, Judge(narrow, r))
		}
	})
}

// Law: the order of checks doesn't matter, and a check that gets better never makes
// the verdict worse.
func TestVerdictOfIsMonotone(t *testing.T) {
	verdicts := []Verdict{NotReproduced, Partly, Reproduced}
	rapid.Check(t, func(t *rapid.T) {
		outcomes := rapid.SliceOfN(rapid.SampledFrom([]Outcome{Met, Missed, Open}), 1, 8).Draw(t, "outcomes")
		before := VerdictOf(outcomes)
		mixed := rapid.Permutation(outcomes).Draw(t, "order")
		if VerdictOf(mixed) != before {
			t.Fatalf("%v is %s, %v %s", outcomes, before, mixed, VerdictOf(mixed))
		}
		i := rapid.IntRange(0, len(mixed)-1).Draw(t, "which")
		mixed[i] = []Outcome{Missed, Open, Met}[min(better(mixed[i])+1, 2)]
		if slices.Index(verdicts, VerdictOf(mixed)) < slices.Index(verdicts, before) {
			t.Fatalf("%v is %s, and %v %s", outcomes, before, mixed, VerdictOf(mixed))
		}
	})
}

func TestVerdictOfByHand(t *testing.T) {
	for _, c := range []struct {
		outcomes []Outcome
		want     Verdict
	}{
		{[]Outcome{Met}, Reproduced},
		{[]Outcome{Missed}, NotReproduced},
		{[]Outcome{Open}, Partly},
		{[]Outcome{Met, Met}, Reproduced},
		{[]Outcome{Met, Missed}, Partly},
		{[]Outcome{Met, Open}, Partly},
		{[]Outcome{Missed, Open}, Partly},
		{[]Outcome{Missed, Missed}, NotReproduced},
	} {
		if got := VerdictOf(c.outcomes); got != c.want {
			t.Errorf("%v is %s, want %s", c.outcomes, got, c.want)
		}
	}
}

// Law: what prints as a text is in the range of that text, and what prints as
// another isn't, but for the sign of 0.
func TestPrintedIsWhatPrints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, decimals := rapid.Float64Range(-1000, 1000).Draw(t, "x"), rapid.IntRange(0, 3).Draw(t, "decimals")
		text := strconv.FormatFloat(x, 'f', decimals, 64)
		r, err := printed(text)
		if err != nil {
			t.Fatal(err)
		}
		const eps = 1e-9
		if x < r.Lo-eps || x > r.Hi+eps {
			t.Fatalf("%v prints as %s, which is from %v to %v", x, text, r.Lo, r.Hi)
		}
		y := rapid.Float64Range(r.Lo+eps, r.Hi-eps).Draw(t, "y")
		if got := strconv.FormatFloat(y, 'f', decimals, 64); strings.TrimPrefix(got, "-") != strings.TrimPrefix(text, "-") {
			t.Fatalf("%v is in the range of %s and prints as %s", y, text, got)
		}
	})
}

func TestRangesByHand(t *testing.T) {
	lo, hi := 2200.0, 2400.0
	seven, err := printed("7.07")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r      Range
		lo, hi float64
		text   string
	}{
		{about(800), 720, 880, "about 800"},
		{about(4.32), 3.888, 4.752, "about 4.32"},
		{between(&lo, &hi), 2200, 2400, "2,200 to 2,400"},
		{between(&lo, nil), 2200, math.Inf(1), "at least 2,200"},
		{between(nil, &hi), math.Inf(-1), 2400, "at most 2,400"},
		{seven, 7.065, 7.075, "7.07"},
	} {
		near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9 }
		if !near(c.r.Lo, c.lo) || !near(c.r.Hi, c.hi) || c.r.String() != c.text {
			t.Errorf("%+v; want %v to %v, %q", c.r, c.lo, c.hi, c.text)
		}
	}
}
