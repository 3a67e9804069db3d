package figure

import (
	"testing"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim/observe"
)

// simulated returns a run of the default scenario with settings.
func simulated(tb testing.TB, name string, settings ...string) Run {
	tb.Helper()
	src := scenario.Source{}
	for _, text := range settings {
		s, err := scenario.ParseSetting(text)
		if err != nil {
			tb.Fatal(err)
		}
		src.Settings = append(src.Settings, s)
	}
	p, err := scenario.Load(src)
	if err != nil {
		tb.Fatal(err)
	}
	r := Run{Name: name, Latencies: new(Latencies), History: NewHistory(p.Config.NumGPUBlocks * p.Replicas()), SLO: p.SLO}
	said, err := p.Simulate(tb.Context(), scenario.Options{
		Percentiles: analysis.TailPercentiles(), Sinks: []observe.Sink{r.Latencies, r.History},
	})
	if err != nil {
		tb.Fatal(err)
	}
	if err := r.History.Finish(); err != nil {
		tb.Fatal(err)
	}
	r.Report = said.Report
	return r
}

// chunkedOrNot returns a run without chunked prefill and one with.
func chunkedOrNot(tb testing.TB) []Run {
	tb.Helper()
	return []Run{
		simulated(tb, "unchunked", "requests=800", "enable_chunked_prefill=false"),
		simulated(tb, "chunks of 512", "requests=800", "max_num_batched_tokens=512"),
	}
}

// figures returns one of each kind that is made of runs.
func figures(runs []Run) []*Figure {
	return []*Figure{
		ECDF(Metrics(), runs), CCDF(Metrics(), runs), Timeline(runs), Stalls(runs), State(runs), Batch(runs),
		Blame([]Metric{TTFT, TPOT, WorstGap, E2E}, runs),
	}
}
