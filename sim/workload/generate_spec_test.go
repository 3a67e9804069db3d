package workload_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"servesim/sim"
	"servesim/sim/workload"
)

// The parts of a good spec, to which the table of bad ones adds a fault.
const (
	goodArrival = `arrival = { process = "poisson", rate_per_s = 5 }` + "\n"
	goodPrompt  = `prompt = { dist = "constant", value = 100 }` + "\n"
	goodOutput  = `output = { dist = "constant", value = 10 }` + "\n"
	goodEnd     = "requests = 10\n"
	goodLengths = goodPrompt + goodOutput
)

// badSpecs returns specs with the faults that they must give, in order: each
// the whole message, or its beginning if it ends in "...".
func badSpecs() []struct{ title, text, want string } {
	arrival := func(s string) string { return goodEnd + goodLengths + "arrival = " + s }
	prompt := func(s string) string { return goodEnd + goodArrival + goodOutput + "prompt = " + s }
	loop := func(s string) string { return goodEnd + goodLengths + "closed_loop = " + s }
	return []struct{ title, text, want string }{
		{"rate 0", arrival(`{ process = "poisson", rate_per_s = 0 }`),
			"arrival.rate_per_s: is 0; a rate in requests per second from 1e-06 to 1e+09 is allowed"},
		{"negative rate", arrival(`{ process = "constant", rate_per_s = -3 }`), "arrival.rate_per_s: is -3; ..."},
		{"no rate", arrival(`{ process = "poisson" }`),
			"arrival.rate_per_s: missing; a rate in requests per second from 1e-06 to 1e+09 is needed"},
		{"rate 0 over a preset", "preset = \"llmperf\"\nrate_per_s = 0", "rate_per_s: is 0; ..."},
		{"no process", arrival(`{ rate_per_s = 3 }`),
			"arrival.process: missing; choose one of constant, poisson, gamma, piecewise, on_off"},
		{"unknown process", arrival(`{ process = "pareto", rate_per_s = 3 }`), `arrival.process: is "pareto", which is unknown; choose one of constant, ...`},
		{"cv 0", arrival(`{ process = "gamma", rate_per_s = 3, cv = 0 }`), "arrival.cv: is 0; a coefficient of variation from 0.001 to 100 is allowed"},
		{"negative cv", arrival(`{ process = "gamma", rate_per_s = 3, cv = -1 }`), "arrival.cv: is -1; ..."},
		{"no cv", arrival(`{ process = "gamma", rate_per_s = 3 }`), "arrival.cv: missing; ..."},
		{"cv of Poisson", arrival(`{ process = "poisson", rate_per_s = 3, cv = 2 }`),
			`arrival.cv: has no meaning with process = "poisson", whose keys are rate_per_s; remove it`},
		{"no window", arrival(`{ process = "piecewise", rates_per_s = [1] }`), "arrival.window: missing; ..."},
		{"empty profile", arrival(`{ process = "piecewise", window = "1s", rates_per_s = [] }`), "arrival.rates_per_s: missing or empty; ..."},
		{"profile of zeros", arrival(`{ process = "piecewise", window = "1s", rates_per_s = [0, 0] }`), "arrival.rates_per_s: has only zeros, so nothing would ever arrive; ..."},
		{"negative piece", arrival(`{ process = "piecewise", window = "1s", rates_per_s = [1, -2] }`), "arrival.rates_per_s[1]: is -2; ..."},
		{"bursts without off", arrival(`{ process = "on_off", burst_size = { dist = "constant", value = 3 }, gap = { dist = "constant", value = "1ms" } }`),
			`arrival.off: missing; write for example { dist = "constant", value = "5ms" }`},
		{"endless burst", arrival(`{ process = "on_off", burst_size = { dist = "constant", value = 3 }, gap = { dist = "constant", value = "0s" }, off = { dist = "constant", value = "0s" } }`),
			"arrival.off: gives +Inf requests per second in the mean; ..."},
		{"burst by prompt", arrival(`{ process = "on_off", burst_size = { dist = "by_prompt", prompt_up_to = [1], p = [0, 100], values_by_prompt = [[0, 3]] }, gap = { dist = "constant", value = "0s" }, off = { dist = "constant", value = "1s" } }`),
			"arrival.burst_size: depends on a prompt, ..."},
		{"prompt of 0 tokens", prompt(`{ dist = "constant", value = 0 }`), "prompt.value: is 0; a number of tokens from 1 to 1073741824 is allowed"},
		{"no prompt", goodEnd + goodArrival + goodOutput, "prompt: missing; write for example ..."},
		{"negative stddev", prompt(`{ dist = "normal", mean = 9, stddev = -1 }`), "prompt.stddev: is -1; ..."},
		{"sigma 0", prompt(`{ dist = "lognormal", mean = 9, sigma = 0 }`), "prompt.sigma: is 0; ..."},
		{"mean and mu", prompt(`{ dist = "lognormal", mean = 9, mu = 2, sigma = 1 }`), "prompt: a lognormal needs either mean, in tokens, or mu, ..."},
		{"limits crossed", prompt(`{ dist = "normal", mean = 9, stddev = 1, min = 9, max = 8 }`), "prompt.min: is 9, above max, which is 8"},
		{"limits far away", prompt(`{ dist = "normal", mean = 900, stddev = 10, max = 300 }`), "prompt: 0 % of what this distribution draws lies from 1 to 300 tokens; at least 1 % is needed: change min or max, or the distribution"},
		{"knots do not reach 100", prompt(`{ dist = "knots", p = [0, 50], values = [1, 2] }`), "prompt.p: runs from 0 to 50; the first must be 0 and the last 100"},
		{"knots fall", prompt(`{ dist = "knots", p = [0, 50, 100], values = [1, 9, 2] }`), "prompt.values: entry 3 is 2 after 9; values must not fall"},
		{"percentages repeat", prompt(`{ dist = "knots", p = [0, 50, 50, 100], values = [1, 2, 3, 4] }`), "prompt.p: entry 3 is 50 after 50; percentages must rise"},
		{"knots of two lengths", prompt(`{ dist = "knots", p = [0, 100], values = [1, 2, 3] }`), "prompt.p: has 2 entries, but values has 3; ..."},
		{"empty mixture", prompt(`{ dist = "mixture", parts = [] }`), "prompt.parts: missing or empty; ..."},
		{"part without weight", prompt(`{ dist = "mixture", parts = [{ dist = "constant", value = 3 }] }`), "prompt.parts[0].weight: missing; ..."},
		{"weight outside", prompt(`{ dist = "constant", value = 3, weight = 2 }`), "prompt.weight: has no meaning outside a mixture; remove it"},
		{"prompt by prompt", prompt(`{ dist = "by_prompt", prompt_up_to = [9], p = [0, 100], values_by_prompt = [[1, 2]] }`), "prompt: is by_prompt, which only an output can be; ..."},
		{"ragged bins", goodEnd + goodArrival + goodPrompt + `output = { dist = "by_prompt", prompt_up_to = [9], p = [0, 100], values_by_prompt = [[1, 2, 3]] }`,
			"output.values_by_prompt[0]: has 3 values, but p has 2; ..."},
		{"no end", goodArrival + goodLengths, "requests: missing; the arrivals would go on for ever: set requests or duration"},
		{"requests 0", "requests = 0\n" + goodArrival + goodLengths, "requests: is 0; ..."},
		{"duration 0", "duration = \"0s\"\n" + goodArrival + goodLengths, "duration: is 0s; ..."},
		{"no arrival", goodEnd + goodLengths, "arrival: missing; ..."},
		{"0 users", loop(`{ users = 0 }`), "closed_loop.users: is 0; a number of users from 1 to 10000000 is allowed"},
		{"negative think time", loop(`{ users = 1, think_time = { dist = "constant", value = "-1s" } }`), "closed_loop.think_time.value: is -1s; a duration from 0s to 86400s is allowed"},
		{"endless users", goodLengths + `closed_loop = { users = 1 }`, "requests: missing; the users would go on for ever: ..."},
		{"users with arrivals", goodArrival + loop(`{ users = 1 }`), "closed_loop: given beside arrival; ..."},
		{"users with a rate", "rate_per_s = 2\n" + loop(`{ users = 1 }`), "rate_per_s: has no meaning for a closed loop; ..."},
		{"class without name", goodEnd + goodArrival + goodLengths + `classes = [{ weight = 1 }]`, "classes[0].name: missing; ..."},
		{"class twice", goodEnd + goodArrival + goodLengths + `classes = [{ name = "a", weight = 1 }, { name = "a", weight = 1 }]`, `classes[1].name: is "a", as that of classes[0]; names must differ`},
		{"class of weight 0", goodEnd + goodArrival + goodLengths + `classes = [{ name = "a", weight = 0 }]`, "classes[0].weight: is 0; ..."},
		{"fraction above 1", goodEnd + goodArrival + goodLengths + `cancel = { fraction = 2, after = { dist = "constant", value = "1s" } }`, "cancel.fraction: is 2; a share from 0 to 1 is allowed"},
		{"cancelled at once", goodEnd + goodArrival + goodLengths + `cancel = { fraction = 1, after = { dist = "constant", value = "0s" } }`, "cancel.after: can be 0, which would mean never; ..."},
		{"unknown preset", `preset = "azure"`, `preset: is "azure", which is unknown; did you mean "azure-chat" or "azure-code"?`},
		{"prompt beside a class's own", "preset = \"chat-with-long-prompts\"\n" + goodPrompt,
			`prompt: would not change class "long" of the preset, which has its own; give classes too (classes = [] for none)`},
		{"two faults", "requests = -1\n" + goodArrival + goodPrompt + `output = { dist = "uniform", min = 3 }`,
			"requests: is -1; ...\noutput.max: missing; ..."},
	}
}

func TestBadSpecs(t *testing.T) {
	for _, c := range badSpecs() {
		t.Run(c.title, func(t *testing.T) {
			spec, err := workload.ParseSpec("spec.toml", c.text)
			if err != nil {
				t.Fatal(err)
			}
			want, faults := strings.Split(c.want, "\n"), spec.Check()
			if len(faults) != len(want) {
				t.Fatalf("faults %q, want %q", faults, want)
			}
			for i, f := range faults {
				var fault *workload.SpecFault
				if !errors.As(f, &fault) {
					t.Errorf("%v is a %T, not a *SpecFault", f, f)
				}
				start, cut := strings.CutSuffix(want[i], "...")
				if got := f.Error(); got != want[i] && !(cut && strings.HasPrefix(got, start)) {
					t.Errorf("fault %q, want %q", got, want[i])
				}
			}
			if source, err := spec.Source(1); err == nil || err.Error() != faults[0].Error() {
				t.Errorf("Source gives %v, %v; want the first fault", source, err)
			}
		})
	}
}

func TestParseSpecNamesEveryLine(t *testing.T) {
	const text = `requests = "many"
arival = { process = "poisson" }
prompt = { dist = "constant", valu = 3 }
duration = "5 parsecs"`
	_, err := workload.ParseSpec("spec.toml", text)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"spec.toml:1: requests: ", "spec.toml:2: arival: ", "spec.toml:3: prompt.valu: ", "spec.toml:4: duration: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}

// FuzzSpec: whatever the text, either there are faults, or there is a source
// that keeps its promises.
func FuzzSpec(f *testing.F) {
	for _, p := range workload.Presets() {
		f.Add(p.Text)
	}
	for _, c := range badSpecs() {
		f.Add(c.text)
	}
	for _, a := range arrivalTables() {
		f.Add("requests = 9\n" + a + "\n" + lengthTables()[1])
	}
	f.Add(goodEnd + goodLengths + `closed_loop = { users = 3, ramp = "1s", think_time = { dist = "exponential", mean = "2s" } }`)
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := workload.ParseSpec("spec.toml", text)
		if err != nil {
			return
		}
		if spec.ClosedLoop != nil && spec.ClosedLoop.Users != nil && *spec.ClosedLoop.Users > 1000 {
			return // allowed, but slow to try
		}
		faults := spec.Check()
		source, err := spec.Source(1)
		if (err != nil) != (len(faults) > 0) {
			t.Fatalf("faults %v, but Source gives %v", faults, err)
		}
		if err != nil {
			return
		}
		var last sim.Time
		for id := range int64(50) {
			r, err := source.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				if !strings.Contains(err.Error(), "106 days") {
					t.Fatal(err)
				}
				return
			}
			if r.ID != id || r.Arrival < last || r.Prompt < 1 || r.Output < 1 || r.Cancel < 0 {
				t.Fatalf("request %d, after one at %v, is %+v", id, last, r)
			}
			last = r.Arrival
		}
	})
}
