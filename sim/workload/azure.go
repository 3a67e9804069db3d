package workload

import (
	"bytes"
	"fmt"

	"servesim/internal/infile"
)

// azureFormat is the CSV of the Azure LLM inference traces of 2023, 2024 and
// 2025 (github.com/Azure/AzurePublicDataset). Their stamps differ:
//
//	2023  2023-11-16 18:15:46.6805900         7 digits, no zone
//	2024  2024-05-10 00:00:00.009930+00:00    no fraction on a whole second
//	2025  2024-10-15T12:00:00.269Z            and a column NumImages
//
// A file without its header is refused, because columns are found by name.
func azureFormat() Format {
	return Format{
		Name:   "azure",
		Title:  "Azure LLM inference traces of 2023, 2024 and 2025, CSV",
		Fields: []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"},
		match:  func(s *sniffed) bool { return s.has("contexttokens") || s.has("generatedtokens") },
		open:   openAzure,
	}
}

// azureRows reads an Azure trace.
type azureRows struct {
	*table
	time, prompt, output int
	images               int // column, or -1
	clock                wallClock
	withImages           int64 // rows
}

func openAzure(in *lineReader, _ *Options) (rowReader, error) {
	t, err := openTable(in)
	if err != nil {
		return nil, err
	}
	c, err := t.needEach("TIMESTAMP", "ContextTokens", "GeneratedTokens")
	if err != nil {
		return nil, err
	}
	images, err := t.column("NumImages")
	if err != nil {
		return nil, err
	}
	return &azureRows{table: t, time: c[0], prompt: c[1], output: c[2], images: images}, nil
}

func (a *azureRows) next(r *row) (err error) {
	if err = a.table.next(); err != nil {
		return err
	}
	if r.at, err = a.clock.at(a.table, a.time); err != nil {
		return err
	}
	if r.Prompt, err = a.tokens(a.prompt); err != nil {
		return err
	}
	if r.Output, err = a.tokens(a.output); err != nil {
		return err
	}
	if a.images >= 0 {
		n, ok := parseCount(bytes.TrimSpace(a.table.fields[a.images]))
		if !ok {
			return a.in.fault(a.names[a.images], infile.Quote(a.table.fields[a.images]), "a whole number of images", "")
		}
		if n > 0 {
			a.withImages++
		}
	}
	r.text = a.table.fields[a.time]
	return nil
}

func (a *azureRows) fields() rowFields {
	return rowFields{a.names[a.time], a.names[a.prompt], a.names[a.output]}
}

func (a *azureRows) describe(r *Report) {
	r.Ignored = a.ignored()
	if a.withImages > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf(
			"%d rows have images: only the tokens in %s are replayed", a.withImages, a.names[a.prompt]))
	}
}
