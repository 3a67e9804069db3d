package main

import (
	"servesim/report"

	"github.com/spf13/cobra"
)

// A formatFlag is the form in which a verb prints what it found.
type formatFlag struct {
	name string
	json bool
}

// bind adds the flags to cmd. --format is the trace's, so the report's is kubectl's.
func (f *formatFlag) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.name, "output", "o", "", "form of what is printed, text or json")
	flags.BoolVar(&f.json, "json", false, "print JSON, lossless; short for -o json")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formNames(), cobra.ShellCompDirectiveNoFileComp)))
}

// formNames returns the names of the forms.
func formNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name())
	}
	return names
}

// chosen returns the form that the flags name.
func (f *formatFlag) chosen() (report.Format, error) {
	switch {
	case f.json && f.name != "" && f.name != "json":
		return nil, usagef("--json and --output %s are two forms; leave one out", f.name)
	case f.json:
		return report.FindFormat("json")
	case f.name == "":
		return report.Formats()[0], nil
	}
	form, err := report.FindFormat(f.name)
	if err != nil {
		return nil, usagef("--output: %w", err)
	}
	return form, nil
}
