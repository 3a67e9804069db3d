package workload

import (
	"slices"

	"servesim/sim"
)

// Report says what a Trace read and what it did with it, so far.
type Report struct {
	// File is the path or name of the trace, Format the name of its format and
	// Compression gzip, zstd or empty.
	File, Format, Compression string
	// Origin is what the trace says of where it comes from, or empty.
	Origin string
	// Rows is the number of rows read, Kept that of the requests they made. The
	// difference is in Dropped.
	Rows, Kept int64
	// Dropped says why rows were left out, in order of the first of each kind.
	Dropped []Count
	// Raised is the number of zeros that ZeroOne raised to 1.
	Raised int64
	// OutOfOrder is the number of rows that came after a row with a later
	// time, and were sorted.
	OutOfOrder int64
	// Ties is the number of requests that arrive with the one before them: a
	// sign of a coarse clock if there are many.
	Ties int64
	// Span is the time from the first arrival to the last.
	Span sim.Duration
	// PromptTokens and OutputTokens are the sums over the kept requests.
	PromptTokens, OutputTokens int64
	// Hashed is the number of kept requests that have prefix hashes.
	Hashed int64
	// BlockTokens is the number of tokens that a prefix hash covers; 0 if the
	// trace has none or says it row by row.
	BlockTokens int32
	// Ignored lists the columns or keys that were not read.
	Ignored []string
	// Notes say what else a reader should know, a sentence each.
	Notes []string
}

// Count is a number of things of one kind.
type Count struct {
	// What names the kind, such as "0 output tokens".
	What string
	// N is how many there were.
	N int64
}

// addCount adds n to the count of what.
func addCount(counts []Count, what string, n int64) []Count {
	for i := range counts {
		if counts[i].What == what {
			counts[i].N += n
			return counts
		}
	}
	return append(counts, Count{what, n})
}

// Report says what has been read so far; after io.EOF, of the whole trace.
func (t *Trace) Report() Report {
	r := t.report
	r.Dropped = slices.Clone(r.Dropped)
	t.rows.describe(&r)
	return r
}
