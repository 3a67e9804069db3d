package gpu

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is advised is enough, and no more than enough.
func TestAdviceFits(t *testing.T) {
	setups := []Setup{
		mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "vllm"), mustSetup(t, "h100", "Llama-3.1-70B", 1, FP8, FP8, "vllm"),
		mustSetup(t, "b200", "Llama-3.1-70B", 2, BF16, BF16, "vllm"),
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(setups).Draw(t, "setup")
		o := vllmOptions(8192)
		share, name := &o.GPUMemoryUtilization, "gpu_memory_utilization"
		if rapid.Bool().Draw(t, "of free memory") {
			share, name = &o.FreeGPUMemoryFraction, "free_gpu_memory_fraction"
		}
		*share = rapid.Float64Range(0.05, 1).Draw(t, "share")
		o.MaxModelLen = rapid.Int64Range(1, 20_000_000).Draw(t, "len")
		l, err := s.ledger(o)
		if err != nil {
			t.Fatal(err)
		}
		short := func(o MemoryOptions) bool {
			_, err := NewLedger(s, o)
			return err != nil && strings.Contains(err.Error(), "does not fit")
		}
		if n := l.Blocks() * l.BlockSize; n > 0 {
			fits := o
			fits.MaxModelLen = n
			if short(fits) {
				t.Fatalf("max_model_len %d does not fit", n)
			}
			if fits.MaxModelLen++; !short(fits) {
				t.Fatalf("max_model_len %d fits too", n+1)
			}
		}
		u := l.leastShare(o)
		if u > 1 {
			return
		}
		if *share = u; short(o) {
			t.Fatalf("%s %v does not fit", name, u)
		}
		if *share = u - 0.021; *share > 0 && !short(o) {
			t.Fatalf("%s %v fits too", name, u-0.021)
		}
	})
}

func TestModelFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.MkdirAll("org/mine", 0o755), os.WriteFile("org/mine/config.json", []byte(llamaConfig), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"org/mine", "./org/mine", "org/mine/config.json", "./org/mine/config.json"} {
		m, err := LoadModel(name)
		if err != nil || m.Name != "mine" {
			t.Errorf("%s: %v, %v; want the name mine", name, m, err)
		}
	}
	t.Chdir("org/mine")
	if m, err := LoadModel("./config.json"); err != nil || m.Name != "mine" {
		t.Errorf("./config.json: %v, %v; want the name mine", m, err)
	}
	if _, err := LoadModel("../../org"); err == nil || !strings.Contains(err.Error(), "config.json: no such file") {
		t.Errorf("a folder without a config.json: %v", err)
	}
	if _, err := readHFConfig("c.json", []byte(strings.Replace(llamaConfig, `"num_hidden_layers": 32`, `"num_hidden_layers": "32"`, 1))); err == nil || !strings.Contains(err.Error(), `num_hidden_layers is the string "32"; want`) {
		t.Errorf("a string for a number: %v", err)
	}
}

func TestRebase(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "here", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	abs := filepath.Join(dir, "a.toml")
	for name, want := range map[string]string{
		"h100": "h100", "": "", abs: abs, "a.toml": abs, "config.json": filepath.Join(dir, "config.json"), "./here": filepath.Join(dir, "here"),
		"here/x": filepath.Join(dir, "here", "x"), "meta-llama/Llama-3.1-8B": "meta-llama/Llama-3.1-8B", "here/gone.toml": filepath.Join(dir, "here", "gone.toml"),
	} {
		if got := Rebase(dir, name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
