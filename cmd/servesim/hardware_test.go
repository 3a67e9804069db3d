package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servesim/scenario"
)

// hastily are flags with which a comparison takes less than a second.
const hastily = " --requests 1000 --runs 5 --resolution 10"

func TestHardwareGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.toml")
	must(os.WriteFile(path, []byte(bounded()), 0o644))
	golden(t, "hardware.txt", ok(t, strings.Fields("hardware h100 h100:fp4 b200:nvfp4:tp2 --scenario "+path+" --price b200=5.50 --power b200=900"+hastily)...))
}

// TestHardwareInJSON reads what programs read.
func TestHardwareInJSON(t *testing.T) {
	if testing.Short() {
		t.Skip("the golden file has searches enough")
	}
	inFolder(t, map[string]string{"s.toml": bounded()})
	type trial struct {
		Latencies []struct {
			Metric string `json:"metric"`
			P99    int64  `json:"p99_ps"`
		} `json:"latencies"`
		Trial struct {
			Rate float64 `json:"requests_per_s"`
		} `json:"trial"`
	}
	var c struct {
		Kind  string  `json:"kind"`
		Rate  float64 `json:"rate_requests_per_s"`
		Sides []struct {
			Label    string `json:"configuration"`
			Capacity struct {
				Rate float64 `json:"requests_per_s"`
			} `json:"capacity"`
			AtRate  trial `json:"at_rate"`
			AtShare trial `json:"at_share"`
			Prefill struct {
				Operators []struct {
					Name  string `json:"operator"`
					Bound string `json:"bound"`
				} `json:"operators"`
			} `json:"steps_with_prompt_tokens"`
		} `json:"configurations"`
		Flips []struct {
			First string  `json:"first"`
			Ratio float64 `json:"flip_price_ratio"`
		} `json:"price_flips"`
	}
	args := " h100 b200 --rate 12 --share 50%" + hastily
	text := ok(t, strings.Fields("hardware --scenario s.toml -o json"+args)...)
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if c.Kind != "servesim-hardware" || c.Rate != 12 || len(c.Sides) != 2 || len(c.Flips) != 1 || c.Flips[0].First != "b200:bf16:tp1" || c.Flips[0].Ratio < 1 {
		t.Fatalf("%+v", c)
	}
	for _, s := range c.Sides {
		if r := s.AtShare.Trial.Rate / s.Capacity.Rate; s.AtRate.Trial.Rate != 12 || r < 0.499 || r > 0.501 || len(s.AtRate.Latencies) != 4 || s.AtRate.Latencies[3].P99 <= 0 {
			t.Errorf("%s: %+v", s.Label, s)
		}
		if len(s.Prefill.Operators) < 8 {
			t.Errorf("%s: operators %+v", s.Label, s.Prefill.Operators)
		}
	}
	o := outcomeWith(t, bounded(), strings.Fields("hardware --scenario - --json"+args)...)
	if o.code != exitOK || o.stdout != text {
		t.Errorf("from standard input: exit %d, %s", o.code, o.stderr)
	}
}

// TestHardwareOnAPreset has one take the place of everything that a scenario says of
// its requests.
func TestHardwareOnAPreset(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": bounded()})
	o := &hardwareOptions{}
	cmd := newHardware(env{}, func(_ context.Context, got *hardwareOptions) error { o = got; return nil })
	cmd.SetArgs(strings.Fields("h100 b200 --scenario s.toml --workload llmperf"))
	must(cmd.Execute())
	p, err := scenario.Load(o.source)
	if err != nil {
		t.Fatal(err)
	}
	if facts := linesOf(p.Facts()).folded(0); !strings.Contains(facts, "Scenario    llmperf, seed 3") || !strings.Contains(facts, "Workload    llmperf: poisson arrivals at 5 requests/s") {
		t.Error(facts)
	}
}

func hardwareFaults() []faultCase {
	fault := func(title, args string, wants ...string) faultCase {
		return faultCase{title, map[string]string{"s.toml": bounded()}, "hardware --scenario s.toml " + args + hastily, wants}
	}
	return []faultCase{
		{"hardware without limits", map[string]string{"s.toml": small}, "hardware h100 b200 --scenario s.toml", []string{"no limits", "--slo with one of"}},
		fault("one GPU alone", "h100", "found 1 configuration ", "two or more", "GPU[:DTYPE][:tpN]"),
		{"no GPU", map[string]string{"s.toml": bounded()}, "hardware --scenario s.toml", []string{"found 0 configurations"}},
		fault("the same GPU twice", "h100 H100:bf16:tp1", "h100 and H100:bf16:tp1 are the same configuration, h100:bf16:tp1"),
		fault("an unknown GPU to compare", "h100 b2000", `"b2000"`, "b200"),
		fault("an unknown format to compare", "h100:fp9 b200", `"fp9" is not a number format`),
		fault("TP of three to compare", "h100:tp3 b200", `found "tp3"`),
		fault("two TP of one configuration", "h100:tp1:tp2 b200", `"tp2" says again`),
		fault("a GPU beside those to compare", "h100 b200 --gpu h200", "--gpu h200", "configurations name the GPUs"),
		fault("a TP that nothing takes", "h100:tp1 b200:tp2 --tp 4", "--tp 4", "each configuration says its own"),
		fault("a price of a GPU that isn't compared", "h100 b200 --price h200=3", "price of h200", "h100, b200"),
		fault("power below idle", "h100 b200 --power h100=50", "power of h100: found 50 W", "70 W"),
		fault("power without an amount", "h100 b200 --power h100", "GPU=W"),
		fault("no layout that fits", "h100:fp4 h200:fp4", `h100:fp4: profile h100 has no weight format "fp4"`, "h200:fp4: "),
		fault("limits that no GPU keeps", "h100 b200 --goodput ttft:1", "h100:bf16:tp1: no rate keeps the limits", "b200:bf16:tp1: no rate"),
		fault("rate of nothing to compare at", "h100 b200 --rate 0", "--rate 0", "more than 0"),
		fault("share of nothing to compare at", "h100 b200 --share 0", "--share 0"),
		fault("share of two", "h100 b200 --share 200%", "--share 200%"),
		fault("a scenario among GPUs", "t.toml h100 b200", "t.toml", "no such file"),
		fault("two workloads", "h100 b200 --workload llmperf --trace t.csv", "--workload llmperf and --trace t.csv"),
		fault("an unknown workload to compare on", "h100 b200 --workload nope", "nope", "azure-chat"),
		{"a scenario file in the place of a GPU", map[string]string{"s.toml": bounded()}, "hardware s.toml b200", []string{"arguments are GPUs", "--scenario"}},
		{"hardware on a trace on stdin", map[string]string{"s.toml": bounded()}, "hardware h100 b200 --scenario s.toml --trace -", []string{"standard input", "write it to a file first"}},
	}
}
