package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/analysis/export"
	"servesim/analysis/transcript"
	"servesim/report"
	"servesim/scenario"

	"github.com/spf13/cobra"
)

// An analyzeOptions is what `servesim analyze` was asked for.
type analyzeOptions struct {
	env         env
	paths       []string
	dialects    string
	percentiles string
	goodput     string
	json        bool
	export      exportFlag
}

// newAnalyze returns the verb analyze, which calls run, or runAnalyze if that is
// nil.
func newAnalyze(e env, run func(context.Context, analyzeOptions) error) *cobra.Command {
	if run == nil {
		run = runAnalyze
	}
	o := analyzeOptions{env: e}
	cmd := &cobra.Command{
		Use:   "analyze FILE...",
		Short: "Print the metrics of benchmark results, as any of the tools would",
		Long: `Print the latencies, rates and goodput of runs that a benchmark tool measured or
servesim simulated, from the files with their requests:

` + exportHelp() + `
A file is told by its content; gzip and zstd are unwrapped, "-" is stdin. The figures
are those of the tool that wrote the file beside servesim's own; --dialect prints
what other tools would have said of the same calls. What a file can't tell is said
and left out, never made up. The same files are traces for servesim run --trace, if
they say when calls were sent. --export writes a run as the files of another tool.`,
		Example: `  servesim analyze result.json
  servesim analyze profile_export.jsonl --export vllm=result.json
  servesim analyze profile_export.jsonl --dialect all --goodput "ttft:500 tpot:15"`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.paths = args
			if err := o.export.check(cmd, nil); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.dialects, "dialect", "", "whose metrics to print: `LIST` of names, such as vllm,llmperf, or all")
	f.StringVar(&o.percentiles, "percentiles", "", "percentiles to print, such as 50,90,99.9")
	f.StringVar(&o.goodput, "goodput", "", "limits, such as \"ttft:500 tpot:15\" in ms, or \"ttft <= 0.5s, e2e <= 3s\"; with a percentile they are for --dialect mlperf")
	f.BoolVar(&o.json, "json", false, "print the figures as JSON, lossless")
	o.export.bind(cmd)
	must(cmd.RegisterFlagCompletionFunc("dialect", completeDialects))
	return cmd
}

// exportHelp lists the files that can be analysed.
func exportHelp() string {
	text := ""
	for _, f := range export.Formats() {
		text += fmt.Sprintf("  %-17s %s\n", f.Name, f.Title)
	}
	return text
}

// runAnalyze reads every file and prints what its runs say.
func runAnalyze(ctx context.Context, o analyzeOptions) error {
	ps, err := percentiles(o.percentiles)
	if err != nil {
		return err
	}
	if ps == nil {
		ps = analysis.DefaultPercentiles()
	}
	limits, err := o.limits()
	if err != nil {
		return err
	}
	defer o.export.abort()
	if n := len(o.paths); n > 1 && len(o.export.wanted) > 0 {
		return usagef("--export %s: writes one run, and there are %d files; give one", o.export.wanted[0].text, n)
	}
	var runs []report.Export
	var faults []error
	for _, path := range o.paths {
		more, err := o.analyze(ctx, path, dialect.Options{Percentiles: ps, Goodput: limits.Goodput, Run: limits.Run})
		if err != nil {
			faults = append(faults, err)
		}
		runs = append(runs, more...)
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	if err := o.export.commit(); err != nil {
		return err
	}
	if o.json {
		return report.ExportsJSON(o.env.stdout, runs)
	}
	return report.Exports(o.env.stdout, runs)
}

// limits reads --goodput.
func (o *analyzeOptions) limits() (slo analysis.SLO, err error) {
	if o.goodput == "" {
		return slo, nil
	}
	if slo, err = analysis.ParseSLO(o.goodput); err != nil {
		return slo, usagef("--goodput: %w", err)
	}
	if slo.MinGoodput != nil {
		return slo, usagef("--goodput %q: a share of good requests is no limit for a benchmark tool; leave it out, analyze prints the share", o.goodput)
	}
	return slo, nil
}

// analyze reads the file at path and computes the figures of its runs. What is
// wrong with it is a fault of the command line.
func (o *analyzeOptions) analyze(ctx context.Context, path string, how dialect.Options) ([]report.Export, error) {
	src, finish := o.source(ctx, path)
	defer finish()
	f, err := export.Read(src)
	if err != nil {
		return nil, o.faultOf(err)
	}
	list := o.dialects
	if list == "" {
		list = f.Format.Dialect + ",servesim"
		if f.Format.Dialect == "servesim" {
			list = "servesim"
		}
	}
	ds, err := dialect.Parse(list)
	if err != nil {
		return nil, usagef("--dialect: %w", err)
	}
	if err := o.judged(ds, how.Run); err != nil {
		return nil, err
	}
	if err := o.publish(src, f, how); err != nil {
		return nil, err
	}
	var sinks []*dialect.Sink
	err = f.Replay(func(r *export.Run) (transcript.Sink, error) {
		how := how
		how.Facts = r.Facts
		sinks = append(sinks, dialect.New(ds, how))
		return append(o.export.calls(), sinks[len(sinks)-1]), nil
	})
	if err != nil {
		return nil, o.faultOf(err)
	}
	var runs []report.Export
	for i, s := range sinks {
		runs = append(runs, report.Export{File: f, Run: f.Runs[i], Number: i + 1, Results: s.Results(), Reasons: s.Reasons()})
	}
	return runs, nil
}

// judged returns a fault if no dialect judges the limits on the run, of which
// there may be none.
func (o *analyzeOptions) judged(ds []*dialect.Dialect, limits []analysis.RunLimit) error {
	if len(limits) == 0 || slices.ContainsFunc(ds, func(d *dialect.Dialect) bool { return d.Goodput.Rule == dialect.Marginal }) {
		return nil
	}
	return usagef("--goodput %q: %s is a limit on the whole run, which of these tools MLPerf's alone has; add mlperf to --dialect, or judge the file by servesim gate --from", o.goodput, limits[0].String())
}

// faultOf returns err as a fault of the command line, unless it was interrupted.
func (o *analyzeOptions) faultOf(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &scenario.UsageError{Err: err}
}

// source returns the file at path, which is read twice until ctx is cancelled, and
// what ends its progress. Standard input is kept in memory.
func (o *analyzeOptions) source(ctx context.Context, path string) (src export.Source, finish func()) {
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
