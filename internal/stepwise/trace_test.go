package stepwise

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"testing"

	"servesim/internal/conform"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// large is the environment variable that replays whole traces; without it the
// slow engine gets the first requests only.
const large = "SERVESIM_LARGE"

// digest condenses the records of a run: the requests as written to a file,
// and every step and gap, whatever runs they came in.
type digest struct {
	requests *observe.Writer
	bytes    bytes.Buffer
	seed     maphash.Seed
	steps    [4]uint64 // of each replica
	count    int64
	gaps     uint64 // a sum, so that the order of gaps does not matter
	tokens   int64
}

func newDigest(t *testing.T, seed maphash.Seed) *digest {
	t.Helper()
	d := &digest{seed: seed}
	var err error
	if d.requests, err = observe.NewWriter(&d.bytes, observe.Header{RequestsOnly: true}); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *digest) Request(r *observe.Request) error { return d.requests.Request(r) }

func (d *digest) Step(s *observe.StepRun) error {
	t, dur := s.Start, s.First
	for i := range s.Steps {
		base := dur
		if i == 0 {
			base = s.Base
		}
		d.steps[s.Replica] = maphash.Comparable(d.seed, [10]int64{int64(d.steps[s.Replica]), int64(t), int64(dur), int64(base), s.Serial + i,
			int64(s.Decodes), s.DecodeKV + i*int64(s.Decodes), int64(s.Running)<<32 | int64(s.Waiting), int64(s.Held), int64(s.Oldest)})
		t, dur = t.Add(dur), dur+s.Inc
	}
	d.count += s.Steps
	for _, c := range s.Chunks {
		d.gaps += maphash.Comparable(d.seed, c)
	}
	for _, g := range s.Gaps {
		for i := range g.Steps {
			d.gaps += uint64(g.Seqs) * maphash.Comparable(d.seed, g.First+g.Inc*sim.Duration(i))
		}
		d.tokens += g.Steps * int64(g.Seqs)
	}
	return nil
}

// agree runs what newConfig describes through both engines.
func agree(t *testing.T, newConfig func() engine.Config) {
	t.Helper()
	seed := maphash.MakeSeed()
	fast, slow := newDigest(t, seed), newDigest(t, seed)
	c := newConfig()
	c.Sink, c.Detail = fast, true
	if err := engine.Run(context.Background(), c); err != nil {
		t.Fatal("fast:", err)
	}
	c = newConfig()
	c.Sink = slow
	if err := Run(c); err != nil {
		t.Fatal("slow:", err)
	}
	if !bytes.Equal(fast.bytes.Bytes(), slow.bytes.Bytes()) {
		t.Error("the records of requests differ")
	}
	if fast.count != slow.count || fast.steps != slow.steps {
		t.Errorf("the steps differ: fast runs %d, slow %d", fast.count, slow.count)
	}
	if fast.tokens != slow.tokens || fast.gaps != slow.gaps {
		t.Errorf("the gaps differ: fast counts %d, slow %d", fast.tokens, slow.tokens)
	}
}

// replay is a real trace on a real setup.
type replay struct {
	trace, model, gpu string
	tp                int
	weights           gpu.Format
	preset            string
	chunked           bool
	few               int64 // requests without SERVESIM_LARGE
}

// replays returns the real traces, each on a real setup.
func replays() []replay {
	const azure, mooncake = "azure/AzureLLMInferenceTrace_", "mooncake/conversation_trace.jsonl"
	return []replay{
		{azure + "conv.csv", "llama-3.1-8b", "h100", 1, gpu.BF16, "vllm@0.20", true, 4000},
		{azure + "conv.csv", "llama-3.1-8b", "h100", 1, gpu.BF16, "vllm@0.8-v0", false, 4000},
		{azure + "code.csv", "llama-3.1-8b", "h100", 1, gpu.BF16, "vllm@0.20", true, 4000},
		{azure + "code.csv", "llama-3.3-70b", "b200", 2, gpu.FP8, "vllm@main", false, 4000},
		{mooncake, "llama-3.3-70b", "h100", 8, gpu.FP8, "vllm@0.20", true, 1000},
		{mooncake, "llama-3.3-70b", "b200", 8, gpu.FP4, "vllm@0.11", true, 1000},
		{mooncake, "llama-3.3-70b", "h100", 8, gpu.FP8, "vllm@0.8-v0", false, 1000},
		{mooncake, "llama-3.1-8b", "h100", 1, gpu.BF16, "vllm@0.11", true, 300},
	}
}

// eachReplay calls test for each real trace that is here.
func eachReplay(t *testing.T, test func(t *testing.T, newConfig func() engine.Config)) {
	t.Helper()
	for _, r := range replays() {
		t.Run(fmt.Sprintf("%s/%s/%s", filepath.Base(r.trace), r.model, r.preset), func(t *testing.T) {
			path := filepath.Join("..", "..", "..", "shared", "traces", r.trace)
			if _, err := os.Stat(path); err != nil {
				t.Skip("../shared/traces is not here; the real traces cannot be replayed")
			}
			test(t, func() engine.Config { return r.config(t, path) })
		})
	}
}

func TestEnginesAgreeOnTraces(t *testing.T) { eachReplay(t, agree) }

// TestEnginesAgreeOnPools replays the first of the real traces on pools, three
// times as fast as it was recorded.
func TestEnginesAgreeOnPools(t *testing.T) {
	r := replays()[0]
	path := filepath.Join("..", "..", "..", "shared", "traces", r.trace)
	if _, err := os.Stat(path); err != nil {
		t.Skip("../shared/traces is not here; the real traces cannot be replayed")
	}
	for _, info := range engine.Routers() {
		t.Run(info.Name, func(t *testing.T) {
			agree(t, func() engine.Config {
				c := r.config(t, path)
				faster, err := workload.Stretch(c.Source, 1.0/3)
				if err != nil {
					t.Fatal(err)
				}
				c.Source, c.Replicas, c.Router = faster, 3, info.New(c.Seed)
				return c
			})
		})
	}
}

// config opens the trace at path and settles everything else.
func (r replay) config(t *testing.T, path string) engine.Config {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	profile, err := gpu.LoadProfile(r.gpu)
	check(err)
	model, err := gpu.LoadModel(r.model)
	check(err)
	preset, err := scheduler.FindPreset(r.preset)
	check(err)
	setup := gpu.Setup{Profile: profile, Model: model, TP: r.tp, Weights: r.weights, KV: gpu.BF16,
		Engine: "vllm", Async: preset.Config.AsyncScheduling}
	cost, err := gpu.NewCost(setup)
	check(err)
	c := preset.Config
	c.MaxModelLen, c.EnableChunkedPrefill = 131072, r.chunked
	device := scheduler.Device{Name: profile.Name, MemoryBytes: 80 * (1 << 30)}
	c.MaxNumBatchedTokens, c.MaxNumSeqs = preset.Limits(device, c.MaxModelLen, r.chunked, 0)
	ledger, err := gpu.NewLedger(setup, gpu.MemoryOptions{
		GPUMemoryUtilization: preset.GPUMemoryUtilization, BlockSize: int64(c.BlockSize),
		MaxNumBatchedTokens: int64(c.MaxNumBatchedTokens), MaxNumSeqs: int64(c.MaxNumSeqs)})
	check(err)
	c.NumGPUBlocks = ledger.Blocks()
	trace, err := workload.Open(path, workload.Options{})
	check(err)
	t.Cleanup(func() { trace.Close() })
	var source workload.Source = trace
	if os.Getenv(large) == "" {
		source, err = workload.Limit(trace, r.few)
		check(err)
	}
	return engine.Config{Scheduler: c, Cost: cost, Source: source, Seed: 1}
}

// TestEnginesAgreeOnVectors runs the recorded workloads at one step a
// nanosecond, so that a request queued before step n arrives at n ns.
func TestEnginesAgreeOnVectors(t *testing.T) {
	replayed := 0
	for _, name := range []string{"named.json", "random.json"} {
		f, err := os.Open(filepath.Join("..", "..", "..", "shared", "vectors", name))
		if err != nil {
			t.Skip("../shared/vectors is not here; the recorded workloads cannot be run")
		}
		vectors, err := conform.Read(f, name)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range vectors {
			if _, err := conform.Replay(v, "", func(c scheduler.Config, v conform.Vector) (string, error) {
				replayed++
				c.AllowLivelock = false
				t.Run(v.Name, func(t *testing.T) { agreeOnVector(t, c, v) })
				return "", nil
			}); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("%d recorded workloads", replayed)
}

// agreeOnVector runs the requests of v under c.
func agreeOnVector(t *testing.T, c scheduler.Config, v conform.Vector) {
	seqs, err := v.Seqs(c)
	if err != nil {
		t.Fatal(err)
	}
	var requests []workload.Request
	last := 0
	for i, r := range v.Requests {
		last = max(last, r.At) // recorded in order of at, but for ties
		requests = append(requests, workload.Request{ID: int64(i), Arrival: sim.Time(last) * sim.Time(sim.Nanosecond),
			Prompt: seqs[i].Prompt, Output: r.Out, Priority: seqs[i].Priority})
	}
	_, diff := compare(func() engine.Config {
		return engine.Config{Scheduler: c, Cost: pieces{base: sim.Nanosecond}, Source: &list{requests: requests}}
	})
	if diff != "" {
		t.Error(diff)
	}
}
