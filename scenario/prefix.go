package scenario

import (
	"fmt"
	"math"

	"servesim/analysis"
	"servesim/internal/strict"
	"servesim/sim"
	"servesim/sim/workload"
)

// PrefixSection says what prompts have in common of which the workload tells
// lengths alone.
type PrefixSection struct {
	// SystemTokens is the number of tokens with which all prompts of a class begin.
	SystemTokens *int64 `toml:"system_tokens"`
	// SystemPrompts is the number of such beginnings that a class has.
	SystemPrompts *int64 `toml:"system_prompts"`
	// Sessions tells that the prompts of a session grow.
	Sessions bool `toml:"sessions"`
}

// check returns the faults of what is declared.
func (p *PrefixSection) check() []strict.Fault {
	if p == nil {
		return nil
	}
	var faults []strict.Fault
	fault := func(key, format string, args ...any) {
		faults = append(faults, strict.Fault{Key: "workload.prefix" + key, Text: fmt.Sprintf(format, args...)})
	}
	if n := p.SystemTokens; n != nil && (*n < 1 || *n > math.MaxInt32) {
		fault(".system_tokens", "found %d; must be from 1 to %d tokens", *n, math.MaxInt32)
	}
	switch n := p.SystemPrompts; {
	case n != nil && p.SystemTokens == nil:
		fault(".system_prompts", "says how many beginnings there are, but not how long they are; give system_tokens, or take the line out")
	case n != nil && *n < 1:
		fault(".system_prompts", "found %d; must be at least 1", *n)
	}
	if p.SystemTokens == nil && !p.Sessions {
		fault("", "says nothing; give system_tokens, sessions = true or both")
	}
	return faults
}

// shared returns src with what its prompts have in common.
func (p *PrefixSection) shared(src workload.Source, seed sim.Seed) workload.Source {
	if p == nil {
		return src
	}
	prompts := int64(1)
	adopt(&prompts, p.SystemPrompts)
	return workload.SharePrefixes(src, workload.Prefixes{
		SystemTokens: int32(value(p.SystemTokens)), SystemPrompts: prompts, Sessions: p.Sessions}, seed)
}

// String says what prompts have in common.
func (p *PrefixSection) String() string {
	text := ""
	if n := p.SystemTokens; n != nil {
		text = "a class's prompts begin with the same " + analysis.Counted(*n, "token")
		if k := value(p.SystemPrompts); k > 1 {
			text += fmt.Sprintf(", %s kinds of them", analysis.Grouped(k))
		}
	}
	if p.Sessions {
		if text != "" {
			text += "; "
		}
		text += "a session's prompts go on where the one before ended"
	}
	return text + " (declared)"
}
