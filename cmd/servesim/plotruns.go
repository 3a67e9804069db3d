package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"servesim/analysis/export"
	"servesim/analysis/transcript"
	"servesim/internal/infile"
	"servesim/report/figure"
	"servesim/scenario"
	"servesim/sim/observe"
)

// runs returns the runs in the files, as far as the kind of figure needs them. All
// faults are told at once.
func (o *plotOptions) runs(ctx context.Context) ([]figure.Run, error) {
	if stdin := count(o.paths, scenario.StdinPath); stdin > 1 {
		return nil, usagef("standard input can be read once, and %d files are %s", stdin, scenario.StdinPath)
	}
	names := o.labels
	if names == nil {
		names = fileLabels(o.paths)
	}
	if len(o.paths) == 1 && o.labels == nil {
		names = []string{""}
	}
	var runs []figure.Run
	var faults []error
	for i, path := range o.paths {
		more, err := o.read(ctx, path, names[i])
		if err != nil {
			faults = append(faults, o.faultOf(err))
		}
		runs = append(runs, more...)
	}
	return runs, errors.Join(faults...)
}

// count returns how many of list are word.
func count(list []string, word string) (n int) {
	for _, w := range list {
		if w == word {
			n++
		}
	}
	return n
}

// read returns the runs in the file at path, the first of them called name.
func (o *plotOptions) read(ctx context.Context, path, name string) ([]figure.Run, error) {
	src, finish := o.source(ctx, path)
	defer finish()
	ours, err := isRecords(src)
	if err != nil {
		return nil, err
	}
	if !ours {
		return o.readMeasured(src, name)
	}
	r := figure.Run{Name: name, Latencies: new(figure.Latencies), SLO: o.drawn}
	sinks := observe.Tee{r.Latencies}
	if o.kind.History {
		r.History = figure.NewHistory(0)
		sinks = append(sinks, r.History)
	}
	err = replayRecords(src, func(in *observe.Reader) error {
		if o.kind.History && in.Header().RequestsOnly {
			return fmt.Errorf("%s: leaves out the steps, and %s is made of them; simulate again with servesim run --records", src.Name, o.kind.Name)
		}
		return in.Replay(sinks)
	})
	if err == nil && r.History != nil {
		err = r.History.Finish()
	}
	return []figure.Run{r}, err
}

// isRecords tells whether src begins as records of servesim do.
func isRecords(src export.Source) (bool, error) {
	f, err := src.Open()
	if err != nil {
		return false, err
	}
	text, err := infile.Unwrap(f)
	if err != nil {
		return false, errors.Join(fmt.Errorf("%s: %w", src.Name, err), f.Close())
	}
	head := make([]byte, 256)
	n, _ := text.In.Read(head) // what is wrong, reading it all says
	return bytes.Contains(head[:n], []byte(`"`+observe.Kind+`"`)), errors.Join(text.Close(), f.Close())
}

// readMeasured returns the runs that a benchmark tool wrote, of which there are
// latencies only.
func (o *plotOptions) readMeasured(src export.Source, name string) ([]figure.Run, error) {
	if o.kind.History {
		return nil, fmt.Errorf("%s: isn't the records of a run, of which %s is made; write them with servesim run --records", src.Name, o.kind.Name)
	}
	f, err := export.Read(src)
	if err != nil {
		return nil, err
	}
	var kept []*measured
	err = f.Replay(func(r *export.Run) (transcript.Sink, error) {
		kept = append(kept, newMeasured(f, r))
		return kept[len(kept)-1].calls, nil
	})
	var runs []figure.Run
	for i, m := range kept {
		if m.lack != "" {
			return nil, fmt.Errorf("%s: %s", src.Name, m.lack)
		}
		r := figure.Run{Name: name, Latencies: new(figure.Latencies), SLO: o.drawn}
		if len(kept) > 1 {
			r.Name = fmt.Sprintf("%s, run %d", name, i+1)
		}
		if err == nil {
			err = m.kept.Replay(m.clock, r.Latencies)
		}
		runs = append(runs, r)
	}
	return runs, err
}
