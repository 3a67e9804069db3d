package export

import (
	"fmt"

	"servesim/analysis/transcript"
	"servesim/internal/jsonread"
	"servesim/sim"
	"servesim/sim/observe"
)

// llmperfFormat is LLMPerf's individual responses (ray-project/llmperf
// token_benchmark_ray.py, run_token_benchmark).
func llmperfFormat() format {
	return format{
		Format: Format{
			Name: "llmperf", Title: "LLMPerf's _individual_responses.json", Dialect: "llmperf",
			Keys: []string{"end_to_end_latency_s", "number_output_tokens"},
		},
		array: true,
		read:  readLLMPerf,
	}
}

// llmperfResponse is a record of LLMPerf, in the order of its keys.
type llmperfResponse struct {
	ErrorCode    *llmperfCode `json:"error_code"`
	ErrorMsg     *string      `json:"error_msg"`
	ITL          *span        `json:"inter_token_latency_s"`
	TTFT         span         `json:"ttft_s" need:"yes"`
	E2E          span         `json:"end_to_end_latency_s" need:"yes"`
	Throughput   float64      `json:"request_output_throughput_token_per_s"`
	TotalTokens  count        `json:"number_total_tokens"`
	OutputTokens count        `json:"number_output_tokens" need:"yes"`
	InputTokens  count        `json:"number_input_tokens" need:"yes"`
}

// llmperfCode is an error code: a status of HTTP, or a text.
type llmperfCode string

// ReadJSON implements jsonread.Value.
func (c *llmperfCode) ReadJSON(r *jsonread.Reader) {
	if r.IsText() {
		*c = llmperfCode(r.Text())
		return
	}
	text, _ := r.Number()
	*c = llmperfCode(text)
}

func readLLMPerf(p *pass) {
	plan := jsonread.NewPlan[llmperfResponse]()
	for p.in.Next() {
		run := &Run{Notes: []string{
			"LLMPerf writes neither when calls were sent nor when chunks came: a call's last token is taken to come when its stream was drained",
			"its number_output_tokens has the token that begins a text (BOS), which no engine makes: one less is the output",
			"its number_input_tokens is what was aimed at, not what was sent",
		}}
		p.begin(run)
		p.in.Array(func(i int) {
			var v llmperfResponse
			if plan.Read(p.in, &v) {
				v.emit(p)
			}
		})
	}
}

// emit hands on a call.
func (v *llmperfResponse) emit(p *pass) {
	f := &found{call: transcript.Call{
		Prompt: int32(v.InputTokens), Output: max(int32(v.OutputTokens)-1, 0), Wanted: transcript.Unknown, Cached: transcript.Unknown,
	}}
	if v.ErrorCode != nil && *v.ErrorCode != "" {
		f.call.Outcome, f.call.Error, f.call.Closed = observe.Rejected, "error "+string(*v.ErrorCode), transcript.Never
		if v.ErrorMsg != nil {
			f.call.Error += ": " + lastLine(*v.ErrorMsg)
		}
		p.emit(f)
		return
	}
	first, whole := sim.Duration(v.TTFT), sim.Duration(v.E2E)
	if !parts(p, "end_to_end_latency_s", whole, first, "its ttft_s") {
		return
	}
	if v.ITL != nil && v.OutputTokens > 1 && sim.Duration(*v.ITL) > whole+tolerance(whole) {
		p.fault("inter_token_latency_s", seconds(sim.Duration(*v.ITL)), fmt.Sprintf("at most the whole call, %s", seconds(whole)), "LLMPerf writes it in s; this may be in ms")
	}
	f.twoEnds(first, whole)
	p.emit(f)
}
