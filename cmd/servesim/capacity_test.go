package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bounded is small with limits that bind at a rate which few requests find.
func bounded() string {
	return strings.Replace(small, "value = 20 }", "value = 40 }", 1) + "\n[slo]\ngoodput = \"ttft <= 300ms, tpot <= 25ms\"\n"
}

// quickly are flags with which a search takes about a second.
const (
	quickly = fewRuns + " --resolution 5"
	fewRuns = " --requests 2000 --runs 10"
)

func TestCapacityGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.toml")
	must(os.WriteFile(path, []byte(bounded()), 0o644))
	golden(t, "capacity.txt", ok(t, strings.Fields("capacity "+path+quickly)...))
	golden(t, "fleet.txt", ok(t, strings.Fields("capacity "+path+" --for-rate 60 --gpus h100,b200 --tps 1,2 --spare 1 --price b200=5.50"+fewRuns)...))
}

// TestCapacityInJSON reads what programs read.
func TestCapacityInJSON(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": bounded()})
	var a struct {
		Kind    string  `json:"kind"`
		Rate    float64 `json:"requests_per_s"`
		Low     float64 `json:"low_requests_per_s"`
		High    float64 `json:"high_requests_per_s"`
		Binding struct {
			Limit string  `json:"limit"`
			Used  float64 `json:"used_share"`
		} `json:"binding"`
		Table []struct {
			Share float64 `json:"share_of_capacity"`
			Rate  float64 `json:"requests_per_s"`
		} `json:"table"`
	}
	if err := json.Unmarshal([]byte(ok(t, strings.Fields("capacity s.toml --json"+quickly)...)), &a); err != nil {
		t.Fatal(err)
	}
	if a.Kind != "servesim-capacity" || a.Low > a.Rate || a.Rate >= a.High || a.Binding.Limit != "goodput >= 99 %" || a.Binding.Used <= 1 || len(a.Table) != 8 {
		t.Errorf("%+v", a)
	}
	for _, row := range a.Table {
		if r := row.Rate / (row.Share * a.Rate); r < 0.999 || r > 1.001 {
			t.Errorf("%g of %g is %g", row.Share, a.Rate, row.Rate)
		}
	}
	var f struct {
		Kind    string `json:"kind"`
		Choices []struct {
			Replicas int `json:"replicas"`
			GPUs     int `json:"gpus"`
		} `json:"choices"`
	}
	if err := json.Unmarshal([]byte(ok(t, strings.Fields("capacity s.toml --json --for-trace"+fewRuns)...)), &f); err != nil {
		t.Fatal(err)
	}
	if f.Kind != "servesim-fleet" || len(f.Choices) != 1 || f.Choices[0].Replicas != 1 || f.Choices[0].GPUs != 1 {
		t.Errorf("%+v", f)
	}
}

// TestCapacityOfAScenarioOnStdin has several deployments read it.
func TestCapacityOfAScenarioOnStdin(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": bounded()})
	args := " --for-rate 30 --tps 1,2" + fewRuns
	o := outcomeWith(t, bounded(), strings.Fields("capacity -"+args)...)
	if want := ok(t, strings.Fields("capacity s.toml"+args)...); o.code != exitOK || o.stdout != want {
		t.Errorf("exit %d, %s\n%s, want\n%s", o.code, o.stderr, o.stdout, want)
	}
}

func capacityFaults() []faultCase {
	withLimits := func(title, flags string, wants ...string) faultCase {
		return faultCase{title, map[string]string{"s.toml": bounded()}, "capacity s.toml " + flags, wants}
	}
	return []faultCase{
		{"capacity without limits", map[string]string{"s.toml": small}, "capacity s.toml", []string{"no limits", "--slo with one of", "consumer-chat-70b"}},
		withLimits("limits that no rate keeps", "--set slo.goodput=ttft:1", "no rate keeps the limits", "goodput >= 99 %, found 0.000 %"),
		withLimits("price of nothing", "--price h100=0", "price of h100", "found 0", "more than 0"),
		withLimits("price without an amount", "--price h100", "--price h100", "GPU=USD"),
		withLimits("two prices", "--price h100=1 --price H100=2", "has a price already"),
		withLimits("price of another GPU", "--price b200=4", "price of b200", "no such GPU here"),
		withLimits("rate of nothing", "--for-rate 0", "--for-rate 0", "more than 0"),
		withLimits("two rates to serve", "--for-rate 3 --for-trace", "--for-trace", "give one of them"),
		withLimits("GPUs without a rate", "--gpus h100,b200", "--gpus", "--for-rate"),
		withLimits("GPUs twice", "--gpu h100 --gpus h100,b200 --for-rate 3", "--gpus and --gpu"),
		withLimits("unknown GPU to choose from", "--gpus h100,b2000 --for-rate 3", `"b2000"`),
		withLimits("TP of three to choose from", "--tps 1,3 --for-rate 3", "tps: found 3"),
		withLimits("target of two", "--target 2", "--target 2", "99%"),
		withLimits("resolution of nothing", "--resolution 0", "resolution: found 0 %"),
		withLimits("resolution of twice as much", "--resolution 200", "resolution: found 200 %", "from 0.1 to 50 %"),
		withLimits("resolution of a rate that is given", "--for-rate 3 --resolution 5", "--resolution", "leave it out"),
		withLimits("replicas that are looked for", "--for-rate 3 --set pool.replicas=2", "--set pool.replicas=2: how many"),
		withLimits("settings beside those that are tried", "--for-rate 3 --gpus h100 --tps 1,2 --set gpu=b200 --set tp=4", "--set gpu=b200: --gpus", "--set tp=4: --tps"),
		withLimits("two runs", "--runs 2", "runs: found 2"),
		withLimits("instant windows of nothing", "--instant 0s", "--instant 0s"),
		withLimits("instant windows of a fleet", "--instant 60s --for-rate 3", "--instant and --for-rate"),
		withLimits("no jobs", "--jobs 0", "--jobs 0"),
		{"capacity of a trace on stdin", map[string]string{"s.toml": bounded()}, "capacity s.toml --trace -", []string{"standard input", "write it to a file first"}},
	}
}
