package capacity

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/analysis"
	"servesim/scenario"
)

// text is a scenario whose runs take a few milliseconds: short answers on a pool
// with few KV blocks.
const text = `schema = 1
name = "small"
seed = 3

[workload]
requests = 20
arrival = { process = "poisson", rate_per_s = 20 }
prompt = { dist = "lognormal", mean = 800, sigma = 0.6, max = 4000 }
output = { dist = "lognormal", mean = 40, sigma = 0.5, max = 200 }

[engine]
policy = "vllm@0.20"
max_model_len = 8192
num_gpu_blocks_override = 3000

[hardware]
gpu = "h100"

[model]
name = "Llama-3.1-8B"

[slo]
goodput = "ttft <= 300ms, tpot <= 20ms"
`

// source returns text with settings.
func source(t testing.TB, sets ...string) scenario.Source {
	t.Helper()
	src := scenario.Source{Path: "small.toml", Content: text, Shelf: &scenario.Shelf{}}
	for _, one := range sets {
		s, err := scenario.ParseSetting(one)
		if err != nil {
			t.Fatal(err)
		}
		src.Settings = append(src.Settings, s)
	}
	return src
}

// quick are options with which an answer takes about a second.
func quick() Options {
	target, _ := analysis.PercentileOf(0.99)
	return Options{Resolution: 0.02, Target: target, Requests: 2000, Runs: 10, Jobs: 2}
}

// find returns an answer that there must be.
func find(t testing.TB, src scenario.Source, o Options) *Answer {
	t.Helper()
	a, err := Find(context.Background(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestBruteForceAgrees scans rates around an answer, each by one long run under a
// seed of its own, and looks where the limits are missed first.
func TestBruteForceAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("the scan takes some seconds")
	}
	o := quick()
	o.Requests, o.Runs = 5000, 20
	a := find(t, source(t), o)
	if a.Lo == 0 || a.Hi > 1.2*a.Rate || a.Lo > a.Rate || a.Rate >= a.Hi {
		t.Fatalf("capacity %g, from %g to %g", a.Rate, a.Lo, a.Hi)
	}
	g := grid{a.Resolution}
	kept := 0.0
	for i := g.place(a.Lo) - 12; i <= g.place(a.Hi)+12; i++ {
		p, err := scenario.Load(source(t, fmt.Sprintf("rate_per_s=%v", g.rate(i)), "requests=100000", "seed=77"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Simulate(context.Background(), scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if share, _ := r.Report.Goodput.Share(); share < 0.99 {
			break
		}
		kept = g.rate(i)
	}
	if kept < a.Lo || kept >= a.Hi {
		t.Errorf("the scan finds %g, the search %g, from %g to %g", kept, a.Rate, a.Lo, a.Hi)
	}
	t.Logf("the scan finds %g, the search %g, from %g to %g, in %d rates and %d requests", kept, a.Rate, a.Lo, a.Hi, a.Trials, a.Requests)
}

// TestLooserLimitsNeverHaveSmallerAnswers draws two limits, of which one is looser.
func TestLooserLimitsNeverHaveSmallerAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of searches take a while")
	}
	rapid.Check(t, func(rt *rapid.T) {
		rate := func(ttft, tpot int, share string) float64 {
			o := quick()
			o.Requests, o.Runs, o.Resolution = 1000, 5, 0.1
			a, err := Find(context.Background(), source(t, fmt.Sprintf("slo.goodput=%q", fmt.Sprintf("ttft <= %dms, tpot <= %dms, goodput >= %s", ttft, tpot, share))), o)
			if err != nil {
				if strings.Contains(err.Error(), "no rate keeps") {
					return 0
				}
				rt.Fatal(err)
			}
			return a.Rate
		}
		ttft, tpot := rapid.IntRange(40, 500).Draw(rt, "ttft"), rapid.IntRange(7, 30).Draw(rt, "tpot")
		more := rapid.IntRange(0, 200).Draw(rt, "looser")
		tight, loose := rate(ttft, tpot, "98 %"), rate(ttft+more, tpot+more/20, "95 %")
		if tight > loose {
			rt.Fatalf("ttft <= %dms, tpot <= %dms: %g; looser by %d: %g", ttft, tpot, tight, more, loose)
		}
	})
}

// TestMoreCarryMore has more KV blocks and more replicas. The limit is on TTFT: a
// limit on TPOT may be kept at higher rates where few blocks keep batches small.
func TestMoreCarryMore(t *testing.T) {
	if testing.Short() {
		t.Skip("eight searches take some seconds")
	}
	for key, values := range map[string][]string{
		"num_gpu_blocks_override": {"300", "600", "1200", "4800"},
		"pool.replicas":           {"1", "2", "3", "4"},
	} {
		before := 0.0
		for _, v := range values {
			a := find(t, source(t, key+"="+v, `slo.goodput="ttft <= 300ms"`), quick())
			t.Logf("%s=%s: %g, from %g to %g", key, v, a.Rate, a.Lo, a.Hi)
			if a.Rate < before {
				t.Errorf("%s=%s carries %g requests/s, less of it carries %g", key, v, a.Rate, before)
			}
			before = a.Rate
			if key == "pool.replicas" && a.Plan.GPUs() != a.Cost.GPUs {
				t.Errorf("%d GPUs cost as %d do", a.Plan.GPUs(), a.Cost.GPUs)
			}
		}
	}
}

// TestAnswersAreTheSameOnAnyNumberOfCores compares bytes.
func TestAnswersAreTheSameOnAnyNumberOfCores(t *testing.T) {
	var first [2]string
	for _, jobs := range []int{1, 2, 5} {
		o := quick()
		o.Jobs = jobs
		a := find(t, source(t), o)
		f, err := Fewest(context.Background(), source(t), o, FleetOptions{Rate: 2.5 * a.Rate, TPs: []int64{1, 2}})
		if err != nil {
			t.Fatal(err)
		}
		got := [2]string{jsonOf(t, a.JSON) + a.Text(), jsonOf(t, f.JSON) + f.Text()}
		if jobs == 1 {
			first = got
		}
		if d := cmp.Diff(first, got); d != "" {
			t.Errorf("%d jobs: %s", jobs, d)
		}
	}
}

// jsonOf returns what write says.
func jsonOf(t *testing.T, write func() (string, error)) string {
	t.Helper()
	text, err := write()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestFewestReplicasCarryTheRate holds the fewest replicas against what one less
// and the pool's own capacity say.
func TestFewestReplicasCarryTheRate(t *testing.T) {
	o := quick()
	one := find(t, source(t), o)
	f, err := Fewest(context.Background(), source(t), o, FleetOptions{Rate: 2.5 * one.Rate, Spare: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := &f.Choices[0]
	if !c.At.Holds || c.Less == nil || c.Less.Holds || c.Replicas != c.At.Replicas+1 || c.Whole.Replicas != c.Replicas {
		t.Fatalf("%+v", c)
	}
	if n := c.At.Replicas; n < 2 || n > 3 {
		t.Errorf("2.5 times what one replica carries takes %d", n)
	}
	pool := find(t, source(t, fmt.Sprintf("pool.replicas=%d", c.At.Replicas)), o)
	if pool.Hi <= f.Rate {
		t.Errorf("%d replicas carry less than %g, and were found to carry %g", c.At.Replicas, pool.Hi, f.Rate)
	}
	if want := float64(c.GPUs) * 3.2; c.Cost.USDPerHour != want {
		t.Errorf("%d H100 cost %g $/h, want %g", c.GPUs, c.Cost.USDPerHour, want)
	}
}

// TestTracesAreThinnedAndLaidOver finds the capacity for a trace, which is drawn
// here so that it needs nothing.
func TestTracesAreThinnedAndLaidOver(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("t,in,out\n")
	for i := range 2000 { // 20 requests/s
		fmt.Fprintf(&csv, "%.3f,%d,%d\n", float64(i)*0.05, 300+i*37%1000, 10+i*13%60)
	}
	path := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(path, []byte(csv.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	src := source(t)
	sets := []scenario.Setting{
		{Key: "workload.trace", Value: path, Text: path, Flag: "--trace", Replay: true},
		{Key: "workload.columns", Value: map[string]any{"arrival": "t", "prompt": "in", "output": "out", "unit": "s"}, Flag: "--set"},
	}
	src.Settings = append(src.Settings, sets...)
	a := find(t, src, quick())
	if a.Today < 19.99 || a.Today > 20.01 || a.Rate <= a.Today || a.Headroom() <= 0 {
		t.Errorf("a trace of 20 requests/s: %g today, capacity %g", a.Today, a.Rate)
	}
	drawn := find(t, source(t), quick())
	if a.Rate < drawn.Rate/2 || a.Rate > 2*drawn.Rate {
		t.Errorf("the trace is carried at %g, a drawn workload like it at %g", a.Rate, drawn.Rate)
	}
	f, err := Fewest(context.Background(), src, quick(), FleetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c := &f.Choices[0]; f.Rate != a.Today || c.Replicas != 1 || c.At.Runs != 1 || c.Less != nil {
		t.Errorf("the trace as it is, at %g requests/s: %+v", f.Rate, c)
	}
}

// TestWarmUpIsLeftOutOfEveryRun has a warm-up that is most of each run: the first and
// those that are lean must both leave it out.
func TestWarmUpIsLeftOutOfEveryRun(t *testing.T) {
	o := quick()
	l, slo, err := prepare(source(t, "run.warmup=1500"), &o)
	if err != nil {
		t.Fatal(err)
	}
	trial, err := l.try(context.Background(), &slo, 18.5, 1, &o)
	if err != nil {
		t.Fatal(err)
	}
	if most := int64(trial.Runs) * 700; trial.Runs < 5 || trial.Requests > most {
		t.Errorf("%d runs of 2,000 requests, of which 1,500 warm up, are judged by %d", trial.Runs, trial.Requests)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		sets  []string
		edit  func(*Options)
		fleet *FleetOptions
		want  string
	}{
		{"no limits", []string{`slo.goodput=""`}, nil, nil, "give --slo with one of consumer-chat-70b"},
		{"limits nobody can keep", []string{`slo.goodput="ttft <= 1ms"`}, nil, nil, "no rate keeps the limits: at 0.001"},
		{"percentiles nobody can keep", []string{`slo.goodput="tpot p99 <= 1ms"`}, nil, nil, "tpot p99 <= 1ms, found"},
		{"closed loop", []string{`workload={closed_loop={users=4},requests=100,prompt={dist="constant",value=9},output={dist="constant",value=9}}`}, nil, nil, "has no rate of its own"},
		{"horizon", []string{"run.horizon=60s"}, nil, nil, "run.horizon: found 60s"},
		{"zero price", nil, func(o *Options) { o.Prices = map[string]float64{"h100": 0} }, nil, "price of h100: found 0"},
		{"price of another GPU", nil, func(o *Options) { o.Prices = map[string]float64{"b200": 4} }, nil, "there is no such GPU here; prices are of h100"},
		{"resolution of nothing", nil, func(o *Options) { o.Resolution = 0 }, nil, "resolution: found 0"},
		{"few runs", nil, func(o *Options) { o.Runs = 2 }, nil, "up to 5 to 1,000"},
		{"few requests", nil, func(o *Options) { o.Requests = 5 }, nil, "requests: found 5"},
		{"unknown GPU", nil, nil, &FleetOptions{Rate: 1, GPUs: []string{"h1000"}}, `no GPU profile is called "h1000"`},
		{"TP of three", nil, nil, &FleetOptions{Rate: 1, TPs: []int64{3}}, "tps: found 3"},
		{"a GPU twice", nil, nil, &FleetOptions{Rate: 1, GPUs: []string{"h100", "h100"}}, "named twice"},
		{"negative spare", nil, nil, &FleetOptions{Rate: 1, Spare: -1}, "spare: found -1"},
		{"negative rate", nil, nil, &FleetOptions{Rate: -1}, "rate: found -1"},
		{"a model that fits nowhere", []string{"model=DeepSeek-R1", "dtype=bf16", "num_gpu_blocks_override=2000"}, nil, &FleetOptions{Rate: 1, TPs: []int64{1, 2}}, "TP1: "},
	} {
		o := quick()
		if c.edit != nil {
			c.edit(&o)
		}
		src := source(t, c.sets...)
		var err error
		if c.fleet != nil {
			_, err = Fewest(context.Background(), src, o, *c.fleet)
		} else {
			_, err = Find(context.Background(), src, o)
		}
		var usage *scenario.UsageError
		if err == nil || !strings.Contains(err.Error(), c.want) || !asUsage(err, &usage) {
			t.Errorf("%s: found %v, want %s", c.name, err, c.want)
		}
	}
}

// BenchmarkAzureChat finds the capacity of one H100 for chat with Llama-3.1-8B under
// the limits of a consumer service, at the defaults.
func BenchmarkAzureChat(b *testing.B) {
	src := source(b, `slo.goodput=""`, "slo.preset=consumer-chat-70b", "max_model_len=131072", "num_gpu_blocks_override=27121", `workload={preset="azure-chat"}`)
	target, _ := analysis.PercentileOf(0.99)
	for b.Loop() {
		a := find(b, src, Options{Resolution: DefaultResolution, Target: target, Requests: DefaultRequests, Runs: DefaultRuns, Jobs: 2})
		b.ReportMetric(float64(a.Requests), "requests")
		b.ReportMetric(a.Rate, "capacity/s")
	}
}
