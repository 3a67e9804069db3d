// Package figure turns runs and tables of runs into figures: what a picture shows,
// as numbers and words, and nothing of how it is drawn.
//
// Latencies and History collect what figures of a run need, as sinks, in memory that
// doesn't grow with the run. A function for each kind makes the Figure. A drawer of
// still pictures and the HTML page draw the same ones, so that they can't differ.
//
// Everything in a figure is of the plainest types and goes through JSON: a number is
// never NaN or infinite, what has no data has no point. A figure carries its words
// too: a caption with the counts that it rests on, and a text for those who don't see
// it, both made from its numbers.
//
// A long run has more steps than a picture has columns. Series in time are thinned to
// some hundreds of points, by cells of time first, of which each keeps its longest,
// then by the largest triangles (LTTB, Steinarsson 2013) between the extremes. Curves of
// distributions keep the corners of their jumps.
package figure
