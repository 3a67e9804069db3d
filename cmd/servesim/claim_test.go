package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// claiming are flags with which a claim takes no time.
const claiming = " --lengths 128/64,2000/50 --users 1,32 --set max_num_seqs=64 --set max_model_len=4096"

func TestClaimGolden(t *testing.T) {
	const of = " --model Llama-3.1-8B --gpu h100 --dtype fp8"
	var all strings.Builder
	for _, args := range []string{"8000|tok/s/gpu", "p99|TTFT|50|ms", "400|tok/s/user", "60|req/s --num-gpus 2"} {
		words := strings.Fields("claim " + args + of + claiming)
		words[1] = strings.ReplaceAll(words[1], "|", " ")
		all.WriteString("# " + words[1] + "\n" + ok(t, words...) + "\n")
	}
	golden(t, "claim.txt", all.String())
}

// TestClaimInJSON reads what programs read, and holds that a terminal changes nothing.
func TestClaimInJSON(t *testing.T) {
	args := append([]string{"claim", "8000 tok/s/gpu", "-o", "json"}, strings.Fields("--model Llama-3.1-8B --gpu h100"+claiming)...)
	out := ok(t, args...)
	var a struct {
		Schema   int
		Kind     string
		Value    float64
		Readings []struct {
			Of       string
			Possible bool
			Reached  int `json:"combinations_reached"`
			Best     int
			Rows     []int
		}
		Questions []struct{ About, Text string }
		Points    []struct {
			Weights  string
			Users    int `json:"users_per_replica"`
			Requests int
			Readings []struct {
				Reached bool
				Most    float64
				Ceiling float64 `json:"at_datasheet_rates"`
			}
			TTFT struct {
				P99 float64 `json:"p99_ms"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatal(err)
	}
	if a.Schema != 1 || a.Kind != "servesim-claim" || a.Value != 8000 || len(a.Readings) != 2 || a.Readings[1].Of != "input and output tokens" || len(a.Questions) < 3 {
		t.Errorf("%+v", a)
	}
	for i, r := range a.Readings {
		n := 0
		for _, p := range a.Points {
			if p.Readings[i].Reached {
				n++
			}
			if p.Readings[i].Most > a.Points[r.Best].Readings[i].Most || p.Readings[i].Most > p.Readings[i].Ceiling || p.Requests < 100 || !(p.TTFT.P99 > 0) {
				t.Errorf("%+v", p)
			}
		}
		if n != r.Reached || r.Possible != (n > 0) || len(r.Rows) != 4 {
			t.Errorf("%d points reach it: %+v", n, r)
		}
	}
	var again, stderr bytes.Buffer
	if code := Main(t.Context(), env{stdin: strings.NewReader(""), stdout: &again, stderr: &stderr, tty: true}, append(args, "--jobs", "1")); code != exitOK || again.String() != out {
		t.Errorf("on a terminal: exit %d, %s", code, &stderr)
	}
}

// TestClaimOfAScenario fixes what a scenario says, from its file or from stdin.
func TestClaimOfAScenario(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": bounded()})
	args := strings.Fields("claim 5tok/s s.toml --lengths 128/64 --users 1")
	out := ok(t, args...)
	for _, want := range []string{"of s.toml the workload, the limits and the pool aren't used", "Simulated   1 combination, of 100 requests", "bf16/bf16"} {
		if !strings.Contains(unfolded(out), want) {
			t.Errorf("lacks %s:\n%s", want, out)
		}
	}
	args[2] = "-"
	if o := outcomeWith(t, bounded(), args...); o.code != exitOK || strings.Replace(unfolded(o.stdout), "of - the", "of s.toml the", 1) != unfolded(out) {
		t.Errorf("exit %d, %s\n%s, want\n%s", o.code, o.stderr, o.stdout, out)
	}
}

func claimFaults() []faultCase {
	with := func(title, args string, wants ...string) faultCase {
		return faultCase{title, map[string]string{"s.toml": small}, "claim " + args, wants}
	}
	const of = " --model Llama-3.1-8B --gpu h100 "
	return []faultCase{
		with("claim of nothing", "", "found 0 numbers", "15000 tok/s"),
		with("claim without a unit", "15000"+of, `"15000": it doesn't say of what`, "TTFT 200 ms"),
		with("claim of a unit nobody knows", "15000tok/furlong"+of, `"furlong" isn't understood`),
		with("claim of two figures", "15-20tok/s"+of, `isn't understood`, "a claim is one figure"),
		with("claim of nobody's model", "15000tok/s", "model.name: missing", "hardware.gpu: missing", "--model", "--gpu", "scenario file"),
		with("claim of an unknown model", "15tok/s --model llama-9 --gpu h100", "--model llama-9: model.name", "llama-3.3-70b"),
		with("claim of a format that the GPU lacks", "15tok/s"+of+"--dtype fp4", "--dtype fp4: model.dtype", "it has bf16, fp8"),
		with("claim of what doesn't fit", "15tok/s --model llama-3.1-405b --gpu h100 --tp 1 --dtype fp8", "does not fit on one h100"),
		with("claim with a workload of its own", "15tok/s"+of+"--set preset=azure-chat", "--set preset=azure-chat: changes nothing", "--lengths"),
		with("claim of half a length", "15tok/s"+of+"--lengths 128", "--lengths 128: must be PROMPT/OUTPUT"),
		with("claim of no tokens", "15tok/s"+of+"--lengths 128/0", "lengths: found 128/0"),
		with("claim of no users", "15tok/s"+of+"--users 0", "--users 0: a replica has 1 or more", "offline"),
		with("claim of some users", "15tok/s"+of+"--users many", "--users many: must be a number of users, or offline"),
		with("claim of no GPUs", "15tok/s"+of+"--num-gpus 0", "--num-gpus 0: must be 1 or more"),
		with("claim of GPUs that change nothing", "TTFT=5ms"+of+"--num-gpus 4", "GPUs: found 4, which changes nothing: TTFT 5.000 ms"),
		with("claim of fewer GPUs than a replica", "15tok/s"+of+"--tp 4 --num-gpus 2 --lengths 9/9 --users 1", "fewer than every replica", "smaller --tp"),
		with("claim without jobs", "15tok/s"+of+"--jobs 0", "--jobs 0"),
		with("claim in an unknown form", "15tok/s"+of+"-o yaml", "--output", "yaml"),
		with("claim of a scenario that isn't there", "15tok/s none.toml", "none.toml", "no such file"),
		with("claim of two scenarios", "15tok/s a.toml b.toml", "accepts between 1 and 2 arg"),
	}
}
