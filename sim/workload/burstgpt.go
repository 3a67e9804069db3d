package workload

import (
	"bytes"

	"servesim/internal/exact"
)

// burstFormat is the CSV of the BurstGPT traces (github.com/HPMLL/BurstGPT).
// Timestamp is in seconds. The columns are found by name, for release 1.2 puts
// Session ID among them. Model becomes the class of a request.
//
// A row with 0 response tokens is a call that failed. It is left out and
// counted, unless the options have another rule for zeros.
func burstFormat() Format {
	return Format{
		Name:   "burstgpt",
		Title:  "BurstGPT traces, CSV",
		Fields: []string{"Timestamp", "Request tokens", "Response tokens"},
		zero:   ZeroDrop,
		match:  func(s *sniffed) bool { return s.has("request tokens") || s.has("response tokens") },
		open:   openBurst,
	}
}

// burstRows reads a BurstGPT trace. model and session are columns, or -1.
type burstRows struct {
	*table
	time, prompt, output int
	model, session       int
	models, sessions     interner
}

func openBurst(in *lineReader, _ *Options) (rowReader, error) {
	t, err := openTable(in)
	if err != nil {
		return nil, err
	}
	c, err := t.needEach("Timestamp", "Request tokens", "Response tokens")
	if err != nil {
		return nil, err
	}
	b := &burstRows{table: t, time: c[0], prompt: c[1], output: c[2]}
	if b.model, err = t.column("Model"); err != nil {
		return nil, err
	}
	if b.session, err = t.column("Session ID"); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *burstRows) next(r *row) (err error) {
	if err = b.table.next(); err != nil {
		return err
	}
	if r.at, err = b.at(b.time, exact.Seconds()); err != nil {
		return err
	}
	if r.Prompt, err = b.tokens(b.prompt); err != nil {
		return err
	}
	if r.Output, err = b.tokens(b.output); err != nil {
		return err
	}
	if b.model >= 0 {
		if r.Class, err = b.label(b.model, &b.models); err != nil {
			return err
		}
	}
	if b.session >= 0 {
		_, r.Session = b.sessions.of(bytes.TrimSpace(b.table.fields[b.session]))
	}
	r.text = b.table.fields[b.time]
	return nil
}

func (b *burstRows) fields() rowFields {
	return rowFields{b.names[b.time], b.names[b.prompt], b.names[b.output]}
}

func (b *burstRows) describe(r *Report) {
	r.Ignored = b.ignored()
}
