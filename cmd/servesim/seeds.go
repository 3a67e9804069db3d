package main

import (
	"context"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"

	"servesim/analysis"
	"servesim/internal/workers"
	"servesim/scenario"
)

// forEachSeed calls do for 0 to n-1 on all cores, until one of them fails or ctx is
// cancelled, and returns the error of the first that did. A terminal shows how many
// are done.
func forEachSeed(ctx context.Context, e env, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	faults := make([]error, n)
	bar := newRunsProgress(e, "replications", n)
	workers.Each(ctx, runtime.GOMAXPROCS(0), n, func(i int) bool {
		if faults[i] = do(ctx, i); faults[i] != nil {
			cancel()
		}
		bar.one()
		return faults[i] == nil
	})
	bar.finish()
	if err := firstOf(faults); err != nil {
		return err
	}
	return ctx.Err()
}

// replicable loads src and returns its plan if it can run under n seeds.
func replicable(src scenario.Source, n int) (*scenario.Plan, error) {
	p, err := scenario.Load(src)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(p.Scenario.Workload.Parts(), func(w scenario.Part) bool { return w.Trace == "" }) {
		return nil, usagef("--replications %d: every request comes from a trace, which is the same under each seed, so the runs would say nothing of chance; leave the flag out: each percentile of one run has an interval of its own", n)
	}
	if seed := *p.Scenario.Seed; seed > math.MaxInt64-uint64(n) {
		return nil, usagef("--replications %d: the seeds from %d on would exceed %d; choose a smaller one", n, seed, int64(math.MaxInt64))
	}
	return p, nil
}

// rereadable returns src, whose scenario can be loaded many times: one from standard
// input is read.
func rereadable(src scenario.Source) (scenario.Source, error) {
	if src.Path == scenario.StdinPath && src.Content == "" {
		text, err := io.ReadAll(src.Stdin)
		if err != nil {
			return src, err
		}
		src.Content = string(text)
	}
	return src, nil
}

// seeded loads src anew under a seed: plans share nothing that a run changes.
func seeded(src scenario.Source, seed uint64) (*scenario.Plan, error) {
	settings := slices.DeleteFunc(slices.Clone(src.Settings), func(s scenario.Setting) bool { return s.Key == "seed" })
	text := strconv.FormatUint(seed, 10)
	src.Settings = append(settings, scenario.Setting{Key: "seed", Value: scenario.TOMLValue(text), Text: text, Flag: "--replications"})
	return scenario.Load(src)
}

// checkReplications returns a fault if n runs are too few to differ.
func checkReplications(n int) error {
	if n < 2 {
		return usagef("--replications %d: it takes 2 or more to see how runs differ, and %d or more for intervals", n, analysis.FewestReplications)
	}
	return nil
}
