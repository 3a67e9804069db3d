package main

import (
	"context"
	"errors"
	"fmt"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/analysis/export"
	"servesim/analysis/transcript"
	"servesim/report"

	"github.com/spf13/cobra"
)

// An analyzeOptions is what `servesim analyze` was asked for.
type analyzeOptions struct {
	runsOptions
	dialects    string
	outputEdges string
	json        bool
	export      exportFlag
}

// newAnalyze returns the verb analyze, which calls run, or runAnalyze if that is
// nil.
func newAnalyze(e env, run func(context.Context, analyzeOptions) error) *cobra.Command {
	if run == nil {
		run = runAnalyze
	}
	o := analyzeOptions{runsOptions: runsOptions{env: e}}
	cmd := &cobra.Command{
		Use:   "analyze FILE...",
		Short: "Print the metrics of benchmark results, as any of the tools would",
		Long: `Print the latencies, rates and goodput of runs that a benchmark tool measured or
servesim simulated, from the files with their requests:

` + exportHelp() + `
A file is told by its content; gzip and zstd are unwrapped, "-" is stdin. First comes
what servesim run says of a run, with 95 % intervals and limits judged by them: a
limit on the run that is missed ends it with code 3. Then come the figures of the
tool that wrote the file beside servesim's own; --dialect prints what other tools
would have said of the same calls. What a file can't tell is said and left out, never
made up. The same files are traces for servesim run --trace, if they say when calls
were sent. --export writes a run as the files of another tool.`,
		Example: `  servesim analyze result.json
  servesim analyze profile_export.jsonl --export vllm=result.json
  servesim analyze result.json --goodput "ttft <= 500ms, tpot <= 15ms, ttft p99 <= 2s"
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
	o.bind(cmd)
	f := cmd.Flags()
	f.StringVar(&o.dialects, "dialect", "", "whose metrics to print: `LIST` of names, such as vllm,llmperf, or all")
	f.StringVar(&o.outputEdges, "output-edges", "", "output tokens at which the ranges of latencies by output tokens begin, such as 100,300,500, or none")
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
	edges, err := outputEdges(o.outputEdges)
	if err != nil {
		return err
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
		more, err := o.analyze(ctx, path, analysis.Options{Percentiles: ps, OutputEdges: edges, SLO: limits})
		if err != nil {
			faults = append(faults, err)
		}
		runs = append(runs, more...)
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	if err := o.export.commit(o.env.stderr); err != nil {
		return err
	}
	write := report.Exports
	if o.json {
		write = report.ExportsJSON
	}
	if err := write(o.env.stdout, runs); err != nil {
		return err
	}
	return judgeMeasured(runs)
}

// analyze reads the file at path and computes the figures of its runs. What is
// wrong with it is a fault of the command line.
func (o *analyzeOptions) analyze(ctx context.Context, path string, ask analysis.Options) ([]report.Export, error) {
	how := dialect.Options{Percentiles: ask.Percentiles, Goodput: ask.SLO.Goodput, Run: ask.SLO.Run}
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
	if err := o.publish(src, f, how); err != nil {
		return nil, err
	}
	var sinks []*dialect.Sink
	var reports []*measured
	err = f.Replay(func(r *export.Run) (transcript.Sink, error) {
		how := how
		how.Facts = r.Facts
		sinks = append(sinks, dialect.New(ds, how))
		to := append(o.export.calls(), sinks[len(sinks)-1])
		reports = append(reports, newMeasured(f, r))
		return append(to, reports[len(reports)-1].calls...), nil
	})
	if err != nil {
		return nil, o.faultOf(err)
	}
	var runs []report.Export
	for i, s := range sinks {
		e := report.Export{File: f, Run: f.Runs[i], Number: i + 1, Results: s.Results(), Reasons: s.Reasons()}
		if err := reports[i].report(src, &e, ask); err != nil {
			return nil, o.faultOf(err)
		}
		runs = append(runs, e)
	}
	return runs, nil
}
