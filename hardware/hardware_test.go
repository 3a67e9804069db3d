package hardware

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/analysis"
	"servesim/capacity"
	"servesim/profiles"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/gpu"
	"servesim/sim/observe"
)

// text is a scenario whose runs take a few milliseconds.
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
	src := scenario.Source{Path: "small.toml", Content: text}
	for _, one := range sets {
		s, err := scenario.ParseSetting(one)
		if err != nil {
			t.Fatal(err)
		}
		src.Settings = append(src.Settings, s)
	}
	return src
}

// quick are options with which a comparison takes about a second.
func quick() Options {
	target, _ := analysis.PercentileOf(0.99)
	return Options{Options: capacity.Options{Resolution: 0.1, Target: target, Requests: 1000, Runs: 5, Jobs: 2}, Share: 0.8}
}

// configs returns configurations as people write them, with spaces between them.
func configs(t testing.TB, text string) []Config {
	t.Helper()
	var list []Config
	for _, one := range strings.Fields(text) {
		c, err := ParseConfig(one)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// compare returns a comparison that there must be.
func compare(t testing.TB, text string, o Options, sets ...string) *Comparison {
	t.Helper()
	c, err := Compare(context.Background(), source(t, sets...), configs(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// profile writes a profile and returns its path.
func profile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".toml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// told returns what c says of a side, without its name and that of its profile.
func told(t testing.TB, s *Side) string {
	t.Helper()
	o := s.object()
	o.Label, o.GPU, o.Cautions = "", "", nil
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	delete(tree["capacity"].(map[string]any), "scenario_toml") // it names the profile
	if b, err = json.MarshalIndent(tree, "", " "); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAProfileTiesWithItself compares one with another that differs in its name alone.
func TestAProfileTiesWithItself(t *testing.T) {
	twin := profile(t, "twin", "schema = 1\nname = \"twin\"\nbase = \"h100\"\n")
	c := compare(t, "h100 "+twin, quick())
	if d := cmp.Diff(told(t, c.Sides[0]), told(t, c.Sides[1])); d != "" {
		t.Error(d)
	}
	if len(c.Flips) != 1 {
		t.Fatalf("%d flips", len(c.Flips))
	}
	f := c.Flips[0]
	if s, _ := f.Choice(); f.Ratio != 1 || f.Today != 1 || s != nil || f.Lo > 1 || f.Hi < 1 {
		t.Errorf("flips at %g, from %g to %g, prices today %g, choice %v", f.Ratio, f.Lo, f.Hi, f.Today, s)
	}
}

// TestTheOrderOfArgumentsChangesNothing names configurations in other orders, and runs
// them on other numbers of cores.
func TestTheOrderOfArgumentsChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("several searches take some seconds")
	}
	o := quick()
	first := compare(t, "h100 b200:fp8 b200:tp2", o)
	flips := func(c *Comparison) []string {
		var list []string
		for _, f := range c.Flips {
			list = append(list, fmt.Sprint(f.More.Label, f.Less.Label, f.Ratio, f.Lo, f.Hi, f.Today))
		}
		slices.Sort(list)
		return list
	}
	for jobs, order := range map[int]string{1: "b200:tp2 b200:fp8 h100", 5: "b200:fp8 h100 b200:tp2"} {
		o.Jobs = jobs
		other := compare(t, order, o)
		if other.Rate != first.Rate || other.Requests != first.Requests {
			t.Errorf("%s: rate %g of %d requests, want %g, %d", order, other.Rate, other.Requests, first.Rate, first.Requests)
		}
		for _, s := range first.Sides {
			at := slices.IndexFunc(other.Sides, func(x *Side) bool { return x.Label == s.Label })
			if d := cmp.Diff(told(t, s), told(t, other.Sides[at])); d != "" {
				t.Errorf("%s: %s: %s", order, s.Label, d)
			}
		}
		if d := cmp.Diff(flips(first), flips(other)); d != "" || len(first.Flips) != 2 {
			t.Errorf("%s: %d flips, %s", order, len(first.Flips), d)
		}
	}
}

// TestAFlipIsWhereCostsAreEqual sets the prices to the ratio at which they flip, and a
// little to each side of it.
func TestAFlipIsWhereCostsAreEqual(t *testing.T) {
	if testing.Short() {
		t.Skip("several searches take some seconds")
	}
	o := quick()
	f := compare(t, "h100 b200:fp8", o).Flips[0]
	if f.More.Label != "b200:fp8:tp1" || f.Ratio <= 1 {
		t.Fatalf("%s over %s flips at %g", f.More.Label, f.Less.Label, f.Ratio)
	}
	for _, by := range []float64{0.99, 1, 1.01} {
		o.Prices = map[string]float64{"h100": 2, "b200": 2 * f.Ratio * by}
		c := compare(t, "h100 b200:fp8", o)
		more, less := c.Sides[1].Answer.Cost.USDPerGoodMTok, c.Sides[0].Answer.Cost.USDPerGoodMTok
		if r := more / less / by; math.Abs(r-1) > 1e-12 {
			t.Errorf("at %g of the flip a good token costs %g and %g", by, more, less)
		}
		s, sure := c.Flips[0].Choice()
		if by == 0.99 && s != c.Sides[1] || by == 1.01 && s != c.Sides[0] || sure {
			t.Errorf("at %g of the flip the choice is %v, sure %v", by, s, sure)
		}
	}
}

// TestFasterGPUsNeverCarryLess has a GPU all of whose rates are higher.
func TestFasterGPUsNeverCarryLess(t *testing.T) {
	if testing.Short() {
		t.Skip("several searches take some seconds")
	}
	list := []string{"h100"}
	for _, by := range []float64{1.25, 2, 4} {
		list = append(list, profile(t, fmt.Sprintf("h100x%g", by), faster(t, by)))
	}
	c := compare(t, strings.Join(list, " "), quick())
	for i, s := range c.Sides[1:] {
		before := c.Sides[i]
		t.Logf("%s: %g, from %g to %g", s.Label, s.Answer.Rate, s.Answer.Lo, s.Answer.Hi)
		if s.Answer.Rate < before.Answer.Rate {
			t.Errorf("%s carries %g requests/s, %s %g", s.Label, s.Answer.Rate, before.Label, before.Answer.Rate)
		}
		slow, _ := p99(before.AtRate, "tpot")
		if fast, _ := p99(s.AtRate, "tpot"); fast.Value > slow.Value {
			t.Errorf("%s has a P99 TPOT of %v, %s %v", s.Label, fast.Value, before.Label, slow.Value)
		}
	}
}

// faster returns the text of a profile of H100 with all rates by times as high.
func faster(t *testing.T, by float64) string {
	t.Helper()
	text, err := profiles.FS.ReadFile("h100.toml")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	rates := regexp.MustCompile(`(?m)^(\w+_per_s = )([0-9.e+]+)`)
	scaled := rates.ReplaceAllStringFunc(string(text), func(line string) string {
		n++
		m := rates.FindStringSubmatch(line)
		x, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		return m[1] + strconv.FormatFloat(by*x, 'g', -1, 64)
	})
	if n < 20 {
		t.Fatalf("only %d rates", n)
	}
	return strings.Replace(scaled, `name = "h100"`, fmt.Sprintf("name = %q", fmt.Sprintf("h100x%g", by)), 1)
}

// TestPhasesAddUp holds what is said of steps against what a run says: all of their
// time is somewhere, once, and nothing of it that the host hides is told as its own.
func TestPhasesAddUp(t *testing.T) {
	for _, sets := range [][]string{{}, {"async_scheduling=false"}, {"tensor_parallel_size=2", "rate_per_s=60"}, {"model.name=gpt-oss-20b", "dtype=mxfp4"}} {
		p, err := scenario.Load(source(t, append(sets, "requests=300")...))
		if err != nil {
			t.Fatal(err)
		}
		steps := newPhases(p.Cost.Clone())
		r, err := p.Simulate(context.Background(), scenario.Options{Measured: []observe.Sink{steps}})
		if err != nil {
			t.Fatal(err)
		}
		if busy := steps.prefill.time + steps.decode.time; busy != r.Report.Engine.Busy {
			t.Errorf("%v: steps of %v, the report says %v", sets, busy, r.Report.Engine.Busy)
		}
		prefill, decode := steps.phases()
		if s := prefill.Share + decode.Share; math.Abs(s-1) > 1e-9 {
			t.Errorf("%v: both kinds of steps are %g of all", sets, s)
		}
		for _, f := range []*Phase{prefill, decode} {
			all, sides := 0.0, f.Compute+f.Memory+f.Link+f.Neither
			for _, o := range f.Operators {
				all += o.Share
				if o.Reached < 0 || o.Reached > 1 {
					t.Errorf("%v: %s reaches %g of its roofline", sets, o.Name, o.Reached)
				}
			}
			if math.Abs(all-1) > 1e-9 || math.Abs(sides-1) > 1e-9 {
				t.Errorf("%v: operators take %g of the time, by bound %g", sets, all, sides)
			}
			if host := f.operator(Host).Share; host < -1e-6 || host > 0.5 {
				t.Errorf("%v: the host takes %g", sets, host)
			}
		}
		if prefill.Compute < prefill.Memory && !slices.Contains(sets, "dtype=mxfp4") || decode.Memory < decode.Compute {
			t.Errorf("%v: prompts wait for compute %g, memory %g; decodes %g, %g", sets, prefill.Compute, prefill.Memory, decode.Compute, decode.Memory)
		}
	}
}

// TestTallyByHand adds two runs of steps of one operator.
func TestTallyByHand(t *testing.T) {
	var f tally
	f.add([]gpu.Operator{{Name: "a", Time: 6, Limit: 3, Bound: gpu.MemoryBound}}, &observe.StepRun{Steps: 2, First: 10})
	f.add([]gpu.Operator{{Name: "a", Time: 4, Limit: 2, Bound: gpu.ComputeBound}}, &observe.StepRun{Steps: 1, First: 5})
	want := &Phase{
		Steps: 3, Share: 0.25, Memory: 12. / 25, Compute: 4. / 25, Neither: 9. / 25,
		Operators: []Operator{{"a", 16. / 25, gpu.MemoryBound, 0.5}, {Host, 9. / 25, gpu.Unbound, 0}},
	}
	if d := cmp.Diff(want, f.phase(sim.Duration(100))); d != "" {
		t.Error(d)
	}
}

// TestWhatDoesNotServeIsTold has layouts that don't fit, or are too slow, beside one that serves.
func TestWhatDoesNotServeIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("several searches take some seconds")
	}
	c := compare(t, "h100:fp4 h100:fp8 b200:fp4", quick(), `slo.goodput="ttft <= 300ms, tpot <= 4ms"`, "model.name=Llama-3.1-8B")
	if s := c.Sides[0]; s.Plan != nil || !strings.Contains(s.Reason, `no weight format "fp4"`) || s.Label != "h100:fp4" {
		t.Errorf("h100:fp4: %q, %q", s.Label, s.Reason)
	}
	if s := c.Sides[1]; s.Plan == nil || s.Answer != nil || !strings.Contains(s.Reason, "no rate keeps the limits") {
		t.Errorf("h100:fp8: %q", s.Reason)
	}
	if s := c.Sides[2]; s.Reason != "" || s.Answer == nil || len(c.Flips) != 0 {
		t.Errorf("b200:fp4: %q, %d flips", s.Reason, len(c.Flips))
	}
	if text := c.Text(); !strings.Contains(text, "Out         h100:fp4: profile h100 has no") || !strings.Contains(text, "one price") {
		t.Error(text)
	}
}

// TestALayoutThatDoesNotFit is told with the smallest that does.
func TestALayoutThatDoesNotFit(t *testing.T) {
	src := source(t, "model.name=Llama-3.3-70B", "rate_per_s=2", `slo.goodput="ttft <= 2s"`)
	src.Content = strings.Replace(text, "num_gpu_blocks_override = 3000\n", "", 1)
	c, err := Compare(context.Background(), src, configs(t, "h100:bf16:tp1 h100:bf16:tp4"), quick())
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Sides[0].Reason; !strings.Contains(r, "does not fit") || !strings.Contains(r, "the smallest layout that fits, tensor_parallel_size 2") {
		t.Error(r)
	}
	if c.Sides[1].Reason != "" {
		t.Error(c.Sides[1].Reason)
	}
}

// TestConfigs by hand.
func TestConfigs(t *testing.T) {
	for text, want := range map[string]Config{
		"h100":           {"h100", "h100", "", 0},
		"B200:NVFP4:TP4": {"B200:NVFP4:TP4", "B200", gpu.FP4, 4},
		"h200:tp2:bf16":  {"h200:tp2:bf16", "h200", gpu.BF16, 2},
	} {
		if c := configs(t, text); c[0] != want {
			t.Errorf("%s: %+v", text, c[0])
		}
	}
}
