package publish

import (
	"encoding/csv"
	"fmt"
	"io"

	"servesim/sim/observe"

	"github.com/parquet-go/parquet-go"
)

// requestsTo is a Sink that gives each request to a function.
type requestsTo func(*observe.Request) error

// Request implements observe.Sink.
func (f requestsTo) Request(r *observe.Request) error { return f(r) }

// Step implements observe.Sink.
func (requestsTo) Step(*observe.StepRun) error { return nil }

// stepsTo is a Sink that gives each run of steps to a function.
type stepsTo func(*observe.StepRun) error

// Request implements observe.Sink.
func (stepsTo) Request(*observe.Request) error { return nil }

// Step implements observe.Sink.
func (f stepsTo) Step(r *observe.StepRun) error { return f(r) }

// beginCSV begins the table of requests as RFC 4180 has it, in the order in which
// they ended.
func beginCSV(e *Export) error {
	out, err := e.create("")
	if err != nil {
		return err
	}
	w, cs := csv.NewWriter(out), columns()
	line := make([]string, len(cs))
	for i, c := range cs {
		line[i] = c.name
	}
	if err := w.Write(line); err != nil {
		return err
	}
	e.Records = requestsTo(func(r *observe.Request) error {
		row := requestRowOf(r)
		for i := range cs {
			line[i] = cs[i].text(&row)
		}
		return w.Write(line)
	})
	e.finish = func() error { w.Flush(); return w.Error() }
	return nil
}

// rowGroup is the number of rows that are kept until they are written together.
const rowGroup = 1 << 16

// newParquet returns a writer of rows of type T.
func newParquet[T any](w io.Writer, version string) *parquet.GenericWriter[T] {
	return parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowGroup), parquet.CreatedBy("servesim", version, ""))
}

// table writes rows of type T as Parquet.
func table[T any](e *Export) (write func(T) error, err error) {
	out, err := e.create("")
	if err != nil {
		return nil, err
	}
	w := newParquet[T](out, e.run.Header.Version)
	one := make([]T, 1)
	e.finish = func() error {
		if err := w.Close(); err != nil {
			return fmt.Errorf("write Parquet: %w", err)
		}
		return nil
	}
	return func(row T) error {
		one[0] = row
		if _, err := w.Write(one); err != nil {
			return fmt.Errorf("write Parquet: %w", err)
		}
		return nil
	}, nil
}

// beginRequests begins the table of requests.
func beginRequests(e *Export) error {
	write, err := table[requestRow](e)
	e.Records = requestsTo(func(r *observe.Request) error { return write(requestRowOf(r)) })
	return err
}

// stepRow is a run of steps in a table, under the names of record files.
type stepRow struct {
	Replica    int32      `parquet:"replica"`
	Serial     int64      `parquet:"serial"`
	Start      int64      `parquet:"start_ps"`
	Steps      int64      `parquet:"steps"`
	First      int64      `parquet:"first_ps"`
	Inc        int64      `parquet:"inc_ps"`
	Base       int64      `parquet:"base_ps"`
	Decodes    int32      `parquet:"decodes"`
	DecodeKV   int64      `parquet:"decode_kv"`
	Running    int32      `parquet:"running"`
	Waiting    int32      `parquet:"waiting"`
	Held       string     `parquet:"held,dict"`
	Preempted  int32      `parquet:"preempted"`
	BlocksUsed int64      `parquet:"blocks_used"`
	Oldest     *int64     `parquet:"oldest_ps,optional"`
	Chunks     []chunkRow `parquet:"chunks,list"`
	Gaps       []gapsRow  `parquet:"gaps,list"`
}

// chunkRow is a part of a prompt.
type chunkRow struct {
	ID      int64 `parquet:"id"`
	Start   int32 `parquet:"start"`
	Tokens  int32 `parquet:"tokens"`
	Resumed bool  `parquet:"resumed"`
	Ghost   bool  `parquet:"ghost"`
}

// gapsRow is a run of gaps.
type gapsRow struct {
	Seqs  int32 `parquet:"seqs"`
	Steps int64 `parquet:"steps"`
	First int64 `parquet:"first_ps"`
	Inc   int64 `parquet:"inc_ps"`
}

// beginSteps begins the table of steps.
func beginSteps(e *Export) error {
	write, err := table[stepRow](e)
	e.Records = stepsTo(func(s *observe.StepRun) error { return write(stepRowOf(s)) })
	return err
}

// stepRowOf returns the row of s.
func stepRowOf(s *observe.StepRun) stepRow {
	row := stepRow{
		Replica: s.Replica, Serial: s.Serial, Start: int64(s.Start), Steps: s.Steps, First: int64(s.First), Inc: int64(s.Inc), Base: int64(s.Base),
		Decodes: s.Decodes, DecodeKV: s.DecodeKV, Running: s.Running, Waiting: s.Waiting, Held: s.Held.String(),
		Preempted: s.Preempted, BlocksUsed: s.BlocksUsed, Oldest: known(s.Oldest),
	}
	for _, c := range s.Chunks {
		row.Chunks = append(row.Chunks, chunkRow(c))
	}
	for _, g := range s.Gaps {
		row.Gaps = append(row.Gaps, gapsRow{g.Seqs, g.Steps, int64(g.First), int64(g.Inc)})
	}
	return row
}
