package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"servesim/calibrate"
	"servesim/internal/strict"
	"servesim/sim/gpu"

	"github.com/spf13/cobra"
)

// A calibrateOptions is what `servesim calibrate` was asked for.
type calibrateOptions struct {
	table       validateOptions // the measured runs
	gpu, engine string
}

// newCalibrate returns the verb calibrate, which calls run, or runCalibrate if
// that is nil.
func newCalibrate(e env, run func(context.Context, *calibrateOptions) error) *cobra.Command {
	if run == nil {
		run = runCalibrate
	}
	o := &calibrateOptions{table: validateOptions{env: e, path: measuredRuns}}
	cmd := &cobra.Command{
		Use:   "calibrate [FILE.csv]",
		Short: "Fit an engine's constants to measured runs, and say which of them the runs tell",
		Long: `Fit the constants of an engine in a GPU profile to the calibration rows of a table of
measured runs, with the kernels' coefficients as they are, and print each with its error,
the constants that the runs cannot tell apart, and the block for the profile.`,
		Example: "  servesim calibrate runs.csv --gpu b200 --engine vllm",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.table.path = args[0]
			}
			return run(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.gpu, "gpu", "h100", "GPU profile, or the path of one")
	f.StringVar(&o.engine, "engine", "vllm", "engine of the profile, such as vllm or trtllm")
	must(cmd.RegisterFlagCompletionFunc("gpu", cobra.FixedCompletions(gpu.ProfileNames(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// runCalibrate fits the constants and prints them.
func runCalibrate(ctx context.Context, o *calibrateOptions) error {
	p, err := gpu.LoadProfile(o.gpu)
	if err != nil {
		return usagef("--gpu: %w", err)
	}
	if _, ok := p.Engine[o.engine]; !ok {
		return usagef("--engine: %q: profile %s has no such engine; %s", o.engine, p.Name, strict.Unlike(strings.ToLower(o.engine), slices.Sorted(maps.Keys(p.Engine))))
	}
	rows, err := o.table.read()
	if err != nil {
		return err
	}
	var done func()
	if o.table.env.tty {
		bar := newRowBar(o.table.env, -1)
		defer func() { _ = bar.Finish() }()
		done = func() { _ = bar.Add(1) }
	}
	r, err := calibrate.Run(ctx, rows, p, o.engine, done)
	if errors.Is(err, calibrate.ErrNoRows) {
		return usagef("%s: %w; such a row has calibration in the column split and can be simulated", o.table.name(), err)
	}
	if err != nil {
		return err
	}
	return calibrate.Text(o.table.env.stdout, r)
}
