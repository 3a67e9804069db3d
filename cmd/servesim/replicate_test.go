package main

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestReplications pins what replications print, which doesn't depend on how
// many cores make them.
func TestReplications(t *testing.T) {
	args := []string{"run", "--replications", "6", "--set", "requests=300"}
	out := ok(t, args...)
	golden(t, "replications.txt", out)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if again := ok(t, args...); again != out {
		t.Errorf("on one core it prints\n%s\nwant\n%s", again, out)
	}
}

func TestReplicationsJSON(t *testing.T) {
	var got struct {
		Kind         string
		Replications int
		Requests     int64
		Seeds        [2]uint64
		Latency      map[string]struct {
			Mean struct {
				Method string
				Lo     *int64 `json:"lo_ps"`
				Hi     *int64 `json:"hi_ps"`
			} `json:"mean_interval"`
		}
	}
	out := ok(t, "run", "--replications", "5", "--set", "requests=200", "--seed", "7", "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	i := got.Latency["ttft"].Mean
	if got.Kind != "servesim-replications" || got.Replications != 5 || got.Requests != 1000 || got.Seeds != [2]uint64{7, 11} ||
		i.Method != "replications" || i.Lo == nil || i.Hi == nil || *i.Lo > *i.Hi {
		t.Errorf("%+v", got)
	}
}

func TestReplicationsFaults(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"run --replications 1", "it takes 2 or more to see how runs differ, and 5 or more for intervals"},
		{"run --replications -3", "it takes 2 or more"},
		{"run --replications 0", "it takes 2 or more"},
		{"run --replications many", "invalid argument"},
		{"run --replications 5 --records x.jsonl", "--records is of one run"},
		{"run --replications 5 --print", "--print runs nothing, so --replications would have nothing to write"},
		{"run --replications 5 --trace x.csv", "every request comes from a trace, which is the same under each seed"},
		{"run --replications 5 --seed 9223372036854775807", "would exceed"},
		{"run --replications 5 --percentiles 101", "percentile"},
	} {
		o := do(t, strings.Fields(c.args)...)
		if o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want %q", c.args, o.code, o.stdout, o.stderr, c.want)
		}
	}
}

// TestReplicationsOfAScenarioOnStdin reads the scenario once and runs it five times.
func TestReplicationsOfAScenarioOnStdin(t *testing.T) {
	o := outcomeWith(t, ok(t, "run", "--print", "--set", "requests=200"), "run", "-", "--replications", "5")
	if o.code != exitOK || !strings.Contains(o.stdout, "1,000 requests") {
		t.Errorf("exit %d, stderr %q, stdout %q", o.code, o.stderr, o.stdout)
	}
}

// TestRunsProgress shows on a terminal how many runs are done, and nothing elsewhere.
func TestRunsProgress(t *testing.T) {
	var stderr bytes.Buffer
	r := newRunsProgress(env{stderr: &stderr, tty: true}, "replications", 3)
	r.bar.out.began = time.Now().Add(-time.Hour)
	r.one()
	r.finish()
	if !strings.Contains(stderr.String(), "replications: 1 of 3") {
		t.Errorf("a terminal shows %q", stderr.String())
	}
	none := newRunsProgress(env{stderr: &stderr}, "replications", 3)
	none.one()
	none.finish()
	if none != nil {
		t.Error("there is a bar without a terminal")
	}
}

// TestCompareReplications pins what a comparison by seeds prints, which doesn't
// depend on how many cores make it; nor does it matter that the scenario is on stdin.
func TestCompareReplications(t *testing.T) {
	args := []string{"compare", "--replications", "6", "--set", "requests=300", "--vary", "max_num_batched_tokens=8192,512"}
	out := ok(t, args...)
	golden(t, "compare_replications.txt", out)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if again := ok(t, args...); again != out {
		t.Errorf("on one core it prints\n%s\nwant\n%s", again, out)
	}
	text := ok(t, "run", "--print", "--set", "requests=300")
	o := outcomeWith(t, text, "compare", "-", "--replications", "6", "--vary", "max_num_batched_tokens=8192,512")
	if o.code != exitOK || o.stdout != out {
		t.Errorf("from stdin: exit %d, stderr %q, stdout\n%s", o.code, o.stderr, o.stdout)
	}
}

func TestCompareReplicationsJSON(t *testing.T) {
	var got struct {
		Kind         string
		Replications int
		Runs         []struct {
			Name     string
			Requests int64
		}
		Changes []struct {
			Base, Run string
			Changes   []struct {
				Metric, Statistic, Verdict string
				Difference                 int64 `json:"difference_ps"`
				Interval                   struct{ Method string }
			}
			Goodput struct{ Verdict string }
		}
	}
	out := ok(t, "compare", "--replications", "5", "--set", "requests=200", "--vary", "seed=3,3", "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "servesim-replicated-comparison" || got.Replications != 5 || len(got.Runs) != 2 || got.Runs[0].Requests != 1000 || len(got.Changes) != 1 || got.Changes[0].Base != "seed=3" || got.Changes[0].Goodput.Verdict != "same" {
		t.Errorf("%+v", got)
	}
	for _, c := range got.Changes[0].Changes {
		if c.Difference != 0 || c.Interval.Method != "replications" {
			t.Errorf("the same seeds: %+v", c)
		}
	}
}

func TestCompareReplicationsFaults(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"compare --vary max_num_seqs=8,16 --replications 1", "it takes 2 or more"},
		{"compare --vary max_num_seqs=8,16 --replications 5 --trace x.csv", "every request comes from a trace"},
		{"compare --vary max_num_seqs=8,16 --replications 5 --seed 9223372036854775807", "would exceed"},
	} {
		o := do(t, strings.Fields(c.args)...)
		if o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want %q", c.args, o.code, o.stdout, o.stderr, c.want)
		}
	}
}
