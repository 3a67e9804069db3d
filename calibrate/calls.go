package calibrate

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"servesim/analysis/transcript"
	"servesim/internal/workers"
	"servesim/sim/gpu"
	"servesim/sim/scheduler"
)

// MeasuredRun is one run of a benchmark against a server, as its client saw it.
type MeasuredRun struct {
	// Name is the file of its export.
	Name string
	// Calls are its requests, Facts what their source knows of them.
	Calls []transcript.Call
	Facts transcript.Facts
	// Setup is the server's machine and Scheduler its limits. The profile of Setup and
	// its host times are those of the fit.
	Setup     gpu.Setup
	Scheduler scheduler.Config
}

// Calls is measured runs as Data: the mean TTFT and the mean TPOT of calls that are
// alike in the load that they met, the tokens of their prompts and the time at which
// they came.
//
// A run is replayed with the calls at the instants at which they were sent, and the
// simulation sees the prompts and answers that the server saw. Of n blocks of a
// run's time, each held out once, a figure has √n times the spread of one of all the
// run: its model's error is the same in each block, so n blocks tell no more.
type Calls struct {
	runs []*replayed
	done func()
}

// The standard deviations of the logarithm of what a single call measures about
// the mean of those like it: its place in the step, the hand-over between processes.
const (
	tpotJitter = 0.1
	ttftJitter = 0.3
)

// leastCalls is the fewest calls that a run can be fitted on.
const leastCalls = 10

// A Left is a number of calls that a fit leaves out, and why.
type Left struct {
	Run, Why string
	N        int
}

// NewCalls prepares runs for a fit, which calls done, if it isn't nil, after each
// simulation of a run, one call at a time. The error names the run and says why
// nothing can be fitted on it.
func NewCalls(runs []MeasuredRun, done func()) (*Calls, []Left, error) {
	c := &Calls{done: done}
	var left []Left
	for i := range runs {
		r, more, err := newReplayed(&runs[i])
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", runs[i].Name, err)
		}
		c.runs, left = append(c.runs, r), append(left, more...)
	}
	return c, left, nil
}

// Parts returns the number of parts of the figures.
func (c *Calls) Parts() int {
	n := 0
	for _, r := range c.runs {
		n = max(n, r.blocks)
	}
	return n
}

// Used returns the number of calls of run i that the fit is of.
func (c *Calls) Used(i int) int { return len(c.runs[i].calls) }

// Bears implements Data.
func (c *Calls) Bears(key string) bool {
	for _, r := range c.runs {
		s := &r.run.Setup
		switch key {
		case "allreduce_skew_s":
			if s.TP > 1 {
				return true
			}
		case "eager_layer_s":
			if s.EnforceEager || s.EagerPrefill != nil && *s.EagerPrefill || s.EagerPrefill == nil && s.Profile.Engine[s.Engine].EagerPrefill {
				return true
			}
		case "kv_bf16_efficiency":
			if s.KV != gpu.FP8 {
				return true
			}
		case "kv_fp8_efficiency":
			if s.KV == gpu.FP8 {
				return true
			}
		case "mixed_step_s":
			return false
		default:
			return true
		}
	}
	return false
}

// Figures implements Data.
func (c *Calls) Figures(ctx context.Context, p *gpu.Profile) ([]Figure, error) {
	figures, faults := make([][]Figure, len(c.runs)), make([]error, len(c.runs))
	var one sync.Mutex
	workers.Each(ctx, runtime.GOMAXPROCS(0), len(c.runs), func(i int) bool {
		figures[i], faults[i] = c.runs[i].figures(ctx, p)
		one.Lock()
		defer one.Unlock()
		if c.done != nil {
			c.done()
		}
		return true
	})
	var all []Figure
	for i := range c.runs {
		if faults[i] != nil {
			return nil, fmt.Errorf("%s: %w", c.runs[i].run.Name, faults[i])
		}
		all = append(all, figures[i]...)
	}
	if err := context.Cause(ctx); err != nil { // so some runs were not begun
		return nil, err
	}
	return all, nil
}
