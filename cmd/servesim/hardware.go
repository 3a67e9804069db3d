package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"servesim/capacity"
	"servesim/hardware"
	"servesim/scenario"
	"servesim/sim/gpu"

	"github.com/spf13/cobra"
)

// A hardwareOptions is what `servesim hardware` was asked for.
type hardwareOptions struct {
	env      env
	scenario scenarioFlags
	source   scenario.Source
	path     string
	workload string
	search   searchFlags
	configs  []hardware.Config
	options  hardware.Options
	share    string
	form     formatFlag
	html     htmlFlag
}

// newHardware returns the verb hardware, which calls run, or runHardware if that is nil.
func newHardware(e env, run func(context.Context, *hardwareOptions) error) *cobra.Command {
	if run == nil {
		run = runHardware
	}
	o := &hardwareOptions{env: e}
	cmd := &cobra.Command{
		Use:   "hardware GPU[:DTYPE][:tpN] GPU[:DTYPE][:tpN]...",
		Short: "Compare GPUs, number formats and layouts on the same workload and limits",
		Long: `Compare configurations on the same requests under the same limits: the highest rate
that each carries, with its interval and the limit that binds; P99 of TTFT, TPOT, ITL
and worst gap at the same rate and at the same share of each one's capacity; dollars
and kWh a million output tokens, and good ones; the ratio of prices at which the choice
flips; and which operators take the time of steps with prompt tokens and of decodes,
and whether they wait for compute, memory or links.

A configuration is a GPU profile or the path of one, and behind colons the format of
the weights (bf16, fp8, int8, nvfp4 or mxfp4) and the tensor parallel size (tp1, tp2, tp4 or
tp8); what it doesn't say is the scenario's (--dtype, --tp). One that doesn't fit is
listed with the smallest layout that does. docs/hardware.md says how far to trust it.`,
		Example: `  servesim hardware h100 b200 b200:nvfp4 --workload llmperf --requests 2000 --resolution 5
  servesim hardware h100:tp8 b200:tp4 --scenario mine.toml --price b200=5.25 -o json`,
		Args: arguments(looseLimits),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(o.choose(cmd, args), o.html.check(nil)); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: cobra.FixedCompletions(gpu.ProfileNames(), cobra.ShellCompDirectiveNoFileComp),
	}
	o.scenario.bind(cmd)
	o.search.bind(cmd)
	o.form.bind(cmd)
	o.html.bind(cmd)
	f := cmd.Flags()
	f.StringVar(&o.path, "scenario", "", "scenario `FILE` that the configurations serve, in the place of the default one")
	f.StringVar(&o.workload, "workload", "", "`PRESET` of requests in the place of the scenario's; see servesim list presets")
	f.Float64Var(&o.options.Rate, "rate", 0, "compare latencies at so many `REQUESTS` a second (default the lowest of the capacities)")
	f.StringVar(&o.share, "share", "80%", "compare latencies, and what steps wait for, at this share of each one's capacity")
	must(cmd.RegisterFlagCompletionFunc("workload", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return scenario.Values("workload.preset"), cobra.ShellCompDirectiveNoFileComp
	}))
	return cmd
}

// choose reads the arguments and flags.
func (o *hardwareOptions) choose(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	var err error
	var file []string
	if given("scenario") {
		file = []string{o.path}
	}
	if o.source, err = o.scenario.source(cmd, file); err == nil {
		o.source, err = rereadable(o.source)
	}
	if err != nil {
		return err
	}
	for _, text := range args {
		if strings.HasSuffix(text, ".toml") && !given("scenario") {
			if _, err := gpu.LoadProfile(text); err != nil {
				return usagef("%s: arguments are GPUs: %w; a scenario file goes behind --scenario", text, err)
			}
		}
		c, err := hardware.ParseConfig(text)
		if err != nil {
			return err
		}
		o.configs = append(o.configs, c)
	}
	o.source.Command += " " + strings.Join(args, " ")
	if given("workload") {
		if err := o.setWorkload(); err != nil {
			return err
		}
	}
	if given("rate") && !(o.options.Rate > 0) {
		return usagef("--rate %g: must be more than 0 requests/s", o.options.Rate)
	}
	share, err := shareOf(o.share)
	if err != nil {
		return usagef("--share %s: must be a share of each one's capacity, such as 80%% or 0.8", o.share)
	}
	o.options.Share = share.Fraction()
	if o.options.Options, err = o.search.options(); err != nil {
		return err
	}
	_, err = o.form.chosen()
	return err
}

// setWorkload puts a preset in the place of the scenario's requests.
func (o *hardwareOptions) setWorkload() error {
	if o.scenario.trace != "" {
		return usagef("--workload %s and --trace %s are two workloads; leave one out", o.workload, o.scenario.trace)
	}
	preset := scenario.Setting{Key: "workload.preset", Value: o.workload, Text: o.workload, Flag: "--workload", Replay: true}
	var err error
	o.source, err = o.source.With([]scenario.Setting{preset})
	return err
}

// runHardware compares and prints what it found.
func runHardware(ctx context.Context, o *hardwareOptions) error {
	defer o.html.abort()
	if err := o.html.open(); err != nil {
		return err
	}
	o.source.Shelf = &scenario.Shelf{}
	var bar *progress
	if o.env.tty {
		bar = newProgress(o.env.stderr, "comparing", -1)
		o.options.Progress = func(t *capacity.Trial) {
			bar.done += t.Requests
			bar.label = t.Report.Header.Profile + " " + strconv.FormatFloat(t.Rate, 'g', 4, 64) + "/s"
			bar.show()
		}
	}
	c, err := hardware.Compare(ctx, o.source, o.configs, o.options)
	bar.finish()
	if err != nil {
		return err
	}
	if o.html.asked() {
		if err := o.writePage(c); err != nil {
			return err
		}
	}
	out := ""
	if form, err := o.form.chosen(); err != nil {
		return err
	} else if form.Name() == "json" {
		if out, err = c.JSON(); err != nil {
			return err
		}
	} else {
		out = o.text(c)
	}
	_, err = io.WriteString(o.env.stdout, out)
	return err
}

// text returns what people read: what is common to all, the comparison, and what is
// each one's own.
func (o *hardwareOptions) text(c *hardware.Comparison) string {
	var all []lines
	var labels []string
	var plans []*scenario.Plan
	for _, s := range c.Sides {
		if s.Plan != nil {
			all, labels, plans = append(all, linesOf(s.Plan.Facts())), append(labels, s.Label), append(plans, s.Plan)
		}
	}
	common, own := apart(all, labels)
	if caution := scenario.FittedCaution(plans, labels); caution != "" {
		common.item("Caution", "%s", caution)
	}
	return fmt.Sprintf("%s%s\n%s", common.folded(0), c.Text(), own)
}
