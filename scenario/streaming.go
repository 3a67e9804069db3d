package scenario

import (
	"fmt"

	"servesim/analysis/transcript"
	"servesim/internal/strict"
	"servesim/sim"
	"servesim/sim/workload"
)

// Streaming returns how the server of p cuts answers into chunks.
func (p *Plan) Streaming() transcript.Streaming {
	s := &p.Scenario.Streaming
	return transcript.Streaming{
		Interval: value(s.StreamInterval), Coalesce: value(s.Coalesce), Role: s.RoleChunk,
		Finish: s.FinishChunk, Usage: s.UsageChunk, DoneDelay: value(s.DoneDelay),
	}
}

// check returns the faults of the keys of s.
func (s *StreamingSection) check() []strict.Fault {
	var faults []strict.Fault
	if n := s.StreamInterval; n != nil && *n < 1 {
		faults = append(faults, strict.Fault{Key: "streaming.stream_interval", Text: fmt.Sprintf("found %d; a chunk has 1 token or more", *n)})
	}
	for _, t := range []struct {
		key string
		d   *sim.Duration
	}{{"streaming.coalesce", s.Coalesce}, {"streaming.done_delay", s.DoneDelay}} {
		if t.d != nil && (*t.d < 0 || *t.d > workload.MaxDelay) {
			faults = append(faults, strict.Fault{Key: t.key, Text: fmt.Sprintf("found %v; must be from 0s to %v", *t.d, workload.MaxDelay)})
		}
	}
	return faults
}
