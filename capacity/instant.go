package capacity

import (
	"errors"
	"io"
	"math"

	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/workload"
)

// Instant is how many replicas a workload takes at least, window by window, if
// they came and went at once: what an autoscaler can be compared with.
type Instant struct {
	// Window is the length of each window, from the first arrival on.
	Window sim.Duration
	// PerReplica is the rate that one replica is taken to carry in a window, in
	// requests/s: that of the busiest window when the whole workload is scaled to
	// the capacity. It kept the limits over the whole run and no window had more, so
	// that what follows from it is a lower bound.
	PerReplica float64
	// Rates are the requests/s of each window, and Replicas the fewest for them.
	Rates    []float64
	Replicas []int64
	// Peak and Mean are of Replicas, GPUHours those of all windows, and
	// FixedGPUHours those of a pool of Peak replicas.
	Peak                    int64
	Mean                    float64
	GPUHours, FixedGPUHours float64
}

// maxWindows is the most windows of an Instant.
const maxWindows = 1_000_000

// InstantOf returns the lower bound for the workload of the scenario of src, of
// which a is the Answer for one replica.
func InstantOf(src scenario.Source, a *Answer, window sim.Duration) (*Instant, error) {
	if window <= 0 {
		return nil, usagef("window: found %v; must be more than 0s", window)
	}
	if n := a.Plan.Replicas(); n != 1 {
		return nil, usagef("pool.replicas: found %d; the bound is of how many replicas there are, and one is what it counts with", n)
	}
	p, err := scenario.Load(src)
	if err != nil {
		return nil, err
	}
	counts, err := arrivals(p, window)
	if err != nil {
		return nil, err
	}
	b := &Instant{Window: window}
	var total, most int64
	for _, n := range counts {
		total, most = total+n, max(most, n)
	}
	mean := float64(total) / float64(len(counts))
	b.PerReplica = a.Rate * float64(most) / mean
	gpus := float64(a.Plan.GPUs())
	var sum int64
	for _, n := range counts {
		rate := float64(n) / window.Seconds()
		fewest := int64(math.Ceil(rate / b.PerReplica))
		b.Rates, b.Replicas = append(b.Rates, rate), append(b.Replicas, fewest)
		b.Peak, sum = max(b.Peak, fewest), sum+fewest
	}
	b.Mean = float64(sum) / float64(len(counts))
	hours := window.Seconds() / 3600
	b.GPUHours = float64(sum) * gpus * hours
	b.FixedGPUHours = float64(b.Peak*int64(len(counts))) * gpus * hours
	return b, nil
}

// arrivals counts the requests of p in windows from the first on.
func arrivals(p *scenario.Plan, window sim.Duration) ([]int64, error) {
	in, err := p.Open()
	if err != nil {
		return nil, err
	}
	defer workload.CloseSource(in.Source)
	var counts []int64
	var first sim.Time
	for n := 0; ; n++ {
		r, err := in.Source.Next()
		if errors.Is(err, io.EOF) {
			return counts, nil
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			first = r.Arrival
		}
		i := int64(r.Arrival.Sub(first) / window)
		if i >= maxWindows {
			return nil, usagef("window: found %v; it cuts the workload into more than %d windows; take a longer one", window, maxWindows)
		}
		for int64(len(counts)) <= i {
			counts = append(counts, 0)
		}
		counts[i]++
	}
}
