package analysis

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/observe"
)

const ms = sim.Time(sim.Millisecond)

// request is a completed request: arrival, network, queue, prefill and the gap
// between its output tokens, all in milliseconds.
func request(id int64, at [5]int64, output int32) *observe.Request {
	r := &observe.Request{
		ID: id, Arrival: sim.Time(at[0]) * ms, Prompt: 100, Wanted: output, Output: output,
		Computed: 100 + int64(output) - 1,
	}
	r.Sent = r.Arrival + sim.Time(at[1])*ms
	r.Scheduled = r.Sent + sim.Time(at[2])*ms
	r.First = r.Scheduled + sim.Time(at[3])*ms
	r.Last = r.First + sim.Time(at[4])*ms*sim.Time(output-1)
	r.End = r.Last
	if output > 1 {
		r.MaxGap = sim.Duration(at[4]) * sim.Millisecond
	}
	return r
}

// drawRequest draws a request of any outcome that keeps to the rules of records.
func drawRequest(t *rapid.T, id int64) *observe.Request {
	span := rapid.Int64Range(0, 3e12)
	r := &observe.Request{ID: id, Outcome: rapid.SampledFrom(observe.Outcomes()).Draw(t, "outcome")}
	r.Arrival = sim.Time(span.Draw(t, "arrival"))
	r.Sent, r.Scheduled, r.First, r.Last = observe.Never, observe.Never, observe.Never, observe.Never
	r.End = r.Arrival + sim.Time(span.Draw(t, "stay"))
	r.Prompt = rapid.Int32Range(1, 5000).Draw(t, "prompt")
	r.Wanted = rapid.Int32Range(1, 500).Draw(t, "wanted")
	r.Preemptions = rapid.Int32Range(0, 2).Draw(t, "preemptions")
	if r.Outcome != observe.Completed {
		r.Reason = rapid.SampledFrom([]string{"", "too long", "no blocks"}).Draw(t, "reason")
		return r
	}
	r.Sent = r.Arrival + sim.Time(span.Draw(t, "network"))
	r.Scheduled = r.Sent + sim.Time(span.Draw(t, "queue"))
	r.First = r.Scheduled + sim.Time(span.Draw(t, "prefill"))
	r.Last, r.Output = r.First, rapid.Int32Range(1, r.Wanted).Draw(t, "output")
	if r.Output > 1 {
		r.Last += sim.Time(span.Draw(t, "decode"))
		r.MaxGap = sim.Duration(rapid.Int64Range(int64(r.Last-r.First)/int64(r.Output-1), int64(r.Last-r.First)).Draw(t, "gap"))
	}
	r.End, r.Response = r.Last, sim.Duration(span.Draw(t, "response"))
	return r
}

// feed gives requests to a new Summary.
func feed(t interface{ Fatal(...any) }, o Options, list ...*observe.Request) *Summary {
	s := NewSummary(o)
	for _, r := range list {
		if err := s.Request(r); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestPartsSumToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []*observe.Request
		for i := range rapid.IntRange(0, 50).Draw(t, "n") {
			list = append(list, drawRequest(t, int64(i)))
		}
		r := feed(t, Options{}, list...).Report()
		var byOutcome int64
		for _, o := range observe.Outcomes() {
			byOutcome += r.Counts.Of(o)
		}
		if byOutcome != r.Counts.Requests || r.Counts.Requests != int64(len(list)) {
			t.Fatalf("outcomes sum to %d of %d, %d given", byOutcome, r.Counts.Requests, len(list))
		}
		done := r.Counts.Of(observe.Completed)
		for _, d := range []Distribution{r.TTFT, r.Network, r.Queue, r.Prefill, r.E2E} {
			if d.OK != (done > 0) || d.Count != done {
				t.Fatalf("%+v for %d completed requests", d, done)
			}
		}
		// Each mean is within half a picosecond of the true one.
		if off := r.TTFT.Mean - r.Network.Mean - r.Queue.Mean - r.Prefill.Mean; off < -2 || off > 2 {
			t.Fatalf("TTFT is off its parts by %d ps", off)
		}
		whole := r.Network.Mean + r.Queue.Mean + r.Prefill.Mean + r.MeanDecode + r.MeanResponse
		if off := r.E2E.Mean - whole; off < -3 || off > 3 {
			t.Fatalf("E2E is off its parts by %d ps", off)
		}
	})
}

func TestSummaryRefusesBrokenRecords(t *testing.T) {
	breaks := []func(*observe.Request){
		func(r *observe.Request) { r.Arrival = -5 },
		func(r *observe.Request) { r.Sent = r.Arrival - 1 },
		func(r *observe.Request) { r.Scheduled = observe.Never },
		func(r *observe.Request) { r.First = r.Last + 1 },
		func(r *observe.Request) { r.End = r.Last - 1 },
		func(r *observe.Request) { r.Response = -1 },
		func(r *observe.Request) { r.Response = sim.MaxDuration },
		func(r *observe.Request) { r.Output = 0 },
		func(r *observe.Request) { r.MaxGap = -1 },
		func(r *observe.Request) { r.MaxGap = r.Last.Sub(r.First) + 1 },
		func(r *observe.Request) { r.Outcome = 77 },
		func(r *observe.Request) { r.Outcome, r.End = observe.TimedOut, r.Arrival-1 },
		func(r *observe.Request) { r.Outcome, r.Arrival = observe.Rejected, observe.Never },
	}
	for i, spoil := range breaks {
		r := request(3, [5]int64{10, 1, 2, 3, 4}, 5)
		spoil(r)
		if err := NewSummary(Options{}).Request(r); err == nil || !strings.Contains(err.Error(), "request 3") {
			t.Errorf("case %d: error %v", i, err)
		}
	}
	for i, step := range []observe.StepRun{
		{Steps: 0}, {Steps: 1, First: -1}, {Steps: 1, Start: -1}, {Steps: 3, First: 5, Inc: -3},
		{Steps: 1, Waiting: -1}, {Steps: 1 << 40, First: 1 << 40}, {Steps: 2, First: 1, Start: sim.MaxTime},
		{Steps: 1 << 40, First: 1, Inc: 1 << 40}, {Steps: 2, First: 1, Inc: -1 << 63}, {Steps: 1, Replica: -1},
		{Steps: 1, First: 1, Gaps: []observe.Gaps{{}}},
	} {
		if err := NewSummary(Options{}).Step(&step); err == nil || !strings.Contains(err.Error(), "replica") {
			t.Errorf("step %d: error %v", i, err)
		}
	}
}

func TestStepDurationAgreesWithTheRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := observe.StepRun{
			Steps: rapid.Int64Range(1, 1000).Draw(t, "steps"),
			First: sim.Duration(rapid.Int64Range(0, 1e12).Draw(t, "first")),
			Inc:   sim.Duration(rapid.Int64Range(-1e6, 1e9).Draw(t, "inc")),
		}
		last := r.First + r.Inc*sim.Duration(r.Steps-1)
		got, ok := duration(&r)
		if ok != (last >= 0) || ok && sim.Duration(got) != r.Duration() {
			t.Fatalf("%d, %v; the record says %d with a last step of %d", got, ok, r.Duration(), last)
		}
	})
}

// Three requests arrive at 0, 100 and 200 ms. The first makes 3 tokens 10 ms
// apart after a network delay of 5, a queue of 20 and a prefill of 25 ms; the
// second makes one token after 100 ms; the third is rejected at once.
func ExampleSummary() {
	limits, _ := ParseSLO("ttft:60 tpot:10 e2el:70")
	s := NewSummary(Options{SLO: limits})
	_ = s.Request(request(0, [5]int64{0, 5, 20, 25, 10}, 3))
	_ = s.Request(request(1, [5]int64{100, 0, 0, 100, 0}, 1))
	_ = s.Request(&observe.Request{ID: 2, Outcome: observe.Rejected, Reason: "too long", Arrival: 200 * ms, End: 200 * ms})
	r := s.Report()
	fmt.Println("TTFT", r.TTFT.Mean, r.TTFT.Quantiles[0].Value, "of", r.TTFT.Count)
	fmt.Println("TPOT", r.TPOT.Mean, "of", r.TPOT.Count)
	fmt.Println("E2E", r.E2E.Min, r.E2E.Max)
	fmt.Println("ITL", r.ITL.OK)
	fmt.Printf("span %v, %.0f requests/s, %.0f tokens/s\n", r.Span, r.Throughput.Requests, r.Throughput.OutputTokens)
	share, _ := r.Goodput.Share()
	fmt.Printf("good %d of %d (%.3f), binding %v\n", r.Goodput.Good, r.Goodput.Requests, share, limits.Goodput[r.Goodput.Binding].Objective)
	// Output:
	// TTFT 75ms 75ms of 2
	// TPOT 10ms of 1
	// E2E 70ms 100ms
	// ITL false
	// span 200ms, 10 requests/s, 20 tokens/s
	// good 1 of 3 (0.333), binding ttft
}
