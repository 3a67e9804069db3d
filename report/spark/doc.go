// Package spark draws latencies for a terminal: histograms of one line and small
// ECDFs, of block characters or of ASCII.
//
// It draws what package report/figure says is in a picture, and fits 80 columns.
package spark
