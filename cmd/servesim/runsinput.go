package main

import (
	"bytes"
	"context"
	"errors"
	"io"

	"servesim/analysis"
	"servesim/analysis/export"
	"servesim/scenario"

	"github.com/spf13/cobra"
)

// A runsOptions is what verbs that read files of runs were asked for.
type runsOptions struct {
	env         env
	paths       []string
	percentiles string
	goodput     string
	slo         string
}

// bind adds the flags to cmd.
func (o *runsOptions) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.percentiles, "percentiles", "", "percentiles to print, such as 50,90,99.9")
	f.StringVar(&o.goodput, "goodput", "", "limits of a good request, such as \"ttft:500 tpot:15\" in ms or \"ttft <= 0.5s, e2e <= 3s\", and of the run, \"ttft p99 <= 800ms, goodput >= 99%\"")
	f.StringVar(&o.slo, "slo", "", "a `PRESET` of limits, under those of --goodput; servesim list slos says which")
	must(cmd.RegisterFlagCompletionFunc("slo", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, s := range scenario.ListSLOs() {
			names = append(names, s[0])
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}))
}

// limits reads --goodput, over --slo.
func (o *runsOptions) limits() (slo analysis.SLO, err error) {
	var faults []error
	if o.goodput != "" {
		if slo, err = analysis.ParseSLO(o.goodput); err != nil {
			faults = append(faults, usagef("--goodput: %w", err))
		}
	}
	if o.slo != "" {
		preset, err := analysis.FindSLO(o.slo)
		if err != nil {
			faults = append(faults, usagef("--slo: %w", err))
		}
		slo = slo.Over(preset.SLO)
	}
	if slo.MinGoodput != nil && len(slo.Goodput) == 0 && faults == nil {
		faults = append(faults, usagef("--goodput %q: a share of good requests needs limits that make one good, such as ttft <= 500ms", o.goodput))
	}
	return slo, errors.Join(faults...)
}

// faultOf returns err as a fault of the command line, unless it was interrupted.
func (o *runsOptions) faultOf(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &scenario.UsageError{Err: err}
}

// source returns the file at path, which is read twice until ctx is cancelled, and
// what ends its progress. Standard input is kept in memory.
func (o *runsOptions) source(ctx context.Context, path string) (src export.Source, finish func()) {
	if path != scenario.StdinPath {
		r := newReading(ctx, o.env, path, 2)
		return export.Source{Name: path, Open: r.open}, r.finish
	}
	var kept []byte
	return export.Source{Name: scenario.StdinName, Open: func() (io.ReadCloser, error) {
		if kept == nil {
			var err error
			if kept, err = io.ReadAll(o.env.stdin); err != nil {
				return nil, err
			}
		}
		return io.NopCloser(bytes.NewReader(kept)), nil
	}}, func() {}
}
