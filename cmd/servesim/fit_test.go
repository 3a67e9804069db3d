package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"servesim/sim/gpu"
)

// startLog is the start of a server, Llama-3.1-8B on one H100 under vLLM 0.11, as its
// figures are in public logs, with max_model_len of 8192.
const startLog = `(APIServer pid=1) INFO 11-06 10:50:59 [utils.py:233] non-default args: {'model': 'meta-llama/Llama-3.1-8B-Instruct', 'max_model_len': 8192}
(EngineCore_DP0 pid=99) INFO 11-06 10:51:10 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: model='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1, pipeline_parallel_size=1, quantization=None, enforce_eager=False, kv_cache_dtype=auto
(EngineCore_DP0 pid=99) INFO 11-06 10:51:30 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 5.182600 seconds
(EngineCore_DP0 pid=99) INFO 11-06 10:51:48 [gpu_worker.py:298] Available KV cache memory: 51.38 GiB
(EngineCore_DP0 pid=99) INFO 11-06 10:51:48 [kv_cache_utils.py:1087] GPU KV cache size: 420,880 tokens
(EngineCore_DP0 pid=99) INFO 11-06 10:51:48 [kv_cache_utils.py:1091] Maximum concurrency for 8,192 tokens per request: 51.38x
(EngineCore_DP0 pid=99) INFO 11-06 10:52:10 [gpu_model_runner.py:3480] Graph capturing finished in 20 secs, took 0.53 GiB
`

// served are the flags that say how the server of startLog was run.
const served = " --model Llama-3.1-8B --gpu h100 --tp 1 --dtype bf16 --policy vllm@0.11 --set max_model_len=8192 --set max_num_batched_tokens=8192 --set max_num_seqs=1024"

// statsLine is a line of statistics of so many requests under way.
func statsLine(second, running int, generated float64) string {
	return fmt.Sprintf("INFO 11-06 10:%02d:%02d [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: %.1f tokens/s, Running: %d reqs, Waiting: 0 reqs, GPU KV cache usage: %.1f%%, Prefix cache hit rate: 0.0%%\n",
		second/60, second%60, generated, running, float64(running)*0.2)
}

// steady is a log of constant load: a step takes 9 ms and 20 µs more a request.
func steady() string {
	var b strings.Builder
	for i, running := range []int{8, 8, 8, 8, 8, 8, 64, 64, 64, 64, 64, 64, 192, 192, 192, 192, 192, 192} {
		b.WriteString(statsLine(10*i, running, float64(running)/(9e-3+20e-6*float64(running))))
	}
	return b.String()
}

// The start of a server beside the ledger: within 3 %, and the blocks for a scenario.
func TestFitOfAStart(t *testing.T) {
	inFolder(t, map[string]string{"server.log": startLog})
	out := ok(t, strings.Fields("fit server.log"+served)...)
	for _, want := range []string{
		"weights       14.99 GiB       14.96 GiB     -0.21 %   line 3",
		"420,880 tokens", "line 5", "For scenarios of this server", "[engine]\nnum_gpu_blocks_override = 26305 # 420880 tokens in blocks of 16",
		"graphs: vLLM captures them outside gpu_memory_utilization", "weights_bytes = 16094208825 # line 3",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
}

// A profile that a fit writes loads, says what it was made of and changes step times;
// two fits write the same bytes.
func TestFitWritesAProfile(t *testing.T) {
	inFolder(t, map[string]string{"server.log": startLog + steady()})
	out := ok(t, strings.Fields("fit server.log --output mine.toml"+served)...)
	for _, want := range []string{"15 of the statistics' 17 intervals used", "generation_tok_s", "held out", "Combinations", "Written     mine.toml, a profile based on h100"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	ok(t, strings.Fields("fit server.log --output again.toml --name mine"+served)...)
	first, err := os.ReadFile("mine.toml")
	must(err)
	second, err := os.ReadFile("again.toml")
	must(err)
	if string(first) != string(second) {
		t.Errorf("two fits differ:\n%s\n%s", first, second)
	}
	p, err := gpu.LoadProfile("mine.toml")
	if err != nil {
		t.Fatal(err)
	}
	o := p.Origin
	if p.Name != "mine" || p.Base != "h100" || p.BaseChanged || o.Engine != "vllm" || len(o.Inputs) != 1 || o.Inputs[0].Rows != 17 || o.Inputs[0].Used != 15 ||
		len(o.Inputs[0].SHA256) != 64 || len(o.Constants) == 0 || len(o.Warnings) == 0 || o.Errors[0].HeldOutP90 <= 0 {
		t.Errorf("%+v", o)
	}
	base := ok(t, "run", "--gpu", "h100", "--set", "requests=200")
	if mine := ok(t, "run", "--gpu", "mine.toml", "--set", "requests=200"); mine == base {
		t.Error("the profile changes nothing")
	}
	ok(t, "gpu", "mine.toml")
	again := ok(t, strings.Fields("fit server.log --output mine2.toml"+strings.Replace(served, "h100", "mine.toml", 1))...)
	if !strings.Contains(again, "a profile based on mine.toml") {
		t.Error(again)
	}
	if _, err := gpu.LoadProfile("mine2.toml"); err != nil {
		t.Error(err)
	}
	must(os.WriteFile("mine.toml", append(first, "\n# changed\n"...), 0o666))
	if out := ok(t, "run", "--gpu", "mine2.toml", "--set", "requests=20"); !strings.Contains(unfolded(out), "was fitted on top of mine.toml as it was then, which has changed since") {
		t.Errorf("nothing is said of a changed base:\n%s", out)
	}
}

func TestFitFaults(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(strings.Repeat(startLog, 9)))
	must(errors.Join(err, z.Close()))
	inFolder(t, map[string]string{
		"server.log": startLog + steady(), "start.log": startLog, "runs.csv": runsTable, "stats.log": steady(),
		"moving.log": statsLine(0, 1, 9) + statsLine(10, 50, 9), "one.log": statsLine(0, 1, 9),
		"foreign.txt": "hello\n", "empty.log": " \n", "cut.log.gz": packed.String()[:packed.Len()/2], "other.json": `{"a": 1}`, "short.json": vllmExport(3), "nothing.json": strings.ReplaceAll(vllmExport(30), "\"start_times\"", "\"start_timez\""),
		"binary.log": "\x00\x01", "kernel_gemm.csv": "gpu,engine,dtype,m,n,k,us\n",
		"s.toml": small, "host.toml": small + "[host]\nbase = \"1ms\"\n", "broken.log": "INFO GPU KV cache size: many tokens\n",
		"more.log":  strings.Replace(startLog, "420,880", "420,960", 1),
		"tp2.log":   strings.Replace(startLog, "tensor_parallel_size=1", "tensor_parallel_size=2", 1),
		"eager.log": strings.Replace(startLog, "enforce_eager=False", "enforce_eager=True", 1),
		"fp8.log":   strings.Replace(startLog, "kv_cache_dtype=auto", "kv_cache_dtype=fp8_e4m3", 1),
	})
	for _, c := range []struct{ args, want string }{
		{"fit", "requires at least 1 arg"},
		{"fit none.log", "DATA: stat none.log: no such file or directory; name a file of measurements"},
		{"fit server.log", "server.log: a vLLM log does not say which model ran where; say how the server was run"},
		{"fit empty.log" + served, "empty.log: empty; give measurements"},
		{"fit binary.log" + served, "binary.log: binary"},
		{"fit cut.log.gz" + served, "cut.log.gz"},
		{"fit other.json" + served, "other.json:1: found the keys a"},
		{"fit short.json", "short.json: a benchmark export does not say which model ran where"},
		{"fit short.json" + served, "short.json: 3 of its 3 calls are complete; a fit needs 10 or more"},
		{"fit nothing.json" + served, "nothing.json: its calls have no common clock"},
		{"fit foreign.txt" + served, "foreign.txt: found no line of vLLM's, want one of its memory"},
		{"fit broken.log" + served, "broken.log:1: found \"GPU KV cache size: many tokens\""},
		{"fit s.toml" + served, "s.toml: looks like a scenario or a profile, which is no measurement; give a scenario with --scenario"},
		{"fit kernel_gemm.csv", "kernel_gemm.csv: is a kernel table; give the folder"},
		{"fit .", ".: reading the kernel tables: open kernel_attn_prefill.csv: no such file"},
		{"fit server.log server.log" + served, "server.log: given twice"},
		{"fit none.log broken.log" + served, "broken.log:1:"},
		{"fit start.log more.log" + served, "more.log: prints 26310 KV blocks, an earlier log 26305, so they are of two servers; fit them apart"},
		{"fit moving.log" + served, "moving.log: none of its 1 intervals tells the time of a step; 1 in which the number of running requests changed"},
		{"fit one.log" + served, "one.log: has fewer than two lines of statistics"},
		{"fit runs.csv stats.log" + served, "runs.csv: a table of runs and what one server left are fitted apart"},
		{"fit tp2.log" + served, "tp2.log:2: hardware.tensor_parallel_size: the server had 2, the scenario has 1; set it there, or --set hardware.tensor_parallel_size=2"},
		{"fit eager.log" + served, "eager.log:2: engine.enforce_eager: the server had true, the scenario has false"},
		{"fit fp8.log" + served, "fp8.log:2: model.kv_cache_dtype: the server had fp8_e4m3, the scenario has bf16; set it there, or --set model.kv_cache_dtype=fp8"},
		{"fit start.log --model Llama-3.1-8B --tp 1", "say how this model is served, such as: servesim fit start.log --dtype bf16"},
		{"fit start.log --scenario none.toml", "none.toml: no such file"},
		{"fit stats.log --scenario host.toml", "host.base: is given, and it is one of the constants that the fit is of; take it out"},
		{"fit start.log --output x.toml" + served, "--output: nothing of a profile was fitted"},
		{"fit server.log --output x.csv" + served, `--output: found "x.csv"; a profile is a file whose name ends in .toml`},
		{"fit server.log --output -" + served, "--output: stdout is for the report; name a file"},
		{"fit server.log --output none/x.toml" + served, "the folder none does not exist"},
		{"fit server.log --name x" + served, "--name: names a profile that is not written; give --output too"},
		{"fit runs.csv --engine vlm", `did you mean "vllm"`},
		{"fit runs.csv --gpu a100", "--gpu: no GPU profile"},
		{"fit runs.csv --gpu b200", "runs.csv: no calibration row is of b200 with engine vllm"},
		{"fit server.log --set engine.nonsense=1" + served, "nonsense"},
	} {
		if o := do(t, strings.Fields(c.args)...); o.code != exitUsage || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: exit %d, stderr %q; want %q", c.args, o.code, o.stderr, c.want)
		}
	}
}

// vllmExport is what vLLM's benchmark leaves of n calls, one a second.
func vllmExport(n int) string {
	list := func(f func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = f(i)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	same := func(s string) string { return list(func(int) string { return s }) }
	return fmt.Sprintf(`{"backend": "vllm", "model_id": "m", "num_prompts": %d, "request_rate": 1.0, "completed": %d, "input_lens": %s, "output_lens": %s, "ttfts": %s, "itls": %s, "start_times": %s, "generated_texts": %s, "errors": %s}`,
		n, n, same("500"), same("4"), same("0.05"), same("[0.01, 0.01, 0.01]"), list(func(i int) string { return fmt.Sprintf("%d.0", i) }), same(`"x"`), same(`""`))
}

// Kernel tables are fitted whole, with what their rows cannot tell.
func TestFitOfKernels(t *testing.T) {
	measured := shared(t, "measured")
	inFolder(t, nil)
	out := ok(t, "fit", measured, "--gpu", "b200", "--engine", "trtllm", "--output", "mine.toml")
	for _, want := range []string{"gemm: ", "experts: ", "the rows cannot tell", "Written     mine.toml, a profile based on b200"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	p, err := gpu.LoadProfile("mine.toml")
	if err != nil {
		t.Fatal(err)
	}
	e := p.Engine["trtllm"]
	if f := p.Kernels[e.Kernels].GEMM["bf16"].Fit; e.DenseKernels != "" || !strings.HasPrefix(f.Data, "kernel tables of measured, B200") || f.HeldOutP90 <= 0 || len(p.Origin.Inputs) != 5 || p.Origin.Inputs[0].Used == 0 {
		t.Errorf("%+v, %+v, %+v", e, f, p.Origin.Inputs)
	}
}
