package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"servesim/analysis"
	"servesim/sim"
)

// comparison compares runs whose stalls last 300 ms, 40 ms and so on.
func comparison(t *testing.T, stalls ...sim.Duration) *analysis.Comparison {
	t.Helper()
	var runs []analysis.Run
	for _, d := range stalls {
		s := analysis.NewSummary(analysis.Options{Percentiles: analysis.TailPercentiles(), SLO: limits(t), KVBlocks: 400})
		p := analysis.Pairing{Goodput: limits(t).Goodput}
		run(t, d*sim.Millisecond, s, &p)
		runs = append(runs, analysis.Run{Name: "stall=" + (d * sim.Millisecond).String(), Report: s.Report(), Pairs: &p})
	}
	c, err := analysis.Compare(runs)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompareText(t *testing.T) {
	for name, stalls := range map[string][]sim.Duration{
		"compare2.txt": {40, 300}, "compare3.txt": {300, 40, 12},
	} {
		var b bytes.Buffer
		if err := CompareText(&b, comparison(t, stalls...)); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
}

func TestJSON(t *testing.T) {
	var one, none, compared bytes.Buffer
	if err := errors.Join(
		JSON(&one, summary(t), Member{"trace", map[string]int{"rows": 200}}),
		JSON(&none, analysis.NewSummary(analysis.Options{}).Report()),
		CompareJSON(&compared, comparison(t, 300, 40)),
	); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.json", one.Bytes())
	golden(t, "empty.json", none.Bytes())
	golden(t, "compare.json", compared.Bytes())
}

// The numbers of a report must survive the way through JSON.
func TestJSONLosesNothing(t *testing.T) {
	r := summary(t)
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Latency map[string]struct {
			Count       int64
			Mean        int64 `json:"mean_ps"`
			Min         int64 `json:"min_ps"`
			Max         int64 `json:"max_ps"`
			Percentiles map[string]struct {
				Value      int64 `json:"value_ps"`
				Resolution int64 `json:"resolution_ps"`
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Metrics() {
		g := got.Latency[m.Key]
		if g.Count != m.Count || g.Mean != int64(m.Mean) || g.Min != int64(m.Min) || g.Max != int64(m.Max) || len(g.Percentiles) != len(m.Quantiles) {
			t.Errorf("%s: %+v, want %+v", m.Key, g, m.Distribution)
		}
		for _, q := range m.Quantiles {
			if v := g.Percentiles[q.P.String()]; v.Value != int64(q.Value) || v.Resolution != int64(q.Resolution) {
				t.Errorf("%s %v: %+v, want %+v", m.Key, q.P, v, q)
			}
		}
	}
}

func TestJSONReportsWhatFails(t *testing.T) {
	if err := JSON(full{}, summary(t)); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	if err := JSON(full{}, summary(t), Member{"bad", func() {}}); err == nil || errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		a, b sim.Duration
		want string
	}{{100, 100, "0 %"}, {0, 0, "0 %"}, {0, 5, ""}, {100, 90, "-10.0 %"}, {100, 150, "+50.0 %"}, {34, 1318, "x 38.8"}, {1318, 34, "-97.4 %"}} {
		if got := change(c.a, c.b); got != c.want {
			t.Errorf("from %d to %d: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}
