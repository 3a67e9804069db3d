package main

import (
	"io"
	"time"

	"servesim/sim/observe"

	"github.com/schollz/progressbar/v3"
)

// Progress is shown only for runs that last: the bar appears after showAfter,
// and the clock is read once in checkEvery requests.
const (
	showAfter  = 2 * time.Second
	checkEvery = 256
)

// A progress is an observe.Sink that shows on a terminal how many requests have
// left the system. It takes nothing from the run and gives it nothing.
type progress struct {
	out   io.Writer
	total int64 // requests expected, or -1 if nobody knows
	label string
	began time.Time
	done  int64
	bar   *progressbar.ProgressBar
}

// newProgress returns a progress for total requests, or -1, on out.
func newProgress(out io.Writer, label string, total int64) *progress {
	return &progress{out: out, label: label, total: total, began: time.Now()}
}

// Request implements observe.Sink.
func (p *progress) Request(*observe.Request) error {
	p.done++
	if p.done%checkEvery != 0 {
		return nil
	}
	if p.bar == nil {
		if time.Since(p.began) < showAfter {
			return nil
		}
		p.bar = progressbar.NewOptions64(p.total,
			progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetDescription(p.label),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString("requests"),
			progressbar.OptionSetPredictTime(p.total > 0),
			progressbar.OptionThrottle(200*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	// The bar is an ornament: a terminal that has gone away must not end the run.
	_ = p.bar.Set64(p.done)
	return nil
}

// Step implements observe.Sink.
func (p *progress) Step(*observe.StepRun) error { return nil }

// finish takes the bar away.
func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
