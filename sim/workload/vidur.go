package workload

import "servesim/internal/exact"

// vidurFormat is the CSV of Vidur and Sarathi-Serve (github.com/microsoft/vidur,
// data/processed_traces). arrived_at is in seconds. The names that Vidur read
// before August 2024 are accepted. Files of lengths only, which Vidur pairs
// with arrivals of its own, are refused.
func vidurFormat() Format {
	return Format{
		Name:   "vidur",
		Title:  "Vidur and Sarathi-Serve traces, CSV",
		Fields: []string{"arrived_at", "num_prefill_tokens", "num_decode_tokens"},
		match: func(s *sniffed) bool {
			return s.has("num_prefill_tokens") || s.has("num_decode_tokens") || s.has("prompttokencount", "generatedtokencount")
		},
		open: openVidur,
	}
}

// vidurRows reads a CSV file with a time in seconds and two lengths.
type vidurRows struct {
	*table
	time, prompt, output int
}

func openVidur(in *lineReader, _ *Options) (rowReader, error) {
	t, err := openTable(in)
	if err != nil {
		return nil, err
	}
	c, err := t.need(
		[]string{"num_prefill_tokens", "PromptTokenCount"}, []string{"num_decode_tokens", "GeneratedTokenCount"})
	if err != nil {
		return nil, err
	}
	time, err := t.column("arrived_at", "Time")
	if err != nil {
		return nil, err
	}
	if time < 0 {
		return nil, in.fault("", "lengths without arrivals: the columns "+t.header(), "also arrived_at, in seconds",
			"to replay lengths alone, give them as the lengths of a generated workload")
	}
	return &vidurRows{table: t, time: time, prompt: c[0], output: c[1]}, nil
}

func (v *vidurRows) next(r *row) (err error) {
	if err = v.table.next(); err != nil {
		return err
	}
	if r.at, err = v.at(v.time, exact.Seconds()); err != nil {
		return err
	}
	if r.Prompt, err = v.tokens(v.prompt); err != nil {
		return err
	}
	if r.Output, err = v.tokens(v.output); err != nil {
		return err
	}
	r.text = v.table.fields[v.time]
	return nil
}

func (v *vidurRows) fields() rowFields {
	return rowFields{v.names[v.time], v.names[v.prompt], v.names[v.output]}
}

func (v *vidurRows) describe(r *Report) { r.Ignored = v.ignored() }
