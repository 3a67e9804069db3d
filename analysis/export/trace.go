package export

import (
	"errors"
	"fmt"

	"servesim/internal/infile"
	"servesim/sim/observe"
	"servesim/sim/workload"
)

// Traces returns the formats of this package as formats of traces: a call is a
// request that arrived when it was scheduled, or else sent, with the tokens of its
// prompt and those that it asked for, or else got. Files that don't say when calls were sent can't be
// replayed, which is a fault.
func Traces() []workload.Foreign {
	var list []workload.Foreign
	for _, f := range formats() {
		list = append(list, workload.Foreign{
			Name: f.Name, Title: f.Title, Fields: f.Keys,
			Is: func(head []byte) bool {
				have, fault := detect(head)
				return fault == nil && have.Name == f.Name
			},
			Read: readTrace,
		})
	}
	return list
}

// readTrace reads the calls of text as records of a trace.
func readTrace(text *infile.Text, name string, each func(workload.Record)) ([]string, error) {
	t := &tracer{each: each, sessions: map[string]int64{}}
	if err := readText(text, &File{Name: name}, t); err != nil {
		return nil, err
	}
	for _, run := range t.runs {
		for _, c := range run.Counts {
			t.notes = append(t.notes, fmt.Sprintf("%d more: %s", c.N, c.What))
		}
	}
	return t.notes, nil
}

// tracer is the stage that makes records of a trace.
type tracer struct {
	each     func(workload.Record)
	checker  checker
	runs     []*Run
	sessions map[string]int64
	notes    []string
}

func (t *tracer) begin(run *Run) error {
	t.checker.runs = &t.runs
	if len(t.runs) == 1 {
		return errors.New("found more than one run, want one: a trace has one beginning; take one run out of the file, as with jq")
	}
	if !run.Facts.Clock {
		return errors.New("found no instants at which calls were sent, want them: without arrivals there is nothing to replay; draw arrivals instead, with lengths as in this file (see servesim list presets)")
	}
	return t.checker.begin(run)
}

func (t *tracer) call(p *pass, f *found) error {
	if err := t.checker.call(p, f); err != nil {
		return err
	}
	c := &f.call
	r := workload.Record{At: f.at.Minus(f.lag)}
	if f.arrival != nil {
		r.At = *f.arrival
		t.note("arrivals are those of arrival_time")
	}
	output := c.Wanted // what was asked for, whatever came of it
	if output < 0 && c.Outcome == observe.Completed {
		output = c.Output
	}
	r.Name, r.Class, r.Line, r.Prompt, r.Output = c.Name, c.Class, f.line, max(c.Prompt, 0), max(output, 0)
	switch {
	case output < 0 && c.Outcome != observe.Completed:
		r.Drop = "the call failed, so how long its answer would have been isn't known"
	case c.Prompt < 0:
		r.Drop = "the file doesn't tell the prompt's number of tokens"
	case output < 0:
		r.Drop = "the file doesn't tell the answer's number of tokens"
	}
	if c.Session != "" {
		if _, known := t.sessions[c.Session]; !known {
			t.sessions[c.Session] = int64(len(t.sessions)) + 1
		}
		r.Session = t.sessions[c.Session]
	}
	t.each(r)
	return nil
}

// note keeps a note, once.
func (t *tracer) note(text string) {
	if len(t.notes) == 0 {
		t.notes = append(t.notes, text)
	}
}
