package figure

import (
	"maps"
	"slices"
	"sort"

	"servesim/analysis/blame"
	"servesim/sim"
	"servesim/sim/observe"
)

// A gap is a gap between tokens that several sequences had at once.
type gap struct {
	length  sim.Duration
	end     sim.Time
	seqs    int32
	culprit int64 // whose prompt made it long, -1 if nobody's did
	prompt  int32 // its length
	tokens  int32 // of it in the step that took the most
}

// longer tells whether a is to be shown rather than b.
func (a *gap) longer(b *gap) bool {
	switch {
	case a.length != b.length:
		return a.length > b.length
	case a.end != b.end:
		return a.end < b.end
	}
	return a.culprit < b.culprit
}

// The classes of gaps: those that no prompt of another request had a part in, those by
// the length of the prompt that had the largest, and those across a preemption.
const (
	usual = iota
	byPrompt
	resumed = byPrompt + 4
	classes = resumed + 1
)

// promptEdges are the lengths, in tokens, at which classes of prompts begin.
func promptEdges() [resumed - byPrompt]int32 { return [...]int32{0, 1_000, 4_000, 16_000} }

// classTitle returns what people call a class.
func classTitle(class int) string {
	return [classes]string{
		"no prompt beside it", "prompt below 1,000 tokens", "prompt of 1,000 to 3,999", "prompt of 4,000 to 15,999",
		"prompt of 16,000 or more", "after a preemption",
	}[class]
}

// classOf returns the class of gaps that are due to a prompt.
func classOf(prompt int32) int {
	class := byPrompt
	for i, edge := range promptEdges() {
		if prompt >= edge {
			class = byPrompt + i
		}
	}
	return class
}

// A gapCell is the gaps that end in a cell of time.
type gapCell struct {
	count   int64
	sum     int64        // of their lengths, in ns
	longest [classes]gap // of each class; its length is 0 if there is none
}

// gaps is the gaps of a run in cells of time.
type gaps struct {
	grid[gapCell]
	// pending has gaps by their culprit, whose prompt's length isn't known before it
	// has left.
	pending map[int64][]gap
	count   [classes]int64
}

// newGaps returns no gaps.
func newGaps() gaps {
	return gaps{
		grid: newGrid(func(a, b *gapCell, _ sim.Duration) {
			a.count += b.count
			a.sum += b.sum
			for i := range a.longest {
				if b.longest[i].longer(&a.longest[i]) {
					a.longest[i] = b.longest[i]
				}
			}
		}),
		pending: map[int64][]gap{},
	}
}

// add takes gaps of a step.
func (g *gaps) add(s *blame.Seen) {
	p, r := s.Gaps, s.Step
	class := usual
	if s.Again {
		class = resumed
	}
	ends := func(i int64) sim.Time { // of gap i of the run
		n := sim.Duration(skippedSteps(r, p) + i + 1)
		return r.Start.Add(n*r.First + r.Inc*(n*(n-1)/2))
	}
	g.at(ends(p.Steps - 1)) // so that cells are as wide as they get
	for i := int64(0); i < p.Steps; {
		n, cell := p.Steps-i, ends(i)/sim.Time(g.width)
		if ends(p.Steps-1)/sim.Time(g.width) > cell {
			n = int64(sort.Search(int(n), func(k int) bool { return ends(i+int64(k))/sim.Time(g.width) > cell }))
		}
		one := gap{length: p.First + p.Inc*sim.Duration(i), end: ends(i), seqs: p.Seqs, culprit: s.Culprit, tokens: s.Tokens}
		g.tally(&one, p.Inc, n)
		if p.Inc > 0 {
			one.length, one.end = p.First+p.Inc*sim.Duration(i+n-1), ends(i+n-1)
		}
		if s.Named > 0 {
			g.pending[one.culprit] = append(g.pending[one.culprit], one)
		} else {
			g.put(class, &one)
			g.count[class] += n * int64(p.Seqs)
		}
		i += n
	}
}

// skippedSteps returns the number of steps of r before the one in which the first of
// the gaps p ends: 1 for those of sequences whose gap before was of another length.
func skippedSteps(r *observe.StepRun, p *observe.Gaps) int64 {
	if p.Steps == r.Steps-1 && p.First == r.First+r.Inc && p.Inc == r.Inc {
		return 1
	}
	return 0
}

// tally counts n gaps, each longer than the one before by inc, of which one is the first.
func (g *gaps) tally(one *gap, inc sim.Duration, n int64) {
	c, k := g.at(one.end), sim.Duration(n)
	c.count += n * int64(one.seqs)
	c.sum += int64((k*one.length+inc*(k*(k-1)/2))/sim.Nanosecond) * int64(one.seqs)
}

// put shows a gap in its class if none of its cell is longer.
func (g *gaps) put(class int, one *gap) {
	if c := g.at(one.end); one.longer(&c.longest[class]) {
		c.longest[class] = *one
	}
}

// known tells the length of a prompt.
func (g *gaps) known(id int64, prompt int32) {
	list, ok := g.pending[id]
	if !ok {
		return
	}
	delete(g.pending, id)
	for i := range list {
		list[i].prompt = prompt
		class := classOf(prompt)
		g.put(class, &list[i])
		g.count[class] += int64(list[i].seqs)
	}
}

// finish shows the gaps whose culprit never left, by the longest part of its prompt.
func (g *gaps) finish() {
	for _, id := range slices.Sorted(maps.Keys(g.pending)) {
		longest := int32(0)
		for _, one := range g.pending[id] {
			longest = max(longest, one.tokens)
		}
		g.known(id, longest)
	}
}
