package gpu

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"servesim/profiles"
)

// shipped returns the text of a profile that ships, with old replaced by new.
func shipped(tb testing.TB, name, old, new string) string {
	tb.Helper()
	text, err := profiles.FS.ReadFile(name + ".toml")
	if err != nil {
		tb.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		tb.Fatalf("%s.toml does not contain %q", name, old)
	}
	return strings.Replace(string(text), old, new, 1)
}

func TestShippedProfiles(t *testing.T) {
	for _, name := range ProfileNames() {
		p, err := LoadProfile(strings.ToUpper(name))
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Name != name {
			t.Errorf("%s.toml is called %q", name, p.Name)
		}
		for _, set := range sortedKeys(p.Kernels) {
			for _, format := range sortedKeys(p.Kernels[set].GEMM) {
				if f := p.Kernels[set].GEMM[format].Fit; f.Rows < 1000 || f.Median <= 0 || f.HeldOutP90 < f.HeldOutMedian || f.Data == "" || f.Range == "" {
					t.Errorf("%s: kernels.%s.gemm.%s says of its fit %+v", name, set, format, f)
				}
			}
		}
	}
}

// Each fault names the file, the line if there is one, the key, what was found
// and what is allowed. %L is the line of the text that is replaced, %T that of the
// table it is in.
func TestProfileFaults(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", "tdp_w = 700", "tpd_w = 700",
			"p.toml:%L: datasheet.tpd_w: unknown key; did you mean \"tdp_w\"?\np.toml:%T: datasheet.tdp_w: missing; give a number of watts from 1 to 1e+06"},
		{"unknown key without a near one", "tdp_w = 700", "tdp_w = 700\nprice = 3",
			"p.toml:%L+1: datasheet.price: unknown key; allowed are bf16_flop_per_s, fp8_flop_per_s, fp4_flop_per_s, hbm_bytes, hbm_bytes_per_s, l2_bytes, nvlink_bytes_per_s, tdp_w"},
		{"key in another case", "tdp_w", "TDP_w", "p.toml:%L: datasheet.TDP_w: unknown key; did you mean \"tdp_w\"?\np.toml:%T: datasheet.tdp_w: missing; give a number of watts from 1 to 1e+06"},
		{"missing key", "seq_s = 5.0e-6\n", "", "p.toml:%T: engine.generic.seq_s: missing; give a number of seconds from 0 to 1"},
		{"negative", "tdp_w = 700", "tdp_w = -700", "p.toml:%L: datasheet.tdp_w: found -700; must be a number of watts from 1 to 1e+06"},
		{"NaN", "tdp_w = 700", "tdp_w = nan", "p.toml:%L: datasheet.tdp_w: found NaN; must be a number of watts from 1 to 1e+06"},
		{"infinite", "tdp_w = 700", "tdp_w = inf", "p.toml:%L: datasheet.tdp_w: found +Inf; must be a number of watts from 1 to 1e+06"},
		{"slip of a unit", "hbm_bytes_per_s = 3.35e12", "hbm_bytes_per_s = 3.35", "p.toml:%L: datasheet.hbm_bytes_per_s: found 3.35; must be a rate per second from 1e+06 to 1e+20"},
		{"wrong type", "tdp_w = 700", `tdp_w = "700"`, `p.toml:%L: datasheet.tdp_w: found the string "700"; must be a number of watts from 1 to 1e+06`},
		{"fraction of a token", "step_tokens_max = 16384", "step_tokens_max = 16384.5", "p.toml:%L: fitted.range.step_tokens_max: found 16384.5; must be a whole number from 1 to 1073741824"},
		{"schema 2", "schema = 1", "schema = 2\nfuture = true", "p.toml:%L: schema: found 2; this servesim reads schema 1"},
		{"no schema", "schema = 1", "", "p.toml: schema: missing; begin the file with schema = 1"},
		{"syntax", "tdp_w = 700", "tdp_w = ", "p.toml:%L: expected value but found '\\n' instead"},
		{"duplicate key", "tdp_w = 700", "tdp_w = 700\ntdp_w = 700", "p.toml:%L+1: Key 'datasheet.tdp_w' has already been defined."},
		{"unknown format", "[kernels.vllm.gemm.fp8]", "[kernels.vllm.gemm.marlin]", "p.toml:%L: kernels.vllm.gemm.marlin: unknown key; allowed are bf16, fp8, int8, fp4"},
		{"kernels that are not there", `kernels = "pooled"`, `kernels = "orca"`, "p.toml:%L: engine.generic.kernels: found \"orca\"; must be one of the tables under kernels: pooled, sglang, trtllm, vllm"},
		{"dense kernels that are not there", `kernels = "pooled"`, "kernels = \"pooled\"\ndense_kernels = \"orca\"", "p.toml:%L+1: engine.generic.dense_kernels: found \"orca\"; must be one of the tables under kernels: pooled, sglang, trtllm, vllm"},
		{"caution about no experts", `format = "fp8"`, `format = "int8"`, "p.toml:%L: expert_caution.vllm.format: found \"int8\"; must be a format of kernels.vllm.moe: bf16, fp8, mxfp4"},
		{"value for a table", "[fitted.elementwise]\nbytes_per_s = 2.7e12", "[fitted]\nelementwise = 2.7e12", "p.toml:%L+1: fitted.elementwise: found 2.7e+12; must be a table, written [fitted.elementwise]"},
		{"more usable than there is", "usable_bytes = 84.9e9", "usable_bytes = 849e9", "p.toml:%L: memory.usable_bytes: found 849000000000; must be at most datasheet.hbm_bytes, 85899345920"},
		{"name is a number", `name = "h100"`, `name = 100`, "p.toml:%L: name: found 100; must be a string, in quotes"},
	} {
		before, _, _ := strings.Cut(shipped(t, "h100", c.old, c.old), c.old)
		line := 1 + strings.Count(before, "\n")
		table := 1 + strings.Count(before[:strings.LastIndex("\n"+before, "\n[")+1], "\n")
		want := strings.NewReplacer("%L+1", strconv.Itoa(line+1), "%L", strconv.Itoa(line), "%T", strconv.Itoa(table)).Replace(c.want)
		_, err := readProfile("p.toml", shipped(t, "h100", c.old, c.new))
		if err == nil {
			t.Errorf("%s: no error", c.name)
		} else if err.Error() != want {
			t.Errorf("%s: got\n%v\nwant\n%s", c.name, err, want)
		}
	}
}

// No rate may be above the datasheet, not even by an engine's efficiency.
func TestRatesAboveTheDatasheet(t *testing.T) {
	text, err := os.ReadFile("testdata/round.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"flop_per_s = 0.7e15", "flop_per_s = 1.1e15", "kernels.all.gemm.bf16.flop_per_s: found 1.1e+15; must be at most 1e+15, by datasheet.bf16_flop_per_s"},
		{"weight_bytes_per_s = 3.5e12", "weight_bytes_per_s = 4.5e12", "kernels.all.gemm.bf16.weight_bytes_per_s: found 4.5e+12; must be at most 4e+12, by datasheet.hbm_bytes_per_s"},
		{"bytes_per_s = 300.0e9", "bytes_per_s = 501.0e9", "kernels.all.allreduce.tp2.bytes_per_s: found 5.01e+11; must be at most 5e+11, by datasheet.nvlink_bytes_per_s, half of it in each direction"},
		{"bytes_per_s = 3.6e12", "bytes_per_s = 4.1e12", "kernels.all.attn_decode.d128.bf16.bytes_per_s: found 4.1e+12; must be at most 4e+12, by datasheet.hbm_bytes_per_s"},
		{"flop_per_s = 1.4e15", "flop_per_s = 2.4e15", "kernels.all.moe.fp8.flop_per_s: found 2.4e+15; must be at most 2e+15, by datasheet.fp8_flop_per_s"},
		{"flop_efficiency = 1.25", "flop_efficiency = 1.4", "engine.skewed: its efficiency makes 2.1e+15 of kernels.all.gemm.fp8.flop_per_s; must be at most 2e+15, by datasheet.fp8_flop_per_s"},
		{"kv_bf16_efficiency = 0.9", "kv_bf16_efficiency = 1.2", "engine.skewed: its efficiency makes 4.2e+12 of kernels.all.attn_decode.d64.bf16.bytes_per_s; must be at most 4e+12, by datasheet.hbm_bytes_per_s"},
		{"[fitted.elementwise]\nbytes_per_s = 3.0e12", "[fitted.elementwise]\nbytes_per_s = 5.0e12", "fitted.elementwise.bytes_per_s: found 5e+12; must be at most 4e+12, by datasheet.hbm_bytes_per_s"},
	} {
		if !strings.Contains(string(text), c.old) {
			t.Fatalf("round.toml does not contain %q", c.old)
		}
		_, err := readProfile("p.toml", strings.Replace(string(text), c.old, c.new, 1))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got\n%v\nwant\n%s", c.new, err, c.want)
		}
	}
}

func TestLoadProfileByName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(path, []byte(shipped(t, "h100", `"h100"`, `"mine"`)), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := LoadProfile(path)
	if err != nil || p.Name != "mine" {
		t.Errorf("%+v, %v", p, err)
	}
	for name, want := range map[string]string{
		"h10":            `no GPU profile is called "h10"; did you mean "h100"?; a name with a / or .toml is the path of a profile file`,
		"a100-sxm4-80gb": `no GPU profile is called "a100-sxm4-80gb"; allowed are b200, h100, h200; a name with a / or .toml is the path of a profile file`,
		"":               `no GPU profile is called ""; allowed are b200, h100, h200; a name with a / or .toml is the path of a profile file`,
	} {
		if _, err := LoadProfile(name); err == nil || err.Error() != want {
			t.Errorf("%q: got\n%v\nwant\n%s", name, err, want)
		}
	}
	if _, err := LoadProfile("./none.toml"); err == nil || !strings.Contains(err.Error(), "none.toml") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// Whatever reads as a profile gives, for any model that fits it, step times that
// keep the contract of Cost.
func FuzzReadProfile(f *testing.F) {
	for _, name := range ProfileNames() {
		f.Add(shipped(f, name, "schema", "schema"))
	}
	f.Add("schema = 1\n[engine]\nx = 1\n")
	f.Add("schema = 1\n\"a.b\".c = [{d = nan}]\n")
	m, err := LoadModel("gpt-oss-20b")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := readProfile("p.toml", text)
		if err != nil {
			return
		}
		for _, engine := range sortedKeys(p.Engine) {
			c, err := NewCost(Setup{Profile: p, Model: m, TP: 2, Weights: BF16, KV: BF16, Engine: engine})
			if err != nil {
				continue
			}
			d := c.Decode(8, 4000)
			w := Work{DecodeSeqs: 8, DecodeKV: 4000, Samples: 8}
			if s := c.Step(w); s <= 0 || s != d.First || d.Inc < 0 || d.Steps < 1 {
				t.Fatalf("engine %s: Step(%+v) = %v, Decode = %+v", engine, w, s, d)
			}
		}
	})
}
