// Package validate simulates serving runs that others measured and says how far
// the simulation is off.
//
// Read takes a table of measured runs, one line each. Run simulates every row
// with the load, the lengths and the deployment that the row or its source
// states, and returns a Result: for each row and metric what was measured, what
// came out, and the error in percent; or why the row could not be simulated.
// What the tables leave open is filled in by rules, each of which is a Note that
// comes with the rows it touches. Cells sums the errors up, with calibration
// rows, held-out rows and excluded rows always apart.
//
// An error is (simulated - measured)/measured. Medians and 90th percentiles are
// of absolute errors; the bias is the mean of the signed ones.
package validate
