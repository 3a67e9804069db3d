package still

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"servesim/analysis"
	"servesim/report/figure"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// plain is a cost model that no GPU profile changes: 10 ms a step, and 40 µs for each
// token of a prompt.
type plain struct{}

func (plain) Step(w gpu.Work) sim.Duration {
	return 10*sim.Millisecond + sim.Duration(w.PrefillTokens)*40*sim.Microsecond
}

func (plain) Decode(_, _ int64) gpu.Progression {
	return gpu.Progression{First: 10 * sim.Millisecond, Steps: 1 << 20}
}

// chats is a source of 60 requests, a quarter of a second apart, of which every
// twentieth has a prompt of 12,000 tokens or more.
type chats struct{ n int64 }

func (c *chats) Next() (workload.Request, error) {
	i := c.n
	if c.n++; i == 60 {
		return workload.Request{}, io.EOF
	}
	r := workload.Request{ID: i, Arrival: sim.Time(i) * 250 * sim.Time(sim.Millisecond), Prompt: int32(200 + i*37%900), Output: int32(20 + i*13%60)}
	if i%20 == 9 {
		r.Prompt = int32(12_000 + 300*i)
	}
	return r, nil
}

// served returns the run of chats under a budget of tokens, chunked or not.
func served(tb testing.TB, name string, budget int32, chunked bool) figure.Run {
	tb.Helper()
	p, err := scheduler.FindPreset("vllm@0.20")
	if err != nil {
		tb.Fatal(err)
	}
	c := p.Config
	c.MaxNumSeqs, c.MaxModelLen, c.MaxNumBatchedTokens, c.EnableChunkedPrefill, c.NumGPUBlocks = 64, 40_000, budget, chunked, 4_000
	slo, err := analysis.ParseSLO("ttft:600 tpot:30, itl p99 <= 100ms")
	if err != nil {
		tb.Fatal(err)
	}
	r := figure.Run{Name: name, Latencies: new(figure.Latencies), History: figure.NewHistory(c.NumGPUBlocks), SLO: slo}
	err = engine.Run(context.Background(), engine.Config{Scheduler: c, Cost: plain{}, Source: &chats{}, Sink: observe.Tee{r.Latencies, r.History}, Detail: true})
	if err == nil {
		err = r.History.Finish()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// swept returns the table of testdata/results.json.
func swept(tb testing.TB) *figure.Table {
	tb.Helper()
	text, err := os.ReadFile("testdata/results.json")
	if err != nil {
		tb.Fatal(err)
	}
	t, err := figure.ReadTable(strings.NewReader(string(text)), "results.json")
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// drawn returns a figure of each kind, by name.
func drawn(tb testing.TB) (names []string, list []*figure.Figure) {
	tb.Helper()
	runs := []figure.Run{served(tb, "whole prompts", 40_000, false), served(tb, "chunks of 512", 512, true)}
	table := swept(tb)
	for _, k := range figure.Kinds() {
		var f *figure.Figure
		var err error
		switch {
		case !k.Table:
			f, err = k.OfRuns(nil, runs)
		case k.Name == "chunk-frontier":
			one, whereErr := table.Where([]string{"rate_per_s=4"})
			if whereErr != nil {
				tb.Fatal(whereErr)
			}
			f, err = k.OfTable(one, nil)
		default:
			f, err = k.OfTable(table, nil)
		}
		if err != nil {
			tb.Fatalf("%s: %v", k.Name, err)
		}
		names, list = append(names, k.Name), append(list, f)
	}
	return names, list
}
