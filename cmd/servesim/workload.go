package main

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"servesim/internal/strict"
	"servesim/sim"
	"servesim/sim/workload"
)

// settleWorkload checks what a workload says and replaces a preset by what it
// stands for.
func (s *scenario) settleWorkload() []strict.Fault {
	w := &s.Workload
	if w.Trace != "" {
		return w.checkTrace()
	}
	if reflect.ValueOf(*w).IsZero() {
		return []strict.Fault{{Key: "workload", Text: "missing; give a trace, a preset (" + strings.Join(presetNames(), ", ") + "), or arrival, prompt and output"}}
	}
	var faults []strict.Fault
	for _, key := range w.traceKeys() {
		faults = append(faults, strict.Fault{Key: "workload." + key, Text: "says how to read a trace, but there is none; give trace, or take the line out"})
	}
	spec, err := w.Spec.Resolve()
	if err != nil {
		return append(append(faults, specFaults("workload", []error{err})...), w.withoutPreset()...)
	}
	w.Spec = spec
	return append(faults, specFaults("workload", spec.Check())...)
}

// withoutPreset returns the faults that the workload has whatever its preset is:
// those of what it gives, not of what is missing.
func (w *workloadSection) withoutPreset() []strict.Fault {
	spec := w.Spec
	spec.Preset = ""
	return slices.DeleteFunc(specFaults("workload", spec.Check()), func(f strict.Fault) bool { return strings.HasPrefix(f.Text, "missing") })
}

// checkTrace checks the keys that go with a trace.
func (w *workloadSection) checkTrace() []strict.Fault {
	var faults []strict.Fault
	v := reflect.ValueOf(w.Spec)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("toml"), ",")
			faults = append(faults, strict.Fault{Key: "workload." + name, Text: "has no meaning beside trace, which says which requests there are; take one of the two out"})
		}
	}
	if w.Format != "" && !slices.Contains(formatNames(), w.Format) {
		faults = append(faults, strict.Fault{Key: "workload.format", Text: unknownName("trace format", w.Format, formatNames())})
	}
	return faults
}

// traceKeys returns the keys given that say how to read a trace.
func (w *workloadSection) traceKeys() []string {
	var keys []string
	for _, k := range []struct {
		name  string
		given bool
	}{
		{"format", w.Format != ""}, {"columns", w.Columns != nil}, {"sort", w.Sort},
		{"zero_tokens", w.ZeroTokens != ""}, {"block_tokens", w.BlockTokens != 0},
	} {
		if k.given {
			keys = append(keys, k.name)
		}
	}
	return keys
}

// options returns how to read the trace.
func (w *workloadSection) options() workload.Options {
	o := workload.Options{Format: w.Format, Sort: w.Sort, ZeroTokens: w.ZeroTokens, BlockTokens: w.BlockTokens}
	if c := w.Columns; c != nil {
		o.Columns = workload.Columns{
			Arrival: c.Arrival, Prompt: c.Prompt, Output: c.Output,
			ID: c.ID, Session: c.Session, Class: c.Class, Priority: c.Priority, Unit: c.Unit,
		}
	}
	return o
}

// An input is an opened workload.
type input struct {
	source workload.Source
	trace  *workload.Trace // the first of the trace's readers; nil if the workload is drawn
	total  int64           // requests to come, or -1 if nobody knows
}

// open starts the workload of a settled scenario. A fault of it is a
// usageError.
func (s *scenario) open(e env) (*input, error) {
	in := &input{total: -1}
	seed := sim.Seed(*s.Seed)
	src, err := s.Transform.over(func() (workload.Source, error) { return in.begin(e, &s.Workload, seed) }, seed)
	if err != nil {
		return nil, &usageError{err}
	}
	in.source = src
	if n := s.Workload.Requests; n != nil {
		in.total = *n
	}
	adopt(&in.total, s.Transform.Limit)
	return in, nil
}

// begin returns the workload from its first request on, without transforms.
func (in *input) begin(e env, w *workloadSection, seed sim.Seed) (workload.Source, error) {
	if w.Trace == "" {
		return w.Spec.Source(seed)
	}
	if w.Trace == stdinPath && in.trace != nil {
		return nil, errors.New("workload.trace is standard input, which can be read only once; write it to a file first")
	}
	o := w.options()
	o.Stdin = e.stdin
	t, err := workload.Open(w.Trace, o)
	if err != nil {
		return nil, err
	}
	if in.trace == nil {
		in.trace = t
	}
	return t, nil
}

// inputError marks a fault of a trace, or of what a transform would make of it,
// as one of what the user gave, wherever in the run it was met.
func inputError(err error) error {
	var f *workload.Fault
	if errors.As(err, &f) {
		return &usageError{f}
	}
	var t *workload.TransformFault
	if errors.As(err, &t) {
		return &usageError{t}
	}
	return err
}

// formatNames lists the trace formats.
func formatNames() []string {
	var names []string
	for _, f := range workload.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// presetNames lists the drawn workloads that ship.
func presetNames() []string {
	var names []string
	for _, p := range workload.Presets() {
		names = append(names, p.Name)
	}
	return names
}
