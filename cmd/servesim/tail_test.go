package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	golden(t, "tail.txt", ok(t, "tail"))
	golden(t, "tail-lognormal.txt", ok(t, "tail", "98.5% at 7ms sigma 0.2, 1.5% at 60ms", "--answers", "20,100", "--draws", "2000", "--slo", "tpot <= 9ms, max_gap <= 50ms"))
}

func TestTailJSON(t *testing.T) {
	var got struct {
		Kind string
		Gap  struct {
			Mean float64 `json:"mean_ps"`
			P99  int64   `json:"p99_ps"`
		}
		Claims []struct {
			Of   string
			True bool
		}
	}
	if err := json.Unmarshal([]byte(ok(t, "tail", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "servesim-tail" || got.Gap.Mean != 4.7e12/520 || got.Gap.P99 != 60_000_000_000 || len(got.Claims) != 2 || !got.Claims[0].True || got.Claims[1].True {
		t.Errorf("%+v", got)
	}
}

func TestTailFaults(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"tail", "500 at 7"}, `population: part 1, "500 at 7"`},
		{[]string{"tail", "a", "b"}, "accepts at most 1 arg"},
		{[]string{"tail", "--slo", "loos"}, `no preset of limits is called "loos"`},
		{[]string{"tail", "--slo", "tpot p99 <= 5ms"}, "limits here are on each answer"},
		{[]string{"tail", "--slo", "tpto <= 5ms"}, "tpto"},
		{[]string{"tail", "--answers", "10,x"}, `--answers: "x"`},
		{[]string{"tail", "--answers", "0"}, "an answer of 0 gaps"},
		{[]string{"tail", "--limits", "30,15"}, `--limits: "30"`},
		{[]string{"tail", "--ttft", "fast"}, "--ttft"},
		{[]string{"tail", "--draws", "0"}, "0 answers drawn"},
		{[]string{"tail", "--percentiles", "p0.99x"}, "--percentiles"},
		{[]string{"tail", "--claim", "p99"}, `--claim: claim "p99"`},
	} {
		o := do(t, c.args...)
		if o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want %q", c.args, o.code, o.stdout, o.stderr, c.want)
		}
	}
}
