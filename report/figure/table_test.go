package figure

import (
	"strings"
	"testing"
)

// sweepText is the results of a sweep over rates and budgets, as far as figures need them.
const sweepText = `{"schema": 1, "kind": "servesim-sweep-results", "axes": ["workload.rate_per_s", "engine.max_num_batched_tokens", "hardware.gpu"],
"columns": ["load_state", "requests", "ttft_p50_ms", "ttft_p90_ms", "ttft_p99_ms", "ttft_p99_low_ms", "ttft_p99_high_ms", "tpot_p99_ms", "itl_p99_ms", "goodput_share", "goodput_requests_per_s", "output_tokens_per_s_per_user", "output_tokens_per_s_per_gpu", "usd_per_million_output_tokens"],
"points": [
{"workload.rate_per_s": 4, "engine.max_num_batched_tokens": 512, "hardware.gpu": "h100", "load_state": "steady", "requests": 1000, "ttft_p50_ms": 60, "ttft_p90_ms": 90, "ttft_p99_ms": 400, "ttft_p99_low_ms": 350, "ttft_p99_high_ms": 500, "tpot_p99_ms": 20, "itl_p99_ms": 25, "goodput_share": 0.97, "goodput_requests_per_s": 3.9, "output_tokens_per_s_per_user": 60, "output_tokens_per_s_per_gpu": 600, "usd_per_million_output_tokens": 2},
{"workload.rate_per_s": 2, "engine.max_num_batched_tokens": 512, "hardware.gpu": "h100", "requests": 1000, "ttft_p50_ms": 50, "ttft_p90_ms": 80, "ttft_p99_ms": 200, "ttft_p99_low_ms": 150, "ttft_p99_high_ms": 300, "tpot_p99_ms": 15, "itl_p99_ms": 20, "goodput_share": 0.99, "goodput_requests_per_s": 2, "output_tokens_per_s_per_user": 80, "output_tokens_per_s_per_gpu": 300, "usd_per_million_output_tokens": 4},
{"workload.rate_per_s": 2, "engine.max_num_batched_tokens": 2048, "hardware.gpu": "h100", "requests": 1000, "ttft_p50_ms": 45, "ttft_p90_ms": 70, "ttft_p99_ms": 150, "ttft_p99_low_ms": null, "ttft_p99_high_ms": null, "tpot_p99_ms": 18, "itl_p99_ms": 60, "goodput_share": 0.98, "goodput_requests_per_s": 1.9, "output_tokens_per_s_per_user": 70, "output_tokens_per_s_per_gpu": 290, "usd_per_million_output_tokens": 4.1},
{"workload.rate_per_s": 4, "engine.max_num_batched_tokens": 2048, "hardware.gpu": "h100", "requests": 1000, "ttft_p50_ms": 55, "ttft_p90_ms": 75, "ttft_p99_ms": 300, "ttft_p99_low_ms": null, "ttft_p99_high_ms": null, "tpot_p99_ms": 24, "itl_p99_ms": 70, "goodput_share": 0.96, "goodput_requests_per_s": 3.8, "output_tokens_per_s_per_user": 55, "output_tokens_per_s_per_gpu": 610, "usd_per_million_output_tokens": 1.9}
]}`

// swept returns the table of sweepText.
func swept(t *testing.T, where ...string) *Table {
	t.Helper()
	table, err := ReadTable(strings.NewReader(sweepText), "results.json")
	if err == nil {
		table, err = table.Where(where)
	}
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestFiguresOfTables(t *testing.T) {
	table := swept(t)
	made := func(f *Figure, err error) *Figure {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, f)
		return f
	}
	several := made(Hockeystick(table, nil))
	if s := several.Panels[0].Series; len(s) != 2 || s[0].Label != "max_num_batched_tokens 512" || s[0].X[0] != 2 || s[0].Y[1] != 400 || s[0].Low[0] != 150 || s[1].Low != nil {
		t.Errorf("the lines of two budgets are %+v", s)
	}
	one := made(Hockeystick(swept(t, "max_num_batched_tokens=512"), []Metric{TTFT}))
	if s := one.Panels[0].Series; len(s) != 3 || s[2].Label != "P99" || s[2].Role != RolePercentile {
		t.Errorf("the lines of one budget are %+v", s)
	}
	if s := made(Goodput(table)).Panels[0].Series[0]; s.Y[0] != 99 {
		t.Errorf("goodput is %v", s.Y)
	}
	pareto := made(Pareto(table))
	best := pareto.Panels[0].Series[2]
	if best.Role != RoleBest || len(best.X) != 3 || best.X[0] != 80 || best.Y[2] != 610 {
		t.Errorf("not beaten are %+v", best)
	}
	made(Cost(table, TTFT))
	if s := made(ChunkFrontier(table)).Panels[0].Series; len(s) != 2 || s[0].Notes[1] != "max_num_batched_tokens 2048" || s[0].Tags[1] != "2048" {
		t.Errorf("the lines of the frontier at two rates are %+v", s)
	}
	if s := made(ChunkFrontier(swept(t, "rate_per_s=2"))).Panels[0].Series; len(s) != 2 || s[1].Role != RoleBest || len(s[1].X) != 2 {
		t.Errorf("the lines of the frontier at one rate are %+v", s)
	}
}

// TestCapacityIsATable reads the rates around a capacity.
func TestCapacityIsATable(t *testing.T) {
	table, err := ReadTable(strings.NewReader(`{"schema": 1, "kind": "servesim-capacity", "requests_per_s": 2.4, "table": [
		{"share_of_capacity": 0.5, "requests_per_s": 1.2, "requests": 1000, "ttft_p50_p90_p99_ms": [60, 90, 300], "tpot_p50_p90_p99_ms": [10, 11, 12], "goodput_share": null},
		{"share_of_capacity": 1, "requests_per_s": 2.4, "requests": 2000, "ttft_p50_p90_p99_ms": [70, 95, null], "tpot_p50_p90_p99_ms": [10, 12, 14], "goodput_share": 0.99}]}`), "c.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Hockeystick(table, nil)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, f)
	if p := f.Panels[0]; len(p.Series[0].X) != 2 || len(p.Series[2].X) != 1 || len(p.Marks) != 1 || p.Marks[0].Value != 2.4 {
		t.Errorf("the panel of TTFT is %+v", p)
	}
}

// TestWhatTablesLack says what each kind needs.
func TestWhatTablesLack(t *testing.T) {
	budgets := swept(t, "rate_per_s=2")
	for _, c := range []struct {
		make func() error
		want string
	}{
		{func() error { _, err := Hockeystick(budgets, nil); return err }, "sweep over rate_per_s"},
		{func() error { _, err := Goodput(budgets); return err }, "sweep over rate_per_s"},
		{func() error { _, err := Hockeystick(swept(t), []Metric{WorstGap}); return err }, "no point has percentiles of worst gap"},
		{func() error { _, err := ChunkFrontier(swept(t, "max_num_batched_tokens=512")); return err }, "sweep over max_num_batched_tokens"},
		{func() error { _, err := swept(t).Where([]string{"seed=3"}); return err }, "a key in which the points differ"},
		{func() error { _, err := swept(t).Where([]string{"rate_per_s=3"}); return err }, "there are 2, 4"},
		{func() error { _, err := ReadTable(strings.NewReader("{}"), "x"); return err }, "servesim-sweep-results"},
		{func() error { _, err := ReadTable(strings.NewReader("point,id"), "x"); return err }, "is not JSON"},
	} {
		if err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
