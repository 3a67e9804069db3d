package fit

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"servesim/sim/gpu"
)

var update = flag.Bool("update", false, "write the fitted kernels into the profiles")

// measured returns the kernel tables, or skips the test.
func measured(tb testing.TB) *Tables {
	tb.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		tb.Fatal(err)
	}
	folder := filepath.Join(root, "..", "shared", "measured")
	if _, err := os.Stat(folder); err != nil {
		tb.Skip("the kernel tables are not beside the repository")
	}
	t, err := ReadTables(os.DirFS(folder))
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// marker begins the part of a profile that the fit writes; it goes to the end of
// the file.
const marker = "# --- Kernels, as fitted. ---\n"

// datasheet returns what the profile file prints, though its kernels may be none.
func datasheet(tb testing.TB, name string) gpu.Datasheet {
	tb.Helper()
	var p struct {
		Datasheet gpu.Datasheet `toml:"datasheet"`
	}
	if _, err := toml.DecodeFile("../../../profiles/"+name+".toml", &p); err != nil {
		tb.Fatal(err)
	}
	return p.Datasheet
}

// wanted returns the sets of kernels that ship for a GPU.
func wanted(name string, d gpu.Datasheet) map[string]Wanted {
	const source = "AIConfigurator kernel tables, "
	both := []string{"vllm", "trtllm"}
	return map[string]Wanted{
		"vllm":   {GPU: name, Engines: []string{"vllm"}, Datasheet: d, Data: source + name + ", vLLM 0.24"},
		"trtllm": {GPU: name, Engines: []string{"trtllm"}, Datasheet: d, Data: source + name + ", TensorRT-LLM 1.3rc20"},
		"sglang": {GPU: name, Engines: both, ReduceEngines: []string{"sglang"}, Datasheet: d, Data: source + name + ", vLLM and TensorRT-LLM for want of SGLang"},
		"pooled": {GPU: name, Engines: both, ReduceEngines: []string{"vllm", "trtllm", "sglang"}, Datasheet: d, Data: source + name + ", vLLM and TensorRT-LLM"},
	}
}

// fitted returns the named sets of kernels of a GPU.
func fitted(tb testing.TB, t *Tables, profile string, names ...string) map[string]gpu.Kernels {
	tb.Helper()
	out := map[string]gpu.Kernels{}
	for name, w := range wanted(strings.ToUpper(profile), datasheet(tb, profile)) {
		if !slices.Contains(names, name) {
			continue
		}
		k, err := t.Kernels(w)
		if err != nil {
			tb.Fatal(err)
		}
		out[name] = k
	}
	return out
}

// carried returns the kernels of H200, which these tables have no rows of, for
// those of H100. 4.8/3.35 is the ratio of the datasheets. 1.131 is that of decode
// attention over fp8 in fits on rows of both GPUs, vLLM and TensorRT-LLM pooled:
// 3.434 and 3.037 TB/s, while over bf16 they are 4.501 and 3.174 TB/s.
func carried(h100 map[string]gpu.Kernels) map[string]gpu.Kernels {
	out := map[string]gpu.Kernels{}
	for name, k := range h100 {
		out[name] = Carried(k, Ratios{Memory: 4.8 / 3.35, FP8Cache: 3.434 / 3.037}, "; memory rates times 4.8/3.35, fp8 decode 1.131")
	}
	return out
}

// write puts the sets of kernels into a profile.
func write(t *testing.T, profile string, sets map[string]gpu.Kernels) {
	t.Helper()
	file := filepath.Join("../../../profiles", profile+".toml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), marker)
	if !ok {
		t.Fatalf("%s has no line %q", file, marker)
	}
	var b bytes.Buffer
	b.WriteString(head + marker)
	for _, name := range sortedKeys(sets) {
		if err := WriteKernels(&b, name, sets[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// With -update, writes all sets that ship; otherwise fits some of them again and
// expects what ships.
func TestShippedKernelsAreWhatTheFitGives(t *testing.T) {
	tables := measured(t)
	if *update {
		all := []string{"vllm", "trtllm", "sglang", "pooled"}
		h100 := fitted(t, tables, "h100", all...)
		write(t, "h100", h100)
		write(t, "h200", carried(h100))
		write(t, "b200", fitted(t, tables, "b200", all...))
		t.Skip("profiles are part of the build; run again without -update")
	}
	for profile, set := range map[string]string{"h100": "trtllm", "b200": "vllm"} {
		p, err := gpu.LoadProfile(profile)
		if err != nil {
			t.Fatal(err)
		}
		got := fitted(t, tables, profile, set)[set]
		if d := cmp.Diff(p.Kernels[set], got, nearly()); d != "" {
			t.Errorf("%s %s: shipped -, fitted +\n%s", profile, set, d)
		}
	}
	h100, err := gpu.LoadProfile("h100")
	if err != nil {
		t.Fatal(err)
	}
	h200, err := gpu.LoadProfile("h200")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(h200.Kernels, carried(h100.Kernels), nearly()); d != "" {
		t.Errorf("h200: shipped -, carried over from h100 +\n%s", d)
	}
}

// nearly takes numbers within a hundredth for equal, and errors, which a profile
// gives in tenths of a percent, within one of those. A fit is the same to many
// digits on one machine; another may stop elsewhere in a flat valley.
func nearly() cmp.Option {
	return cmp.Options{
		cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 0.01*max(math.Abs(a), math.Abs(b)) }),
		cmp.Comparer(func(a, b gpu.Provenance) bool {
			near := func(a, b float64) bool { return math.Abs(a-b) <= 0.001+1e-9 }
			return a.Data == b.Data && a.Range == b.Range && a.Rows == b.Rows && near(a.Median, b.Median) && near(a.P90, b.P90) &&
				near(a.HeldOutMedian, b.HeldOutMedian) && near(a.HeldOutP90, b.HeldOutP90)
		}),
		cmpopts.EquateEmpty(),
	}
}
