package calibrate

import (
	"context"
	"slices"

	"servesim/sim/gpu"
)

// joined is several Data as one.
type joined []Data

// Together returns data of several kinds, of the same machine and engine, as one.
// Parts of the same number are held out together.
func Together(data ...Data) Data { return joined(data) }

// Bears implements Data.
func (t joined) Bears(key string) bool {
	return slices.ContainsFunc(t, func(d Data) bool { return d.Bears(key) })
}

// Figures implements Data.
func (t joined) Figures(ctx context.Context, p *gpu.Profile) ([]Figure, error) {
	var out []Figure
	for _, d := range t {
		figures, err := d.Figures(ctx, p)
		if err != nil {
			return nil, err
		}
		out = append(out, figures...)
	}
	return out, nil
}
