package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/calibrate"
	"servesim/internal/strict"
	"servesim/scenario"
	"servesim/sim/gpu"
	"servesim/sim/gpu/fit"
)

// A fitting is a fit under way: what it begins with, and what it found.
type fitting struct {
	o       *fitOptions
	inputs  []*fitInput
	profile *gpu.Profile // with what was fitted so far
	base    string       // what LoadProfile calls the one that it began with
	engine  string
	plan    *scenario.Plan // how the server was run; nil if nothing says so
	blocks  int64          // KV blocks that the server printed, 0 if it did not

	starts  []startReport
	kernels string // text of the tables that were fitted
	result  *calibrate.Result
	notes   []string
}

// A startReport is what a log says of the memory at its start, beside the ledger.
type startReport struct {
	log        string
	lines      []calibrate.LedgerLine
	overrides  []calibrate.Override
	blocks     int64
	blocksNote string
}

// runFit fits and prints what came of it.
func runFit(ctx context.Context, o *fitOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	inputs, err := o.readInputs()
	if err != nil {
		return err
	}
	f := &fitting{o: o, inputs: inputs}
	if err := f.begin(); err != nil {
		return err
	}
	if err := f.agree(); err != nil {
		return err
	}
	if err := f.compareStarts(); err != nil {
		return err
	}
	if err := f.fitKernels(); err != nil {
		return err
	}
	if err := f.fitConstants(ctx); err != nil {
		return err
	}
	if err := f.write(); err != nil {
		return err
	}
	return f.report(o.env.stdout)
}

// of returns the inputs of a kind.
func (f *fitting) of(kind string) []*fitInput {
	var out []*fitInput
	for _, in := range f.inputs {
		if in.kind == kind {
			out = append(out, in)
		}
	}
	return out
}

// begin loads the scenario, if one is needed or given, and the profile to begin with.
func (f *fitting) begin() error {
	servers := append(f.of(kindLog), f.of(kindExport)...)
	if len(servers) > 0 && !f.o.described() {
		return usagef("%s: a %s does not say which model ran where; say how the server was run: --scenario FILE.toml, or --model, --gpu, --tp and --dtype", servers[0].path, servers[0].kind)
	}
	if !f.o.described() {
		f.base, f.engine = f.o.gpu, f.o.engine
		if f.base == "" {
			f.base = "h100"
		}
		if f.engine == "" && !f.o.given("engine") {
			f.engine = "vllm"
		}
		var err error
		if f.profile, err = gpu.LoadProfile(f.base); err != nil {
			return usagef("--gpu: %w", err)
		}
		return f.checkEngine()
	}
	src, err := f.o.source()
	if err != nil {
		return err
	}
	if f.plan, err = scenario.Load(src); err != nil {
		return err
	}
	f.base, f.engine, f.profile = f.plan.Scenario.Hardware.GPU, f.plan.Scenario.Host.Engine, f.plan.Machine.Profile
	var faults []strict.Fault
	for _, key := range []string{"host.base", "host.per_seq", "host.per_prompt_token", "host.mixed_step"} {
		if len(servers) > 0 && f.plan.Given(key) {
			faults = append(faults, strict.Fault{Key: key, Text: "is given, and it is one of the constants that the fit is of; take it out"})
		}
	}
	return scenario.FaultsError(faults)
}

// checkEngine returns a fault if the profile has no constants of the engine.
func (f *fitting) checkEngine() error {
	if _, ok := f.profile.Engine[f.engine]; ok {
		return nil
	}
	return usagef("--engine: %q: profile %s has no such engine; %s", f.engine, f.profile.Name, strict.Unlike(strings.ToLower(f.engine), slices.Sorted(maps.Keys(f.profile.Engine))))
}

// agree returns a fault for each setting of which a log says other than the scenario.
func (f *fitting) agree() error {
	var faults []strict.Fault
	for _, in := range f.of(kindLog) {
		d := calibrate.Deployment{Setup: f.plan.Setup(), Scheduler: f.plan.Config, GPUMemoryUtilization: f.plan.Scenario.Engine.MemoryOptions().GPUMemoryUtilization}
		for _, x := range d.Disagreements(&in.log.Settings) {
			faults = append(faults, strict.Fault{Where: fmt.Sprintf("%s:%d", in.log.Name, x.Line), Key: x.Key, Text: fmt.Sprintf(
				"the server had %s, the scenario has %s; set it there, or --set %s=%s", x.Log, x.Has, x.Key, tomlWord(x.Log))})
		}
		if v := in.log.Settings.Version; v.Text != "" {
			if policy := f.plan.Scenario.Engine.Policy; !strings.HasSuffix(policy, "@main") && !versionOf(v.Text, policy) {
				f.notes = append(f.notes, fmt.Sprintf("%s is of vLLM %s, the scenario's policy is %s", in.path, v.Text, policy))
			}
		}
	}
	return scenario.FaultsError(faults)
}

// tomlWord returns a word of a log as --set takes it.
func tomlWord(word string) string {
	if strings.HasPrefix(word, "fp8") {
		return "fp8"
	}
	return word
}

// versionOf tells whether version, such as 0.11.0, is that of policy, such as vllm@0.11.
func versionOf(version, policy string) bool {
	_, want, _ := strings.Cut(policy, "@")
	want, _, _ = strings.Cut(want, "-")
	return strings.HasPrefix(version+".", want+".")
}

// compareStarts sets the start of each server beside the memory ledger.
func (f *fitting) compareStarts() error {
	for _, in := range f.of(kindLog) {
		if in.log.Start.Empty() {
			continue
		}
		l := f.plan.Ledger
		r := startReport{log: in.path, lines: calibrate.CompareStart(&in.log.Start, l, int64(f.plan.Config.MaxModelLen)),
			overrides: calibrate.LedgerOverrides(&in.log.Start)}
		blocks, note, ok := calibrate.StartBlocks(&in.log.Start, l.BlockSize, l.Groups)
		r.blocksNote = note
		if ok && f.blocks > 0 && blocks != f.blocks {
			return usagef("%s: prints %d KV blocks, an earlier log %d, so they are of two servers; fit them apart", in.path, blocks, f.blocks)
		}
		if ok {
			r.blocks, f.blocks = blocks, blocks
		}
		f.starts = append(f.starts, r)
	}
	return nil
}

// fitKernels fits the coefficients of the kernels.
func (f *fitting) fitKernels() error {
	for _, in := range f.of(kindKernels) {
		if f.kernels != "" {
			return usagef("%s: a second folder of kernel tables; one set of kernels is fitted at a time", in.path)
		}
		set := f.profile.Engine[f.engine].Kernels
		gpuName := strings.ToUpper(f.profile.Root)
		w := fit.Wanted{GPU: gpuName, Engines: []string{f.engine}, Datasheet: f.profile.Datasheet, Data: fmt.Sprintf("kernel tables of %s, %s, engine %s", filepath.Base(filepath.Clean(in.path)), gpuName, f.engine)}
		k, err := in.tables.Kernels(w)
		if err != nil {
			return usagef("%s: %w; rows count whose gpu is %s and whose engine is %s", in.path, err, gpuName, f.engine)
		}
		var b bytes.Buffer
		if err := fit.WriteKernels(&b, set, k); err != nil {
			return err
		}
		f.kernels = b.String()
		f.profile = withKernels(f.profile, f.engine, set, k)
		for _, e := range in.tables.Errors(k, w) {
			in.used += e.Rows
			in.useKernels(e)
			in.notes = append(in.notes, fmt.Sprintf("%s: %d rows, error median %.1f %%, P90 %.1f %%, bias %+.1f %%", e.Operator, e.Rows, 100*e.Median, 100*e.P90, 100*e.Bias))
		}
		for _, u := range in.tables.Untold(k, w) {
			f.notes = append(f.notes, u.String())
		}
	}
	return nil
}

// withKernels returns p with k as the kernels of an engine, in the table set.
func withKernels(p *gpu.Profile, engine, set string, k gpu.Kernels) *gpu.Profile {
	q := *p
	q.Kernels, q.Engine = maps.Clone(p.Kernels), maps.Clone(p.Engine)
	q.Kernels[set] = k
	e := q.Engine[engine]
	e.DenseKernels, e.ExpertKernels = "", ""
	e.WeightEfficiency = 0 // was fitted with other kernels
	q.Engine[engine] = e
	return &q
}

// fitConstants fits the constants of the engine.
func (f *fitting) fitConstants(ctx context.Context) error {
	done := func() {}
	if f.o.env.tty {
		bar := newRowBar(f.o.env, -1)
		defer func() { _ = bar.Finish() }()
		done = func() { _ = bar.Add(1) }
	}
	tables, data := f.of(kindRuns), []calibrate.Data(nil)
	logs, parts, err := f.statistics()
	if err != nil {
		return err
	}
	if logs != nil {
		data = append(data, logs)
	}
	calls, err := f.calls(done)
	if err != nil {
		return err
	}
	if calls != nil {
		data, parts = append(data, calls), max(parts, calls.Parts())
	}
	switch {
	case len(tables) > 0 && len(data) > 0:
		return usagef("%s: a table of runs and what one server left are fitted apart, for the table's rows are other servers", tables[0].path)
	case len(tables) > 0:
		return f.fitRuns(ctx, tables, done)
	case len(data) == 0:
		return nil
	}
	if f.result, err = calibrate.Fit(ctx, calibrate.Together(data...), f.profile, f.engine, parts); errors.Is(err, calibrate.ErrNoFigures) {
		return usagef("%w of the data", err)
	}
	return err
}

// fitRuns fits the constants to tables of measured runs.
func (f *fitting) fitRuns(ctx context.Context, tables []*fitInput, done func()) error {
	in := tables[0]
	if len(tables) > 1 {
		return usagef("%s: a second table of runs; put the rows into one", tables[1].path)
	}
	var err error
	f.result, err = calibrate.Run(ctx, in.runs, f.profile, f.engine, done)
	if errors.Is(err, calibrate.ErrNoRows) {
		return usagef("%s: %w; such a row has calibration in the column split and can be simulated", in.path, err)
	}
	if err == nil {
		in.used = f.result.Rows
	}
	return err
}

// statistics prepares the lines of statistics of the logs, nil if there are none that
// tell anything.
func (f *fitting) statistics() (*calibrate.Stats, int, error) {
	var logs []calibrate.ServerLog
	var of []*fitInput
	for _, in := range f.of(kindLog) {
		if len(in.log.Stats) == 0 {
			continue
		}
		one := calibrate.ServerLog{Name: in.path, Stats: in.log.Stats, Setup: f.plan.Setup(),
			KVTokens: (f.kvBlocks() - 1) * int64(f.plan.Config.BlockSize), MaxNumBatchedTokens: int64(f.plan.Config.MaxNumBatchedTokens)}
		_, left, err := calibrate.NewStats([]calibrate.ServerLog{one})
		if err != nil && in.log.Start.Empty() {
			return nil, 0, &scenario.UsageError{Err: err}
		} else if err != nil {
			in.notes = append(in.notes, "no constants are fitted to its statistics: "+strings.TrimPrefix(err.Error(), in.path+": "))
			continue
		}
		for _, l := range left {
			in.notes = append(in.notes, fmt.Sprintf("%d intervals left out %s", l.N, l.Why))
		}
		logs, of = append(logs, one), append(of, in)
	}
	if len(logs) == 0 {
		return nil, 0, nil
	}
	stats, _, err := calibrate.NewStats(logs)
	if err != nil {
		return nil, 0, err
	}
	for i, in := range of {
		in.used = stats.Used(i)
	}
	return stats, stats.Parts(), nil
}

// kvBlocks returns the number of KV blocks of the server: what it printed, or else
// what the ledger computes.
func (f *fitting) kvBlocks() int64 {
	if f.blocks > 0 {
		return f.blocks
	}
	return f.plan.Config.NumGPUBlocks
}

// calls prepares the exports, nil if there are none.
func (f *fitting) calls(done func()) (*calibrate.Calls, error) {
	var runs []calibrate.MeasuredRun
	var of []*fitInput
	for _, in := range f.of(kindExport) {
		for i := range in.export {
			x := &in.export[i]
			r := calibrate.MeasuredRun{Name: x.name, Calls: x.calls, Facts: x.facts, Setup: f.plan.Setup(), Scheduler: f.plan.Config}
			r.Scheduler.NumGPUBlocks = f.kvBlocks()
			runs, of = append(runs, r), append(of, in)
		}
	}
	if len(runs) == 0 {
		return nil, nil
	}
	calls, left, err := calibrate.NewCalls(runs, done)
	if err != nil {
		return nil, &scenario.UsageError{Err: err}
	}
	for i, in := range of {
		in.used += calls.Used(i)
	}
	for _, l := range left {
		for i, in := range of {
			if runs[i].Name == l.Run {
				in.notes = append(in.notes, fmt.Sprintf("%s left out that %s", analysis.Counted(int64(l.N), "call"), l.Why))
				break
			}
		}
	}
	return calls, nil
}
