package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"servesim/analysis"
)

// A Document is what there is to say of one run, of runs compared, of replications,
// or of scenarios compared by replications: it has one of these.
type Document struct {
	Run          *analysis.Report
	Comparison   *analysis.Comparison
	Replicated   *analysis.Replicated
	Replications *analysis.ReplicatedComparison
	// Before and After say what ran, for people. Members say it to programs, in order.
	Before, After string
	Members       []Member
}

// A Format writes documents in one form. Each is one file and a line in Formats.
type Format interface {
	// Name is what it is asked for by, and Title says in a few words what it is.
	Name() string
	Title() string
	// Write writes d to w, and changes nothing in it. The errors are those of w and
	// of the members of d.
	Write(w io.Writer, d *Document) error
}

// Formats lists every format, the default first.
func Formats() []Format { return []Format{textFormat{}, jsonFormat{}} }

// FindFormat returns the format of that name. The error lists those there are.
func FindFormat(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name() == name {
			return f, nil
		}
		names = append(names, f.Name())
	}
	return nil, fmt.Errorf("no format is called %q; allowed are %s", name, strings.Join(names, ", "))
}

// textFormat is tables for people.
type textFormat struct{}

// Name implements Format.
func (textFormat) Name() string { return "text" }

// Title implements Format.
func (textFormat) Title() string { return "tables for people" }

// Write implements Format.
func (textFormat) Write(w io.Writer, d *Document) error {
	if _, err := io.WriteString(w, d.Before); err != nil {
		return err
	}
	if err := writeText(w, d); err != nil {
		return err
	}
	_, err := io.WriteString(w, d.After)
	return err
}

// writeText writes the numbers of d for people.
func writeText(w io.Writer, d *Document) error {
	switch {
	case d.Comparison != nil:
		return CompareText(w, d.Comparison)
	case d.Replicated != nil:
		return ReplicatedText(w, d.Replicated)
	case d.Replications != nil:
		return CompareReplicationsText(w, d.Replications)
	}
	return Text(w, d.Run)
}

// jsonFormat is one JSON object for programs.
type jsonFormat struct{}

// Name implements Format.
func (jsonFormat) Name() string { return "json" }

// Title implements Format.
func (jsonFormat) Title() string { return "one object for programs, without loss" }

// Write implements Format.
func (jsonFormat) Write(w io.Writer, d *Document) error {
	members := slices.Clone(d.Members)
	switch {
	case d.Comparison != nil:
		return CompareJSON(w, d.Comparison, members...)
	case d.Replicated != nil:
		return ReplicatedJSON(w, d.Replicated, members...)
	case d.Replications != nil:
		return CompareReplicationsJSON(w, d.Replications, members...)
	}
	return JSON(w, d.Run, members...)
}
