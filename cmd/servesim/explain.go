package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"servesim/explain"
	"servesim/scenario"

	"github.com/spf13/cobra"
)

// An explainOptions is what `servesim explain` was asked for.
type explainOptions struct {
	env      env
	scenario scenarioFlags
	sources  []scenario.Source
	labels   []string
	requests []int64
	worst    []string
	n        int
	gradient bool
	regimes  bool
	grid     gridFlags
	seeds    int
	json     bool
	markdown bool
}

// gridFlags are the flags that change the map of --regimes, as they were written.
type gridFlags struct {
	shares, lengths, loads, budgets string
	requests                        int64
}

// newExplain returns the verb explain, which calls run, or runExplain if that is nil.
func newExplain(e env, run func(context.Context, *explainOptions) error) *cobra.Command {
	if run == nil {
		run = runExplain
	}
	o := &explainOptions{env: e}
	var vary []string
	cmd := &cobra.Command{
		Use:   "explain [A.toml [B.toml...]]",
		Short: "Say why latencies are as they are, and what would change them",
		Long: `Say why the latencies of a scenario are as they are: what the slowest requests spent
their time on, and whose prompts cost the others most. "run --blame" has the tables.

--request and --worst tell single requests from arrival to end, every wait with its
reason, every stall with the prompts that it is due to. --gradient changes one knob
of the engine at a time, on the same arrivals. Two scenarios, or --vary, are told as
a pair: what of the tail is protected, at whose cost, and why. --regimes draws the
map of where chunked prefill makes which latency better, and checks the rule behind
it; it takes half a minute on two cores.`,
		Example: `  servesim explain --worst ttft -n 1
  servesim explain --vary enable_chunked_prefill=false,true
  servesim explain --gradient
  servesim explain --regimes --loads 50 --shares 1,5 --lengths 16000`,
		Args: arguments(looseLimits),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.choose(cmd, args, vary); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: completeTOML,
	}
	o.scenario.bind(cmd)
	o.bind(cmd, &vary)
	return cmd
}

// bind adds the flags that say what is explained.
func (o *explainOptions) bind(cmd *cobra.Command, vary *[]string) {
	f := cmd.Flags()
	f.Int64SliceVar(&o.requests, "request", nil, "tell the life of the request that records call `ID`; may be given several times")
	f.StringSliceVar(&o.worst, "worst", nil, "tell the lives of the requests that are slowest by each of `METRICS`: ttft, tpot, itl (their longest gap), e2e")
	f.IntVarP(&o.n, "number", "n", 3, "how many of --worst")
	f.BoolVar(&o.gradient, "gradient", false, "change one knob at a time and print what becomes of the tails")
	f.StringArrayVar(vary, "vary", nil, "alternatives to explain as pairs, `KEY=A,B,...`; several flags are crossed")
	f.BoolVar(&o.regimes, "regimes", false, "map where chunked prefill makes which latency better")
	f.StringVar(&o.grid.shares, "shares", "", "of --regimes: per cent of the prompts that are long, such as 0.3,1,3,10")
	f.StringVar(&o.grid.lengths, "lengths", "", "of --regimes: tokens of the long prompts")
	f.StringVar(&o.grid.loads, "loads", "", "of --regimes: arrivals in per cent of the capacity")
	f.StringVar(&o.grid.budgets, "budgets", "", "of --regimes: values of max_num_batched_tokens with chunked prefill")
	f.Int64Var(&o.grid.requests, "requests", explain.DefaultGrid().Requests, "of --regimes: requests of a run")
	f.IntVar(&o.seeds, "replications", explain.DefaultGrid().Seeds, "of --regimes, --gradient and pairs: runs of each, under successive seeds")
	f.BoolVar(&o.markdown, "markdown", false, "of --regimes: write it as a document")
	f.BoolVar(&o.json, "json", false, "print it as JSON, lossless")
	must(cmd.RegisterFlagCompletionFunc("vary", completeVary))
	must(cmd.RegisterFlagCompletionFunc("worst", cobra.FixedCompletions(explain.Orders(), cobra.ShellCompDirectiveNoFileComp)))
}

// choose finds the scenarios and holds that the flags go together.
func (o *explainOptions) choose(cmd *cobra.Command, args, vary []string) error {
	if err := o.fits(cmd, len(args) > 1 || len(vary) > 0); err != nil {
		return err
	}
	if len(args) > 1 || len(vary) > 0 {
		c := compareOptions{scenario: o.scenario}
		if err := c.choose(cmd, args, vary); err != nil {
			return err
		}
		o.sources, o.labels = c.sources, c.labels
		return nil
	}
	src, err := o.scenario.source(cmd, args)
	o.sources, o.labels = []scenario.Source{src}, []string{""}
	return err
}

// fits returns a fault for flags that ask for two things, or change nothing of what
// is asked for.
func (o *explainOptions) fits(cmd *cobra.Command, pair bool) error {
	given := cmd.Flags().Changed
	var modes []string
	for _, m := range []string{"request", "worst", "gradient", "regimes"} {
		if given(m) {
			modes = append(modes, "--"+m)
		}
	}
	if pair {
		modes = append(modes, "a pair")
	}
	if len(modes) > 1 && !(len(modes) == 2 && given("request") && given("worst")) {
		return usagef("%s are different questions; ask for one of them", strings.Join(modes, " and "))
	}
	var faults []error
	useless := func(flag string, of bool, what string) {
		if given(flag) && !of {
			faults = append(faults, fmt.Errorf("--%s changes nothing without %s", flag, what))
		}
	}
	for _, flag := range []string{"shares", "lengths", "loads", "budgets", "requests", "markdown"} {
		useless(flag, o.regimes, "--regimes")
	}
	useless("replications", o.regimes || o.gradient || pair, "--regimes, --gradient or a pair")
	useless("number", given("worst"), "--worst")
	if given("replications") && o.seeds < 2 {
		faults = append(faults, fmt.Errorf("--replications %d: it takes 2 or more to see how runs differ, and 5 or more for intervals", o.seeds))
	}
	if o.json && o.markdown {
		faults = append(faults, errors.New("--json and --markdown are two forms of the same; leave one out"))
	}
	if err := errors.Join(faults...); err != nil {
		return &scenario.UsageError{Err: err}
	}
	return nil
}

// runExplain explains what was asked about.
func runExplain(ctx context.Context, o *explainOptions) error {
	if err := o.readStdin(); err != nil {
		return err
	}
	switch {
	case o.regimes:
		return o.runRegimes(ctx)
	case o.gradient:
		return o.runGradient(ctx)
	case len(o.sources) > 1:
		return o.runPairs(ctx)
	case len(o.requests)+len(o.worst) > 0:
		return o.runLives(ctx)
	}
	return o.runCauses(ctx)
}

// readStdin reads a scenario from standard input once, for it is simulated often.
func (o *explainOptions) readStdin() error {
	for i := range o.sources {
		src := &o.sources[i]
		if src.Path != scenario.StdinPath || src.Content != "" {
			continue
		}
		text, err := io.ReadAll(src.Stdin)
		if err != nil {
			return err
		}
		for k := range o.sources {
			if o.sources[k].Path == scenario.StdinPath {
				o.sources[k].Content = string(text)
			}
		}
	}
	return nil
}

// work says how runs are done: on all cores, and a terminal shows how far they are.
func (o *explainOptions) work(label string) (w explain.Work, finish func()) {
	w.Jobs = runtime.GOMAXPROCS(0)
	if !o.env.tty {
		return w, func() {}
	}
	var bar *runsProgress
	w.Progress = func(_, of int) {
		if bar == nil {
			bar = newRunsProgress(o.env, label, of)
		}
		bar.one()
	}
	return w, func() { bar.finish() }
}

// answer is what explain found.
type answer interface {
	Write(w io.Writer) error
	JSON(w io.Writer) error
}

// write prints an answer.
func (o *explainOptions) write(a answer) error {
	if o.json {
		return a.JSON(o.env.stdout)
	}
	return a.Write(o.env.stdout)
}

// runGradient prints what each knob changes.
func (o *explainOptions) runGradient(ctx context.Context) error {
	w, finish := o.work("knobs")
	g, err := explain.Gradients(ctx, o.sources[0], o.seeds, w)
	finish()
	if err != nil {
		return err
	}
	return o.write(g)
}

// runRegimes prints the map of regimes.
func (o *explainOptions) runRegimes(ctx context.Context) error {
	grid, err := o.grid.grid()
	if err != nil {
		return err
	}
	grid.Seeds = o.seeds
	w, finish := o.work("regimes")
	m, err := explain.Regimes(ctx, o.sources[0], grid, w)
	finish()
	if err != nil {
		return err
	}
	if o.markdown {
		return m.Markdown(o.env.stdout)
	}
	return o.write(m)
}

// grid reads what was written of a grid. All faults are told at once.
func (f *gridFlags) grid() (explain.Grid, error) {
	g := explain.DefaultGrid()
	g.Requests = f.requests
	var faults []error
	fault := func(flag string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("--%s: %w", flag, err))
		}
	}
	share := func(s string) (float64, error) {
		x, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
		if err != nil {
			return 0, errors.New("must be a number of per cent, such as 0.3")
		}
		return x / 100, nil
	}
	tokens := func(s string) (int32, error) {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return 0, errors.New("must be a whole number of tokens, such as 16000")
		}
		return int32(n), nil
	}
	fault("shares", replace(&g.Shares, f.shares, share))
	fault("lengths", replace(&g.Lengths, f.lengths, tokens))
	fault("loads", replace(&g.Loads, f.loads, share))
	fault("budgets", replace(&g.Budgets, f.budgets, tokens))
	if err := errors.Join(faults...); err != nil {
		return g, &scenario.UsageError{Err: err}
	}
	return g, nil
}

// replace puts what text lists in the place of list, if it lists anything.
func replace[T any](list *[]T, text string, read func(string) (T, error)) error {
	if text == "" {
		return nil
	}
	var err error
	*list, err = listed(text, read)
	return err
}

// runPairs prints what changes from the first scenario to the others, and why.
func (o *explainOptions) runPairs(ctx context.Context) error {
	w, finish := o.work("pairs")
	p, err := explain.Compare(ctx, o.sources, o.labels, o.seeds, w)
	finish()
	if err != nil {
		return err
	}
	return o.write(p)
}

// runLives tells single requests.
func (o *explainOptions) runLives(ctx context.Context) error {
	w, finish := o.work("lives")
	l, err := explain.Tell(ctx, o.sources[0], explain.Choice{Requests: o.requests, Worst: o.worst, Number: o.n}, w)
	finish()
	if err != nil {
		return err
	}
	return o.write(l)
}

// runCauses says what the slowest requests spent their time on.
func (o *explainOptions) runCauses(ctx context.Context) error {
	w, finish := o.work("causes")
	c, err := explain.Why(ctx, o.sources[0], w)
	finish()
	if err != nil {
		return err
	}
	return o.write(c)
}
