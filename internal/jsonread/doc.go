// Package jsonread reads JSON from a stream, value by value, into structs that
// say with their tags what they hold. It tells every fault of a file, not the
// first alone, each with its line and its path, as requests[3].itls[7]; it hands
// numbers over as they are written; and it takes what Python writes for numbers
// that are none (NaN, Infinity), so that a file can hold them where nobody looks.
//
// It knows no format.
package jsonread
