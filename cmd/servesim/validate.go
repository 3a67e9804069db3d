package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"servesim/scenario"
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
	return cmd
}

// runValidate simulates the rows and prints the tables.
func runValidate(ctx context.Context, o *validateOptions) error {
	switch {
	case o.json && o.markdown:
		return usagef("--json, --markdown: give one of them; each is a form of all that is printed")
	case o.rows == scenario.StdinPath:
		return usagef("--rows -: stdout is for the tables; name a file, or a pipe or device such as /dev/stderr")
	}
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
	write := validate.Text
	switch {
	case o.json:
		write = validate.JSON
	case o.markdown:
		write = validate.Markdown
	}
	if err := write(o.env.stdout, r); err != nil {
		return err
	}
	if !slices.ContainsFunc(results, func(r validate.RowResult) bool { return r.Skipped == "" }) {
		return usagef("%s: none of its rows could be simulated; the first is %s, line %d: %s", pathName(o.path), results[0].Row.ID, results[0].Row.Line, results[0].Skipped)
	}
	return nil
}

// read reads the table. What is wrong with it is a fault of the command line.
func (o *validateOptions) read() ([]validate.Row, error) {
	in, err := o.env.open(o.path)
	if err != nil {
		return nil, usagef("FILE.csv: %w; name a table of measured runs", err)
	}
	defer in.Close()
	rows, err := validate.Read(in, pathName(o.path))
	if err != nil {
		return nil, &scenario.UsageError{Err: err}
	}
	return rows, nil
}

// writeRows writes the lines of r if they were asked for.
func (o *validateOptions) writeRows(r *validate.Report) error {
	if o.rows == "" {
		return nil
	}
	f, err := observe.CreateFile(o.rows)
	if err != nil {
		return usagef("--rows %w", err)
	}
	defer f.Abort()
	return errors.Join(validate.WriteCSV(f, r.Lines), f.Commit())
}

// newRowBar returns a progress bar over simulations of rows, or of an unknown number of
// them if that is -1.
func newRowBar(e env, rows int) *progressbar.ProgressBar {
	return progressbar.NewOptions(rows,
		progressbar.OptionSetWriter(&quiet{out: e.stderr, began: time.Now()}),
		progressbar.OptionSetDescription("measured runs"),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish())
}
