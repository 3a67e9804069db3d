package lives

import (
	"cmp"
	"slices"

	"servesim/analysis/blame"
	"servesim/sim"
	"servesim/sim/observe"
)

// A Life is what became of one request.
type Life struct {
	ID    int64
	Class string
	// Slowest are the metrics by which it is among the slowest, and Places its places
	// by each, from 1.
	Slowest []blame.Metric
	Places  []int

	Arrival             sim.Time
	TTFT, WorstGap, E2E sim.Duration
	// TPOT is rounded down, 0 for an answer of one token.
	TPOT           sim.Duration
	Prompt, Output int32
	Preemptions    int32

	// ToFirst and AfterFirst are its latency by cause: they sum to TTFT and to what
	// follows, exactly.
	ToFirst, AfterFirst blame.Parts
	// Pieces are its latency in order of time.
	Pieces []blame.Piece
	// Culprits are whose prompts cost it time, the most costly first, at most
	// MaxCulprits of them.
	Culprits []Culprit
}

// MaxCulprits is the most culprits that a life keeps.
const MaxCulprits = 8

// A Culprit is what the prompt of a request cost another.
type Culprit struct {
	blame.Cost
	// Prompt is its tokens, 0 if they aren't known.
	Prompt int32
}

// Lives picks the slowest requests by each metric of package blame.
type Lives struct {
	number  int
	slowest [][]slow // by metric, the slowest first
	kept    map[int64]*Life
	prompts []int32 // by ID
}

// slow is a request that is among the slowest by a metric.
type slow struct {
	id   int64
	time sim.Duration
}

// New returns Lives that pick so many requests by each metric.
func New(number int) *Lives {
	return &Lives{number: number, slowest: make([][]slow, len(metrics())), kept: map[int64]*Life{}}
}

// metrics lists what requests are slow by.
func metrics() []blame.Metric {
	return []blame.Metric{blame.TTFT, blame.TPOT, blame.WorstGap, blame.E2E}
}

// mostPrompts bounds the IDs whose prompts' lengths are kept.
const mostPrompts = 1 << 26

// Each takes a life, as blame.Options.Each.
func (s *Lives) Each(l *blame.Life) error {
	r := l.Request
	if r.ID >= 0 && r.ID < mostPrompts {
		for int64(len(s.prompts)) <= r.ID {
			s.prompts = append(s.prompts, 0)
		}
		s.prompts[r.ID] = r.Prompt
	}
	if r.Outcome != observe.Completed {
		return nil
	}
	among := false
	for m := range s.slowest {
		if d, ok := l.Metric(metrics()[m]); ok && s.offer(m, slow{r.ID, d}) {
			among = true
		}
	}
	if among {
		s.kept[r.ID] = lifeOf(l)
	}
	return nil
}

// offer puts one among the slowest by metric m if it is of them, in the place of the
// last of them, which is then forgotten unless it is slow by another.
func (s *Lives) offer(m int, one slow) bool {
	list := s.slowest[m]
	i, _ := slices.BinarySearchFunc(list, one, func(a, b slow) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.id, b.id))
	})
	if i >= s.number {
		return false
	}
	list = slices.Insert(list, i, one)
	if len(list) > s.number {
		out := list[s.number].id
		list = list[:s.number]
		s.slowest[m] = list
		s.forget(out)
	}
	s.slowest[m] = list
	return true
}

// forget drops the life of a request that isn't slow by any metric.
func (s *Lives) forget(id int64) {
	for _, list := range s.slowest {
		if slices.ContainsFunc(list, func(o slow) bool { return o.id == id }) {
			return
		}
	}
	delete(s.kept, id)
}

// lifeOf copies what a Life has of l.
func lifeOf(l *blame.Life) *Life {
	r := l.Request
	out := &Life{
		ID: r.ID, Class: r.Class, Arrival: r.Arrival, TTFT: r.First.Sub(r.Arrival), WorstGap: r.MaxGap,
		Prompt: r.Prompt, Output: r.Output, Preemptions: r.Preemptions,
		ToFirst: l.ToFirst, AfterFirst: l.AfterFirst,
	}
	out.E2E, _ = l.Metric(blame.E2E)
	out.TPOT, _ = l.Metric(blame.TPOT)
	var costs []blame.Cost
	out.Pieces, costs = l.Tell()
	for _, c := range costs[:min(len(costs), MaxCulprits)] {
		out.Culprits = append(out.Culprits, Culprit{Cost: c})
	}
	return out
}

// List returns the lives: the slowest by worst gap first, then by TTFT, E2E and TPOT,
// each once.
func (s *Lives) List() []Life {
	var list []Life
	at := map[int64]int{}
	for _, m := range []blame.Metric{blame.WorstGap, blame.TTFT, blame.E2E, blame.TPOT} {
		for place, one := range s.slowest[m] {
			i, known := at[one.id]
			if !known {
				i = len(list)
				at[one.id] = i
				list = append(list, *s.kept[one.id])
				s.name(&list[i])
			}
			list[i].Slowest, list[i].Places = append(list[i].Slowest, m), append(list[i].Places, place+1)
		}
	}
	return list
}

// name adds the lengths of the culprits' prompts.
func (s *Lives) name(l *Life) {
	l.Culprits = slices.Clone(l.Culprits)
	for i := range l.Culprits {
		if id := l.Culprits[i].ID; id >= 0 && id < int64(len(s.prompts)) {
			l.Culprits[i].Prompt = s.prompts[id]
		}
	}
}
