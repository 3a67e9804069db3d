package main

import (
	"encoding/json"
	"testing"
)

// saturated is what --json says of whether a run keeps up.
type saturated struct {
	Saturation struct {
		State       string
		Completions float64 `json:"completions_per_s"`
		Queue       struct{ Peak, Last int64 }
	}
	Latency map[string]struct {
		Mean struct {
			Lo       *int64 `json:"lo_ps"`
			Withheld string
		} `json:"mean_interval"`
	}
	Warnings []struct{ Kind string }
}

// saturationOf runs the default scenario with settings.
func saturationOf(t *testing.T, settings ...string) saturated {
	t.Helper()
	args := []string{"run", "--json"}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	var v saturated
	if err := json.Unmarshal([]byte(ok(t, args...)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSaturationByLoad drives the default scenario at shares of its capacity, the
// 17.9 requests/s that it completes when 40 come.
func TestSaturationByLoad(t *testing.T) {
	if c := saturationOf(t, "requests=20000", "rate_per_s=40"); c.Saturation.State != "overloaded" || c.Saturation.Completions < 17.5 || c.Saturation.Completions > 18.3 {
		t.Errorf("capacity: %+v", c.Saturation)
	}
	for rate, want := range map[string]string{"8.95": "stable", "16.1": "stable", "19.7": "overloaded"} {
		v := saturationOf(t, "requests=20000", "rate_per_s="+rate)
		ttft := v.Latency["ttft"].Mean
		if v.Saturation.State != want || (ttft.Lo == nil) != (want == "overloaded") || (ttft.Withheld == "the run is overloaded") != (want == "overloaded") {
			t.Errorf("%s requests/s: %+v, want %s", rate, v, want)
		}
		if first := len(v.Warnings) > 0 && v.Warnings[0].Kind == "overload"; first != (want == "overloaded") {
			t.Errorf("%s requests/s: warnings %+v", rate, v.Warnings)
		}
	}
}

// TestSaturationOfABurst has a minute at 50 requests/s amid nine at 4: its queue
// drains, and the run is no overload.
func TestSaturationOfABurst(t *testing.T) {
	v := saturationOf(t, "requests=5000", "rate_per_s=8.6", `workload.arrival={ process = "piecewise", cv = 1.0, window = "1m", rates_per_s = [4, 4, 50, 4, 4, 4, 4, 4, 4, 4] }`)
	if q := v.Saturation.Queue; v.Saturation.State != "backlogged" || q.Peak < 500 || q.Last > 10 || v.Warnings[0].Kind != "backlog" {
		t.Errorf("%+v", v)
	}
}
