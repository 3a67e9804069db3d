package analysis

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/observe"
)

// A run and its record file must be graded alike.
func TestRecordsOnFileSayTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var file bytes.Buffer
		w, err := observe.NewWriter(&file, observe.Header{})
		if err != nil {
			t.Fatal(err)
		}
		live := NewSummary(Options{Percentiles: TailPercentiles(), SLO: SLO{Goodput: Goodput{{Objective: TTFT, Max: 4e12}, {Objective: MaxGap, Max: 1e12}}}})
		both := observe.Tee{live, w}
		steps := benchSteps(rapid.IntRange(0, 30).Draw(t, "steps"))
		for i := range steps {
			err = errors.Join(err, both.Step(&steps[i]))
		}
		for i := range rapid.IntRange(0, 20).Draw(t, "requests") {
			err = errors.Join(err, both.Request(drawRequest(t, int64(i))))
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := observe.NewReader(&file, "records")
		if err != nil {
			t.Fatal(err)
		}
		replayed := NewSummary(live.options)
		if err := r.Replay(replayed); err != nil {
			t.Fatal(err)
		}
		exact := cmp.AllowUnexported(Percentile{})
		if diff := cmp.Diff(live.Report(), replayed.Report(), exact, cmpopts.EquateNaNs()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A run of steps may be cut anywhere: only its expansion has meaning.
func TestStepRunsCutAnywhereSayTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, parts := NewSummary(Options{Percentiles: TailPercentiles()}), NewSummary(Options{Percentiles: TailPercentiles()})
		for _, r := range benchSteps(rapid.IntRange(1, 20).Draw(t, "runs")) {
			if err := whole.Step(&r); err != nil {
				t.Fatal(err)
			}
			rest := r
			for rest.Steps > 0 {
				p := rest
				p.Steps = rapid.Int64Range(1, rest.Steps).Draw(t, "cut")
				g := r.Gaps[0]
				g.Steps, g.First = p.Steps, p.First
				p.Gaps = []observe.Gaps{g}
				if err := parts.Step(&p); err != nil {
					t.Fatal(err)
				}
				rest.Start = rest.Start.Add(p.Duration())
				rest.First += rest.Inc * sim.Duration(p.Steps)
				rest.Steps -= p.Steps
				rest.Chunks = nil
			}
		}
		exact := cmp.AllowUnexported(Percentile{})
		if diff := cmp.Diff(whole.Report(), parts.Report(), exact, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestSummaryAllocatesNothingARecord(t *testing.T) {
	s := NewSummary(Options{SLO: SLO{Goodput: Goodput{{Objective: TTFT, Max: 1e12}}}})
	r, step := request(1, [5]int64{1, 1, 1, 1, 1}, 9), benchSteps(2)[1]
	n := testing.AllocsPerRun(20_000, func() { // a chunk for 4,096 records is less than 1 in one
		if err := errors.Join(s.Request(r), s.Step(&step)); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for a request and a step", n)
	}
}

func FuzzParsePercentiles(f *testing.F) {
	for _, s := range []string{"50,90,99", "p99.9 max", "0", "100", "0.0000001", ","} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ps, err := ParsePercentiles(s)
		if err != nil {
			return
		}
		for _, p := range ps {
			if back, err := ParsePercentile(p.String()); err != nil || back != p || p.Fraction() < 0 || p.Fraction() > 1 {
				t.Fatalf("%q holds %v, which is %v, %v", s, p, back, err)
			}
		}
	})
}
