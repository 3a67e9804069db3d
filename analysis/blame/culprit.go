package blame

import (
	"math/bits"
	"slices"

	"servesim/sim"
	"servesim/sim/observe"
)

// Culprit is a request whose prompt cost others time, each sum at most the 106 days
// that can be counted.
type Culprit struct {
	ID     int64
	Prompt int32
	// Decode is the time that it cost others between their tokens: by making
	// steps longer (DecodeSlowed) and by steps that made them none (Stalled).
	Decode sim.Duration
	// Wait is the time that it cost others before their first token, or while they
	// came back from a preemption (Behind and PrefillSlowed).
	Wait sim.Duration
}

// Length is the prompts of a range of lengths, and what they cost others.
type Length struct {
	// From and Below bound the prompts' lengths in tokens: From ≤ length < Below.
	From, Below int64
	// Prompts is the number of requests with such prompts, computed in part at
	// least; Culprits of those that cost somebody time between tokens.
	Prompts, Culprits int64
	// Decode and Wait are shares, from 0 to 1, of the time that all prompts cost
	// others.
	Decode, Wait float64
}

// owner is a request whose chunks are in a timeline.
type owner struct {
	Culprit
	chunks int32 // still there
	worst  int32 // place of the longest gaps that it had a share in, or nobody
}

// class is what the prompts of a range of lengths, a power of two wide, cost.
type class struct {
	prompts, culprits int64
	decode, wait      wide
}

// book adds up what prompts cost others.
type book struct {
	owners  []owner
	unused  []int32
	top     []Culprit // most Decode first
	most    int       // length of top, at most
	classes [lengths]class
	marks   []mark
	free    int32 // the first mark that is unused, or nobody
	gaps    *gapScale
}

// mark records d of chunk c in gaps of a place.
func (b *book) mark(c *chunk, at int32, d sim.Duration) {
	if c.marks != nobody && b.marks[c.marks].place == at {
		m := &b.marks[c.marks]
		m.time = plus(m.time, 1, d)
		return
	}
	i := b.free
	if i == nobody {
		i = int32(len(b.marks))
		b.marks = append(b.marks, mark{})
	} else {
		b.free = b.marks[i].next
	}
	b.marks[i] = mark{c.marks, at, d}
	c.marks = i
}

// unmark counts the marks of c as of a prompt in a class, and returns the place of
// the longest gaps among them, or nobody.
func (b *book) unmark(c *chunk, in int) (worst int32) {
	worst = nobody
	for i := c.marks; i != nobody; {
		m := &b.marks[i]
		b.gaps.buckets[m.place].class(in).named.add(m.time, 1)
		worst = max(worst, m.place)
		next := m.next
		m.next, b.free = b.free, i
		i = next
	}
	return worst
}

// adopt makes the request r the owner of c, and returns it as an owner: o, or a
// new one if that is nobody.
func (b *book) adopt(o int32, r *observe.Request, c *chunk) int32 {
	if o == nobody {
		if n := len(b.unused); n > 0 {
			o, b.unused = b.unused[n-1], b.unused[:n-1]
		} else {
			o = int32(len(b.owners))
			b.owners = append(b.owners, owner{})
		}
		b.owners[o] = owner{Culprit: Culprit{ID: r.ID, Prompt: r.Prompt}, worst: nobody}
		b.classes[classOf(r.Prompt)].prompts++
	}
	b.owners[o].chunks++
	c.owner = o
	return o
}

// lengths is the number of classes of prompts by length, a power of two wide each.
const lengths = 33

// bounds returns the lengths of the prompts of a class: from ≤ length < below.
func bounds(in int) (from, below int64) {
	if in == 0 {
		return 0, 1
	}
	return 1 << (in - 1), 1 << in
}

// classOf returns the place in classes of a prompt's length.
func classOf(prompt int32) int { return bits.Len32(uint32(max(0, prompt))) }

// settle charges what c, which leaves the timeline, cost others to its owner. A
// chunk without one is of a request that had left before the step, or whose replica
// failed and which was tried again.
func (b *book) settle(c *chunk) {
	if c.owner == nobody {
		length := c.start + c.tokens // or more
		in := classOf(length)
		b.offer(Culprit{ID: c.id, Prompt: length, Decode: c.decode, Wait: c.wait}, in, b.unmark(c, in))
		return
	}
	o := &b.owners[c.owner]
	o.worst = max(o.worst, b.unmark(c, classOf(o.Prompt)))
	o.Decode, o.Wait = plus(o.Decode, 1, c.decode), plus(o.Wait, 1, c.wait)
	if o.chunks--; o.chunks == 0 {
		b.offer(o.Culprit, classOf(o.Prompt), o.worst)
		b.unused = append(b.unused, c.owner)
	}
}

// offer counts what u cost, and keeps it if it is among the most costly. Gaps of
// the place worst are the longest that it had a share in.
func (b *book) offer(u Culprit, in int, worst int32) {
	if worst != nobody {
		b.gaps.buckets[worst].class(in).prompts++
	}
	k := &b.classes[in]
	k.decode.add(u.Decode, 1)
	k.wait.add(u.Wait, 1)
	if u.Decode == 0 {
		return
	}
	k.culprits++
	full := len(b.top) == b.most
	if full && compareCulprits(u, b.top[b.most-1]) >= 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(b.top, u, compareCulprits)
	if full {
		b.top = b.top[:b.most-1]
	}
	b.top = slices.Insert(b.top, i, u)
}

// compareCulprits orders the most costly first.
func compareCulprits(a, b Culprit) int {
	switch {
	case a.Decode != b.Decode && a.Decode > b.Decode, a.Decode == b.Decode && a.ID < b.ID:
		return -1
	case a.Decode == b.Decode && a.ID == b.ID:
		return 0
	}
	return 1
}

// costs returns what all prompts cost others.
func (b *book) costs() (decode, wait wide) {
	for i := range b.classes {
		decode.plus(b.classes[i].decode)
		wait.plus(b.classes[i].wait)
	}
	return decode, wait
}

// byLength returns the classes that have prompts.
func (b *book) byLength() []Length {
	var list []Length
	decode, wait := b.costs()
	for i := range b.classes {
		k := &b.classes[i]
		if k.prompts+k.culprits == 0 {
			continue
		}
		from, below := bounds(i)
		list = append(list, Length{from, below, k.prompts, k.culprits, share(k.decode, decode), share(k.wait, wait)})
	}
	return list
}

// share returns a as a share of all, 0 if that is 0.
func share(a, all wide) float64 {
	if all == (wide{}) {
		return 0
	}
	return a.float() / all.float()
}
