package main

import (
	"bytes"
	"strings"
	"testing"
)

// oneVector is a prompt of 4 tokens on V1, recorded once for each of versions.
func oneVector(versions string) string {
	return `[{"id": "H", "engine": "vLLM V1", "params": {"budget": 10, "max_seqs": 4, "blocks": 100, "bs": 4},
	"requests": [{"id": "A", "at": 0, "prompt": 4, "out": 1}],
	"expect": {"` + versions + `": [{"sched": {"A": 4}, "emit": {"A": 1}, "fin": ["A"]}]}}]`
}

func TestConformCounts(t *testing.T) {
	same := oneVector("0.20.1 = main")
	inFolder(t, map[string]string{
		"a.json": same, "b.json": strings.Replace(same, `{"A": 4}`, `{"A": 3}`, 1), "c.json": strings.Replace(same, "vLLM V1", "sglang", 1),
	})
	for _, c := range []struct {
		args, stdout, stderr string
		code                 int
	}{
		{"a.json", "a.json: 2 of 2 replayed schedules match exactly, 0 skipped\n", "", exitOK},
		{"-", "standard input: 2 of 2 replayed schedules match exactly, 0 skipped\n", "", exitOK},
		{"a.json c.json", "a.json: 2 of 2 replayed schedules match exactly, 0 skipped\nc.json: 0 of 0 replayed schedules match exactly, 2 skipped\n" +
			"  skipped  2: no policy for sglang\n2 files: 2 of 2 replayed schedules match exactly, 2 skipped\n", "", exitOK},
		{"b.json --policy vllm@0.11", "b.json: 0 of 2 replayed schedules match exactly, 0 skipped\n" +
			"  differs  H [vLLM V1 0.20.1] replayed as vllm@0.11: step 0: tokens: recorded \"A3\", simulated \"A4\"\n" +
			"  differs  H [vLLM V1 main] replayed as vllm@0.11: step 0: tokens: recorded \"A3\", simulated \"A4\"\n", "", exitFailed},
		{"c.json", "c.json: 0 of 0 replayed schedules match exactly, 2 skipped\n  skipped  2: no policy for sglang\n", "nothing was replayed", exitFailed},
	} {
		var out, err bytes.Buffer
		code := Main(t.Context(), env{stdin: strings.NewReader(same), stdout: &out, stderr: &err}, append([]string{"conform"}, strings.Fields(c.args)...))
		if code != c.code || out.String() != c.stdout || !strings.Contains(err.String(), c.stderr) || (c.stderr == "") != (err.Len() == 0) {
			t.Errorf("conform %s: exit %d, stderr %q, stdout:\n%s", c.args, code, &err, &out)
		}
	}
}
