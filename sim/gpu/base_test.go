package gpu

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeProfile writes text into a folder under a name and returns its path.
func writeProfile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A profile that is based on another differs from it in what it says alone.
func TestBasedProfile(t *testing.T) {
	dir := t.TempDir()
	path := writeProfile(t, dir, "mine.toml", "schema = 1\nname = \"mine\"\nbase = \"h100\"\n[engine.vllm]\nstep_s = 0.001\n[price]\nusd_per_gpu_hour = 2.9\n")
	p, err := LoadProfile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := LoadProfile("h100")
	if err != nil {
		t.Fatal(err)
	}
	want.Name, want.Base = "mine", "h100"
	e := want.Engine["vllm"]
	e.StepS = 0.001
	want.Engine["vllm"] = e
	want.Price.USDPerGPUHour = 2.9
	if d := cmp.Diff(want, p); d != "" {
		t.Error(d)
	}
	again, err := LoadProfile(writeProfile(t, dir, "more.toml", "schema = 1\nname = \"more\"\nbase = \"mine.toml\"\n[engine.vllm]\nseq_s = 1e-6\n"))
	if err != nil {
		t.Fatal(err)
	}
	if e := again.Engine["vllm"]; e.StepS != 0.001 || e.SeqS != 1e-6 || again.Name != "more" || again.Root != "h100" {
		t.Errorf("%+v", e)
	}
}

// A set of kernels takes the place of the whole set of its name, so that no
// optional coefficient of the base stays beside those of another fit.
func TestKernelsOfABasedProfileAreWhole(t *testing.T) {
	path := writeProfile(t, t.TempDir(), "mine.toml", "schema = 1\nname = \"mine\"\nbase = \"h100\"\n[kernels.vllm.gemm.bf16]\nfixed_s = 1e-6\n")
	_, err := LoadProfile(path)
	if err == nil || !strings.Contains(err.Error(), path+":4: kernels.vllm.allreduce: missing") || !strings.Contains(err.Error(), path+":4: kernels.vllm.gemm.bf16.flop_per_s: missing") {
		t.Errorf("%v", err)
	}
}

func TestBaseFaults(t *testing.T) {
	dir := t.TempDir()
	head := "schema = 1\nname = \"x\"\n"
	writeProfile(t, dir, "a.toml", head+"base = \"b.toml\"\n")
	writeProfile(t, dir, "b.toml", head+"base = \"a.toml\"\n")
	writeProfile(t, dir, "bad.toml", head+"base = \"h100\"\n[datasheet]\ntdp_w = -1\n")
	writeProfile(t, dir, "c0.toml", head+"base = \"h100\"\n")
	for i := range maxBases {
		writeProfile(t, dir, fmt.Sprintf("c%d.toml", i+1), head+fmt.Sprintf("base = \"c%d.toml\"\n", i))
	}
	for _, c := range []struct{ text, want string }{
		{"base = \"h10\"\n", "%:3: base: no GPU profile is called \"h10\"; did you mean \"h100\"?"},
		{"base = \"none.toml\"\n", "%:3: base: reading a GPU profile: open " + filepath.Join(dir, "none.toml")},
		{"base = 3\n", "%:3: base: found 3; must be a string, in quotes"},
		{"base = \"x.toml\"\n", "%:3: base: found \"x.toml\", which is based on this file itself"},
		{"base = \"a.toml\"\n", "b.toml:3: base: found \"a.toml\", which is based on this file itself"},
		{"base = \"c" + fmt.Sprint(maxBases) + ".toml\"\n", "base: found \"c1.toml\", the end of 9 profiles of which each is based on the next; want 8 at most"},
		{"base = \"bad.toml\"\n", filepath.Join(dir, "bad.toml") + ":5: datasheet.tdp_w: found -1; must be a number of watts"},
		{"base = \"h100\"\n[engine.vllm]\nstep = 1\n", "%:5: engine.vllm.step: unknown key; did you mean \"step_s\"?"},
		{"base = \"h100\"\n[engine.mine]\nstep_s = 1\n", "%:4: engine.mine.seq_s: missing; give a number of seconds from 0 to 1"},
		{"base = \"h100\"\n[engine.vllm]\nflop_efficiency = 5.0\n", "%:4: engine.vllm: its efficiency makes"},
		{"base = \"h100\"\nprice = 3\n", "%:4: price: found 3; must be a table, written [price]"},
		{"base = \"h100\"\n[price]\nusd_per_gpu_hour = -1\n", "%:5: price.usd_per_gpu_hour: found -1; must be a number of US dollars from 0 to 1e+06"},
		{"base = \"h100\"\n[price]\ndate = \"yesterday\"\n", "%:5: price.date: found \"yesterday\"; must be a day, such as 2026-08-26"},
		{"base = \"h100\"\n[price]\nsource = \"\"\n", "%:5: price.source: empty; say whose price it is, on which list"},
		{"base = \"h100\"\n[price]\nlow_usd_per_gpu_hour = 30\n", "%:5: price.low_usd_per_gpu_hour: found 30; must be at most usd_per_gpu_hour, 3.2"},
		{"base = \"h100\"\n[price]\nhigh_usd_per_gpu_hour = 3\n", "%:5: price.high_usd_per_gpu_hour: found 3; must be at least usd_per_gpu_hour, 3.2"},
		{"base = \"h100\"\n[power]\nidle_w = 800\n", "%:5: power.idle_w: found 800; must be at most datasheet.tdp_w, 700"},
		{"base = \"h100\"\n[origin]\n", "%:4: origin.tool: missing; give a string, in quotes"},
	} {
		path := writeProfile(t, dir, "x.toml", head+c.text)
		_, err := LoadProfile(path)
		if want := strings.ReplaceAll(c.want, "%", path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got\n%v\nwant\n%s", c.text, err, want)
		}
	}
}

// Every profile that ships says what its GPU costs and draws.
func TestShippedCosts(t *testing.T) {
	for _, name := range ProfileNames() {
		p, err := LoadProfile(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Price == nil || p.Price.USDPerGPUHour <= 0 || p.Power == nil || p.Power.IdleW <= 0 {
			t.Errorf("%s: price %+v, power %+v", name, p.Price, p.Power)
		}
	}
}
