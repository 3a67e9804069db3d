// Package gpu turns the work of an engine step into time, for a GPU, a model,
// a parallel layout and a number format, and says how many KV blocks fit.
//
// It knows nothing of schedulers or requests: a step's work is a handful of
// integers, so a cost model can be fitted, tested and plotted on its own.
// Hardware profiles are TOML files in package profiles, models in package models.
package gpu
