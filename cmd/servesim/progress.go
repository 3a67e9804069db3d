package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"servesim/analysis"
	"servesim/scenario"
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

// A line of progress is "LABEL: 1,234 requests, 56/s  42% |███       |  [1m5s:2m8s]"
// and fits 80 columns, so that no terminal wraps it: beforeBar is what the label
// and the facts get, of which the label has minLabel at least, barWidth the bar,
// and the rest is for the share and two times of up to 7 characters.
const (
	beforeBar = 42
	minLabel  = 8
	barWidth  = 10
)

// A progress is an observe.Sink that shows on a terminal how many requests have
// left the system. It takes nothing from the run and gives it nothing.
type progress struct {
	out   quiet
	label string
	done  int64
	bar   *progressbar.ProgressBar

	trace *tracked // what the bar is a share of; nil if it's of the requests
	part  int64    // bytes of it, or requests, that the bar shows
}

// A tracked is a workload that reads one or more traces, each from its begin to
// its end, and counts the requests that arrived.
type tracked struct {
	workload.Source
	traces  []*workload.Trace
	arrived int64
}

// read returns how many bytes of the traces are read, and of how many.
func (t *tracked) read() (read, total int64) {
	for _, one := range t.traces {
		r, n := one.Progress()
		read, total = read+r, total+n
	}
	return read, total
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
// and of how much, both in bytes of its traces. Of the bytes read, those of the
// requests still in the system are yet to come: an engine that is behind its trace
// ends long after it. Until the run ends, part is below total.
func (t *tracked) part(done int64) (part, total int64) {
	read, total := t.read()
	share := float64(done) / float64(max(t.arrived, 1))
	return min(int64(float64(read)*share), total-1), total
}

// newTracked returns the workload of s as one whose progress its traces tell, or
// nil: only traces of known size that are read once, in order and to their end
// do.
func newTracked(in *scenario.Opened, s *scenario.Scenario) *tracked {
	t := &s.Transform
	if in.Total >= 0 || t.From != nil || t.To != nil || t.Rate != nil && *t.Rate > 1 || s.Run.Horizon != nil {
		return nil
	}
	for i, p := range s.Workload.Parts() {
		if in.Traces[i] == nil || p.Sort {
			return nil
		}
		if _, total := in.Traces[i].Progress(); total == 0 {
			return nil
		}
	}
	return &tracked{Source: in.Source, traces: in.Traces}
}

// A quiet is a writer that drops what comes before showAfter.
type quiet struct {
	out   io.Writer
	began time.Time
}

// Write implements io.Writer.
func (g *quiet) Write(p []byte) (int, error) {
	if time.Since(g.began) < showAfter {
		return len(p), nil
	}
	return g.out.Write(p)
}

// newProgress returns a progress for total requests, or -1 if nobody knows how
// many, on out.
func newProgress(out io.Writer, label string, total int64) *progress {
	p := &progress{out: quiet{out, time.Now()}, label: label}
	// The bar's own clock begins here, so that its rate and its guess of what
	// is left are of the whole run.
	p.bar = progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(&p.out),
		progressbar.OptionSetDescription(p.describe(0)),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionSetPredictTime(total > 0),
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	return p
}

// newTraceProgress returns a progress for the requests of t, on out.
func newTraceProgress(out io.Writer, label string, t *tracked) *progress {
	_, total := t.read()
	p := newProgress(out, label, total)
	p.trace = t
	return p
}

// describe says what stands before the bar: the label, as far as it fits, and
// how many requests are done.
func (p *progress) describe(rate int64) string {
	facts := fmt.Sprintf(": %s, %s/s", analysis.Counted(p.done, "request"), analysis.Grouped(rate))
	label := []rune(p.label)
	if room := max(minLabel, beforeBar-len(facts)); len(label) > room {
		label = append(label[:room-1:room-1], '…')
	}
	return string(label) + facts
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
	part := p.done
	if p.trace != nil {
		part, _ = p.trace.part(p.done)
	}
	// A burst of arrivals lowers the share of a trace that has left; the bar waits.
	p.part = max(p.part, part)
	p.bar.Describe(p.describe(int64(float64(p.done) / time.Since(p.out.began).Seconds())))
	_ = p.bar.Set64(p.part)
}

// Step implements observe.Sink.
func (p *progress) Step(*observe.StepRun) error { return nil }

// finish takes the bar away, if there is one.
func (p *progress) finish() {
	if p == nil {
		return
	}
	_ = p.bar.Finish()
}

// A runsProgress shows on a terminal how many of several runs are done. Its
// methods may be called at the same time.
type runsProgress struct {
	mu    sync.Mutex
	bar   *progress
	total int
}

// newRunsProgress returns a progress for total runs, nil without a terminal.
func newRunsProgress(e env, label string, total int) *runsProgress {
	if !e.tty {
		return nil
	}
	return &runsProgress{bar: newProgress(e.stderr, label, int64(total)), total: total}
}

// one says that one more run is done.
func (r *runsProgress) one() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bar.done++
	r.bar.bar.Describe(fmt.Sprintf("%s: %d of %d", r.bar.label, r.bar.done, r.total))
	_ = r.bar.bar.Set64(r.bar.done) // an ornament must not end the runs
}

// finish takes the bar away, if there is one.
func (r *runsProgress) finish() {
	if r != nil {
		r.bar.finish()
	}
}
