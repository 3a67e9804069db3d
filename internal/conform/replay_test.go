package conform

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servesim/sim/scheduler"
)

// byHand is V1 with a budget of 10 tokens: B's prompt of 12 takes two steps
// beside A's decodes.
const byHand = `[{"id": "H-01", "engine": "vLLM V1",
	"params": {"budget": 10, "max_seqs": 4, "blocks": 100, "bs": 4},
	"requests": [{"id": "A", "at": 0, "prompt": 4, "out": 3}, {"id": "B", "at": 1, "prompt": [5,5,5,5,5,5,5,5,5,5,5,5], "out": 1}],
	"expect": {"0.20.1 = main": [
		{"add": ["A"], "sched": {"A": 4}, "emit": {"A": 1}, "free_blocks": 98, "running": ["A"], "waiting": []},
		{"add": ["B"], "sched": {"A": 1, "B": 9}, "emit": {"A": 1}, "free_blocks": 94},
		{"sched": {"A": 1, "B": 3}, "emit": {"A": 1, "B": 1}, "fin": ["A", "B"]}]}}]`

// read reads vectors that have no fault.
func read(t *testing.T, text string) []Vector {
	t.Helper()
	vs, err := Read(strings.NewReader(text), "vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	return vs
}

func TestByHand(t *testing.T) {
	vs := read(t, byHand)
	if len(vs) != 2 {
		t.Fatalf("%d vectors; want one for each version", len(vs))
	}
	for i, preset := range []string{"vllm@0.20", "vllm@main"} {
		r, err := Replay(vs[i], "", Policy)
		if err != nil || r.Skip != "" || r.Preset != preset {
			t.Errorf("%s: replayed as %q, skipped for %q, %v", vs[i].Label, r.Preset, r.Skip, err)
		}
		if want := ""; r.Diff != want {
			t.Errorf("%s: %s", vs[i].Label, r.Diff)
		}
	}
}

// TestDifferencesShow changes one thing at a time in what was recorded.
func TestDifferencesShow(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"sched": {"A": 1, "B": 9}`, `"sched": {"A": 1, "B": 8}`, `step 1: tokens: recorded "A1 B8", simulated "A1 B9"`},
		{`"sched": {"A": 1, "B": 9}`, `"sched": {"B": 9, "A": 1}`, `step 1: tokens: recorded "B9 A1", simulated "A1 B9"`},
		{`"emit": {"A": 1, "B": 1}`, `"emit": {"A": 1}`, `step 2: emitted: recorded "A", simulated "A B"`},
		{`"fin": ["A", "B"]`, `"fin": ["A"]`, `step 2: ended: recorded "A", simulated "A B"`},
		{`"fin": ["A", "B"]`, `"preempt": ["B"], "fin": ["A", "B"]`, `step 2: preempted: recorded "B", simulated ""`},
		{`"fin": ["A", "B"]`, `"hit": {"B": 4}, "fin": ["A", "B"]`, `step 2: cached: recorded "B4", simulated ""`},
		{`"free_blocks": 94`, `"free_blocks": 95`, `step 1: free blocks: recorded "95", simulated "94"`},
		{`"free_blocks": 94`, `"free": 93`, `step 1: free blocks: recorded "93", simulated "94"`},
		{`"running": ["A"]`, `"running": []`, `step 0: running: recorded "", simulated "A"`},
		{`"waiting": []`, `"waiting": ["B"]`, `step 0: waiting: recorded "B", simulated ""`},
		{`"out": 3`, `"out": 4`, `step 2: ended: recorded "A B", simulated "B"`},
		{`"emit": {"A": 1, "B": 1}, "fin": ["A", "B"]}]`, `"emit": ["B", "A"], "fin": ["B", "A"]}, {}]`, ``}, // the other forms, in any order
		{`,
		{"sched": {"A": 1, "B": 3}, "emit": {"A": 1, "B": 1}, "fin": ["A", "B"]}`, ``,
			`after the last step: 2 sequences run and 0 wait; none should`},
	} {
		if !strings.Contains(byHand, c.old) {
			t.Fatalf("%s is not in the vector", c.old)
		}
		vs := read(t, strings.Replace(byHand, c.old, c.new, 1))
		if r, err := Replay(vs[0], "", Policy); r.Diff != c.want || err != nil {
			t.Errorf("%s\ngives %s, %v\nwant  %s", c.new, r.Diff, err, c.want)
		}
	}
}

// TestChosenPolicy replays a recording of one version through another.
func TestChosenPolicy(t *testing.T) {
	r, err := Replay(read(t, byHand)[0], "vllm@0.8-v0", Policy)
	if err != nil || r.Preset != "vllm@0.8-v0" || r.Diff == "" {
		t.Errorf("V1's schedule on V0: %q, %v; want a difference", r.Diff, err)
	}
	_, err = Replay(read(t, byHand)[0], "vllm@9", Policy)
	if err == nil || !strings.HasPrefix(err.Error(), `vector H-01: unknown engine version "vllm@9"`) {
		t.Errorf("an unknown version: %v", err)
	}
}

func TestReplayerErrors(t *testing.T) {
	broken := errors.New("broken")
	_, err := Replay(read(t, byHand)[0], "", func(scheduler.Config, Vector) (string, error) { return "", broken })
	if !errors.Is(err, broken) || err.Error() != "vector H-01: broken" {
		t.Errorf("Replay returns %v", err)
	}
}

func TestSkips(t *testing.T) {
	for param, want := range map[string]string{
		`"caching": true`: "", `"caching": false`: "", `"spec": 2`: "speculative tokens",
		`"pp": 2`: "pipeline parallelism", `"pp": 1`: "", `"async_": true, "depth": 2`: "", `"depth": 2`: "a batch queue other than that of async scheduling",
		`"async_": true, "depth": 3`: "a batch queue other than that of async scheduling",
		`"mode": "swap"`:             "swap", `"mode": "recompute"`: "",
	} {
		text := strings.Replace(byHand, `"bs": 4`, `"bs": 4, `+param, 1)
		if r, err := Replay(read(t, text)[0], "", Policy); r.Skip != want || err != nil {
			t.Errorf("%s: skipped for %q, %v; want %q", param, r.Skip, err, want)
		}
	}
	for label, want := range map[string]string{
		"SGLang": "no policy for SGLang", "sarathi-serve": "no policy for sarathi-serve", // of no kind
	} {
		text := strings.Replace(byHand, `vLLM V1`, label, 1)
		if r, err := Replay(read(t, text)[0], "", Policy); r.Skip != want || err != nil {
			t.Errorf("%s: skipped for %q, %v; want %q", label, r.Skip, err, want)
		}
	}
}

// TestNothingElseIsSkipped: of the recorded schedules of engines that have a policy, only those that
// need a feature which is not here may be left out.
func TestNothingElseIsSkipped(t *testing.T) {
	allowed := map[string]bool{"prefix caching of vLLM V0": true, "speculative tokens": true, "pipeline parallelism": true, "swap": true,
		"async scheduling, which is not modelled for vllm@0.11": true}
	for _, name := range []string{"named.json", "random.json"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "vectors", name))
		if err != nil {
			t.Skip("../shared/vectors is not here; its recorded schedules cannot be replayed")
		}
		replayed := map[string]int{}
		for _, v := range read(t, string(text)) {
			r, err := Replay(v, "", func(scheduler.Config, Vector) (string, error) { return "", nil })
			if err != nil {
				t.Error(err)
			}
			label := strings.ToLower(v.Label)
			ours := strings.Contains(label, "vllm") || strings.Contains(label, "sarathi") || strings.Contains(label, "sglang")
			if r.Skip == "" {
				replayed[r.Preset]++
			} else if ours && !allowed[r.Skip] {
				t.Errorf("%s: %s [%s] is skipped: %s", name, v.Name, v.Label, r.Skip)
			}
		}
		for _, p := range scheduler.Presets() {
			if replayed[p.Name] == 0 && !(name == "random.json" && p.Name == "sarathi-serve-simple@2026-01") {
				t.Errorf("%s: no schedule of %s is replayed", name, p.Name)
			}
		}
		t.Log(name, replayed)
	}
}
