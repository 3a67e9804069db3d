package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"servesim/sim"
	"servesim/sim/observe"
)

// TestFewValuesAreSaidOfEachMetric: of 2,000 requests only one has a second
// token, so that one value is every percentile of its TPOT.
func TestFewValuesAreSaidOfEachMetric(t *testing.T) {
	s := NewSummary(Options{Percentiles: TailPercentiles()})
	for i := range int64(2000) {
		output := int32(1)
		if i == 7 {
			output = 2
		}
		if err := s.Request(request(i, [5]int64{i, 0, 0, 1, 1}, output)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, w := range s.Report().Warnings {
		if w.Kind == FewValues {
			got = append(got, w.Text)
		}
	}
	want := []string{
		"p50 of TPOT rests on 1 of 1 value", "p50 of worst gap rests on 1 of 1 value",
		"p90 of TPOT rests on 1 of 1 value", "p90 of worst gap rests on 1 of 1 value",
		"p99 of TPOT rests on 1 of 1 value", "p99 of worst gap rests on 1 of 1 value",
		"p99.9 of 2,000 requests rests on 2 values",
		"p99.9 of TPOT rests on 1 of 1 value", "p99.9 of worst gap rests on 1 of 1 value",
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}

// TestBusyTimeIsNeverClamped: two engines that are busy for more than half of all
// time are an error, not a sum that stays below the truth.
func TestBusyTimeIsNeverClamped(t *testing.T) {
	s := NewSummary(Options{})
	half := observe.StepRun{Steps: 1, First: sim.MaxDuration/2 + 1}
	if err := s.Step(&half); err != nil {
		t.Fatal(err)
	}
	half.Replica = 1
	if err := s.Step(&half); err == nil || !strings.HasPrefix(err.Error(), "replica 1, step at 0 ps: with it the steps of all engines together last longer than ") {
		t.Errorf("two such steps: %v", err)
	}
	if e := s.Report().Engine; e.Busy != half.First || e.Steps != 1 {
		t.Errorf("busy for %v in %d steps; want %v in 1", e.Busy, e.Steps, half.First)
	}
}

// A run too long to keep, of many classes, with a limit on no request, says so, each
// with its figures.
func TestWarningsHaveValues(t *testing.T) {
	s := NewSummary(Options{SLO: wanted(t, "ttft <= 1s for class none, e2e p99 <= 3s for outputs from 900 tokens")})
	s.groups.limit = chunkValues
	for i := range int64(6000) {
		r := request(i, [5]int64{i, 0, 0, 1, 1}, 3)
		r.Class = string(rune('a' + i%20))
		if err := s.Request(r); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, w := range s.Report().Warnings {
		if w.Kind != FewValues && w.Kind != Overload {
			got = append(got, fmt.Sprint(w.Kind, w.Values))
		}
	}
	want := []string{
		"approximate[{count 6000}]", "many_classes[{requests 1200} {classes 16}]",
		"unused_limit[{limit ttft <= 1s for class none}]", "unused_limit[{limit e2e p99 <= 3s for outputs from 900 tokens}]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}
