package export

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"servesim/analysis/transcript"
	"servesim/internal/exact"
	"servesim/internal/infile"
	"servesim/internal/jsonread"
	"servesim/sim"
	"servesim/sim/observe"
)

// recordsFormat is servesim's own records, which package observe reads.
func recordsFormat() format {
	return format{
		Format: Format{
			Name: "servesim-records", Title: "records of servesim run --records", Dialect: "servesim",
			Keys: []string{"schema", "kind", "scenario", "requests_only"},
		},
		records: readRecords,
	}
}

func readRecords(p *pass, text *infile.Text) {
	p.in = jsonread.NewBytes(nil, p.name, p.faults) // for faults of calls
	in, err := observe.NewReader(text.In, p.name)
	if err != nil {
		p.err = recordsFault(p.name, err)
		return
	}
	h := in.Header()
	run := &Run{Label: fmt.Sprintf("%s on %s, %s", h.Model, h.Profile, h.Policy), Model: h.Model}
	run.Facts = transcript.Facts{Clock: true, Schedule: true, Failures: true}
	calls := &recorded{p: p, gaps: true}
	how, err := transcript.Recorded(h.Streaming)
	if err != nil {
		p.err = &infile.Fault{File: p.name, Line: 1, Err: fmt.Errorf("streaming.role_chunk: %w", err)}
		return
	}
	var t *transcript.Transcriber
	switch {
	case h.RequestsOnly:
		run.Notes = append(run.Notes, "the records leave out the steps, so the instants of the tokens between a call's first and last aren't known")
	case h.Schema < 2:
		run.Notes = append(run.Notes, "records of schema 1 don't tell in which steps a call's tokens were made, so the instants of those between its first and last aren't known")
	default:
		if h.Streaming == nil {
			run.Notes = append(run.Notes, "the records don't tell how answers were cut into chunks; each token is taken as a chunk")
		}
		if t, err = transcript.NewTranscriber(calls, how); err != nil {
			p.err = err
			return
		}
	}
	if t == nil {
		t, calls.gaps = transcript.NewCoarse(calls), false
	}
	p.begin(run)
	if err := in.Replay(limited{t}); err != nil && p.err == nil {
		p.err = recordsFault(p.name, err)
	}
	if err := t.Close(); err != nil && p.err == nil {
		p.err = &infile.Fault{File: p.name, Err: err}
	}
}

// recordsFault returns an error of package observe, which begins with the file's
// name and mostly a line, as a Fault.
func recordsFault(name string, err error) error {
	text := strings.TrimPrefix(err.Error(), name+":")
	f := &infile.Fault{File: name, Err: errors.New(strings.TrimSpace(text))}
	if line, rest, ok := strings.Cut(text, ": "); ok {
		if n, e := strconv.ParseInt(line, 10, 64); e == nil {
			f.Line, f.Err = n, errors.New(rest)
		}
	}
	return f
}

// mostTokens is the longest answer that is taken in: longer ones are damage, and
// would take the memory of their every token.
const mostTokens = 1 << 24

// limited hands records on whose answers aren't longer than mostTokens.
type limited struct{ *transcript.Transcriber }

// Request implements observe.Sink.
func (l limited) Request(r *observe.Request) error {
	if r.Output > mostTokens {
		return fmt.Errorf("found an answer of %d tokens, want at most %d", r.Output, mostTokens)
	}
	return l.Transcriber.Request(r)
}

// recorded takes the calls of a run of servesim.
type recorded struct {
	p      *pass
	gaps   bool
	chunks []transcript.Chunk
}

// Call implements transcript.Sink.
func (r *recorded) Call(c *transcript.Call) error {
	f := &found{call: *c, at: exact.FromDuration(sim.Duration(c.Sent)), lag: c.Sent.Sub(c.Scheduled), gaps: r.gaps || c.Output <= 2}
	r.chunks = append(r.chunks[:0], c.Chunks...)
	for i := range r.chunks {
		r.chunks[i].At -= c.Sent
	}
	f.call.Chunks, f.call.Scheduled, f.call.Sent = r.chunks, 0, 0
	if c.Closed != transcript.Never {
		f.call.Closed -= c.Sent
	}
	r.p.emit(f)
	return r.p.err
}
