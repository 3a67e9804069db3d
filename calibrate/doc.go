// Package calibrate finds an engine's constants from measured serving runs.
//
// Kernel tables say what the GPU does; what an engine adds, the constants of
// gpu.Engine, shows only in whole runs. Run simulates the calibration rows of
// one GPU and engine with trial constants and minimises
//
//	Σ ρ(ln(simulated/measured)/σ) + Σ ((p - prior)/width)²
//
// over mean TPOT (σ = 3 %) and mean TTFT (σ = 8 %) of the runs below saturation,
// with ρ(r) = 2·(√(1+r²)-1), which is r² for small r and grows like 2·|r|, so that
// a run whose description is wrong does not bend the rest. Each constant has a
// prior of a stated width, physical and not fitted: runs that do not bear on a
// constant leave it at its prior, and the report says that the data cannot tell.
//
// The minimum is sought with the Levenberg-Marquardt method and along each constant
// by turns, from several starts, which is deterministic. The Jacobian at the minimum gives the interval of each
// constant, the constants that trade off against each other, and how much
// narrower each interval is than its prior. Where the interval depends on the
// form of the model, as for the time that a step with prompt tokens takes at
// least, the report says what another form would give.
package calibrate
