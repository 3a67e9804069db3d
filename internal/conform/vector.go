package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Vector is one recorded schedule of one engine version.
type Vector struct {
	// Name is the vector's id, Label the engine version that was recorded.
	Name, Label string
	Params      Params
	// TRTLLM takes the place of Params in a vector of TensorRT-LLM.
	TRTLLM   TRTLLMParams
	Requests []Request
	Steps    []Step
}

// Params are the limits and switches of a vector. Pointers are nil where the
// recording leaves the engine's default.
type Params struct {
	Budget      int32   `json:"budget"`
	MaxSeqs     int32   `json:"max_seqs"`
	Blocks      int64   `json:"blocks"`
	BlockSize   int32   `json:"bs"`
	Threshold   int32   `json:"thr"`
	MaxModelLen *int32  `json:"max_model_len"`
	Caching     bool    `json:"caching"`
	Chunked     *bool   `json:"chunked"`
	Policy      string  `json:"policy"`
	Watermark   float64 `json:"watermark"`
	Async       bool    `json:"async_"`
	Depth       int     `json:"depth"`
	Pipeline    int     `json:"pp"`
	Spec        int     `json:"spec"`
	Mode        string  `json:"mode"`
	MPP         *int32  `json:"mpp"`
	MLPP        *int32  `json:"mlpp"`
	// Kind and Chunk are of the sarathi-serve repository: its scheduler and its
	// token budget.
	Kind  string `json:"kind"`
	Chunk int32  `json:"chunk"`
	// The others are SGLang's, of which a Chunk of 0 is none at all.
	Pool       int64    `json:"pool"`
	MaxPrefill int32    `json:"max_prefill"`
	MaxRunning int32    `json:"max_running"`
	Conserv    *float64 `json:"conserv"`
	Mixed      bool     `json:"mixed"`
	Radix      *bool    `json:"radix"`
	IgnoreEOS  bool     `json:"ignore_eos"`
	Overlap    bool     `json:"overlap"`
	MaxSteps   int      `json:"maxsteps"` // where the recording was cut
	// Draft belongs to Spec, and is not replayed either.
	Draft int `json:"draft"`
	// Swap is the number of CPU blocks of mode swap.
	Swap int64 `json:"swap"`
}

// Request is one request of a vector.
type Request struct {
	ID     string          `json:"id"`
	At     int             `json:"at"`
	Prompt json.RawMessage `json:"prompt"` // a length, or the tokens
	Out    int32           `json:"out"`
	Prio   int32           `json:"prio"`
	Group  int             `json:"group"`  // whose common tokens the prompt begins with
	Shared int32           `json:"shared"` // how many of them
	Arr    *int64          `json:"arr"`
}

// promptTokens returns the length of the prompt.
func (r *Request) promptTokens() (int32, error) {
	var n int32
	if json.Unmarshal(r.Prompt, &n) == nil {
		return n, nil
	}
	var tokens []int64
	if err := json.Unmarshal(r.Prompt, &tokens); err != nil {
		return 0, fmt.Errorf("request %s: prompt: found %s; it must be a number of tokens or a list of them", r.ID, r.Prompt)
	}
	return int32(len(tokens)), nil
}

// check returns all faults of the requests and steps of v, joined.
func (v *Vector) check() error {
	var faults []error
	if len(v.Requests) == 0 {
		faults = append(faults, fmt.Errorf("vector %s: requests: missing; a schedule is of at least one", v.Name))
	}
	if len(v.Steps) == 0 {
		faults = append(faults, fmt.Errorf("vector %s: no step is recorded of %s, so there is nothing to compare with", v.Name, v.Label))
	}
	seen := map[string]bool{}
	for i := range v.Requests {
		r := &v.Requests[i]
		fault := func(field, format string, args ...any) {
			faults = append(faults, fmt.Errorf("vector %s: request %q: %s: %s", v.Name, r.ID, field, fmt.Sprintf(format, args...)))
		}
		if r.ID == "" || seen[r.ID] {
			fault("id", "ids must be given and differ")
		}
		seen[r.ID] = true
		if n, err := r.promptTokens(); err != nil || n < 1 {
			fault("prompt", "found %s; it must be a number of tokens, at least 1, or a list of as many", r.Prompt)
		}
		if n, _ := r.promptTokens(); r.Shared < 0 || r.Shared > n {
			fault("shared", "found %d; it must be from 0 to the length of the prompt", r.Shared)
		}
		if r.Out < 1 {
			fault("out", "found %d; it must be at least 1", r.Out)
		}
		if r.At < 0 || r.At >= max(1, len(v.Steps)) {
			fault("at", "found %d; it must be the index of one of the %d steps", r.At, len(v.Steps))
		}
	}
	return errors.Join(faults...)
}

// Step is one recorded scheduling call.
type Step struct {
	Sched      counts   `json:"sched"`
	Hit        counts   `json:"hit"`
	Preempt    []string `json:"preempt"`
	Swapped    []string `json:"swapped"`
	Emit       emits    `json:"emit"`
	Fin        []string `json:"fin"`
	FreeBlocks *int64   `json:"free_blocks"`
	Free       *int64   `json:"free"`
	Running    []string `json:"running"`
	Waiting    []string `json:"waiting"`
	// The others are SGLang's; where they are absent they are not compared, but for
	// Wasted: computed tokens that nobody gets.
	Wasted    []string `json:"wasted"`
	Ratio     *float64 `json:"new_token_ratio"`
	Full      *bool    `json:"batch_is_full"`
	Available *int64   `json:"avail"`
	Evictable *int64   `json:"evictable"`
	// Ended is how many more run, which have ended and not been dropped.
	Ended int `json:"-"`
}

// free returns the recorded number of free blocks; ok is false if there is none.
func (s *Step) free() (n int64, ok bool) {
	if s.FreeBlocks != nil {
		return *s.FreeBlocks, true
	}
	if s.Free != nil {
		return *s.Free, true
	}
	return 0, false
}

// count is one entry of counts.
type count struct {
	ID string
	N  int32
}

// counts is a JSON object of numbers, in the order of its keys.
type counts []count

// UnmarshalJSON keeps the order of the keys.
func (c *counts) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("found %s; expected an object of token counts", b)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var n int32
		if err := d.Decode(&n); err != nil {
			return fmt.Errorf("found %s; expected a whole number of tokens for %v", b, key)
		}
		*c = append(*c, count{fmt.Sprint(key), n})
	}
	return nil
}

// String prints c as the vectors' documentation does: A16 B7.
func (c counts) String() string {
	var words []string
	for _, e := range c {
		words = append(words, fmt.Sprintf("%s%d", e.ID, e.N))
	}
	return strings.Join(words, " ")
}

// emits is the set of requests that emit a token: an object of counts, or a list.
type emits []string

// UnmarshalJSON accepts both forms.
func (e *emits) UnmarshalJSON(b []byte) error {
	var ids []string
	if err := json.Unmarshal(b, &ids); err != nil {
		var m map[string]int
		if json.Unmarshal(b, &m) != nil {
			return fmt.Errorf("found %s; expected a list of requests, or an object of token counts", b)
		}
		for id := range m {
			ids = append(ids, id)
		}
	}
	sort.Strings(ids)
	*e = ids
	return nil
}

// Preset returns the engine version of v as sim/scheduler names it, or "".
func (v *Vector) Preset() string {
	switch v.engine() {
	case engineVLLM:
		for _, p := range []struct{ part, preset string }{
			{"0.8.5", "vllm@0.8-v0"}, {"0.11.0", "vllm@0.11"}, {"0.20.1", "vllm@0.20"}, {"main", "vllm@main"},
		} {
			if strings.Contains(v.Label, p.part) {
				return p.preset
			}
		}
	case engineTRTLLM:
		return v.TRTLLM.preset()
	case engineSarathi:
		for _, p := range []struct{ kind, preset string }{
			{"sarathi", "sarathi-serve@2026-01"}, {"orca", "sarathi-serve-orca@2026-01"}, {"ft", "sarathi-serve-static@2026-01"},
			{"vllm", "sarathi-serve-vllm@2026-01"}, {"simple", "sarathi-serve-simple@2026-01"},
		} {
			if v.Params.Kind == p.kind {
				return p.preset
			}
		}
	case engineSGLang:
		for _, p := range []struct{ part, preset string }{{"0.5.6", "sglang@0.5.6"}, {"d2b3c7fb14", "sglang@2026-02"}} {
			if strings.Contains(v.Label, p.part) {
				return p.preset
			}
		}
	}
	return ""
}

// The engines whose recordings are replayed.
const (
	engineVLLM    = "vllm"
	engineSarathi = "sarathi"
	engineTRTLLM  = "tensorrt-llm"
	engineSGLang  = "sglang"
)

// engine returns the engine that v was recorded from, or "" if none of ours.
func (v *Vector) engine() string {
	switch label := strings.ToLower(v.Label); {
	case strings.Contains(label, engineSarathi):
		return engineSarathi
	case strings.Contains(label, engineTRTLLM):
		return engineTRTLLM
	case strings.Contains(label, engineSGLang):
		return engineSGLang
	case strings.Contains(label, engineVLLM):
		return engineVLLM
	}
	return ""
}
