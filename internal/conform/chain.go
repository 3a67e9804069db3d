package conform

import (
	"encoding/json"
	"fmt"

	"servesim/sim/kv"
	"servesim/sim/scheduler"
)

// chains gives the prompts of v the hashes of their blocks, as far as c caches
// prefixes. Prompts of which only the length is recorded share the first tokens
// that their group has in common, others what tokens are the same; those that
// are generated are like no others.
func (v *Vector) chains(c scheduler.Config, seqs []scheduler.Seq) {
	if !c.EnablePrefixCaching {
		return
	}
	known := map[string]uint64{}
	hash := func(content string) uint64 {
		if known[content] == 0 {
			known[content] = uint64(len(known)) + 1
		}
		return known[content]
	}
	size := int(c.BlockSize)
	for i := range v.Requests {
		r := &v.Requests[i]
		alike := func(end int) string { return fmt.Sprint(r.Group, end) }
		covered := r.Shared
		var tokens []int64
		if json.Unmarshal(r.Prompt, &tokens) == nil {
			alike = func(end int) string { return fmt.Sprint(tokens[:end]) }
			covered = int32(len(tokens))
		}
		chain := kv.Chain{HashTokens: c.BlockSize, Covered: covered}
		for end := size; end <= int(covered); end += size {
			chain.Hashes = append(chain.Hashes, hash(alike(end)))
		}
		if len(chain.Hashes) == 0 { // a prompt of its own
			n := seqs[i].Prompt
			chain = kv.Chain{Hashes: []uint64{hash("own " + r.ID)}, HashTokens: n, Covered: n}
		}
		seqs[i].Prefix = chain
	}
}
