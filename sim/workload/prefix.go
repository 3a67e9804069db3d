package workload

import (
	"math/bits"
	"math/rand/v2"

	"servesim/sim"
)

// Prefixes says what the prompts of requests have in common of which their source
// tells lengths alone.
type Prefixes struct {
	// SystemTokens is the number of tokens with which all prompts of a class begin,
	// as far as they are that long.
	SystemTokens int32
	// SystemPrompts is the number of such beginnings that each class has; a session,
	// or a request of none, has any of them, each as likely.
	SystemPrompts int64
	// Sessions tells that each prompt of a session goes on where the one before it
	// ended, as far as it is longer. Of a Reactive source, whose sessions wait for
	// their answers, it begins with the answer before it too.
	Sessions bool
}

// streamTokens is the number of tokens that a hash of a session covers.
const streamTokens = 1024

// SharePrefixes returns src with the hashes of what its prompts have in common. The
// result is Reactive if src is. A request that has hashes of its own is a
// *TransformFault.
func SharePrefixes(src Source, p Prefixes, seed sim.Seed) Source {
	s := sharePrefixes{stage: stage{src: src}, is: p, draws: seed.Family("prefix")}
	if src, ok := src.(Reactive); ok {
		s.waits = true
		return &reactivePrefixes{s, src}
	}
	return &s
}

type sharePrefixes struct {
	stage
	is     Prefixes
	draws  sim.Family
	waits  bool // turns of a session wait for the one before
	src    rand.PCG
	hashes []uint64
}

// Next implements Source.
func (s *sharePrefixes) Next() (Request, error) {
	r, err := s.read()
	if err != nil {
		return r, err
	}
	if len(r.Blocks) > 0 {
		s.end = transformFault("prefix", "request %d has prefix hashes of its own, which say what its prompt begins with; take workload.prefix out", r.ID)
		return Request{}, s.end
	}
	s.share(&r)
	return r, nil
}

// Counts implements Counted.
func (s *sharePrefixes) Counts() []Count { return CountsOf(s.stage.src) }

// share gives r its hashes. They last until the next call.
func (s *sharePrefixes) share(r *Request) {
	s.hashes = s.hashes[:0]
	lead, tokens := uint64(0), int64(r.Prompt)
	if s.is.SystemTokens > 0 {
		lead = nameHash(r.Class)
		if s.is.SystemPrompts > 1 {
			lead = saltHash(lead, s.kind(r))
		}
		s.hashes = append(s.hashes, saltHash(lead, 1))
		r.LeadTokens = min(s.is.SystemTokens, r.Prompt) // an answer is never part of it
	}
	if s.is.Sessions && r.Session != 0 {
		if r.Continued = s.waits; r.Continued {
			tokens += int64(r.Output)
		}
		session := saltHash(saltHash(uint64(r.Session), lead), 2)
		for at := int64(r.LeadTokens); at < tokens; at += streamTokens {
			s.hashes = append(s.hashes, saltHash(session, uint64(at)))
		}
	}
	r.Blocks, r.BlockTokens = s.hashes, streamTokens
}

// kind draws which system prompt r has.
func (s *sharePrefixes) kind(r *Request) uint64 {
	key := saltHash(uint64(r.ID), 0)
	if r.Session != 0 {
		key = saltHash(uint64(r.Session), 1)
	}
	s.draws.Reset(&s.src, key)
	hi, _ := bits.Mul64(s.src.Uint64(), uint64(s.is.SystemPrompts))
	return hi
}

// nameHash is the 64-bit FNV-1a hash of a class.
func nameHash(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return h
}

type reactivePrefixes struct {
	sharePrefixes
	from Reactive
}

// Done implements Reactive.
func (s *reactivePrefixes) Done(id int64, t sim.Time) (Request, bool) {
	r, ok := s.from.Done(id, t)
	if ok {
		s.share(&r)
	}
	return r, ok
}
