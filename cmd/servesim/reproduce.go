package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"servesim/reproduce"
	"servesim/scenario"

	"github.com/spf13/cobra"
)

// A reproduceOptions is what `servesim reproduce` was asked for.
type reproduceOptions struct {
	env    env
	claims []string
	list   bool
	form   string
	json   bool
}

// newReproduce returns the verb reproduce, which calls run, or runReproduce if that
// is nil.
func newReproduce(e env, run func(context.Context, *reproduceOptions) error) *cobra.Command {
	if run == nil {
		run = runReproduce
	}
	o := &reproduceOptions{env: e}
	cmd := &cobra.Command{
		Use:   "reproduce [CLAIM...]",
		Short: "Simulate claims that others published, and say which of their figures come out",
		Long: `Simulate claims about serving engines that others published, and say of each its source,
the simulated values with their 95 % intervals, a verdict, and why. Without CLAIM it is all
of them, which takes about half a minute on two cores. The scenarios have ordinary keys and
the shipped profiles; nothing is fitted to a claim.

The exit code is 0 whatever the verdicts are.`,
		Example: `  servesim reproduce --list
  servesim reproduce gaps-7-60 dialects`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.claims = args
			return run(cmd.Context(), o)
		},
		ValidArgs: reproduce.Names(),
	}
	f := cmd.Flags()
	f.BoolVar(&o.list, "list", false, "list the claims, without simulating any")
	f.StringVarP(&o.form, "output", "o", "", "form of what is printed: "+strings.Join(reproduceForms(), ", "))
	f.BoolVar(&o.json, "json", false, "print JSON, lossless; short for -o json")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(reproduceForms(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// reproduceForms lists the forms of what is printed, the default first.
func reproduceForms() []string { return []string{"text", "json", "markdown"} }

// check returns every fault of flags that don't go together.
func (o *reproduceOptions) check() error {
	var faults []error
	if o.json && o.form != "" && o.form != "json" {
		faults = append(faults, fmt.Errorf("--json and --output %s are two forms; leave one out", o.form))
	}
	if o.form != "" && !slices.Contains(reproduceForms(), o.form) {
		faults = append(faults, errors.New("--output: "+scenario.UnknownName("form", o.form, reproduceForms())))
	}
	if o.list && (o.json || o.form != "") {
		faults = append(faults, errors.New("--list prints names and what they say; --output and --json are forms of results, leave them out"))
	}
	if err := errors.Join(faults...); err != nil {
		return &scenario.UsageError{Err: err}
	}
	return nil
}

// runReproduce tests claims and prints what came of them.
func runReproduce(ctx context.Context, o *reproduceOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	claims, err := reproduce.Claims(o.claims...)
	if err != nil {
		return err
	}
	if o.list {
		return reproduce.List(o.env.stdout, claims)
	}
	w := reproduce.Work{Jobs: runtime.GOMAXPROCS(0)}
	var bar *runsProgress
	w.Progress = func(_, of int) {
		if bar == nil {
			bar = newRunsProgress(o.env, "claims", of)
		}
		bar.one()
	}
	results, err := reproduce.Run(ctx, claims, w)
	bar.finish()
	if err != nil {
		return err
	}
	write := map[string]func(io.Writer, []*reproduce.Result) error{
		"": reproduce.Text, "text": reproduce.Text, "json": reproduce.JSON, "markdown": reproduce.Markdown,
	}[o.form]
	if o.json {
		write = reproduce.JSON
	}
	return write(o.env.stdout, results)
}
