package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"servesim/analysis"
	"servesim/internal/strict"
	"servesim/report"
	"servesim/scenario"
	"servesim/sim/gpu"
	"servesim/sim/scheduler"

	"github.com/spf13/cobra"
)

// A modelOptions is what `servesim model` was asked for. A number that is 0 has
// the engine version's default.
type modelOptions struct {
	env                                                     env
	model, gpu, policy, dtype, kvDtype                      string
	tp, ep, dpAttention                                     int64
	pp                                                      int
	maxModelLen, maxNumBatchedTokens, maxNumSeqs, blockSize int32
	gpuMemoryUtilization                                    float64
	json                                                    bool
}

// newModel returns the verb model, which calls run, or runModel if that is nil.
func newModel(e env, run func(*modelOptions) error) *cobra.Command {
	if run == nil {
		run = runModel
	}
	o := &modelOptions{env: e}
	cmd := &cobra.Command{
		Use:   "model MODEL",
		Short: "Print a model's shape, and what the memory of each GPU is used for",
		Long: `Print the shape of a model, its weights and KV bytes, and the memory ledger of each
GPU that serves it: what the engine may use, what weights, activations and the rest
take of it, and how many KV blocks and requests the remainder holds. MODEL is a name
that servesim list models shows, or the path of a TOML file or a Hugging Face
config.json. A model that does not fit is an error that names the smallest layout
that does.`,
		Example: `  servesim model Llama-3.1-8B
  servesim model DeepSeek-R1 --gpu h200 --tp 8 --dtype fp8
  servesim model gpt-oss-120b --gpu b200 --dtype mxfp4 --json`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			o.model = args[0]
			return run(o)
		},
		ValidArgs: gpu.ModelNames(),
	}
	o.bind(cmd)
	return cmd
}

// bind adds the flags to cmd.
func (o *modelOptions) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.gpu, "gpu", "h100", "GPU profile, or the path of one")
	f.StringVar(&o.policy, "policy", "vllm@0.20", "engine version, whose defaults hold for what isn't given")
	f.Int64Var(&o.tp, "tp", 1, "GPUs that share each layer")
	f.Int64Var(&o.ep, "ep", 0, "groups of these GPUs that the experts are divided among")
	f.Int64Var(&o.dpAttention, "dp-attention", 0, "groups of these GPUs that have sequences of their own in attention")
	f.IntVar(&o.pp, "pp", 0, "pipeline stages of so many GPUs each; the ledger is of the fullest stage")
	f.StringVar(&o.dtype, "dtype", "", "format of the weights: bf16, fp8, int8, fp4 or mxfp4 (default what a config.json says, else bf16)")
	f.StringVar(&o.kvDtype, "kv-cache-dtype", "bf16", "format of the KV cache: bf16 or fp8")
	f.Int32Var(&o.maxModelLen, "max-model-len", 0, "tokens of the longest sequence (default the model's)")
	f.Int32Var(&o.maxNumBatchedTokens, "max-num-batched-tokens", 0, "tokens of the largest step (default the engine's)")
	f.Int32Var(&o.maxNumSeqs, "max-num-seqs", 0, "sequences of the largest step (default the engine's)")
	f.Int32Var(&o.blockSize, "block-size", 0, "tokens of a KV block (default the engine's)")
	f.Float64Var(&o.gpuMemoryUtilization, "gpu-memory-utilization", 0, "share of the memory that the engine may use (default the engine's)")
	f.BoolVar(&o.json, "json", false, "print as JSON, bytes as whole numbers")
	fixed := func(flag string, values ...string) {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
	}
	fixed("gpu", gpu.ProfileNames()...)
	fixed("policy", scenario.PolicyNames()...)
	fixed("dtype", string(gpu.BF16), string(gpu.FP8), string(gpu.INT8), string(gpu.FP4), string(gpu.MXFP4))
	fixed("kv-cache-dtype", string(gpu.BF16), string(gpu.FP8))
}

// flagOf returns the flag that a key of a scenario comes from here, or the key.
func flagOf(key string) string {
	for _, f := range [][2]string{
		{"hardware.gpu", "--gpu"}, {"hardware.tensor_parallel_size", "--tp"}, {"hardware", "--gpu, --tp"},
		{"model.name", "MODEL"}, {"model.dtype", "--dtype"}, {"model.kv_cache_dtype", "--kv-cache-dtype"},
	} {
		if key == f[0] {
			return f[1]
		}
	}
	if option, ok := strings.CutPrefix(key, "engine."); ok {
		return "--" + strings.ReplaceAll(option, "_", "-")
	}
	return key
}

// faultsOfFlags makes one error of faults, named by their flags.
func faultsOfFlags(faults []strict.Fault) error {
	for i := range faults {
		faults[i].Key = flagOf(faults[i].Key)
	}
	return scenario.FaultsError(faults)
}

// A modelReport is what there is to print of a model on a machine.
type modelReport struct {
	setup   gpu.Setup
	ledger  *gpu.Ledger
	engine  scenario.EngineSection
	caveats []string
}

// negative returns an error that names the flags whose number is below 0.
func (o *modelOptions) negative() error {
	var faults []strict.Fault
	for _, f := range []struct {
		flag  string
		value int64
	}{
		{"--ep", o.ep}, {"--dp-attention", o.dpAttention}, {"--pp", int64(o.pp)},
		{"--max-model-len", int64(o.maxModelLen)}, {"--max-num-batched-tokens", int64(o.maxNumBatchedTokens)},
		{"--max-num-seqs", int64(o.maxNumSeqs)}, // --block-size has a range of its own
	} {
		if f.value < 0 {
			faults = append(faults, strict.Fault{Key: f.flag, Text: fmt.Sprintf("found %d; must be above 0, or left out for the default", f.value)})
		}
	}
	return scenario.FaultsError(faults)
}

// ask works out what the flags ask for.
func (o *modelOptions) ask() (*modelReport, error) {
	if err := o.negative(); err != nil {
		return nil, err
	}
	s := &scenario.Scenario{}
	s.Hardware.GPU, s.Hardware.TensorParallelSize = o.gpu, &o.tp
	s.Hardware.ExpertParallelSize, s.Hardware.DataParallelAttentionSize = &o.ep, &o.dpAttention
	s.Model.Name, s.Model.Dtype, s.Model.KVCacheDtype = o.model, o.dtype, o.kvDtype
	for _, given := range []struct {
		value int32
		into  **int32
	}{
		{o.maxModelLen, &s.Engine.MaxModelLen}, {o.maxNumBatchedTokens, &s.Engine.MaxNumBatchedTokens},
		{o.maxNumSeqs, &s.Engine.MaxNumSeqs}, {o.blockSize, &s.Engine.BlockSize},
	} {
		if given.value != 0 {
			*given.into = &given.value
		}
	}
	if o.gpuMemoryUtilization != 0 {
		s.Engine.GPUMemoryUtilization = &o.gpuMemoryUtilization
	}
	preset, err := scheduler.FindPreset(o.policy)
	if err != nil {
		return nil, usagef("--policy: %s", scenario.UnknownName("engine version", o.policy, scenario.PolicyNames()))
	}
	setup, faults := s.Layout(preset)
	if len(faults) > 0 {
		return nil, faultsOfFlags(faults)
	}
	setup.PP = o.pp
	r := &modelReport{setup: setup, engine: s.Engine}
	if r.ledger, err = gpu.NewLedger(setup, r.engine.MemoryOptions()); err != nil {
		return nil, faultsOfFlags(scenario.FaultsOf("", err))
	}
	if c, err := gpu.NewCost(setup); err == nil {
		r.caveats = c.Caveats()
	} else {
		r.caveats = []string{"it has a ledger but no step times: " + strings.ReplaceAll(err.Error(), "\n", "; ")}
	}
	return r, nil
}

// runModel prints a model and its ledger.
func runModel(o *modelOptions) error {
	r, err := o.ask()
	if err != nil {
		return err
	}
	if o.json {
		return r.writeJSON(o.env.stdout)
	}
	var l lines
	r.describe(&l)
	_, err = io.WriteString(o.env.stdout, l.folded(0)+"\n"+r.bars()+"\n"+r.holds().folded(0))
	return err
}

// describe says what the model is and where it runs.
func (r *modelReport) describe(l *lines) {
	m, s := r.setup.Model, r.setup
	g := analysis.Grouped
	shape := fmt.Sprintf("%s: %d layers, hidden %s, %d heads", m.Name, m.Layers, g(m.Hidden), m.Heads)
	if m.KVRank > 0 {
		shape += fmt.Sprintf(", latent attention of rank %d + %d", m.KVRank, m.RopeDim)
	} else {
		shape += fmt.Sprintf(", %d KV heads of %d", m.KVHeads, m.HeadDim)
	}
	if m.Experts > 0 {
		shape += fmt.Sprintf(", %d experts of %s of which a token takes %d", m.Experts, g(m.ExpertWidth), m.ExpertsPerToken)
		if m.SharedWidth > 0 {
			shape += fmt.Sprintf(", shared ones of %s", g(m.SharedWidth))
		}
		if m.DenseLayers > 0 {
			shape += fmt.Sprintf(", %d layers with an MLP of %s instead", m.DenseLayers, g(m.Intermediate))
		}
	} else {
		shape += ", MLP " + g(m.Intermediate)
	}
	shape += ", vocabulary " + g(m.Vocab)
	if m.WindowLayers > 0 {
		shape += fmt.Sprintf(", %d layers with a window of %s tokens", m.WindowLayers, g(m.Window))
	}
	l.item("Model", "%s", shape)
	total, active := m.Parameters()
	parameters := fmt.Sprintf("%.2f billion", float64(total)/1e9)
	if active < total {
		parameters += fmt.Sprintf(", of which a token takes %.2f billion", float64(active)/1e9)
	}
	l.item("Parameters", "%s", parameters)
	l.item("Machine", "%s, weights %s, KV %s", r.layout(), s.Weights, s.KV)
	l.item("Weights", "%s GB, %s GB on each GPU", gigabytes(m.WeightBytes(s.Weights)), gigabytes(r.ledger.Items[0].Bytes))
	l.item("KV", "%s bytes a token, %s on each GPU", g(m.KVBytesPerToken(s.KV)), g(r.ledger.BytesPerToken))
	for _, c := range r.caveats {
		l.item("Caution", "%s", c)
	}
}

// layout names the machine.
func (r *modelReport) layout() string {
	s := r.setup
	text := fmt.Sprintf("%d x %s, TP %d", s.TP*max(1, s.PP), s.Profile.Name, s.TP)
	for _, p := range []struct {
		name string
		size int
	}{{"EP", s.EP}, {"DP attention", s.DPAttention}, {"PP", s.PP}} {
		if p.size > 1 {
			text += fmt.Sprintf(", %s %d", p.name, p.size)
		}
	}
	return text
}

// barColumns is the width of the whole memory of a GPU.
const barColumns = 64

// bars prints the ledger: a line for each use of the memory, with its bytes and
// with a bar that begins where the one before ended.
func (r *modelReport) bars() string {
	l := r.ledger
	var b strings.Builder
	at := int64(0)
	column := func(bytes int64) int { return int(float64(bytes) / float64(l.UsableBytes) * barColumns) }
	row := func(name string, bytes int64) {
		from, to := column(at), column(at+bytes)
		if bytes > 0 && to == from {
			to = from + 1 // so that it can be seen
		}
		bar := strings.Repeat(" ", from) + strings.Repeat("#", to-from)
		line := strings.TrimRight(fmt.Sprintf("%-12s%9s GB  |%s", name, gigabytes(bytes), bar), " ")
		b.WriteString(line + "\n")
		at += bytes
	}
	fmt.Fprintf(&b, "%-12s%9s GB  of each GPU, of which the engine may use %.4g %%, %s GB\n", "Memory",
		gigabytes(l.UsableBytes), 100*float64(l.ShareBytes)/float64(l.UsableBytes), gigabytes(l.ShareBytes))
	for _, i := range l.Items {
		row(i.Name, i.Bytes)
	}
	row("kv cache", l.KVBytes)
	row("not used", l.UsableBytes-l.ShareBytes)
	return b.String()
}

// lengths are the lengths of requests of which is said how many fit.
func (r *modelReport) lengths() []int64 {
	longest := int64(*r.engine.MaxModelLen)
	var list []int64
	for _, n := range []int64{1024, 4096, 16384} {
		if n < longest {
			list = append(list, n)
		}
	}
	return append(list, longest)
}

// holds says what fits into the KV cache.
func (r *modelReport) holds() *lines {
	l := r.ledger
	g := analysis.Grouped
	var out lines
	blocks := fmt.Sprintf("%s blocks of %d tokens: %s tokens", g(l.Blocks()), l.BlockSize, g(l.Blocks()*l.BlockSize))
	if l.Groups > 1 {
		blocks += fmt.Sprintf(", on %d groups of GPUs together", l.Groups)
	}
	out.item("KV cache", "%s", blocks)
	if h := l.Hybrid; h != nil {
		out.item("", "that counts all layers in full, as a run does; vLLM's hybrid KV cache manager makes %s blocks of %d layers each of it", g(h.Blocks), h.GroupLayers)
	}
	var fits []string
	for _, n := range r.lengths() {
		fits = append(fits, fmt.Sprintf("%s of %s", g(l.Sequences(n)), g(n)))
	}
	out.item("Requests", "that fit at once: %s tokens", strings.Join(fits, ", "))
	return &out
}

// gigabytes writes bytes in GB of 1e9.
func gigabytes(bytes int64) string { return fmt.Sprintf("%.2f", float64(bytes)/1e9) }

// writeJSON prints the report for programs.
func (r *modelReport) writeJSON(w io.Writer) error {
	type item struct {
		Name  string `json:"name"`
		Bytes int64  `json:"bytes"`
	}
	type fit struct {
		Tokens   int64 `json:"request_tokens"`
		Requests int64 `json:"requests"`
	}
	m, s, l := r.setup.Model, r.setup, r.ledger
	total, active := m.Parameters()
	out := struct {
		Schema          int             `json:"schema"`
		Kind            string          `json:"kind"`
		Model           string          `json:"model"`
		GPU             string          `json:"gpu"`
		TP              int             `json:"tensor_parallel_size"`
		EP              int             `json:"expert_parallel_size"`
		DPAttention     int             `json:"data_parallel_attention_size"`
		PP              int             `json:"pipeline_parallel_size"`
		Weights         gpu.Format      `json:"dtype"`
		KV              gpu.Format      `json:"kv_cache_dtype"`
		Parameters      int64           `json:"parameters"`
		Active          int64           `json:"active_parameters"`
		KVPerToken      int64           `json:"kv_bytes_per_token"`
		KVPerTokenOnGPU int64           `json:"kv_bytes_per_token_per_gpu"`
		Usable          int64           `json:"usable_bytes"`
		Share           int64           `json:"share_bytes"`
		Items           []item          `json:"items"`
		KVBytes         int64           `json:"kv_cache_bytes"`
		Blocks          int64           `json:"num_gpu_blocks"`
		BlockSize       int64           `json:"block_size"`
		Hybrid          *gpu.HybridPool `json:"hybrid"`
		Fits            []fit           `json:"fits"`
		Caveats         []string        `json:"cautions"`
	}{
		Schema: report.Schema, Kind: "servesim-model", Model: m.Name, GPU: s.Profile.Name,
		TP: s.TP, EP: max(1, s.EP), DPAttention: max(1, s.DPAttention), PP: max(1, s.PP), Weights: s.Weights, KV: s.KV,
		Parameters: total, Active: active, KVPerToken: m.KVBytesPerToken(s.KV), KVPerTokenOnGPU: l.BytesPerToken,
		Usable: l.UsableBytes, Share: l.ShareBytes, KVBytes: l.KVBytes, Blocks: l.Blocks(), BlockSize: l.BlockSize,
		Hybrid: l.Hybrid, Caveats: r.caveats,
	}
	for _, i := range l.Items {
		out.Items = append(out.Items, item{i.Name, i.Bytes})
	}
	for _, n := range r.lengths() {
		out.Fits = append(out.Fits, fit{n, l.Sequences(n)})
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
