package workload

import (
	"errors"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
)

// alike returns how many tokens, from the first, the hashes of a and b say are the same.
func alike(a, b *Request) int32 {
	n := 0
	for n < min(len(a.Blocks), len(b.Blocks)) && a.Blocks[n] == b.Blocks[n] {
		n++
	}
	tokens := int32(n) * a.BlockTokens
	if n > 0 && a.LeadTokens > 0 {
		tokens += min(a.LeadTokens, b.LeadTokens) - a.BlockTokens
	}
	return min(tokens, a.Covered(), b.Covered())
}

// TestSharedPrefixes holds what two requests have in common against what was declared.
func TestSharedPrefixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawRequests(t, 10)
		p := Prefixes{SystemTokens: rapid.SampledFrom([]int32{0, 1, 900, 3000}).Draw(t, "system tokens"),
			SystemPrompts: rapid.Int64Range(1, 3).Draw(t, "system prompts"), Sessions: rapid.Bool().Draw(t, "sessions")}
		for i := range all {
			all[i].Blocks, all[i].BlockTokens = nil, 0
		}
		src := SharePrefixes(&list{all: all}, p, 1)
		var got []Request
		for {
			r, err := src.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			r.Blocks = slices.Clone(r.Blocks)
			got = append(got, r)
		}
		for i := range got {
			for j := range i {
				a, b := &got[j], &got[i]
				most := min(a.Prompt, b.Prompt)
				system := min(p.SystemTokens, most)
				same := a.Session != 0 && a.Session == b.Session
				switch n := alike(a, b); {
				case p.Sessions && same && (a.Class == b.Class || p.SystemTokens == 0):
					if n != most {
						t.Fatalf("a session's prompts of %d and %d tokens have %d alike", a.Prompt, b.Prompt, n)
					}
				case a.Class == b.Class && p.SystemPrompts == 1:
					if n != system {
						t.Fatalf("prompts of %d and %d tokens have %d alike, want %d", a.Prompt, b.Prompt, n, system)
					}
				case n != 0 && n != system || n != 0 && a.Class != b.Class && p.SystemTokens > 0:
					t.Fatalf("prompts of classes %q and %q have %d tokens alike", a.Class, b.Class, n)
				}
			}
		}
	})
}

func TestPrefixesOfHashedRequests(t *testing.T) {
	src := SharePrefixes(&list{all: []Request{{Prompt: 9, Output: 1, Blocks: []uint64{4}, BlockTokens: 9}}}, Prefixes{SystemTokens: 3}, 1)
	_, err := src.Next()
	var f *TransformFault
	if !errors.As(err, &f) || f.Error() != "prefix: request 0 has prefix hashes of its own, which say what its prompt begins with; take workload.prefix out" {
		t.Errorf("Next returns %v", err)
	}
}

// TestTurnsOfAClosedLoop: the prompt after an answer begins with both.
func TestTurnsOfAClosedLoop(t *testing.T) {
	src := SharePrefixes(&loop{list{all: []Request{{Session: 1, Prompt: 60, Output: 30}}}}, Prefixes{Sessions: true}, 1).(Reactive)
	first, err := src.Next()
	if err != nil {
		t.Fatal(err)
	}
	first.Blocks = slices.Clone(first.Blocks)
	next, ok := src.Done(0, sim.Time(sim.Second))
	next.Session = 1 // which this loop does not tell
	if !ok || !first.Continued || first.Covered() != 90 {
		t.Errorf("%+v covers %d tokens, %v", first, first.Covered(), ok)
	}
}
