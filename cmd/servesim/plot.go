package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/report/figure"
	"servesim/report/still"
	"servesim/scenario"
	"servesim/sim/observe"

	"github.com/spf13/cobra"
)

// A plotOptions is what `servesim plot` was asked for.
type plotOptions struct {
	runsOptions
	kind    figure.Kind
	output  string
	format  still.Format
	labels  []string
	metrics []figure.Metric
	where   []string
	drawn   analysis.SLO // limits
}

// newPlot returns the verb plot, which calls run, or runPlot if that is nil.
func newPlot(e env, run func(context.Context, *plotOptions) error) *cobra.Command {
	if run == nil {
		run = runPlot
	}
	o := &plotOptions{runsOptions: runsOptions{env: e}}
	var metrics string
	cmd := &cobra.Command{
		Use:   "plot KIND FILE... -o PICTURE.svg|png|pdf",
		Short: "Draw a figure of runs, or of a sweep or a capacity, as a picture",
		Long: `Draw a figure as SVG, PNG or PDF, whichever the name of the picture ends in.

Of runs, from the records that servesim run --records wrote, one file each; ecdf and
ccdf take the results of benchmark tools too, as servesim analyze does:

` + kindHelp(false) + `
Of one sweep, from its results.json, or of what servesim capacity --json wrote:

` + kindHelp(true) + `
The same files give the same bytes. Every picture says how many requests, gaps or runs
it is of; an SVG says in words what is seen, too.`,
		Example: `  servesim plot stalls a.jsonl b.jsonl --label "whole prompts" --label "chunks of 512" -o stalls.svg
  servesim plot ccdf result.json --metrics ttft,itl --slo consumer-chat-70b -o tails.pdf
  servesim plot chunk-frontier chunks.sweep/results.json --where rate_per_s=8 -o chunks.png`,
		Args: arguments(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args, metrics); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			var names []string
			for _, k := range figure.Kinds() {
				names = append(names, k.Name+"\t"+k.Title)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "write the picture to `FILE`, whose name ends in .svg, .png or .pdf")
	f.StringArrayVar(&o.labels, "label", nil, "what a run is called in the picture, `NAME`; once for each file (default the file's name)")
	f.StringVar(&metrics, "metrics", "", "latencies to show, `LIST` of ttft, tpot, itl, max_gap, e2e")
	f.StringArrayVar(&o.where, "where", nil, "show only the points of a sweep with `KEY=VALUE`; may be repeated")
	f.StringVar(&o.goodput, "goodput", "", "limits to draw, such as \"ttft <= 500ms, itl p99 <= 100ms\"")
	f.StringVar(&o.slo, "slo", "", "a `PRESET` of limits to draw, under those of --goodput; servesim list slos says which")
	must(cmd.RegisterFlagCompletionFunc("slo", cobra.FixedCompletions(scenario.SLONames(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// kindHelp lists the kinds of figures of tables, or of runs.
func kindHelp(table bool) string {
	text := ""
	for _, k := range figure.Kinds() {
		if k.Table == table {
			text += fmt.Sprintf("  %-15s %s\n", k.Name, k.Title)
		}
	}
	return text
}

// check holds the arguments and flags against each other, and reads them. All faults
// are told at once.
func (o *plotOptions) check(cmd *cobra.Command, args []string, metrics string) error {
	kind, err := figure.FindKind(args[0])
	if err != nil {
		return usagef("%w", err)
	}
	o.kind, o.paths = kind, args[1:]
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, usagef(format, args...)) }
	given := cmd.Flags().Changed
	o.format = still.Format(strings.TrimPrefix(strings.ToLower(filepath.Ext(o.output)), "."))
	switch {
	case o.output == "":
		fault("-o is missing; name the picture to write, such as -o %s.svg", kind.Name)
	case !slices.Contains(still.Formats(), o.format):
		fault("-o %s: must end in .svg, .png or .pdf, which says the form of the picture", o.output)
	}
	if given("metrics") {
		if o.metrics, err = kind.ParseMetrics(metrics); err != nil {
			fault("--metrics: %w", err)
		}
	}
	if kind.Table && len(o.paths) > 1 {
		fault("%s is of one sweep or capacity; found %d files", kind.Name, len(o.paths))
	}
	for _, name := range []string{"label", "goodput", "slo"} {
		if kind.Table && given(name) || !kind.Limits && name != "label" && given(name) {
			fault("--%s does nothing for %s; leave it out", name, kind.Name)
		}
	}
	if !kind.Table && given("where") {
		fault("--where chooses points of a sweep, and %s is of runs; leave it out", kind.Name)
	}
	if n := len(o.labels); n > 0 && n != len(o.paths) && !kind.Table {
		fault("--label is given %d times, and there are %s; give it once for each", n, analysis.Counted(int64(len(o.paths)), "file"))
	}
	if o.drawn, err = o.limits(); err != nil {
		faults = append(faults, err)
	}
	for _, path := range o.paths {
		if o.output != "" && realPath(path) == realPath(o.output) {
			fault("-o %s: is a file that is read; write to another", o.output)
		}
	}
	return errors.Join(faults...)
}

// runPlot reads the files and writes the picture.
func runPlot(ctx context.Context, o *plotOptions) error {
	out, err := observe.CreateFile(o.output)
	if err != nil {
		return usagef("-o %w", err)
	}
	defer out.Abort()
	f, err := o.figure(ctx)
	if err != nil {
		return err
	}
	if err := still.Write(out, f, o.format); err != nil {
		return err
	}
	return out.Commit()
}

// figure reads the files and returns the figure of them.
func (o *plotOptions) figure(ctx context.Context) (*figure.Figure, error) {
	if !o.kind.Table {
		runs, err := o.runs(ctx)
		if err != nil {
			return nil, err
		}
		f, err := o.kind.OfRuns(o.metrics, runs)
		if err != nil {
			return nil, usagef("%w", err)
		}
		return f, nil
	}
	path := o.paths[0]
	in, err := o.env.open(path)
	if err != nil {
		return nil, usagef("%w", err)
	}
	defer in.Close()
	t, err := figure.ReadTable(in, pathName(path))
	if err == nil {
		t, err = t.Where(o.where)
	}
	if err != nil {
		return nil, usagef("%w", err)
	}
	f, err := o.kind.OfTable(t, o.metrics)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return f, nil
}
