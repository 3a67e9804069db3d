package observe

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// Writer is a Sink that writes records as JSON, one object a line: a header, the
// records, and a last line that counts them, so that a reader sees if a file was
// cut short. Instants and spans are integers of picoseconds in keys that end
// with "_ps"; Never is null. The same records give the same bytes.
//
//	{"schema":4,"kind":"servesim-records","version":"…","seed":7,"scenario":"…",…,"requests_only":false,"streaming":null}
//	{"type":"request","id":0,"name":"","line":2,…}
//	{"type":"step","replica":0,"start_ps":0,…}
//	{"type":"end","requests":1,"steps":1}
type Writer struct {
	w               *bufio.Writer
	buf             []byte
	requestsOnly    bool
	requests, steps int64 // records written
}

// NewWriter writes the header of a record file to w. The records follow from
// Request and Step, and Close writes the end.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	t := &Writer{w: bufio.NewWriterSize(w, 1<<16), requestsOnly: h.RequestsOnly}
	e := encoder{buf: []byte{'{'}}
	e.integer("schema", Schema)
	e.text("kind", Kind)
	e.text("version", h.Version)
	e.key("seed")
	e.buf = strconv.AppendUint(e.buf, h.Seed, 10)
	e.text("scenario", h.Scenario)
	e.text("profile", h.Profile)
	e.text("model", h.Model)
	e.text("policy", h.Policy)
	e.boolean("requests_only", h.RequestsOnly)
	e.streaming(h.Streaming)
	return t, t.line(&e, "header")
}

// line ends the object of e and writes it.
func (w *Writer) line(e *encoder, what string) error {
	if e.fault != "" {
		return fmt.Errorf("write records: %s: %s is not valid UTF-8, which JSON cannot hold", what, e.fault)
	}
	e.buf = append(e.buf, '}', '\n')
	w.buf = e.buf
	if _, err := w.w.Write(e.buf); err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	return nil
}

// Request implements Sink.
func (w *Writer) Request(r *Request) error {
	if r.Outcome > ReplicaFailed {
		return fmt.Errorf("write records: request %d: unknown outcome %d", r.ID, r.Outcome)
	}
	e := encoder{buf: append(w.buf[:0], `{"type":"request"`...)}
	e.integer("id", r.ID)
	e.text("name", r.Name)
	e.integer("line", r.Line)
	e.text("class", r.Class)
	e.integer("session", r.Session)
	e.integer("priority", int64(r.Priority))
	e.integer("replica", int64(r.Replica))
	e.text("outcome", r.Outcome.String())
	e.text("reason", r.Reason)
	e.instant("arrival_ps", r.Arrival)
	e.instant("sent_ps", r.Sent)
	e.instant("scheduled_ps", r.Scheduled)
	e.instant("first_ps", r.First)
	e.instant("last_ps", r.Last)
	e.instant("end_ps", r.End)
	e.integer("response_ps", int64(r.Response))
	e.integer("prompt", int64(r.Prompt))
	e.integer("wanted", int64(r.Wanted))
	e.integer("output", int64(r.Output))
	e.integer("cached", int64(r.Cached))
	e.integer("preemptions", int64(r.Preemptions))
	e.integer("computed", r.Computed)
	e.integer("recomputed", r.Recomputed)
	e.integer("max_gap_ps", int64(r.MaxGap))
	e.instant("queued_ps", r.Queued)
	e.spans(r.Made)
	e.lost(r.Lost)
	e.integer("detour_ps", int64(r.Detour))
	e.attempts(r.Attempts)
	w.requests++
	return w.line(&e, "request")
}

// Step implements Sink. It does nothing if the header says requests only.
func (w *Writer) Step(r *StepRun) error {
	if w.requestsOnly {
		return nil
	}
	if r.Held > HeldOrder {
		return fmt.Errorf("write records: step %d: unknown reason %d", r.Serial, r.Held)
	}
	e := encoder{buf: append(w.buf[:0], `{"type":"step"`...)}
	e.integer("replica", int64(r.Replica))
	e.instant("start_ps", r.Start)
	e.integer("steps", r.Steps)
	e.integer("first_ps", int64(r.First))
	e.integer("inc_ps", int64(r.Inc))
	e.integer("decodes", int64(r.Decodes))
	e.integer("decode_kv", r.DecodeKV)
	e.chunks(r.Chunks)
	e.gaps(r.Gaps)
	e.integer("running", int64(r.Running))
	e.integer("waiting", int64(r.Waiting))
	e.integer("preempted", int64(r.Preempted))
	e.integer("blocks_used", r.BlocksUsed)
	e.integer("serial", r.Serial)
	e.integer("base_ps", int64(r.Base))
	e.text("held", r.Held.String())
	e.instant("oldest_ps", r.Oldest)
	e.boolean("cut", r.Cut)
	w.steps++
	return w.line(&e, "step")
}

// Close writes the last line and everything that is still buffered. It does not
// close the io.Writer.
func (w *Writer) Close() error {
	e := encoder{buf: append(w.buf[:0], `{"type":"end"`...)}
	e.integer("requests", w.requests)
	e.integer("steps", w.steps)
	if err := w.line(&e, "end"); err != nil {
		return err
	}
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	return nil
}
