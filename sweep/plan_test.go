package sweep

import (
	"slices"
	"strings"
	"testing"

	"servesim/scenario"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPointsOfAPlan by hand: the list, then the grid in the order of its lines, the
// last turning fastest.
func TestPointsOfAPlan(t *testing.T) {
	p := read(t, `schema = 1
[set]
seed = 7
engine = { max_num_seqs = 32 }
[[list]]
gpu = "h100"
[[list]]
gpu = "b200"
tp = 2
[grid]
policy = ["vllm@0.20", "vllm@main"]
[grid.workload]
rate_per_s = [1, 2.5]
`)
	var got []string
	for i := range p.Len() {
		got = append(got, strings.Join(texts(p.settings(i)), " "))
	}
	want := []string{
		"gpu=h100 policy=vllm@0.20 workload.rate_per_s=1", "gpu=h100 policy=vllm@0.20 workload.rate_per_s=2.5",
		"gpu=h100 policy=vllm@main workload.rate_per_s=1", "gpu=h100 policy=vllm@main workload.rate_per_s=2.5",
		"gpu=b200 tp=2 policy=vllm@0.20 workload.rate_per_s=1", "gpu=b200 tp=2 policy=vllm@0.20 workload.rate_per_s=2.5",
		"gpu=b200 tp=2 policy=vllm@main workload.rate_per_s=1", "gpu=b200 tp=2 policy=vllm@main workload.rate_per_s=2.5",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	axes := []Axis{{"hardware.gpu", "gpu"}, {"hardware.tensor_parallel_size", "tp"}, {"engine.policy", "policy"}, {"workload.rate_per_s", "workload.rate_per_s"}}
	if diff := cmp.Diff(axes, p.Axes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"seed=7", "engine.max_num_seqs=32"}, texts(p.Base.Settings)); diff != "" {
		t.Error(diff)
	}
}

func TestWindows(t *testing.T) {
	p := read(t, "schema = 1\n[windows]\nfrom = \"1m\"\nwidth = \"30s\"\nstep = \"10s\"\ncount = 2\n")
	var got []string
	for i := range p.Len() {
		got = append(got, texts(p.settings(i))...)
	}
	if diff := cmp.Diff([]string{"transform.from=60s", "transform.to=90s", "transform.from=70s", "transform.to=100s"}, got); diff != "" {
		t.Error(diff)
	}
}

// sampled returns the values that a sample plan draws for key.
func sampled(t *testing.T, text, key string) []any {
	t.Helper()
	p := read(t, text)
	var list []any
	for i := range p.Len() {
		for _, s := range p.settings(i) {
			if s.Key == key {
				list = append(list, s.Value)
			}
		}
	}
	return list
}

// TestLatinHypercubeFillsEveryStratum holds that of n points one is in each n-th of
// a range, on the scale of the range.
func TestLatinHypercubeFillsEveryStratum(t *testing.T) {
	text := "schema = 1\n[sample]\nmethod = \"latin-hypercube\"\npoints = 40\n[sample.keys]\n" +
		"rate_per_s = { low = 1.0, high = 41.0 }\nmax_num_seqs = { low = 1, high = 40 }\npolicy = [\"vllm@0.20\", \"vllm@main\"]\n" +
		"workload.arrival.rate_per_s = { low = 1.0, high = 1024.0, scale = \"log\" }\n"
	strata := map[string]func(any) int{
		"workload.rate_per_s": func(v any) int { return int(v.(float64)) - 1 },
		"engine.max_num_seqs": func(v any) int { return int(v.(int64)) - 1 },
	}
	for key, of := range strata {
		var got []int
		for _, v := range sampled(t, text, key) {
			got = append(got, of(v))
		}
		if slices.IsSorted(got) {
			t.Errorf("%s: the values are in order, so that keys would go together", key)
		}
		slices.Sort(got)
		want := make([]int, 40)
		for i := range want {
			want[i] = i
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: strata %s", key, diff)
		}
	}
	count := map[any]int{}
	for _, v := range sampled(t, text, "engine.policy") {
		count[v]++
	}
	if count["vllm@0.20"] != 20 || count["vllm@main"] != 20 {
		t.Errorf("choices %v, want 20 of each", count)
	}
	below := 0
	for _, v := range sampled(t, text, "workload.arrival.rate_per_s") {
		if v.(float64) < 32 { // the middle of 1 to 1,024 by their logarithms
			below++
		}
	}
	if below != 20 {
		t.Errorf("%d of 40 values are below the middle of the logarithms", below)
	}
}

// TestSamplesAreOfTheirKeyAlone holds that a further key moves no draw of another,
// and that a seed moves them.
func TestSamplesAreOfTheirKeyAlone(t *testing.T) {
	text := "schema = 1\n[sample]\nmethod = \"random\"\npoints = 10\nseed = 3\n[sample.keys]\nrate_per_s = { low = 1.0, high = 9.0 }\n"
	one := sampled(t, text, "workload.rate_per_s")
	if diff := cmp.Diff(one, sampled(t, text+"max_num_seqs = { low = 1, high = 9 }\n", "workload.rate_per_s")); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(one, sampled(t, strings.Replace(text, "seed = 3", "seed = 4", 1), "workload.rate_per_s")) {
		t.Error("another seed draws the same")
	}
}

// TestSamplesStayInTheirRange holds it for ranges of any kind.
func TestSamplesStayInTheirRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := span{whole: rapid.Bool().Draw(t, "whole"), log: rapid.Bool().Draw(t, "log")}
		s.low = float64(rapid.IntRange(1, 1000).Draw(t, "low"))
		s.high = s.low + float64(rapid.IntRange(1, 1000).Draw(t, "width"))
		if !s.whole {
			s.low, s.high = s.low/7, s.high/7
		}
		u := rapid.Float64Range(0, 1-1e-15).Draw(t, "u")
		var x float64
		switch v := s.at(u).(type) {
		case int64:
			x = float64(v)
		case float64:
			x = v
		}
		if x < s.low || x > s.high {
			t.Fatalf("%v of %v to %v", x, s.low, s.high)
		}
	})
}

// TestShardsArePartsOfTheWhole holds that each point is in one shard.
func TestShardsArePartsOfTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := make([]Point, rapid.IntRange(0, 50).Draw(t, "points"))
		count := rapid.IntRange(1, 60).Draw(t, "shards")
		seen := map[*Point]int{}
		for i := range count {
			part, err := Shard{i, count}.of(points)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(part); n < len(points)/count || n > len(points)/count+1 {
				t.Fatalf("shard %d of %d has %d of %d points", i, count, n, len(points))
			}
			for _, pt := range part {
				seen[pt]++
			}
		}
		for i := range points {
			if seen[&points[i]] != 1 {
				t.Fatalf("point %d is in %d shards", i, seen[&points[i]])
			}
		}
	})
}

func TestFindShard(t *testing.T) {
	for _, c := range []struct {
		env   string
		count int
		want  string // "" is none
		fault string
	}{
		{"", 0, "", ""},
		{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_STEP=1", 0, "3/4", ""},
		{"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=8", 8, "0/8", ""},
		{"SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=9 SLURM_ARRAY_TASK_STEP=4", 0, "2/3", ""},
		{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=17 SLURM_ARRAY_TASK_STEP=1", 0, "", "a list with holes"},
		{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=0", 5, "", "--shards is 5, but SLURM_ARRAY_TASK_COUNT says 4"},
		{"SLURM_ARRAY_TASK_ID=x", 0, "", `SLURM_ARRAY_TASK_ID is "x"`},
		{"JOB_COMPLETION_INDEX=2", 5, "2/5", ""},
		{"JOB_COMPLETION_INDEX=2", 0, "", "give --shards N"},
		{"JOB_COMPLETION_INDEX=5", 5, "", "JOB_COMPLETION_INDEX is 5 of 5"},
		{"AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=2", 0, "0/2", ""},
		{"AWS_BATCH_JOB_ARRAY_INDEX=0", 6, "0/6", ""},
		{"AWS_BATCH_JOB_ARRAY_INDEX=0 JOB_COMPLETION_INDEX=1", 6, "", "say with --shard i/n"},
	} {
		env := map[string]string{}
		for pair := range strings.FieldsSeq(c.env) {
			k, v, _ := strings.Cut(pair, "=")
			env[k] = v
		}
		s, ok, err := FindShard(func(name string) string { return env[name] }, c.count)
		got := ""
		if ok {
			got = s.String()
		}
		if got != c.want || (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s with --shards %d: %q, %v; want %q, %q", c.env, c.count, got, err, c.want, c.fault)
		}
	}
}

// TestPathsOfAPlanAreFromItsFolder holds it for traces, files of GPUs and models,
// and the scenario.
func TestPathsOfAPlanAreFromItsFolder(t *testing.T) {
	text := "schema = 1\nscenario = \"base.toml\"\n[set]\ntrace = \"t.csv\"\n[grid]\ngpu = [\"h100\", \"./mine.toml\"]\n"
	p, err := ReadPlan("some/where/plan.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	got := []any{p.Base.Path, p.Base.Settings[0].Value, p.settings(0)[0].Value, p.settings(1)[0].Value}
	if diff := cmp.Diff([]any{"some/where/base.toml", "some/where/t.csv", "h100", "some/where/mine.toml"}, got); diff != "" {
		t.Error(diff)
	}
	if scenario.Default() == "" {
		t.Error("there is no default scenario")
	}
}
