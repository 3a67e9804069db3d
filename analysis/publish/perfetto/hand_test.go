package perfetto_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/analysis/publish/perfetto"
	"servesim/sim"
	"servesim/sim/observe"
)

// text writes the tracks of a trace with their slices in ms, one within another.
func (t *trace) text() string {
	var b strings.Builder
	for _, id := range t.order {
		l := t.lines[id]
		if len(l.slices)+len(l.values) == 0 {
			continue
		}
		fmt.Fprintln(&b, l.name)
		for i, v := range l.values {
			fmt.Fprintf(&b, "  %g: %d\n", float64(l.at[i])/1e6, v)
		}
		for _, s := range l.slices {
			fmt.Fprintf(&b, "  %s%g to %g: %s", strings.Repeat("  ", s.depth), float64(s.from)/1e6, float64(s.to)/1e6, s.name)
			for _, key := range []string{"decode_tokens", "prefill_tokens", "tokens", "by_ms"} {
				if v, ok := s.args[key]; ok {
					fmt.Fprintf(&b, ", %v %s", v, key)
				}
			}
			if len(s.begins)+len(s.ends) > 0 {
				fmt.Fprintf(&b, ", flows %v to %v", s.begins, s.ends)
			}
			fmt.Fprintln(&b)
		}
	}
	return b.String()
}

// TestOneChunkDelaysOneDecode is a run that can be checked by hand: request 0 decodes
// in steps of 5 ms; request 1, of which a step computes 100 tokens, makes one of them
// 20 ms long.
func TestOneChunkDelaysOneDecode(t *testing.T) {
	const ms = sim.Millisecond
	at := func(n int64) sim.Time { return sim.Time(n) * sim.Time(ms) }
	steps := []observe.StepRun{
		{Serial: 0, Start: at(1), Steps: 1, First: 10 * ms, Chunks: []observe.Chunk{{ID: 0, Tokens: 50}}, Running: 1, Oldest: at(1), BlocksUsed: 4},
		{Serial: 1, Start: at(11), Steps: 2, First: 5 * ms, Base: 5 * ms, Decodes: 1, Running: 1, Oldest: at(1), BlocksUsed: 5},
		{Serial: 3, Start: at(21), Steps: 1, First: 20 * ms, Base: 5 * ms, Decodes: 1, Chunks: []observe.Chunk{{ID: 1, Tokens: 100}}, Running: 2, Oldest: at(1), BlocksUsed: 12},
		{Serial: 4, Start: at(41), Steps: 1, First: 5 * ms, Base: 5 * ms, Decodes: 1, Running: 1, Oldest: at(1), BlocksUsed: 5},
	}
	requests := []observe.Request{
		{ID: 1, Class: "long", Arrival: at(11), Sent: at(12), Queued: at(16), Scheduled: at(21), First: at(41), Last: at(41), End: at(41), Prompt: 100, Wanted: 1, Output: 1, Made: []observe.Span{{Step: 3, Steps: 1}}},
		{ID: 0, Arrival: 0, Sent: at(1), Queued: at(1), Scheduled: at(1), First: at(11), Last: at(46), End: at(46), Response: 2 * ms, Prompt: 50, Wanted: 5, Output: 5, Made: []observe.Span{{Step: 0, Steps: 5}}},
	}
	r := &record{steps: steps, requests: requests}
	for i := range steps[:3] {
		r.all = append(r.all, &steps[i])
	}
	r.all = append(r.all, &requests[0], &steps[3], &requests[1])
	tr, _, _ := traced(t, r, perfetto.Run{}, "all")
	want := `servesim
  0 to 48: run
    0 to 48: drawn
steps
  1 to 11: prefill step, 0 decode_tokens, 50 prefill_tokens
  11 to 16: decode step, 1 decode_tokens, 0 prefill_tokens
  16 to 21: decode step, 1 decode_tokens, 0 prefill_tokens
  21 to 41: mixed step, 1 decode_tokens, 100 prefill_tokens
  41 to 46: decode step, 1 decode_tokens, 0 prefill_tokens
KV blocks in use
  1: 4
  16: 5
  21: 12
  41: 5
  46: 0
running
  1: 1
  21: 2
  41: 1
  46: 0
waiting
  1: 0
request 1, long
  11 to 41: request
    11 to 12: network
    12 to 21: queue
    21 to 41: prefill
      21 to 41: chunk, 100 tokens, flows [1] to []
request 0
  0 to 48: request
    0 to 1: network
    1 to 11: prefill
      1 to 11: chunk, 50 tokens
    11 to 46: decode
      26 to 41: delayed by prompts, 100 prefill_tokens, 15 by_ms, flows [] to [1]
    46 to 48: network of the answer
`
	if diff := cmp.Diff(want, tr.text()); diff != "" {
		t.Error(diff)
	}
}

// TestEveryKindOfSliceIsDrawn runs what makes each.
func TestEveryKindOfSliceIsDrawn(t *testing.T) {
	seen := map[string]int{}
	flows := 0
	for _, settings := range [][]string{
		{"requests=300", "policy=vllm@0.8-v0", "enable_chunked_prefill=false", "num_gpu_blocks_override=3000", "rate_per_s=40"},
		{"requests=300", "policy=vllm@0.11", "num_gpu_blocks_override=2000", "rate_per_s=40"},
	} {
		r, of := simulated(t, settings...)
		for _, how := range []string{"all", "worst=2"} {
			tr, _, _ := traced(t, r, of, how)
			for _, id := range tr.order {
				for _, s := range tr.lines[id].slices {
					seen[s.name]++
				}
			}
			flows += len(tr.flows)
		}
	}
	for _, name := range []string{
		"prefill step", "decode step", "mixed step", "request", "network", "queue", "prefill", "decode", "chunk",
		"delayed by prompts", "stalled by prompts", "preempted", "run", "drawn", "left out",
	} {
		if seen[name] == 0 {
			t.Errorf("no slice is called %q", name)
		}
	}
	if flows < 1000 {
		t.Errorf("%d flows", flows)
	}
}
