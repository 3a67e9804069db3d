package sweep

import (
	"math"
	"strings"
	"testing"
)

// TestSeedsArePooled by hand: five seeds whose values are 1 to 5 have the mean 3 and
// the interval 3 ± 2.776 · √(2.5/5), for 2.776 is the 97.5 % point of Student's
// distribution with four degrees of freedom.
func TestSeedsArePooled(t *testing.T) {
	p := read(t, "schema = 1\n[grid]\ntp = [1, 2]\nseed = [1, 2, 3, 4, 5]\n")
	table := &Table{Axes: p.Axes}
	k, _ := column("ttft_p99_ms")
	for i := range p.Len() {
		row := Row{Values: make([]float64, len(Columns()))}
		row.Values[k] = float64(1 + i%5 + 10*(i/5))
		table.Points, table.Rows = append(table.Points, Point{Index: i, Settings: p.settings(i)}), append(table.Rows, row)
	}
	got := table.seeds()
	if len(got.Rows) != 2 || len(got.Axes) != 1 || got.Points[1].Index != 5 || got.Rows[0].at(k) != 3 || got.Rows[1].at(k) != 13 {
		t.Fatalf("%d rows, axes %v, %v, %v", len(got.Rows), got.Axes, got.Rows[0].at(k), got.Rows[1].at(k))
	}
	r := got.pooled[0].interval(k)
	if half := (r.Hi - r.Lo) / 2; math.Abs(half-2.776*math.Sqrt(0.5)) > 0.005 {
		t.Errorf("half the interval is %v", half)
	}
	var b strings.Builder
	if err := table.Text(&b, TextOptions{RankBy: "ttft_p99_ms"}); err != nil {
		t.Fatal(err)
	}
	if want := "each line is the mean over 5 seeds, ± its 95 % interval"; !strings.Contains(strings.ReplaceAll(b.String(), "\n", " "), want) || !strings.Contains(b.String(), "1.963") {
		t.Error(b.String())
	}
	table.Rows[2] = Row{Reason: "no room"}
	if got := table.seeds(); got.Rows[0].Reason == "" || got.Rows[1].Reason != "" {
		t.Error("a pool with a point that could not be simulated has a mean")
	}
	one := &Table{Axes: p.Axes, Points: table.Points[:1], Rows: table.Rows[:1]}
	if one.seeds() != one {
		t.Error("a table of one seed is pooled")
	}
}
