// Package transcript is what the client of an engine saw of its requests, chunk
// by chunk: the common ground of a simulated run and of a benchmark tool's
// export, from which package dialect computes each tool's figures.
//
// It knows nothing of files and computes no metric.
package transcript
