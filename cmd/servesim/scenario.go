package main

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"

	"servesim/internal/strict"
	"servesim/sim"
	"servesim/sim/workload"
)

// schemaVersion is the version of scenario files that servesim reads.
const schemaVersion = 1

// A scenario is everything that a simulation's result follows from, as a TOML
// file says it. Absent keys are nil or zero; settling gives each its default.
type scenario struct {
	Schema    int64            `toml:"schema"`
	Name      string           `toml:"name"`
	Seed      *uint64          `toml:"seed"`
	Workload  workloadSection  `toml:"workload"`
	Transform transformSection `toml:"transform"`
	Engine    engineSection    `toml:"engine"`
	Hardware  hardwareSection  `toml:"hardware"`
	Model     modelSection     `toml:"model"`
	Memory    memorySection    `toml:"memory"`
	Host      hostSection      `toml:"host"`
	Network   networkSection   `toml:"network"`
	Client    clientSection    `toml:"client"`
	SLO       sloSection       `toml:"slo"`
	Run       runSection       `toml:"run"`
}

// workloadSection says which requests arrive when.
type workloadSection struct {
	RequestsSection
	// Merge is what is merged with these requests by time, each beginning at 0.
	Merge []mergedSection `toml:"merge,tables"`
}

// mergedSection is a further workload that is merged with the main one.
type mergedSection struct {
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
	Columns *columnsSection `toml:"columns"`
	// Sort puts rows in order of arrival first.
	Sort bool `toml:"sort"`
	// ZeroTokens is what becomes of rows without tokens.
	ZeroTokens workload.ZeroRule `toml:"zero_tokens"`
	// BlockTokens is the number of tokens that a hash id of a trace covers.
	BlockTokens int32 `toml:"block_tokens"`

	workload.Spec
}

// columnsSection is workload.Columns under the names of a scenario file.
type columnsSection struct {
	Arrival  string `toml:"arrival"`
	Prompt   string `toml:"prompt"`
	Output   string `toml:"output"`
	ID       string `toml:"id"`
	Session  string `toml:"session"`
	Class    string `toml:"class"`
	Priority string `toml:"priority"`
	Unit     string `toml:"unit"`
}

// hardwareSection is the machine of one engine.
type hardwareSection struct {
	// GPU is the name of a profile or the path of one.
	GPU string `toml:"gpu"`
	// TensorParallelSize is the number of GPUs that share each layer.
	TensorParallelSize *int64 `toml:"tensor_parallel_size"`
	// ExpertParallelSize is the number of groups of these GPUs that the experts are
	// divided among; absent, every GPU has a share of each expert.
	ExpertParallelSize *int64 `toml:"expert_parallel_size"`
	// DataParallelAttentionSize is the number of groups of these GPUs that have
	// sequences of their own in attention; absent, every GPU has a share of each.
	DataParallelAttentionSize *int64 `toml:"data_parallel_attention_size"`
}

// modelSection is the model and its number formats.
type modelSection struct {
	// Name is the name of a model, or the path of its TOML or config.json.
	Name string `toml:"name"`
	// Dtype is the format of the weights, KVCacheDtype that of the KV cache.
	Dtype        string `toml:"dtype"`
	KVCacheDtype string `toml:"kv_cache_dtype"`
}

// networkSection is the time between the client and the engine's queue, and back.
type networkSection struct {
	Request  *workload.DelaySpec `toml:"request"`
	Response *workload.DelaySpec `toml:"response"`
}

// clientSection is how clients behave.
type clientSection struct {
	// Timeout is how long a client waits for a whole answer.
	Timeout *sim.Duration `toml:"timeout"`
}

// sloSection is what users must get.
type sloSection struct {
	// Goodput is in the syntax of vLLM's --goodput, in milliseconds.
	Goodput string `toml:"goodput"`
	// MinGoodput is the least share of good requests, from 0 to 1, below which
	// a run exits with exitSLO.
	MinGoodput *float64 `toml:"min_goodput"`
}

// runSection is about the simulation itself.
type runSection struct {
	// Horizon ends the run; requests still in the system are unfinished.
	Horizon *sim.Duration `toml:"horizon"`
	// AllowLivelock keeps a request that can never fit at the head of the queue,
	// as the real engine does, instead of rejecting it.
	AllowLivelock bool `toml:"allow_livelock"`
}

// whole returns the scenario as the TOML file that reads back to it.
func (s *scenario) whole() string { return strict.Encode(*s) }

// hash returns the SHA-256 of the scenario's text, in which files count by
// their names and not by their folders, so that it's the same on every machine.
func (s *scenario) hash() string {
	c := *s
	c.Workload.Merge = slices.Clone(c.Workload.Merge)
	paths := []*string{&c.Hardware.GPU, &c.Model.Name}
	for _, p := range c.Workload.parts() {
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
