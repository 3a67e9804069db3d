// Package lives picks the slowest requests of a run while package blame charges
// them, and keeps what became of each: what its time was spent on, piece by piece, and
// whose prompts cost it time.
//
// It judges nothing and draws nothing. It keeps four bytes for each request, its
// prompt's length, and the lives of a handful.
package lives
