package blame

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/sim"
	"servesim/sim/observe"
)

// at is ms milliseconds since the run began.
func at(ms int64) sim.Time { return sim.Time(ms) * sim.Time(sim.Millisecond) }

// span is ms milliseconds.
func span(ms int64) sim.Duration { return sim.Duration(ms) * sim.Millisecond }

// small is a run of three requests. The prompt of 1 takes 30 ms alone; it decodes
// in steps of 10 ms. The prompt of 2 makes one of them 30 ms long. The prompt of 3
// is a step of its own, of 20 ms, in which 1 and 2 stand still.
func small(s observe.Sink) error {
	request := func(id int64, arrival, sent, scheduled, first, last int64, prompt, output int32, gap int64, made ...observe.Span) *observe.Request {
		return &observe.Request{ID: id, Arrival: at(arrival), Sent: at(sent), Queued: at(scheduled), Scheduled: at(scheduled),
			First: at(first), Last: at(last), End: at(last), Prompt: prompt, Output: output, MaxGap: span(gap), Made: made}
	}
	one := request(1, 0, 10, 10, 40, 120, 100, 5, 30, observe.Span{Steps: 4}, observe.Span{Step: 5, Steps: 1})
	one.Response = span(5)
	return errors.Join(
		s.Step(&observe.StepRun{Start: at(10), Steps: 1, First: span(30), Chunks: []observe.Chunk{{ID: 1, Tokens: 100}}, Oldest: at(10)}),
		s.Step(&observe.StepRun{Serial: 1, Start: at(40), Steps: 2, First: span(10), Base: span(10), Decodes: 1, Oldest: at(10),
			Gaps: []observe.Gaps{{Seqs: 1, Steps: 2, First: span(10)}}}),
		s.Step(&observe.StepRun{Serial: 3, Start: at(60), Steps: 1, First: span(30), Base: span(10), Decodes: 1, Oldest: at(10),
			Chunks: []observe.Chunk{{ID: 2, Tokens: 300}}, Gaps: []observe.Gaps{{Seqs: 1, Steps: 1, First: span(30)}}}),
		s.Step(&observe.StepRun{Serial: 4, Start: at(90), Steps: 1, First: span(20), Chunks: []observe.Chunk{{ID: 3, Tokens: 200}}, Oldest: at(10)}),
		s.Request(request(3, 84, 85, 90, 110, 110, 200, 1, 0, observe.Span{Step: 4, Steps: 1})),
		s.Step(&observe.StepRun{Serial: 5, Start: at(110), Steps: 1, First: span(10), Base: span(10), Decodes: 2, Oldest: at(10),
			Gaps: []observe.Gaps{{Seqs: 2, Steps: 1, First: span(30)}}}),
		s.Request(one),
		s.Request(request(2, 55, 57, 60, 90, 120, 300, 2, 30, observe.Span{Step: 3, Steps: 1}, observe.Span{Step: 5, Steps: 1})),
	)
}

func TestBlameByHand(t *testing.T) {
	got := map[int64]Parts{}
	var costs []Cost
	b := New(Options{Each: func(l *Life) error {
		got[l.Request.ID] = l.Parts()
		if l.Request.ID == 1 {
			_, costs = l.Tell()
		}
		return nil
	}})
	if err := small(b); err != nil {
		t.Fatal(err)
	}
	r, err := b.Report()
	if err != nil {
		t.Fatal(err)
	}
	want := map[int64]Parts{
		1: {NetworkRequest: span(10), Prefill: span(30), Decode: span(40), DecodeSlowed: span(20), Stalled: span(20), NetworkResponse: span(5)},
		2: {NetworkRequest: span(2), InFlight: span(3), Prefill: span(30), Stalled: span(20), Decode: span(10)},
		3: {NetworkRequest: span(1), Behind: span(5), Prefill: span(20)},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Cost{{2, DecodeSlowed, span(20)}, {3, Stalled, span(20)}}, costs); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Culprit{{ID: 3, Prompt: 200, Decode: span(40)}, {ID: 2, Prompt: 300, Decode: span(20), Wait: span(5)}}, r.Top); d != "" {
		t.Error(d)
	}
	// Five gaps: 10, 10, 30 (20 of them 2's), 30, 30 (20 of them 3's). The median
	// is 30, to which the tail adds nothing. Of the tail's 60 that prompts took, 40
	// are 3's, twice 20.
	gaps := Gaps{Count: 5, Median: span(30), P99: span(30), Tail: 3, Lengths: []TailLength{{128, 256, 1, 2. / 3}, {256, 512, 1, 1. / 3}}}
	if d := cmp.Diff(gaps, r.Gaps); d != "" {
		t.Error(d)
	}
	// The worst gap of 1 is the later of its two of 30, that of 2 its only one.
	if d := cmp.Diff(Parts{Decode: span(10), Stalled: span(20)}, r.Bands[WorstGap].All.Parts); d != "" {
		t.Error(d)
	}
}

// TestBlameRefuses holds what is said of records that blame cannot be computed from.
func TestBlameRefuses(t *testing.T) {
	step := observe.StepRun{Steps: 1, First: span(1)}
	for want, change := range map[string]func(*observe.StepRun){
		"written in detail":               func(s *observe.StepRun) { s.Decodes = 1 },
		"1 or more steps":                 func(s *observe.StepRun) { s.Steps = 0 },
		"2 steps with 1 prompts":          func(s *observe.StepRun) { s.Steps, s.Chunks = 2, []observe.Chunk{{Tokens: 1}} },
		"0 tokens of request 7":           func(s *observe.StepRun) { s.Chunks = []observe.Chunk{{ID: 7}} },
		"lasts 1ms, and 2ms without":      func(s *observe.StepRun) { s.Base = span(2) },
		"found replica -1":                func(s *observe.StepRun) { s.Replica = -1 },
		"step 2 at 1ms follows step 0":    func(s *observe.StepRun) { s.Serial, s.Start = 2, at(1) },
		"step 1 at 0s follows step 0":     func(s *observe.StepRun) { s.Serial = 1 },
		"follows step 0, which ended at ": func(s *observe.StepRun) { s.Serial = 0 },
	} {
		b := New(Options{})
		if strings.Contains(want, "follows") {
			first := step
			if err := b.Step(&first); err != nil {
				t.Fatal(err)
			}
		}
		s := step
		change(&s)
		if err := b.Step(&s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := New(Options{}).Request(&observe.Request{Output: 1}); err == nil || !strings.Contains(err.Error(), "written in detail") {
		t.Error(err)
	}
}
