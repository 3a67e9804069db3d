// Package portable is the arithmetic behind random draws, the same to the last
// bit on every machine.
//
// The standard library's math.Exp and its like are not: on some processors they
// are written in assembly, which asks at run time what the processor can do, and
// on others the compiler rounds a product and a sum at once. Its ExpFloat64 and
// NormFloat64 call them. Here is only what IEEE 754 defines exactly, operations
// that are rounded one at a time, so that one seed gives one workload anywhere.
package portable
