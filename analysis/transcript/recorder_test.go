package transcript

import (
	"reflect"
	"slices"
	"testing"

	"servesim/sim"
	"servesim/sim/observe"

	"pgregory.net/rapid"
)

// heard keeps what a sink was given, in words that can be compared.
type heard struct {
	requests []observe.Request
	gaps     []sim.Duration
	ends     []sim.Time
}

// Request implements observe.Sink.
func (h *heard) Request(r *observe.Request) error {
	h.requests = append(h.requests, *r)
	return nil
}

// Step implements observe.Sink.
func (h *heard) Step(s *observe.StepRun) error {
	for range s.Gaps[0].Seqs {
		h.gaps = append(h.gaps, s.Gaps[0].First)
		h.ends = append(h.ends, s.Start.Add(s.First))
	}
	return nil
}

// TestCallsAreRecorded records a call by hand: scheduled at 10, sent at 12, with
// chunks that take 5 to come.
func TestCallsAreRecorded(t *testing.T) {
	call := Call{
		ID: 3, Class: "chat", Scheduled: 10, Sent: 12, Closed: 90, Response: 5, Prompt: 7, Output: 4, Wanted: Unknown, Cached: Unknown,
		Chunks: []Chunk{{At: 20, Kind: Role}, {At: 35, Tokens: 1}, {At: 45, Tokens: 2}, {At: 75, Tokens: 1}, {At: 90, Kind: Done}},
	}
	for _, gaps := range []bool{true, false} {
		want := observe.Request{
			ID: 3, Class: "chat", Arrival: 10, Sent: 12, Queued: Never, Scheduled: 30, First: 30, Last: 70, End: 70, Response: 5, Prompt: 7, Output: 4, Wanted: 4,
		}
		var pauses []sim.Duration
		if gaps {
			want.MaxGap, pauses = 30, []sim.Duration{10, 30}
		}
		var h heard
		r := NewRecorder(Facts{Gaps: gaps}, &h)
		if err := r.Call(&call); err != nil {
			t.Fatal(err)
		}
		if len(h.requests) != 1 || !reflect.DeepEqual(h.requests[0], want) || !slices.Equal(h.gaps, pauses) || r.Empty() != 0 {
			t.Errorf("gaps %v: %+v, gaps %v; want %+v, %v", gaps, h.requests, h.gaps, want, pauses)
		}
	}
}

// TestEmptyAnswersFail records an answer without a token, and a call that failed
// after two.
func TestEmptyAnswersFail(t *testing.T) {
	var h heard
	r := NewRecorder(Facts{Gaps: true}, &h)
	for _, c := range []Call{
		{ID: 1, Sent: 4, Closed: 9, Output: 0},
		{ID: 2, Sent: 4, Closed: 30, Output: 2, Outcome: observe.TimedOut, Chunks: []Chunk{{At: 10, Tokens: 1}, {At: 18, Tokens: 1}}},
	} {
		if err := r.Call(&c); err != nil {
			t.Fatal(err)
		}
	}
	a, b := h.requests[0], h.requests[1]
	if r.Empty() != 1 || a.Outcome != observe.Rejected || a.Reason == "" || a.End != 9 || b.Outcome != observe.TimedOut || b.End != 30 || !slices.Equal(h.gaps, []sim.Duration{8}) {
		t.Errorf("%d empty; %+v, %+v, gaps %v", r.Empty(), a, b, h.gaps)
	}
}

// TestChroniclesGoByTime holds that everything comes out once: with a clock in order
// of time and else as it came.
func TestChroniclesGoByTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Chronicle
		var given, got heard
		for i := range rapid.IntRange(0, 40).Draw(t, "n") {
			end := sim.Time(rapid.Int64Range(0, 20).Draw(t, "end"))
			length := sim.Duration(rapid.Int64Range(0, int64(end)).Draw(t, "gap"))
			r := observe.Request{ID: int64(i), End: end}
			s := observe.StepRun{Start: end.Add(-length), Steps: 1, First: length, Gaps: []observe.Gaps{{Seqs: 1, Steps: 1, First: length}}}
			for _, to := range []observe.Sink{&c, &given} {
				if to.Request(&r) != nil || to.Step(&s) != nil {
					t.Fatal("refused")
				}
			}
		}
		clock := rapid.Bool().Draw(t, "clock")
		if err := c.Replay(clock, &got); err != nil {
			t.Fatal(err)
		}
		if clock {
			slices.SortStableFunc(given.requests, func(a, b observe.Request) int { return int(a.End - b.End) })
			slices.Sort(given.ends)
			if !slices.Equal(given.ends, got.ends) {
				t.Fatalf("gaps end at %v, want %v", got.ends, given.ends)
			}
			slices.Sort(given.gaps)
			slices.Sort(got.gaps)
		}
		if !slices.Equal(given.gaps, got.gaps) || !reflect.DeepEqual(given.requests, got.requests) {
			t.Fatalf("%+v\nof %+v", got, given)
		}
	})
}
