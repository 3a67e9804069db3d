package main

import (
	"fmt"
	"io"
	"time"

	"servesim/report"
	"servesim/sweep"

	"github.com/schollz/progressbar/v3"
)

// lineEvery is the time between two lines of the progress of a sweep where stderr
// isn't a terminal.
const lineEvery = 10 * time.Second

// A sweepProgress shows how far a sweep is: a bar on a terminal, a line now and
// then elsewhere, nothing for a sweep that is short.
type sweepProgress struct {
	env    env
	column sweep.Column // of which the best is shown
	at     int          // its index
	last   sweep.Progress
	best   float64
	found  bool
	began  time.Time
	told   time.Time
	out    quiet
	bar    *progressbar.ProgressBar
}

// newSweepProgress returns a progress that shows the best of column, which has
// index at.
func newSweepProgress(e env, at int, column sweep.Column) *sweepProgress {
	now := time.Now()
	return &sweepProgress{env: e, at: at, column: column, began: now, told: now, out: quiet{e.stderr, now}}
}

// show hears of a point that is done.
func (p *sweepProgress) show(now *sweep.Progress) {
	p.last = *now
	if x, ok := now.Row.Value(p.at); ok && (!p.found || (x-p.best)*float64(p.column.Better) > 0) {
		p.best, p.found = x, true
	}
	switch {
	case p.env.tty:
		p.draw()
	case time.Since(p.told) >= lineEvery:
		p.told = time.Now()
		fmt.Fprintf(p.env.stderr, "sweep: %d of %d points%s%s\n", now.Done, now.Points, p.left(), p.sayBest())
	}
}

// draw brings the bar up to date.
func (p *sweepProgress) draw() {
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(int64(p.last.Points),
			progressbar.OptionSetWriter(io.Writer(&p.out)),
			progressbar.OptionSetWidth(barWidth),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionThrottle(200*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	p.bar.Describe(fmt.Sprintf("%d/%d points%s%s", p.last.Done, p.last.Points, p.left(), p.sayBest()))
	_ = p.bar.Set(p.last.Done) // an ornament, as in progress.show
}

// left says how long the rest will take if it goes on like this.
func (p *sweepProgress) left() string {
	if p.last.Ran == 0 {
		return ""
	}
	each := time.Since(p.began) / time.Duration(p.last.Ran)
	left := each * time.Duration(p.last.Points-p.last.Done)
	return ", " + left.Round(time.Second).String() + " left"
}

// sayBest says what the best point so far has.
func (p *sweepProgress) sayBest() string {
	if !p.found {
		return ""
	}
	return fmt.Sprintf(", best %s %s", p.column.Label(), report.Number(p.best))
}

// finish takes the bar away.
func (p *sweepProgress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
