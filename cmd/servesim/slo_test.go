package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// limitFaults are faults of limits: each names its key, the place in the text, and
// what is allowed.
func limitFaults() []faultCase {
	return []faultCase{
		withFlags("a limit without a unit", "--goodput ttft<=500", "--goodput ttft<=500: slo.goodput: column 7: 500 has no unit; write 500ms"),
		withFlags("two limits at fault", "--goodput ttft<=5,tpott<=3ms", "column 7: 5 has no unit", `column 9: unknown metric "tpott"; did you mean "tpot"?`),
		withFlags("a percentile of nothing", "--goodput itl<=5ms", "itl is every gap of the run; limit a percentile of it"),
		withFlags("unknown limits by name", "--slo consumer-chat", "--slo consumer-chat: slo.preset: no preset of limits is called", "consumer-chat-70b"),
		withFlags("no limits by name", "--slo=", "--slo is empty"),
		withFlags("the least share twice", "--goodput ttft:5,goodput>=9% --set min_goodput=0.9", "slo.min_goodput", "leave one out"),
		withFlags("a share of limits on the run", "--slo mlperf-llama2-70b-server --set min_goodput=0.9", "slo.min_goodput", "nothing says which are good"),
		withFlags("a share of nothing", "--goodput goodput>=9%", "--goodput goodput>=9%: slo.goodput", "nothing says which are good"),
		withFlags("an unknown form", "--output yaml", "--output: no format is called", "text, json"),
		withFlags("two forms", "--output text --json", "--json and --output text are two forms"),
		withFlags("edges that fall", "--output-edges 300,100", "--output-edges: 100 is not above 300"),
		withFlags("edges that are printed", "--print --output-edges 300", "--print runs nothing, so --output-edges"),
	}
}

// A preset of limits takes the place of the file's; --goodput changes limits of it.
func TestPresetOfLimits(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small + "[slo]\ngoodput = \"ttft:5\"\nmin_goodput = 1.0\n"})
	for flags, want := range map[string]string{
		"":                            `goodput = "ttft:5"`,
		"--slo tight":                 `# goodput = "ttft <= 300ms, tpot <= 10ms, e2e <= 1.5s"  # of preset tight`,
		"--slo tight --goodput e2e:1": `goodput = "e2e:1"`,
		"--slo voice":                 "# min_goodput = 0.99  # of preset voice",
	} {
		out := ok(t, slices.Concat([]string{"run", "s.toml", "--print"}, strings.Fields(flags))...)
		if !strings.Contains(out, want+"\n") {
			t.Errorf("%s prints\n%s\nwant %s", flags, out, want)
		}
	}
	out := ok(t, "run", "s.toml", "--slo", "tight", "--goodput", "e2e <= 10s")
	for _, want := range []string{"  ttft <= 300ms ", "  tpot <= 10ms ", "  e2e <= 10s "} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
}

// A limit on the run has a verdict, and where it is missed the exit code says so.
func TestVerdicts(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	if o := do(t, "run", "s.toml", "--goodput", "ttft p99 < 1us, itl max <= 10s"); o.code != exitSLO || !strings.Contains(o.stderr, "ttft p99 < 1us") || strings.Contains(o.stderr, "itl max") {
		t.Errorf("exit %d, stderr %q", o.code, o.stderr)
	}
	out := ok(t, "run", "s.toml", "--slo", "mlperf-llama3.1-8b-server", "--json")
	var got struct {
		Goodput  any
		Verdicts []struct{ Limit, Verdict string }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Verdicts) != 2 || got.Verdicts[0].Limit != "ttft p99 < 2s" || got.Verdicts[0].Verdict != "PASS" || got.Goodput != nil {
		t.Errorf("%+v", got)
	}
	if list := ok(t, "list", "slos"); !strings.Contains(list, "consumer-chat-70b") || strings.Count(list, "\n") != strings.Count(list, ".\n") {
		t.Error(list)
	}
}

// The ranges of output tokens are those that are asked for.
func TestOutputEdges(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	if out := ok(t, "run", "s.toml", "--output-edges", "20,21"); !strings.Contains(out, "E2E          below 20           0  no data") || !strings.Contains(out, "20                20  ") {
		t.Error(out)
	}
	if out := ok(t, "run", "s.toml", "--output-edges", "none"); strings.Contains(out, "output tokens  count") {
		t.Error(out)
	}
}

// -o json is --json.
func TestForms(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	for _, verb := range []string{"run s.toml", "compare s.toml --vary seed=1,2"} {
		args := strings.Fields(verb)
		if ok(t, append(args, "-o", "json")...) != ok(t, append(args, "--json")...) || ok(t, append(args, "-o", "text")...) != ok(t, args...) {
			t.Errorf("%s: the forms differ", verb)
		}
	}
}
