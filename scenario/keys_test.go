package scenario

import (
	"fmt"
	"strings"
	"testing"

	"servesim/sim/workload"

	"github.com/google/go-cmp/cmp"
)

func TestFullKey(t *testing.T) {
	for _, c := range []struct{ key, want, err string }{
		{"engine.max_num_seqs", "engine.max_num_seqs", ""},
		{"max_num_seqs", "engine.max_num_seqs", ""},
		{"gpu", "hardware.gpu", ""},
		{"name", "", "ambiguous; write scenario.name"},
		{"scenario.name", "name", ""},
		{"model.name", "model.name", ""},
		{"model", "model.name", ""}, // as the flags have it
		{"tp", "hardware.tensor_parallel_size", ""},
		{"dtype", "model.dtype", ""},
		{"trace", "workload.trace", ""},
		{"policy", "engine.policy", ""},
		{"rate_per_s", "workload.rate_per_s", ""}, // not workload.arrival.rate_per_s
		{"arrival.rate_per_s", "workload.arrival.rate_per_s", ""},
		{"stddev", "", "ambiguous"},
		{"max_num_seq", "", `did you mean "max_num_seqs"?`},
		{"temperature", "", "servesim list keys shows"},
	} {
		got, err := fullKey(c.key)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("fullKey(%q) = %q, %v; want %q, an error with %q", c.key, got, err, c.want, c.err)
		}
	}
}

func TestSettingValues(t *testing.T) {
	for text, want := range map[string]any{
		"seed=7":                              int64(7),
		"rate_per_s=2.5":                      2.5,
		"allow_livelock=true":                 true,
		"timeout=30s":                         "30s",
		"policy=vllm@0.20":                    "vllm@0.20",
		`policy="vllm@0.20"`:                  "vllm@0.20",
		"goodput=ttft:500 tpot:15":            "ttft:500 tpot:15",
		"workload.arrival.rates_per_s=[1, 2]": []any{int64(1), int64(2)},
	} {
		s, err := ParseSetting(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, s.Value); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// TestEveryKeyIsExplained holds that keys.txt says something of each key, and of
// nothing else.
func TestEveryKeyIsExplained(t *testing.T) {
	helps, used := keyHelps(), map[string]bool{}
	for _, key := range Keys() {
		used[helpKey(key)] = true
		if helps[helpKey(key)].meaning == "" {
			t.Errorf("keys.txt lacks a meaning of %s", helpKey(key))
		}
	}
	for key := range helps {
		if !used[key] {
			t.Errorf("keys.txt explains %s, which no scenario has", key)
		}
	}
}

// TestDefaultsOfKeysAreWhatSettles holds some constants of keys.txt to what an
// absent key becomes.
func TestDefaultsOfKeysAreWhatSettles(t *testing.T) {
	helps, p := keyHelps(), planOf(t, small)
	for key, got := range map[string]any{
		"hardware.tensor_parallel_size": *p.Scenario.Hardware.TensorParallelSize,
		"model.dtype":                   p.Scenario.Model.Dtype,
		"model.kv_cache_dtype":          p.Scenario.Model.KVCacheDtype,
		"host.engine":                   p.Scenario.Host.Engine,
		"engine.block_size":             *p.Scenario.Engine.BlockSize,
		"engine.scheduling_policy":      *p.Scenario.Engine.SchedulingPolicy,
		"network.request":               *p.Scenario.Network.Request.Value,
		"network.response":              *p.Scenario.Network.Response.Value,
		"DELAY.max":                     workload.MaxDelay,
	} {
		if want := fmt.Sprint(got); helps[key].def != want {
			t.Errorf("keys.txt has the default %q of %s, which is %q", helps[key].def, key, want)
		}
	}
}

// TestModelIsANameOrATable holds that model= takes what --model does, or the table.
func TestModelIsANameOrATable(t *testing.T) {
	for text, want := range map[string]Setting{
		"model=Llama-3.1-8B": {Key: "model.name", Value: "Llama-3.1-8B"},
		`model={name="x"}`:   {Key: "model", Value: map[string]any{"name": "x"}},
		"trace=t.csv":        {Key: "workload.trace", Value: "t.csv", Replay: true},
		"workload.trace=t":   {Key: "workload.trace", Value: "t"},
	} {
		got, err := ParseSetting(text)
		want.Text = text
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Setting{})); err != nil || diff != "" {
			t.Errorf("%s: %v %s", text, err, diff)
		}
	}
}

// TestSettingCannotSmuggle keeps a value from ending and beginning another key.
func TestSettingCannotSmuggle(t *testing.T) {
	s, err := ParseSetting("seed=1\nname = 2")
	if err != nil {
		t.Fatal(err)
	}
	if s.Value != "1\nname = 2" {
		t.Errorf("value %#v, want the text itself", s.Value)
	}
}

func TestParseVary(t *testing.T) {
	for text, want := range map[string][]string{
		"enable_chunked_prefill=true,false": {"engine.enable_chunked_prefill=true", "engine.enable_chunked_prefill=false"},
		"enable_chunked_prefill=false,max_num_batched_tokens=8192,2048": {
			"engine.enable_chunked_prefill=false", "engine.max_num_batched_tokens=8192", "engine.max_num_batched_tokens=2048",
		},
		"gpu=h100+tensor_parallel_size=8,gpu=b200+tensor_parallel_size=4": {
			"hardware.gpu=h100 hardware.tensor_parallel_size=8", "hardware.gpu=b200 hardware.tensor_parallel_size=4",
		},
		"workload.arrival.rates_per_s=[1,2],[3,4]": {"workload.arrival.rates_per_s=[1,2]", "workload.arrival.rates_per_s=[3,4]"},
		"stretch=1e+2": {"transform.stretch=1e+2"},
	} {
		alts, err := ParseVary(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, a := range alts {
			var parts []string
			for _, s := range a.Settings {
				_, value, _ := strings.Cut(s.Text, "=")
				parts = append(parts, s.Key+"="+value)
			}
			got = append(got, strings.Join(parts, " "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestParseVaryFaults(t *testing.T) {
	for text, want := range map[string]string{
		"2048,512":          "begin with a key",
		"max_num_seqss=1,2": `did you mean "max_num_seqs"?`,
		"max_num_seqs=":     "must be key=value",
		"max_num_seqs=1,,2": "must be key=value",
	} {
		if _, err := ParseVary(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}
