package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"servesim/analysis"
	"servesim/capacity"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/gpu"

	"github.com/spf13/cobra"
)

// A capacityOptions is what `servesim capacity` was asked for.
type capacityOptions struct {
	env      env
	scenario scenarioFlags
	source   scenario.Source
	search   searchFlags
	json     bool
	html     htmlFlag

	instant   string
	window    sim.Duration
	forTrace  bool
	forRate   float64
	gpus      []string
	tps       []int64
	spare     int64
	fleet     bool
	converted capacity.Options
}

// newCapacity returns the verb capacity, which calls run, or runCapacity if that is nil.
func newCapacity(e env, run func(context.Context, *capacityOptions) error) *cobra.Command {
	if run == nil {
		run = runCapacity
	}
	o := &capacityOptions{env: e}
	cmd := &cobra.Command{
		Use:   "capacity [SCENARIO.toml]",
		Short: "Find the highest rate that keeps the limits, or the fewest GPUs for a rate",
		Long: `Find the highest request rate at which a scenario keeps its limits (slo.preset,
slo.goodput): the rate with a 95 % interval, which limit binds, the throughput beyond
which queues grow without end, the headroom above today's rate, what it costs, and a
table of the rates around it. A drawn workload is drawn at each rate; a trace is
thinned, or shifted copies are laid over each other.

With --for-rate R, or --for-trace for the workload as it is, find the fewest replicas
that keep the limits, and of several GPUs (--gpus) and TP (--tps) the cheapest.
Pools are simulated as they are. --spare 1 keeps the limits with one replica lost.`,
		Example: `  servesim capacity --slo consumer-chat-70b --resolution 10 --requests 2000
  servesim capacity mine.toml --json
  servesim capacity mine.toml --for-rate 40 --gpus h100,b200 --tps 4,8 --spare 1`,
		Args: arguments(cobra.MatchAll(looseLimits, cobra.MaximumNArgs(1))),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.source, err = o.scenario.source(cmd, args); err != nil {
				return err
			}
			if err := errors.Join(o.check(cmd), o.html.check(nil)); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: completeTOML,
	}
	o.scenario.bind(cmd)
	o.bind(cmd)
	return cmd
}

// bind adds the verb's own flags to cmd.
func (o *capacityOptions) bind(cmd *cobra.Command) {
	o.search.bind(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print the answer as JSON")
	o.html.bind(cmd)
	f.Float64Var(&o.forRate, "for-rate", 0, "find the fewest GPUs that serve so many `REQUESTS` a second")
	f.BoolVar(&o.forTrace, "for-trace", false, "find the fewest GPUs that serve the workload as it is")
	f.StringVar(&o.instant, "instant", "", "also say how many replicas the workload takes at least in each `WINDOW`, such as 60s, if they came and went at once")
	f.StringSliceVar(&o.gpus, "gpus", nil, "with these, try each of `GPUS`, such as h100,b200")
	f.Int64SliceVar(&o.tps, "tps", nil, "with these, try each number of `GPUS` that share a layer, such as 1,2,4")
	f.Lookup("tps").DefValue = "" // of a list that isn't given, which pflag writes as []
	f.Int64Var(&o.spare, "spare", 0, "with these, replicas that may be lost: 1 is N+1")
	must(cmd.RegisterFlagCompletionFunc("gpus", cobra.FixedCompletions(gpu.ProfileNames(), cobra.ShellCompDirectiveNoFileComp)))
}

// check holds the flags against each other and reads them.
func (o *capacityOptions) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	o.fleet = given("for-rate") || o.forTrace
	switch {
	case given("for-rate") && o.forTrace:
		return usagef("--for-rate and --for-trace don't go together; give one of them")
	case given("for-rate") && !(o.forRate > 0):
		return usagef("--for-rate %g: must be more than 0 requests/s", o.forRate)
	case given("gpus") && given("gpu"):
		return usagef("--gpus and --gpu don't go together; give one of them")
	case given("tps") && given("tp"):
		return usagef("--tps and --tp don't go together; give one of them")
	}
	for _, name := range []string{"gpus", "tps", "spare"} {
		if given(name) && !o.fleet {
			return usagef("--%s goes with --for-rate or --for-trace, which look for the fewest GPUs", name)
		}
	}
	if given("resolution") && o.fleet {
		return usagef("--resolution is of the search for the highest rate; --for-rate and --for-trace take one rate, leave it out")
	}
	if given("instant") {
		var err error
		if o.window, err = sim.ParseDuration(o.instant); err != nil || o.window <= 0 {
			return usagef("--instant %s: must be a time of more than 0s, such as 60s", o.instant)
		}
		if o.fleet {
			return usagef("--instant and --for-rate or --for-trace don't go together; leave one out")
		}
	}
	var err error
	o.converted, err = o.search.options()
	return err
}

// progress shows the rate that was simulated last and, of a search for the highest
// rate, the best until now: how many are to come nobody knows. It is nil without a
// terminal.
func (o *capacityOptions) progress() *progress {
	if !o.env.tty {
		return nil
	}
	bar, best := newProgress(o.env.stderr, "searching", -1), 0.0
	o.converted.Progress = func(t *capacity.Trial) {
		bar.done += t.Requests
		text := fmt.Sprintf("%.4g/s %s; ", t.Rate, t.Judgement)
		if t.Holds && !o.fleet {
			best = max(best, t.Rate)
		}
		if best > 0 {
			text += fmt.Sprintf("best %.4g/s; ", best)
		}
		bar.bar.Describe(text + analysis.Counted(bar.done, "request"))
		_ = bar.bar.Set64(bar.done) // an ornament must not end the search
	}
	return bar
}

// runCapacity searches and prints what it found.
func runCapacity(ctx context.Context, o *capacityOptions) error {
	if o.source.Path == scenario.StdinPath { // every deployment reads it
		text, err := io.ReadAll(o.source.Stdin)
		if err != nil {
			return err
		}
		o.source.Content = string(text)
	}
	defer o.html.abort()
	if err := o.html.open(); err != nil {
		return err
	}
	o.source.Shelf = &scenario.Shelf{}
	bar := o.progress()
	found, err := o.find(ctx)
	bar.finish()
	if err != nil {
		return err
	}
	if o.html.asked() {
		if err := o.writePage(found); err != nil {
			return err
		}
	}
	out := found.text
	if o.json {
		out = found.json
	}
	_, err = io.WriteString(o.env.stdout, out)
	return err
}

// A foundCapacity is what a search found, for people and for programs.
type foundCapacity struct {
	plan       *scenario.Plan
	text, json string
	answer     string // the name of the item in text that answers
}

// find searches.
func (o *capacityOptions) find(ctx context.Context) (c *foundCapacity, err error) {
	if o.fleet {
		f, err := capacity.Fewest(ctx, o.source, o.converted, capacity.FleetOptions{Rate: o.forRate, GPUs: o.gpus, TPs: o.tps, Spare: o.spare})
		if err != nil {
			return nil, err
		}
		p := f.Choices[0].Plan
		c = &foundCapacity{plan: p, text: linesOf(p.Facts()).folded(0) + f.Text(), answer: "Fewest"}
		c.json, err = f.JSON()
		return c, err
	}
	a, err := capacity.Find(ctx, o.source, o.converted)
	if err != nil {
		return nil, err
	}
	if o.window > 0 {
		if a.Instant, err = capacity.InstantOf(o.source, a, o.window); err != nil {
			return nil, err
		}
	}
	c = &foundCapacity{plan: a.Plan, text: linesOf(a.Plan.Facts()).folded(0) + a.Text(), answer: "Capacity"}
	c.json, err = a.JSON()
	return c, err
}
