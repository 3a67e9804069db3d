package dialect

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"servesim/analysis"
	"servesim/analysis/transcript"
	"servesim/sim"
)

// The goodput of the three requests with TTFT ≤ 600 ms and TPOT ≤ 10 ms, which
// each tool tells differently.
func TestThreeRequestsGoodput(t *testing.T) {
	limits, err := analysis.ParseSLO("ttft:600 tpot:10")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dialect  string
		good, of int64
		rate     string
		option   string
	}{
		{"vllm", 2, 2, "0.909", "--goodput ttft:600 tpot:10"},
		{"genai-perf", 1, 2, "0.833", "--goodput time_to_first_token:600 inter_token_latency:10"},
		{"aiperf", 1, 3, "0.833", `--goodput "time_to_first_token:600 inter_token_latency:10"`},
		{"inference-perf", 1, 2, "0.833", "report.goodput.constraints: {ttft: 0.6, tpot: 0.01}"},
		{"distserve", 2, 2, "0.909", "ttft <= 0.6, tpot <= 0.01"},
		{"blis", 2, 3, "0.909", "--slo-ttft default=600ms --slo-itl default=10ms"},
		{"servesim", 2, 3, "0.909", "--set slo.goodput='ttft <= 600ms, tpot <= 10ms'"},
	} {
		g := measured(t, c.dialect, three(), Options{Goodput: limits.Goodput}, nil).Goodput
		if g == nil || g.Need != "" || g.Good != c.good || g.Of != c.of || g.Option != c.option || fmt.Sprintf("%.3f", g.PerSecond) != c.rate {
			t.Errorf("%s: %+v, want %+v", c.dialect, g, c)
		}
	}
	if g := measured(t, "inference-perf", three(), Options{Goodput: limits.Goodput}, nil).Goodput; math.Abs(g.TokensPerSecond-250) > 1e-9 {
		t.Errorf("inference-perf's token goodput is %v, want (200 + 100)/1.2", g.TokensPerSecond)
	}
	for _, name := range []string{"sglang", "llmperf", "guidellm", "mlperf-endpoints", "nim", "anyscale"} {
		if g := measured(t, name, three(), Options{Goodput: limits.Goodput}, nil).Goodput; g != nil {
			t.Errorf("%s has no goodput, yet %+v", name, g)
		}
	}
	g := measured(t, "mlperf", three(), Options{Goodput: limits.Goodput}, nil).Goodput
	if len(g.Verdicts) != 2 || !g.Verdicts[0].Met || g.Verdicts[0].P99 != 500*ms {
		t.Errorf("mlperf: %+v", g)
	}
}

// MLPerf's limits must be kept below; everybody else's may be reached.
func TestLimitThatIsReached(t *testing.T) {
	limits, err := analysis.ParseSLO("ttft:500")
	if err != nil {
		t.Fatal(err)
	}
	calls := []*transcript.Call{one(1)}
	if g := measured(t, "mlperf", calls, Options{Goodput: limits.Goodput}, nil).Goodput; g.Verdicts[0].Met {
		t.Error("mlperf: a P99 that equals its limit is met")
	}
	if g := measured(t, "vllm", calls, Options{Goodput: limits.Goodput}, nil).Goodput; g.Good != 1 {
		t.Error("vllm: a TTFT that equals its limit is missed")
	}
}

// GenAI-Perf's lists, side by side: the first answer has one token and so no ITL,
// so the second call's ITL of 7 ms stands beside the first one's TTFT of 300 ms,
// and nothing beside the second one's TTFT of 900 ms, which is too long. By number
// it's one good call, though none is good; AIPerf finds none.
func TestListsSideBySide(t *testing.T) {
	limits, err := analysis.ParseSLO("ttft:600 tpot:10")
	if err != nil {
		t.Fatal(err)
	}
	calls := []*transcript.Call{answer(2, 0, 900*ms, 700*ms, 9, 101, 1), answer(1, 0, 300*ms, 0, 9, 1, 1)}
	if g := measured(t, "genai-perf", calls, Options{Goodput: limits.Goodput}, nil).Goodput; g.Good != 1 {
		t.Errorf("genai-perf: %+v, want 1 good", g)
	}
	if g := measured(t, "aiperf", calls, Options{Goodput: limits.Goodput}, nil).Goodput; g.Good != 0 {
		t.Errorf("aiperf: %+v, want none good", g)
	}
}

// MLPerf's limits may come as limits on the run, and only those of its percentile.
func TestMarginalLimits(t *testing.T) {
	slo, err := analysis.ParseSLO("ttft p99 < 500ms, tpot p90 < 1ms, tpot p99 < 8ms")
	if err != nil {
		t.Fatal(err)
	}
	g := measured(t, "mlperf", []*transcript.Call{one(1)}, Options{Run: slo.Run}, nil).Goodput
	want := []Verdict{
		{Objective: analysis.TTFT, Limit: 500 * ms, P99: 500 * ms, OK: true},
		{Objective: analysis.TPOT, Limit: 8 * ms, P99: 7_070_707 * sim.Nanosecond, OK: true, Met: true},
	}
	if !slices.Equal(g.Verdicts, want) {
		t.Errorf("%+v, want %+v", g.Verdicts, want)
	}
	if r := measured(t, "vllm", []*transcript.Call{one(1)}, Options{Run: slo.Run}, nil); r.Goodput != nil {
		t.Errorf("vllm has no limits on percentiles, yet %+v", r.Goodput)
	}
}

// Limits that are below: servesim's may be, on a call's span and on its longest
// pause; vLLM knows only what may be reached.
func TestStrictLimits(t *testing.T) {
	calls := []*transcript.Call{answer(1, 0, 500*ms, 700*ms, 200, 101, 1)} // pauses of 7 ms
	for _, c := range []struct {
		dialect, limits string
		good            int64
	}{
		{"servesim", "ttft <= 500ms", 1}, {"servesim", "ttft < 500ms", 0}, {"servesim", "ttft < 500.001ms", 1},
		{"servesim", "tpot <= 7ms", 1}, {"servesim", "tpot < 7ms", 0},
		{"servesim", "max_gap <= 7ms", 1}, {"servesim", "max_gap < 7ms", 0},
		{"vllm", "ttft < 500ms", 1}, {"vllm", "ttft < 499ms", 0},
	} {
		slo, err := analysis.ParseSLO(c.limits)
		if err != nil {
			t.Fatal(err)
		}
		if g := measured(t, c.dialect, calls, Options{Goodput: slo.Goodput}, nil).Goodput; g.Good != c.good {
			t.Errorf("%s, %s: %d good, want %d", c.dialect, c.limits, g.Good, c.good)
		}
	}
}

// MLPerf's limits are on all calls: one on some is none of its.
func TestMarginalLimitsAreOnAllCalls(t *testing.T) {
	slo, err := analysis.ParseSLO("ttft p99 < 600ms, tpot p99 < 1ms for class x")
	if err != nil {
		t.Fatal(err)
	}
	g := measured(t, "mlperf", []*transcript.Call{one(1)}, Options{Run: slo.Run}, nil).Goodput
	if len(g.Verdicts) != 1 || g.Verdicts[0].Objective != analysis.TTFT {
		t.Errorf("%+v, want a verdict on TTFT alone", g.Verdicts)
	}
}
