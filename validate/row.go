package validate

// Split says what a measured row may be used for.
type Split string

// The splits.
const (
	// Calibration rows are for fitting.
	Calibration Split = "calibration"
	// HeldOut rows are for validation only.
	HeldOut Split = "heldout"
	// Excluded rows are known not to measure what they seem to; their notes say why.
	Excluded Split = "excluded"
)

// Splits lists the splits in the order of tables.
func Splits() []Split { return []Split{HeldOut, Calibration, Excluded} }

// Load says how the requests of a run came.
type Load string

// The loads.
const (
	// Closed is a closed loop of Row.Concurrency users who do not pause.
	Closed Load = "closed"
	// Poisson is an open loop of Row.RatePerS requests a second.
	Poisson Load = "open-poisson"
	// Open is an open loop whose process is not documented.
	Open Load = "open"
	// Offline has all requests queued at the start, without a server in between.
	Offline Load = "offline"
	// Static is one batch of Row.Concurrency requests that begin together.
	Static Load = "static"
)

// Row is one measured serving run: a line of a table. A number that the source
// does not give is 0.
type Row struct {
	// Line is the row's line in the table, counted from 1.
	Line int
	// ID names the row, Note says what to know of it, Source is its key in the
	// list of sources.
	ID, Note, Source string
	Split            Split
	// Model, GPU, Engine and Version are as the source names them.
	Model, GPU, Engine, Version string
	// TP is the number of GPUs that share each layer, EP the ways experts are
	// divided among them; 1 or 0 is that they are not.
	TP, EP int
	// Weights and KV are the number formats; KV may be empty.
	Weights, KV string
	Load        Load
	// Prompt and Output are the nominal lengths in tokens; Lengths says how
	// those of single requests lie about them.
	Prompt, Output int64
	Lengths        string
	Concurrency    int64
	// Rate is the rate of an open loop as the table has it, requests a second.
	Rate string
	// Requests is the number of requests of the run.
	Requests int64
	// MaxNumBatchedTokens is the server's option of that name.
	MaxNumBatchedTokens int64
	// TTFTTrusted tells that the source's TTFT is measured as its name says.
	TTFTTrusted bool
	// Measured is what the run measured, in the order of Metrics.
	Measured [metricCount]float64
}

// Metric is a measured quantity.
type Metric int

// The metrics.
const (
	TTFTMean Metric = iota
	TTFTP90
	TTFTP99
	TPOTMean
	TPOTP99
	E2EMean
	E2EP90
	E2EP99
	OutputRate
	metricCount = iota
)

// Metrics lists the metrics in the order of tables.
func Metrics() []Metric {
	return []Metric{TTFTMean, TTFTP90, TTFTP99, TPOTMean, TPOTP99, E2EMean, E2EP90, E2EP99, OutputRate}
}

// String returns the name of m, which is also its column in a table of measured
// runs. It ends in the unit; that of out_tok_s is output tokens per second of
// the whole replica.
func (m Metric) String() string {
	return [metricCount]string{
		"ttft_mean_ms", "ttft_p90_ms", "ttft_p99_ms", "tpot_mean_ms", "tpot_p99_ms",
		"e2e_mean_ms", "e2e_p90_ms", "e2e_p99_ms", "out_tok_s",
	}[m]
}

// isTTFT tells whether m is a time to the first token.
func (m Metric) isTTFT() bool { return m <= TTFTP99 }
