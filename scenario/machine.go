package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"servesim/internal/strict"
	"servesim/sim"
	"servesim/sim/gpu"
	"servesim/sim/scheduler"
)

// HostSection overrides what the host adds to each step. Absent keys have the
// profile's values for the engine.
type HostSection struct {
	// Engine names the constants of the profile that the host times and the
	// efficiencies come from.
	Engine         string        `toml:"engine"`
	Base           *sim.Duration `toml:"base"`
	PerSeq         *sim.Duration `toml:"per_seq"`
	PerPromptToken *sim.Duration `toml:"per_prompt_token"`
	MixedStep      *sim.Duration `toml:"mixed_step"`
}

// A Machine is what a scenario's hardware and model sections name.
type Machine struct {
	Profile *gpu.Profile
	Model   *gpu.Model
	Weights gpu.Format
	KV      gpu.Format
}

// settleMachine loads the profile and the model, and gives the absent keys of
// the sections about them their defaults.
func (s *Scenario) settleMachine(shelf *Shelf) (Machine, []strict.Fault) {
	var m Machine
	var faults []strict.Fault
	fault := func(key string, err error) {
		if err != nil {
			faults = append(faults, FaultsOf(key, err)...)
		}
	}
	missing := func(key, value, names string) bool {
		if value == "" {
			faults = append(faults, strict.Fault{Key: key, Text: "missing; give " + names})
		}
		return value == ""
	}
	var err error
	if !missing("hardware.gpu", s.Hardware.GPU, "one of "+strings.Join(gpu.ProfileNames(), ", ")+" or the path of a profile") {
		m.Profile, err = shelf.profile(s.Hardware.GPU)
		fault("hardware.gpu", err)
	}
	if !missing("model.name", s.Model.Name, "one of "+strings.Join(gpu.ModelNames(), ", ")+" or the path of a config.json") {
		m.Model, err = shelf.model(s.Model.Name)
		fault("model.name", err)
	}
	settle(&s.Hardware.TensorParallelSize, 1)
	if m.Model != nil && s.Model.Dtype == "" {
		if err := unmodelled(s.Model.Name, m.Model.WeightFormat); err != nil {
			fault("model.dtype", err)
			s.Model.Dtype = string(gpu.BF16)
		} else {
			s.Model.Dtype = cmp.Or(m.Model.WeightFormat, string(gpu.BF16))
		}
	}
	s.Model.Dtype = cmp.Or(s.Model.Dtype, string(gpu.BF16))
	m.Weights, err = gpu.ParseFormat(s.Model.Dtype)
	fault("model.dtype", err)
	s.Model.KVCacheDtype = cmp.Or(s.Model.KVCacheDtype, string(gpu.BF16))
	m.KV, err = gpu.ParseFormat(s.Model.KVCacheDtype)
	fault("model.kv_cache_dtype", err)
	if err == nil && m.KV != gpu.BF16 && m.KV != gpu.FP8 {
		fault("model.kv_cache_dtype", fmt.Errorf("found %q; the KV cache is bf16 or fp8", s.Model.KVCacheDtype))
	}
	if m.Profile == nil || m.Model == nil {
		s.Host.Engine = cmp.Or(s.Host.Engine, fittedVLLM)
		return m, faults
	}
	s.Host.Engine = cmp.Or(s.Host.Engine, s.Engine.fitted(m.Profile))
	return m, append(faults, s.settleHost(m.Profile)...)
}

// The engines of profiles that host times come from by default.
const (
	fittedVLLM   = "vllm"
	fittedTRTLLM = "trtllm"
)

// fitted returns the engine of profile p whose host times are those of e by default:
// TensorRT-LLM's for its versions, if it was fitted on this GPU, else vLLM's.
func (e *EngineSection) fitted(p *gpu.Profile) string {
	preset, err := scheduler.FindPreset(e.Policy)
	if _, ok := p.Engine[fittedTRTLLM]; ok && err == nil && preset.Config.OfTensorRTLLM() {
		return fittedTRTLLM
	}
	return fittedVLLM
}

// settleHost gives the absent host times the profile's values.
func (s *Scenario) settleHost(p *gpu.Profile) []strict.Fault {
	e, ok := p.Engine[s.Host.Engine]
	if !ok {
		names := sortedKeys(p.Engine)
		return []strict.Fault{{Key: "host.engine", Text: fmt.Sprintf("profile %s has no engine %q; %s", p.Name, s.Host.Engine, strict.Unlike(s.Host.Engine, names))}}
	}
	seconds := func(f float64) sim.Duration {
		d, _ := sim.FromSeconds(f) // the profile's own check bounds it
		return d
	}
	settle(&s.Host.Base, seconds(e.StepS))
	settle(&s.Host.PerSeq, seconds(e.SeqS))
	settle(&s.Host.PerPromptToken, seconds(e.PromptTokenS))
	return nil // an absent mixed_step is 0, with a caution if the fit has one
}

// device describes the machine to the defaults of an engine version.
func (s *Scenario) device(m Machine) scheduler.Device {
	return scheduler.Device{Name: m.Profile.Name, MemoryBytes: m.Profile.Datasheet.HBMBytes, GPUs: int32(*s.Hardware.TensorParallelSize)}
}

// Setup returns what the step times and the memory of p depend on.
func (p *Plan) Setup() gpu.Setup { return p.Scenario.setup(p.Machine) }

// setup returns what step times and memory depend on, of a settled scenario.
func (s *Scenario) setup(m Machine) gpu.Setup {
	none, eagerPrefill := s.Engine.graphs()
	return gpu.Setup{
		EnforceEager: none, EagerPrefill: eagerPrefill,
		Profile: m.Profile, Model: m.Model, TP: int(*s.Hardware.TensorParallelSize),
		EP: int(value(s.Hardware.ExpertParallelSize)), DPAttention: int(value(s.Hardware.DataParallelAttentionSize)),
		Weights: m.Weights, KV: m.KV, Engine: s.Host.Engine,
		Async: value(s.Engine.AsyncScheduling) || s.Engine.overlaps(),
		Host:  gpu.Host{Base: s.Host.Base, PerSeq: s.Host.PerSeq, PerPromptToken: s.Host.PerPromptToken, MixedStep: s.Host.MixedStep},
	}
}

// Layout settles what step times and memory depend on, under version p of the
// engine, and returns it or the faults of what is given of it. The other sections
// of s may be empty.
func (s *Scenario) Layout(p scheduler.Preset) (gpu.Setup, []strict.Fault) {
	s.Engine.Policy = p.Name
	m, faults := s.settleMachine(nil)
	if faults = append(faults, s.Engine.lacking(p)...); len(faults) > 0 {
		return gpu.Setup{}, faults
	}
	s.Engine.settle(p, s.device(m), int32(m.Model.MaxContextTokens))
	return s.setup(m), s.Engine.check(p)
}

// FaultsOf makes a fault of each of the errors that err joins. One that
// names the file it is about says enough about where.
func FaultsOf(key string, err error) []strict.Fault {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []strict.Fault{{Key: key, Text: err.Error()}}
	}
	var faults []strict.Fault
	for _, e := range joined.Unwrap() {
		faults = append(faults, FaultsOf(key, e)...)
	}
	return faults
}
