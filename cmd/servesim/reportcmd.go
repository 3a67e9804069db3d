package main

import (
	"context"
	"errors"
	"strings"

	"servesim/analysis"
	"servesim/analysis/export"
	"servesim/analysis/transcript"
	"servesim/report"
	"servesim/report/figure"
	"servesim/report/page"
	"servesim/sim/observe"

	"github.com/spf13/cobra"
)

// A reportOptions is what `servesim report` was asked for.
type reportOptions struct {
	runsOptions
	html htmlFlag
}

// newReport returns the verb report, which calls run, or runReport if that is nil.
func newReport(e env, run func(context.Context, *reportOptions) error) *cobra.Command {
	if run == nil {
		run = runReport
	}
	o := &reportOptions{runsOptions: runsOptions{env: e}}
	cmd := &cobra.Command{
		Use:   "report RUN... -o PAGE.html",
		Short: "Write a page with figures of runs whose records are in files",
		Long: `Write the report of a run as one page with figures, which needs no network: of the
records that servesim run --records wrote, or of a run that a benchmark tool measured,
from the files that servesim analyze reads. A measured run has no figures of the engine.

Several files of records are compared, request by request, with the first; their runs
must have had the same requests. Limits aren't in records: --goodput and --slo say them.`,
		Example: `  servesim run --records run.jsonl.gz
  servesim report run.jsonl.gz -o run.html
  servesim report whole.jsonl chunks.jsonl -o compare.html --goodput "ttft:500 tpot:15"`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.paths = args
			if !o.html.asked() {
				return usagef("report writes a page, and nothing says where; add -o PAGE.html")
			}
			taken := map[string]string{}
			for _, path := range args {
				taken[path] = "a run"
			}
			if err := o.html.check(taken); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.bind(cmd)
	cmd.Flags().StringVarP(&o.html.path, "output", "o", "", "the `PAGE` to write")
	o.html.flag = "-o"
	return cmd
}

// runReport reads every run and writes their page.
func runReport(ctx context.Context, o *reportOptions) error {
	ask := analysis.Options{Percentiles: analysis.TailPercentiles()}
	ps, err := percentiles(o.percentiles)
	if err != nil {
		return err
	}
	if ps != nil {
		ask.Percentiles = ps
	}
	if ask.SLO, err = o.limits(); err != nil {
		return err
	}
	defer o.html.abort()
	if err := o.html.open(); err != nil {
		return err
	}
	labels := fileLabels(o.paths)
	runs := make([]page.Run, len(o.paths))
	compared := make([]analysis.Run, len(o.paths))
	var faults []error
	for i, path := range o.paths {
		pairs := &analysis.Pairing{Goodput: ask.SLO.Goodput}
		if runs[i], err = o.read(ctx, path, ask, pairs); err != nil {
			faults = append(faults, o.faultOf(err))
			continue
		}
		compared[i] = analysis.Run{Name: labels[i], Report: runs[i].Report, Pairs: pairs}
		if len(runs) > 1 {
			runs[i].Name = labels[i]
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	p, err := pageOf(labels, runs, compared)
	if err != nil {
		return err
	}
	return o.html.write(p)
}

// pageOf returns the page of runs, which are compared if there are several.
func pageOf(labels []string, runs []page.Run, compared []analysis.Run) (*page.Page, error) {
	if len(runs) == 1 {
		return page.OfRun(&page.Content{Draw: drawStill, Title: labels[0], Runs: runs, Blocks: report.Blocks(&report.Document{Run: runs[0].Report})})
	}
	c, err := analysis.Compare(compared)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return page.OfComparison(&page.Content{Draw: drawStill, Title: strings.Join(labels, " against "), Runs: runs, Blocks: report.Blocks(&report.Document{Comparison: c})}, c)
}

// read reads the run in the file at path, and pairs its requests.
func (o *reportOptions) read(ctx context.Context, path string, ask analysis.Options, pairs *analysis.Pairing) (r page.Run, err error) {
	src, finish := o.source(ctx, path)
	defer finish()
	f, err := export.Read(src)
	if err != nil {
		return r, err
	}
	if f.Format.Dialect == "servesim" {
		err = replayRecords(src, func(in *observe.Reader) error {
			r, err = readRecords(in, len(o.paths), ask, pairs)
			return err
		})
		return r, err
	}
	if n := len(f.Runs); n > 1 || len(o.paths) > 1 {
		return r, usagef("%s: %s; a page shows one measured run, and compares only servesim's own records", path, analysis.Counted(int64(n), "measured run"))
	}
	return readMeasured(src, f, ask)
}

// readRecords reads servesim's records, for a page of so many runs.
func readRecords(in *observe.Reader, runs int, ask analysis.Options, pairs *analysis.Pairing) (page.Run, error) {
	ask.Header = in.Header()
	ask.Unseen.ITL = ask.Header.RequestsOnly
	s := analysis.NewSummary(ask)
	w := newWatcher(0, runs)
	sinks := observe.Tee{s, pairs, w.latencies}
	if !ask.Header.RequestsOnly {
		sinks = append(sinks, w.history)
	}
	if err := in.Replay(sinks); err != nil {
		return page.Run{}, err
	}
	r, err := w.run("", s.Report(), ask.SLO, nil)
	if ask.Header.RequestsOnly {
		r.History, r.Slow = nil, nil
	}
	r.Facts = originOf(ask.Header)
	return r, err
}

// readMeasured reads the only run of f, which a benchmark tool wrote.
func readMeasured(src export.Source, f *export.File, ask analysis.Options) (r page.Run, err error) {
	m := newMeasured(f, f.Runs[0])
	if m.lack != "" {
		return r, usagef("%s: there is nothing to show: %s", f.Name, m.lack)
	}
	if err := f.Replay(func(*export.Run) (transcript.Sink, error) { return m.calls, nil }); err != nil {
		return r, err
	}
	e := report.Export{File: f, Run: f.Runs[0], Number: 1}
	if err := m.report(src, &e, ask); err != nil {
		return r, err
	}
	seen := new(figure.Latencies)
	if err := m.kept.Replay(m.clock, seen); err != nil {
		return r, err
	}
	r.Run = figure.Run{Latencies: seen, SLO: ask.SLO, Report: e.Report}
	r.Facts = []page.Fact{{Name: "File", Text: f.Name + ": " + f.Format.Title}}
	for _, c := range e.Cautions {
		r.Facts = append(r.Facts, page.Fact{Name: "Caution", Text: c})
	}
	for _, u := range e.Unjudged {
		r.Facts = append(r.Facts, page.Fact{Name: "Not judged", Text: u.Limit + ": " + u.Why})
	}
	return r, nil
}
