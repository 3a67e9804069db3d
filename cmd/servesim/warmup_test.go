package main

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
)

// warmed is what --json says of a warm-up.
type warmed struct {
	WarmUp *struct {
		Rule     string
		Settled  bool
		From     int64 `json:"from_ps"`
		Requests int64
		Steps    int64
	} `json:"warm_up"`
	Requests struct{ Total int64 }
	Latency  map[string]struct{ Count int64 }
	Goodput  struct{ Requests int64 }
	Engine   struct{ Steps int64 }
}

// warmedBy runs 2,000 requests with a warm-up and more arguments.
func warmedBy(t *testing.T, warmup string, more ...string) (v warmed, out string) {
	t.Helper()
	args := append([]string{"run", "--json", "--set", "requests=2000", "--set", "rate_per_s=16"}, more...)
	if warmup != "" {
		args = append(args, "--set", "warmup="+warmup)
	}
	out = ok(t, args...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	return v, out
}

// TestWarmUp leaves the same requests and steps out of every figure, however the
// cut is given, and none of the records.
func TestWarmUp(t *testing.T) {
	whole, _ := warmedBy(t, "")
	auto, _ := warmedBy(t, "auto")
	if w := auto.WarmUp; whole.WarmUp != nil || w == nil || w.Rule != "MSER-5" || !w.Settled || w.Requests <= 0 || w.Requests > 1000 {
		t.Fatalf("auto: %+v", w)
	}
	number, _ := warmedBy(t, strconv.FormatInt(auto.WarmUp.Requests, 10))
	duration, _ := warmedBy(t, strconv.FormatFloat(float64(auto.WarmUp.From)/1e12, 'f', 12, 64)+"s")
	for name, v := range map[string]warmed{"auto": auto, "number": number, "duration": duration} {
		n := 2000 - auto.WarmUp.Requests
		if v.Requests.Total != n || v.Goodput.Requests != n || v.Latency["ttft"].Count != n || v.Engine.Steps+v.WarmUp.Steps != whole.Engine.Steps ||
			v.WarmUp.Requests != auto.WarmUp.Requests || v.WarmUp.From != auto.WarmUp.From || v.WarmUp.Steps != auto.WarmUp.Steps || v.Latency["itl"].Count >= whole.Latency["itl"].Count {
			t.Errorf("%s: %+v, %+v; the whole run %+v", name, v, v.WarmUp, whole)
		}
	}
	path := t.TempDir() + "/records.jsonl"
	_, out := warmedBy(t, "500", "--records", path, "--dialect", "vllm")
	records, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(records), `{"type":"request"`); n != 2000 {
		t.Errorf("%d of 2,000 requests have records", n)
	}
	var tool struct {
		Dialects struct {
			Results []struct{ Calls int64 }
		}
	}
	if err := json.Unmarshal([]byte(out), &tool); err != nil || len(tool.Dialects.Results) != 1 || tool.Dialects.Results[0].Calls != 1500 {
		t.Errorf("vLLM would measure %+v (%v), want 1,500 calls", tool, err)
	}
}

// TestWarmUpOfAClosedLoop: users call again when they are answered.
func TestWarmUpOfAClosedLoop(t *testing.T) {
	inFolder(t, map[string]string{"loop.toml": changed(`arrival = { process = "poisson", rate_per_s = 4 }`, `closed_loop = { users = 3 }`)})
	var v warmed
	if err := json.Unmarshal([]byte(ok(t, "run", "loop.toml", "--json", "--set", "warmup=8")), &v); err != nil {
		t.Fatal(err)
	}
	if v.WarmUp.Requests != 8 || v.Requests.Total != 12 || v.WarmUp.From <= 0 || v.WarmUp.Steps == 0 {
		t.Errorf("%+v, %+v", v, v.WarmUp)
	}
}

func TestWarmUpOfReplications(t *testing.T) {
	out := unfolded(ok(t, "run", "--replications", "5", "--set", "requests=300", "--set", "warmup=100"))
	if !strings.Contains(out, "Warm-up     of all runs together 500 requests left out, each by its own (run.warmup)") || !strings.Contains(out, "Runs        5, with 1,000 requests in all") {
		t.Errorf("replications print %s", out)
	}
}

// TestWarmUpOfAComparison compares the same requests, after the later of both cuts.
func TestWarmUpOfAComparison(t *testing.T) {
	var v struct {
		Runs   []warmed
		Paired []struct {
			Both      int64 `json:"completed_in_both"`
			Unmatched int64
		}
	}
	out := ok(t, "compare", "--json", "--set", "requests=2000", "--set", "warmup=auto", "--vary", "rate_per_s=4,16")
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	if a, b := v.Runs[0].WarmUp, v.Runs[1].WarmUp; a.Requests != b.Requests || a.Requests == 0 || v.Paired[0].Both != 2000-a.Requests || v.Paired[0].Unmatched != 0 {
		t.Errorf("%+v, %+v, %+v", a, b, v.Paired)
	}
}

func TestWarmUpFaults(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{"0", "more than 0, or absent for none"},
		{"-5", "more than 0"},
		{"0s", "more than 0"},
		{"1.5", `must be "auto", a time such as "30s", or a number of requests such as 500`},
		{"soon", `found "soon"; must be "auto"`},
		{"[1]", "found [1]; must be"},
		{"20000", "run.warmup leaves nothing to measure: each of the 10,000 requests arrives in it"},
		{"200h", "run.warmup leaves nothing to measure"},
	} {
		if o := do(t, "run", "--set", "warmup="+c.value); o.code != exitUsage || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: exit %d, %s; want %q", c.value, o.code, o.stderr, c.want)
		}
	}
	if o := do(t, "run", "--set", "warmup=auto", "--trace", "-"); o.code != exitUsage || !strings.Contains(o.stderr, "simulates twice") {
		t.Errorf("standard input: exit %d, %s", o.code, o.stderr)
	}
}
