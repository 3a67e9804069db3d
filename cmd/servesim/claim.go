package main

import (
	"context"
	"io"
	"runtime"
	"strconv"
	"strings"

	"servesim/claim"
	"servesim/scenario"

	"github.com/spf13/cobra"
)

// A claimOptions is what `servesim claim` was asked for.
type claimOptions struct {
	env      env
	scenario scenarioFlags
	source   scenario.Source
	format   formatFlag
	lengths  []string
	users    []string
	gpus     int64
	jobs     int

	figure claim.Figure
	json   bool
	asked  claim.Options
}

// newClaim returns the verb claim, which calls run, or runClaim if that is nil.
func newClaim(e env, run func(context.Context, *claimOptions) error) *cobra.Command {
	if run == nil {
		run = runClaim
	}
	o := &claimOptions{env: e}
	cmd := &cobra.Command{
		Use:   "claim FIGURE [SCENARIO.toml]",
		Short: "Say under which loads, lengths, formats and numbers of GPUs a vendor's figure is possible",
		Long: `Say what a figure such as "15000 tok/s" can mean: simulate a grid of lengths, loads,
number formats, TP and numbers of GPUs, and print where the figure is reached, which TTFT
and TPOT users would see there, what the rest reach at most, and what to ask whoever
claims it, first what most depends on. FIGURE is in tok/s, req/s, either with /GPU,
tok/s/user, or a TTFT, TPOT, ITL or E2E in ms; where it doesn't say which tokens or which
percentile, both are answered.

--tp, --dtype and --set kv_cache_dtype fix what the claim says; a scenario file fixes
all three, and its workload isn't used.`,
		Example: `  servesim claim "4000 tok/s" --model Llama-3.1-8B --gpu h100 --tp 1 --lengths 1000/250
  servesim claim "p99 TTFT 200 ms" mine.toml --users 1,8,64
  servesim claim "2500 output tok/s/GPU" mine.toml --lengths 8192/1024 -o json`,
		Args: arguments(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.figure, err = claim.Parse(args[0]); err != nil {
				return err
			}
			if o.source, err = o.scenario.source(cmd, args[1:]); err != nil {
				return err
			}
			if err := o.check(cmd); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: completeTOML,
	}
	o.scenario.bindMachine(cmd)
	o.format.bind(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&o.lengths, "lengths", nil, "tokens of prompts and answers that are tried, `PROMPT/OUTPUT`, such as 1000/250,8000/1000")
	f.StringSliceVar(&o.users, "users", nil, "numbers of `USERS` of a replica that are tried, each waiting for an answer before the next call, and offline")
	f.Int64Var(&o.gpus, "num-gpus", 0, "number of GPUs that a figure in tok/s or req/s is of (default up to 8)")
	f.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "runs under way at once")
	return cmd
}

// check reads the flags.
func (o *claimOptions) check(cmd *cobra.Command) error {
	form, err := o.format.chosen()
	if err != nil {
		return err
	}
	o.json = form.Name() == "json"
	o.asked = claim.Options{GPUs: o.gpus, Jobs: o.jobs, Own: o.source.Path != ""}
	if o.jobs < 1 {
		return usagef("--jobs %d: must be 1 or more", o.jobs)
	}
	if cmd.Flags().Changed("num-gpus") && o.gpus < 1 {
		return usagef("--num-gpus %d: must be 1 or more", o.gpus)
	}
	for _, text := range o.lengths {
		prompt, output, ok := strings.Cut(strings.TrimSpace(text), "/")
		l := claim.Lengths{}
		var errs [2]error
		l.Prompt, errs[0] = strconv.ParseInt(prompt, 10, 64)
		l.Output, errs[1] = strconv.ParseInt(output, 10, 64)
		if !ok || errs != [2]error{} {
			return usagef("--lengths %s: must be PROMPT/OUTPUT in tokens, such as 1000/250", text)
		}
		o.asked.Lengths = append(o.asked.Lengths, l)
	}
	for _, text := range o.users {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if strings.TrimSpace(text) == "offline" {
			n, err = 0, nil
		} else if err == nil && n < 1 {
			return usagef("--users %s: a replica has 1 or more of them; all requests at once is offline", text)
		}
		if err != nil {
			return usagef("--users %s: must be a number of users, or offline", text)
		}
		o.asked.Users = append(o.asked.Users, n)
	}
	return nil
}

// runClaim simulates and prints what it found.
func runClaim(ctx context.Context, o *claimOptions) error {
	src, err := rereadable(o.source)
	if err != nil {
		return err
	}
	src.Shelf = &scenario.Shelf{}
	var bar *runsProgress
	o.asked.Progress = func(total int) {
		if bar == nil {
			bar = newRunsProgress(o.env, "simulating", total)
		}
		bar.one()
	}
	a, err := claim.Find(ctx, src, o.figure, o.asked)
	bar.finish()
	if err != nil {
		return err
	}
	text := a.Text()
	if o.json {
		if text, err = a.JSON(); err != nil {
			return err
		}
	}
	_, err = io.WriteString(o.env.stdout, text)
	return err
}
