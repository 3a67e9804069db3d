package workload

import (
	"io"
	"slices"
	"strconv"

	"servesim/internal/infile"
)

// ZeroRule says what becomes of a row with 0 prompt or output tokens, which no
// engine can serve.
type ZeroRule string

// The zero rules. What ZeroDrop and ZeroOne do is counted in the Report.
const (
	// ZeroDefault is the rule of the format: ZeroDrop for burstgpt and for Foreign
	// ones, in which 0 marks a call that failed, ZeroError for every other.
	ZeroDefault ZeroRule = ""
	// ZeroError makes such a row a Fault.
	ZeroError ZeroRule = "error"
	// ZeroDrop leaves such rows out.
	ZeroDrop ZeroRule = "drop"
	// ZeroOne raises the 0 to 1.
	ZeroOne ZeroRule = "one"
)

// ZeroRules lists the rules that have a name.
func ZeroRules() []ZeroRule { return []ZeroRule{ZeroError, ZeroDrop, ZeroOne} }

// Options says how to read a trace. The zero value finds the format by the
// content, takes rows in the order of the file and refuses what it cannot
// replay.
type Options struct {
	// Format is the name of one of Formats or Foreign, or empty to tell it by
	// content.
	Format string
	// Foreign are formats that another package reads.
	Foreign []Foreign
	// Columns says which columns of a plain CSV file to read. It goes with the
	// format csv, which it implies.
	Columns Columns
	// Sort puts rows in order of arrival, keeping the file's order where two
	// arrive at once, and counts those that were out of order. It holds the
	// whole trace in memory. Without it such a row is a Fault.
	Sort bool
	// ZeroTokens says what becomes of rows with 0 tokens.
	ZeroTokens ZeroRule
	// Stdin is what Open reads for the path "-"; nil makes that path a Fault.
	Stdin io.Reader
	// BlockTokens is the number of tokens that a hash id of a Mooncake trace
	// covers; 0 is 512.
	BlockTokens int32
}

// Columns names the columns of a plain CSV file. Names match whatever their
// case and the spaces around them.
type Columns struct {
	// Arrival, Prompt and Output must be given.
	Arrival, Prompt, Output string
	// ID, Session, Class and Priority may be empty, and then are not read.
	ID, Session, Class, Priority string
	// Unit is that of Arrival: s, ms, us or ns since any origin, or iso for
	// dates with times. Empty is iso if the first row holds a date; a bare
	// number then is a Fault, because its unit would be a guess.
	Unit string
}

// csvName is the name of the format that Columns describe.
const csvName = "csv"

// check returns the first fault of the options, and completes them.
func (o *Options) check(file string) *Fault {
	f := &Fault{File: file}
	if o.Columns != (Columns{}) && o.Format == "" {
		o.Format = csvName
	}
	switch names := formatNames(o.allFormats()); {
	case o.Format != "" && !slices.Contains(names, o.Format):
		f.Field, f.Found, f.Want = "workload.format", infile.Quote([]byte(o.Format)), infile.List(names, "or")
	case o.Columns != (Columns{}) && o.Format != csvName:
		f.Field, f.Found, f.Want = "workload.columns", "it together with the format "+o.Format, "it with the format "+csvName+" only"
	case o.ZeroTokens != ZeroDefault && !slices.Contains(ZeroRules(), o.ZeroTokens):
		f.Field, f.Found, f.Want = "workload.zero_tokens", infile.Quote([]byte(o.ZeroTokens)), "error, drop or one"
	case o.BlockTokens < 0:
		f.Field, f.Found, f.Want = "workload.block_tokens", strconv.Itoa(int(o.BlockTokens)), "1 or more, or 0 for the format's own"
	default:
		return nil
	}
	return f
}
