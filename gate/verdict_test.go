package gate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"servesim/analysis"
)

// TestThresholds holds that each threshold is judged, that the worst decides, and that
// a mean is well beside its P99, wherever that is limited.
func TestThresholds(t *testing.T) {
	const mean = "[[threshold]]\nmetric = \"ttft\"\nstatistic = \"mean\"\nmax = \"1s\"\n"
	const p99 = "[[threshold]]\nmetric = \"ttft\"\nstatistic = \"p99\"\nmax = \"1s\"\n"
	o := simulated(t, example("ttft <= 1s")+mean+p99+"[[threshold]]\nmetric = \"output_tokens_per_s\"\nmin = 1e6\n[[threshold]]\nmetric = \"requests_per_s\"\nmin = 1\n")
	var got []string
	for i := range o.Checks {
		got = append(got, o.Checks[i].Name+": "+string(o.Checks[i].Judgement))
	}
	want := "goodput >= 95 %: PASS, ttft mean <= 1s: PASS, ttft p99 <= 1s: PASS, output_tokens_per_s >= 1000000: FAIL, requests_per_s >= 1: PASS"
	if strings.Join(got, ", ") != want || o.Verdict != analysis.Fail {
		t.Errorf("%s: %s", o.Verdict, strings.Join(got, ", "))
	}
	if !strings.Contains(o.Advice, "what decides output_tokens_per_s") {
		t.Error(o.Advice)
	}
	read(t, example("ttft <= 1s, ttft p99 <= 2s")+mean, false)
	read(t, strings.Replace(example(""), "[slo]\nlimits = \"\"\n", "[set]\n\"slo.goodput\" = \"ttft <= 1s, ttft p99 <= 2s\"\n", 1)+mean, false)
}

// TestUnsteadyRuns holds that runs which are short, or outgrow the engine, carry a
// caution, and that others don't.
func TestUnsteadyRuns(t *testing.T) {
	all := func(rate string) string {
		text := strings.Replace(example("ttft <= 1s"), "rate_per_s = 4.0\nsweep", "rate_per_s = "+rate+"\nsweep", 1)
		return strings.Join(simulated(t, text).Cautions, "\n")
	}
	if got := all("4.0"); strings.Contains(got, "runs are short") || strings.Contains(got, "the queue grew") {
		t.Error(got)
	}
	if got := all("200.0"); !strings.Contains(got, "runs are short: requests come for 0.") {
		t.Error(got)
	}
	warm := "[set]\n\"run.warmup\" = 100\n\"workload.requests\" = 220\n"
	text := strings.Replace(example("ttft <= 1s"), "requests = 100, ", "", 1) + warm
	text = strings.Replace(text, "rate_per_s = 4.0\nsweep", "rate_per_s = 200.0\nsweep", 1)
	if got := strings.Join(simulated(t, text).Cautions, "\n"); strings.Contains(got, "runs are short") {
		t.Error(got)
	}
}

// TestSimulateEnds holds that a gate which is interrupted ends with that and no verdict.
func TestSimulateEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o, err := read(t, example("ttft <= 1s"), false).Simulate(ctx, Options{Jobs: 2, Progress: cancel})
	if o != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", o, err)
	}
}

// TestAdviceNamesCapacity holds that what finds the rate at which goodput breaks is named
// where there is such a rate.
func TestAdviceNamesCapacity(t *testing.T) {
	o := &Outcome{Gate: &Gate{}}
	for _, c := range []struct {
		measured bool
		level    Level
		want     bool
	}{
		{false, Level{Name: "100", Rate: 4}, true},
		{false, Level{Name: "100", Times: 2}, true},
		{false, Level{Name: "100", Users: 8}, false},
		{true, Level{Name: "100", Rate: 4}, false},
	} {
		o.Measured, o.Rows, o.Gate.Levels = c.measured, []Row{{Level: c.level}}, []Level{c.level}
		if got := strings.Contains(o.search(), "servesim capacity"); got != c.want {
			t.Errorf("%+v: %q", c, o.search())
		}
	}
}
