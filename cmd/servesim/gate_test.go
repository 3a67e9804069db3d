package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// gating is a gate that passes, on a scenario that runs in no time.
const gating = `schema = 1
name = "small"
class = "canary"

[scenario]
seed = 3
workload = { requests = 100, arrival = { process = "poisson", rate_per_s = 4.0 }, prompt = { dist = "lognormal", mean = 1000, sigma = 0.6, max = 8000 }, output = { dist = "constant", value = 20 } }
engine = { policy = "vllm@0.20" }
hardware = { gpu = "h100" }
model = { name = "Llama-3.1-8B" }

[dialect]
tool = "vllm"
version = "009e6d4a"

[slo]
limits = "ttft <= 500ms, tpot <= 25ms"

[load]
rate_per_s = 4.0
sweep = [25, 50, 100, 150]
`

// gated returns gating with pieces of its text replaced: old, new, old, new.
func gated(pieces ...string) string {
	text := gating
	for i := 0; i < len(pieces); i += 2 {
		if !strings.Contains(text, pieces[i]) {
			panic("the gate has no " + pieces[i])
		}
		text = strings.Replace(text, pieces[i], pieces[i+1], 1)
	}
	return text
}

// A gateCase is a gate file, and files that were measured.
type gateCase struct {
	title, gate string
	args        string // after the gate file
	files       map[string]string
}

// refusals are gates that say nothing.
func refusals() []gateCase {
	const slo = "[slo]\nlimits = \"ttft <= 500ms, tpot <= 25ms\"\n"
	const throughput = "[[threshold]]\nmetric = \"output_tokens_per_s\"\nmin = 10\n"
	const mean = "[[threshold]]\nmetric = \"ttft\"\nstatistic = \"mean\"\nmax = \"200ms\"\n"
	results := func(level string, runs, requests int, each func(i int) (prompt, ttft int)) map[string]string {
		return map[string]string{level + ".json": vllmResults(runs, requests, 4, each)}
	}
	good := func(i int) (prompt, ttft int) { return 100 + i, 100 }
	return []gateCase{
		{"throughput alone", gated(slo, throughput), "", nil},
		{"a mean without P99", gating + mean, "", nil},
		{"percentiles without P99", gated(`class = "canary"`, "class = \"canary\"\npercentiles = [50, 90]"), "", nil},
		{"no dialect", gated("[dialect]\ntool = \"vllm\"\nversion = \"009e6d4a\"\n", ""), "", nil},
		{"a dialect without version", gated("version = \"009e6d4a\"\n", ""), "", nil},
		{"no sweep", gated("sweep = [25, 50, 100, 150]\n", ""), "", nil},
		{"half a sweep", gated("[25, 50, 100, 150]", "[100]"), "", nil},
		{"no load", gated("[load]\nrate_per_s = 4.0\nsweep = [25, 50, 100, 150]\n", ""), "", nil},
		{"no SLO", gated(slo, ""), "", nil},
		{"an SLO of no request", gated(`limits = "ttft <= 500ms, tpot <= 25ms"`, `preset = "mlperf-llama3.1-8b-server"`), "", nil},
		{"identical prompts", gated(`prompt = { dist = "lognormal", mean = 1000, sigma = 0.6, max = 8000 }`, `prompt = { dist = "constant", value = 1000 }`), "", nil},
		{"too few runs", gating + "[runs]\nreplications = 5\n", "", nil},
		{"too few requests", gated("requests = 100,", "") + "[runs]\nrequests = 50\n", "", nil},
		{"too few requests of the scenario", gated("requests = 100,", "requests = 60,"), "", nil},
		{"too few requests in the end", gated("requests = 100,", `duration = "20s",`), "", nil},
		{"a trace", gated(`workload = { requests = 100, arrival = { process = "poisson", rate_per_s = 4.0 }, prompt = { dist = "lognormal", mean = 1000, sigma = 0.6, max = 8000 }, output = { dist = "constant", value = 20 } }`,
			`workload = { trace = "t.csv" }`, "rate_per_s = 4.0\nsweep", "concurrency = 4\nsweep"), "", map[string]string{"t.csv": azure}},
		{"a limit on nothing", gated("tpot <= 25ms", "tpot <= 25ms, e2e p99 <= 9s for class long"), "", nil},
		{"measured: no sweep and too few runs", gating, "--from 100=100.json", results("100", 3, 120, good)},
		{"measured: too few requests", gating, "--from 100=100.json", results("100", 30, 40, good)},
		{"measured: identical prompts", gating, "--from 100=100.json", results("100", 30, 120, func(int) (int, int) { return 512, 100 })},
		{"measured: copies", gating, "--from 100=100.json", results("100", 30, 120, func(i int) (int, int) { return 100 + i%120, 100 })},
		{"measured: a file twice", gating, "--from 100=100.json 150=100.json", results("100", 30, 120, good)},
		{"measured: another tool", gated(`tool = "vllm"`, `tool = "aiperf"`), "--from 100=100.json", results("100", 30, 120, good)},
		{"measured: no load tells", gating, "--from 77.json", map[string]string{"77.json": vllmResults(1, 120, 3, good)}},
		{"measured: a limit on the queue", gated("ttft <= 500ms", "queue <= 500ms"), "--from 100=100.json", results("100", 30, 120, good)},
	}
}

// misconfigured are gates with mistakes in them.
func misconfigured() []gateCase {
	return []gateCase{
		{"nothing but a version", "schema = 1\n", "", nil},
		{"no TOML", "schema = 1\nclass canary\n", "", nil},
		{"another version", "schema = 2\n", "", nil},
		{"many faults at once", gated(`class = "canary"`, `clas = "canary"`, "tpot <= 25ms", "tpott <= 25ms", "[25, 50, 100, 150]", "[25, 50, 50, 100, 150]", `tool = "vllm"`, `tool = "vlm"`), "", nil},
		{"an unknown class", gated("canary", "prod"), "", nil},
		{"two targets", gated("rate_per_s = 4.0\nsweep", "rate_per_s = 4.0\nconcurrency = 8\nsweep"), "", nil},
		{"no target", gated("rate_per_s = 4.0\nsweep", "sweep"), "", nil},
		{"a rate below 0", gated("rate_per_s = 4.0\nsweep", "rate_per_s = -4.0\nsweep"), "", nil},
		{"half a user", gated("rate_per_s = 4.0\nsweep", "concurrency = 6\nsweep"), "", nil},
		{"a share of 0", gated("[25, 50, 100, 150]", "[0, 25, 50, 100, 150]"), "", nil},
		{"a peak without benchmark", gated("rate_per_s = 4.0\nsweep", "rate_per_s = 4.0\npeak_rate_per_s = 8.0\nsweep"), "", nil},
		{"a peak below the target", gated("rate_per_s = 4.0\nsweep", "rate_per_s = 4.0\nbenchmark = true\npeak_rate_per_s = 2.0\nsweep"), "", nil},
		{"a contradiction of the class", gated("tpot <= 25ms", "tpot <= 25ms, goodput >= 90 %"), "", nil},
		{"an unknown preset", gated(`limits = "ttft <= 500ms, tpot <= 25ms"`, `preset = "consumer"`), "", nil},
		{"thresholds of all sorts", gating + "[[threshold]]\nmetric = \"ttfb\"\n[[threshold]]\nmetric = \"ttft\"\nstatistic = \"p95\"\nmax = \"1s\"\n" +
			"[[threshold]]\nmetric = \"e2e\"\nstatistic = \"median\"\nmax = \"0s\"\nmin = 3\n[[threshold]]\nmetric = \"requests_per_s\"\nmax = \"1s\"\n[[threshold]]\nmetric = \"requests_per_s\"\nmin = -1\n", "", nil},
		{"no scenario", gated(gating[strings.Index(gating, "[scenario]"):strings.Index(gating, "[dialect]")], ""), "", nil},
		{"a scenario that isn't there", gated(gating[strings.Index(gating, "[scenario]"):strings.Index(gating, "[dialect]")], "", "class =", "scenario = \"none.toml\"\nclass ="), "", nil},
		{"a scenario at fault", gated(`gpu = "h100"`, `gpu = "h101"`, "vllm@0.20", "vllm@0.2"), "", nil},
		{"the rate given twice", gating + "[set]\nrate_per_s = 5\n", "", nil},
		{"a transform of the rate", gating + "[set]\n\"transform.rate\" = 2\n", "", nil},
		{"percentiles that aren't", gated(`class = "canary"`, "class = \"canary\"\npercentiles = [50, 90, 99, 101]"), "", nil},
		{"a file that isn't there", gating, "--from 100=none.json", nil},
		{"a label outside the sweep", gating, "--from 75=100.json", map[string]string{"100.json": vllmResults(1, 120, 4, func(i int) (int, int) { return i, 1 })}},
		{"a file of no tool", gating, "--from 100=100.json", map[string]string{"100.json": "{}"}},
		{"files without --from", gating, "100.json", nil},
		{"no jobs", gating, "--jobs 0", nil},
	}
}

// gateText runs cases and returns what they said, which is code 2 and nothing on stdout.
func gateText(t *testing.T, cases []gateCase) string {
	var b strings.Builder
	for _, c := range cases {
		files := map[string]string{"gate.toml": c.gate}
		for name, text := range c.files {
			files[name] = text
		}
		inFolder(t, files)
		o := do(t, append([]string{"gate", "gate.toml"}, strings.Fields(c.args)...)...)
		if o.code != exitUsage || o.stdout != "" {
			t.Errorf("%s: exit %d, stdout %q", c.title, o.code, o.stdout)
		}
		fmt.Fprintf(&b, "# %s\n%s\n", c.title, o.stderr)
	}
	return b.String()
}

func TestGateRefusals(t *testing.T) {
	folder := goldenFolder(t)
	goldenIn(t, folder, "gate-refused.txt", gateText(t, refusals()))
}

func TestGateMisconfigured(t *testing.T) {
	folder := goldenFolder(t)
	goldenIn(t, folder, "gate-misconfigured.txt", gateText(t, misconfigured()))
}

// vllmResults is what vllm bench serve --save-detailed --append-result writes of runs
// of requests that come rate times a second, each with a prompt and a TTFT in
// milliseconds and three tokens 10 ms apart.
func vllmResults(runs, requests int, rate float64, each func(i int) (prompt, ttft int)) string {
	var b strings.Builder
	for r := range runs {
		var in, out, ttfts, itls, starts, errs []string
		for i := range requests {
			prompt, ttft := each(r*requests + i)
			in, out = append(in, fmt.Sprint(prompt)), append(out, "4")
			ttfts, itls = append(ttfts, fmt.Sprintf("%.3f", float64(ttft)/1000)), append(itls, "[0.010, 0.010, 0.010]")
			starts, errs = append(starts, fmt.Sprintf("%.4f", 1000+float64(i)/rate)), append(errs, `""`)
		}
		list := func(s []string) string { return "[" + strings.Join(s, ", ") + "]" }
		fmt.Fprintf(&b, `{"date": "20260801-120000", "endpoint_type": "vllm", "backend": "vllm", "model_id": "m", "tokenizer_id": "m", "num_prompts": %d, "request_rate": %v, "burstiness": 1.0, "max_concurrency": null, `+
			`"duration": 100.0, "completed": %[1]d, "failed": 0, "total_input_tokens": 1, "total_output_tokens": 1, "request_throughput": 1.0, "output_throughput": 1.0, "total_token_throughput": 1.0, `+
			`"input_lens": %[3]s, "output_lens": %s, "ttfts": %s, "itls": %s, "start_times": %s, "errors": %s}`+"\n",
			requests, rate, list(in), list(out), list(ttfts), list(itls), list(starts), list(errs))
	}
	return b.String()
}

// TestGateExitCodes holds the code, the output and the files of each verdict.
func TestGateExitCodes(t *testing.T) {
	folder := goldenFolder(t)
	for _, c := range []struct {
		name, gate string
		code       int
	}{
		{"pass", gated("limits = \"ttft <= 500ms", "limits = \"ttft <= 250ms"), exitOK},
		{"missed", gated("limits = \"ttft <= 500ms", "limits = \"ttft <= 80ms"), exitSLO},
		{"close", gated("limits = \"ttft <= 500ms", "limits = \"ttft <= 88ms"), exitClose},
	} {
		inFolder(t, map[string]string{"gate.toml": c.gate})
		o := do(t, "gate", "gate.toml", "--junit", "g.xml", "--markdown", "g.md")
		if o.code != c.code {
			t.Errorf("%s: exit %d, want %d", c.name, o.code, c.code)
		}
		all := fmt.Sprintf("exit %d\n%s%s", o.code, o.stderr, o.stdout)
		for _, file := range []string{"g.xml", "g.md"} {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all += "\n--- " + file + "\n" + string(text)
		}
		goldenIn(t, folder, "gate-"+c.name+".txt", all)
		if c.code != exitClose {
			continue // one is enough
		}
		j := do(t, "gate", "gate.toml", "--json", "--jobs", "1")
		if more := do(t, "gate", "gate.toml", "--json", "--jobs", "5"); more != j || j.code != c.code {
			t.Errorf("%s: exit %d, and the JSON of 1 and of 5 jobs differ", c.name, j.code)
		}
		var read struct {
			Verdict string
			Loads   []struct{ Goodput float64 }
		}
		if err := json.Unmarshal([]byte(j.stdout), &read); err != nil || len(read.Loads) != 4 || !strings.Contains(o.stdout, read.Verdict) {
			t.Errorf("%s: %v, %+v", c.name, err, read)
		}
	}
}

// TestGateRefusedFiles holds that CI sees a refusal too.
func TestGateRefusedFiles(t *testing.T) {
	inFolder(t, map[string]string{"gate.toml": gated("canary", "prod")})
	if o := do(t, "gate", "gate.toml", "--junit", "g.xml", "--markdown", "g.md"); o.code != exitUsage {
		t.Errorf("exit %d", o.code)
	}
	for file, want := range map[string]string{"g.xml": `type="refused"`, "g.md": "REFUSED"} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) || !strings.Contains(string(text), "gate.toml:3") {
			t.Errorf("%s: %v\n%s", file, err, text)
		}
	}
}

// TestGateMeasured judges results by hand: at the target 1 request of 50 is late in
// each run, which is 98 %, and beyond it 1 of 5.
func TestGateMeasured(t *testing.T) {
	folder := goldenFolder(t)
	late := func(every int) func(i int) (int, int) {
		return func(i int) (int, int) {
			if i%every == 0 {
				return 100 + i%3001, 900
			}
			return 100 + i%3001, 100
		}
	}
	files := map[string]string{
		"gate.toml": gating, "strict.toml": gated("canary", "production"),
		"25.json": vllmResults(30, 100, 1, late(1<<40)), "50.json": vllmResults(30, 100, 2, late(1<<40)),
		"100.json": vllmResults(30, 100, 4, late(50)), "150.json": vllmResults(30, 100, 6, late(5)),
	}
	files["25.json"] = vllmResults(30, 100, 1, func(i int) (int, int) { return 100 + i%3001, 100 })
	inFolder(t, files)
	out := ok(t, "gate", "gate.toml", "--from", "25=25.json", "50%=50.json", "100=100.json", "150=150.json")
	for _, want := range []string{"98.0 %", "80.0 %", "18.00 points", "FLAGGED", "Verdict     PASS", "between 100 % and 150 %"} {
		if !strings.Contains(unfolded(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if untold := ok(t, "gate", "gate.toml", "--from", "150.json", "25.json", "100.json", "50.json"); untold != out {
		t.Errorf("without labels:\n%s", untold)
	}
	goldenIn(t, folder, "gate-measured.txt", out)
	if o := do(t, "gate", "strict.toml", "--from", "150.json", "25.json", "100.json", "50.json"); o.code != exitSLO {
		t.Errorf("production at 98 %%: exit %d, %s", o.code, o.stderr)
	}
}

// TestGateIsInterrupted holds that an interrupted gate leaves nothing.
func TestGateIsInterrupted(t *testing.T) {
	inFolder(t, map[string]string{"gate.toml": gating})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, stderr bytes.Buffer
	code := Main(ctx, env{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr}, []string{"gate", "gate.toml", "--junit", "g.xml"})
	if _, err := os.Stat("g.xml"); code != exitFailed || out.Len() > 0 || err == nil || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit %d, %q, %q, g.xml: %v", code, out.String(), stderr.String(), err)
	}
}

// TestGateExample runs the gate of examples.
func TestGateExample(t *testing.T) {
	if out := ok(t, "gate", "../../examples/gate/gate.toml"); !strings.Contains(out, "Verdict     PASS") {
		t.Error(out)
	}
}
