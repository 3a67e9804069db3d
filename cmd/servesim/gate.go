package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"servesim/analysis"
	"servesim/gate"
	"servesim/scenario"
	"servesim/sim/observe"

	"github.com/spf13/cobra"
)

// A gateOptions is what `servesim gate` was asked for.
type gateOptions struct {
	env             env
	path            string
	from            []string
	jobs            int
	json            bool
	junit, markdown string
	html            htmlFlag
}

// newGate returns the verb gate, which calls run, or runGate if that is nil.
func newGate(e env, run func(context.Context, *gateOptions) error) *cobra.Command {
	if run == nil {
		run = runGate
	}
	o := &gateOptions{env: e}
	cmd := &cobra.Command{
		Use:   "gate GATE.toml [--from [LEVEL=]FILE...]",
		Short: "Decide whether users would get what a file says they must, for CI",
		Long: `Decide whether a service passes a gate: whether, at the load that a file says, enough
requests meet every limit at once (goodput: 99 % for class production, 95 % for canary),
in at least 30 runs of 100 requests, at 25, 50, 100 and 150 % of that load. The runs are
simulated, on all cores, or read from results of benchmark tools:

` + exportHelp() + `
--from names files of results, each with the share of the target that it was measured at
in percent, or "peak"; without it the rate of the calls tells. A file may hold many runs.

A gate that would say nothing is refused, with the reason and what to do instead: on
throughput alone, on means without P99, without limits, dialect or sweep, with identical
prompts, with too few runs or requests.

Exit codes: 0 passed, 3 missed, 4 too close to call: a limit lies within the interval of
what was found, and more runs would tell; 2 refused or misconfigured, 1 failed.`,
		Example: `  servesim gate gate.toml --junit gate.xml --markdown gate.md
  servesim gate gate.toml --from 25=low.jsonl 50=half.jsonl 100=full.jsonl 150=over.jsonl`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.path = args[0]
			if len(args) > 1 && len(o.from) == 0 {
				return usagef("%s: a gate is one file; results that were measured come after --from", args[1])
			}
			o.from = append(o.from, args[1:]...)
			if o.jobs < 1 {
				return usagef("--jobs %d: must be 1 or more", o.jobs)
			}
			if err := o.html.check(map[string]string{o.junit: "--junit", o.markdown: "--markdown"}); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: completeTOML,
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.from, "from", nil, "judge measured runs: `[LEVEL=]FILE`, and more after it; may be repeated")
	f.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "runs under way at once")
	f.BoolVar(&o.json, "json", false, "print the verdict and its evidence as JSON")
	f.StringVar(&o.junit, "junit", "", "write JUnit XML to `FILE`")
	o.html.bind(cmd)
	f.StringVar(&o.markdown, "markdown", "", "write a summary for a pull request to `FILE`")
	return cmd
}

// runGate judges a gate and writes what came of it, into files even if it is refused.
func runGate(ctx context.Context, o *gateOptions) error {
	defer o.html.abort()
	if err := o.html.open(); err != nil {
		return err
	}
	outcome, err := o.judge(ctx)
	var usage *scenario.UsageError
	if errors.As(err, &usage) && !errors.Is(err, context.Canceled) {
		return errors.Join(err, o.files(
			func(w io.Writer) error { return gate.RefusedJUnit(w, o.path, err) },
			func(w io.Writer) error { return gate.RefusedMarkdown(w, o.path, err) },
		))
	}
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := outcome.Text(&text); err != nil {
		return err
	}
	if err := o.files(func(w io.Writer) error { return outcome.JUnit(w, text.String()) }, outcome.Markdown); err != nil {
		return err
	}
	if o.html.asked() {
		if err := o.writePage(outcome, text.String()); err != nil {
			return err
		}
	}
	if o.json {
		err = outcome.JSON(o.env.stdout)
	} else {
		_, err = io.WriteString(o.env.stdout, text.String())
	}
	return errors.Join(err, verdictOf(outcome))
}

// judge reads the gate and judges its runs.
func (o *gateOptions) judge(ctx context.Context) (*gate.Outcome, error) {
	text, err := os.ReadFile(o.path)
	if err != nil {
		return nil, usagef("%w; name a gate file", err)
	}
	g, err := gate.Read(o.path, string(text), len(o.from) > 0)
	if err != nil {
		return nil, err
	}
	if len(o.from) > 0 {
		return o.measured(ctx, g)
	}
	bar := newRunsProgress(o.env, g.Name, g.Simulations())
	defer bar.finish()
	return g.Simulate(ctx, gate.Options{Jobs: o.jobs, Progress: bar.one})
}

// measured judges the runs in files.
func (o *gateOptions) measured(ctx context.Context, g *gate.Gate) (*gate.Outcome, error) {
	files := runsOptions{env: o.env}
	var inputs []gate.Input
	for _, text := range o.from {
		level, path := gate.ParseInput(text)
		src, finish := files.source(ctx, path)
		defer finish()
		inputs = append(inputs, gate.Input{Level: level, Source: src})
	}
	return g.Measure(inputs)
}

// files writes those that were asked for, each whole or not at all.
func (o *gateOptions) files(junit, markdown func(io.Writer) error) error {
	var errs []error
	for _, f := range []struct {
		flag, path string
		write      func(io.Writer) error
	}{{"--junit", o.junit, junit}, {"--markdown", o.markdown, markdown}} {
		if f.path != "" {
			errs = append(errs, writeWhole(f.flag, f.path, f.write))
		}
	}
	return errors.Join(errs...)
}

// writeWhole writes the file that a flag names.
func writeWhole(flag, path string, write func(io.Writer) error) error {
	f, err := observe.CreateFile(path)
	if err != nil {
		return usagef("%s %w", flag, err)
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// verdictOf returns the error that a verdict ends the command with, if any.
func verdictOf(o *gate.Outcome) error {
	end := errMissedSLO
	switch o.Verdict {
	case analysis.Pass:
		return nil
	case analysis.TooClose:
		end = errTooClose
	}
	var names []string
	for _, c := range o.Checks {
		if c.Judgement == o.Verdict {
			names = append(names, fmt.Sprintf("%s, found %s", c.Name, c.Found()))
		}
	}
	return fmt.Errorf("%w: %s", end, strings.Join(names, "; "))
}
