// Package exact reads decimal times as they are written, to the picosecond, and
// subtracts them: a stamp of a wall clock has more digits than a float64 holds.
//
// It knows no format and no calendar.
package exact
