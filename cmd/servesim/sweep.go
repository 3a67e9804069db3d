package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"servesim/scenario"
	"servesim/sweep"

	"github.com/spf13/cobra"
)

// A sweepOptions is what `servesim sweep` was asked for.
type sweepOptions struct {
	env           env
	path          string
	out           string
	jobs          int
	shard         string
	shards        int
	merge, wait   bool
	partial, json bool
	emit          string
	emitted       sweep.EmitOptions
	text          sweep.TextOptions
	pareto        []string
	html          htmlFlag
	getenv        func(string) string
	waitEvery     time.Duration
}

// newSweep returns the verb sweep, which calls run, or runSweep if that is nil.
func newSweep(e env, run func(context.Context, *sweepOptions) error) *cobra.Command {
	if run == nil {
		run = runSweep
	}
	o := &sweepOptions{env: e, getenv: os.Getenv, waitEvery: 5 * time.Second}
	cmd := &cobra.Command{
		Use:   "sweep PLAN.toml",
		Short: "Simulate a grid, a list or samples of scenarios on all cores, and rank them",
		Long: `Simulate every point of a plan: a base scenario with a list, a grid, windows of time
or samples of its keys. Each result goes to a file of its own in the folder --out, so
that an interrupted sweep goes on where it was when the same command runs again. At
the end they are merged into results.csv, results.json and results.parquet there, and
the best points and the Pareto fronts are printed.

--shard i/n does one part of n; so does each run of a Slurm job array, a Kubernetes
Indexed Job (with --shards n) and an AWS Batch array job, by itself. --merge then
merges what the parts have done. --emit writes the job that does all of it. Exit code
1 is worth another try, 2 isn't.`,
		Example: `  servesim sweep plan.toml
  servesim sweep plan.toml --shard 0/4
  servesim sweep plan.toml --merge
  servesim sweep plan.toml --emit slurm --shards 8`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.path = args[0]
			if err := o.check(cmd); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: completeTOML,
	}
	o.bind(cmd)
	return cmd
}

// bind adds the flags to cmd.
func (o *sweepOptions) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "`FOLDER` of the results (default the plan's name with .sweep, in the working folder)")
	f.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "points under way at once")
	f.StringVar(&o.shard, "shard", "", "do one part of the points, `I/N` from 0/N")
	f.IntVar(&o.shards, "shards", 0, "number of parts, where the cluster's environment has none, and for --emit")
	f.BoolVar(&o.merge, "merge", false, "only merge what is done; points that are missing are an error")
	f.BoolVar(&o.wait, "wait", false, "with --merge, wait until every point is done")
	f.BoolVar(&o.partial, "partial", false, "with --merge, merge what there is")
	f.BoolVar(&o.json, "json", false, "print the results as JSON")
	o.html.bind(cmd)
	f.StringVar(&o.text.RankBy, "rank-by", "", "`COLUMN` of servesim list columns to rank by (default good requests or output tokens per second and GPU)")
	f.IntVar(&o.text.Top, "top", 10, "points of each list, 0 for all")
	f.StringArrayVar(&o.pareto, "pareto", nil, "two columns `A,B` whose Pareto front is printed; may be repeated")
	f.StringVar(&o.emit, "emit", "", "write the job of a cluster to stdout and simulate nothing: slurm, kubernetes or argo")
	f.StringVar(&o.emitted.Image, "image", "servesim:latest", "container image of --emit kubernetes and argo")
	f.StringVar(&o.emitted.Claim, "claim", "servesim", "persistent volume claim of the results, for --emit kubernetes and argo")
	fixed := func(flag string, values []string) {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
	}
	fixed("emit", sweep.Engines())
	fixed("rank-by", sweep.ColumnNames())
}

// check holds the flags against each other.
func (o *sweepOptions) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	for _, f := range []struct {
		flag, other string
		wrong       bool
	}{
		{"--merge", "--shard", o.merge && given("shard")},
		{"--merge", "--emit", o.merge && given("emit")},
		{"--shard", "--emit", given("shard") && given("emit")},
		{"--json", "--emit", o.json && given("emit")},
		{"--json", "--shard", o.json && given("shard")},
		{"--html", "--emit", o.html.asked() && given("emit")},
		{"--html", "--shard", o.html.asked() && given("shard")},
	} {
		if f.wrong {
			return usagef("%s and %s don't go together; give one of them", f.flag, f.other)
		}
	}
	if err := o.idle(given); err != nil {
		return err
	}
	if (o.wait || o.partial) && (!o.merge || o.wait && o.partial) {
		return usagef("--wait and --partial go with --merge, and not with each other")
	}
	if o.jobs < 1 {
		return usagef("--jobs %d: must be 1 or more", o.jobs)
	}
	if given("shards") && o.shards < 1 {
		return usagef("--shards %d: must be 1 or more", o.shards)
	}
	if o.text.Top < 0 {
		return usagef("--top %d: must be 0, for all, or more", o.text.Top)
	}
	o.text.Fronts = sweep.DefaultFronts()
	for i, text := range o.pareto {
		a, b, ok := strings.Cut(text, ",")
		if !ok {
			return usagef("--pareto %s: must be two columns, such as output_tokens_per_s_per_gpu,ttft_p99_ms", text)
		}
		if i == 0 {
			o.text.Fronts = nil
		}
		o.text.Fronts = append(o.text.Fronts, [2]string{strings.TrimSpace(a), strings.TrimSpace(b)})
	}
	return errors.Join(o.html.check(nil), o.text.Check())
}

// idle returns the fault of flags that would do nothing beside others.
func (o *sweepOptions) idle(given func(flag string) bool) error {
	var faults []error
	for _, one := range []struct {
		flags []string
		idle  bool
		why   string
	}{
		{[]string{"rank-by", "top", "pareto"}, given("emit") || given("shard"), "goes with what prints results, which --emit and --shard don't, but --merge does"},
		{[]string{"jobs"}, given("emit"), "is of points that are simulated here; --emit simulates none"},
		{[]string{"image", "claim"}, o.emit != "kubernetes" && o.emit != "argo", "goes with --emit kubernetes and --emit argo"},
	} {
		for _, flag := range one.flags {
			if given(flag) && one.idle {
				faults = append(faults, fmt.Errorf("--%s %s; leave it out", flag, one.why))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return &scenario.UsageError{Err: err}
	}
	return nil
}

// folder returns the folder of the results.
func (o *sweepOptions) folder() string {
	if o.out != "" {
		return o.out
	}
	return strings.TrimSuffix(filepath.Base(o.path), ".toml") + ".sweep"
}

// runSweep simulates what a plan has left to do, and merges it if that is all.
func runSweep(ctx context.Context, o *sweepOptions) error {
	text, err := os.ReadFile(o.path)
	if err != nil {
		return usagef("%w; name a plan", err)
	}
	plan, err := sweep.ReadPlan(o.path, string(text))
	if err != nil {
		return err
	}
	if o.emit != "" {
		return o.writeJob(plan)
	}
	shard, part, err := o.part()
	if err != nil {
		return err
	}
	if part && o.html.asked() {
		return usagef("--html shows all points, and the environment makes this shard %s; give it to servesim sweep %s --merge", shard, o.path)
	}
	defer o.html.abort()
	if err := o.html.open(); err != nil {
		return err
	}
	s, err := sweep.Open(ctx, plan, o.folder(), o.jobs)
	if err != nil {
		return err
	}
	if o.merge {
		return o.mergeAll(ctx, s)
	}
	at, column := s.Ranked(o.text.RankBy)
	bar := newSweepProgress(o.env, at, column)
	err = s.Run(ctx, sweep.Options{Jobs: o.jobs, Shard: shard, Progress: bar.show})
	bar.finish()
	if n := bar.last.Mended; n > 0 {
		fmt.Fprintf(o.env.stderr, "servesim: %d results were damaged and have been made anew\n", n)
	}
	if err != nil {
		return err
	}
	if part {
		_, err := fmt.Fprintf(o.env.stdout, "shard %s: %d of %d points done, %d of them now; servesim sweep %s --merge merges all shards\n", shard, bar.last.Done, bar.last.Points, bar.last.Ran, o.path)
		return err
	}
	return o.finish(s)
}

// part returns the part of the points that this process does; part tells that it
// isn't all of them.
func (o *sweepOptions) part() (shard sweep.Shard, part bool, err error) {
	switch {
	case o.merge:
		return shard, false, nil
	case o.shard != "":
		if shard, err = sweep.ParseShard(o.shard); err != nil {
			return shard, false, usagef("--shard: %w", err)
		}
		if o.shards > 0 && o.shards != shard.Count {
			return shard, false, usagef("--shard %s is of %d parts, --shards is %d; leave --shards out", o.shard, shard.Count, o.shards)
		}
		return shard, true, nil
	}
	if shard, part, err = sweep.FindShard(o.getenv, o.shards); err != nil || part {
		return shard, part, err
	}
	if o.shards > 0 {
		return shard, false, usagef("--shards %d: nothing in the environment says which of them this is; give --shard i/%[1]d", o.shards)
	}
	return shard, false, nil
}

// mergeAll merges the points that are done, which have to be all.
func (o *sweepOptions) mergeAll(ctx context.Context, s *sweep.Sweep) error {
	for {
		t, err := s.Merge()
		var missing *sweep.Missing
		switch {
		case err == nil, o.partial && errors.As(err, &missing):
			return o.print(s, t)
		case !errors.As(err, &missing):
			return err
		case !o.wait:
			return o.tell(missing)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(o.waitEvery):
		}
	}
}

// tell says which shards have to run again.
func (o *sweepOptions) tell(missing *sweep.Missing) error {
	if o.shards == 0 {
		return missing
	}
	var list []string
	for _, i := range missing.Shards(o.shards) {
		list = append(list, fmt.Sprint(i))
	}
	return fmt.Errorf("%w\nof %d shards these aren't done: --array=%s", missing, o.shards, strings.Join(list, ","))
}

// finish merges a sweep that is done.
func (o *sweepOptions) finish(s *sweep.Sweep) error {
	t, err := s.Merge()
	if err != nil {
		return err
	}
	return o.print(s, t)
}

// print writes the tables of results and says what is best.
func (o *sweepOptions) print(s *sweep.Sweep, t *sweep.Table) error {
	paths, err := s.Write(t)
	if err != nil {
		return err
	}
	if o.json && !o.html.asked() {
		return t.JSON(o.env.stdout)
	}
	var text strings.Builder
	if err := errors.Join(s.Describe(&text, t, paths), t.Text(&text, o.text)); err != nil {
		return err
	}
	if o.html.asked() {
		if err := o.writePage(s, t, text.String()); err != nil {
			return err
		}
	}
	if o.json {
		return t.JSON(o.env.stdout)
	}
	_, err = io.WriteString(o.env.stdout, text.String())
	return err
}

// writeJob writes the job that does the sweep on a cluster.
func (o *sweepOptions) writeJob(p *sweep.Plan) error {
	o.emitted.Plan, o.emitted.Folder, o.emitted.Shards = o.path, o.folder(), o.shards
	return p.Emit(o.env.stdout, o.emit, o.emitted)
}
