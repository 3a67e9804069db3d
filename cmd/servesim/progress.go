package main

import (
	"fmt"
	"io"
	"time"

	"servesim/sim/observe"
	"servesim/sim/workload"

	"github.com/schollz/progressbar/v3"
)

// Progress is shown only for runs that last: nothing is drawn before showAfter,
// and the clock is read once in checkEvery requests.
const (
	showAfter  = 2 * time.Second
	checkEvery = 256
)

// maxLabel is the most characters of a label, so that a bar fits beside it.
const maxLabel = 24

// A progress is an observe.Sink that shows on a terminal how many requests have
// left the system. It takes nothing from the run and gives it nothing.
type progress struct {
	out   gate
	label string
	done  int64
	bar   *progressbar.ProgressBar

	trace *tracked // what the bar is a share of; nil if it's of the requests
	part  int64    // bytes of it that the bar shows
}

// A tracked is a workload that reads a trace from its begin to its end, and
// counts the requests that arrived.
type tracked struct {
	workload.Source
	trace   *workload.Trace
	arrived int64
}

// Next implements workload.Source.
func (t *tracked) Next() (workload.Request, error) {
	r, err := t.Source.Next()
	if err == nil {
		t.arrived++
	}
	return r, err
}

// part returns how much of a run is over after done requests have left the system,
// and of how much, both in bytes of the trace. Of the bytes read, those of the
// requests still in the system are yet to come: an engine that is behind its trace
// ends long after it. Until the run ends, part is below total.
func (t *tracked) part(done int64) (part, total int64) {
	read, total := t.trace.Progress()
	share := float64(done) / float64(max(t.arrived, 1))
	return min(int64(float64(read)*share), total-1), total
}

// tracked returns the workload of s as one whose progress its trace tells, or
// nil: only a trace of known size that is read once, in order and to its end
// does.
func (in *input) tracked(s *scenario) *tracked {
	t := &s.Transform
	if in.trace == nil || in.total >= 0 || s.Workload.Sort || t.From != nil || t.To != nil || t.Rate != nil && *t.Rate > 1 || s.Run.Horizon != nil {
		return nil
	}
	if _, total := in.trace.Progress(); total == 0 {
		return nil
	}
	return &tracked{Source: in.source, trace: in.trace}
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
	return makeProgress(out, label, total,
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("requests"),
		progressbar.OptionSetPredictTime(total > 0),
	)
}

// newTraceProgress returns a progress for the requests of t, on out.
func newTraceProgress(out io.Writer, label string, t *tracked) *progress {
	_, total := t.trace.Progress()
	p := makeProgress(out, label, total, progressbar.OptionSetPredictTime(true))
	p.trace = t
	return p
}

// makeProgress returns a progress with a bar of total, shown as options say.
func makeProgress(out io.Writer, label string, total int64, options ...progressbar.Option) *progress {
	if r := []rune(label); len(r) > maxLabel {
		label = string(r[:maxLabel-1]) + "…"
	}
	p := &progress{out: gate{out, time.Now()}, label: label}
	// The bar's own clock begins here, so that its rate and its guess of what
	// is left are of the whole run.
	p.bar = progressbar.NewOptions64(total, append(options,
		progressbar.OptionSetWriter(&p.out),
		progressbar.OptionSetDescription(label),
		progressbar.OptionFullWidth(), // 80 columns: a gate has no width of its own
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)...)
	return p
}

// Request implements observe.Sink.
func (p *progress) Request(*observe.Request) error {
	p.done++
	if p.done%checkEvery == 0 {
		p.show()
	}
	return nil
}

// show brings the bar up to date. The bar is an ornament: a terminal that has
// gone away, or a guess of the total that was too low, must not end the run.
func (p *progress) show() {
	if p.trace == nil {
		_ = p.bar.Set64(p.done)
		return
	}
	// A burst of arrivals lowers the share that has left; the bar waits.
	part, _ := p.trace.part(p.done)
	p.part = max(p.part, part)
	_ = p.bar.Set64(p.part)
	rate := float64(p.done) / time.Since(p.out.began).Seconds()
	p.bar.Describe(fmt.Sprintf("%s: %s requests, %s/s", p.label, grouped(p.done), grouped(int64(rate))))
}

// Step implements observe.Sink.
func (p *progress) Step(*observe.StepRun) error { return nil }

// finish takes the bar away.
func (p *progress) finish() {
	_ = p.bar.Finish()
}
