package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"servesim/sweep"
)

// hearing returns a progress that began an hour ago, and what it writes to.
func hearing(t *testing.T, tty bool) (*sweepProgress, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	k := -1
	for i, name := range sweep.ColumnNames() {
		if name == "output_tokens_per_s_per_gpu" {
			k = i
		}
	}
	p := newSweepProgress(env{stderr: &out, tty: tty}, k, sweep.Columns()[k])
	ago := time.Now().Add(-time.Hour)
	p.began, p.told, p.out.began = ago, ago, ago
	return p, &out
}

// rowWith returns a row that has x in the column that hearing shows.
func rowWith(p *sweepProgress, x float64) sweep.Row {
	row := sweep.Row{Values: make([]float64, len(sweep.Columns()))}
	row.Values[p.at] = x
	return row
}

// TestSweepProgress holds that a bar on a terminal, and a line elsewhere, says how
// many points are done, how long the rest takes, and what the best one has.
func TestSweepProgress(t *testing.T) {
	for _, tty := range []bool{true, false} {
		p, out := hearing(t, tty)
		p.show(&sweep.Progress{Points: 10, Done: 4, Ran: 2, Row: rowWith(p, 1500)})
		// Two points took an hour, so that six take three.
		for _, want := range []string{"4", "10 points, 3h0m0s left, best tokens/s/gpu 1,500"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("terminal %v: %q lacks %q", tty, out, want)
			}
		}
		if wrap := 80; tty && len(strings.TrimSpace(strings.Trim(out.String(), "\r"))) > wrap {
			t.Errorf("%q is longer than %d columns", out, wrap)
		}
		p.show(&sweep.Progress{Points: 10, Done: 5, Ran: 3, Row: rowWith(p, 900)})
		if p.best != 1500 {
			t.Errorf("the best is %v", p.best)
		}
		p.finish()
		if lines := strings.Count(out.String(), "\n"); !tty && lines != 1 {
			t.Errorf("%d lines within ten seconds: %q", lines, out)
		}
	}
}
