package page

import (
	"fmt"
	"strings"
	"testing"

	"servesim/report/figure"
)

// swept returns the results of n deployments at two rates, the later the better.
func swept(n int) (t *figure.Table, best []int) {
	t = &figure.Table{Name: "results", Axes: []string{"hardware.gpu", "workload.rate_per_s"}}
	for i := range n {
		for _, rate := range []string{"1", "2"} {
			t.Rows = append(t.Rows, figure.Row{Axes: []string{fmt.Sprintf("gpu%d", i), rate}, Values: map[string]float64{
				"requests": 100, "goodput_share": 0.9, "goodput_requests_per_s": 1, "ttft_p99_ms": 100 + float64(i), "tpot_p99_ms": 10,
			}})
			best = append([]int{len(t.Rows) - 1}, best...)
		}
	}
	return t, best
}

// TestTooManyDeployments holds that of more deployments than can be told apart the best
// are drawn, that the page says so, and that it has all of a few.
func TestTooManyDeployments(t *testing.T) {
	for n, want := range map[int]string{3: "", 12: "Figures show the 6 best of 12 deployments."} {
		table, best := swept(n)
		p, err := OfTable(&Tabled{Kind: "sweep", Title: "t", Answer: "Best", Text: "Best        gpu2\n", Table: table, Best: best})
		if err != nil {
			t.Fatal(err)
		}
		if p.Reading != want || p.Verdict != "Best: gpu2" || len(p.First) != 2 {
			t.Fatalf("%d deployments: %q, %q, %d figures", n, p.Reading, p.Verdict, len(p.First))
		}
		lines := p.First[0].Figure.Panels[0].Series
		if len(lines) != min(n, mostDrawn) || n == 12 && !strings.Contains(lines[0].Label, "gpu6") {
			t.Errorf("%d deployments: %d lines, the first %q", n, len(lines), lines[0].Label)
		}
	}
}

// TestBars holds a figure of bars to its values.
func TestBars(t *testing.T) {
	f := Bars("title", "caption", []string{"a", "b"}, Quantity{"cost", "$", []float64{3, 5}})
	p := f.Panels[0]
	if len(f.Panels) != 1 || p.X.Max != 5 || p.Series[1].High[0] != 5 || p.Series[1].Y[0] != 1 || !strings.Contains(f.Text, "b: cost 5.000 $.") {
		t.Errorf("%+v", f)
	}
}
