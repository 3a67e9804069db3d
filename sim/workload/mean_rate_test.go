package workload

import (
	"math"
	"testing"
)

func TestMeanRateByHand(t *testing.T) {
	for text, want := range map[string]float64{
		`arrival = { process = "poisson", rate_per_s = 4 }`:                               4,
		"rate_per_s = 3\narrival = { process = \"poisson\", rate_per_s = 4 }":             3,
		`arrival = { process = "piecewise", window = "60s", rates_per_s = [3, 5, 4, 0] }`: 3,
		// A burst of 5 has 4 gaps of 1 s, and 6 s to the next: 5 in 10 s.
		`arrival = { process = "on_off", burst_size = { dist = "constant", value = 5 }, gap = { dist = "constant", value = "1s" }, off = { dist = "constant", value = "6s" } }`:                 0.5,
		`arrival = { process = "on_off", burst_size = { dist = "constant", value = 5 }, gap = { dist = "constant", value = "1s" }, off = { dist = "constant", value = "6s" }, rate_per_s = 7 }`: 7,
		`preset = "azure-chat"`:               -1,
		`closed_loop = { users = 3 }`:         -1,
		`arrival = { process = "on_off" }`:    -1,
		`arrival = { process = "piecewise" }`: -1,
	} {
		s, err := ParseSpec("x.toml", text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := s.MeanRate()
		if ok != (want > 0) || ok && math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, %v; want %v", text, got, ok, want)
		}
	}
}
