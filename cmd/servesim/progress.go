package main

import (
	"io"
	"time"

	"servesim/sim/observe"

	"github.com/schollz/progressbar/v3"
)

// Progress is shown only for runs that last: nothing is drawn before showAfter,
// and the clock is read once in checkEvery requests.
const (
	showAfter  = 2 * time.Second
	checkEvery = 256
)

// A progress is an observe.Sink that shows on a terminal how many requests have
// left the system. It takes nothing from the run and gives it nothing.
type progress struct {
	out  gate
	done int64
	bar  *progressbar.ProgressBar
}

// A gate is a writer that drops what comes before showAfter.
type gate struct {
	out   io.Writer
	began time.Time
}

// Write implements io.Writer.
func (g *gate) Write(p []byte) (int, error) {
	if time.Since(g.began) < showAfter {
		return len(p), nil
	}
	return g.out.Write(p)
}

// newProgress returns a progress for total requests, or -1 if nobody knows how
// many, on out.
func newProgress(out io.Writer, label string, total int64) *progress {
	p := &progress{out: gate{out, time.Now()}}
	// The bar's own clock begins here, so that its rate and its guess of what
	// is left are of the whole run.
	p.bar = progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(&p.out),
		progressbar.OptionSetDescription(label),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("requests"),
		progressbar.OptionSetPredictTime(total > 0),
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	return p
}

// Request implements observe.Sink.
func (p *progress) Request(*observe.Request) error {
	p.done++
	if p.done%checkEvery == 0 {
		// The bar is an ornament: a terminal that has gone away, or a guess of
		// the total that was too low, must not end the run.
		_ = p.bar.Set64(p.done)
	}
	return nil
}

// Step implements observe.Sink.
func (p *progress) Step(*observe.StepRun) error { return nil }

// finish takes the bar away.
func (p *progress) finish() {
	_ = p.bar.Finish()
}
