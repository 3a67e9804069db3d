// Package fit finds the coefficients of package gpu in tables of measured kernel
// times: robust least squares of the logarithm of predicted over measured time,
// from fixed starting points, so that the same tables always give the same
// coefficients. No rate is fitted above the datasheet's. Each fit is made twice,
// once on all rows and once without a third of the shapes, which then tell how
// far it is off on shapes that it hasn't seen. Untold says which coefficients the
// rows tell badly, or not apart.
package fit
