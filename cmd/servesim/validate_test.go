package main

import (
	"os"
	"strings"
	"testing"
)

// runsTable is two measured runs, one of which cannot be simulated.
const runsTable = `id,split,note,model,gpu,tp,ep,weight_dtype,kv_dtype,engine,engine_version,load,isl,osl,len_dist,concurrency,rate_rps,num_requests,max_batched_tokens,ttft_ok,source,ttft_mean_ms,tpot_mean_ms
a,calibration,,llama-3.1-8b,H100,1,1,bf16,bf16,vllm,0.11.0,closed,100,20,fixed,2,,,,1,x,20,7
b,heldout,,gpt-2,H100,1,1,bf16,bf16,vllm,0.11.0,closed,100,20,fixed,2,,,,1,x,20,7
`

func TestValidate(t *testing.T) {
	inFolder(t, map[string]string{"runs.csv": runsTable})
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"Held-out rows: 1, simulated 0 (0 of them saturated), skipped 1", "no model gpt-2", "tpot_mean_ms"}},
		{[]string{"--json"}, []string{`"kind": "servesim-validate"`, `"metric": "ttft_mean_ms"`}},
		{[]string{"--markdown"}, []string{"# How accurate servesim is", "| Vidur |"}},
		{[]string{"--rows", "rows.csv"}, []string{"Calibration rows"}},
	} {
		out := ok(t, append([]string{"validate", "runs.csv"}, c.args...)...)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("validate %v lacks %q:\n%s", c.args, want, out)
			}
		}
	}
	rows, err := os.ReadFile("rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(rows)), "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[1], "a,calibration,H100,vllm,llama-3.1-8b,ttft_mean_ms,20,") || lines[4] != "b,heldout,H100,vllm,gpt-2,tpot_mean_ms,7,,,0,no model gpt-2" {
		t.Errorf("rows.csv is\n%s", rows)
	}
}

func TestValidateFaults(t *testing.T) {
	header, rows, _ := strings.Cut(runsTable, "\n")
	inFolder(t, map[string]string{
		"runs.csv": runsTable, "bad.csv": "id\na\n", "empty.csv": "", "bare.csv": header + "\n",
		"twice.csv":  header + ",tp\n" + rows,
		"short.csv":  header + "\n" + strings.Replace(rows, ",20,7", ",20", 1),
		"number.csv": strings.Replace(runsTable, "closed,100", "closed,1e2x", 1),
		"rate.csv":   strings.Replace(runsTable, "fixed,2,,", "fixed,2,NaN,", 1),
		"gpu.csv":    strings.ReplaceAll(runsTable, "H100", "A100"),
	})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"validate", "none.csv"}, "no such file"},
		{[]string{"validate", "bad.csv"}, "bad.csv: line 1: the header lacks split"},
		{[]string{"validate", "empty.csv"}, "empty.csv: empty; it must begin with a header"},
		{[]string{"validate", "bare.csv"}, "bare.csv: no rows after the header; give one line for each"},
		{[]string{"validate", "twice.csv"}, "twice.csv: line 1: column tp stands in the header twice, as columns 6 and 24; keep one"},
		{[]string{"validate", "short.csv"}, "short.csv: line 2: found 22 fields; give it 23"},
		{[]string{"validate", "number.csv"}, `number.csv: line 2: column isl: found "1e2x"; it must be empty or a number from 0 to 2147483647`},
		{[]string{"validate", "rate.csv"}, `rate.csv: line 2: column rate_rps: found "NaN"; it must be empty or a number of requests a second above 0`},
		{[]string{"validate", "gpu.csv"}, "gpu.csv: none of its rows could be simulated; the first is a, line 2: no profile of GPU A100"},
		{[]string{"validate", "runs.csv", "--rows", "-"}, "stdout is for the tables"},
		{[]string{"validate", "runs.csv", "--json", "--markdown"}, "--json, --markdown: give one of them"},
		{[]string{"calibrate", "none.csv"}, "DATA: stat none.csv: no such file"},
		{[]string{"calibrate", "runs.csv", "--gpu", "b200"}, "runs.csv: no calibration row is of b200 with engine vllm; such a row has calibration in the column split"},
		{[]string{"calibrate", "runs.csv", "--engine", ""}, `--engine: "": profile h100 has no such engine; allowed are generic, trtllm`},
		{[]string{"calibrate", "runs.csv", "--gpu", "a100"}, "--gpu: no GPU profile"},
		{[]string{"calibrate", "runs.csv", "--engine", "vlm"}, `did you mean "vllm"`},
	} {
		if o := do(t, c.args...); o.code != exitUsage || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%v: exit %d, stderr %q; want %q", c.args, o.code, o.stderr, c.want)
		}
	}
}

func TestCalibrate(t *testing.T) {
	inFolder(t, map[string]string{"runs.csv": runsTable})
	out := ok(t, "calibrate", "runs.csv")
	for _, want := range []string{"h100, engine vllm: 1 calibration rows", "cannot tell", "[engine.vllm]"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}
