package conform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/sim/scheduler"
)

// shared reads the recorded schedules of the file called name.
func shared(t *testing.T, name string) []Vector {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "vectors", name))
	if err != nil {
		t.Skip("../shared/vectors is not here; its recorded schedules cannot be replayed")
	}
	defer f.Close()
	vectors, err := Read(f, name)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func TestVectors(t *testing.T) {
	for _, file := range []struct {
		name    string
		matched int
		skipped map[string]int
	}{
		{"named.json", 138, map[string]int{"prefix caching of vLLM V0": 2, "async scheduling, which is not modelled for vllm@0.11": 1, "pipeline parallelism": 3,
			"speculative tokens": 3, "block reuse of TensorRT-LLM": 1}},
		{"random.json", 301, map[string]int{"pipeline parallelism": 8}},
	} {
		matched, skipped := 0, map[string]int{}
		for _, v := range shared(t, file.name) {
			r, err := Replay(v, "", Policy)
			switch {
			case err != nil:
				t.Error(err)
			case r.Skip != "":
				skipped[r.Skip]++
			case r.Diff != "":
				t.Errorf("%s %s [%s]: %s", file.name, v.Name, v.Label, r.Diff)
			default:
				matched++
			}
		}
		if d := cmp.Diff(file.skipped, skipped); d != "" || matched != file.matched {
			t.Errorf("%s: %d match, want %d; skipped (-want +got):\n%s", file.name, matched, file.matched, d)
		}
	}
}

// The wrong version must not reproduce what it does differently.
func TestWrongVersionDiffers(t *testing.T) {
	differ := map[string]bool{}
	for _, v := range shared(t, "named.json") {
		if !strings.Contains(v.Label, "v0.11.0") {
			continue
		}
		if r, err := Replay(v, "vllm@0.20", Policy); err == nil && r.Diff != "" {
			differ[v.Name] = true
		}
	}
	want := map[string]bool{"V1-06": true, "V1-09c": true, "V1-10": true, "V1-10b": true, "V1-11": true, "V1-16": true, "V1-17": true}
	if d := cmp.Diff(want, differ); d != "" {
		t.Errorf("vectors of v0.11.0 that v0.20 schedules otherwise (-want +got):\n%s", d)
	}
}

// vector is one small recording; one letter of it is changed by each case below.
const vector = `[{"id":"X","engine":"vllm-v1","params":{"budget":16,"max_seqs":4,"blocks":100,"bs":4},
"requests":[{"id":"A","at":0,"prompt":20,"out":2}],
"expect":{"v0.20.1":[{"step":0,"add":["A"],"sched":{"A":16},"free_blocks":95,"running":["A"],"waiting":[]},
{"step":1,"sched":{"A":4},"emit":{"A":1},"free_blocks":94},
{"step":2,"sched":{"A":1},"emit":{"A":1},"fin":["A"],"free_blocks":93}]}}]`

func TestDifferences(t *testing.T) {
	for _, c := range []struct{ from, to, diff string }{
		{"", "", ""},
		{`"sched":{"A":4}`, `"sched":{"A":5}`, `step 1: tokens: recorded "A5", simulated "A4"`},
		{`"free_blocks":94`, `"free_blocks":90`, `step 1: free blocks: recorded "90", simulated "94"`},
		{`"fin":["A"]`, `"fin":[]`, `step 2: ended: recorded "", simulated "A"`},
		{`"emit":{"A":1},"free_blocks":94`, `"free_blocks":94`, `step 1: emitted: recorded "", simulated "A"`},
		{`"running":["A"]`, `"running":["B"]`, `step 0: running: recorded "B", simulated "A"`},
		{`"waiting":[]`, `"waiting":["A"]`, `step 0: waiting: recorded "A", simulated ""`},
		{`,"emit":{"A":1},"fin"`, `,"emit":{"A":1},"preempt":["A"],"fin"`, `step 2: preempted: recorded "A", simulated ""`},
		{`"out":2`, `"out":3`, `step 2: ended: recorded "A", simulated ""`},
	} {
		vectors, err := Read(strings.NewReader(strings.Replace(vector, c.from, c.to, 1)), "x.json")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := Replay(vectors[0], "", Policy); err != nil || r.Diff != c.diff {
			t.Errorf("%s -> %s: %q, %v; want %q", c.from, c.to, r.Diff, err, c.diff)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{vector, "", "x.json: not a file of recorded schedules"},
		{vector, `{"v0.20.1": 3}`, "x.json: not a file of recorded schedules"},
		{`"prompt":20`, `"prompt":0`, `vector X: request "A": prompt: found 0; it must be a number of tokens, at least 1, or a list of as many`},
		{`"prompt":20`, `"prompt":"long"`, `vector X: request "A": prompt: found "long"; it must be`},
		{`"out":2`, `"out":-1`, `vector X: request "A": out: found -1; it must be at least 1`},
		{`"at":0`, `"at":7`, `vector X: request "A": at: found 7; it must be the index of one of the 3 steps`},
		{`"id":"A"`, `"id":""`, `vector X: request "": id: ids must be given and differ`},
		{`"budget":16`, `"budget":"many"`, `vector X: params:`},
		{`"sched":{"A":4}`, `"sched":[4]`, "an object of token counts"},
		{`"sched":{"A":4}`, `"sched":{"A":"4"}`, "a whole number of tokens for A"},
		{`"emit":{"A":1}`, `"emit":1`, "a list of requests, or an object of token counts"},
		{vector, "[]", "x.json: there is no vector in it"},
		{vector, "{}", "x.json: there is no vector in it"},
		{vector, `[{"name":"x"}]`, "vector 1, \"\": id, engine or expect is missing"},
		{vector, `{"vllm v0.20.1":[]}`, `the list of "vllm v0.20.1" is empty`},
		{vector, `{"vllm v0.20.1":[{"params":{}}]}`, `vector 1 of "vllm v0.20.1": name: missing`},
		{vector, `{"vllm v0.20.1":[{"name":"x","requests":[{"id":"A","prompt":1,"out":1}],"steps":[{}]}]}`, "vector x: params: missing"},
		{vector, `{"tensorrt":[{"name":"x","requests":[{"id":"A","prompt":1,"out":1}]}]}`, "vector x: no step is recorded of tensorrt"},
		{`"requests":[{"id":"A","at":0,"prompt":20,"out":2}]`, `"requests":[]`, "vector X: requests: missing"},
		{`"budget":16`, `"budgett":16`, `vector X: params: unknown key "budgett"; the keys are budget, `},
		{`"budget":16`, `"Budget":16`, `vector X: params: unknown key "Budget"`},
		{`"budget":16`, `"budget":"many"`, "line 1: budget: found a value of JSON type string; want a whole number of at most 32 bits"},
		{vector, `[{"id":"X",`, "line 1: not JSON"},
		{`"requests":[{"id"`, `"requests":[{"at":"x","id"`, "line 2: "},
	} {
		_, err := Read(strings.NewReader(strings.Replace(vector, c.from, c.to, 1)), "x.json")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s -> %s: %v; want %q", c.from, c.to, err, c.want)
		} else if strings.Contains(err.Error(), "Go value") {
			t.Errorf("%s -> %s: %v names a type of Go", c.from, c.to, err)
		}
	}
	steps := strings.Index(vector, `"v0.20.1":[`) + len(`"v0.20.1":[`)
	if _, err := Read(strings.NewReader(vector[:steps]+"]}}]"), "x.json"); err == nil || !strings.Contains(err.Error(), "vector X: no step is recorded of vllm-v1 v0.20.1") {
		t.Errorf("no steps: %v", err)
	}
	vectors, err := Read(strings.NewReader(strings.Replace(vector, `"budget":16`, `"budget":0`, 1)), "x.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Replay(vectors[0], "", Policy); err == nil || !strings.Contains(err.Error(), "vector X: max_num_batched_tokens: found 0") {
		t.Errorf("budget 0: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(vector)
	f.Add(`{"vllm V0 v0.8.5":[{"name":"r","params":{"budget":8,"max_seqs":2,"blocks":9,"bs":4},"requests":[{"id":"A","at":0,"prompt":[1,2],"out":1}],"steps":[{"sched":{"A":2},"emit":["A"],"fin":["A"],"free":9}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		vectors, err := Read(strings.NewReader(text), "fuzz.json")
		if err != nil {
			return
		}
		for _, v := range vectors {
			if v.Params.Blocks > 1000 || v.Params.BlockSize > 1000 || len(v.Steps) > 1000 {
				continue // valid, and slow
			}
			_, _ = Replay(v, "", Policy)
			_, _ = Replay(v, scheduler.VLLMV0, Policy)
		}
	})
}
