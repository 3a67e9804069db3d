package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"servesim/analysis"
	"servesim/internal/workers"
	"servesim/scenario"
)

// A Sweep is a plan whose points are known, and the folder of their results.
type Sweep struct {
	Plan   *Plan
	Points []Point

	folder folder
	loader *loader
}

// Open settles every point of a plan, with jobs goroutines, and holds that folder
// is that of this plan, or makes it so. The error is a scenario.UsageError if the
// plan, or what it names, is at fault or has changed.
func Open(ctx context.Context, p *Plan, dir string, jobs int) (*Sweep, error) {
	if err := p.readBase(); err != nil {
		return nil, err
	}
	l := newLoader(p)
	points, err := l.points(ctx, jobs)
	if err != nil {
		return nil, err
	}
	s := &Sweep{Plan: p, Points: points, folder: folder(dir), loader: l}
	return s, s.folder.begin(p, points, scenario.Version())
}

// readBase reads the text of the base scenario, so that all points have the same.
func (p *Plan) readBase() error {
	if p.Base.Path == "" {
		p.BaseText = scenario.Default()
		return nil
	}
	text, err := os.ReadFile(p.Base.Path)
	if err != nil {
		return usagef("%s: scenario: %w", p.File, err)
	}
	if strings.TrimSpace(string(text)) == "" {
		return usagef("%s: is empty; a scenario begins with schema = 1", p.Base.Path)
	}
	p.BaseText = string(text)
	return nil
}

// Options say how points are simulated.
type Options struct {
	// Jobs is the number of points under way at once, at least 1.
	Jobs int
	// Shard is the part of the points that is simulated; the zero value is all.
	Shard Shard
	// Progress, if it isn't nil, hears of each point that is done, those that were
	// there before included, from one goroutine at a time.
	Progress func(*Progress)
}

// Progress is how far a sweep, or a shard of one, is.
type Progress struct {
	// Done of Points are done, Ran of them by this run, and Mended of those because
	// their files were damaged.
	Points, Done, Ran, Mended int
	// Point is the one that was done last, and Row what it came to.
	Point *Point
	Row   Row
}

// Run simulates the points that have no result yet. When ctx ends, those under way
// are finished and kept, and the error is an *Interrupted. A point that cannot run
// doesn't keep the others from running.
func (s *Sweep) Run(ctx context.Context, o Options) error {
	mine, err := o.Shard.of(s.Points)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	faults := make([]error, len(mine)) // of each point
	wrong := 0
	var broken error
	p := Progress{Points: len(mine)}
	workers.Each(ctx, o.Jobs, len(mine), func(i int) bool {
		row, why, err := s.one(ctx, mine[i])
		var usage *scenario.UsageError
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			p.count(mine[i], row, why)
			if o.Progress != nil {
				o.Progress(&p)
			}
			return true
		case errors.As(err, &usage):
			faults[i] = fmt.Errorf("%s: %s: %w", s.Plan.File, mine[i].Name(), err)
			wrong++
			return true
		}
		broken = fmt.Errorf("%s: %w", mine[i].Name(), err)
		return false
	})
	switch {
	case broken != nil:
		return broken
	case p.Done+wrong < len(mine):
		return &Interrupted{Done: p.Done, Points: len(mine)}
	}
	faults = slices.DeleteFunc(faults, func(err error) bool { return err == nil })
	if more := len(faults) - maxTold; more > 0 {
		faults = append(faults[:maxTold], fmt.Errorf("%s: %d more points came to nothing", s.Plan.File, more))
	}
	return usage(faults)
}

// count takes in that a point is done.
func (p *Progress) count(pt *Point, row Row, why reason) {
	p.Point, p.Row = pt, row
	p.Done++
	if why != there {
		p.Ran++
	}
	if why == damaged {
		p.Mended++
	}
}

// Interrupted reports that a sweep ended before all its points were done.
type Interrupted struct{ Done, Points int }

// Error implements error.
func (e *Interrupted) Error() string {
	return fmt.Sprintf("interrupted: %d of %d points are done and kept; the same command does the rest", e.Done, e.Points)
}

// A reason says why a point had to be simulated.
type reason int

// The reasons.
const (
	there   reason = iota // it hadn't to be
	missing               // it had no file
	damaged               // its file wasn't whole
)

// one returns the row of a point, and why it had to be simulated for it.
func (s *Sweep) one(ctx context.Context, pt *Point) (row Row, why reason, err error) {
	row, err = s.folder.read(pt)
	var d *Damaged
	switch {
	case errors.Is(err, errNoPoint):
		why = missing
	case errors.As(err, &d):
		why = damaged
	default:
		return row, there, err
	}
	row, err = s.simulate(context.WithoutCancel(ctx), pt)
	if err != nil {
		return row, why, err
	}
	return row, why, s.folder.write(pt, row)
}

// simulate runs a point.
func (s *Sweep) simulate(ctx context.Context, pt *Point) (Row, error) {
	if pt.Reason != "" {
		return Row{Reason: pt.Reason}, nil
	}
	p, err := s.loader.load(pt.Settings)
	if err != nil {
		return Row{}, err
	}
	r, err := p.Simulate(ctx, scenario.Options{Percentiles: analysis.TailPercentiles()})
	var usage *scenario.UsageError
	if s.Plan.Skip && errors.As(err, &usage) {
		return Row{Reason: s.loader.reason(err)}, nil
	}
	if err != nil {
		return Row{}, err
	}
	row := Row{}
	for _, c := range Columns() {
		row.Values = append(row.Values, c.of(r))
	}
	return row, nil
}

// usagef returns a scenario.UsageError with a formatted text.
func usagef(format string, args ...any) error {
	return &scenario.UsageError{Err: fmt.Errorf(format, args...)}
}

// orDefault returns path, or what messages call the embedded scenario.
func orDefault(path string) string {
	if path == "" {
		return "the default scenario"
	}
	return path
}
