package dialect

import (
	"fmt"
	"math"
	"testing"

	"servesim/analysis"
	"servesim/analysis/transcript"
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
