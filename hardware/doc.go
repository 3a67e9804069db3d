// Package hardware compares GPUs, number formats and layouts as servers of one
// workload under one set of limits: what each carries, what users see of it at the
// same rate and at the same share of what it carries, what a good token costs, at
// which ratio of prices the choice flips, and which operators its steps wait for.
//
// Package capacity finds the rates and simulates them, package sim/gpu says what an
// operator takes and which side of its roofline it is on; here both are put side by
// side. Every configuration sees the same requests, under the same seeds, and what is
// said of one doesn't depend on the order in which they are named.
//
// It is not a ranking of GPUs: figures are those of one workload, and of profiles
// that were fitted on what there is. docs/hardware.md says how far to trust them.
package hardware
