package export

import (
	"fmt"

	"servesim/analysis/transcript"
	"servesim/internal/jsonread"
	"servesim/sim"
	"servesim/sim/observe"
)

// guidellmFormat is GuideLLM's report, whose benchmarks are a run each
// (vllm-project/guidellm src/guidellm/benchmark/schemas/report.py and
// src/guidellm/schemas/{request_stats,info}.py, version 2 of the report).
func guidellmFormat() format {
	return format{
		Format: Format{
			Name: "guidellm", Title: "GuideLLM's benchmarks.json", Dialect: "guidellm",
			Keys: []string{"benchmarks"},
		},
		read: readGuideLLM,
	}
}

// guidellmRequest is a request of a GuideLLM benchmark.
type guidellmRequest struct {
	RequestID     string         `json:"request_id" need:"yes"`
	Info          guidellmInfo   `json:"info" need:"yes"`
	InputMetrics  guidellmTokens `json:"input_metrics"`
	OutputMetrics guidellmTokens `json:"output_metrics"`
	PromptTokens  *count         `json:"prompt_tokens"`
	OutputTokens  *count         `json:"output_tokens"`
}

// guidellmInfo says what became of a request.
type guidellmInfo struct {
	ConversationID *string         `json:"conversation_id"`
	TurnIndex      count           `json:"turn_index"`
	Status         string          `json:"status"`
	Timings        guidellmTimings `json:"timings" need:"yes"`
	Error          *string         `json:"error"`
}

// guidellmTimings are the instants of a request, of a wall clock in s.
type guidellmTimings struct {
	TargetedStart    *stamp `json:"targeted_start"`
	ResolveStart     *stamp `json:"resolve_start"`
	RequestStart     *stamp `json:"request_start"`
	FirstToken       *stamp `json:"first_token_iteration"`
	FirstOutputToken *stamp `json:"first_output_token_iteration"`
	LastToken        *stamp `json:"last_token_iteration"`
	TokenIterations  count  `json:"token_iterations"`
	RequestEnd       *stamp `json:"request_end"`
	ResolveEnd       *stamp `json:"resolve_end"`
}

// guidellmTokens are the numbers of tokens of a prompt or an answer.
type guidellmTokens struct {
	TextTokens   *count `json:"text_tokens"`
	CachedTokens *count `json:"cached_tokens"`
	TotalTokens  *count `json:"total_tokens"`
}

// guidellmConfig says what load a benchmark had.
type guidellmConfig struct {
	Strategy struct {
		Type        string   `json:"type_"`
		Rate        *float64 `json:"rate"`
		Concurrency *float64 `json:"max_concurrency"`
		Streams     *float64 `json:"streams"`
	} `json:"strategy"`
}

func (c *guidellmConfig) label() string {
	s := &c.Strategy
	text := s.Type
	for _, v := range []struct {
		name string
		n    *float64
	}{{"rate", s.Rate}, {"streams", s.Streams}, {"max_concurrency", s.Concurrency}} {
		if v.n != nil {
			text += fmt.Sprintf(", %s %g", v.name, *v.n)
		}
	}
	return text
}

func readGuideLLM(p *pass) {
	config, request := jsonread.NewPlan[guidellmConfig](), jsonread.NewPlan[guidellmRequest]()
	for p.in.Next() {
		p.in.Object(func(key []byte) {
			if string(key) != "benchmarks" {
				p.in.Skip()
				return
			}
			p.in.Array(func(int) { readGuideLLMBenchmark(p, config, request) })
		})
	}
}

// readGuideLLMBenchmark reads one benchmark.
func readGuideLLMBenchmark(p *pass, config *jsonread.Plan[guidellmConfig], request *jsonread.Plan[guidellmRequest]) {
	var c guidellmConfig
	found := false
	p.in.Object(func(key []byte) {
		switch string(key) {
		case "config":
			config.Read(p.in, &c)
		case "requests":
			found = true
			p.begin(&Run{
				Label: c.label(), Facts: transcript.Facts{Clock: true, Schedule: true, Failures: true},
				Notes: []string{"GuideLLM writes the instants of a call's first and last token alone; the gaps between aren't known"},
			})
			p.in.Object(func(group []byte) {
				name := string(group)
				if p.in.Null() {
					return
				}
				p.in.Array(func(int) {
					var v guidellmRequest
					if request.Read(p.in, &v) {
						v.emit(p, name)
					}
				})
			})
		default:
			p.in.Skip()
		}
	})
	if !found {
		p.fault("", "a benchmark without requests", "its requests, with info.timings", "GuideLLM before 0.4 wrote no such file; run it again with a later one")
	}
}

// emit hands on a call of a group: successful, incomplete or errored.
func (v *guidellmRequest) emit(p *pass, group string) {
	t := &v.Info.Timings
	sent, ok := instant(t.RequestStart)
	if !ok {
		sent, ok = instant(t.ResolveStart)
	}
	if !ok {
		p.run.count("requests that were never sent, left out")
		return
	}
	f := &found{at: sent}
	f.call = transcript.Call{Name: v.RequestID, Turn: int32(v.Info.TurnIndex), Wanted: transcript.Unknown, Closed: transcript.Never}
	if v.Info.ConversationID != nil {
		f.call.Session = *v.Info.ConversationID
	}
	f.call.Prompt = firstCount(v.PromptTokens, v.InputMetrics.TotalTokens, v.InputMetrics.TextTokens)
	f.call.Output = firstCount(v.OutputTokens, v.OutputMetrics.TotalTokens, v.OutputMetrics.TextTokens)
	f.call.Cached = firstCount(v.InputMetrics.CachedTokens)
	if due, ok := instant(t.TargetedStart); !ok {
		p.run.Facts.Schedule = false
	} else if f.lag, ok = sent.Since(due); !ok {
		f.lag = 0
		if early, _ := due.Since(sent); early > sim.Millisecond {
			p.fault("info.timings.targeted_start", string(due.Append(nil))+" s", "an instant at or before the request was sent, "+string(sent.Append(nil))+" s", "two clocks are mixed")
			return
		}
		p.run.count("calls sent less than 1 ms before their scheduled instant, taken as scheduled when sent")
	}
	if v.instants(p, f, group == "successful") {
		v.outcome(f, group)
		p.emit(f)
	}
}

// instants gives f the chunks that are known; false after a fault.
func (v *guidellmRequest) instants(p *pass, f *found, completed bool) bool {
	t := &v.Info.Timings
	var names []string
	var list []stamp
	for _, s := range []struct {
		name string
		at   *stamp
	}{
		{"first_token_iteration", t.FirstToken}, {"first_output_token_iteration", t.FirstOutputToken},
		{"last_token_iteration", t.LastToken}, {"request_end", t.RequestEnd}, {"resolve_end", t.ResolveEnd},
	} {
		if s.at != nil && (s.name != "resolve_end" || t.RequestEnd == nil) {
			names, list = append(names, s.name), append(list, *s.at)
		}
	}
	at := map[string]sim.Duration{}
	times, ok := since(p, f.at, list, func(i int) string { return "info.timings." + names[i] })
	if !ok {
		return false
	}
	for i, name := range names {
		at[name] = times[i]
	}
	if completed && len(times) == 0 {
		p.fault("info.timings", "a successful request without request_end", "the instant at which it ended", "")
		return false
	}
	if len(times) > 0 {
		f.call.Closed = sim.Time(times[len(times)-1])
	}
	if t.FirstToken == nil || t.LastToken == nil {
		return true
	}
	closed := f.call.Closed
	f.twoEnds(at["first_token_iteration"], at["last_token_iteration"])
	f.call.Closed = closed
	if visible, ok := at["first_output_token_iteration"]; ok && visible > at["first_token_iteration"] {
		f.reasoned(visible)
	}
	return true
}

// reasoned marks that the answer proper began at visible, after reasoning.
func (f *found) reasoned(visible sim.Duration) {
	c := &f.call
	c.Chunks[0].Kind = transcript.Reasoning
	for i := range c.Chunks {
		c.Chunks[i].Tokens = transcript.Unknown
	}
	if last := c.Chunks[len(c.Chunks)-1].At; sim.Time(visible) < last {
		c.Chunks = []transcript.Chunk{c.Chunks[0], {At: sim.Time(visible), Tokens: transcript.Unknown}, c.Chunks[1]}
	}
}

// outcome says how the call ended.
func (v *guidellmRequest) outcome(f *found, group string) {
	switch group {
	case "successful":
		return
	case "errored":
		f.call.Outcome, f.call.Error = observe.Rejected, "no error is told"
	default:
		f.call.Outcome, f.call.Error = observe.Cancelled, "incomplete when the benchmark ended"
	}
	if v.Info.Error != nil {
		f.call.Error = lastLine(*v.Info.Error)
	}
}

// firstCount returns the first number that there is, or Unknown.
func firstCount(list ...*count) int32 {
	for _, c := range list {
		if c != nil {
			return int32(*c)
		}
	}
	return transcript.Unknown
}
