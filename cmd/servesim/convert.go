package main

import (
	"cmp"
	"errors"
	"strings"

	"servesim/analysis/dialect"
	"servesim/analysis/export"
	"servesim/analysis/publish"
	"servesim/internal/infile"
	"servesim/scenario"
	"servesim/sim/observe"
)

// publish begins the files that f is to be written as, and writes those that are
// made of records.
func (o *analyzeOptions) publish(src export.Source, f *export.File, how dialect.Options) error {
	if len(o.export.wanted) == 0 {
		return nil
	}
	if n := len(f.Runs); n > 1 {
		return usagef("--export %s: writes one run, and %s has %d; take one out of the file, as with jq", o.export.wanted[0].text, f.Name, n)
	}
	header, err := recordsHeader(src, f)
	if err != nil {
		return o.faultOf(err)
	}
	for _, w := range o.export.wanted {
		if w.format.Records && header == nil {
			return usagef("--export %s: it is made of servesim's records, which %s isn't; of a measured run it takes %s", w.text, f.Name, strings.Join(ofCalls(), ", "))
		}
	}
	run := publish.Run{Model: cmp.Or(f.Runs[0].Model, "unknown"), Label: f.Runs[0].Label, Facts: f.Runs[0].Facts, Burstiness: 1, Goodput: how.Goodput, RunLimits: how.Run}
	run.Again = func(to observe.Sink) error {
		return replayRecords(src, func(in *observe.Reader) error { return in.Replay(to) })
	}
	if o.percentiles != "" {
		run.Percentiles = how.Percentiles
	}
	if header != nil {
		run.Header = *header
	}
	run.Header.Version = scenario.Version()
	if err := o.export.open(run); err != nil {
		return err
	}
	records := o.export.records()
	if len(records) == 0 {
		return nil
	}
	return replayRecords(src, func(in *observe.Reader) error { return in.Replay(records) })
}

// ofCalls are the names of the exports that measured runs can be written as.
func ofCalls() []string {
	var names []string
	for _, f := range publish.Formats() {
		if !f.Records {
			names = append(names, f.Name)
		}
	}
	return names
}

// recordsHeader returns the header of f if it is servesim's records, or nil.
func recordsHeader(src export.Source, f *export.File) (h *observe.Header, err error) {
	if f.Format.Dialect != "servesim" {
		return nil, nil
	}
	err = replayRecords(src, func(in *observe.Reader) error {
		header := in.Header()
		h = &header
		return nil
	})
	return h, err
}

// replayRecords opens records that were read before.
func replayRecords(src export.Source, each func(*observe.Reader) error) error {
	f, err := src.Open()
	if err != nil {
		return err
	}
	text, err := infile.Unwrap(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	in, err := observe.NewReader(text.In, src.Name)
	if err == nil {
		err = each(in)
	}
	return errors.Join(err, text.Close(), f.Close())
}
