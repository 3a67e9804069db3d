package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"

	"servesim/analysis/transcript"
	"servesim/internal/strict"
	"servesim/sim"
	"servesim/sim/workload"
)

// schemaVersion is the version of scenario files that servesim reads.
const schemaVersion = 1

// A Scenario is everything that a simulation's result follows from, as a TOML
// file says it. Absent keys are nil or zero; settling gives each its default.
type Scenario struct {
	Schema    int64            `toml:"schema"`
	Name      string           `toml:"name"`
	Seed      *uint64          `toml:"seed"`
	Workload  WorkloadSection  `toml:"workload"`
	Transform TransformSection `toml:"transform"`
	Engine    EngineSection    `toml:"engine"`
	Hardware  HardwareSection  `toml:"hardware"`
	Pool      PoolSection      `toml:"pool"`
	Model     ModelSection     `toml:"model"`
	Memory    MemorySection    `toml:"memory"`
	Host      HostSection      `toml:"host"`
	Network   NetworkSection   `toml:"network"`
	Streaming StreamingSection `toml:"streaming"`
	Client    ClientSection    `toml:"client"`
	SLO       SLOSection       `toml:"slo"`
	Run       RunSection       `toml:"run"`
}

// WorkloadSection says which requests arrive when.
type WorkloadSection struct {
	RequestsSection
	// Prefix says what all of these prompts have in common, if they come without
	// hashes that do.
	Prefix *PrefixSection `toml:"prefix"`
	// Merge is what is merged with these requests by time, each beginning at 0.
	Merge []MergedSection `toml:"merge,tables"`
}

// MergedSection is a further workload that is merged with the main one.
type MergedSection struct {
	RequestsSection
	// Class labels all of its requests.
	Class string `toml:"class"`
}

// RequestsSection is either a trace, with how to read it, or a drawn workload. It
// is exported so that what embeds it has its keys.
type RequestsSection struct {
	// Trace is the path of a recorded trace, from the folder of the scenario
	// file; those that the command line gives are from the working folder.
	Trace string `toml:"trace"`
	// Format names the trace's format; absent, its content tells.
	Format string `toml:"format"`
	// Columns names the columns of a plain CSV trace.
	Columns *ColumnsSection `toml:"columns"`
	// Sort puts rows in order of arrival first.
	Sort bool `toml:"sort"`
	// ZeroTokens is what becomes of rows without tokens.
	ZeroTokens workload.ZeroRule `toml:"zero_tokens"`
	// BlockTokens is the number of tokens that a hash id of a trace covers.
	BlockTokens int32 `toml:"block_tokens"`

	workload.Spec
}

// ColumnsSection is workload.Columns under the names of a scenario file.
type ColumnsSection struct {
	Arrival  string `toml:"arrival"`
	Prompt   string `toml:"prompt"`
	Output   string `toml:"output"`
	ID       string `toml:"id"`
	Session  string `toml:"session"`
	Class    string `toml:"class"`
	Priority string `toml:"priority"`
	Unit     string `toml:"unit"`
}

// HardwareSection is the machine of one engine.
type HardwareSection struct {
	// GPU is the name of a profile or the path of one.
	GPU string `toml:"gpu"`
	// TensorParallelSize is the number of GPUs that share each layer.
	TensorParallelSize *int64 `toml:"tensor_parallel_size"`
	// ExpertParallelSize is the number of groups of these GPUs that the experts are
	// divided among; absent, every GPU has a share of each expert.
	ExpertParallelSize *int64 `toml:"expert_parallel_size"`
	// PipelineParallelSize is the number of stages that the layers are divided among.
	// More than one is refused: see HardwareSection.check.
	PipelineParallelSize *int64 `toml:"pipeline_parallel_size"`
	// DataParallelAttentionSize is the number of groups of these GPUs that have
	// sequences of their own in attention; absent, every GPU has a share of each.
	DataParallelAttentionSize *int64 `toml:"data_parallel_attention_size"`
}

// ModelSection is the model and its number formats.
type ModelSection struct {
	// Name is the name of a model, or the path of its TOML or config.json.
	Name string `toml:"name"`
	// Dtype is the format of the weights, KVCacheDtype that of the KV cache.
	Dtype        string `toml:"dtype"`
	KVCacheDtype string `toml:"kv_cache_dtype"`
}

// NetworkSection is the time between the client and the engine's queue, and back.
type NetworkSection struct {
	Request  *workload.DelaySpec `toml:"request"`
	Response *workload.DelaySpec `toml:"response"`
}

// ClientSection is how clients behave.
type ClientSection struct {
	// Timeout is how long a client waits for a whole answer.
	Timeout *sim.Duration `toml:"timeout"`
}

// StreamingSection is how the server cuts answers into chunks, which the tools of
// dialects see and nothing else does.
type StreamingSection struct {
	// StreamInterval is the number of tokens of a chunk after the first token.
	StreamInterval *int32 `toml:"stream_interval"`
	// Coalesce is the least time between two chunks of an answer.
	Coalesce *sim.Duration `toml:"coalesce"`
	// RoleChunk is when a chunk comes that opens a chat and has no text.
	RoleChunk transcript.RoleChunk `toml:"role_chunk"`
	// FinishChunk and UsageChunk are chunks without text at the end.
	FinishChunk bool `toml:"finish_chunk"`
	UsageChunk  bool `toml:"usage_chunk"`
	// DoneDelay is the time from the last of these to the line that ends a stream.
	DoneDelay *sim.Duration `toml:"done_delay"`
}

// RunSection is about the simulation itself.
type RunSection struct {
	// Horizon ends the run; requests still in the system are unfinished.
	Horizon *sim.Duration `toml:"horizon"`
	// WarmUp is what figures leave out at the beginning.
	WarmUp *WarmUp `toml:"warmup"`
	// AllowLivelock keeps a request that can never fit at the head of the queue,
	// as the real engine does, instead of rejecting it.
	AllowLivelock bool `toml:"allow_livelock"`
}

// whole returns the scenario as the TOML file that reads back to it.
func (s *Scenario) whole() string { return strict.Encode(*s) }

// Hash returns the SHA-256 of the scenario's text, in which files count by
// their names and not by their folders, so that it's the same on every machine.
func (s *Scenario) Hash() string {
	c := *s
	c.Workload.Merge = slices.Clone(c.Workload.Merge)
	paths := []*string{&c.Hardware.GPU, &c.Model.Name}
	for _, p := range c.Workload.Parts() {
		paths = append(paths, &p.Trace)
	}
	for _, path := range paths {
		*path = filepath.Base(*path)
	}
	return digest(c.whole())
}

// digest returns the SHA-256 of text, in hexadecimal.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
