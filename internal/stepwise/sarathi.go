package stepwise

import (
	"cmp"
	"math"
	"slices"

	"servesim/sim/scheduler"
)

// sarathi is the family of schedulers of the sarathi-serve repository.
type sarathi struct {
	core
	decodeTurn bool
}

// lastLeft is what a request that a step preempted had left of its prompt.
type lastLeft map[*request]int

func (s *sarathi) fits(*request) string { return "" }

func (s *sarathi) add(q *request) { s.waiting = append(s.waiting, q) }

func (s *sarathi) plan() plan {
	var p plan
	slices.SortFunc(s.running, func(a, b *request) int { return cmp.Compare(a.rank, b.rank) })
	left := lastLeft{}
	tokens := 0
	switch s.Policy {
	case scheduler.Sarathi:
		s.decodes(&p, &tokens, left)
		s.chunks(&p, &tokens)
		s.admit(&p, tokens, left)
	case scheduler.Orca:
		s.decodes(&p, &tokens, left)
		s.admit(&p, 0, left)
	case scheduler.Static:
		if len(s.running) == 0 {
			s.admit(&p, 0, left)
		} else {
			s.decodes(&p, &tokens, left)
		}
	case scheduler.PrefillFirst:
		if s.admit(&p, 0, left); len(p.items)+len(p.dropped) == 0 {
			s.decodes(&p, &tokens, left)
		}
	case scheduler.SimpleChunking:
		s.turns(&p, left)
	}
	switch {
	case len(s.waiting) == 0:
		p.held = scheduler.NotHeld
	case len(p.preempted) > 0:
		p.held = scheduler.HeldBlocks
	default:
		p.hold(scheduler.HeldOrder)
	}
	// In the batch prompts stand before decodes.
	slices.SortStableFunc(p.items, func(a, b item) int {
		switch {
		case a.decode == b.decode:
			return 0
		case b.decode:
			return -1
		}
		return 1
	})
	return p
}

// turns gives prompts and decodes a step in turn.
func (s *sarathi) turns(p *plan, left lastLeft) {
	tokens := 0
	began := s.decodeTurn
	if !s.decodeTurn {
		if s.chunks(p, &tokens); len(p.items) == 0 {
			s.admit(p, 0, left)
		}
		if len(p.items) > 0 {
			s.decodeTurn = true
			return
		}
	}
	s.decodeTurn = false
	s.decodes(p, &tokens, left)
	p.again = began && len(p.items) == 0
}

// decodes gives each request whose prompt is done a token, if a block is free.
func (s *sarathi) decodes(p *plan, tokens *int, left lastLeft) {
	for i := 0; i < len(s.running); i++ {
		q := s.running[i]
		if !q.decoding {
			continue
		}
		if !s.reserves() && !s.room(p, q, left) {
			return
		}
		if !s.reserves() {
			s.take(q, q.known())
		}
		p.items = append(p.items, itemOf(q, 1))
		*tokens++
	}
}

// room preempts from the end of the running list until a block is free; false
// if q itself had to go.
func (s *sarathi) room(p *plan, q *request, left lastLeft) bool {
	for s.pool.Free() < 1 {
		last := s.running[len(s.running)-1]
		s.running = s.running[:len(s.running)-1]
		left[last] = 0
		if !last.decoding {
			left[last] = last.known() - last.computed
		}
		s.lose(p, last)
		s.waiting = slices.Insert(s.waiting, 0, last)
		if last == q {
			return false
		}
	}
	return true
}

// size returns the most tokens of a step for a prompt of which done are computed.
func (s *sarathi) size(done int) int {
	c := s.ChunkSchedule
	if c.Stages == 0 {
		return int(s.MaxNumBatchedTokens)
	}
	stage := done / int(math.Ceil(float64(c.MaxTokens)/float64(c.Stages)))
	stage = min(stage, int(c.Stages)-1)
	size := float64(c.LowChunkSize)
	if c.Stages > 1 {
		step := float64(c.HighChunkSize-c.LowChunkSize) / float64(c.Stages-1)
		size = math.Floor(float64(c.LowChunkSize) + float64(step*float64(int(c.Stages)-1-stage)) + 1e-9)
	}
	return int(math.RoundToEven(size/32)) * 32
}

// chunks serves the prompts that are not done.
func (s *sarathi) chunks(p *plan, tokens *int) {
	for _, q := range s.running {
		if q.decoding {
			continue
		}
		if n := min(q.known()-q.computed, s.size(q.computed)-*tokens); n > 0 {
			p.items = append(p.items, itemOf(q, n))
			*tokens += n
		}
	}
}

// reserves tells that a request takes blocks for max_model_len tokens.
func (s *sarathi) reserves() bool {
	return s.Policy == scheduler.Orca || s.Policy == scheduler.Static
}

// admit starts requests from the queue in a step of tokens.
func (s *sarathi) admit(p *plan, tokens int, left lastLeft) {
	for len(s.waiting) > 0 {
		q := s.waiting[0]
		if reason := s.hopeless(q); reason != "" {
			s.waiting = s.waiting[1:]
			p.dropped = append(p.dropped, drop{q, reason})
			continue
		}
		n := s.first(q, tokens, left)
		switch {
		case len(s.running) >= int(s.MaxNumSeqs):
			p.hold(scheduler.HeldSlots)
			return
		case n < 1:
			p.hold(scheduler.HeldBudget)
			return
		case s.pool.Free()-s.pool.Need(int64(s.tokensToHold(q))) < s.watermark():
			p.hold(scheduler.HeldBlocks)
			return
		}
		s.waiting = s.waiting[1:]
		s.running = append(s.running, q)
		s.take(q, s.tokensToHold(q))
		it := itemOf(q, n)
		it.admitted = true
		p.items = append(p.items, it)
		tokens += n
	}
}

// first returns the size of the first chunk of q, 0 or less if none fits.
func (s *sarathi) first(q *request, tokens int, left lastLeft) int {
	if !s.EnableChunkedPrefill {
		if tokens+q.known() > s.wholeBudget() {
			return 0
		}
		return q.known()
	}
	rest, done := q.known(), 0
	if l, ok := left[q]; ok {
		rest, done = l, q.known()-l
	}
	return min(rest, s.size(done)-tokens)
}

// wholeBudget returns the most tokens of whole prompts in a step.
func (s *sarathi) wholeBudget() int {
	if s.Policy == scheduler.PrefillFirst {
		return int(min(s.MaxNumBatchedTokens, s.MaxModelLen))
	}
	return math.MaxInt
}

// tokensToHold returns for how many tokens q takes blocks.
func (s *sarathi) tokensToHold(q *request) int {
	if s.reserves() {
		return int(s.MaxModelLen)
	}
	return q.known()
}

// hopeless returns why q can never be served, or "".
func (s *sarathi) hopeless(q *request) string {
	switch {
	case q.known() > int(s.MaxModelLen):
		return "prompt exceeds max_model_len"
	case s.AllowLivelock:
	case !s.EnableChunkedPrefill && q.known() > s.wholeBudget():
		return "prompt exceeds max_num_batched_tokens"
	case s.usable-s.pool.Need(int64(s.tokensToHold(q))) < s.watermark():
		return "prompt needs more KV blocks than the pool has"
	}
	return ""
}
