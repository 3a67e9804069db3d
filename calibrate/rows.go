package calibrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"servesim/internal/portable"
	"servesim/sim/gpu"
	"servesim/validate"
)

// rowsData is measured runs of one GPU and engine as a table has them, below
// saturation.
type rowsData struct {
	rows  []validate.Row
	parts int
	ttft  bool // some row has a TTFT to trust
	kv    map[gpu.Format]bool
	eager bool
	done  func() // called after each simulation of a row; may be nil
}

// ErrNoRows reports that no calibration row is for the constants.
var ErrNoRows = errors.New("no calibration row")

// Run calibrates the constants called engine of profile p on those of rows that
// are for it. It calls done, which may be nil, after each simulation of a row, one
// call at a time. The error is that of ctx, or ErrNoRows.
func Run(ctx context.Context, rows []validate.Row, p *gpu.Profile, engine string, done func()) (*Result, error) {
	d := &rowsData{kv: map[gpu.Format]bool{}, done: done}
	r := &Result{GPU: p.Name, Engine: engine}
	var mine []validate.Row
	for i := range rows {
		s, err := validate.Setup(&rows[i], d.options(p))
		if rows[i].Split != validate.Calibration || !isOf(rows[i].GPU, p) || err != nil || s.Engine != engine {
			continue
		}
		d.kv[s.KV] = true
		d.eager = d.eager || s.EagerPrefill != nil && *s.EagerPrefill
		mine = append(mine, rows[i])
	}
	if len(mine) == 0 {
		return nil, fmt.Errorf("%w is of %s with engine %s", ErrNoRows, p.Name, engine)
	}
	results, err := validate.Run(ctx, mine, d.options(p))
	if err != nil {
		return nil, err
	}
	for i := range results {
		if results[i].Saturated {
			r.Saturated++
			continue
		}
		d.rows = append(d.rows, mine[i])
	}
	r.Rows = len(d.rows)
	d.ttft = slices.ContainsFunc(d.rows, func(r validate.Row) bool { return r.TTFTTrusted && r.Measured[validate.TTFTMean] > 0 })
	d.parts = min(maxFolds, len(d.rows))
	q := &problem{data: d, profile: p, engine: engine}
	for _, x := range Parameters() {
		if d.Bears(x.Key) {
			q.parameters = append(q.parameters, x)
		}
	}
	if err := r.find(ctx, q, d.parts); err != nil {
		return nil, err
	}
	return r, r.compareForms(ctx, q)
}

// isOf tells whether a table calls the GPU of p by this name.
func isOf(name string, p *gpu.Profile) bool {
	return strings.EqualFold(name, p.Name) || strings.EqualFold(name, p.Root)
}

// Bears implements Data.
func (d *rowsData) Bears(key string) bool {
	switch key {
	case "mixed_step_s":
		return false // tried apart, as another form
	case "eager_layer_s":
		return d.eager
	case "request_s":
		return d.ttft
	case "kv_bf16_efficiency":
		return d.kv[gpu.BF16]
	case "kv_fp8_efficiency":
		return d.kv[gpu.FP8]
	}
	return true
}

// Figures implements Data: mean TPOT and mean TTFT of each row.
func (d *rowsData) Figures(ctx context.Context, p *gpu.Profile) ([]Figure, error) {
	results, err := validate.Run(ctx, d.rows, d.options(p))
	if err != nil {
		return nil, err
	}
	part := map[*validate.Row]int{}
	for i := range results {
		part[results[i].Row] = i % max(1, d.parts)
	}
	var out []Figure
	for _, l := range validate.Lines(results) {
		spread := tpotSpread
		switch l.Metric {
		case validate.TPOTMean:
		case validate.TTFTMean:
			spread = ttftSpread
		default:
			continue
		}
		f := Figure{Metric: l.Metric.String(), Part: part[l.Row], Spread: spread, Left: l.Skipped != ""}
		if !f.Left {
			f.Log = portable.Log(l.Simulated / l.Measured)
		}
		out = append(out, f)
	}
	return out, nil
}

// options returns those of a simulation with profile.
func (d *rowsData) options(profile *gpu.Profile) validate.Options {
	return validate.Options{Done: d.done, Profile: func(name string) (*gpu.Profile, error) {
		if !isOf(name, profile) {
			return nil, validate.ErrNoProfile
		}
		return profile, nil
	}}
}
