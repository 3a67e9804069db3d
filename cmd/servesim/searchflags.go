package main

import (
	"errors"
	"runtime"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/capacity"

	"github.com/spf13/cobra"
)

// searchFlags are the flags that say how the highest rate is sought, and what GPUs
// cost, the same for every verb that does.
type searchFlags struct {
	resolution     float64 // in percent
	target         string
	requests       int64
	runs, jobs     int
	prices, powers []string
}

// bind adds the flags to cmd.
func (s *searchFlags) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Float64Var(&s.resolution, "resolution", 100*capacity.DefaultResolution, "step from a rate to the next, in `PERCENT`")
	f.StringVar(&s.target, "target", "99%", "least share of good requests, if the limits don't say it")
	f.Int64Var(&s.requests, "requests", capacity.DefaultRequests, "requests of a run of a drawn workload")
	f.IntVar(&s.runs, "runs", capacity.DefaultRuns, "most runs, under seeds of their own, that a rate is judged with")
	f.IntVar(&s.jobs, "jobs", runtime.GOMAXPROCS(0), "runs under way at once")
	f.StringArrayVar(&s.prices, "price", nil, "price `GPU=USD` for a GPU and hour, in the place of the profile's; may be repeated")
	f.StringArrayVar(&s.powers, "power", nil, "power `GPU=W` of a GPU that runs a step, in the place of the datasheet's TDP; may be repeated")
}

// options reads the flags.
func (s *searchFlags) options() (capacity.Options, error) {
	o := capacity.Options{Resolution: s.resolution / 100, Requests: s.requests, Runs: s.runs, Jobs: s.jobs}
	if s.jobs < 1 {
		return o, usagef("--jobs %d: must be 1 or more", s.jobs)
	}
	var err error
	if o.Target, err = shareOf(s.target); err != nil {
		return o, usagef("--target %s: must be a share of requests, such as 99%% or 0.99", s.target)
	}
	if o.Prices, err = byGPU(s.prices, "price", "USD", "h100=2.50"); err != nil {
		return o, err
	}
	if o.Watts, err = byGPU(s.powers, "power", "W", "h100=650"); err != nil {
		return o, err
	}
	return o, o.Check()
}

// shareOf reads a share, such as 99% or 0.99.
func shareOf(text string) (analysis.Percentile, error) {
	number, percent := strings.CutSuffix(strings.ReplaceAll(text, " ", ""), "%")
	x, err := strconv.ParseFloat(number, 64)
	if percent {
		x /= 100
	}
	share, ok := analysis.PercentileOf(x)
	if err != nil || !ok || x == 0 {
		return share, errors.New("not a share")
	}
	return share, nil
}

// byGPU reads flags that give GPUs amounts of a unit, such as example.
func byGPU(texts []string, flag, unit, example string) (map[string]float64, error) {
	amounts := map[string]float64{}
	for _, text := range texts {
		name, amount, ok := strings.Cut(text, "=")
		x, err := strconv.ParseFloat(strings.TrimPrefix(amount, "$"), 64)
		if !ok || err != nil {
			return nil, usagef("--%s %s: must be GPU=%s, such as %s", flag, text, unit, example)
		}
		name = strings.ToLower(name)
		if _, twice := amounts[name]; twice {
			return nil, usagef("--%s %s: %s has a %[1]s already; leave one out", flag, text, name)
		}
		amounts[name] = x
	}
	return amounts, nil
}
