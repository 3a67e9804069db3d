package perfetto_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/analysis/blame"
	"servesim/analysis/publish/perfetto"
	"servesim/sim"
	"servesim/sim/observe"
)

// Law: a trace of a whole run is well formed and has what the records have: every
// step, every request with its chunks, and of what prompts delayed as much as blame
// charges to them.
func TestWholeRunIsDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, of := simulated(t, drawnSettings(t)...)
		tr, told, file := traced(t, r, of, "all")
		if !told.Whole() || told.Requests != int64(len(r.requests)) {
			t.Fatalf("%+v of %d requests", told, len(r.requests))
		}
		checkSteps(t, tr, r)
		checkRequests(t, tr, r)
		checkDelays(t, tr, r)
		if _, _, again := traced(t, r, of, "all"); !bytes.Equal(file, again) {
			t.Fatal("the same run is written in two ways")
		}
	})
}

// checkSteps holds that the steps are there, each by itself.
func checkSteps(t *rapid.T, tr *trace, r *record) {
	var want, got []string
	for _, s := range r.steps {
		at := s.Start
		prompts := int64(0)
		for _, c := range s.Chunks {
			prompts += int64(c.Tokens)
		}
		for i := range s.Steps {
			end := at.Add(s.First + sim.Duration(i)*s.Inc)
			want = append(want, fmt.Sprint(s.Replica, s.Serial+i, ns(at), ns(end), s.Decodes, prompts))
			at = end
		}
	}
	for _, id := range tr.order {
		if l := tr.lines[id]; l.name == "steps" {
			for _, s := range l.slices {
				got = append(got, fmt.Sprint(tr.lines[tr.lines[l.parent].parent].pid-1, s.args["step"], s.from, s.to, s.args["decode_tokens"], s.args["prefill_tokens"]))
			}
		}
	}
	if diff := cmp.Diff(sortedText(want), sortedText(got)); diff != "" {
		t.Fatal(diff)
	}
	for _, l := range tr.under("engine") {
		if n := len(l.values); l.counter && n > 0 && l.values[n-1] != 0 && !unfinished(r) {
			t.Fatalf("%s ends at %d", l.name, l.values[n-1])
		}
	}
}

// unfinished tells whether the run ended before its requests did.
func unfinished(r *record) bool {
	for _, q := range r.requests {
		if q.Outcome == observe.Unfinished {
			return true
		}
	}
	return false
}

// sortedText returns lines in order.
func sortedText(list []string) []string {
	lines := append([]string{}, list...)
	for i := range lines { // the lists are short
		for j := i; j > 0 && lines[j] < lines[j-1]; j-- {
			lines[j], lines[j-1] = lines[j-1], lines[j]
		}
	}
	return lines
}

// checkRequests holds that the requests are there, with their phases and chunks.
func checkRequests(t *rapid.T, tr *trace, r *record) {
	tracks := map[int64]*line{}
	for _, l := range tr.under("requests") {
		if len(l.slices) == 0 || l.slices[0].name != "request" || tracks[l.slices[0].args["id"].(int64)] != nil {
			t.Fatalf("track %q: %v", l.name, l.slices)
		}
		tracks[l.slices[0].args["id"].(int64)] = l
	}
	if len(tracks) != len(r.requests) {
		t.Fatalf("%d tracks of %d requests", len(tracks), len(r.requests))
	}
	chunks := map[int64][]observe.Chunk{}
	ends := map[int64]sim.Time{}
	for _, q := range r.requests {
		ends[q.ID] = q.End
	}
	for _, s := range r.steps {
		for _, c := range s.Chunks {
			if ends[c.ID] > s.Start { // otherwise it had left when the step was planned
				chunks[c.ID] = append(chunks[c.ID], c)
			}
		}
	}
	for _, q := range r.requests {
		l := tracks[q.ID]
		end := q.End
		if q.Outcome == observe.Completed {
			end = end.Add(q.Response)
		}
		whole := l.slices[0]
		if whole.from != ns(q.Arrival) || whole.to != ns(end) || whole.args["outcome"] != q.Outcome.String() || whole.args["output_tokens"] != int64(q.Output) {
			t.Fatalf("%+v is drawn as %+v", q, whole)
		}
		i := 0
		for _, s := range l.slices {
			if s.name == "chunk" {
				if want := chunks[q.ID]; i == len(want) || s.args["from_token"] != int64(want[i].Start) || s.args["tokens"] != int64(want[i].Tokens) {
					t.Fatalf("chunk %d of %+v is drawn as %+v", i, want, s)
				}
				i++
			}
			if s.name == "decode" && (s.from != ns(q.First) || s.to != ns(q.End)) || s.name == "queue" && s.from != ns(q.Sent) {
				t.Fatalf("%+v has a phase %+v", q, s)
			}
		}
		if i != len(chunks[q.ID]) {
			t.Fatalf("%d of %d chunks of request %d are drawn", i, len(chunks[q.ID]), q.ID)
		}
		lost := 0
		for _, s := range l.slices {
			if s.name == "preempted" {
				lost++
			}
		}
		if lost > int(q.Preemptions) {
			t.Fatalf("request %d is preempted %d times, and drawn so %d", q.ID, q.Preemptions, lost)
		}
	}
}

// checkDelays holds that what prompts delayed sums to what blame charges.
func checkDelays(t *rapid.T, tr *trace, r *record) {
	var want sim.Duration
	parts := map[int64]float64{}
	b := blame.New(blame.Options{Each: func(l *blame.Life) error {
		all := l.Parts()
		want += all[blame.DecodeSlowed] + all[blame.Stalled]
		for _, d := range all {
			parts[l.Request.ID] += d.Milliseconds()
		}
		return nil
	}})
	r.replay(t, b)
	if _, err := b.Report(); err != nil {
		t.Fatal(err)
	}
	got := 0.0
	delays := append(tr.named("delayed by prompts"), tr.named("stalled by prompts")...)
	for _, s := range delays {
		got += s.args["by_ms"].(float64)
		if len(s.ends) > int(s.args["prompts"].(int64)) {
			t.Fatalf("%+v: more flows than prompts", s)
		}
	}
	// A delay of less than 1 ns is left out.
	if math.Abs(got-want.Milliseconds()) > 1e-6*float64(1+len(delays)+int(tr.steps())) {
		t.Fatalf("%v ms of delays are drawn of %v", got, want)
	}
	for _, s := range tr.named("request") {
		sum := 0.0
		for _, key := range []string{"to_first_token_ms", "after_first_token_ms"} {
			dict, _ := s.args[key].(map[string]any)
			for _, v := range dict {
				sum += v.(float64)
			}
		}
		if id := s.args["id"].(int64); math.Abs(sum-parts[id]) > 1e-9*(1+sum) {
			t.Fatalf("request %d: causes of %v ms, want %v", id, sum, parts[id])
		}
	}
}

// steps returns the number of steps that are drawn.
func (t *trace) steps() (n int) {
	for _, l := range t.under("engine") {
		n += len(l.slices)
	}
	return n
}

// Law: a trace of ranges of a run is well formed, and has of the whole the steps and
// the requests that lie in them.
func TestRangesAreDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, of := simulated(t, drawnSettings(t)...)
		from := rapid.Int64Range(0, 3000).Draw(t, "from")
		to := from + rapid.Int64Range(1, 3000).Draw(t, "lasts")
		tr, told, _ := traced(t, r, of, fmt.Sprintf("%dms-%dms", from, to))
		a, b := sim.Time(from)*sim.Time(sim.Millisecond), sim.Time(to)*sim.Time(sim.Millisecond)
		steps, delayed := int64(0), map[int64]bool{}
		for _, s := range r.steps {
			at := s.Start
			for i := range s.Steps {
				end := at.Add(s.First + sim.Duration(i)*s.Inc)
				if at < b && end > a {
					steps++
					for _, c := range s.Chunks {
						delayed[c.ID] = true
					}
				}
				at = end
			}
		}
		requests := int64(0)
		for _, q := range r.requests {
			end := q.End
			if q.Outcome == observe.Completed {
				end = end.Add(q.Response)
			}
			if q.Arrival < b && end > a {
				requests++
			} else if delayed[q.ID] {
				requests++ // cancelled within a step that is drawn
			}
		}
		if told.DrawnSteps != steps || int64(tr.steps()) != steps {
			t.Fatalf("%+v and %d slices, want %d steps", told, tr.steps(), steps)
		}
		if n := int64(len(tr.under("requests"))); n != told.DrawnRequests || n < requests-int64(len(delayed)) || n > requests {
			t.Fatalf("%+v and %d tracks, want %d requests", told, n, requests)
		}
		if got := len(tr.named("drawn")) + len(tr.named("left out")); got > 3 || told.Windows != 1 {
			t.Fatalf("%d parts, %+v", got, told)
		}
	})
}

// TestWorstRequestsAreDrawn holds that of the default scenario those requests are
// drawn that missed each limit by most, and that the trace says so.
func TestWorstRequestsAreDrawn(t *testing.T) {
	r, of := simulated(t, "requests=3000")
	tr, told, _ := traced(t, r, of, "auto")
	if told.Whole() || told.DrawnRequests > 300 {
		t.Fatalf("%+v", told)
	}
	drawn := map[int64]*slice{}
	for _, s := range tr.named("request") {
		drawn[s.args["id"].(int64)] = s
	}
	for i := range of.SLO.Goodput {
		l := &of.SLO.Goodput[i]
		worst, at := sim.Duration(0), int64(-1)
		for j := range r.requests {
			if d, missed := l.Missed(&r.requests[j]); missed && d > worst {
				worst, at = d, r.requests[j].ID
			}
		}
		if at < 0 || drawn[at] == nil || !strings.Contains(fmt.Sprint(drawn[at].args["missed"]), l.String()) {
			t.Errorf("%s: the worst is %d, %+v", l.String(), at, drawn[at])
		}
		if !strings.Contains(fmt.Sprint(whys(tr)), fmt.Sprintf("request %d missed %s", at, l.String())) {
			t.Errorf("%s: %v", l.String(), whys(tr))
		}
	}
	run := tr.named("run")[0]
	if run.args["requests"] != int64(3000) || run.args["drawn_requests"] != told.DrawnRequests || run.args["drawn_steps"] != told.DrawnSteps {
		t.Errorf("%+v", run.args)
	}
	if n := len(tr.named("left out")); n == 0 {
		t.Error("nothing is said to be left out")
	}
	// A run that is short is drawn whole, unless the worst are asked for.
	r, of = simulated(t, "requests=200")
	if _, told, _ := traced(t, r, of, "auto"); !told.Whole() {
		t.Errorf("%+v", told)
	}
	if _, told, _ := traced(t, r, of, "worst=1"); told.Whole() {
		t.Errorf("%+v", told)
	}
}

// whys returns why parts of a run are drawn.
func whys(tr *trace) (list []any) {
	for _, s := range tr.named("drawn") {
		list = append(list, s.args["why"])
	}
	return list
}

// TestChoicesThatAreWrong holds the messages.
func TestChoicesThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":         "is no range of time",
		"some":     "is no range of time",
		"5s-1s":    "ends before it begins",
		"1s-2s,":   "is no range of time",
		"1-2":      "a number needs a unit",
		"worst=0":  "from 1 to 64",
		"worst=x":  "from 1 to 64",
		"-1s-3s":   "not a duration",
		"worst=65": "from 1 to 64",
	} {
		if _, err := perfetto.ParseChoice(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Law: whatever names are, the trace is well formed, and every text can be shown.
func TestHostileNames(t *testing.T) {
	names := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\x00", "\u202Eevil\u2066", "\xff\xfe", "\x1b[31m", "</script>", strings.Repeat("long ", 1000)}))
	r, of := simulated(t, "requests=5", "rate_per_s=100")
	rapid.Check(t, func(t *rapid.T) {
		name := names.Draw(t, "name")
		for i := range r.requests {
			q := &r.requests[i]
			q.Name, q.Class, q.Reason = name, name, name
		}
		for _, x := range r.all {
			if q, is := x.(*observe.Request); is {
				q.Name, q.Class, q.Reason = name, name, name
			}
		}
		of.Header.Model = name
		tr, _, file := traced(t, r, of, "all")
		for _, s := range append(tr.named("request"), tr.named("run")...) {
			for _, v := range s.args {
				if text, is := v.(string); is && (strings.ContainsAny(text, "\x00\x1b\n\r\u202e\u2066\u2028") || len([]rune(text)) > 1000) {
					t.Fatalf("%q of %q", text, name)
				}
			}
		}
		if len(file) > 1<<20 {
			t.Fatalf("%d bytes", len(file))
		}
	})
}

// full is a disk without room after some bytes.
type full struct{ left int }

// Write implements io.Writer.
func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// TestErrorsAreTold writes to a disk without room.
func TestErrorsAreTold(t *testing.T) {
	r, of := simulated(t, "requests=3")
	w := perfetto.New(&full{10_000}, of, perfetto.Plan{})
	var err error
	for i := range r.steps {
		if err = w.Step(&r.steps[i]); err != nil {
			break
		}
	}
	if err != io.ErrShortWrite {
		t.Fatal(err)
	}
}
