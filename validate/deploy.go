package validate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"servesim/sim/gpu"
	"servesim/sim/scheduler"
)

// A deployment is a row's server: what runs where under which limits.
type deployment struct {
	setup     gpu.Setup
	scheduler scheduler.Config
	notes     []string
}

// A skip says why a row cannot be simulated. It is an error only to leave the
// functions that find it.
type skip string

// Error implements error.
func (s skip) Error() string { return string(s) }

func skipf(format string, args ...any) error { return skip(fmt.Sprintf(format, args...)) }

// Setup returns what the step times of row r depend on, or an error that says why
// the row cannot be simulated.
func Setup(r *Row, o Options) (gpu.Setup, error) {
	d, err := o.deploy(r)
	if err != nil {
		return gpu.Setup{}, err
	}
	return d.setup, nil
}

// deploy returns the server of row r, or a skip.
func (o *Options) deploy(r *Row) (*deployment, error) {
	d := &deployment{}
	if err := d.machine(o, r); err != nil {
		return nil, err
	}
	if err := d.formats(r); err != nil {
		return nil, err
	}
	if err := d.limits(r); err != nil {
		return nil, err
	}
	if err := d.memory(r); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *deployment) note(format string, args ...any) {
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

// machine finds the profile, the model and the engine's constants.
func (d *deployment) machine(o *Options, r *Row) error {
	p, err := o.profile(r.GPU)
	if errors.Is(err, ErrNoProfile) {
		return skipf("no profile of GPU %s", r.GPU)
	} else if err != nil {
		return err
	}
	m, err := loadModel(r.Model)
	if err != nil {
		return skipf("no model %s", r.Model)
	}
	if r.TP < 1 {
		return skip("number of GPUs not recorded")
	}
	if r.EP > 1 {
		d.note("expert parallelism is costed as tensor parallelism")
	}
	d.setup = gpu.Setup{Profile: p, Model: m, TP: r.TP, Engine: engineOf(p, r)}
	if name := serverFlags(r).engine; name != "" && p.Engine[name].Kernels != "" {
		d.setup.Engine = name
	}
	if d.setup.Engine == "" {
		return skipf("engine %s is not one that is modelled", r.Engine)
	}
	if d.setup.Engine == "generic" {
		d.note("profile %s has no constants of %s: generic ones", p.Name, r.Engine)
	}
	return nil
}

// loadModel returns the model of a row. Tables name the same weights with and
// without the words that say how they were tuned or packed.
func loadModel(name string) (*gpu.Model, error) {
	words := []string{"hf", "instruct", "v0.1", "2407", "it", "chat"}
	for {
		m, err := gpu.LoadModel(name)
		if err == nil || strings.ContainsAny(name, `/\`) {
			return m, err
		}
		at := strings.LastIndexByte(name, '-')
		if at < 0 || !slices.Contains(words, name[at+1:]) {
			return nil, err
		}
		name = name[:at]
	}
}

// engineOf returns the name of the constants of p that fit the engine of r
// best, or nothing if it is not an engine that a policy stands for.
func engineOf(p *gpu.Profile, r *Row) string {
	name := strings.TrimPrefix(r.Engine, "nim-")
	switch name {
	case "vllm", "trtllm", "sglang":
	default:
		return ""
	}
	for parts := strings.Split(r.Version, "."); len(parts) > 1; parts = parts[:len(parts)-1] {
		exact := name + "-" + strings.Join(parts, ".")
		if _, ok := p.Engine[exact]; ok {
			return exact
		}
	}
	if _, ok := p.Engine[name]; ok {
		return name
	}
	if _, ok := p.Engine["generic"]; ok {
		return "generic"
	}
	return ""
}

// formats sets the number formats. Where a source does not state that of the KV
// cache it is the engine's default: that of the model's activations for vLLM and
// SGLang, and fp8 for the quantised checkpoints that TensorRT-LLM serves, whose
// configuration asks for it.
func (d *deployment) formats(r *Row) error {
	var err error
	if r.Weights == "" {
		return skip("number formats not recorded")
	}
	if d.setup.Weights, err = gpu.ParseFormat(r.Weights); err != nil {
		return skipf("no coefficients of weight format %s", r.Weights)
	}
	kv := orElse(serverFlags(r).kv, r.KV)
	if kv == "" {
		kv = string(gpu.BF16)
		if strings.HasSuffix(r.Engine, "trtllm") && d.setup.Weights != gpu.BF16 {
			kv = string(gpu.FP8)
		}
		d.note("KV format not stated: %s, the engine's default", kv)
	}
	if d.setup.KV, err = gpu.ParseFormat(kv); err != nil || d.setup.KV == gpu.FP4 || d.setup.KV == gpu.MXFP4 {
		return skipf("no coefficients of KV format %s", kv)
	}
	if _, err := gpu.NewCost(d.setup); err != nil {
		return skipf("cost model: %v", firstLine(err))
	}
	return nil
}

// orElse returns s, or other if s is empty.
func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// firstLine returns the first line of an error.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// limits sets the batching policy with its limits.
func (d *deployment) limits(r *Row) error {
	if r.Prompt < 1 || r.Output < 1 {
		return skip("lengths not recorded")
	}
	name, guessed := presetOf(r)
	if guessed != "" {
		d.note("%s", guessed)
	}
	p, err := scheduler.FindPreset(name)
	if err != nil {
		return skipf("%v", err)
	}
	c := p.Config
	f := serverFlags(r)
	d.notes = append(d.notes, f.notes...)
	d.setup.EagerPrefill = &f.eager
	c.AsyncScheduling = asynchronous(r) && c.Policy == scheduler.VLLMV1
	c.WastesLastStep = c.WastesLastStep && !c.AsyncScheduling // one token of each request, which is left out
	d.setup.Async = c.AsyncScheduling
	c.EnableChunkedPrefill = f.chunked
	c.MaxModelLen = int32(r.Prompt + r.Output + 200)
	tokens, seqs := p.Limits(scheduler.Device{Name: d.setup.Profile.Name, MemoryBytes: d.setup.Profile.Datasheet.HBMBytes}, c.MaxModelLen, f.chunked, int32(f.seqs))
	c.MaxNumBatchedTokens, c.MaxNumSeqs = tokens, seqs
	if f.tokens > 0 {
		c.MaxNumBatchedTokens = int32(f.tokens)
	}
	if r.MaxNumBatchedTokens > 0 {
		c.MaxNumBatchedTokens = int32(r.MaxNumBatchedTokens)
	}
	if !f.chunked {
		c.MaxNumBatchedTokens = max(c.MaxNumBatchedTokens, int32(r.Prompt))
	}
	c.MaxNumSeqs = min(c.MaxNumSeqs, c.MaxNumBatchedTokens)
	if f.block > 0 {
		c.BlockSize = int32(f.block)
	}
	d.scheduler = c
	return nil
}

// presetOf returns the engine version whose policy stands for that of r, and
// says so if it is another engine or the version is not known.
func presetOf(r *Row) (name, note string) {
	if r.Engine != "vllm" {
		return "vllm@0.20", r.Engine + " is replayed under vLLM V1's policy, not its own"
	}
	parts := strings.SplitN(r.Version, ".", 3)
	if len(parts) < 2 {
		if r.Version == "" {
			return "vllm@0.20", "engine version not stated: vLLM 0.20's policy"
		}
		return "vllm@0.8-v0", fmt.Sprintf("engine version is %q: vLLM 0.8's V0 policy", r.Version)
	}
	minor, err := strconv.Atoi(parts[1])
	switch {
	case err != nil || parts[0] != "0":
		return "vllm@0.20", fmt.Sprintf("engine version is %q: vLLM 0.20's policy", r.Version)
	case minor < 8:
		return "vllm@0.8-v0", ""
	case minor < 12:
		return "vllm@0.11", ""
	}
	return "vllm@0.20", ""
}

// asyncMinor is the version 0.asyncMinor of vLLM from which on it schedules
// asynchronously by default. Source: its release notes of 0.14.
const asyncMinor = 14

// asynchronous tells whether the engine of r plans a step while the GPU runs the
// one before: vLLM of versions from asyncMinor on or not stated, and the servers of
// InferenceMAX, where vLLM's start scripts ask for it and TensorRT-LLM's leave its
// overlap scheduler on. Other runs of TensorRT-LLM do not say, and those of H100 fit
// no better so.
func asynchronous(r *Row) bool {
	if r.Source == inferenceMAX {
		return true
	}
	if r.Engine != "vllm" {
		return false
	}
	parts := strings.SplitN(r.Version, ".", 3)
	if len(parts) < 2 || parts[0] != "0" {
		return true
	}
	minor, err := strconv.Atoi(parts[1])
	return err != nil || minor >= asyncMinor
}

// memory sets the number of KV blocks from the memory ledger.
func (d *deployment) memory(r *Row) error {
	c := &d.scheduler
	o := gpu.MemoryOptions{
		GPUMemoryUtilization: 0.9, BlockSize: int64(c.BlockSize),
		MaxNumBatchedTokens: int64(c.MaxNumBatchedTokens), MaxNumSeqs: int64(c.MaxNumSeqs),
		MaxModelLen: r.Prompt + r.Output,
	}
	ofFree := strings.HasSuffix(r.Engine, "trtllm")
	if ofFree {
		o.GPUMemoryUtilization = 1
	}
	l, err := gpu.NewLedger(d.setup, o)
	if err != nil {
		return skipf("memory: %v", firstLine(err))
	}
	c.NumGPUBlocks = l.Blocks()
	if ofFree {
		// TensorRT-LLM's kv_cache_config.free_gpu_memory_fraction is a share of
		// what weights and activations leave.
		c.NumGPUBlocks = int64(math.Floor(freeFraction(r) * float64(c.NumGPUBlocks)))
		reserve(c, r)
	}
	if err := c.Check(); err != nil {
		return skipf("limits: %v", firstLine(err))
	}
	return nil
}

// freeFraction returns the share of free memory that TensorRT-LLM keeps KV blocks in:
// 0.9 by default, 0.95 in its own offline measurements (docs/source/performance/
// perf-overview.md of 1.0).
func freeFraction(r *Row) float64 {
	if r.Load == Offline {
		return 0.95
	}
	return 0.9
}

// reserve limits the sequences that run at once as TensorRT-LLM's default
// capacity_scheduler_policy, GUARANTEED_NO_EVICT, does: a request is admitted if the
// blocks suffice for all that run to complete, so none is ever preempted. The limit
// is exact for requests of one length, and that of their mean for others.
func reserve(c *scheduler.Config, r *Row) {
	mean := float64(r.Prompt + r.Output)
	if r.Lengths == uniformLengths {
		mean *= (1 + shortest) / 2
	}
	need := math.Ceil(mean / float64(c.BlockSize))
	c.MaxNumSeqs = max(1, min(c.MaxNumSeqs, int32(float64(c.NumGPUBlocks)/need)))
}
