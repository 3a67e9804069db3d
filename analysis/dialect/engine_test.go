package dialect_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// list is a Source of given requests.
type list struct{ requests []workload.Request }

func (l *list) Next() (workload.Request, error) {
	if len(l.requests) == 0 {
		return workload.Request{}, io.EOF
	}
	r := l.requests[0]
	l.requests = l.requests[1:]
	return r, nil
}

// slope is a cost model in which a step takes longer with every token.
type slope struct{}

func (slope) Step(w gpu.Work) sim.Duration {
	return sim.Millisecond + sim.Duration(w.PrefillTokens)*100*sim.Microsecond + sim.Duration(w.DecodeKV)*997*sim.Nanosecond
}

func (c slope) Decode(seqs, kv int64) gpu.Progression {
	first := c.Step(gpu.Work{DecodeSeqs: seqs, DecodeKV: kv})
	return gpu.Progression{First: first, Inc: sim.Duration(seqs) * 997 * sim.Nanosecond, Steps: 1 << 20}
}

// drawRun draws a run of any engine, in which clients may give up if hasty.
func drawRun(t *rapid.T, hasty bool) engine.Config {
	c := rapid.SampledFrom(scheduler.Presets()).Draw(t, "preset").Config
	c.MaxNumSeqs, c.MaxModelLen, c.BlockSize = rapid.Int32Range(1, 6).Draw(t, "max_num_seqs"), 96, 4
	c.MaxNumBatchedTokens = rapid.Int32Range(96, 128).Draw(t, "max_num_batched_tokens")
	c.NumGPUBlocks = rapid.Int64Range(26, 60).Draw(t, "num_gpu_blocks")
	if c.Policy == scheduler.SGLang { // which counts KV memory in tokens
		c.NumGPUBlocks, c.BlockSize = c.NumGPUBlocks*int64(c.BlockSize), 1
	}
	var requests []workload.Request
	arrival := sim.Time(0)
	for i := range rapid.IntRange(1, 25).Draw(t, "requests") {
		arrival += sim.Time(rapid.Int64Range(0, 30).Draw(t, "gap")) * sim.Time(sim.Millisecond)
		r := workload.Request{
			ID: int64(i), Arrival: arrival,
			Prompt: rapid.Int32Range(1, 100).Draw(t, "prompt"), Output: rapid.Int32Range(1, 40).Draw(t, "output"),
		}
		if hasty && rapid.Bool().Draw(t, "hasty") {
			r.Cancel = sim.Duration(rapid.Int64Range(1, 90_000).Draw(t, "patience")) * sim.Microsecond
		}
		requests = append(requests, r)
	}
	config := engine.Config{
		Scheduler: c, Cost: slope{}, Source: &list{requests}, Detail: true, Seed: 1,
		RequestDelay:  workload.ConstantDelay(sim.Duration(rapid.Int64Range(0, 3).Draw(t, "request_ms")) * sim.Millisecond),
		ResponseDelay: workload.ConstantDelay(sim.Duration(rapid.Int64Range(0, 3).Draw(t, "response_ms")) * sim.Millisecond),
	}
	if rapid.Bool().Draw(t, "ends early") {
		config.Horizon = sim.Duration(rapid.Int64Range(1, 400).Draw(t, "horizon_ms")) * sim.Millisecond
	}
	return config
}

// observed runs c and returns its report and its calls in dialects.
func observed(t *rapid.T, c engine.Config, ds []*dialect.Dialect, o dialect.Options, more ...transcript.Sink) (*analysis.Report, []dialect.Result) {
	o.Facts = transcript.Everything()
	sink := dialect.New(ds, o)
	written, err := transcript.NewTranscriber(append(transcript.Tee{sink}, more...), transcript.Streaming{})
	if err != nil {
		t.Fatal(err)
	}
	summary := analysis.NewSummary(analysis.Options{Percentiles: o.Percentiles, SLO: analysis.SLO{Goodput: o.Goodput}})
	c.Sink = observe.Tee{summary, written}
	if err := errors.Join(engine.Run(context.Background(), c), written.Close()); err != nil {
		t.Fatal(err)
	}
	return summary.Report(), sink.Results()
}

// options are percentiles and limits that a law is tried with.
func options(t *rapid.T) dialect.Options {
	slo, err := analysis.ParseSLO("ttft <= 20ms, tpot < 3.5ms, e2e <= 60ms for outputs below 10 tokens, max_gap <= 9ms for outputs over 4")
	if err != nil {
		t.Fatal(err)
	}
	return dialect.Options{Percentiles: analysis.TailPercentiles(), Goodput: slo.Goodput}
}

// Law: the dialect servesim says what the report of the run says, to the
// picosecond. Only ITL may miss gaps: those that end in a step during which the
// client gave up, which the engine made and nobody got.
func TestServesimIsTheReport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hasty := rapid.Bool().Draw(t, "clients give up")
		own, err := dialect.Find("servesim")
		if err != nil {
			t.Fatal(err)
		}
		report, results := observed(t, drawRun(t, hasty), []*dialect.Dialect{own}, options(t))
		r := &results[0]
		for key, want := range map[string]analysis.Distribution{
			"ttft": report.TTFT, "tpot": report.TPOT, "max_gap": report.MaxGap, "e2e": report.E2E, "itl": report.ITL,
		} {
			v, ok := r.Key(key)
			if !ok || v.Need != "" {
				t.Fatalf("no %s: %+v", key, v)
			}
			if key == "itl" && hasty {
				if missing, most := want.Count-v.Count, report.Counts.Of(observe.Cancelled); missing < 0 || missing > most {
					t.Fatalf("ITL has %d gaps of %d, but only %d clients gave up", v.Count, want.Count, most)
				}
				continue
			}
			if diff := cmp.Diff(want, v.Distribution, cmp.AllowUnexported(analysis.Percentile{})); diff != "" {
				t.Fatalf("%s (-report +dialect):\n%s", key, diff)
			}
		}
		for key, want := range map[string]float64{
			"requests_per_s": report.Throughput.Requests, "output_tokens_per_s": report.Throughput.OutputTokens,
			"tokens_per_s": report.Throughput.TotalTokens,
		} {
			if v, ok := r.Rate(key); !ok || v.Need != "" || !same(v.Value, want) {
				t.Fatalf("%s is %+v, the report has %v", key, v, want)
			}
		}
		g, a := r.Goodput, report.Goodput
		if g.Good != a.Good || g.Of != a.Requests || !same(g.PerSecond, a.PerSecond) {
			t.Fatalf("goodput is %+v, the report has %+v", g, a)
		}
	})
}

// same tells whether two numbers are equal or both no data.
func same(a, b float64) bool { return a == b || a != a && b != b }

// copies keeps the calls of a run.
type copies struct{ calls []transcript.Call }

func (c *copies) Call(x *transcript.Call) error {
	one := *x
	one.Chunks = append([]transcript.Chunk(nil), x.Chunks...)
	c.calls = append(c.calls, one)
	return nil
}

// Law: the order of the calls doesn't matter, and neither does which dialects are
// computed beside one.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var kept copies
		_, want := observed(t, drawRun(t, true), dialect.All(), options(t), &kept)
		shuffled := rapid.Permutation(kept.calls).Draw(t, "order")
		for i, d := range dialect.All() {
			o := options(t)
			o.Facts = transcript.Everything()
			alone := dialect.New([]*dialect.Dialect{d}, o)
			for k := range shuffled {
				if err := alone.Call(&shuffled[k]); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want[i], alone.Results()[0], equal()...); diff != "" {
				t.Fatalf("%s (-together, in order +alone, shuffled):\n%s", d.Name, diff)
			}
		}
	})
}

// equal are options that compare results.
func equal() []cmp.Option {
	return []cmp.Option{cmp.AllowUnexported(analysis.Percentile{}), cmp.Comparer(func(a, b float64) bool { return same(a, b) })}
}
