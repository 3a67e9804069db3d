// Package vllmlog reads what a vLLM server prints: at its start, how the memory of
// each GPU is used and how many KV blocks are left; while it serves, a line of
// statistics every ten seconds. It knows the lines of versions 0.6 to 0.20, V0 and
// V1, with the prefixes of their processes, and leaves all others alone.
//
// It judges no figure and computes none; package calibrate does.
package vllmlog
