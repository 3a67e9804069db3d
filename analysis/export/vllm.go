package export

import (
	"fmt"
	"strings"

	"servesim/analysis/transcript"
	"servesim/internal/exact"
	"servesim/internal/jsonread"
	"servesim/sim"
)

// vllmFormat is the result of `vllm bench serve --save-result --save-detailed`,
// one object a run; --append-result puts more behind it (vllm-project/vllm
// vllm/benchmarks/serve.py, benchmark and main_async).
func vllmFormat() format {
	return format{
		Format: Format{
			Name: "vllm", Title: "result of vllm bench serve with --save-detailed", Dialect: "vllm",
			Keys: []string{"backend", "model_id", "num_prompts", "request_rate"},
		},
		read: readVLLM,
	}
}

// vllmResult is a result of vLLM's benchmark, in the order of its keys. Without
// --save-detailed the arrays from input_lens to errors aren't there, but for
// latencies and queue_times; start_times came in January 2026.
type vllmResult struct {
	Date                 string   `json:"date"`
	EndpointType         string   `json:"endpoint_type"`
	Backend              string   `json:"backend"`
	Label                *string  `json:"label"`
	ModelID              string   `json:"model_id"`
	TokenizerID          *string  `json:"tokenizer_id"`
	NumPrompts           count    `json:"num_prompts"`
	RequestRate          rate     `json:"request_rate"`
	Burstiness           float64  `json:"burstiness"`
	MaxConcurrency       *count   `json:"max_concurrency"`
	Duration             *span    `json:"duration"`
	Completed            *count   `json:"completed"`
	Failed               *count   `json:"failed"`
	TotalInputTokens     float64  `json:"total_input_tokens"`
	TotalOutputTokens    float64  `json:"total_output_tokens"`
	RequestThroughput    float64  `json:"request_throughput"`
	RequestGoodput       *float64 `json:"request_goodput"`
	OutputThroughput     float64  `json:"output_throughput"`
	TotalTokenThroughput float64  `json:"total_token_throughput"`

	InputLens  []count  `json:"input_lens"`
	OutputLens []count  `json:"output_lens"`
	TTFTs      []span   `json:"ttfts"`
	ITLs       [][]span `json:"itls"`
	Latencies  []span   `json:"latencies"`
	StartTimes []stamp  `json:"start_times"`
	QueueTimes []span   `json:"queue_times"`
	Errors     []string `json:"errors"`

	MaxOutputTokensPerS   float64 `json:"max_output_tokens_per_s"`
	MaxConcurrentRequests float64 `json:"max_concurrent_requests"`

	MeanTTFT *float64 `json:"mean_ttft_ms"`

	note string // about the file, for its reader
}

// rate is a number of requests per second, or "inf" or "trace".
type rate string

// ReadJSON implements jsonread.Value.
func (q *rate) ReadJSON(r *jsonread.Reader) {
	if r.IsText() {
		*q = rate(r.Text())
		return
	}
	text, _ := r.Number()
	*q = rate(text)
	if *q == "Infinity" {
		*q = "inf"
	}
}

func readVLLM(p *pass) {
	plan := jsonread.NewPlan[vllmResult]()
	for p.in.Next() {
		var v vllmResult
		if plan.Read(p.in, &v) && v.check(p) {
			v.emit(p)
		}
	}
}

// label says which run v is.
func (v *vllmResult) label() string {
	text := fmt.Sprintf("%s on %s, request_rate %s", v.ModelID, v.Backend, v.RequestRate)
	if v.MaxConcurrency != nil {
		text += fmt.Sprintf(", max_concurrency %d", *v.MaxConcurrency)
	}
	return text
}

// check tells whether the arrays of v are there, as long as each other, and in
// the unit that they should be in.
func (v *vllmResult) check(p *pass) bool {
	before := p.faults.Len()
	a := v.answers()
	var c columns
	a.need(&c)
	c.may("latencies", v.Latencies != nil, len(v.Latencies))
	c.may("start_times", v.StartTimes != nil, len(v.StartTimes))
	c.may("queue_times", v.QueueTimes != nil, len(v.QueueTimes))
	if !c.check(p, "it was written without --save-detailed: run vllm bench serve with --save-result --save-detailed") {
		return false
	}
	for i := range v.TTFTs {
		if a.good(i) {
			v.latency(p, a, i)
		}
	}
	v.note = a.units(p, v.MeanTTFT)
	return p.faults.Len() == before
}

// answers returns the arrays that both tools' results have.
func (v *vllmResult) answers() *answers {
	return &answers{inputs: v.InputLens, outputs: v.OutputLens, ttfts: v.TTFTs, itls: v.ITLs, errors: v.Errors}
}

// latency checks that request i took as long as its parts, and no longer than
// the run.
func (v *vllmResult) latency(p *pass, a *answers, i int) {
	if v.Latencies == nil {
		return
	}
	whole := sim.Duration(v.Latencies[i])
	parts(p, fmt.Sprintf("latencies[%d]", i), whole, a.whole(i), "its ttft and its itls together")
	if v.Duration != nil && whole > sim.Duration(*v.Duration)+sim.Millisecond {
		p.fault(fmt.Sprintf("latencies[%d]", i), seconds(whole), "at most the duration of the run, "+seconds(sim.Duration(*v.Duration)),
			"vLLM writes latencies in s; these may be in ms")
	}
}

// emit hands on the calls of v.
func (v *vllmResult) emit(p *pass) {
	run := &Run{Label: v.label(), Model: v.ModelID}
	run.Facts = transcript.Facts{Clock: v.StartTimes != nil, Schedule: v.StartTimes != nil && v.QueueTimes != nil, Failures: true}
	if v.Duration != nil {
		run.Facts.Wall = sim.Duration(*v.Duration)
	}
	if !run.Facts.Clock {
		run.Notes = append(run.Notes, "the file has no start_times, which vLLM writes since January 2026: when calls were sent isn't known")
	}
	if v.note != "" {
		run.Notes = append(run.Notes, v.note)
	}
	p.begin(run)
	a := v.answers()
	for i := range v.TTFTs {
		f := a.found(i)
		if run.Facts.Clock {
			f.at = exact.Instant(v.StartTimes[i])
		}
		if run.Facts.Schedule {
			f.lag = sim.Duration(v.QueueTimes[i])
		}
		if !a.good(i) {
			a.failed(p, i, f)
			if v.Latencies != nil && v.Latencies[i] > 0 {
				f.call.Closed = sim.Time(v.Latencies[i])
			}
		} else {
			f.stream(sim.Duration(v.TTFTs[i]), v.ITLs[i])
			if v.Latencies != nil {
				f.closed(sim.Duration(v.Latencies[i]))
			}
		}
		p.emit(f)
	}
}

// lastLine returns the last line of a traceback, which is what went wrong.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
