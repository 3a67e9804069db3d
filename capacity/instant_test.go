package capacity

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"servesim/scenario"
	"servesim/sim"
)

// TestInstantByHand has 20 requests/s for a minute and 5 for another: 12.5 in the
// mean. Where the capacity is 8, the busier minute then had 12.8, so that one
// replica carries as many in a minute: it takes 2, then 1.
func TestInstantByHand(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("t,in,out\n")
	for i := range 1200 {
		fmt.Fprintf(&csv, "%.3f,100,10\n", 7+float64(i)*0.05)
	}
	for i := range 300 {
		fmt.Fprintf(&csv, "%.3f,100,10\n", 67+float64(i)*0.2)
	}
	path := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(path, []byte(csv.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	src := source(t)
	src.Settings = append(src.Settings,
		scenario.Setting{Key: "workload.trace", Value: path, Text: path, Flag: "--trace", Replay: true},
		scenario.Setting{Key: "workload.columns", Value: map[string]any{"arrival": "t", "prompt": "in", "output": "out", "unit": "s"}, Flag: "--set"})
	p, err := scenario.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	b, err := InstantOf(src, &Answer{Plan: p, Rate: 8}, 60*sim.Second)
	if err != nil {
		t.Fatal(err)
	}
	near := func(x, want float64) bool { return math.Abs(x-want) < 1e-12 }
	if !slices.Equal(b.Rates, []float64{20, 5}) || !slices.Equal(b.Replicas, []int64{2, 1}) || b.Peak != 2 || b.Mean != 1.5 ||
		!near(b.PerReplica, 12.8) || !near(b.GPUHours, 3.0/60) || !near(b.FixedGPUHours, 4.0/60) {
		t.Errorf("%+v", b)
	}
	for _, c := range []struct {
		window sim.Duration
		sets   []string
		want   string
	}{
		{0, nil, "window: found 0s"},
		{sim.Nanosecond, nil, "take a longer one"},
		{sim.Minute, []string{"pool.replicas=2"}, "pool.replicas: found 2"},
	} {
		own := src
		own.Settings = append(slices.Clone(src.Settings), source(t, c.sets...).Settings...)
		p, err := scenario.Load(own)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = InstantOf(own, &Answer{Plan: p, Rate: 8}, c.window); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found %v, want %s", err, c.want)
		}
	}
}
