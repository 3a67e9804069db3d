package validate

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
)

// Line is one measured figure and what the simulation makes of it.
type Line struct {
	Row       *Row
	Metric    Metric
	Measured  float64
	Simulated float64 // NaN if Skipped is not empty
	Saturated bool
	// Skipped says why there is no simulated figure, or why the measured one is
	// not to be trusted.
	Skipped string
}

// Error returns (simulated - measured)/measured in percent, NaN if the line was
// skipped.
func (l *Line) Error() float64 { return 100 * (l.Simulated/l.Measured - 1) }

// The reasons of lines that are skipped though their row was simulated.
const (
	untrustedTTFT = "the source's TTFT is not to be trusted"
	noFigure      = "the simulated run has no such figure"
	holdsBack     = "TTFT: the server holds prompts back to batch them (batch_wait_timeout_iters), which is not modelled"
)

// Lines returns the lines of results: one for each figure that was measured, in
// the order of rows and Metrics.
func Lines(results []RowResult) []Line {
	var lines []Line
	for i := range results {
		r := &results[i]
		for _, m := range Metrics() {
			if r.Row.Measured[m] == 0 {
				continue
			}
			l := Line{Row: r.Row, Metric: m, Measured: r.Row.Measured[m], Simulated: math.NaN(), Saturated: r.Saturated, Skipped: r.Skipped}
			switch {
			case l.Skipped != "":
			case m.isTTFT() && !r.Row.TTFTTrusted:
				l.Skipped = untrustedTTFT
			case m.isTTFT() && Waits(r.Row):
				l.Skipped = holdsBack
			case math.IsNaN(r.Simulated[m]):
				l.Skipped = noFigure
			default:
				l.Simulated = r.Simulated[m]
			}
			lines = append(lines, l)
		}
	}
	return lines
}

// WriteCSV writes one line a row and metric, with a header.
func WriteCSV(w io.Writer, lines []Line) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"id", "split", "gpu", "engine", "model", "metric", "measured", "simulated", "error_pct", "saturated", "skipped_reason"}); err != nil {
		return err
	}
	figure := func(f float64, decimals int) string {
		if math.IsNaN(f) {
			return ""
		}
		return strconv.FormatFloat(f, 'f', decimals, 64)
	}
	for i := range lines {
		l := &lines[i]
		saturated := "0"
		if l.Saturated {
			saturated = "1"
		}
		err := c.Write([]string{
			l.Row.ID, string(l.Row.Split), l.Row.GPU, l.Row.Engine, l.Row.Model, l.Metric.String(),
			strconv.FormatFloat(l.Measured, 'g', -1, 64), figure(l.Simulated, 4), figure(l.Error(), 2), saturated, l.Skipped,
		})
		if err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
