package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/report"
	"servesim/scenario"
	"servesim/sim/observe"

	"github.com/spf13/cobra"
)

// A compareOptions is what `servesim compare` was asked for.
type compareOptions struct {
	env         env
	scenario    scenarioFlags
	sources     []scenario.Source
	labels      []string
	percentiles string
	form        formatFlag
	// replications is the number of runs of each scenario, 0 for one that is
	// compared request by request.
	replications int
	html         htmlFlag
}

// newCompare returns the verb compare, which calls run, or runCompare if that
// is nil.
func newCompare(e env, run func(context.Context, *compareOptions) error) *cobra.Command {
	if run == nil {
		run = runCompare
	}
	o := &compareOptions{env: e}
	var vary []string
	cmd := &cobra.Command{
		Use:   "compare [A.toml [B.toml...]]",
		Short: "Simulate the same requests under several scenarios and compare the tails",
		Long: `Simulate the same requests under several scenarios, and print the tails side by
side and what changed request by request. The first scenario is what the others
are compared with.

The scenarios are files, or one file (the default scenario if none is given) with
each of the alternatives of --vary. Alternatives stand between commas; each is
KEY=VALUE, several of them joined by +, or a value alone, for the key before it.`,
		Example: `  servesim compare --vary enable_chunked_prefill=false,max_num_batched_tokens=8192,2048,512
  servesim compare --vary gpu=h100+tensor_parallel_size=8,gpu=b200+tensor_parallel_size=4
  servesim compare a.toml b.toml`,
		Args: arguments(looseLimits),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.choose(cmd, args, vary); err != nil {
				return err
			}
			if cmd.Flags().Changed("replications") {
				if err := checkReplications(o.replications); err != nil {
					return err
				}
				if o.html.asked() {
					return usagef("--html shows runs one by one; leave it or --replications out")
				}
			}
			if err := o.html.check(nil); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: completeTOML,
	}
	o.scenario.bind(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&vary, "vary", nil, "alternatives to compare, `KEY=A,B,...`; several flags are crossed")
	f.StringVar(&o.percentiles, "percentiles", "", "percentiles to print, such as 50,99,99.9; the maximum is printed anyway")
	f.IntVar(&o.replications, "replications", 0, "simulate each scenario `N` times, under the same seeds, and print the change of each figure with its interval by seed")
	o.form.bind(cmd)
	o.html.bind(cmd)
	must(cmd.RegisterFlagCompletionFunc("vary", completeVary))
	return cmd
}

// choose makes the scenarios to compare from files and alternatives.
func (o *compareOptions) choose(cmd *cobra.Command, args, vary []string) error {
	switch {
	case len(vary) == 0 && len(args) < 2:
		return usagef("compare needs two scenario files, or --vary KEY=A,B; see servesim compare --help")
	case len(vary) > 0 && len(args) > 1:
		return usagef("compare takes one scenario file with --vary, found %d", len(args))
	}
	if len(vary) == 0 {
		for _, a := range args {
			src, err := o.scenario.source(cmd, []string{a})
			if err == nil {
				src, err = rereadable(src)
			}
			if err != nil {
				return err
			}
			o.sources = append(o.sources, src)
		}
		o.labels = fileLabels(args)
		return nil
	}
	base, err := o.scenario.source(cmd, args)
	if err == nil {
		base, err = rereadable(base)
	}
	if err != nil {
		return err
	}
	o.sources, o.labels = []scenario.Source{base}, []string{""}
	for _, text := range vary {
		alts, err := scenario.ParseVary(text)
		if err != nil {
			return err
		}
		if err := o.cross(alts); err != nil {
			return err
		}
	}
	if len(o.sources) < 2 {
		return usagef("--vary %s is one alternative; compare needs two or more, such as %s,...", vary[0], vary[0])
	}
	return nil
}

// fileLabels returns what tables call the scenarios in files: their base names
// without .toml, or the whole paths if two of those are the same, and numbered
// if even these are.
func fileLabels(paths []string) []string {
	base := func(path string) string { return strings.TrimSuffix(filepath.Base(path), ".toml") }
	whole := func(path string) string { return strings.TrimSuffix(path, ".toml") }
	for _, name := range []func(string) string{base, whole} {
		labels := make([]string, 0, len(paths))
		for _, p := range paths {
			if slices.Contains(labels, name(p)) {
				break
			}
			labels = append(labels, name(p))
		}
		if len(labels) == len(paths) {
			return labels
		}
	}
	labels := make([]string, len(paths))
	for i, p := range paths {
		labels[i] = fmt.Sprintf("%s (%d)", whole(p), i+1)
	}
	return labels
}

// cross replaces each scenario by one for each alternative.
func (o *compareOptions) cross(alts []scenario.Alternative) error {
	var sources []scenario.Source
	var labels []string
	for i, src := range o.sources {
		for _, a := range alts {
			label := a.Label
			if o.labels[i] != "" {
				label = o.labels[i] + "+" + a.Label
			}
			both, err := src.With(a.Settings)
			if err != nil {
				return err
			}
			sources, labels = append(sources, both), append(labels, label)
		}
	}
	o.sources, o.labels = sources, labels
	return nil
}

// runCompare simulates every scenario and compares the others with the first.
func runCompare(ctx context.Context, o *compareOptions) error {
	if _, err := o.form.chosen(); err != nil {
		return err
	}
	ps := analysis.TailPercentiles()
	if o.percentiles != "" {
		var err error
		if ps, err = percentiles(o.percentiles); err != nil {
			return err
		}
	}
	plans := make([]*scenario.Plan, len(o.sources))
	for i, src := range o.sources {
		p, err := scenario.Load(src)
		if err != nil {
			return fmt.Errorf("%s: %w", o.labels[i], err)
		}
		plans[i] = p
	}
	for i, p := range plans {
		if slices.ContainsFunc(p.Scenario.Workload.Parts(), func(w scenario.Part) bool { return w.Trace == scenario.StdinPath }) {
			return usagef("standard input can be read only once, and compare replays its trace %d times; write it to a file first", len(plans))
		}
		if a, b := plans[0].SLO.String(), p.SLO.String(); a != b {
			return usagef("%s has the limits %q, %s has %q; goodput can be compared only under the same: set --goodput", o.labels[0], a, o.labels[i], b)
		}
	}
	if o.replications > 0 {
		return o.compareReplicated(ctx, plans, ps)
	}
	defer o.html.abort()
	if err := o.html.open(); err != nil {
		return err
	}
	results, c, seen, err := o.simulate(ctx, plans, ps)
	if err != nil {
		return err
	}
	if err := o.writePage(c, results, seen); err != nil {
		return err
	}
	return o.write(&report.Document{Comparison: c}, plans, results)
}

// write prints d, and what ran: results of plans.
func (o *compareOptions) write(d *report.Document, plans []*scenario.Plan, results []*scenario.Result) error {
	form, err := o.form.chosen()
	if err != nil {
		return err
	}
	common, own := o.describe(results)
	caution := scenario.FittedCaution(plans, o.labels)
	if caution != "" {
		var l lines
		l.item("Caution", "%s", caution)
		common = strings.TrimSuffix(common, "\n") + l.folded(0) + "\n"
	}
	d.Before, d.After = common, own
	d.Members = append(d.Members, report.Member{Key: "inputs", Value: scenario.InputsOf(results)}, report.Member{Key: "caution", Value: caution})
	return form.Write(o.env.stdout, d)
}

// simulate runs every plan and pairs their requests.
func (o *compareOptions) simulate(ctx context.Context, plans []*scenario.Plan, ps []analysis.Percentile) (results []*scenario.Result, c *analysis.Comparison, seen []*watcher, err error) {
	var runs []analysis.Run
	latest, err := o.warmUp(ctx, plans)
	if err != nil {
		return nil, nil, nil, err
	}
	for i, p := range plans {
		pairs := &analysis.Pairing{Goodput: p.SLO.Goodput}
		asked := scenario.Options{Percentiles: ps, Measured: []observe.Sink{pairs}, WarmUp: latest}
		if o.html.asked() {
			seen = append(seen, watchPlan(p, len(plans), &asked))
		}
		r, err := simulate(ctx, o.env, p, asked)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", o.labels[i], err)
		}
		results = append(results, r)
		runs = append(runs, analysis.Run{Name: o.labels[i], Report: r.Report, Pairs: pairs})
	}
	c, err = analysis.Compare(runs)
	return results, c, seen, err
}

// warmUp returns the warm-up that every plan leaves out if one of them is to find
// its own: the longest that is found, so that the same requests are compared. nil
// leaves each plan its own.
func (o *compareOptions) warmUp(ctx context.Context, plans []*scenario.Plan) (*scenario.WarmUp, error) {
	var latest *scenario.WarmUp
	for i, p := range plans {
		if w := p.Scenario.Run.WarmUp; w == nil || !w.Auto {
			continue
		}
		w, err := p.FindWarmUp(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.labels[i], err)
		}
		latest = scenario.LaterWarmUp(latest, w)
	}
	return latest, nil
}

// describe says what ran: what is common to all, and what is each one's own.
func (o *compareOptions) describe(results []*scenario.Result) (common, own string) {
	all := make([]lines, len(results))
	for i, r := range results {
		all[i] = linesOf(r.Facts())
	}
	head, tail := apart(all, o.labels)
	return head.folded(0) + "\n", tail
}
