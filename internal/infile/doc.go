// Package infile is what every reader of input files needs before it knows their
// format: gzip and zstd are unwrapped, files that are no text are told from those
// that are, and what is wrong with one is said the same way.
//
// It opens no file and knows no format.
package infile
