package gate

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"servesim/analysis"
	"servesim/analysis/export"
	"servesim/scenario"
	"servesim/sim/observe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// example returns a gate with limits on a scenario that runs in no time.
func example(limits string) string {
	return `schema = 1
name = "example"
class = "canary"
[scenario]
seed = 7
workload = { requests = 100, arrival = { process = "poisson", rate_per_s = 4.0 }, prompt = { dist = "lognormal", mean = 1000, sigma = 0.6, max = 8000 }, output = { dist = "lognormal", mean = 30, sigma = 0.5, max = 200 } }
engine = { policy = "vllm@0.20" }
hardware = { gpu = "h100" }
model = { name = "Llama-3.1-8B" }
[dialect]
tool = "servesim"
version = "this one"
[slo]
limits = "` + limits + `"
[load]
rate_per_s = 4.0
sweep = [25, 50, 100, 150]
`
}

// read reads a gate that is well.
func read(t *testing.T, text string, measured bool) *Gate {
	t.Helper()
	g, err := Read("gate.toml", text, measured)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// simulated judges a gate by simulation.
func simulated(t *testing.T, text string) *Outcome {
	t.Helper()
	o, err := read(t, text, false).Simulate(t.Context(), Options{Jobs: 4})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestMeasuredIsSimulated holds that the records of the runs that a gate simulates,
// read as files, give the same shares, percentiles, checks and verdict.
func TestMeasuredIsSimulated(t *testing.T) {
	text := example("ttft <= 100ms, tpot <= 12ms, max_gap <= 60ms, e2e p99 <= 1s, itl p99 <= 60ms")
	want := simulated(t, text)
	g := read(t, text, false)
	var inputs []Input
	for i, l := range g.Levels {
		for n := range g.Runs {
			text := records(t, g, i, n)
			inputs = append(inputs, Input{l.Name, export.Source{Name: fmt.Sprintf("%s-%d.jsonl", l.Name, n), Open: func() (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(text)), nil
			}}})
		}
	}
	got, err := read(t, text, true).Measure(inputs)
	if err != nil {
		t.Fatal(err)
	}
	if got.Verdict != want.Verdict {
		t.Errorf("%s measured, %s simulated", got.Verdict, want.Verdict)
	}
	if diff := cmp.Diff(want.Checks, got.Checks); diff != "" {
		t.Errorf("checks\n%s", diff)
	}
	if diff := cmp.Diff(want.Fall, got.Fall); diff != "" {
		t.Errorf("fall\n%s", diff)
	}
	for i := range want.Rows {
		if diff := cmp.Diff(want.Rows[i].Shares, got.Rows[i].Shares); diff != "" {
			t.Errorf("%s: shares\n%s", want.Rows[i].Level.Title, diff)
		}
		if diff := cmp.Diff(want.Rows[i].Each, got.Rows[i].Each); diff != "" {
			t.Errorf("%s: limits\n%s", want.Rows[i].Level.Title, diff)
		}
	}
	a, b := strings.Builder{}, strings.Builder{}
	_, rows := want.latencyTable()
	fmt.Fprint(&a, rows)
	_, rows = got.latencyTable()
	if fmt.Fprint(&b, rows); a.String() != b.String() {
		t.Errorf("percentiles\n%s", cmp.Diff(a.String(), b.String()))
	}
}

// records returns those of run n at level i.
func records(t *testing.T, g *Gate, i, n int) []byte {
	t.Helper()
	src, err := g.sourceAt(i)
	if err != nil {
		t.Fatal(err)
	}
	src.Content = strings.Replace(src.Content, "\n", fmt.Sprintf("\n%s = %d\n", seedKey, g.seed+uint64(n)), 1)
	kept := src.Settings[:0:0]
	for _, s := range src.Settings {
		if s.Key != seedKey {
			kept = append(kept, s)
		}
	}
	src.Settings = kept
	p, err := scenario.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := observe.NewWriter(&b, p.Header())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Simulate(t.Context(), scenario.Options{Sinks: []observe.Sink{w}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLooserLimitsAreNoWorse holds that goodput doesn't fall as a limit loosens, at
// any load, and that each limit alone is missed no more often than all.
func TestLooserLimitsAreNoWorse(t *testing.T) {
	var before []float64
	for _, ms := range []int{40, 80, 160, 320} {
		o := simulated(t, example(fmt.Sprintf("ttft <= %dms, tpot <= 25ms", ms)))
		for i := range o.Rows {
			r := &o.Rows[i]
			if before != nil && r.Pool.Share < before[i] {
				t.Errorf("%s: %v at %d ms, less than %v", r.Level.Title, r.Pool.Share, ms, before[i])
			}
			for _, e := range r.Each {
				if share, _ := e.Share(); share < r.Pool.Share {
					t.Errorf("%s: %v met one limit, %v all", r.Level.Title, share, r.Pool.Share)
				}
			}
		}
		before = nil
		for i := range o.Rows {
			before = append(before, o.Rows[i].Pool.Share)
		}
	}
}

// TestLevels by hand, of rates and of users.
func TestLevels(t *testing.T) {
	loads := func(text string) string {
		g := read(t, text, false)
		var list []string
		for i := range g.Levels {
			list = append(list, g.Levels[i].Name+": "+g.Levels[i].Load())
		}
		return strings.Join(list, ", ")
	}
	text := example("ttft <= 1s")
	if got, want := loads(text), "25: 1 requests/s, 50: 2 requests/s, 100: 4 requests/s, 150: 6 requests/s"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	peak := strings.Replace(text, "sweep =", "benchmark = true\npeak_rate_per_s = 5.0\nsweep =", 1)
	if got, want := loads(peak), "25: 1 requests/s, 50: 2 requests/s, 100: 4 requests/s, 150: 6 requests/s, peak: 10 requests/s"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	users := strings.Replace(text, `arrival = { process = "poisson", rate_per_s = 4.0 }`, `closed_loop = { ramp = "1s" }`, 1)
	users = strings.Replace(users, "rate_per_s = 4.0", "concurrency = 8\nbenchmark = true", 1)
	if got, want := loads(users), "25: 2 users, 50: 4 users, 100: 8 users, 150: 12 users, peak: 16 users"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if o := simulated(t, users); o.Verdict != analysis.Pass || len(o.Rows) != 5 {
		t.Errorf("%s of %d loads", o.Verdict, len(o.Rows))
	}
}

// TestInputs holds that a label is told from a path.
func TestInputs(t *testing.T) {
	for text, want := range map[string][2]string{
		"a.json": {"", "a.json"}, "100=a.json": {"100", "a.json"}, "25%=b=c.json": {"25", "b=c.json"},
		"peak=p": {"peak", "p"}, "run=a.json": {"", "run=a.json"}, "dir/100=a": {"", "dir/100=a"}, " 50 % =x": {"50", "x"},
	} {
		if level, path := ParseInput(text); level != want[0] || path != want[1] {
			t.Errorf("%s: %q %q", text, level, path)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n, path := rapid.Uint32().Draw(t, "n"), rapid.String().Draw(t, "path")
		if level, got := ParseInput(fmt.Sprintf("%d=%s", n, path)); level != strconv.Itoa(int(n)) || got != path {
			t.Fatalf("%d=%s: %q %q", n, path, level, got)
		}
	})
}

// TestPercentTells holds that no share prints as a target, or as all, that it isn't.
func TestPercentTells(t *testing.T) {
	for share, want := range map[float64]string{1: "100.0 %", 0.99: "99.0 %", 0.98999: "98.999 %", 0.9499: "94.99 %", 0.9999: "99.99 %", 0.5: "50.0 %", 0: "0.0 %"} {
		if got := percent(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.Int64Range(1, 1_000_000).Draw(t, "all")
		share := float64(rapid.Int64Range(0, all).Draw(t, "good")) / float64(all)
		shown, err := strconv.ParseFloat(strings.TrimSuffix(percent(share), " %"), 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range append(Classes(), Class{Target: whole()}) {
			if least := c.Target.Fraction(); (share >= least) != (shown >= float64(100*least)) {
				t.Fatalf("%v prints as %s", share, percent(share))
			}
		}
	})
}

// whole is all requests.
func whole() analysis.Percentile {
	p, _ := analysis.PercentileOf(1)
	return p
}

// TestClassTakesThePlace holds that a preset's own target gives way to the class, and
// that this is said.
func TestClassTakesThePlace(t *testing.T) {
	text := strings.Replace(example(""), `limits = ""`, `preset = "voice"`, 1)
	g := read(t, text, false)
	if got := g.SLO.MinGoodput.String(); got != "p95" {
		t.Errorf("target %s", got)
	}
	if len(g.Notes) != 1 || !strings.Contains(g.Notes[0], "goodput >= 95 %, in the place of goodput >= 99 % of preset voice") {
		t.Errorf("notes %q", g.Notes)
	}
}

// TestScenarioLimits holds that a gate without limits has those of its scenario.
func TestScenarioLimits(t *testing.T) {
	text := strings.Replace(example(""), "[slo]\nlimits = \"\"\n", "[set]\n\"slo.goodput\" = \"ttft <= 70ms\"\n", 1)
	if g := read(t, text, false); g.SLO.Goodput.String() != "ttft <= 70ms" || g.From != "the scenario" {
		t.Errorf("%s from %s", g.SLO.Goodput, g.From)
	}
}
