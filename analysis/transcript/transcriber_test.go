package transcript

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/observe"
)

// kept is a Sink that keeps copies of its calls.
type kept struct{ calls []Call }

func (k *kept) Call(c *Call) error {
	one := *c
	one.Chunks = slices.Clone(c.Chunks)
	k.calls = append(k.calls, one)
	return c.Check()
}

// steps returns runs of steps of one replica and the instant at which each step
// ends, which it counts out one by one.
func steps(t *rapid.T, replica int32) (runs []observe.StepRun, ends []sim.Time) {
	now, serial := sim.Time(0), int64(0)
	for range rapid.IntRange(1, 20).Draw(t, "runs") {
		now += sim.Time(rapid.Int64Range(0, 3).Draw(t, "idle"))
		r := observe.StepRun{
			Replica: replica, Serial: serial, Start: now, Steps: rapid.Int64Range(1, 6).Draw(t, "steps"),
			First: sim.Duration(rapid.Int64Range(1, 9).Draw(t, "first")), Inc: sim.Duration(rapid.Int64Range(0, 2).Draw(t, "inc")),
		}
		for i := range r.Steps {
			now += sim.Time(r.First + sim.Duration(i)*r.Inc)
			ends = append(ends, now)
		}
		serial += r.Steps
		runs = append(runs, r)
	}
	return runs, ends
}

// Law: a token reaches the client at the end of the step that made it and the
// answer's way later, whichever steps a request's tokens come from, and whether
// its record comes before or after those of its steps.
func TestTranscriberTellsEveryToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got kept
		x, err := NewTranscriber(&got, Streaming{})
		if err != nil {
			t.Fatal(err)
		}
		replica := rapid.Int32Range(0, 2).Draw(t, "replica")
		runs, ends := steps(t, replica)
		response := sim.Duration(rapid.Int64Range(0, 5).Draw(t, "response"))
		want := map[int64][]sim.Time{}
		records := make([][]observe.Request, len(runs)+1) // by the run that they come before
		for id := range rapid.Int64Range(1, 6).Draw(t, "requests") {
			first := rapid.IntRange(0, len(ends)-1).Draw(t, "first step")
			last := rapid.IntRange(first, len(ends)-1).Draw(t, "last step")
			r := observe.Request{
				ID: id, Replica: replica, Outcome: observe.TimedOut, Response: response,
				Scheduled: Never, Sent: 0, End: ends[last],
			}
			for s := first; s <= last; s++ {
				if s > first && rapid.IntRange(0, 4).Draw(t, "step is not its own") == 0 {
					continue
				}
				want[id] = append(want[id], ends[s].Add(response))
				if n := len(r.Made); n > 0 && r.Made[n-1].Step+r.Made[n-1].Steps == int64(s) {
					r.Made[n-1].Steps++
				} else {
					r.Made = append(r.Made, observe.Span{Step: int64(s), Steps: 1})
				}
			}
			r.Output = int32(len(want[id]))
			r.Last = want[id][len(want[id])-1].Add(-response)
			of := slices.IndexFunc(runs, func(x observe.StepRun) bool { return int64(first) < x.Serial+x.Steps })
			runs[of].Chunks = append(runs[of].Chunks, observe.Chunk{ID: id})
			end := slices.IndexFunc(runs, func(x observe.StepRun) bool { return int64(last) < x.Serial+x.Steps })
			before := end + rapid.IntRange(0, 1).Draw(t, "after its last step")
			records[before] = append(records[before], r)
		}
		for i := range records {
			for k := range records[i] {
				if err := x.Request(&records[i][k]); err != nil {
					t.Fatal(err)
				}
				records[i][k].Made = nil // which the transcriber must have copied
			}
			if i < len(runs) {
				if err := x.Step(&runs[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if len(got.calls) != len(want) {
			t.Fatalf("%d calls of %d", len(got.calls), len(want))
		}
		for _, c := range got.calls {
			var at []sim.Time
			for _, k := range c.Chunks {
				at = append(at, k.At)
			}
			if !slices.Equal(at, want[c.ID]) {
				t.Fatalf("call %d has tokens at %v, want %v", c.ID, at, want[c.ID])
			}
		}
		if r := x.replicas[replica]; len(r.first) > 0 {
			t.Fatalf("requests %v are still under way", r.first)
		}
	})
}

// Law: what a Transcriber keeps does not grow with the run: of a million steps
// with at most two requests at once, it keeps those of two requests.
func TestTranscriberForgets(t *testing.T) {
	var n counter
	x, err := NewTranscriber(&n, Streaming{})
	if err != nil {
		t.Fatal(err)
	}
	const steps, most = 100_000, 64
	for i := range int64(steps) {
		run := observe.StepRun{Serial: i, Start: sim.Time(10 * i), Steps: 1, First: 10}
		if i%5 == 0 {
			run.Chunks = []observe.Chunk{{ID: i}}
		}
		if i >= 9 && i%5 == 4 { // it began nine steps ago
			r := observe.Request{ID: i - 9, Arrival: sim.Time(10 * (i - 9)), Outcome: observe.Cancelled, Output: 9, End: sim.Time(10*i + 5), Made: []observe.Span{{Step: i - 9, Steps: 9}}}
			if err := x.Request(&r); err != nil {
				t.Fatal(err)
			}
			run.Chunks = append(run.Chunks, observe.Chunk{ID: i - 9}) // the step under way still computes it
		}
		if err := x.Step(&run); err != nil {
			t.Fatal(err)
		}
		if r := x.replicas[0]; len(r.runs) > most || len(r.queue) > most || len(r.gone) > most || len(r.first) > most {
			t.Fatalf("after step %d it keeps %d steps, %d and %d requests, %d that gave up", i, len(r.runs), len(r.queue), len(r.first), len(r.gone))
		}
	}
	if n != steps/5-1 {
		t.Errorf("%d calls, want %d", n, steps/5-1)
	}
}

// counter is a Sink that counts.
type counter int

func (n *counter) Call(*Call) error { *n++; return nil }

// Records that don't tell of every token are an error, not fewer tokens.
func TestTranscriberRefuses(t *testing.T) {
	one := observe.StepRun{Steps: 1, First: 10}
	for _, c := range []struct {
		title string
		do    func(*Transcriber) error
		want  string
	}{
		{"without detail", func(x *Transcriber) error {
			return x.Request(&observe.Request{ID: 7, Output: 3})
		}, "request 7 has 3 output tokens, but its record tells of the steps of 0"},
		{"a step left out", func(x *Transcriber) error { s := one; s.Serial = 2; return x.Step(&s) }, "number 0 is next"},
		{"steps that never come", func(x *Transcriber) error {
			if err := x.Request(&observe.Request{ID: 7, Output: 1, Made: []observe.Span{{Step: 4, Steps: 1}}}); err != nil {
				return err
			}
			return x.Close()
		}, "request 7 made tokens in step 4 of replica 0, of which there is no record"},
		{"steps that were forgotten", func(x *Transcriber) error {
			for i := range int64(9) {
				s := one
				s.Serial, s.Start = i, sim.Time(10*i)
				if err := x.Step(&s); err != nil {
					return err
				}
			}
			return x.Request(&observe.Request{ID: 7, Output: 1, Made: []observe.Span{{Step: 0, Steps: 1}}})
		}, "request 7 made tokens in 1 steps from number 0, of which there are no records"},
		{"no such replica", func(x *Transcriber) error { return x.Request(&observe.Request{Replica: -1}) }, "replica -1"},
	} {
		x, err := NewTranscriber(&kept{}, Streaming{})
		if err == nil {
			err = c.do(x)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.title, err, c.want)
		}
	}
	if _, err := NewTranscriber(nil, Streaming{Interval: -1}); err == nil {
		t.Error("a stream interval of -1 is taken")
	}
}

// Without steps, the first token and the last are all there is.
func TestCoarse(t *testing.T) {
	var got kept
	x := NewCoarse(&got)
	r := observe.Request{ID: 1, Output: 9, Arrival: 5, Sent: 6, First: 20, Last: 50, End: 50, Response: 3}
	if err := x.Request(&r); err != nil {
		t.Fatal(err)
	}
	if c := got.calls[0]; !slices.Equal(c.Chunks, []Chunk{{At: 23, Tokens: 1}, {At: 53, Tokens: 8}}) || c.Closed != 53 {
		t.Errorf("%+v", c)
	}
}
