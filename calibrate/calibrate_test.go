package calibrate

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"servesim/sim/gpu"
	"servesim/validate"
)

// truth is a profile whose constants differ from those that ship.
func truth(t *testing.T) *gpu.Profile {
	t.Helper()
	p, err := gpu.LoadProfile("b200")
	if err != nil {
		t.Fatal(err)
	}
	q := *p
	q.Engine = maps.Clone(p.Engine)
	e := q.Engine["trtllm"]
	e.LayerS, e.FlopEfficiency, e.KVFP8Efficiency, e.SeqS = 5e-6, 0.8, 0.9, 30e-6
	e.EagerLayerS, e.EagerPrefill, e.RequestS = 500e-6, true, 25e-3
	q.Engine["trtllm"] = e
	return &q
}

// runs are 8 rows, measured on profile p by simulation.
func runs(t *testing.T, p *gpu.Profile) []validate.Row {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,split,note,model,gpu,tp,ep,weight_dtype,kv_dtype,engine,engine_version,load,isl,osl,len_dist,concurrency,rate_rps,num_requests,max_batched_tokens,ttft_ok,source,ttft_mean_ms,tpot_mean_ms\n")
	for _, tp := range []int{2, 8} {
		for _, isl := range []int{1000, 8000} {
			for _, users := range []int{2, 12} {
				fmt.Fprintf(&b, "%d-%d-%d,calibration,,llama-3.3-70b,B200,%d,1,fp8,fp8,trtllm,1.1,closed,%d,300,\"uniform[0.8,1]\",%d,,,,1,x,1,1\n", tp, isl, users, tp, isl, users)
			}
		}
	}
	rows, err := validate.Read(strings.NewReader(b.String()), "runs")
	if err != nil {
		t.Fatal(err)
	}
	results, err := validate.Run(context.Background(), rows, validate.Options{Profile: func(string) (*gpu.Profile, error) { return p, nil }})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Skipped != "" || r.Saturated {
			t.Fatalf("row %s: skipped %q, saturated %v", r.Row.ID, r.Skipped, r.Saturated)
		}
		rows[i].Measured = r.Simulated
	}
	return rows
}

// TestRunFindsTheTruth calibrates on runs that were simulated with known
// constants, from others. What the report says the runs tell must be within three
// of its errors of the truth, the errors of the rows must be far below their
// assumed spread, and the launch time, which decides what a chunk costs, must be
// told.
func TestRunFindsTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("the fit takes some seconds")
	}
	p := truth(t)
	shipped, err := gpu.LoadProfile("b200")
	if err != nil {
		t.Fatal(err)
	}
	rows := runs(t, p)
	r, err := Run(context.Background(), rows, shipped, "trtllm", nil)
	if err != nil {
		t.Fatal(err)
	}
	e := p.Engine["trtllm"]
	told := map[string]bool{}
	for _, c := range r.Constants {
		if c.Told >= toldWell && !c.Bound {
			told[c.Key] = true
			if d := math.Abs(c.Value - c.Of(&e)); d > 3*c.Error {
				t.Errorf("%s is %.4g ± %.2g, the truth is %.4g", c.Key, c.Value, c.Error, c.Of(&e))
			}
		}
	}
	if !told["eager_layer_s"] || !told["flop_efficiency"] {
		t.Errorf("told are %v, which lacks what a chunk costs", told)
	}
	for _, c := range r.Errors {
		spread, fitted := map[string]float64{validate.TPOTMean.String(): tpotSpread, validate.TTFTMean.String(): ttftSpread}[c.Metric]
		if !fitted || c.Median > 100*spread/2 || !(c.HeldOutMedian <= 100*spread) {
			t.Errorf("the median error of %v is %.2f %%", c.Metric, c.Median)
		}
	}
	var a bytes.Buffer
	if err := Text(&a, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(a.String(), "[engine.trtllm]\nlayer_s = ") {
		t.Errorf("the report has no block for a profile:\n%s", a.String())
	}
}

// TestRunIsDeterministic calibrates twice on a few runs.
func TestRunIsDeterministic(t *testing.T) {
	p := truth(t)
	rows := runs(t, p)[:2]
	var text [2]bytes.Buffer
	for i := range text {
		r, err := Run(context.Background(), rows, p, "trtllm", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := Text(&text[i], r); err != nil {
			t.Fatal(err)
		}
	}
	if text[0].String() != text[1].String() {
		t.Errorf("two calibrations differ:\n%s\n%s", text[0].String(), text[1].String())
	}
}

// TestRunNeedsRows holds that held-out rows are never fitted on.
func TestRunNeedsRows(t *testing.T) {
	p := truth(t)
	rows := runs(t, p)
	for i := range rows {
		rows[i].Split = validate.HeldOut
	}
	if _, err := Run(context.Background(), rows, p, "trtllm", nil); err == nil || !strings.Contains(err.Error(), "no calibration row is of b200") {
		t.Errorf("error is %v", err)
	}
}

// TestRobust: the square of robust is 2·(√(1+r²)-1), so 2·(1.25-1) at 0.75, and its
// sign is that of r.
func TestRobust(t *testing.T) {
	if got, want := robust(-0.75), -math.Sqrt(0.5); got != want {
		t.Errorf("robust(-0.75) is %v, want %v", got, want)
	}
}
