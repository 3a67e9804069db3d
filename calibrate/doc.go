// Package calibrate finds an engine's constants from what was measured of it.
//
// Kernel tables say what the GPU does; what an engine adds, the constants of
// gpu.Engine, shows only in whole runs. A fit predicts measurements with trial
// constants and minimises
//
//	Σ ρ(ln(predicted/measured)/σ) + Σ ((p - prior)/width)²
//
// with ρ(r) = 2·(√(1+r²)-1), which is r² for small r and grows like 2·|r|, so that
// a measurement whose description is wrong does not bend the rest. Each constant has
// a prior of a stated width: data that do not bear on a constant leave it at its
// prior, and the result says that they cannot tell.
//
// The measurements are Data, of three kinds. Run fits mean TPOT (σ = 3 %) and mean
// TTFT (σ = 8 %) of the calibration rows of a table, for one GPU and engine, below
// saturation, from physical priors; where the interval of a constant depends on the
// form of the model, as for the time that a step with prompt tokens takes at least,
// it says what another form would give. Fit fits data of one server, from the
// constants of a profile on: Calls, what the clients of a benchmark saw, and Stats,
// the lines of statistics of a server's log.
//
// The minimum is sought with the Levenberg-Marquardt method and along each constant
// by turns, which is deterministic. The Jacobian there gives the interval of each
// constant, the constants that trade off against each other, the combinations that
// the data do not tell, and how much narrower each interval is than its prior. Parts
// of the figures are held out by turns, and the errors on them stated beside those of
// the fit. Derived is the profile that comes of it.
//
// CompareStart sets what a server printed of its memory beside the memory ledger.
package calibrate
