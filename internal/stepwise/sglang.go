package stepwise

import (
	"cmp"
	"slices"

	"servesim/sim/scheduler"
)

// sgRequest is a request as SGLang's scheduler sees it: with overlap a step late.
type sgRequest struct {
	q      *request
	out    int // tokens that it knows of
	slots  int // tokens of memory: those of the tree that it locks, and its own
	kept   int // of these, those of the tree
	node   *branch
	filled int  // tokens that its last batch of prompts knew
	over   bool // it has ended
	gone   bool // its results are discarded
}

func (x *sgRequest) length() int { return int(x.q.rec.Prompt) + x.out }
func (x *sgRequest) wanted() int { return x.q.limit }

// sgEntry is the part of a request in a batch.
type sgEntry struct {
	x      *sgRequest
	decode bool
	last   bool // of its prompt
}

// sglang is SGLang's scheduler.
type sglang struct {
	scheduler.Config
	total, avail  int
	tree          *radix
	ratio         float64
	queue         []*sgRequest
	batch         []*sgRequest // the running batch, with those that ended and are still there
	full          bool
	why           scheduler.Held
	previous      []*sgRequest // the last batch, if it had prompts
	chunked       *sgRequest
	results       [][]sgEntry // to be processed
	launched      bool        // a batch, in this turn
	requests      map[*request]*sgRequest
	input, chunk  int
	reserved      float64
	taken, joined int
}

func newSGLang(c scheduler.Config) *sglang {
	s := &sglang{Config: c, total: int(c.NumGPUBlocks), avail: int(c.NumGPUBlocks), requests: map[*request]*sgRequest{}}
	if c.EnablePrefixCaching {
		s.tree = &radix{}
	}
	s.ratio = s.ratioInit()
	return s
}

func (s *sglang) ratioInit() float64 { return min(float64(0.7*s.ScheduleConservativeness), 1) }
func (s *sglang) ratioMin() float64  { return float64(s.ratioInit() * 0.14) }

// spare is the memory that can be had.
func (s *sglang) spare() int {
	if s.tree == nil {
		return s.avail
	}
	return s.avail + s.tree.evictable()
}

func (s *sglang) makeRoom(n int) bool {
	if s.tree != nil && s.avail < n {
		s.avail += s.tree.evict(n)
	}
	return s.avail >= n
}

func (s *sglang) fits(q *request) string {
	if int(q.rec.Prompt) >= s.total-6 {
		return "prompt leaves no room for output within the KV cache"
	}
	return ""
}

func (s *sglang) add(q *request) {
	x := &sgRequest{q: q}
	s.requests[q] = x
	s.queue = append(s.queue, x)
}

// remove takes out q, whose client has given up.
func (s *sglang) remove(q *request) {
	x := s.requests[q]
	if x == nil || q.ended {
		return // it leaves when its last result is processed
	}
	delete(s.requests, q)
	if i := slices.Index(s.queue, x); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
		return
	}
	if x == s.chunked {
		s.chunked = nil
	}
	x.gone = true
	s.finish(x)
}

// finish ends x, which stays in the batches that it is in.
func (s *sglang) finish(x *sgRequest) {
	x.over = true
	if s.tree == nil {
		s.avail += x.slots
		return
	}
	n := x.slots
	if !s.CachesOutput {
		n = min(n, x.filled)
	}
	_, had := s.tree.insert(x.q.tokens(n))
	s.avail += had - x.kept + x.slots - n
	x.node.lock(-1)
}

// keep puts the first n tokens of x into the tree.
func (s *sglang) keep(x *sgRequest, n int) {
	if s.tree == nil {
		return
	}
	node, had := s.tree.insert(x.q.tokens(n))
	s.avail += had - x.kept
	x.node.lock(-1)
	node.lock(1)
	x.node, x.kept = node, n
}

func (s *sglang) counts() (running, waiting int) {
	seen := map[*sgRequest]bool{}
	for _, list := range [][]*sgRequest{s.batch, s.previous, {s.chunked}} {
		for _, x := range list {
			if x != nil && !x.over {
				seen[x] = true
			}
		}
	}
	return len(seen), len(s.queue)
}

func (s *sglang) used() int64 { return int64(s.total - s.spare()) }

// see ends a turn: it processes the results of the batch that it formed, or with
// overlap of the one before. A turn without a batch processes what is left; if
// nothing is, it resets the ratio.
func (s *sglang) see() {
	launched := s.launched
	s.launched = false
	switch n := len(s.results); {
	case n == 0:
		s.ratio = s.ratioInit()
		return
	case launched && s.AsyncScheduling && n == 1:
		return
	}
	for _, e := range s.results[0] {
		if x := e.x; !x.gone && !x.over && (e.decode || e.last) {
			s.process(x, e.decode)
		}
	}
	s.results = s.results[1:]
}

// process takes in a token of x.
func (s *sglang) process(x *sgRequest, decode bool) {
	switch x.out++; {
	case x.out == x.wanted():
		s.finish(x)
		delete(s.requests, x.q)
	case !decode:
		s.keep(x, x.filled)
	}
}

func live(list []*sgRequest) []*sgRequest {
	return slices.DeleteFunc(slices.Clone(list), func(x *sgRequest) bool { return x.over })
}

func (s *sglang) plan() plan {
	var p plan
	held := s.turn(&p)
	switch {
	case len(s.queue) == 0:
	case len(p.preempted) > 0:
		p.held = scheduler.HeldBlocks
	case len(p.items) == 0 || held == scheduler.NotHeld:
		p.held = scheduler.HeldOrder
	default:
		p.held = held
		if running, _ := s.counts(); held == scheduler.HeldSlots && running < int(s.MaxNumSeqs) {
			p.held = scheduler.HeldOrder
		}
	}
	p.again = len(p.items) == 0 && len(s.queue) > 0
	return p
}

// turn forms the next batch and returns why the head of the queue is not in it.
func (s *sglang) turn(p *plan) scheduler.Held {
	if s.chunked != nil {
		s.keep(s.chunked, s.chunked.filled)
	}
	if s.previous != nil {
		rest := slices.DeleteFunc(slices.Clone(s.previous), func(x *sgRequest) bool { return x.over || x == s.chunked })
		if len(rest) < len(s.previous) {
			s.full = false
		}
		if len(rest) > 0 && len(s.batch) == 0 {
			s.full = false
		}
		s.batch = append(slices.Clone(s.batch), rest...)
		s.previous = nil
	}
	held := scheduler.NotHeld
	if s.full {
		held = s.why
	}
	if s.prompts(p, &held) {
		return held
	}
	before := len(s.batch)
	if s.batch = live(s.batch); len(s.batch) == 0 {
		s.full = false
		return held
	}
	if s.makeRoom(len(s.batch)) {
		s.ratio = max(s.ratio-(s.ratioInit()-s.ratioMin())/600, s.ratioMin())
	} else {
		s.retract(p)
	}
	if len(s.batch) < before {
		s.full = false
	}
	s.decode(p, s.batch)
	s.launch(p)
	return held
}

// launch notes what is to be processed of p.
func (s *sglang) launch(p *plan) {
	s.launched = true
	var list []sgEntry
	for _, it := range p.items {
		list = append(list, sgEntry{s.requests[it.r], it.decode, it.last})
	}
	s.results = append(s.results, list)
}

// unprocessed tells that a token of x has been made and not been processed.
func (s *sglang) unprocessed(x *sgRequest) bool {
	for _, list := range s.results {
		if slices.ContainsFunc(list, func(e sgEntry) bool { return e.x == x && (e.decode || e.last) }) {
			return true
		}
	}
	return false
}

// decode gives each of list one token.
func (s *sglang) decode(p *plan, list []*sgRequest) {
	s.makeRoom(len(list))
	s.avail -= len(list)
	for _, x := range list {
		x.slots++
		p.items = append(p.items, item{r: x.q, tokens: 1, decode: true, start: -1})
	}
}

// retract sends requests back to the queue until the others have room.
func (s *sglang) retract(p *plan) {
	slices.SortStableFunc(s.batch, func(a, b *sgRequest) int {
		return cmp.Or(cmp.Compare(b.out, a.out), cmp.Compare(a.q.rec.Prompt, b.q.rec.Prompt))
	})
	for first := true; len(s.batch) > 1 && (first || !s.makeRoom(len(s.batch))); first = false {
		x := s.batch[len(s.batch)-1]
		s.batch = s.batch[:len(s.batch)-1]
		s.avail += x.slots - x.kept
		x.node.lock(-1)
		if s.unprocessed(x) {
			p.takenBack = append(p.takenBack, x.q)
		}
		y := &sgRequest{q: x.q, out: x.out}
		x.gone = true
		s.requests[x.q] = y
		s.queue = append(s.queue, y)
		p.preempted = append(p.preempted, x.q)
		s.makeRoom(20 * len(s.batch))
	}
	out, wanted := 0, 0
	for _, x := range s.batch {
		out, wanted = out+x.out, wanted+x.wanted()
	}
	s.ratio = min(1, float64(out+20*len(s.batch))/float64(wanted+1))
}
