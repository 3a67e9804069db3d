package export

import (
	"fmt"

	"servesim/analysis/transcript"
	"servesim/internal/exact"
	"servesim/internal/jsonread"
	"servesim/sim"
	"servesim/sim/observe"
)

// inferencePerfFormat is inference-perf's records, an array with an object for
// each request (kubernetes-sigs/inference-perf inference_perf/reportgen/base.py,
// generate_reports, and inference_perf/apis/base.py).
func inferencePerfFormat() format {
	return format{
		Format: Format{
			Name: "inference-perf", Title: "inference-perf's per_request_lifecycle_metrics.json", Dialect: "inference-perf",
			Keys: []string{"start_time", "end_time", "request"},
		},
		array: true,
		read:  readInferencePerf,
	}
}

// inferencePerfRequest is a record of inference-perf. Its instants are in s of a
// clock that counts up (perf_counter).
type inferencePerfRequest struct {
	StartTime stamp               `json:"start_time" need:"yes"`
	EndTime   stamp               `json:"end_time" need:"yes"`
	Info      *inferencePerfInfo  `json:"info"`
	Error     *inferencePerfError `json:"error"`
}

// inferencePerfInfo is what was measured of a request.
type inferencePerfInfo struct {
	InputTokens    *count `json:"input_tokens"`
	RequestMetrics struct {
		Text struct {
			InputTokens *count `json:"input_tokens"`
		} `json:"text"`
	} `json:"request_metrics"`
	ResponseMetrics *inferencePerfResponse `json:"response_metrics"`

	// Older versions have the answer's figures here, with the instants of chunks.
	OutputTokens     *count  `json:"output_tokens"`
	OutputTokenTimes []stamp `json:"output_token_times"`
}

// response returns what was measured of the answer, or nil.
func (v *inferencePerfInfo) response() *inferencePerfResponse {
	if v.ResponseMetrics == nil && v.OutputTokens != nil {
		return &inferencePerfResponse{OutputTokens: v.OutputTokens, ChunkTimes: v.OutputTokenTimes}
	}
	return v.ResponseMetrics
}

// inferencePerfResponse is what was measured of an answer: an instant for each
// chunk with content, and one for each token, which is that of its chunk.
type inferencePerfResponse struct {
	OutputTokens     *count  `json:"output_tokens"`
	ChunkTimes       []stamp `json:"chunk_times"`
	OutputTokenTimes []stamp `json:"output_token_times"`
	ServerUsage      *struct {
		Prompt  *count `json:"prompt_tokens"`
		Output  *count `json:"completion_tokens"`
		Details *struct {
			Cached *count `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"server_usage"`
}

// inferencePerfError says why a request failed.
type inferencePerfError struct {
	Type    string `json:"error_type"`
	Message string `json:"error_msg"`
}

func readInferencePerf(p *pass) {
	plan := jsonread.NewPlan[inferencePerfRequest]()
	for p.in.Next() {
		p.begin(&Run{
			Facts: transcript.Facts{Clock: true, Failures: true},
			Notes: []string{"chunks without text, and those of reasoning, aren't in the file"},
		})
		p.in.Array(func(int) {
			var v inferencePerfRequest
			if plan.Read(p.in, &v) {
				v.emit(p)
			}
		})
	}
}

// emit hands on a call.
func (v *inferencePerfRequest) emit(p *pass) {
	f := &found{at: exact.Instant(v.StartTime)}
	f.call = transcript.Call{Prompt: transcript.Unknown, Output: transcript.Unknown, Wanted: transcript.Unknown, Cached: transcript.Unknown}
	ends, ok := since(p, f.at, []stamp{v.EndTime}, among("end_time"))
	if !ok {
		return
	}
	if v.Info != nil {
		f.call.Prompt = firstCount(v.Info.RequestMetrics.Text.InputTokens, v.Info.InputTokens)
		if r := v.Info.response(); r != nil && !r.take(p, f) {
			return
		}
	}
	if n := len(f.call.Chunks); n > 0 && f.call.Chunks[n-1].At > sim.Time(ends[0]) {
		p.fault("info.response_metrics.chunk_times", "a last chunk "+seconds(sim.Duration(f.call.Chunks[n-1].At))+" after start_time", "none after end_time, "+seconds(ends[0])+" after it", "two clocks are mixed")
		return
	}
	f.call.Closed = sim.Time(ends[0])
	if v.Error != nil {
		f.call.Outcome, f.call.Error = observe.Rejected, v.Error.Type+": "+lastLine(v.Error.Message)
	}
	p.emit(f)
}

// take gives f what was measured of its answer; false after a fault.
func (r *inferencePerfResponse) take(p *pass, f *found) bool {
	f.call.Output = firstCount(r.OutputTokens)
	if u := r.ServerUsage; u != nil {
		if n := firstCount(u.Output); n > 0 {
			if n != f.call.Output {
				p.run.count("calls whose output_tokens, as inference-perf counts them, differ from the server's completion_tokens, which are taken")
			}
			f.call.Output = n
		}
		if n := firstCount(u.Prompt); n > 0 {
			f.call.Prompt = n
		}
		if u.Details != nil {
			f.call.Cached = firstCount(u.Details.Cached)
		}
	}
	if len(r.ChunkTimes) == 0 {
		return true
	}
	times, ok := since(p, f.at, r.ChunkTimes, each("info.response_metrics.chunk_times"))
	if !ok {
		return false
	}
	f.gaps = true
	counts, ok := r.perChunk()
	if !ok {
		p.fault("info.response_metrics.output_token_times", fmt.Sprintf("%d instants that aren't all those of chunks", len(r.OutputTokenTimes)), "for each token the instant of its chunk, in order", "")
		return false
	}
	for i, at := range times {
		f.call.Chunks = append(f.call.Chunks, transcript.Chunk{At: sim.Time(at), Tokens: counts[i]})
	}
	if f.call.Output != transcript.Unknown && len(r.OutputTokenTimes) > int(f.call.Output) {
		for i := range f.call.Chunks {
			f.call.Chunks[i].Tokens = transcript.Unknown
		}
		p.run.count("calls whose chunks have more tokens by themselves than the whole answer: tokens of their chunks are left out")
	}
	return true
}

// perChunk returns the number of tokens of each chunk. Unless the tool was given a
// tokenizer, it writes the instants of chunks for those of tokens: then there is
// one for each chunk, whatever it holds.
func (r *inferencePerfResponse) perChunk() (counts []int32, ok bool) {
	counts = make([]int32, len(r.ChunkTimes))
	if len(r.OutputTokenTimes) <= len(r.ChunkTimes) {
		same := r.OutputTokens != nil && int(*r.OutputTokens) == len(r.ChunkTimes)
		for i := range counts {
			if counts[i] = transcript.Unknown; same {
				counts[i] = 1
			}
		}
		return counts, true
	}
	i := 0
	for _, at := range r.OutputTokenTimes {
		for i < len(counts) && r.ChunkTimes[i] != at {
			i++
		}
		if i == len(counts) {
			return nil, false
		}
		counts[i]++
	}
	return counts, true
}
