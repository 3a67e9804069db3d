package calibrate

import (
	"context"

	"servesim/sim/gpu"
)

// Data is measurements that constants are fitted to. Implementations are for one
// goroutine.
type Data interface {
	// Figures returns what the constants of p make of each measurement: always as
	// many, in the same order, with the same metrics and parts. An error ends the fit.
	Figures(ctx context.Context, p *gpu.Profile) ([]Figure, error)
	// Bears tells whether the measurements can bear on the constant called key.
	Bears(key string) bool
}

// Figure is one measurement and its prediction.
type Figure struct {
	// Metric names what was measured, such as tpot_mean_ms.
	Metric string
	// Part numbers the figures that are held out together, from 0.
	Part int
	// Log is the logarithm of predicted over measured. Spread is the standard deviation
	// that it would have with the right constants: noise, and the model's form.
	Log, Spread float64
	// Left tells that there is no prediction to compare, or no measurement to trust.
	Left bool
}

// The spread of the logarithms of what runs measure about what they would have
// with the right constants: noise of the runs and of the model's form.
const (
	tpotSpread = 0.03
	ttftSpread = 0.08
)
