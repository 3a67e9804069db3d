package workload

import (
	"bytes"
	"fmt"

	"servesim/internal/exact"
	"servesim/internal/infile"
)

// splitwiseFormat is the CSV of SplitwiseSim (github.com/Mutinifni/splitwise-sim,
// README, Request Traces). arrival_timestamp is in seconds. A row whose
// request_type is not 2, LLM inference, is left out and counted; one whose
// batch_size is not 1 is a fault.
func splitwiseFormat() Format {
	return Format{
		Name:   "splitwise",
		Title:  "SplitwiseSim traces, CSV",
		Fields: []string{"arrival_timestamp", "prompt_size", "token_size"},
		match:  func(s *sniffed) bool { return s.has("prompt_size") || s.has("token_size") },
		open:   openSplitwise,
	}
}

// splitwiseRows reads a SplitwiseSim trace. id, kind and batch are columns, or -1.
type splitwiseRows struct {
	*table
	time, prompt, output int
	id, kind, batch      int
	ids                  idSet
}

func openSplitwise(in *lineReader, _ *Options) (rowReader, error) {
	t, err := openTable(in)
	if err != nil {
		return nil, err
	}
	c, err := t.needEach("arrival_timestamp", "prompt_size", "token_size")
	if err != nil {
		return nil, err
	}
	s := &splitwiseRows{table: t, time: c[0], prompt: c[1], output: c[2]}
	for _, col := range []struct {
		name string
		at   *int
	}{{"request_id", &s.id}, {"request_type", &s.kind}, {"batch_size", &s.batch}} {
		if *col.at, err = t.column(col.name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *splitwiseRows) next(r *row) (err error) {
	if err = s.table.next(); err != nil {
		return err
	}
	if r.at, err = s.at(s.time, exact.Seconds()); err != nil {
		return err
	}
	if r.Prompt, err = s.tokens(s.prompt); err != nil {
		return err
	}
	if r.Output, err = s.tokens(s.output); err != nil {
		return err
	}
	if s.id >= 0 {
		if r.Name, err = s.name(s.id, &s.ids); err != nil {
			return err
		}
	}
	r.text = s.table.fields[s.time]
	return s.kinds(r)
}

// kinds checks the type and the batch of a row.
func (s *splitwiseRows) kinds(r *row) error {
	if s.kind >= 0 {
		if kind := bytes.TrimSpace(s.table.fields[s.kind]); string(kind) != "2" {
			r.drop = fmt.Sprintf("request_type %s is not 2, LLM inference", infile.Quote(kind))
		}
	}
	if s.batch >= 0 {
		if n := bytes.TrimSpace(s.table.fields[s.batch]); string(n) != "1" {
			return s.in.fault(s.names[s.batch], infile.Quote(n), "1", "write a row for each request of a batch")
		}
	}
	return nil
}

func (s *splitwiseRows) fields() rowFields {
	return rowFields{s.names[s.time], s.names[s.prompt], s.names[s.output]}
}

func (s *splitwiseRows) describe(r *Report) { r.Ignored = s.ignored() }
