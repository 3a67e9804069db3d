package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sweeping is a plan of six points over small.
const sweeping = `schema = 1
scenario = "s.toml"

[grid]
gpu = ["h100", "b200"]
max_num_batched_tokens = [256, 512, 8192]
`

func TestSweepGolden(t *testing.T) {
	folder := goldenFolder(t)
	inFolder(t, map[string]string{"s.toml": small, "plan.toml": sweeping})
	out := ok(t, "sweep", "plan.toml")
	if again := ok(t, "sweep", "plan.toml", "--jobs", "1"); again != out {
		t.Error(cmp.Diff(out, again))
	}
	csv, err := os.ReadFile("plan.sweep/results.csv")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(csv, []byte("\n")); n != 7 {
		t.Errorf("results.csv has %d lines, want 7", n)
	}
	json, err := os.ReadFile("plan.sweep/results.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(json), ok(t, "sweep", "plan.toml", "--json")); diff != "" {
		t.Error(diff)
	}
	goldenIn(t, folder, "sweep.txt", out)
}

// goldenFolder is where golden files are, whatever folder a test is in.
func goldenFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSweepShards holds that shards, merged, are the sweep, and that a merge says
// what is missing.
func TestSweepShards(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small, "plan.toml": sweeping})
	ok(t, "sweep", "plan.toml", "--out", "whole")
	if out := ok(t, "sweep", "plan.toml", "--shard", "1/2"); out != "shard 1/2: 3 of 3 points done, 3 of them now; servesim sweep plan.toml --merge merges all shards\n" {
		t.Error(out)
	}
	o := do(t, "sweep", "plan.toml", "--merge", "--shards", "2")
	if o.code != exitFailed || !strings.Contains(o.stderr, "3 of 6 points are not done") || !strings.Contains(o.stderr, "--array=0") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	if out := ok(t, "sweep", "plan.toml", "--merge", "--partial"); !strings.Contains(out, "Caution     3 points not done yet") {
		t.Error(out)
	}
	t.Setenv("JOB_COMPLETION_INDEX", "0")
	ok(t, "sweep", "plan.toml", "--shards", "2")
	ok(t, "sweep", "plan.toml", "--merge")
	for _, name := range []string{"results.csv", "results.json", "results.parquet"} {
		a, errA := os.ReadFile(filepath.Join("whole", name))
		b, errB := os.ReadFile(filepath.Join("plan.sweep", name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs between shards and the whole: %v, %v", name, errA, errB)
		}
	}
}

// TestEmittedJobs holds the files for clusters, and that a shell reads the script.
func TestEmittedJobs(t *testing.T) {
	folder := goldenFolder(t)
	inFolder(t, map[string]string{"s.toml": small, "my plan.toml": sweeping})
	for engine, file := range map[string]string{"slurm": "sweep.sh", "kubernetes": "sweep.kubernetes.yaml", "argo": "sweep.argo.yaml"} {
		out := ok(t, "sweep", "my plan.toml", "--emit", engine, "--shards", "4")
		goldenIn(t, folder, file, out)
		if engine != "slurm" {
			continue
		}
		shell, err := exec.LookPath("bash")
		if err != nil {
			t.Log("there is no bash here to read the script")
			continue
		}
		check := exec.Command(shell, "-n")
		check.Stdin = strings.NewReader(out)
		if said, err := check.CombinedOutput(); err != nil {
			t.Errorf("bash -n: %v\n%s", err, said)
		}
	}
}

// upTo returns a list of the numbers from 1 to n.
func upTo(n int) string {
	var list []string
	for i := range n {
		list = append(list, strconv.Itoa(i+1))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// sweepFaults are plans, or command lines, with something wrong, and what is said.
func sweepFaults() []struct{ title, plan, flags, want string } {
	grid := func(text string) string { return "schema = 1\nscenario = \"s.toml\"\n[grid]\n" + text + "\n" }
	sample := func(text string) string {
		return "schema = 1\nscenario = \"s.toml\"\n[sample]\nmethod = \"random\"\npoints = 3\n[sample.keys]\n" + text + "\n"
	}
	return []struct{ title, plan, flags, want string }{
		{"no points", "schema = 1\n", "", "plan.toml: says nothing in which points differ; give [grid], [[list]], [windows] or [sample]"},
		{"newer plan", "schema = 2\n", "", "plan.toml:1: schema: found 2; this servesim reads schema 1"},
		{"not TOML", "schema = 1\n[grid\n", "", "plan.toml:3: "},
		{"unknown member", "schema = 1\nscenarios = \"s.toml\"\n", "", `plan.toml:2: scenarios: unknown key; did you mean "scenario"?`},
		{"no scenario", grid("seed = [1, 2]"), "--set-nothing", "unknown flag"},
		{"scenario is missing", strings.Replace(grid("seed = [1, 2]"), "s.toml", "t.toml", 1), "", "plan.toml: scenario: open t.toml: no such file"},
		{"empty list", grid("seed = []"), "", "plan.toml:4: grid.seed: is an empty list, which leaves no point"},
		{"not a list", grid("seed = 3"), "", "plan.toml:4: grid.seed: found 3; must be a list of values"},
		{"unknown key", grid("max_num_seq = [3]"), "", `plan.toml:4: unknown key "max_num_seq"; did you mean "max_num_seqs"?`},
		{"ambiguous key", grid("name = [\"a\", \"b\"]"), "", `plan.toml:4: key "name" is ambiguous`},
		{"value twice", grid("seed = [3, 4, 3]"), "", "plan.toml:4: grid.seed: has 3 twice; take one out"},
		{"same points", "schema = 1\nscenario = \"s.toml\"\n[[list]]\nseed = 3\n[[list]]\ntp = 1\n", "", "plan.toml: points 1 and 2 are the same scenario: tp=1; leave one out"},
		{"key twice", "schema = 1\n[set]\ntp = 1\n[grid]\ntensor_parallel_size = [1, 2]\n", "", "hardware.tensor_parallel_size: given by plan.toml:3 tp=1 and again by plan.toml:5 tensor_parallel_size=1"},
		{"wrong kind", grid("max_num_seqs = [8, \"many\"]"), "", "plan.toml: max_num_seqs=many: plan.toml:4 max_num_seqs=many: engine.max_num_seqs: found the string \"many\"; must be a whole number"},
		{"model of another", "schema = 1\n[set]\nmodel = \"Llama-3.1-8B\"\n[grid]\nseed = [1, 2, 3]\n", "", "plan.toml: seed=1 (and 2 others): plan.toml:3 model=Llama-3.1-8B: model.name: without a scenario file it would run with tensor_parallel_size 8 and dtype fp8, which the default scenario has for Llama-3.3-70B; say how this model is served, such as tp = 1 and dtype = \"bf16\"\n"},
		{"does not fit", grid("model = [\"Llama-3.1-8B\", \"Llama-3.3-70B\"]"), "", `write infeasible = "skip" into the plan`},
		{"nothing fits", "infeasible = \"skip\"\n" + grid("model = [\"Llama-3.3-70B\"]"), "", "plan.toml: model=Llama-3.3-70B: "},
		{"wrong infeasible", "infeasible = \"maybe\"\n" + grid("seed = [1]"), "", "plan.toml:1: infeasible: found \"maybe\"; must be \"error\""},
		{"empty point", "schema = 1\n[[list]]\n", "", "plan.toml:2: list[0]: is empty"},
		{"windows", "schema = 1\n[windows]\nwidth = \"0s\"\ncount = 2\n", "", "plan.toml:3: windows.width: found 0s; must be more than 0s"},
		{"value ten times", grid("seed = [" + strings.Repeat("1, ", 9) + "2]"), "", "plan.toml:4: grid.seed: has 1 twice"},
		{"too many points", grid("seed = " + upTo(1100) + "\nmax_num_seqs = " + upTo(1000)), "", "plan.toml: has more than 1000000 points"},
		{"too many points to make", sample("ratepers = { low = 1.0, high = 2.0 }") + "[windows]\nwidth = \"1ms\"\ncount = 1000000\n", "", "plan.toml: has more than 1000000 points; divide it into several\nservesim: plan.toml:7: unknown key \"ratepers\""},
		{"method", strings.Replace(sample("seed = [1]"), "random", "sobol", 1), "", `plan.toml:4: sample.method: found "sobol"; must be "latin-hypercube", or "random"`},
		{"range", sample("rate_per_s = { low = 3.0, high = 1.0 }"), "", "plan.toml:7: sample.keys.rate_per_s: low, 3, must be less than high, 1"},
		{"scale", sample("rate_per_s = { low = 0.0, high = 1.0, scale = \"log\" }"), "", "low, 0, must be more than 0 on a logarithmic scale"},
		{"range of what", sample("rate_per_s = { low = 1.0, high = 2.0, step = 1 }"), "", `unknown key "step"; a range has low, high and scale`},
		{"standard input", grid("trace = [\"-\"]"), "", "plan.toml: workload.trace: a sweep replays its traces again and again, and standard input can be read only once"},
		{"trace is missing", grid("trace = [\"t.csv\"]"), "", "plan.toml: workload.trace: open t.csv: no such file"},
		{"folder", grid("seed = [1, 2]"), "--out .", ". has s.toml in it and isn't the folder of a sweep; give a folder that is new or empty with --out"},
		{"shard", grid("seed = [1, 2]"), "--shard 4/4", "--shard: there is no shard 4/4; of 4 shards the first is 0/4, the last 3/4"},
		{"shard of what", grid("seed = [1, 2]"), "--shard 4", `--shard: found "4"; must be i/n, such as 0/4`},
		{"shards alone", grid("seed = [1, 2]"), "--shards 4", "give --shard i/4"},
		{"two shards", grid("seed = [1, 2]"), "--shards 4 --shard 0/2", "--shard 0/2 is of 2 parts, --shards is 4"},
		{"jobs", grid("seed = [1, 2]"), "--jobs 0", "--jobs 0: must be 1 or more"},
		{"rank", grid("seed = [1, 2]"), "--rank-by ttft", `no column is called "ttft"`},
		{"front", grid("seed = [1, 2]"), "--pareto ttft_p99_ms", "--pareto ttft_p99_ms: must be two columns"},
		{"merge and shard", grid("seed = [1, 2]"), "--merge --shard 0/2", "--merge and --shard don't go together"},
		{"partial alone", grid("seed = [1, 2]"), "--partial", "--wait and --partial go with --merge"},
		{"what shards don't print", grid("seed = [1, 2]"), "--shard 0/2 --top 3 --pareto a,b", "--top goes with what prints results, which --emit and --shard don't, but --merge does; leave it out\nservesim: --pareto goes"},
		{"image for nobody", grid("seed = [1, 2]"), "--emit slurm --shards 2 --image a --jobs 3", "--jobs is of points that are simulated here; --emit simulates none; leave it out\nservesim: --image goes with --emit kubernetes"},
		{"engine", grid("seed = [1, 2]"), "--emit pbs --shards 2", `--emit: unknown engine "pbs"; `},
		{"emit how many", grid("seed = [1, 2]"), "--emit slurm", "--emit slurm: needs --shards"},
		{"more shards than points", grid("seed = [1, 2]"), "--emit slurm --shards 3", "3 shards are more than the 2 points of the plan"},
	}
}

func TestSweepFaults(t *testing.T) {
	for _, c := range sweepFaults() {
		t.Run(c.title, func(t *testing.T) {
			inFolder(t, map[string]string{"s.toml": small, "plan.toml": c.plan})
			o := do(t, append([]string{"sweep", "plan.toml"}, strings.Fields(c.flags)...)...)
			if o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, c.want) {
				t.Errorf("exit %d, stdout %q, stderr\n%s\nwant %s", o.code, o.stdout, o.stderr, c.want)
			}
			if left, _ := filepath.Glob("plan.sweep/*"); len(left) > 0 {
				t.Errorf("%v was made", left)
			}
		})
	}
}

// TestPlansCannotChange holds that a folder of results belongs to one plan.
func TestPlansCannotChange(t *testing.T) {
	files := map[string]string{"s.toml": small, "plan.toml": strings.Replace(sweeping, "[grid]", "[set]\ntrace = \"t.csv\"\n[grid]", 1), "t.csv": azure}
	for _, c := range []struct{ file, old, new, want string }{
		{"plan.toml", "8192", "4096", "plan.toml: is not the plan that plan.sweep was begun with, which plan.sweep/plan.toml shows"},
		{"s.toml", "seed = 3", "seed = 4", "s.toml: has changed since plan.sweep was begun with it"},
		{"t.csv", "374", "375", "plan.toml: a trace, a profile or a model that the plan names has changed"},
		{"plan.sweep/sweep.json", "servesim-sweep", "other", "isn't what this servesim writes"},
		{"plan.sweep/sweep.json", `"version": "`, `"version": "x`, "results of two versions don't mix"},
	} {
		inFolder(t, files)
		ok(t, "sweep", "plan.toml")
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.file, bytes.Replace(text, []byte(c.old), []byte(c.new), 1), 0o644); err != nil {
			t.Fatal(err)
		}
		if o := do(t, "sweep", "plan.toml"); o.code != exitUsage || !strings.Contains(o.stderr, c.want) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %s; want %s", c.file, o.code, o.stderr, c.want)
		}
	}
}
