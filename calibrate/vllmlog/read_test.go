package vllmlog

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// read reads a file of testdata.
func read(t *testing.T, name string) *Log {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := Read(f, name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func once(v float64, line int) Figure { return Figure{v, v, 1, line} }

func TestStartOfV1(t *testing.T) {
	l := read(t, "v1.log")
	want := &Log{Name: "v1.log", Lines: 11,
		Settings: Settings{
			Version: Word{"0.11.0", 3}, Model: Word{"meta-llama/Llama-3.1-8B-Instruct", 3}, KVCacheDtype: Word{"auto", 3},
			Quantization: Word{"None", 3}, EnforceEager: Word{"False", 3},
			TensorParallelSize: once(1, 3), PipelineParallelSize: once(1, 3), MaxModelLen: once(8192, 3),
			MaxNumSeqs: once(1024, 1), MaxNumBatchedTokens: once(8192, 2), GPUMemoryUtilization: once(0.9, 1),
		},
		Start: Start{WeightsBytes: once(14.9889*gib, 4), AvailableKVBytes: once(51.38*gib, 5), KVTokens: once(420880, 6),
			ConcurrencyTokens: once(8192, 7), Concurrency: once(51.38, 7), GraphBytes: once(0.53*gib, 8)},
		Stats: []Stats{
			{Line: 10, At: 557580, GenerationPerS: 1024.5, Running: 16, KVUsage: 0.041},
			{Line: 11, At: 557590, PromptPerS: 12, GenerationPerS: 1020.5, Running: 16, Waiting: 2, KVUsage: 0.043, PrefixHits: 0.25},
		},
	}
	if d := cmp.Diff(want, l, cmpopts.EquateApprox(1e-12, 0)); d != "" {
		t.Error(d)
	}
}

func TestStartOfV0(t *testing.T) {
	l := read(t, "v0.log")
	want := Start{WeightsBytes: once(12.55*gib, 3), AvailableKVBytes: once(56.18*gib, 3), NonTorchBytes: once(0.16*gib, 3), ActivationBytes: once(2.38*gib, 3),
		TotalBytes: once(79.19*gib, 2), Blocks: once(7191, 4), ConcurrencyTokens: once(131072, 5), Concurrency: once(0.88, 5)}
	if d := cmp.Diff(want, l.Start, cmpopts.EquateApprox(1e-12, 0)); d != "" {
		t.Error(d)
	}
	if l.Settings.EnforceEager.Text != "True" || l.Settings.KVCacheDtype.Text != "fp8" || l.Settings.PipelineParallelSize.Least != 2 || l.Settings.GPUMemoryUtilization.Least != 0.9 {
		t.Errorf("%+v", l.Settings)
	}
	if s := l.Stats[0]; len(l.Stats) != 1 || s.Waiting != 3 || s.KVUsage != 0.005 || !math.IsNaN(s.PrefixHits) {
		t.Errorf("%+v", l.Stats)
	}
}

// Old versions do not say what graphs take, and engines of their own each start once.
func TestStartsThatAreWell(t *testing.T) {
	const config = " INFO Initializing a V1 LLM engine (v0.11.0) with config: model='m', max_seq_len=8192\n"
	l, err := Read(strings.NewReader("2026-04-19 17:31:23 | (EngineCore_DP0 pid=1)"+config+"2026-04-19 17:31:23 | (EngineCore_DP1 pid=2)"+config+
		"(APIServer pid=5) (DPEngineCoreActor pid=6, ip=1.2.3.4)"+config+"(APIServer pid=5) (DPEngineCoreActor pid=7, ip=1.2.3.5)"+config+
		"INFO Graph capturing finished in 8 secs.\nINFO Estimated CUDA graph memory: 0.50 GiB total\n# GPU blocks: 10\n"), "x.log")
	if err != nil {
		t.Fatal(err)
	}
	if l.Start.GraphBytes.Given() || l.Start.EstimatedGraphBytes != once(gib/2, 6) || l.Settings.MaxModelLen != (Figure{8192, 8192, 4, 1}) {
		t.Errorf("%+v", l)
	}
}

// Workers print each their own figures.
func TestWorkersDiffer(t *testing.T) {
	l, err := Read(strings.NewReader("(Worker_TP0 pid=1) INFO Available KV cache memory: 2.50 GiB\n(Worker_TP1 pid=2) INFO Available KV cache memory: 2.25 GiB\n"), "x.log")
	if err != nil {
		t.Fatal(err)
	}
	if f := l.Start.AvailableKVBytes; f != (Figure{2.25 * gib, 2.5 * gib, 2, 1}) {
		t.Errorf("%+v", f)
	}
}

func TestColoursAreLeftOut(t *testing.T) {
	l, err := Read(strings.NewReader("\x1b[0;36m(EngineCore pid=9)\x1b[0;0m INFO \x1b[32mGPU KV cache size: 160 tokens\x1b[0m\n"), "x.log")
	if err != nil || l.Start.KVTokens != once(160, 1) {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestFaults(t *testing.T) {
	const line = "INFO 11-06 10:53:00 [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 9.5 tokens/s, Running: 16 reqs, Waiting: 0 reqs, GPU KV cache usage: 4.1%, Prefix cache hit rate: 0.0%"
	start := "(EngineCore pid=1) INFO Initializing a V1 LLM engine (v0.11.0) with config: model='m', max_seq_len=8192\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "x.log: found no line of vLLM's, want one of its memory"},
		{"foreign", "hello\nworld\n", "x.log: found no line of vLLM's, want one of its memory"},
		{"words for tokens", "INFO GPU KV cache size: many tokens\n", `x.log:1: found "GPU KV cache size: many tokens", want a line such as "GPU KV cache size: 420,880 tokens"`},
		{"cut short", "\nINFO Available KV cache memory: 51\n", `x.log:2: found "Available KV cache memory: 51", want a line such as "Available KV cache memory: 51.38 GiB"`},
		{"two points", "INFO Available KV cache memory: 5.1.2 GiB\n", `x.log:1: found "5.1.2", want a number, as in "Available KV cache memory: 51.38 GiB"`},
		{"no concurrency", "INFO Maximum concurrency for 8192 tokens per request: x\n", `want a line such as "Maximum concurrency`},
		{"blocks", "INFO # GPU blocks: none\n", "x.log:1: found \"# GPU blocks: none\""},
		{"graphs", "INFO Graph capturing finished in 20 secs, took GiB\n", "x.log:1: found \"Graph capturing finished in 20 secs, took GiB\""},
		{"weights", "INFO Model loading took ages\n", "x.log:1: found \"Model loading took ages\""},
		{"second start", start + start, "x.log:2: found the engine's second start, after that on line 1, want the log of one start; give"},
		{"context length", strings.Replace(start, "8192", "8k", 1), `x.log:1: found "8k", want a number`},
		{"utilization", "non-default args: {'gpu_memory_utilization': 'most'}\n", `x.log:1: found "most", want a number`},
		{"negative rate", strings.Replace(line, "9.5", "-9.5", 1), `x.log:1: Avg generation throughput: found "-9.5 tokens/s", want a number from 0 to 1e+09`},
		{"half a request", strings.Replace(line, "16 reqs", "1.5 reqs", 1), `x.log:1: Running: found "1.5 reqs", want a number from 0 to 1e+09`},
		{"more than all", strings.Replace(line, "4.1%", "104.1%", 1), `x.log:1: GPU KV cache usage: found "104.1%", want a number from 0 to 100`},
		{"nothing running", strings.Replace(line, "Running: 16 reqs, ", "", 1), "x.log:1: found \"Avg prompt throughput"},
		{"no usage", strings.Replace(line, "GPU KV cache usage: 4.1%, ", "", 1), "want Avg prompt throughput"},
		{"cut off in the line", line[:120], "x.log:1:"},
		{"no line of a log", strings.Repeat("x", maxLine+1), "x.log:1: found a line of more than 1048576 bytes"},
	} {
		_, err := Read(strings.NewReader(c.text), "x.log")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got\n%v\nwant\n%s", c.name, err, c.want)
		}
	}
	_, err := Read(strings.NewReader(strings.Repeat("GPU KV cache size: x\n", 30)), "x.log")
	if err == nil || !strings.Contains(err.Error(), "x.log: and 10 more of them") {
		t.Errorf("%v", err)
	}
}

// Whatever is read gives a log or an error.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"v1.log", "v0.log"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Read(strings.NewReader(text), "x.log")
		if (l == nil) == (err == nil) {
			t.Errorf("%v, %v", l, err)
		}
	})
}
