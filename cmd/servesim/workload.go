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

// settleWorkload checks what a workload says and replaces presets by what they
// stand for.
func (s *scenario) settleWorkload() []strict.Fault {
	var faults []strict.Fault
	for _, p := range s.Workload.parts() {
		faults = append(faults, p.settle()...)
	}
	faults = append(faults, s.Workload.checkMerge()...)
	return append(faults, s.checkStdin()...)
}

// checkStdin returns a fault for each trace that would read standard input again.
func (s *scenario) checkStdin() []strict.Fault {
	var faults []strict.Fault
	reader := ""
	for _, p := range s.Workload.parts() {
		if p.Trace != stdinPath {
			continue
		}
		key := p.key + ".trace"
		if reader != "" {
			faults = append(faults, strict.Fault{Key: key, Text: "is standard input, which can be read only once and which " + reader + " reads; write it to a file first"})
		} else if value(s.Transform.Rate) > 1 {
			faults = append(faults, strict.Fault{Key: key, Text: "is standard input, which can be read only once, and transform.rate reads its workload for each copy; write it to a file first"})
		}
		reader = key
	}
	return faults
}

// settle is settleWorkload for one of the workloads.
func (p part) settle() []strict.Fault {
	if p.Trace != "" {
		return p.checkTrace()
	}
	if reflect.ValueOf(*p.RequestsSection).IsZero() {
		return []strict.Fault{{Key: p.key, Text: "missing; give a trace, a preset (" + strings.Join(presetNames(), ", ") + "), or arrival, prompt and output"}}
	}
	var faults []strict.Fault
	for _, key := range p.traceKeys() {
		faults = append(faults, strict.Fault{Key: p.key + "." + key, Text: "says how to read a trace, but there is none; give trace, or take the line out"})
	}
	spec, err := p.Spec.Resolve()
	if err != nil {
		return append(append(faults, specFaults(p.key, []error{err})...), p.withoutPreset()...)
	}
	p.Spec = spec
	return append(faults, specFaults(p.key, spec.Check())...)
}

// withoutPreset returns the faults that the workload has whatever its preset is:
// those of what it gives, not of what is missing.
func (p part) withoutPreset() []strict.Fault {
	spec := p.Spec
	spec.Preset = ""
	return slices.DeleteFunc(specFaults(p.key, spec.Check()), func(f strict.Fault) bool { return strings.HasPrefix(f.Text, "missing") })
}

// checkTrace checks the keys that go with a trace.
func (p part) checkTrace() []strict.Fault {
	var faults []strict.Fault
	v := reflect.ValueOf(p.Spec)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("toml"), ",")
			faults = append(faults, strict.Fault{Key: p.key + "." + name, Text: "has no meaning beside trace, which says which requests there are; take one of the two out"})
		}
	}
	if p.Format != "" && !slices.Contains(formatNames(), p.Format) {
		faults = append(faults, strict.Fault{Key: p.key + ".format", Text: unknownName("trace format", p.Format, formatNames())})
	}
	return faults
}

// traceKeys returns the keys given that say how to read a trace.
func (w *RequestsSection) traceKeys() []string {
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
func (w *RequestsSection) options() workload.Options {
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
	traces []*workload.Trace // of each part of the workload, the first of its readers; nil if it's drawn
	total  int64             // requests to come, or -1 if nobody knows
}

// open starts the workload of a settled scenario. A fault of it is a
// usageError.
func (s *scenario) open(e env) (*input, error) {
	in := &input{traces: make([]*workload.Trace, 1+len(s.Workload.Merge)), total: s.Workload.total()}
	seed := sim.Seed(*s.Seed)
	src, err := s.Transform.over(func() (workload.Source, error) { return in.begin(e, &s.Workload, seed) }, seed)
	if err != nil {
		return nil, &usageError{err}
	}
	in.source = src
	adopt(&in.total, s.Transform.Limit)
	return in, nil
}

// begin returns the workload from its first request on, without transforms.
func (in *input) begin(e env, w *workloadSection, seed sim.Seed) (workload.Source, error) {
	if len(w.Merge) > 0 {
		return in.merged(e, w, seed)
	}
	return in.part(e, 0, w.parts()[0], seed)
}

// part returns part i of the workload from its first request on.
func (in *input) part(e env, i int, p part, seed sim.Seed) (workload.Source, error) {
	if p.Trace == "" {
		return p.Spec.SourceOf(seed, p.label())
	}
	o := p.options()
	o.Stdin = e.stdin
	t, err := workload.Open(p.Trace, o)
	if err != nil {
		return nil, err
	}
	if in.traces[i] == nil {
		in.traces[i] = t
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
