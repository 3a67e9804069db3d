package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/analysis/tail"
	"servesim/report"
	"servesim/scenario"
	"servesim/sim"

	"github.com/spf13/cobra"
)

// A tailOptions is what `servesim tail` was asked for, as it was written.
type tailOptions struct {
	env                                         env
	population                                  string
	answers, limits, percentiles, claims, first string
	slos                                        []string
	draws                                       int64
	seed                                        uint64
	json                                        bool
}

// The population of the usual example, and what is usually said of it.
const (
	toyPopulation = "500 at 7ms, 20 at 60ms"
	toyClaims     = "mean 9ms, p99 65ms"
)

// newTail returns the verb tail, which calls run, or runTail if that is nil.
func newTail(e env, run func(*tailOptions) error) *cobra.Command {
	if run == nil {
		run = runTail
	}
	o := &tailOptions{env: e}
	cmd := &cobra.Command{
		Use:   "tail [POPULATION]",
		Short: "Work out what percentiles, means and goodput say of made-up gaps between tokens",
		Long: `Work out the mean, the percentiles and the goodput of a made-up population of gaps
between tokens, and of answers of so many gaps drawn from it. Nothing is simulated.

POPULATION is parts between commas: so many gaps, or so many per cent of them, at a
duration; with sigma the part is lognormal and the duration its median. Without it,
it is 500 at 7ms, 20 at 60ms.`,
		Example: `  servesim tail
  servesim tail "99% at 7ms sigma 0.2, 1% at 60ms" --answers 20,200
  servesim tail "99.5% at 10ms, 0.5% at 300ms" --slo "tpot <= 15ms, max_gap <= 200ms"`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.population = toyPopulation
			if len(args) > 0 {
				o.population = args[0]
			} else if !cmd.Flags().Changed("claim") {
				o.claims = toyClaims
			}
			return run(o)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.StringVar(&o.answers, "answers", "", "gaps of an answer, one less than its tokens, such as 10,50,200")
	f.StringVar(&o.limits, "limits", "", "limits on TPOT in the order to print, such as 30ms,20ms,15ms")
	f.StringArrayVar(&o.slos, "slo", nil, "limits on whole answers, a `PRESET` or such as \"tpot <= 15ms, max_gap <= 50ms\"; may be repeated (default loose, target and tight)")
	f.StringVar(&o.first, "ttft", "200ms", "time to the first token of every answer, for limits on it and on e2e")
	f.StringVar(&o.percentiles, "percentiles", "", "percentiles to print, such as 50,90,99.9")
	f.StringVar(&o.claims, "claim", "", "what is said of the gaps, to be checked, such as \"mean 9ms, p99 65ms\"")
	f.Int64Var(&o.draws, "draws", 10_000, "answers of each length to draw, for what has no closed form")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the draws")
	f.BoolVar(&o.json, "json", false, "print it as JSON, lossless")
	return cmd
}

// runTail prints what a population says.
func runTail(o *tailOptions) error {
	options, claims, err := o.read()
	if err != nil {
		return &scenario.UsageError{Err: err}
	}
	lab, err := tail.Run(options)
	if err != nil {
		return &scenario.UsageError{Err: err}
	}
	if o.json {
		return report.TailJSON(o.env.stdout, lab, claims)
	}
	return report.TailText(o.env.stdout, lab, claims)
}

// read reads what was written. All faults are told at once.
func (o *tailOptions) read() (options tail.Options, claims []tail.Claim, err error) {
	var faults []error
	fault := func(what string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", what, err))
		}
	}
	options.Draws, options.Seed = o.draws, sim.Seed(o.seed)
	options.Population, err = tail.Parse(o.population)
	fault("population", err)
	options.TTFT, err = sim.ParseDuration(o.first)
	fault("--ttft", err)
	options.Percentiles, err = percentiles(o.percentiles)
	faults = append(faults, err)
	if o.claims != "" {
		claims, err = tail.ParseClaims(o.claims)
		fault("--claim", err)
	}
	options.Answers, err = listed(o.answers, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	fault("--answers", err)
	options.Limits, err = listed(o.limits, sim.ParseDuration)
	fault("--limits", err)
	if o.slos == nil {
		o.slos = []string{"loose", "target", "tight"}
	}
	for _, s := range o.slos {
		limits, err := limitsOf(s)
		fault("--slo "+s, err)
		options.SLOs = append(options.SLOs, tail.NamedSLO{Name: s, Limits: limits})
	}
	return options, claims, errors.Join(faults...)
}

// listed reads what stands between commas; nothing is an empty list.
func listed[T any](text string, read func(string) (T, error)) ([]T, error) {
	var list []T
	var faults []error
	for word := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		x, err := read(strings.TrimSpace(word))
		if err != nil {
			faults = append(faults, fmt.Errorf("%q: %w", word, err))
		}
		list = append(list, x)
	}
	return list, errors.Join(faults...)
}

// limitsOf returns the limits on each answer of a preset, or of text as ParseSLO
// reads it.
func limitsOf(text string) (analysis.Goodput, error) {
	preset, err := analysis.FindSLO(text)
	if err == nil {
		return preset.SLO.Goodput, nil
	}
	if !strings.ContainsAny(text, "<≤:") {
		return nil, err
	}
	slo, err := analysis.ParseSLO(text)
	if err != nil {
		return nil, err
	}
	if len(slo.Run) > 0 || slo.MinGoodput != nil {
		return nil, errors.New("limits here are on each answer; leave out percentiles and goodput")
	}
	return slo.Goodput, nil
}
