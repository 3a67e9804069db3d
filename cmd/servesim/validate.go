package main

import (
	"context"
	"errors"
	"os"
	"time"

	"servesim/sim/observe"
	"servesim/validate"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

// A validateOptions is what `servesim validate` was asked for.
type validateOptions struct {
	env            env
	path           string
	rows           string
	json, markdown bool
}

// measuredRuns is the table that is read if none is named.
const measuredRuns = "../shared/measured/e2e.csv"

// newValidate returns the verb validate, which calls run, or runValidate if that
// is nil.
func newValidate(e env, run func(context.Context, *validateOptions) error) *cobra.Command {
	if run == nil {
		run = runValidate
	}
	o := &validateOptions{env: e, path: measuredRuns}
	cmd := &cobra.Command{
		Use:   "validate [FILE.csv]",
		Short: "Simulate runs that others measured, and print how far off the simulation is",
		Long: `Simulate every serving run of a table of measured ones, with the load, lengths and
deployment that its row states, and print error tables by GPU and engine, model, number
format and concurrency: the median and the 90th percentile of the absolute errors of each
metric, and the mean error. Rows on which constants were fitted, rows held out and excluded
rows are told apart; so are rows that could not be simulated, and why. "-" reads stdin;
without FILE.csv it is ../shared/measured/e2e.csv.`,
		Example: `  servesim validate runs.csv --rows errors.csv
  servesim validate runs.csv --markdown`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.path = args[0]
			}
			return run(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print the tables as JSON")
	f.BoolVar(&o.markdown, "markdown", false, "print the tables as Markdown, with what other simulators publish beside them")
	f.StringVar(&o.rows, "rows", "", "write measured and simulated figures to `FILE`, one line a row and metric, as CSV")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	return cmd
}

// runValidate simulates the rows and prints the tables.
func runValidate(ctx context.Context, o *validateOptions) error {
	rows, err := o.read()
	if err != nil {
		return err
	}
	var options validate.Options
	if o.env.tty {
		bar := newRowBar(o.env, len(rows))
		defer func() { _ = bar.Finish() }()
		options.Done = func() { _ = bar.Add(1) }
	}
	results, err := validate.Run(ctx, rows, options)
	if err != nil {
		return err
	}
	r := validate.NewReport(results)
	if err := o.writeRows(r); err != nil {
		return err
	}
	switch {
	case o.json:
		return validate.JSON(o.env.stdout, r)
	case o.markdown:
		return validate.Markdown(o.env.stdout, r)
	}
	return validate.Text(o.env.stdout, r)
}

// read reads the table. What is wrong with it is a fault of the command line.
func (o *validateOptions) read() ([]validate.Row, error) {
	in, name := o.env.stdin, stdinName
	if o.path != stdinPath {
		f, err := os.Open(o.path)
		if err != nil {
			return nil, usagef("validate: %w; name a table of measured runs", err)
		}
		defer f.Close()
		in, name = f, o.path
	}
	rows, err := validate.Read(in, name)
	if err != nil {
		return nil, &usageError{err}
	}
	return rows, nil
}

// writeRows writes the lines of r if they were asked for.
func (o *validateOptions) writeRows(r *validate.Report) error {
	if o.rows == "" {
		return nil
	}
	if o.rows == stdinPath {
		return usagef("--rows -: stdout is for the tables; name a file, or a pipe or device such as /dev/stderr")
	}
	f, err := observe.CreateFile(o.rows)
	if err != nil {
		return usagef("--rows %w", err)
	}
	defer f.Abort()
	return errors.Join(validate.WriteCSV(f, r.Lines), f.Commit())
}

// newRowBar returns a progress bar over rows.
func newRowBar(e env, rows int) *progressbar.ProgressBar {
	return progressbar.NewOptions(rows,
		progressbar.OptionSetWriter(&gate{out: e.stderr, began: time.Now()}),
		progressbar.OptionSetDescription("measured runs"),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionClearOnFinish())
}
