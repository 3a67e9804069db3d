package sweep

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"servesim/internal/strict"
	"servesim/scenario"
	"servesim/sim"
)

// planSchema is the version of plan files that servesim reads.
const planSchema = 1

// maxPoints is the most points of a plan.
const maxPoints = 1_000_000

// A Plan says which scenarios a sweep simulates, and in which order.
type Plan struct {
	// File is the path of the plan and Text its content; Name is what it calls itself,
	// if it does.
	File, Text, Name string
	// Base is the scenario that all points begin with, under the settings that all
	// have, and BaseText its content.
	Base     scenario.Source
	BaseText string
	// Axes are the keys in which points differ, in the order of the plan.
	Axes []Axis
	// Own tells that each point draws from a seed of its own, which follows from the
	// rest of its scenario. Otherwise points that have the same workload and seed
	// see the same requests: common random numbers.
	Own bool
	// Skip tells that a point whose scenario cannot run is a result, not a fault.
	Skip bool

	cases []choice
	axes  [][]choice // crossed with cases and with each other, the last turning fastest
	draws []choice   // crossed with all of these
}

// An Axis is a key in which points differ.
type Axis struct {
	Key  string // in full
	Name string // as the plan has it
}

// A choice is what one value of an axis, or several together, change.
type choice []scenario.Setting

// file is a plan file.
type file struct {
	Schema   int64            `toml:"schema"`
	Name     string           `toml:"name"`
	Scenario string           `toml:"scenario"`
	Common   *bool            `toml:"common_random_numbers"`
	Invalid  string           `toml:"infeasible"`
	Set      scenario.Table   `toml:"set"`
	List     []scenario.Table `toml:"list"`
	Grid     scenario.Table   `toml:"grid"`
	Windows  *windows         `toml:"windows"`
	Sample   *sample          `toml:"sample"`
}

// windows cuts stretches of time out of the workload, one after another.
type windows struct {
	From  sim.Duration  `toml:"from"`
	Width sim.Duration  `toml:"width"`
	Step  *sim.Duration `toml:"step"` // from one begin to the next; the width if absent
	Count int64         `toml:"count"`
}

// ReadPlan reads the plan with the content text of the file called path; the
// scenario that it names is still to be read, from Base.Path. The error is a
// scenario.UsageError of every fault.
func ReadPlan(path, text string) (*Plan, error) {
	tree, err := strict.Parse(path, text)
	if err != nil {
		return nil, &scenario.UsageError{Err: err}
	}
	where := strict.Where(path, text)
	if f, ok := strict.Schema(tree, planSchema, where); !ok {
		return nil, scenario.FaultsError([]strict.Fault{f})
	}
	var f file
	if err := scenario.FaultsError(strict.Decode(tree, &f, where)); err != nil {
		return nil, err
	}
	r := reader{plan: &Plan{File: path, Text: text}, where: where, dir: filepath.Dir(path)}
	r.read(&f)
	if err := scenario.FaultsError(r.faults); err != nil {
		return nil, err
	}
	return r.plan, nil
}

// A reader makes a plan of its file.
type reader struct {
	plan   *Plan
	where  func(key string) string
	dir    string
	many   bool // there are more points than a plan may have, so that none is made
	faults []strict.Fault
}

// fault notes what is wrong with key.
func (r *reader) fault(key, format string, args ...any) {
	r.faults = append(r.faults, strict.Fault{Where: r.where(key), Key: key, Text: fmt.Sprintf(format, args...)})
}

// read makes the plan of f.
func (r *reader) read(f *file) {
	p := r.plan
	p.Name = f.Name
	if f.Scenario != "" {
		p.Base.Path = f.Scenario
		if !filepath.IsAbs(f.Scenario) {
			p.Base.Path = filepath.Join(r.dir, f.Scenario)
		}
	}
	p.Own = f.Common != nil && !*f.Common
	switch f.Invalid {
	case "", "error":
	case "skip":
		p.Skip = true
	default:
		r.fault("infeasible", "found %q; must be \"error\", which is the default, or \"skip\", with which a point that cannot run is a row that says why", f.Invalid)
	}
	p.Base.Settings = r.settings("set", f.Set)
	if r.many = f.points() > maxPoints; r.many {
		r.fault("", "has more than %d points; divide it into several", maxPoints)
	}
	for i, t := range f.List {
		key := fmt.Sprintf("list[%d]", i)
		if len(t) == 0 {
			r.fault(key, "is empty; give the keys of a point, or take it out")
		}
		c := r.settings(key, t)
		r.axesOf(c)
		p.cases = append(p.cases, c)
	}
	r.windows(f.Windows)
	r.grid(f.Grid)
	r.sample(f.Sample)
	if len(r.faults) == 0 && len(p.Axes) == 0 {
		r.fault("", "says nothing in which points differ; give [grid], [[list]], [windows] or [sample]")
	}
	if len(r.faults) > 0 {
		return
	}
	// What undoes a setting in one point does in each, and is told once.
	if err := scenario.Conflicts(slices.Concat(p.Base.Settings, p.settings(0))); err != nil {
		r.faults = append(r.faults, strict.Fault{Text: err.Error()})
	}
}

// points returns the number of points that f asks for, or more than maxPoints if
// there are more.
func (f *file) points() int64 {
	n := int64(1)
	cross := func(with int64) { n *= min(max(with, 1), maxPoints+1); n = min(n, maxPoints+1) }
	cross(int64(len(f.List)))
	for _, e := range scenario.Entries("grid", f.Grid, func(string) string { return "" }) {
		cross(int64(len(listOf(e.Value))))
	}
	if f.Windows != nil {
		cross(f.Windows.Count)
	}
	if f.Sample != nil {
		cross(f.Sample.Points)
	}
	return n
}

// axesOf notes the keys of c as axes if they aren't yet.
func (r *reader) axesOf(c choice) {
	for _, s := range c {
		if !slices.ContainsFunc(r.plan.Axes, func(a Axis) bool { return a.Key == s.Key }) {
			name, _, _ := strings.Cut(s.Text, "=")
			r.plan.Axes = append(r.plan.Axes, Axis{s.Key, name})
		}
	}
}

// setting makes a setting of an entry; ok is false if it is at fault.
func (r *reader) setting(e scenario.Entry) (s scenario.Setting, ok bool) {
	s, err := e.Setting(r.where, r.dir)
	if err != nil {
		r.faults = append(r.faults, strict.Fault{Text: err.Error()})
		return s, false
	}
	return s, true
}

// settings makes settings of the table called path.
func (r *reader) settings(path string, t scenario.Table) []scenario.Setting {
	var list []scenario.Setting
	for _, e := range scenario.Entries(path, t, r.where, scenario.WholeTables()...) {
		if s, ok := r.setting(e); ok {
			list = append(list, s)
		}
	}
	return list
}

// grid makes an axis of each key of the grid.
func (r *reader) grid(t scenario.Table) {
	for _, e := range scenario.Entries("grid", t, r.where) {
		values := listOf(e.Value)
		if values == nil {
			r.fault(e.Path, "found %s; must be a list of values, such as [1, 2]; a value that all points have belongs into [set]", scenario.ValueText(e.Value))
			continue
		}
		if len(values) == 0 {
			r.fault(e.Path, "is an empty list, which leaves no point; give values, or take the line out")
			continue
		}
		r.axis(e, values)
	}
}

// axis crosses the points with the values of an entry.
func (r *reader) axis(e scenario.Entry, values []any) {
	var axis []choice
	seen := map[string]int{}
	for _, v := range values {
		text := scenario.ValueText(v)
		if seen[text]++; seen[text] == 2 {
			r.fault(e.Path, "has %s twice; take one out", text)
		}
		s, ok := r.setting(scenario.Entry{Key: e.Key, Path: e.Path, Value: v})
		if !ok {
			return // the key is at fault, with every value
		}
		axis = append(axis, choice{s})
	}
	r.axesOf(axis[0])
	r.plan.axes = append(r.plan.axes, axis)
}

// windows makes an axis of stretches of time.
func (r *reader) windows(w *windows) {
	if w == nil {
		return
	}
	step := w.Width
	if w.Step != nil {
		step = *w.Step
	}
	before := len(r.faults)
	if w.From < 0 {
		r.fault("windows.from", "found %v; must be 0s or more", w.From)
	}
	if w.Width <= 0 {
		r.fault("windows.width", "found %v; must be more than 0s", w.Width)
	}
	if w.Count < 1 || w.Count > maxPoints {
		r.fault("windows.count", "found %d; must be from 1 to %d windows", w.Count, maxPoints)
	}
	if step <= 0 && w.Width > 0 {
		r.fault("windows.step", "found %v; must be more than 0s", step)
	}
	if len(r.faults) > before {
		return
	}
	if end := float64(w.From) + float64(float64(w.Count)*float64(step)) + float64(w.Width); end >= float64(sim.MaxDuration) {
		r.fault("windows", "ends after more than the 106 days that a run can last; give fewer windows")
		return
	}
	count := w.Count
	if r.many {
		count = 1
	}
	var axis []choice
	for i := range count {
		from := w.From + sim.Duration(i)*step
		var c choice
		for _, e := range []scenario.Entry{{Key: "transform.from", Path: "windows", Value: from.String()}, {Key: "transform.to", Path: "windows", Value: (from + w.Width).String()}} {
			s, _ := r.setting(e) // these keys are there
			c = append(c, s)
		}
		axis = append(axis, c)
	}
	r.axesOf(axis[0])
	r.plan.axes = append(r.plan.axes, axis)
}

// listOf returns the members of a list, in either way in which TOML has one, and
// nil if x isn't one.
func listOf(x any) []any {
	switch v := x.(type) {
	case []any:
		return v
	case []map[string]any:
		list := make([]any, len(v))
		for i, t := range v {
			list[i] = t
		}
		return list
	}
	return nil
}
