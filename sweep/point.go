package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"servesim/analysis"
	"servesim/internal/workers"
	"servesim/scenario"
)

// A Point is one scenario of a plan.
type Point struct {
	// Index is its place in the plan, from 0.
	Index int
	// ID names the point: 128 bits, in hexadecimal, of the SHA-256 of everything
	// that its result follows from. Two points that differ in nothing have the same.
	ID string
	// Settings are those that make it differ from other points, an axis each.
	Settings []scenario.Setting
	// Reason says why its scenario cannot run; empty if it can.
	Reason string

	limited bool // its scenario has limits of goodput
}

// Len returns the number of points.
func (p *Plan) Len() int {
	n := 1
	for _, axis := range p.crossed() {
		n *= len(axis)
	}
	return n
}

// crossed returns the lists that are crossed with each other.
func (p *Plan) crossed() [][]choice {
	list := slices.Clone(p.axes)
	if p.cases != nil {
		list = slices.Insert(list, 0, p.cases)
	}
	if p.draws != nil {
		list = append(list, p.draws)
	}
	return list
}

// settings returns what point i changes.
func (p *Plan) settings(i int) []scenario.Setting {
	axes := p.crossed()
	picks := make([]choice, len(axes))
	for k, axis := range slices.Backward(axes) {
		picks[k] = axis[i%len(axis)]
		i /= len(axis)
	}
	return slices.Concat(picks...)
}

// A loader makes points of a plan. It is for several goroutines.
type loader struct {
	plan  *Plan
	shelf *scenario.Shelf
	mu    sync.Mutex
	sums  map[string]func() (string, error) // SHA-256 of files, by path
}

// newLoader returns a loader of p.
func newLoader(p *Plan) *loader {
	return &loader{plan: p, shelf: &scenario.Shelf{}, sums: map[string]func() (string, error){}}
}

// load settles the scenario of a point that has settings.
func (l *loader) load(settings []scenario.Setting) (*scenario.Plan, error) {
	src, err := l.plan.Base.With(settings)
	if err != nil {
		return nil, err
	}
	src.Shelf = l.shelf
	if src.Path != "" { // so that all points begin with the same text
		src.Content = l.plan.BaseText
	}
	p, err := scenario.Load(src)
	if err != nil || !l.plan.Own {
		return p, err
	}
	sum := sha256.Sum256([]byte(p.Scenario.Hash()))
	seed := int64(binary.BigEndian.Uint64(sum[:]) >> 1) // as TOML has integers
	src.Settings = slices.DeleteFunc(slices.Clone(src.Settings), func(s scenario.Setting) bool { return s.Key == "seed" })
	own, err := scenario.NewSetting("seed", seed, "common_random_numbers")
	if err != nil {
		return nil, err
	}
	src.Settings = append(src.Settings, own)
	return scenario.Load(src)
}

// point returns point i of the plan. The error is that of a file that can't be
// read; a scenario that cannot run is the point's Reason.
func (l *loader) point(i int) (Point, error) {
	pt := Point{Index: i, Settings: l.plan.settings(i)}
	text := "servesim point\n" + scenario.Version() + "\n"
	p, err := l.load(pt.Settings)
	var usage *scenario.UsageError
	if errors.As(err, &usage) {
		pt.Reason = l.reason(err)
		for _, s := range slices.Concat(l.plan.Base.Settings, pt.Settings) {
			text += s.Key + "=" + scenario.ValueText(s.Value) + "\n"
		}
		text += l.plan.BaseText
	} else if err != nil {
		return pt, err
	} else {
		pt.limited = len(p.SLO.Goodput) > 0
		h := p.Header()
		text += strings.Join([]string{h.Scenario, h.Profile, h.Model}, "\n")
		if price := p.Machine.Profile.Price; price != nil { // which those don't count
			text += fmt.Sprintf("\nprice %v", price.USDPerGPUHour)
		}
		for _, w := range p.Scenario.Workload.Parts() {
			if w.Trace == "" {
				continue
			}
			sum, err := l.sum(w.Trace)
			var usage *scenario.UsageError
			if errors.As(err, &usage) {
				return pt, usagef("%s: %s.trace: %w", l.plan.File, w.Key, err)
			}
			if err != nil {
				return pt, err
			}
			text += "\n" + w.Key + " " + sum
		}
	}
	pt.ID = checksum(text)[:32]
	return pt, nil
}

// reason returns what err says, on one line and the same wherever the plan lies.
func (l *loader) reason(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	for _, path := range []string{l.plan.File, l.plan.Base.Path} {
		if path != "" {
			text = strings.ReplaceAll(text, path, filepath.Base(path))
		}
	}
	return text
}

// sum returns the SHA-256 of a file, which is read once.
func (l *loader) sum(path string) (string, error) {
	l.mu.Lock()
	once, ok := l.sums[path]
	if !ok {
		once = sync.OnceValues(func() (string, error) { return fileSum(path) })
		l.sums[path] = once
	}
	l.mu.Unlock()
	return once()
}

// fileSum returns the SHA-256 of the file at path.
func fileSum(path string) (string, error) {
	if path == scenario.StdinPath {
		return "", &scenario.UsageError{Err: errors.New("a sweep replays its traces again and again, and standard input can be read only once; write it to a file first")}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", &scenario.UsageError{Err: err}
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", &scenario.UsageError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// points returns every point of the plan, made by jobs goroutines.
func (l *loader) points(ctx context.Context, jobs int) ([]Point, error) {
	list := make([]Point, l.plan.Len())
	errs := make([]error, len(list))
	workers.Each(ctx, jobs, len(list), func(i int) bool {
		list[i], errs[i] = l.point(i)
		return errs[i] == nil
	})
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return list, l.judge(list)
}

// maxTold is how many faults of points are told one by one.
const maxTold = 10

// judge returns the faults of points: those that cannot run, unless the plan skips
// them and others can, and those that are the same.
func (l *loader) judge(points []Point) error {
	faults := l.twins(points)
	wrong := slices.DeleteFunc(slices.Clone(points), func(pt Point) bool { return pt.Reason == "" })
	if len(wrong) == 0 || l.plan.Skip && len(wrong) < len(points) {
		return usage(faults)
	}
	faults = append(faults, l.reasons(wrong)...)
	if len(wrong) < len(points) {
		faults = append(faults, fmt.Errorf("%s: nothing was simulated; mend these points, or write infeasible = \"skip\" into the plan, and they are rows that say why", l.plan.File))
	}
	return usage(faults)
}

// reasons tells why points cannot run, a reason that several have once.
func (l *loader) reasons(wrong []Point) []error {
	count := map[string]int{}
	var first []Point // with each reason
	for _, pt := range wrong {
		if count[pt.Reason]++; count[pt.Reason] == 1 {
			first = append(first, pt)
		}
	}
	var faults []error
	for _, pt := range first[:min(len(first), maxTold)] {
		name := pt.Name()
		if more := count[pt.Reason] - 1; more > 0 {
			name += fmt.Sprintf(" (and %s)", analysis.Counted(int64(more), "other"))
		}
		faults = append(faults, fmt.Errorf("%s: %s: %s", l.plan.File, name, pt.Reason))
	}
	if more := len(first) - maxTold; more > 0 {
		faults = append(faults, fmt.Errorf("%s: %s more why points cannot run", l.plan.File, analysis.Counted(int64(more), "reason")))
	}
	return faults
}

// twins returns a fault for each point that is the same as one before it.
func (l *loader) twins(points []Point) []error {
	var faults []error
	first := map[string]int{}
	for _, pt := range points {
		if same, found := first[pt.ID]; found {
			faults = append(faults, fmt.Errorf("%s: points %d and %d are the same scenario: %s; leave one out", l.plan.File, same+1, pt.Index+1, pt.Name()))
			continue
		}
		first[pt.ID] = pt.Index
	}
	if more := len(faults) - maxTold; more > 0 {
		faults = append(faults[:maxTold], fmt.Errorf("%s: %d more points are the same as others", l.plan.File, more))
	}
	return faults
}

// usage makes one fault of what was given of errs, nil if there are none.
func usage(errs []error) error {
	if err := errors.Join(errs...); err != nil {
		return &scenario.UsageError{Err: err}
	}
	return nil
}

// Name says what makes the point differ from others.
func (p *Point) Name() string {
	var parts []string
	for _, s := range p.Settings {
		parts = append(parts, s.Text)
	}
	return strings.Join(parts, " ")
}
