package gate

import (
	"bytes"
	"fmt"
	"io"
	"os"
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
	src, err := g.sourceOf(i, n)
	if err != nil {
		t.Fatal(err)
	}
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

// TestWindowsOfATrace holds that the windows of a trace at its own rate are all of it,
// each request once, and that a merged workload takes a multiple too.
func TestWindowsOfATrace(t *testing.T) {
	const rows = 18_000
	t.Chdir(t.TempDir())
	var b strings.Builder
	b.WriteString("arrived_at,num_prefill_tokens,num_decode_tokens\n")
	for i := range rows {
		fmt.Fprintf(&b, "%.3f,%d,%d\n", float64(i)/40, 100+i%301, 5+i%7)
	}
	if err := os.WriteFile("t.csv", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(example("ttft <= 1s"), example("")[strings.Index(example(""), "workload ="):strings.Index(example(""), "engine =")], "workload = { trace = \"t.csv\" }\n", 1)
	text = strings.Replace(text, "rate_per_s = 4.0", "rate_multiple = 1.0", 1)
	o := simulated(t, text)
	if got := o.row("100").Pool.Requests; got != rows || len(o.Rows) != 4 {
		t.Errorf("%d of %d requests at 100 %%, %d loads", got, rows, len(o.Rows))
	}
	for i, least := range []int64{4_000, 8_500, rows, 26_500} {
		if got := o.Rows[i].Pool.Requests; got < least || got > least+1_200 {
			t.Errorf("%s: %d requests", o.Rows[i].Level.Title, got)
		}
	}
	if !strings.Contains(o.runsText(), "each run is a window of 15.00 s") {
		t.Error(o.runsText())
	}
	short := strings.Replace(text, "[slo]", "[set]\n\"transform.limit\" = 9000\n[slo]", 1)
	if _, err := Read("gate.toml", short, false); err == nil || !strings.Contains(err.Error(), "9,000 requests, of which 25 % in 30 windows leave fewer than 100 each") {
		t.Errorf("a trace that is too short: %v", err)
	}
	merged := strings.Replace(example("ttft <= 1s"), "requests = 100, arrival", "merge = [{ preset = \"azure-code\", class = \"code\", requests = 100, rate_per_s = 1.0 }], requests = 100, arrival", 1)
	if _, err := Read("gate.toml", merged, false); err == nil || !strings.Contains(err.Error(), "rate_multiple = 1.0") {
		t.Errorf("a merged workload at a rate: %v", err)
	}
	merged = strings.Replace(merged, "rate_per_s = 4.0\nsweep", "rate_multiple = 2.0\nsweep", 1)
	if g := read(t, merged, false); g.targetText() != "2 times the workload" {
		t.Error(g.targetText())
	}
}

// TestDialectDisagrees holds that a verdict which the dialect's own rule would turn
// carries a caution, and no other does.
func TestDialectDisagrees(t *testing.T) {
	o := simulated(t, example("ttft <= 1s"))
	at := o.row("100")
	for tool, want := range map[float64]int{0.5: 1, 0.99: 0} {
		o.Cautions, at.ToolGood = nil, tool
		if o.tool(); len(o.Cautions) != want {
			t.Errorf("by the tool %v, by servesim %v: %q", tool, at.Pool.Share, o.Cautions)
		}
	}
}

// TestAdvice holds that each kind of evidence leads to its own advice.
func TestAdvice(t *testing.T) {
	for _, c := range []struct{ limits, rate, want string }{
		{"ttft <= 1us", "4.0", "one request alone"},
		{"ttft <= 1s, tpot <= 100ms", "4.0", "nothing here says where it breaks"},
		{"ttft <= 1s, tpot <= 100ms", "40.0", "more runs at 100 %: goodput is"},
		{"ttft <= 1s, tpot <= 100ms", "30.0", "between 100 % and 150 % of the target (30 requests/s and 45 requests/s): goodput falls by"},
		{"ttft <= 1s, tpot <= 100ms", "60.0", "goodput breaks there, tpot <= 100ms binds"},
	} {
		text := strings.Replace(example(c.limits), "rate_per_s = 4.0\nsweep", "rate_per_s = "+c.rate+"\nsweep", 1)
		if o := simulated(t, text); !strings.Contains(o.Advice, c.want) {
			t.Errorf("%s at %s: %s", c.limits, c.rate, o.Advice)
		}
	}
}
