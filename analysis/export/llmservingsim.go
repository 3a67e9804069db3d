package export

import (
	"servesim/analysis/transcript"
	"servesim/internal/exact"
	"servesim/internal/jsonread"
)

// llmservingsimFormat is the requests of a real vLLM run that LLMServingSim's
// bench records, a line a request (casys-kaist/LLMServingSim bench/core/runner.py,
// _record_from_metrics).
func llmservingsimFormat() format {
	return format{
		Format: Format{
			Name: "llmservingsim", Title: "LLMServingSim's requests.jsonl", Dialect: "vllm",
			Keys: []string{"request_id", "input_toks", "output_toks", "queued_ts"},
		},
		lines: true,
		read:  readLLMServingSim,
	}
}

// llmservingsimRequest is a line of requests.jsonl. arrival_time is of a wall
// clock in s, the others of a clock that counts up, in s too. All are null if the
// engine told nothing of the request.
type llmservingsimRequest struct {
	RequestID   string `json:"request_id" need:"yes"`
	InputToks   count  `json:"input_toks" need:"yes"`
	OutputToks  count  `json:"output_toks" need:"yes"`
	ArrivalTime *stamp `json:"arrival_time"`
	QueuedTs    *stamp `json:"queued_ts"`
	ScheduledTs *stamp `json:"scheduled_ts"`
	FirstToken  *stamp `json:"first_token_ts"`
	LastToken   *stamp `json:"last_token_ts"`
}

func readLLMServingSim(p *pass) {
	plan := jsonread.NewPlan[llmservingsimRequest]()
	p.begin(&Run{
		Facts: transcript.Facts{Clock: true, Failures: true}, // a call that fails ends the recording
		Notes: []string{
			"the instants are the engine's: a call is sent when it joins the engine's queue, and its stream ends with its last token",
			"arrival_time is on another clock than the rest, so what lies between arrival and queue isn't known",
			"the engine recorded the first and the last token of a call alone; the gaps between aren't known",
		},
	})
	for p.in.Next() {
		var v llmservingsimRequest
		if plan.Read(p.in, &v) {
			v.emit(p)
		}
	}
}

// emit hands on a call.
func (v *llmservingsimRequest) emit(p *pass) {
	if v.QueuedTs == nil || v.FirstToken == nil || v.LastToken == nil {
		p.run.count("requests of which the engine told no instants, left out")
		return
	}
	f := &found{at: exact.Instant(*v.QueuedTs)}
	if v.ArrivalTime != nil {
		f.arrival = (*exact.Instant)(v.ArrivalTime)
	}
	f.call = transcript.Call{Name: v.RequestID, Prompt: int32(v.InputToks), Output: int32(v.OutputToks), Wanted: int32(v.OutputToks), Cached: transcript.Unknown}
	scheduled := v.ScheduledTs
	if scheduled == nil {
		scheduled = v.QueuedTs
	}
	times, ok := since(p, f.at, []stamp{*scheduled, *v.FirstToken, *v.LastToken}, among("scheduled_ts", "first_token_ts", "last_token_ts"))
	if !ok {
		return
	}
	f.twoEnds(times[1], times[2])
	if f.call.Output < 2 && times[1] != times[2] {
		p.fault("output_toks", "fewer than 2 tokens with a first and a last instant that differ by "+seconds(times[2]-times[1]), "2 or more", "")
		return
	}
	p.emit(f)
}
