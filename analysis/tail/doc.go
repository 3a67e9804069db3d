// Package tail works out what percentiles, means and goodput say of a population
// of gaps between tokens that is made up: so many at 7 ms and so many at 60 ms, or
// a lognormal body and one spike in a hundred. It shows why P99 TPOT, of means over
// answers, lies nearer the mean than P99 ITL, of gaps, and how goodput falls as a
// limit tightens.
//
// What has a closed form is exact. The rest is drawn: answers are made into
// records and measured as those of any run are, by package analysis. Gaps are
// independent here, which those of an engine are not: this is a laboratory, not a
// model of one.
package tail
