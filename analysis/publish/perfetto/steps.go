package perfetto

import (
	"sort"

	"servesim/sim"
	"servesim/sim/observe"
)

// steps writes the steps of r that are drawn, each as a slice, and the counters.
func (w *Writer) steps(p *replica, r *observe.StepRun) {
	idle := p.began && r.Start > p.end && (r.Oldest == observe.Never || r.Oldest >= p.end)
	if idle && w.plan.overlaps(p.end, p.end) { // nobody was there from p.end on
		w.idle(p)
	}
	p.began, p.end = true, r.Start.Add(r.Duration())
	name := stepDecode
	switch {
	case len(r.Chunks) > 0 && r.Decodes > 0:
		name = stepMixed
	case len(r.Chunks) > 0:
		name = stepPrefill
	}
	prompts := int64(0)
	for _, c := range r.Chunks {
		prompts += int64(c.Tokens)
	}
	at := func(n int64) sim.Time { // the end of the first n steps
		k := sim.Duration(n)
		return r.Start.Add(k*r.First + r.Inc*(k*(k-1)/2))
	}
	drawn := int64(0)
	for i := int64(0); i < r.Steps; {
		from, to := at(i), at(i+1)
		if !w.plan.overlaps(from, to) {
			next := w.plan.next(from).From // the first step that ends after it comes next
			i += int64(sort.Search(int(r.Steps-i), func(k int) bool { return at(i+int64(k)+1) > next }))
			continue
		}
		if drawn++; drawn == 1 {
			w.count(p, [3]int64{-1, int64(r.Running), int64(r.Waiting)}, from)
		}
		if i == r.Steps-1 {
			w.count(p, [3]int64{r.BlocksUsed, -1, -1}, from)
		}
		a := w.args.reset()
		a.integer(argStep, r.Serial+i)
		a.integer(argDecodes, int64(r.Decodes))
		a.integer(argPrefill, prompts)
		a.integer(argContext, r.DecodeKV+i*int64(r.Decodes))
		if len(r.Chunks) > 0 {
			a.integer(argPrompts, int64(len(r.Chunks)))
		}
		a.text(argHeld, r.Held.String())
		if i == 0 && r.Preempted > 0 {
			a.integer(argPreempted, int64(r.Preempted))
		}
		w.stream.begin(p.tracks+ofSteps, name, from, a, nil)
		w.stream.end(p.tracks+ofSteps, to, 0, 0)
		i++
	}
	w.told.DrawnSteps += drawn
}

// count writes the counters that are not -1 and have changed: KV blocks in use,
// running, waiting.
func (w *Writer) count(p *replica, values [3]int64, at sim.Time) {
	if !p.anyCount {
		p.counted, p.anyCount = [...]int64{-1, -1, -1}, true
	}
	for i, v := range values {
		if v >= 0 && v != p.counted[i] {
			p.counted[i] = v
			w.stream.count(p.tracks+ofBlocks+track(i), at, v)
		}
	}
}

// idle writes that nothing runs from the end of the latest steps on.
func (w *Writer) idle(p *replica) { w.count(p, [3]int64{}, p.end) }
