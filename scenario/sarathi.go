package scenario

import (
	"fmt"

	"servesim/internal/strict"
	"servesim/sim/scheduler"
)

// SarathiOptions are those of sarathi-serve alone, under its own names; its
// chunk_size is max_num_batched_tokens here.
type SarathiOptions struct {
	// RegeneratePreempted makes a preempted request generate its whole output
	// once more, as the repository does.
	RegeneratePreempted *bool `toml:"regenerate_preempted"`
	// EnableDynamicChunkingSchedule lets chunks shrink as a prompt proceeds, as
	// the other four say.
	EnableDynamicChunkingSchedule *bool  `toml:"enable_dynamic_chunking_schedule"`
	LowChunkSize                  *int32 `toml:"low_chunk_size"`
	HighChunkSize                 *int32 `toml:"high_chunk_size"`
	ChunkScheduleMaxTokens        *int32 `toml:"chunk_schedule_max_tokens"`
	ChunkScheduleStages           *int32 `toml:"chunk_schedule_stages"`
}

// settle gives the absent options of version p their defaults.
func (o *SarathiOptions) settle(p scheduler.Preset) {
	switch p.Config.Policy {
	case scheduler.Sarathi, scheduler.PrefillFirst, scheduler.SimpleChunking:
		settle(&o.RegeneratePreempted, p.Config.Regenerate)
	}
	if p.Config.Policy == scheduler.Sarathi {
		settle(&o.EnableDynamicChunkingSchedule, false)
	}
}

// sizes lists the options of a chunk schedule.
func (o *SarathiOptions) sizes() map[string]*int32 {
	return map[string]*int32{
		"low_chunk_size": o.LowChunkSize, "high_chunk_size": o.HighChunkSize,
		"chunk_schedule_max_tokens": o.ChunkScheduleMaxTokens, "chunk_schedule_stages": o.ChunkScheduleStages,
	}
}

// faults returns a fault for each option that version p doesn't have, or that
// has no effect or is missing beside the others.
func (o *SarathiOptions) faults(p scheduler.Preset) []strict.Fault {
	var faults []strict.Fault
	fault := func(option, format string, args ...any) {
		faults = append(faults, strict.Fault{Key: "engine." + option, Text: fmt.Sprintf(format, args...)})
	}
	preempts := p.Config.OfSarathiServe() && !p.Config.ReservesModelLen()
	if o.RegeneratePreempted != nil && !preempts {
		fault("regenerate_preempted", "%s has no such option; versions with it are %s; take the line out", p.Name,
			versionsWith(func(p scheduler.Preset) bool { return p.Config.OfSarathiServe() && !p.Config.ReservesModelLen() }))
	}
	dynamic := value(o.EnableDynamicChunkingSchedule)
	sarathi := p.Config.Policy == scheduler.Sarathi
	if o.EnableDynamicChunkingSchedule != nil && !sarathi {
		fault("enable_dynamic_chunking_schedule", "%s has no such option; sarathi-serve@2026-01 has; take the line out", p.Name)
	}
	for _, key := range []string{"low_chunk_size", "high_chunk_size", "chunk_schedule_max_tokens", "chunk_schedule_stages"} {
		switch size := o.sizes()[key]; {
		case size != nil && !(sarathi && dynamic):
			fault(key, "found %d; it has no effect without enable_dynamic_chunking_schedule of sarathi-serve@2026-01; take the line out", *size)
		case size == nil && sarathi && dynamic:
			fault(key, "missing; enable_dynamic_chunking_schedule needs it")
		}
	}
	return faults
}

// adopt copies the options into c.
func (o *SarathiOptions) adopt(c *scheduler.Config) {
	adopt(&c.Regenerate, o.RegeneratePreempted)
	adopt(&c.ChunkSchedule.LowChunkSize, o.LowChunkSize)
	adopt(&c.ChunkSchedule.HighChunkSize, o.HighChunkSize)
	adopt(&c.ChunkSchedule.MaxTokens, o.ChunkScheduleMaxTokens)
	adopt(&c.ChunkSchedule.Stages, o.ChunkScheduleStages)
}
