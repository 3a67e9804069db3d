package scenario

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"servesim/analysis/export"
	"servesim/internal/strict"
	"servesim/sim"
	"servesim/sim/workload"
)

// settleWorkload checks what a workload says and replaces presets by what they
// stand for.
func (s *Scenario) settleWorkload() []strict.Fault {
	var faults []strict.Fault
	for _, p := range s.Workload.Parts() {
		faults = append(faults, p.settle()...)
	}
	faults = append(faults, s.Workload.checkMerge()...)
	return append(faults, s.checkStdin()...)
}

// checkStdin returns a fault for each trace that would read standard input again.
func (s *Scenario) checkStdin() []strict.Fault {
	var faults []strict.Fault
	reader := ""
	for _, p := range s.Workload.Parts() {
		if p.Trace != StdinPath {
			continue
		}
		key := p.Key + ".trace"
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
func (p Part) settle() []strict.Fault {
	if p.Trace != "" {
		return p.checkTrace()
	}
	if reflect.ValueOf(*p.RequestsSection).IsZero() {
		return []strict.Fault{{Key: p.Key, Text: "missing; give a trace, a preset (" + strings.Join(presetNames(), ", ") + "), or arrival, prompt and output"}}
	}
	var faults []strict.Fault
	for _, key := range p.traceKeys() {
		faults = append(faults, strict.Fault{Key: p.Key + "." + key, Text: "says how to read a trace, but there is none; give trace, or take the line out"})
	}
	spec, err := p.Spec.Resolve()
	if err != nil {
		return append(append(faults, specFaults(p.Key, []error{err})...), p.withoutPreset()...)
	}
	faults = append(faults, p.unusedPreset(spec)...)
	p.Spec = spec
	return append(faults, specFaults(p.Key, spec.Check())...)
}

// unusedPreset returns a fault if nothing of the preset is left in resolved but how
// many requests come: what is given beside it takes the place of all the rest.
func (p Part) unusedPreset(resolved workload.Spec) []strict.Fault {
	s := p.Spec
	arrivals := "arrival"
	if s.Arrival == nil {
		arrivals = "closed_loop"
	}
	used := s.Prompt == nil || s.Output == nil || s.Arrival == nil && s.ClosedLoop == nil
	if s.Preset == "" || used || len(s.Classes) != len(resolved.Classes) || s.Cancel == nil && resolved.Cancel != nil {
		return nil
	}
	return []strict.Fault{{Key: p.Key + ".preset", Text: fmt.Sprintf(
		"found %s, of which nothing would be used: %s, prompt and output of %s are given too and come first; take them out, or leave preset out", s.Preset, arrivals, p.Key)}}
}

// withoutPreset returns the faults that the workload has whatever its preset is:
// those of what it gives, not of what is missing.
func (p Part) withoutPreset() []strict.Fault {
	spec := p.Spec
	spec.Preset = ""
	return slices.DeleteFunc(specFaults(p.Key, spec.Check()), func(f strict.Fault) bool { return strings.HasPrefix(f.Text, "missing") })
}

// checkTrace checks the keys that go with a trace.
func (p Part) checkTrace() []strict.Fault {
	var faults []strict.Fault
	v := reflect.ValueOf(p.Spec)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("toml"), ",")
			faults = append(faults, strict.Fault{Key: p.Key + "." + name, Text: "has no meaning beside trace, which says which requests there are; take one of the two out"})
		}
	}
	if p.Format != "" && !slices.Contains(formatNames(), p.Format) {
		faults = append(faults, strict.Fault{Key: p.Key + ".format", Text: UnknownName("trace format", p.Format, formatNames())})
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
	o := workload.Options{Format: w.Format, Foreign: export.Traces(), Sort: w.Sort, ZeroTokens: w.ZeroTokens, BlockTokens: w.BlockTokens}
	if c := w.Columns; c != nil {
		o.Columns = workload.Columns{
			Arrival: c.Arrival, Prompt: c.Prompt, Output: c.Output,
			ID: c.ID, Session: c.Session, Class: c.Class, Priority: c.Priority, Unit: c.Unit,
		}
	}
	return o
}

// An Opened is an opened workload, which has to be closed.
type Opened struct {
	Source workload.Source
	Traces []*workload.Trace // of each part of the workload, the first of its readers; nil if it's drawn
	Total  int64             // requests to come, or -1 if nobody knows

	stdin    io.Reader
	shelf    *Shelf
	recorded []*workload.Recording // of each part, if the shelf has it in the place of a trace
}

// Open starts the workload of p. A fault of it is a UsageError.
func (p *Plan) Open() (*Opened, error) {
	s := p.Scenario
	parts := 1 + len(s.Workload.Merge)
	in := &Opened{
		Traces: make([]*workload.Trace, parts), Total: s.Workload.total(),
		stdin: p.stdin, shelf: p.shelf, recorded: make([]*workload.Recording, parts),
	}
	seed := sim.Seed(*s.Seed)
	src, err := s.Transform.over(func() (workload.Source, error) { return in.begin(&s.Workload, seed) }, seed)
	if err != nil {
		return nil, &UsageError{err}
	}
	in.Source = s.Workload.Prefix.shared(src, seed)
	adopt(&in.Total, s.Transform.Limit)
	return in, nil
}

// begin returns the workload from its first request on, without transforms.
func (in *Opened) begin(w *WorkloadSection, seed sim.Seed) (workload.Source, error) {
	if len(w.Merge) > 0 {
		return in.merged(w, seed)
	}
	return in.part(0, w.Parts()[0], seed)
}

// part returns part i of the workload from its first request on.
func (in *Opened) part(i int, p Part, seed sim.Seed) (workload.Source, error) {
	if p.Trace == "" {
		return p.Spec.SourceOf(seed, p.label())
	}
	o := p.options()
	if r := in.shelf.recording(p.Trace, o); r != nil {
		in.recorded[i] = r
		return r.Replay(), nil
	}
	o.Stdin = in.stdin
	t, err := workload.Open(p.Trace, o)
	if err != nil {
		return nil, err
	}
	if in.Traces[i] == nil {
		in.Traces[i] = t
	}
	return t, nil
}

// reports says what was read of each part; nil if it's drawn.
func (in *Opened) reports() []*workload.Report {
	list := make([]*workload.Report, len(in.Traces))
	for i, t := range in.Traces {
		var r workload.Report
		switch {
		case t != nil:
			r = t.Report()
		case in.recorded[i] != nil:
			r = in.recorded[i].Report()
		default:
			continue
		}
		list[i] = &r
	}
	return list
}

// inputError marks a fault of a trace, or of what a transform would make of it,
// as one of what the user gave, wherever in the run it was met.
func inputError(err error) error {
	var f *workload.Fault
	if errors.As(err, &f) {
		return &UsageError{f}
	}
	var t *workload.TransformFault
	if errors.As(err, &t) {
		return &UsageError{t}
	}
	return err
}

// formatNames lists the trace formats.
func formatNames() []string {
	var names []string
	for _, f := range TraceFormats() {
		names = append(names, f[0])
	}
	return names
}

// TraceFormats lists the names and titles of the trace formats, the exports of
// benchmark tools after the traces proper.
func TraceFormats() [][2]string {
	var list [][2]string
	for _, f := range workload.Formats() {
		list = append(list, [2]string{f.Name, f.Title})
	}
	for _, f := range export.Traces() {
		list = append(list, [2]string{f.Name, f.Title})
	}
	return list
}

// presetNames lists the drawn workloads that ship.
func presetNames() []string {
	var names []string
	for _, p := range workload.Presets() {
		names = append(names, p.Name)
	}
	return names
}
