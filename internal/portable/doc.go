// Package portable is the exponential, the logarithm and the error function, the
// same to the last bit on every machine.
//
// Those of the standard library are not: on some processors they are written in
// assembly, which asks at run time what the processor can do, and on others the
// compiler rounds a product and a sum at once. Here is only what IEEE 754 defines
// exactly, operations that are rounded one at a time.
package portable
