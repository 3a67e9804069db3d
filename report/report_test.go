package report

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/analysis"
	"servesim/sim"
	"servesim/sim/observe"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

const ms = sim.Time(sim.Millisecond)

// golden compares got with testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); go test ./report -update writes it anew:\n%s", path, diff)
	}
}

// run gives sinks a small run: 200 requests 600 ms apart, every twentieth with a
// prompt that stalls the others by slow, two rejected, one timed out.
func run(t *testing.T, slow sim.Duration, sinks ...observe.Sink) {
	t.Helper()
	sink := observe.Tee(sinks)
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range int64(200) {
		r := observe.Request{ID: i, Arrival: sim.Time(i) * 600 * ms, Prompt: 900, Wanted: 21, Output: 21, Computed: 920}
		r.Class = []string{"chat", "code"}[i%2]
		if i%5 == 0 {
			r.Wanted, r.Output = 121, 121
		}
		gap, steps := 10*sim.Millisecond+sim.Duration(i)*10*sim.Microsecond, int64(r.Output-1)
		r.Sent = r.Arrival + 2*ms
		r.Scheduled = r.Sent + sim.Time(i%7)*ms/2
		r.First = r.Scheduled + 30*ms
		r.Last = r.First.Add(gap * sim.Duration(steps))
		r.MaxGap, r.Response = gap, 2*sim.Millisecond
		step := observe.StepRun{
			Start: r.First, Steps: steps, First: gap, Decodes: 1, DecodeKV: 920, Running: int32(2 + i%3),
			Waiting: int32(i % 2), BlocksUsed: 60 + i%40, Gaps: []observe.Gaps{{Seqs: 1, Steps: steps, First: gap}},
		}
		if i%20 == 7 {
			r.MaxGap = slow
			r.Last = r.Last.Add(slow - gap)
			step.Gaps = []observe.Gaps{{Seqs: 1, Steps: steps - 1, First: gap}, {Seqs: 1, Steps: 1, First: slow}}
			step.Chunks = []observe.Chunk{{ID: i, Tokens: 900}}
		}
		r.End = r.Last
		switch i {
		case 50, 51:
			r = observe.Request{ID: i, Arrival: r.Arrival, Sent: r.Sent, End: r.Sent, Outcome: observe.Rejected, Reason: "prompt of 9,000 tokens is above max_model_len 8,192",
				Scheduled: observe.Never, First: observe.Never, Last: observe.Never, Prompt: 9000, Wanted: 21}
		case 60:
			r.Outcome, r.Output, r.Preemptions, r.Recomputed = observe.TimedOut, 5, 2, 904
		}
		check(sink.Step(&step))
		check(sink.Request(&r))
	}
}

// limits are those of the golden reports.
func limits(t *testing.T) analysis.SLO {
	t.Helper()
	g, err := analysis.ParseSLO("ttft:34 tpot:11.5 e2el:2000 maxgap:100, e2e <= 260ms for outputs below 300 tokens for class chat, ttft p99 < 40ms, itl p99 <= 5ms, e2e p99.9 <= 1s, goodput >= 40 %")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// summary is the report of a run with all there is to say.
func summary(t *testing.T) *analysis.Report {
	t.Helper()
	ps, err := analysis.ParsePercentiles("50,90,99,99.9,max")
	if err != nil {
		t.Fatal(err)
	}
	s := analysis.NewSummary(analysis.Options{
		Percentiles: ps, SLO: limits(t), KVBlocks: 400, GPUs: 8,
		Header: observe.Header{Version: "1.2.3", Seed: 7, Scenario: "0123abcd", Profile: "h100-sxm", Model: "llama-3.1-8b", Policy: "vllm@0.20"},
	})
	run(t, 300*sim.Millisecond, s)
	return s.Report()
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, summary(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.txt", b.Bytes())
}

func TestTextOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, analysis.NewSummary(analysis.Options{SLO: limits(t)}).Report()); err != nil {
		t.Fatal(err)
	}
	golden(t, "empty.txt", b.Bytes())
}

// full is a writer on a full disk.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestTextReportsAFullDisk(t *testing.T) {
	if err := Text(full{}, summary(t)); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

func TestNumbersReadWell(t *testing.T) {
	for want, d := range map[string]sim.Duration{
		"0": 0, "<0.001": 1, "0.001": sim.Microsecond, "9.999": 9_999 * sim.Microsecond, "10.00": 9_999_600 * sim.Nanosecond,
		"99.99": 99_990 * sim.Microsecond, "100.0": 100 * sim.Millisecond, "1,000": 999_960 * sim.Microsecond,
		"12,346": 12_345_678 * sim.Microsecond, "-1.500": -1500 * sim.Microsecond,
	} {
		if got := milliseconds(d); got != want {
			t.Errorf("%v prints as %s, want %s", d, got, want)
		}
	}
	for want, x := range map[string]float64{"0.0 %": 0, "<0.1 %": 1e-9, "50.0 %": 0.5, ">99.9 %": 0.9999, "100.0 %": 1} {
		if got := Percent(x); got != want {
			t.Errorf("%v prints as %s, want %s", x, got, want)
		}
	}
	for want, n := range map[string]int64{"0": 0, "-1": -1, "999": 999, "-1,000": -1000, "1,234,567": 1234567} {
		if got := analysis.Grouped(n); got != want {
			t.Errorf("%d prints as %s, want %s", n, got, want)
		}
	}
}
