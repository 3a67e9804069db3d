package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"strings"
	"testing"
)

// A faultCase is something wrong that a user may do, end to end.
type faultCase struct {
	title string
	files map[string]string
	args  string   // after the program's name, split at spaces
	wants []string // what the message says: where, which field, what to do
}

// withTrace returns a case whose trace is text, run on the scenario small.
func withTrace(title, file, text string, wants ...string) faultCase {
	return faultCase{title, map[string]string{"s.toml": small, file: text}, "run s.toml --trace " + file, wants}
}

// withScenario returns a case whose scenario is text.
func withScenario(title, text string, wants ...string) faultCase {
	return faultCase{title, map[string]string{"s.toml": text}, "run s.toml", wants}
}

// withFlags returns a case whose scenario is small and whose flags are at fault.
func withFlags(title, flags string, wants ...string) faultCase {
	return faultCase{title, map[string]string{"s.toml": small}, "run s.toml " + flags, wants}
}

// row returns an Azure trace whose second row is text.
func row(text string) string {
	return "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n" + text + "\n"
}

func traceFaults() []faultCase {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(strings.Repeat(azure, 100)))
	must(errors.Join(err, z.Close()))
	cut := packed.String()[:packed.Len()/2]
	return []faultCase{
		{"trace missing", map[string]string{"s.toml": small}, "run s.toml --trace none.csv", []string{"none.csv", "no such file"}},
		withTrace("trace is a folder", "../", "", "is a directory"),
		withTrace("empty trace", "t.csv", "", "t.csv", "empty"),
		withTrace("header only", "t.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n", "t.csv", "at least one request"),
		withTrace("wrong columns", "t.csv", "a,b,c\n1,2,3\n", "t.csv:1", "columns a, b and c"),
		withTrace("header names swapped for a typo", "t.csv", "TIMESTAMP,ContextToken,GeneratedTokens\n2023-11-16 18:15:46,1,2\n", "t.csv:1"),
		withTrace("no header", "t.csv", "2023-11-16 18:15:46.6805900,374,44\n", "t.csv:1"),
		withTrace("negative tokens", "t.csv", row("2023-11-16 18:15:47,-5,44"), "t.csv:3", "ContextTokens", `"-5"`),
		withTrace("fractional tokens", "t.csv", row("2023-11-16 18:15:47,5.5,44"), "t.csv:3", "ContextTokens", `"5.5"`),
		withTrace("NaN tokens", "t.csv", row("2023-11-16 18:15:47,5,NaN"), "t.csv:3", "GeneratedTokens", `"NaN"`),
		withTrace("overflowing tokens", "t.csv", row("2023-11-16 18:15:47,99999999999,4"), "t.csv:3", "ContextTokens", "99999999999"),
		withTrace("zero tokens", "t.csv", row("2023-11-16 18:15:47,5,0"), "t.csv:3", "GeneratedTokens", "zero_tokens"),
		withTrace("missing field", "t.csv", row("2023-11-16 18:15:47,5"), "t.csv:3"),
		withTrace("out of order", "t.csv", row("2023-11-16 18:15:45,5,5"), "t.csv:3", "TIMESTAMP", "line 2", "sort"),
		withTrace("not a time", "t.csv", row("yesterday,5,5"), "t.csv:3", "TIMESTAMP", "yesterday"),
		withTrace("mixed zones", "t.csv", row("2023-11-16 18:15:47+02:00,5,5"), "t.csv:3", "TIMESTAMP"),
		withTrace("binary file", "t.csv", "\x7fELF\x02\x01\x01\x00\x00\x00", "t.csv", "binary"),
		withTrace("truncated gzip", "t.csv.gz", cut, "t.csv.gz", "byte"),
		withTrace("Git LFS pointer", "t.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "t.csv", "LFS"),
		withTrace("negative arrival", "t.jsonl", `{"timestamp": -5, "input_length": 6, "output_length": 5, "hash_ids": [1]}`+"\n", "t.jsonl:1", "timestamp"),
		withTrace("broken JSON", "t.jsonl", `{"timestamp": 0, "input_length": 6, "output_length": 5, "hash_ids": [1]}`+"\n{\"timestamp\": 1,\n", "t.jsonl:2"),
		withTrace("duplicate ids", "t.jsonl", "{\"id\":\"a\",\"arrival\":0,\"prompt\":6,\"output\":5}\n{\"id\":\"a\",\"arrival\":1,\"prompt\":6,\"output\":5}\n", "t.jsonl:2", `"a"`),
		{"stretched past what a run can last", map[string]string{"s.toml": small, "t.csv": azure}, "run s.toml --trace t.csv --set stretch=1e7", []string{"stretch: request 1", "106 days"}},
		{"prompts scaled past what a length can be", map[string]string{"s.toml": small, "t.csv": azure}, "run s.toml --trace t.csv --set scale_prompt=1e8", []string{"scale lengths: request 0 of 374 tokens", "at most 2147483647"}},
		{"sessions that cannot be merged", map[string]string{"s.toml": small, "t.jsonl": "{\"arrival\":0,\"prompt\":6,\"output\":5,\"session\":9223372036854775807}\n{\"arrival\":1,\"prompt\":6,\"output\":5}\n"}, "run s.toml --trace t.jsonl --set transform.rate=2", []string{"merge: request 0 of source 1", "session 9223372036854775807"}},
		{"standard input at twice the rate", map[string]string{"s.toml": small}, "run s.toml --trace - --set transform.rate=2", []string{"--trace -: workload.trace: is standard input", "transform.rate reads its workload for each copy"}},
		{"unknown format", map[string]string{"s.toml": small, "t.csv": azure}, "run s.toml --trace t.csv --format azur", []string{"--format azur", "workload.format", `did you mean "azure"?`}},
		{"the wrong format forced", map[string]string{"s.toml": small, "t.csv": azure}, "run s.toml --trace t.csv --format mooncake", []string{"t.csv:1"}},
	}
}

func scenarioFaults() []faultCase {
	return []faultCase{
		{"scenario missing", nil, "run none.toml", []string{"none.toml", "no such file"}},
		withScenario("empty scenario", "", "s.toml: schema: missing", "schema = 1"),
		withScenario("not TOML", "schema = 1\n[workload\n", "s.toml:3", "end table name"),
		withScenario("a key twice", small+"name = \"again\"\n", "s.toml:19"),
		withScenario("newer schema", changed("schema = 1", "schema = 2\nfuture = true"), "s.toml:1: schema: found 2; this servesim reads schema 1"),
		withScenario("unknown key", changed(`policy = `, `polcy = `), `s.toml:12: engine.polcy: unknown key; did you mean "policy"?`, "engine.policy: missing"),
		withScenario("unknown section", changed(`[engine]`, `[engin]`), `s.toml:11: engin: unknown key; did you mean "engine"?`),
		withScenario("wrong type", changed(`seed = 3`, `seed = "3"`), `s.toml:3: seed: found the string "3"; must be a whole number`),
		withScenario("negative seed", changed(`seed = 3`, `seed = -3`), `s.toml:3: seed: found -3; must be a whole number of 0 or more`),
		withScenario("several faults at once", strings.Replace(changed(`seed = 3`, `sed = 3`), `"h100"`, `"h10"`, 1),
			`s.toml:3: sed: unknown key; did you mean "seed"?`, `s.toml:15: hardware.gpu: `),
		withScenario("rate below 0 beside an unknown preset", changed(`arrival = { process = "poisson", rate_per_s = 4 }`, "rate_per_s = -3\npreset = \"azure\""),
			"s.toml:7: workload.rate_per_s: is -3", "s.toml:8: workload.preset"),
		withScenario("a rate alone", changed(`arrival = { process = "poisson", rate_per_s = 4 }`, "rate_per_s = 2.5"),
			`workload.arrival: missing; say when requests arrive, such as { process = "poisson", rate_per_s = 2.5 }`),
		withScenario("no workload", "schema = 1\n[engine]\npolicy = \"vllm@0.20\"\n[hardware]\ngpu = \"h100\"\n[model]\nname = \"Llama-3.1-8B\"\n", "s.toml: workload: missing", "azure-chat"),
		withScenario("rate 0", changed("rate_per_s = 4", "rate_per_s = 0"), "s.toml:7: workload.arrival.rate_per_s", "is 0"),
		withScenario("rate NaN", changed("rate_per_s = 4", "rate_per_s = nan"), "s.toml:7: workload.arrival.rate_per_s", "NaN"),
		withScenario("closed loop without users", changed(`arrival = { process = "poisson", rate_per_s = 4 }`, `closed_loop = { users = 0 }`), "s.toml:7: workload.closed_loop.users", "is 0"),
		withScenario("endless workload", changed("requests = 20\n", ""), "workload.requests", "for ever"),
		withScenario("unknown process", changed("poisson", "poison"), "workload.arrival.process", "poison"),
		withScenario("unknown preset", changed("requests = 20", "preset = \"azure\""), "s.toml:6: workload.preset", "azure-chat"),
		withScenario("trace and preset", changed("requests = 20", "preset = \"azure-chat\"\ntrace = \"t.csv\""), "s.toml:6: workload.preset: has no meaning beside trace"),
		withScenario("columns without a trace", changed("requests = 20", "requests = 20\ncolumns = { arrival = \"t\" }"), "s.toml:7: workload.columns", "there is none"),
		withScenario("unknown model", changed("Llama-3.1-8B", "Llama-3.1-9B"), "s.toml:18: model.name", "llama-3.1-8b"),
		withScenario("unknown policy", changed("vllm@0.20", "vllm"), "s.toml:12: engine.policy", "vllm@0.20"),
		withScenario("bad duration", small+"[client]\ntimeout = \"5\"\n", "s.toml:20: client.timeout", "needs a unit"),
		withScenario("bad limits", small+"[slo]\ngoodput = \"ttft=5\"\n", "s.toml:20: slo.goodput", "ttft"),
		withScenario("livelock without horizon", small+"[run]\nallow_livelock = true\n", "s.toml:20: run.allow_livelock", "run.horizon"),
		withScenario("window that ends before it begins", small+"[transform]\nfrom = \"5s\"\nto = \"4s\"\n", "s.toml:21: transform.to"),
	}
}

func machineFaults() []faultCase {
	return []faultCase{
		withFlags("TP that does not divide", "--model llama-3.1-8b --tp 3", "--tp 3: hardware.tensor_parallel_size", "one of 1, 2, 4, 8"),
		withFlags("TP that does not divide the heads", "--model custom.toml --tp 8", "custom.toml"),
		withFlags("model that does not fit", "--model llama-3.1-405b", "hardware", "does not fit", "smaller number format"),
		withFlags("model that fits for shorter requests", "--model llama-3.1-70b --dtype fp8 --tp 1", "does not fit", "set max_model_len to ", "tensor_parallel_size 2"),
		withFlags("no fp4 on H100", "--dtype fp4", "--dtype fp4: model.dtype", "fp4"),
		withFlags("unknown dtype", "--dtype int3", "--dtype int3: model.dtype", "fp8"),
		withFlags("KV in fp4", "--set kv_cache_dtype=fp4", "model.kv_cache_dtype", "bf16 or fp8"),
		withFlags("memory share above 1", "--set gpu_memory_utilization=1.5", "engine.gpu_memory_utilization", "1.5"),
		withFlags("no sequences", "--set max_num_seqs=0", "engine.max_num_seqs", "0"),
		withFlags("block size 0", "--set block_size=0", "block_size", "0"),
		withFlags("option that the version lacks", "--set watermark=0.01", "engine.watermark: vllm@0.20 has no such option", "vllm@main"),
		withFlags("budget below the longest prompt, unchunked", "--set enable_chunked_prefill=false --set max_num_batched_tokens=512", "engine.max_num_batched_tokens: found 512", "max_model_len"),
		withFlags("unknown host constants", "--set host.engine=vlm", "host.engine", `did you mean "vllm"?`),
		withFlags("host time below 0", "--set host.base=-1ms", "--set host.base=-1ms: host.base", "host overhead base"),
		withFlags("delay below 0", "--set network.request.value=-5ms", "--set network.request.value=-5ms: network.request.value: is -5ms"),
		withFlags("memory below 0", "--set memory.weights_bytes=-5", "--set memory.weights_bytes=-5: memory.weights_bytes: found -5"),
		withFlags("blocks above what a number holds", "--set num_gpu_blocks_override=99999999999", "--set num_gpu_blocks_override=99999999999: engine.num_gpu_blocks_override", "from 2 to 2147483647"),
		withFlags("no blocks in V0", "--policy vllm@0.8-v0 --set num_gpu_blocks_override=0", "from 1 to 2147483647"),
		withFlags("flags that leave no memory", "--model llama-3.1-405b --dtype bf16 --tp 1", "--model llama-3.1-405b --dtype bf16 --tp 1: hardware"),
		{"a default model's GPUs and format lent to another", nil, "run --trace t.csv --model Llama-3.1-8B --gpu h100",
			[]string{"--model Llama-3.1-8B: model.name", "tensor_parallel_size 8 and dtype fp8", "Llama-3.3-70B", "servesim run --trace t.csv --gpu h100 --model Llama-3.1-8B --tp 1 --dtype bf16"}},
		{"a default model's format lent to another", nil, "run --set model.name=qwen3-8b --tp 1", []string{"with dtype fp8", "servesim run --tp 1 --set model.name=qwen3-8b --dtype bf16"}},
		{"a default model's GPUs lent to alternatives", nil, "compare --vary model=qwen3-8b,qwen3-32b --dtype fp8", []string{"with tensor_parallel_size 8", "servesim compare --dtype fp8 --vary model=qwen3-8b,qwen3-32b --tp 1"}},
		{"weights that are not modelled", map[string]string{"s.toml": small, "config.json": awqConfig}, "run s.toml --model config.json", []string{"model.dtype: missing, and config.json says awq", "not modelled"}},
		{"profile with an unknown key", map[string]string{"s.toml": small, "p.toml": "schema = 1\nnam = \"x\"\n"}, "run s.toml --gpu p.toml", []string{"p.toml:2", "nam"}},
		{"profile of a newer schema", map[string]string{"s.toml": small, "p.toml": "schema = 7\n"}, "run s.toml --gpu p.toml", []string{"p.toml:1", "schema"}},
		{"profile missing", map[string]string{"s.toml": small}, "run s.toml --gpu none.toml", []string{"none.toml", "no such file"}},
		{"model that is no JSON", map[string]string{"s.toml": small, "config.json": "{"}, "run s.toml --model config.json", []string{"config.json"}},
		{"model without layers", map[string]string{"s.toml": small, "config.json": `{"model_type": "llama"}`}, "run s.toml --model config.json", []string{"config.json", "num_hidden_layers"}},
	}
}

func flagFaults() []faultCase {
	return []faultCase{
		{"unknown command", nil, "rum", []string{`unknown command "rum"`}},
		{"unknown flag", nil, "run --rate 5", []string{"unknown flag: --rate", "servesim run --help"}},
		{"two scenarios", nil, "run a.toml b.toml", []string{"at most 1 arg"}},
		withFlags("empty flags", "--trace= --model= --gpu= --goodput= --percentiles= --records=", "--trace is empty", "--model is empty", "--gpu is empty", "--goodput is empty", "--percentiles is empty", "--records is empty"),
		withFlags("a key twice", "--set seed=1 --set seed=2", "seed: given by --set seed=1 and again by --set seed=2"),
		withFlags("a key by its flag and by set", "--policy vllm@0.11 --set policy=vllm@0.20", "engine.policy: given by --policy vllm@0.11 and again by --set policy=vllm@0.20"),
		withFlags("a key and then its table", "--set arrival.rate_per_s=5 --set arrival={}", "workload.arrival: given by"),
		withFlags("two traces", "--trace a.csv --set trace=b.csv", "workload.trace: given by --trace a.csv and again"),
		withFlags("printed as JSON", "--print --json --records r.jsonl", "--print runs nothing", "--json and --records"),
		withFlags("printed with blame", "--print --blame", "--print runs nothing", "--blame"),
		withFlags("a name of two things", "--set name=x", `key "name" is ambiguous; write scenario.name`),
		withFlags("a limit in capitals", "--goodput TTFT:500", `did you mean "ttft"?`),
		{"limits without quotes", nil, "run --goodput ttft:500 tpot:15 e2el:2000", []string{"tpot:15: looks like another limit", `--goodput "ttft:500 tpot:15 e2el:2000"`}},
		{"limits without quotes compared", nil, "compare --goodput ttft:500 tpot:15", []string{`--goodput "ttft:500 tpot:15"`}},
		{"a trace as the scenario", map[string]string{"trace.csv": azure}, "run trace.csv", []string{"trace.csv: looks like a trace", "--trace trace.csv"}},
		{"a trace of unknown columns as the scenario", map[string]string{"t.csv": "a,b\n1,2\n"}, "run t.csv", []string{"t.csv: looks like a trace", "--trace t.csv"}},
		{"vary of a key that a flag gives", map[string]string{"s.toml": small}, "compare s.toml --gpu h200 --vary gpu=h100,b200", []string{"hardware.gpu: given by --gpu h200 and again by --vary gpu=h100"}},
		{"vary of one key twice", map[string]string{"s.toml": small}, "compare s.toml --vary gpu=h100,h200 --vary gpu=h100,b200", []string{"hardware.gpu: given by --vary gpu=h100 and again by --vary gpu=h100"}},
		{"vary of a name", map[string]string{"s.toml": small}, "compare s.toml --vary name=a,b", []string{"ambiguous", "model.name"}},
		withFlags("set without a value", "--set seed", "--set seed", "key=value"),
		withFlags("seed above 64 bits", "--seed 18446744073709551615", "--seed 18446744073709551615: seed: found 18446744073709551615, which is beyond the 64 bits of a number"),
		withFlags("preset under lengths and arrivals of the scenario's own", "--set preset=azure-chat", "--set preset=azure-chat", "nothing would be used", "arrival, prompt and output of workload"),
		withFlags("preset misspelt", "--set preset=azure-cht", `did you mean "azure-chat"?`),
		withFlags("set of an unknown key", "--set max_num_seq=5", `did you mean "max_num_seqs"?`),
		withFlags("set of the wrong type", "--set seed=x", `--set seed=x: seed: found the string "x"`),
		withFlags("unknown limit", "--goodput p99:5", "--goodput", "p99"),
		withFlags("percentile above 100", "--percentiles 50,101", "--percentiles", "101"),
		withFlags("records into a missing folder", "--records none/r.jsonl", "--records", "the folder none does not exist"),
		withFlags("records into stdout", "--records -", "--records -: stdout is for the summary"),
		{"a window without a request", map[string]string{"s.toml": small, "t.csv": azure}, "run s.toml --trace t.csv --set from=3h",
			[]string{"no request arrives", "t.csv has 3 requests over 4.542 s", `from = "10800s"`, "window: requests before it: 3"}},
		withFlags("a horizon before the first request", "--set arrival={process=\"piecewise\",window=\"1h\",rates_per_s=[0,1]} --set horizon=1s", "no request arrives", "run.horizon ends the run at 1s"),
		withFlags("a workload that ends at once", "--set arrival={process=\"piecewise\",window=\"1h\",rates_per_s=[0,1]} --set duration=2s", "no request arrives", "workload.duration is 2s"),
		withFlags("records into a folder", "--records .", "--records", "is a folder"),
		{"nothing to compare", nil, "compare", []string{"two scenario files"}},
		{"vary with one alternative", nil, "compare --vary seed=1", []string{"one alternative"}},
		{"vary without a key", nil, "compare --vary 1,2", []string{"begin with a key"}},
		{"vary of an unknown key", nil, "compare --vary sed=1,2", []string{`did you mean "seed"?`}},
		{"stdin compared", map[string]string{"s.toml": small}, "compare s.toml --trace - --vary seed=1,2", []string{"standard input", "only once"}},
		{"different limits compared", map[string]string{"s.toml": small}, "compare s.toml --vary goodput=ttft:5,ttft:6", []string{"ttft:5", "ttft:6", "--goodput"}},
		{"share without limits", map[string]string{"s.toml": small}, "run s.toml --set min_goodput=0.9", []string{"slo.min_goodput", "set slo.goodput too"}},
		{"share above 1", map[string]string{"s.toml": small}, "run s.toml --goodput ttft:5 --set min_goodput=90", []string{"slo.min_goodput", "from 0 to 1"}},
		{"alternative at fault", map[string]string{"s.toml": small}, "compare s.toml --vary gpu=h100,h1", []string{"hardware.gpu", "h1"}},
		{"conform without a file", nil, "conform", []string{"at least 1 arg"}},
		{"conform with an unknown policy", nil, "conform x.json --policy vllm", []string{"--policy", "vllm@0.20"}},
		{"vectors missing", nil, "conform none.json", []string{"none.json", "no such file"}},
		{"vectors that are no JSON", map[string]string{"v.json": "["}, "conform v.json", []string{"v.json"}},
		{"unknown listing", nil, "list policie", []string{`did you mean "policies"?`}},
	}
}

// awqConfig is a config.json whose weights no step time was fitted for.
const awqConfig = `{"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 131072,
"num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256,
"torch_dtype": "float16", "quantization_config": {"quant_method": "awq", "bits": 4}}`

// TestFaultsAreInOrder holds that faults come in the order of the lines that they
// are about, those of the command line first, and nothing follows from another.
func TestFaultsAreInOrder(t *testing.T) {
	text := strings.Replace(changed("rate_per_s = 4", "rate_per_s = -3"), `"h100"`, `"h10"`, 1)
	text = strings.Replace(text, "requests = 20", "requsts = 20", 1)
	for _, c := range []struct{ args, want string }{
		{"run s.toml --dtype x", "--dtype x: model.dtype|s.toml:5: workload.requests|s.toml:6: workload.requsts|s.toml:7: workload.arrival.rate_per_s|s.toml:15: hardware.gpu"},
		{"run ok.toml --set max_num_batched_tokens=0", "--set max_num_batched_tokens=0: engine.max_num_batched_tokens"},
		{"run ok.toml --set max_model_len=0", "--set max_model_len=0: engine.max_model_len"},
	} {
		inFolder(t, map[string]string{"s.toml": text, "ok.toml": small})
		var heads []string
		for line := range strings.Lines(do(t, strings.Split(c.args, " ")...).stderr) {
			parts := strings.SplitN(strings.TrimPrefix(line, "servesim: "), ": ", 3)
			heads = append(heads, parts[0]+": "+parts[1])
		}
		if got := strings.Join(heads, "|"); got != c.want {
			t.Errorf("%s: faults of\n%s, want\n%s", c.args, got, c.want)
		}
	}
}

// TestFaults holds that every fault of what the user gave ends with exit code
// 2, says where it is, what it is and how to mend it, and prints no result.
func TestFaults(t *testing.T) {
	var all []faultCase
	for _, list := range [][]faultCase{traceFaults(), scenarioFaults(), machineFaults(), flagFaults(), limitFaults(), poolFaults(), capacityFaults(), claimFaults(), hardwareFaults()} {
		all = append(all, list...)
	}
	for _, c := range all {
		t.Run(c.title, func(t *testing.T) {
			if strings.HasSuffix(c.args, "--trace ../") {
				delete(c.files, "../")
			}
			inFolder(t, c.files)
			o := do(t, strings.Split(c.args, " ")...)
			if o.code != exitUsage {
				t.Errorf("exit %d, want %d", o.code, exitUsage)
			}
			if o.stdout != "" {
				t.Errorf("stdout has %q", o.stdout)
			}
			for _, want := range c.wants {
				if !strings.Contains(o.stderr, want) {
					t.Errorf("the message lacks %q:\n%s", want, o.stderr)
				}
			}
			for line := range strings.Lines(o.stderr) {
				if !strings.HasPrefix(line, "servesim: ") {
					t.Errorf("a line without the program's name: %q", line)
				}
			}
			if _, err := os.Stat("r.jsonl"); err == nil {
				t.Error("a record file was left behind")
			}
		})
	}
	t.Logf("%d faults", len(all))
}
