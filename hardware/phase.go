package hardware

import (
	"servesim/sim"
	"servesim/sim/gpu"
	"servesim/sim/observe"
)

// A Phase is the steps of one kind, and what they wait for.
type Phase struct {
	// Steps is their number, and Share their share of the time of all steps.
	Steps int64
	Share float64
	// Operators are those that the steps have, in the order in which a layer runs
	// them; host, the last, is what of a step the GPU's operators don't take.
	Operators []Operator
	// Compute, Memory and Link are the shares of the time of operators that wait for
	// each, and Neither that of the rest, for which no datasheet has a figure.
	Compute, Memory, Link, Neither float64
}

// An Operator is what one operator takes of the steps of a Phase.
type Operator struct {
	// Name is that of gpu.Operator, or Host.
	Name string
	// Share is that of the time of the steps. It is below 0 if the engine hides what
	// isolated kernels pay.
	Share float64
	// Bound is the side of its roofline on which it spends most of its time, and Reached
	// the share of that roofline that it reaches.
	Bound   gpu.Bound
	Reached float64
}

// Host is the name of what of a step the GPU's operators don't take: the time of the
// host that nothing hides.
const Host = "host"

// phases is an observe.Sink that adds up what the operators of steps take.
type phases struct {
	cost            *gpu.StepTime
	prefill, decode tally
}

// newPhases returns an empty one for steps whose times are those of cost, which
// nobody else asks.
func newPhases(cost *gpu.StepTime) *phases { return &phases{cost: cost} }

// Request implements observe.Sink.
func (p *phases) Request(*observe.Request) error { return nil }

// Step implements observe.Sink.
func (p *phases) Step(r *observe.StepRun) error {
	w := p.work(r)
	t := &p.decode
	if len(r.Chunks) > 0 {
		t = &p.prefill
	}
	t.add(p.cost.Breakdown(w), r)
	return nil
}

// work returns what each of the steps of r computes. Times grow by as much from one to
// the next, so that the context in the middle stands for all.
func (p *phases) work(r *observe.StepRun) gpu.Work {
	decodes := int64(r.Decodes)
	w := gpu.Work{DecodeSeqs: decodes, DecodeKV: r.DecodeKV + decodes*(r.Steps-1)/2, Samples: decodes}
	for i := range r.Chunks {
		w.AddChunk(int64(r.Chunks[i].Start), int64(r.Chunks[i].Tokens), false)
	}
	// Records don't tell which chunks complete their prompts, which then sample a
	// token. The duration does.
	for n := int64(len(r.Chunks)); n > 0; n-- {
		w.Samples = decodes + n
		if p.cost.Step(w) <= r.First {
			return w
		}
	}
	w.Samples = decodes
	return w
}

// phases returns the steps with prompt tokens and the others.
func (p *phases) phases() (prefill, decode *Phase) {
	all := p.prefill.time + p.decode.time
	return p.prefill.phase(all), p.decode.phase(all)
}

// tally is the sums of a phase, in ps.
type tally struct {
	steps int64
	time  sim.Duration
	names []string
	sums  []sums
	host  sums
}

// sums is of one operator: its time by bound, and what its rooflines allow.
type sums struct {
	compute, memory, link, neither sim.Duration
	limit                          sim.Duration
}

// total returns all time of s.
func (s *sums) total() sim.Duration { return s.compute + s.memory + s.link + s.neither }

// add adds the steps of r, of which each has operators.
func (t *tally) add(operators []gpu.Operator, r *observe.StepRun) {
	n := sim.Duration(r.Steps)
	rest := r.Duration()
	for i := range operators {
		o := &operators[i]
		t.of(o.Name).add(o.Bound, n*o.Time, n*o.Limit)
		rest -= n * o.Time
	}
	t.host.neither += rest
	t.steps += r.Steps
	t.time += r.Duration()
}

// of returns the sums of an operator.
func (t *tally) of(name string) *sums {
	for i := range t.names {
		if t.names[i] == name {
			return &t.sums[i]
		}
	}
	t.names, t.sums = append(t.names, name), append(t.sums, sums{})
	return &t.sums[len(t.sums)-1]
}

// add adds time that waits for b, of which a roofline allows limit.
func (s *sums) add(b gpu.Bound, time, limit sim.Duration) {
	switch b {
	case gpu.ComputeBound:
		s.compute += time
	case gpu.MemoryBound:
		s.memory += time
	case gpu.LinkBound:
		s.link += time
	default:
		s.neither += time
	}
	s.limit += limit
}

// bound returns what most of the time of s waits for.
func (s *sums) bound() gpu.Bound {
	switch max(s.compute, s.memory, s.link, s.neither) {
	case s.neither:
		return gpu.Unbound
	case s.compute:
		return gpu.ComputeBound
	case s.memory:
		return gpu.MemoryBound
	}
	return gpu.LinkBound
}

// phase returns what t says, all being the time of the steps of both kinds.
func (t *tally) phase(all sim.Duration) *Phase {
	p := &Phase{Steps: t.steps}
	if t.steps == 0 {
		return p
	}
	share := func(d sim.Duration) float64 { return float64(d) / float64(t.time) }
	p.Share = float64(t.time) / float64(all)
	names, list := append(t.names, Host), append(t.sums, t.host)
	for i := range list {
		s := &list[i]
		o := Operator{Name: names[i], Share: share(s.total()), Bound: s.bound()}
		if o.Bound != gpu.Unbound {
			o.Reached = float64(s.limit) / float64(s.total())
		}
		p.Operators = append(p.Operators, o)
		p.Compute += share(s.compute)
		p.Memory += share(s.memory)
		p.Link += share(s.link)
		p.Neither += share(s.neither)
	}
	return p
}
