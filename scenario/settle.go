package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/internal/strict"
	"servesim/sim"
	"servesim/sim/gpu"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// A Plan is a scenario with every default written out, and what it names loaded
// and checked. A plan can run.
type Plan struct {
	Scenario *Scenario // settled; changing it changes nothing of the rest
	Machine  Machine
	Cost     *gpu.StepTime    // of each step
	Ledger   *gpu.Ledger      // of each GPU's memory
	Config   scheduler.Config // with the blocks that the ledger leaves
	SLO      analysis.SLO     // empty if the scenario has none
	Request  workload.Delay   // from the client to the queue
	Response workload.Delay   // and back

	document *document // what of the scenario was given
	stdin    io.Reader // what a trace from standard input is read from
	shelf    *Shelf
}

// Load reads the scenario that src names and settles it. The error is a
// UsageError of every fault, a line each.
func Load(src Source) (*Plan, error) {
	s, d, faults := load(src)
	if s == nil {
		return nil, FaultsError(faults)
	}
	p := &Plan{Scenario: s, document: d, stdin: src.Stdin, shelf: src.Shelf}
	all := faults
	for _, f := range p.settle() {
		if !told(faults, f.Key) {
			all = append(all, strict.Fault{Where: d.blame(f.Key), Key: f.Key, Text: f.Text})
		}
	}
	if len(all) > 0 {
		slices.SortStableFunc(all, func(a, b strict.Fault) int { return cmp.Compare(lineOf(a), lineOf(b)) })
		return nil, FaultsError(all)
	}
	return p, nil
}

// lineOf orders faults as a reader of the file meets them: what the command line
// gave is before the first line, what no line holds is after the last.
func lineOf(f strict.Fault) int {
	if strings.HasPrefix(f.Where, "--") {
		return 0
	}
	line, err := strconv.Atoi(f.Where[strings.LastIndexByte(f.Where, ':')+1:])
	if err != nil {
		return math.MaxInt
	}
	return line
}

// blame is where, but a fault of the hardware as a whole is one of all flags that
// say what runs on what.
func (d *document) blame(key string) string {
	var flags []string
	for _, k := range []string{"model.name", "model.dtype", "model.kv_cache_dtype", "hardware.gpu", "hardware.tensor_parallel_size"} {
		if flag, ok := d.flag(k); ok && key == "hardware" {
			flags = append(flags, flag)
		}
	}
	if len(flags) > 0 {
		return strings.Join(flags, " ")
	}
	return d.where(key)
}

// told tells whether a fault of key, or of a key within it, is already known:
// what follows from it would only repeat it.
func told(faults []strict.Fault, key string) bool {
	return slices.ContainsFunc(faults, func(f strict.Fault) bool {
		return f.Key != "" && (f.Key == key || strings.HasPrefix(f.Key, key+".") || strings.HasPrefix(key, f.Key+"."))
	})
}

// settle gives every absent key its default and returns the faults of what the
// keys say.
func (p *Plan) settle() []strict.Fault {
	s := p.Scenario
	settle(&s.Seed, 1)
	var faults []strict.Fault
	add := func(more []strict.Fault) { faults = append(faults, more...) }
	add(s.settleWorkload())
	add(s.Workload.Prefix.check())
	add(s.Transform.check())
	add(s.Hardware.check())
	add(s.Pool.settle())
	add(s.Engine.checkGraphs())
	add(p.settleSLO())
	var more []strict.Fault
	p.Machine, more = s.settleMachine(p.shelf)
	add(more)
	add(p.settleEngine(len(more) == 0))
	add(p.settleNetwork())
	add(s.Streaming.check())
	add(s.checkTimes())
	return faults
}

// settleEngine settles the engine's options, which need the machine, and joins
// both to a cost model and a scheduler's configuration if the machine is sound.
func (p *Plan) settleEngine(sound bool) []strict.Fault {
	s := p.Scenario
	if s.Engine.Policy == "" {
		return []strict.Fault{{Key: "engine.policy", Text: "missing; give one of " + strings.Join(PolicyNames(), ", ")}}
	}
	preset, err := scheduler.FindPreset(s.Engine.Policy)
	if err != nil {
		return []strict.Fault{{Key: "engine.policy", Text: UnknownName("engine version", s.Engine.Policy, PolicyNames())}}
	}
	faults := s.Engine.lacking(preset)
	if !sound || len(faults) > 0 {
		return faults
	}
	s.Engine.settle(preset, s.device(p.Machine), int32(p.Machine.Model.MaxContextTokens))
	// The most blocks stand for those that the memory is yet to give.
	p.Config = s.Engine.config(preset, math.MaxInt32)
	faults = p.causes(append(s.Engine.check(preset), keyedFaults("engine", p.Config.Check())...))
	faults = append(faults, s.Memory.check()...)
	if p.Config.Policy == scheduler.SGLang {
		faults = append(faults, p.sglangFaults()...)
	}
	if len(faults) > 0 {
		return faults
	}
	if p.Cost, err = gpu.NewCost(s.setup(p.Machine)); err != nil {
		return setupFaults(err)
	}
	if p.Ledger, faults = s.ledger(p.Machine); len(faults) > 0 {
		return faults
	}
	p.Config.NumGPUBlocks = p.Ledger.Blocks()
	p.settleRunning()
	p.Config.AllowLivelock = s.Run.AllowLivelock
	return keyedFaults("engine", p.Config.Check())
}

// causes returns those of faults that are about what was given; if there are none,
// all of them. A default that follows from a wrong option is wrong only for that.
func (p *Plan) causes(faults []strict.Fault) []strict.Fault {
	given := slices.DeleteFunc(slices.Clone(faults), func(f strict.Fault) bool { return !p.document.given(f.Key) })
	if len(given) > 0 {
		return given
	}
	return faults
}

// setupFaults makes faults of the errors of a cost model, each of the key that
// gave the field at fault.
func setupFaults(err error) []strict.Fault {
	keys := map[string]string{
		"TP": "hardware.tensor_parallel_size", "Weights": "model.dtype", "KV": "model.kv_cache_dtype", "Engine": "host.engine",
		"Host.Base": "host.base", "Host.PerSeq": "host.per_seq", "Host.PerPromptToken": "host.per_prompt_token", "Host.MixedStep": "host.mixed_step",
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var faults []strict.Fault
		for _, e := range joined.Unwrap() {
			faults = append(faults, setupFaults(e)...)
		}
		return faults
	}
	var f *gpu.SetupFault
	if errors.As(err, &f) {
		return []strict.Fault{{Key: keys[f.Field], Text: f.Error()}}
	}
	return []strict.Fault{{Key: "hardware", Text: err.Error()}}
}

// defaultRequest is the time from a client's call to the scheduler: client, HTTP
// and tokenisation. It's the round figure of the engine that nobody calibrated
// (engine generic of the profiles, request_s), the same on every GPU: what
// request_s says for the others was fitted for each GPU and holds other things of
// those runs too, so that it would tell GPUs apart where they don't differ.
const defaultRequest = 10 * sim.Millisecond

// settleNetwork gives absent delays their defaults.
func (p *Plan) settleNetwork() []strict.Fault {
	n := &p.Scenario.Network
	constant := func(d sim.Duration) *workload.DelaySpec {
		return &workload.DelaySpec{Dist: "constant", Value: &d}
	}
	if n.Response == nil {
		n.Response = constant(0)
	}
	if n.Request == nil {
		n.Request = constant(defaultRequest)
	}
	faults := specFaults("", n.Request.Check("network.request"))
	faults = append(faults, specFaults("", n.Response.Check("network.response"))...)
	if len(faults) > 0 {
		return faults
	}
	var bad, worse error
	p.Request, bad = n.Request.Delay()
	p.Response, worse = n.Response.Delay()
	return specFaults("network", compact(bad, worse))
}

// checkTimes checks the durations that the sections client and run give.
func (s *Scenario) checkTimes() []strict.Fault {
	var faults []strict.Fault
	for _, t := range []struct {
		key string
		d   *sim.Duration
	}{{"client.timeout", s.Client.Timeout}, {"run.horizon", s.Run.Horizon}} {
		if t.d != nil && *t.d <= 0 {
			faults = append(faults, strict.Fault{Key: t.key, Text: fmt.Sprintf("found %v; must be more than 0s, or absent for none", *t.d)})
		}
	}
	if s.Run.AllowLivelock && s.Run.Horizon == nil {
		faults = append(faults, strict.Fault{Key: "run.allow_livelock", Text: "a request that can never fit would wait for ever; set run.horizon too"})
	}
	return faults
}

// keyedFaults makes faults of joined errors that begin with a key of section.
func keyedFaults(section string, err error) []strict.Fault {
	if err == nil {
		return nil
	}
	faults := FaultsOf(section, err)
	for i, f := range faults {
		if key, text, ok := strings.Cut(f.Text, ": "); ok && !strings.Contains(key, " ") {
			faults[i].Key, faults[i].Text = section+"."+key, text
		}
	}
	return faults
}

// specFaults makes faults of the errors of a workload's check, whose keys are
// below section.
func specFaults(section string, errs []error) []strict.Fault {
	var faults []strict.Fault
	for _, err := range errs {
		var f *workload.SpecFault
		if errors.As(err, &f) {
			faults = append(faults, strict.Fault{Key: strings.TrimPrefix(section+"."+f.Key, "."), Text: f.Problem})
		} else {
			faults = append(faults, strict.Fault{Key: section, Text: err.Error()})
		}
	}
	return faults
}

// compact returns those of errs that aren't nil.
func compact(errs ...error) []error {
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
