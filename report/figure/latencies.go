package figure

import (
	"servesim/analysis"
	"servesim/sim"
	"servesim/sim/observe"
)

// A Metric is a latency that is shown.
type Metric string

// The metrics, with the names that reports have for them in files.
const (
	TTFT     Metric = "ttft"
	TPOT     Metric = "tpot"
	ITL      Metric = "itl"
	WorstGap Metric = "max_gap"
	E2E      Metric = "e2e"
)

// Metrics lists every metric in the order of reports.
func Metrics() []Metric { return []Metric{TTFT, TPOT, ITL, WorstGap, E2E} }

// Title returns what people call m.
func (m Metric) Title() string {
	switch m {
	case TTFT:
		return "TTFT"
	case TPOT:
		return "TPOT"
	case ITL:
		return "ITL"
	case WorstGap:
		return "worst gap"
	}
	return "E2E"
}

// unit returns the name of one value of m.
func (m Metric) unit() string {
	if m == ITL {
		return "gap"
	}
	return "request"
}

// Latencies is an observe.Sink that counts the latencies of a run: of completed
// requests, and every gap between tokens. The zero value has none.
type Latencies struct {
	ttft, tpot, worst, e2e analysis.Curve
	itl                    analysis.GapCurve
	// Requests is the number of requests of all outcomes, and Completed of those that
	// completed.
	Requests, Completed int64
}

// Request implements observe.Sink.
func (l *Latencies) Request(r *observe.Request) error {
	l.Requests++
	if r.Outcome != observe.Completed {
		return nil
	}
	l.Completed++
	l.ttft.Add(max(0, r.First.Sub(r.Arrival)))
	l.e2e.Add(max(0, r.Last.Sub(r.Arrival)+r.Response))
	if r.Output > 1 {
		l.worst.Add(max(0, r.MaxGap))
		l.tpot.Add(max(0, tpotOf(r)))
	}
	return nil
}

// Step implements observe.Sink. It is an error if a gap cannot be.
func (l *Latencies) Step(r *observe.StepRun) error {
	for i := range r.Gaps {
		if err := l.itl.Add(&r.Gaps[i]); err != nil {
			return err
		}
	}
	return nil
}

// curve is what Latencies counts of a metric.
type curve interface {
	Buckets() []analysis.Bucket
	Distribution(ps []analysis.Percentile) analysis.Distribution
}

// of returns the curve of m.
func (l *Latencies) of(m Metric) curve {
	switch m {
	case TTFT:
		return &l.ttft
	case TPOT:
		return &l.tpot
	case ITL:
		return &l.itl
	case WorstGap:
		return &l.worst
	}
	return &l.e2e
}

// AtLeast returns the number of values of m of d or more, as far as its buckets tell
// them apart.
func (l *Latencies) AtLeast(m Metric, d sim.Duration) int64 { return atLeast(l.of(m).Buckets(), d) }
