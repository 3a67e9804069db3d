package validate

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/cells.csv")

// summary is the errors of every cell of the shared table of measured runs, as
// they are: figures of ours, derived from it.
const summary = "testdata/cells.csv"

// A cell may move by this much before it counts as worse, in points and as a
// share of what it was: another order of the same events moves the mean of few
// requests by a point or so.
const (
	medianPoints, p90Points = 1.0, 3.0
	share                   = 0.1
)

// measured returns the shared table, or skips the test.
func measured(t *testing.T) []Row {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
	}
	f, err := os.Open(filepath.Join(dir, "..", "shared", "measured", "e2e.csv"))
	if err != nil {
		t.Skipf("the table of measured runs is not here: %v", err)
	}
	defer f.Close()
	rows, err := Read(f, "e2e.csv")
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestNoCellWorsens simulates every measured run and fails if a cell by model has
// become worse than noise, or sums up fewer figures. -update rewrites the summary.
func TestNoCellWorsens(t *testing.T) {
	results, err := Run(context.Background(), measured(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	cells := Cells(Lines(results), ByModel)
	if *update {
		writeSummary(t, cells)
		return
	}
	got := map[string]Cell{}
	for _, c := range cells {
		got[cellName(c)] = c
	}
	for name, was := range readSummary(t) {
		is, ok := got[name]
		switch {
		case !ok:
			t.Errorf("%s: no row is simulated any more; there were %d", name, was.N)
		case is.N < was.N:
			t.Errorf("%s: %d figures, there were %d", name, is.N, was.N)
		case is.Median > was.Median*(1+share)+medianPoints:
			t.Errorf("%s: the median error is %.1f %%, it was %.1f %%", name, is.Median, was.Median)
		case is.P90 > was.P90*(1+share)+p90Points:
			t.Errorf("%s: the 90th percentile is %.1f %%, it was %.1f %%", name, is.P90, was.P90)
		}
	}
}

// cellName names a cell of the summary.
func cellName(c Cell) string {
	return fmt.Sprintf("%s %s %s %s %s %s", c.Split, c.GPU, c.Engine, c.Model, c.Weights, c.metricName())
}

func writeSummary(t *testing.T, cells []Cell) {
	f, err := os.Create(summary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := csv.NewWriter(f)
	rows := [][]string{{"cell", "n", "median_pct", "p90_pct", "bias_pct"}}
	for _, c := range cells {
		rows = append(rows, []string{cellName(c), fmt.Sprint(c.N), fmt.Sprintf("%.2f", c.Median), fmt.Sprintf("%.2f", c.P90), fmt.Sprintf("%.2f", c.Bias)})
	}
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
}

func readSummary(t *testing.T) map[string]Cell {
	f, err := os.Open(summary)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]Cell{}
	for _, r := range rows[1:] {
		n, _ := strconv.Atoi(r[1])
		median, _ := strconv.ParseFloat(r[2], 64)
		p90, err := strconv.ParseFloat(r[3], 64)
		if err != nil || n == 0 {
			t.Fatalf("%s: row %v", summary, r)
		}
		cells[r[0]] = Cell{N: n, Median: median, P90: p90}
	}
	return cells
}
