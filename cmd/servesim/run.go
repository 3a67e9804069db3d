package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/analysis/transcript"
	"servesim/report"
	"servesim/report/page"
	"servesim/scenario"
	"servesim/sim/observe"

	"github.com/spf13/cobra"
)

// A runOptions is what `servesim run` was asked for.
type runOptions struct {
	env         env
	scenario    scenarioFlags
	source      scenario.Source
	form        formatFlag
	print       bool
	records     string
	why         why
	percentiles string
	outputEdges string
	// replications is the number of runs, 0 for one that is printed whole.
	replications int
	dialect      dialectFlag
	export       exportFlag
	html         htmlFlag
	hist         histFlag
}

// newRun returns the verb run, which calls run, or runRun if that is nil.
func newRun(e env, run func(context.Context, *runOptions) error) *cobra.Command {
	if run == nil {
		run = runRun
	}
	o := &runOptions{env: e}
	cmd := &cobra.Command{
		Use:   "run [SCENARIO.toml]",
		Short: "Simulate a scenario and print its latencies",
		Long: `Simulate a scenario and print what its users would have seen. Without a scenario
file it is the default one, which --print shows. "-" reads the scenario from stdin.

The flags for parts of a scenario are short for --set; --set takes any key, in
full or by its last part, and TOML values: --set max_num_seqs=64.

TTFT is the time from a client's call to the first token, one value a request. TPOT
is the mean time between the tokens of an answer, one value a request of two tokens
or more. ITL is every single gap between two tokens, those of all requests pooled,
so long answers weigh more. Requests that failed are in ITL as far as they came and
in no other latency. Benchmark tools mean other things by these names: --dialect
prints what each would have said.`,
		Example: `  servesim run
  servesim run --set rate_per_s=4 --set requests=2000 --json
  servesim run --dialect vllm,llmperf
  servesim run --gpu b200 --print`,
		Args: arguments(cobra.MatchAll(looseLimits, cobra.MaximumNArgs(1))),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.source, err = o.scenario.source(cmd, args); err != nil {
				return err
			}
			if _, err := o.form.chosen(); err != nil {
				return err
			}
			if err := o.useless(cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("replications") {
				if err := checkReplications(o.replications); err != nil {
					return err
				}
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: completeTOML,
	}
	o.scenario.bind(cmd)
	o.why.bind(cmd)
	f := cmd.Flags()
	o.form.bind(cmd)
	f.BoolVar(&o.print, "print", false, "print the scenario with every default written out, and don't run it")
	f.StringVar(&o.records, "records", "", "write what became of each request and step to `FILE`, as JSON lines")
	f.StringVar(&o.percentiles, "percentiles", "", "percentiles to print, such as 50,90,99.9")
	f.StringVar(&o.outputEdges, "output-edges", "", "output tokens at which the ranges of latencies by output tokens begin, such as 100,300,500, or none")
	f.IntVar(&o.replications, "replications", 0, "simulate `N` times, under the scenario's seed and those after it, and print each figure of all with its interval")
	o.dialect.bind(cmd)
	o.export.bind(cmd)
	o.html.bind(cmd)
	o.hist.bind(cmd)
	return cmd
}

// useless returns a fault for each flag about a result that goes with --print,
// which makes none, and for exports that can't be.
func (o *runOptions) useless(cmd *cobra.Command) error {
	if err := o.hist.check(cmd, &o.form); err != nil {
		return err
	}
	var names []string
	for _, name := range []string{"records", "export", "perfetto", "output-edges", "dialect", "blame", "html", "hist"} {
		if o.replications > 0 && cmd.Flags().Changed(name) {
			return usagef("--%s is of one run; leave it or --replications out", name)
		}
	}
	for _, name := range []string{"json", "output", "records", "export", "perfetto", "blame", "percentiles", "output-edges", "replications", "dialect", "html", "hist"} {
		if o.print && cmd.Flags().Changed(name) {
			names = append(names, "--"+name)
		}
	}
	if len(names) == 0 {
		return errors.Join(o.export.check(cmd, map[string]string{o.records: "--records", o.html.path: "--html"}),
			o.html.check(map[string]string{o.records: "--records"}))
	}
	return usagef("--print runs nothing, so %s would have nothing to write; leave --print out, or the others", strings.Join(names, " and "))
}

// runRun simulates a scenario and prints what came of it.
func runRun(ctx context.Context, o *runOptions) error {
	if o.replications > 0 {
		return runReplicated(ctx, o)
	}
	p, err := scenario.Load(o.source)
	if err != nil {
		return err
	}
	if o.print {
		_, err := io.WriteString(o.env.stdout, p.Text())
		return err
	}
	var asked scenario.Options
	if asked.Percentiles, err = percentiles(o.percentiles); err != nil {
		return err
	}
	if asked.OutputEdges, err = outputEdges(o.outputEdges); err != nil {
		return err
	}
	if err := o.dialect.begin(transcript.Everything(), asked.Percentiles, p.SLO); err != nil {
		return err
	}
	defer o.export.abort()
	what := published(p, asked.Percentiles)
	what.Again = o.again(ctx, p)
	if err := o.export.open(what); err != nil {
		return err
	}
	defer o.html.abort()
	if err := o.html.open(); err != nil {
		return err
	}
	var seen *watcher
	if o.html.asked() {
		seen = watchPlan(p, 1, &asked)
	}
	r, err := o.simulate(ctx, p, asked)
	if err != nil {
		return err
	}
	if err := errors.Join(o.why.end(), o.writePage(r, seen)); err != nil {
		return err
	}
	if err := o.write(r); err != nil {
		return err
	}
	return judge(r.Report.Verdicts)
}

// again returns what simulates p once more for a sink, nil if its traces can be read
// only once.
func (o *runOptions) again(ctx context.Context, p *scenario.Plan) func(observe.Sink) error {
	if p.ReadsStdin() {
		return nil
	}
	return func(to observe.Sink) error {
		_, err := simulate(ctx, o.env, p, scenario.Options{Sinks: []observe.Sink{to}})
		return err
	}
}

// write prints what came of a run.
func (o *runOptions) write(r *scenario.Result) error {
	form, err := o.form.chosen()
	if err != nil {
		return err
	}
	var after strings.Builder
	last := slices.ContainsFunc(r.Report.Warnings, func(w analysis.Warning) bool { return !w.First() })
	spaced := !last && o.dialect.list == ""
	if err := errors.Join(o.dialect.text(&after), o.why.write(&after, spaced), o.hist.write(o.env, &after, r.Report)); err != nil {
		return err
	}
	more := append([]report.Member{{Key: "input", Value: r.Input()}}, o.dialect.members()...)
	return form.Write(o.env.stdout, &report.Document{
		Run: r.Report, Before: linesOf(r.Facts()).folded(0) + "\n", After: after.String(), Members: append(more, o.why.members()...),
	})
}

// writePage writes the page of a run, if it was seen for one.
func (o *runOptions) writePage(r *scenario.Result, seen *watcher) error {
	if seen == nil {
		return nil
	}
	run, err := seen.run("", r.Report, r.Plan.SLO, r.Facts())
	if err != nil {
		return err
	}
	run.Facts = append(run.Facts, originOf(r.Plan.Header())...)
	p, err := page.OfRun(&page.Content{Draw: drawStill, Title: titleOf(r.Plan), Runs: []page.Run{run}, Blocks: report.Blocks(&report.Document{Run: r.Report})})
	if err != nil {
		return err
	}
	return o.html.write(p)
}

// simulate runs p for its dialects too, and writes its records if they were asked for.
func (o *runOptions) simulate(ctx context.Context, p *scenario.Plan, asked scenario.Options) (*scenario.Result, error) {
	asked.Beside = append(asked.Beside, o.why.begin()...)
	asked.Measured = append(asked.Measured, o.hist.begin()...)
	asked.Sinks = append(asked.Sinks, o.export.records()...)
	to := o.export.calls()
	if o.dialect.sink != nil {
		to = append(to, o.dialect.sink)
	}
	if len(to) == 0 {
		r, err := o.record(ctx, p, asked)
		if err != nil {
			return nil, err
		}
		return r, o.export.commit(o.env.stderr)
	}
	cut := new(analysis.Cut)
	calls, err := transcript.NewTranscriber(scenario.MeasuredCalls(cut, to), p.Streaming())
	if err != nil {
		return nil, err
	}
	asked.Sinks, asked.Cut = append(asked.Sinks, calls), cut
	r, err := o.record(ctx, p, asked)
	if err != nil {
		return nil, err
	}
	if err := calls.Close(); err != nil {
		return nil, err
	}
	return r, o.export.commit(o.env.stderr)
}

// record runs p and writes its records if they were asked for.
func (o *runOptions) record(ctx context.Context, p *scenario.Plan, asked scenario.Options) (*scenario.Result, error) {
	if o.records == "" {
		return simulate(ctx, o.env, p, asked)
	}
	if o.records == scenario.StdinPath {
		return nil, usagef("--records -: stdout is for the summary; name a file, or a pipe or device such as /dev/stderr")
	}
	f, err := observe.CreateFile(o.records)
	if err != nil {
		return nil, usagef("--records %w", err)
	}
	defer f.Abort()
	w, err := observe.NewWriter(f, p.Header())
	if err != nil {
		return nil, err
	}
	asked.Beside = append(asked.Beside, w)
	r, err := simulate(ctx, o.env, p, asked)
	if err != nil {
		return nil, err
	}
	return r, errors.Join(w.Close(), f.Commit())
}

// percentiles reads a --percentiles flag; empty is the default.
func percentiles(text string) ([]analysis.Percentile, error) {
	if text == "" {
		return nil, nil
	}
	ps, err := analysis.ParsePercentiles(text)
	if err != nil {
		return nil, usagef("--percentiles: %w", err)
	}
	return ps, nil
}

// outputEdges reads an --output-edges flag; empty is the default.
func outputEdges(text string) ([]int32, error) {
	if text == "" {
		return nil, nil
	}
	edges, err := analysis.ParseOutputEdges(text)
	if err != nil {
		return nil, usagef("--output-edges: %w", err)
	}
	return edges, nil
}
