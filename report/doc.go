// Package report presents what package analysis found, one file a format. It
// computes nothing and writes to an io.Writer only; no colour, no terminal.
package report
