package export

import (
	"fmt"

	"servesim/analysis/transcript"
	"servesim/internal/exact"
	"servesim/internal/jsonread"
	"servesim/sim"
	"servesim/sim/observe"
)

// genaiPerfFormat is the profile export of Perf Analyzer, from which GenAI-Perf
// computes its metrics (triton-inference-server/perf_analyzer
// src/profile_data_exporter.cc). Each experiment is a run.
func genaiPerfFormat() format {
	return format{
		Format: Format{
			Name: "genai-perf", Title: "GenAI-Perf's profile_export.json", Dialect: "genai-perf",
			Keys: []string{"experiments"},
		},
		read: readGenAIPerf,
	}
}

// genaiPerfExperiment says what load an experiment had.
type genaiPerfExperiment struct {
	Mode  string  `json:"mode"`
	Value float64 `json:"value"`
}

// genaiPerfRequest is a request of an experiment: a response for each message
// that came, each with its instant.
type genaiPerfRequest struct {
	Timestamp  nanos             `json:"timestamp" need:"yes"`
	Inputs     genaiPerfInputs   `json:"request_inputs"`
	Timestamps []nanos           `json:"response_timestamps" need:"yes"`
	Outputs    []genaiPerfOutput `json:"response_outputs" need:"yes"`
}

// genaiPerfInputs are the inputs of a request as far as they are needed.
type genaiPerfInputs struct {
	SessionID *string `json:"session_id"`
}

// genaiPerfOutput is a response: of OpenAI's API in response, of Triton's
// generate in text_output.
type genaiPerfOutput struct {
	Response   *string `json:"response"`
	TextOutput *string `json:"text_output"`
}

func readGenAIPerf(p *pass) {
	experiment, request := jsonread.NewPlan[genaiPerfExperiment](), jsonread.NewPlan[genaiPerfRequest]()
	for p.in.Next() {
		p.in.Object(func(key []byte) {
			if string(key) != "experiments" {
				p.in.Skip()
				return
			}
			p.in.Array(func(int) {
				var label string
				p.in.Object(func(key []byte) {
					switch string(key) {
					case "experiment":
						var e genaiPerfExperiment
						experiment.Read(p.in, &e)
						label = fmt.Sprintf("%s %g", e.Mode, e.Value)
					case "requests":
						readGenAIPerfRequests(p, request, label)
					default:
						p.in.Skip()
					}
				})
			})
		})
	}
}

// readGenAIPerfRequests reads the requests of an experiment.
func readGenAIPerfRequests(p *pass, plan *jsonread.Plan[genaiPerfRequest], label string) {
	p.begin(&Run{
		Label: label, Facts: transcript.Facts{Clock: true, Failures: true},
		Notes: []string{
			"Perf Analyzer writes texts and no numbers of tokens: those of a call are known only if the engine told its usage (stream_options.include_usage)",
			"it leaves some failed calls out; those that are here have no response",
		},
	})
	p.in.Array(func(int) {
		var v genaiPerfRequest
		if plan.Read(p.in, &v) {
			v.emit(p)
		}
	})
}

// emit hands on a call.
func (v *genaiPerfRequest) emit(p *pass) {
	if len(v.Timestamps) != len(v.Outputs) {
		p.fault("", fmt.Sprintf("%d response_timestamps and %d response_outputs", len(v.Timestamps), len(v.Outputs)), "one of each for every response", "")
		return
	}
	f := &found{at: exact.Instant(v.Timestamp), gaps: true}
	f.call = transcript.Call{Prompt: transcript.Unknown, Output: transcript.Unknown, Wanted: transcript.Unknown, Cached: transcript.Unknown, Closed: transcript.Never}
	if v.Inputs.SessionID != nil {
		f.call.Session = *v.Inputs.SessionID
	}
	times, ok := since(p, f.at, v.Timestamps, each("response_timestamps"))
	if !ok {
		return
	}
	a := answer{cached: transcript.Unknown}
	for i, text := range v.texts() {
		a.response(times[i], text)
	}
	a.finish(&f.call)
	for _, what := range a.odd {
		p.run.count(what)
	}
	if len(times) > 0 {
		f.closed(times[len(times)-1])
	}
	switch {
	case a.err != "":
		f.call.Outcome, f.call.Error = observe.Rejected, a.err
	case a.text == 0:
		f.call.Outcome, f.call.Output, f.call.Error = observe.Rejected, 0, "no text in any response"
	}
	p.emit(f)
}

// texts returns the text of each response. A message that was cut in two has its
// rest at the beginning of the next response: it belongs to the one before, as
// GenAI-Perf has it.
func (v *genaiPerfRequest) texts() []string {
	texts := make([]string, len(v.Outputs))
	for i, o := range v.Outputs {
		switch {
		case o.Response != nil:
			texts[i] = *o.Response
		case o.TextOutput != nil:
			texts[i] = textMessage(*o.TextOutput)
		}
	}
	for i := len(texts) - 1; i > 0; i-- {
		if rest, own := splinter(texts[i]); rest != "" {
			texts[i-1] += rest
			texts[i] = own
		}
	}
	return texts
}

// since returns how long after at each of stamps is. Each must be at or after the
// one before it. name says where stamp i stands, for faults.
func since[S ~struct{ Sec, Ps int64 }](p *pass, at exact.Instant, stamps []S, name func(i int) string) ([]sim.Duration, bool) {
	times := make([]sim.Duration, len(stamps))
	before, of := at, "when the call was sent"
	for i, s := range stamps {
		here := exact.Instant(s)
		d, ok := here.Since(at)
		if here.Before(before) {
			p.fault(name(i), string(here.Append(nil))+" s", "an instant at or after "+of+", "+string(before.Append(nil))+" s", "a negative gap means two clocks, or damage")
			return nil, false
		}
		if !ok {
			p.fault(name(i), string(here.Append(nil))+" s", "an instant within 106 days of when the call was sent, "+string(at.Append(nil))+" s", "two clocks, or two units, are mixed")
			return nil, false
		}
		times[i], before, of = d, here, name(i)
	}
	return times, true
}

// each names the elements of an array.
func each(array string) func(int) string {
	return func(i int) string { return fmt.Sprintf("%s[%d]", array, i) }
}

// among names fields one by one.
func among(names ...string) func(int) string { return func(i int) string { return names[i] } }
