package stepwise

import (
	"cmp"
	"slices"

	"servesim/sim/kv"
	"servesim/sim/scheduler"
)

// blockTable is the KV blocks that a sequence holds.
type blockTable = []kv.BlockID

// item is one sequence's part of a step.
type item struct {
	r             *request
	start, tokens int
	decode        bool // one token of a sequence whose prompt is done
	last          bool // the chunk completes the prompt
	ghost         bool // the sequence was preempted after it got this
	lostDecode    bool // it is a ghost, and was a decode
	admitted      bool // a decode has none; a chunk is its first since it waited
}

// plan is one step.
type plan struct {
	items     []item
	preempted []*request
	takenBack []*request // of these, those that lose the token of the step under way
	dropped   []drop
	held      scheduler.Held // why the head of the queue waits
	again     bool           // it is empty, but the next may not be
}

// hold says why the head of the queue waits, unless something did before.
func (p *plan) hold(why scheduler.Held) {
	if p.held == scheduler.NotHeld {
		p.held = why
	}
}

// drop is a request that can never be served, and why.
type drop struct {
	r      *request
	reason string
}

// policy is a policy written out plainly.
type policy interface {
	fits(q *request) string
	add(q *request)
	remove(q *request)
	plan() plan
	see()
	counts() (running, waiting int)
	used() int64
}

// newPolicy returns the plain form of the policy that c describes.
func newPolicy(c scheduler.Config) policy {
	core := core{Config: c}
	if c.Policy == scheduler.VLLMV0 {
		core.pool = kv.NewBlocks(c.NumGPUBlocks, int64(c.BlockSize), false, kv.Append)
		core.usable = c.NumGPUBlocks
		return &v0{core: core, cpu: c.NumCPUBlocks}
	}
	if c.Policy == scheduler.SGLang {
		return newSGLang(c)
	}
	if c.OfSarathiServe() {
		core.pool = kv.NewBlocks(c.NumGPUBlocks, int64(c.BlockSize), false, kv.Append)
		core.usable = c.NumGPUBlocks
		return &sarathi{core: core}
	}
	if c.OfTensorRTLLM() {
		core.pool = kv.NewBlocks(c.NumGPUBlocks, int64(c.BlockSize), false, kv.Append)
		core.usable = c.NumGPUBlocks
		return &trtllm{core}
	}
	order := kv.Append
	if c.EnablePrefixCaching {
		core.cache = newCache()
		if c.UncachedFirst {
			order = kv.UncachedFirst
		}
	}
	core.pool = kv.NewBlocks(c.NumGPUBlocks, int64(c.BlockSize), true, order)
	core.usable = c.NumGPUBlocks - 1
	return &v1{core}
}

// core is what both policies hold.
type core struct {
	scheduler.Config
	pool             *kv.Blocks
	cache            *cache // nil without prefix caching
	usable           int64
	running, waiting []*request
}

func (c *core) counts() (running, waiting int) { return len(c.running), len(c.waiting) }

func (c *core) used() int64 { return c.usable - c.pool.Free() }

// watermark is the number of blocks that an admission leaves free.
func (c *core) watermark() int64 { return int64(float64(c.NumGPUBlocks) * c.Watermark) }

// urgent tells that a runs before b under the priority policy.
func urgent(a, b *request) bool {
	if a.rec.Priority != b.rec.Priority {
		return a.rec.Priority < b.rec.Priority
	}
	return a.rank < b.rank
}

// byUrgency sorts the most urgent first.
func byUrgency(list []*request) {
	slices.SortStableFunc(list, func(a, b *request) int {
		if c := cmp.Compare(a.rec.Priority, b.rec.Priority); c != 0 {
			return c
		}
		return cmp.Compare(a.rank, b.rank)
	})
}

// take gives q blocks for tokens tokens in all; false if there are too few.
func (c *core) take(q *request, tokens int) bool {
	need := c.pool.Need(int64(tokens)) - int64(len(q.blocks))
	if need <= 0 {
		return true
	}
	held := len(q.blocks)
	var ok bool
	q.blocks, ok = c.pool.Take(q.blocks, need)
	c.unregister(q.blocks[held:])
	return ok
}

// release frees the blocks of q.
func (c *core) release(q *request) {
	if err := c.pool.Release(q.blocks); err != nil {
		panic(err) // a fault of this package, which tests would show
	}
	q.blocks, q.hashed = nil, 0
}

// remove takes q out, wherever it is.
func (c *core) remove(q *request) {
	c.release(q)
	c.running = without(c.running, q)
	c.waiting = without(c.waiting, q)
}

// without returns list without q.
func without(list []*request, q *request) []*request {
	if i := slices.Index(list, q); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// lose makes q, which is preempted, forget what it computed.
func (c *core) lose(p *plan, q *request) {
	c.release(q)
	q.forget()
	if c.Regenerate {
		q.limit = q.emitted + int(q.rec.Wanted)
	}
	p.preempted = append(p.preempted, q)
}

// forget makes q, which has lost its KV, compute all again.
func (q *request) forget() {
	q.reached = max(q.reached, q.computed)
	q.computed, q.decoding = 0, false
}

// itemOf returns the part of n tokens of q.
func itemOf(q *request, n int) item {
	return item{r: q, start: q.computed, tokens: n, decode: q.decoding, last: !q.decoding && q.computed+n == q.known()}
}
