package explain

import (
	"slices"
	"sort"

	"servesim/sim"
	"servesim/sim/observe"
)

// An Exposure is an observe.Sink that keeps what steps with prompts did to the
// gaps between the tokens of others. It needs the records that engine.Config.Detail
// gives, and keeps some 50 bytes of each request and of each step with prompts.
type Exposure struct {
	lanes   []lane          // by replica
	lengths map[int64]int32 // prompt tokens by request
	answers []answer
	gaps    int64
}

// A lane is the steps with prompts of one replica.
type lane struct {
	steps []promptStep
	ids   []int64 // of the prompts of the steps, one after the other
	gaps  []besideGaps
}

// A promptStep is a step with prompts.
type promptStep struct {
	end     sim.Time
	excess  sim.Duration // by how much it was longer for its prompts
	tokens  int64        // of its prompts
	decodes int64
	ids     int // the end of its prompts in ids
}

// besideGaps are gaps alike with which steps with prompts coincided.
type besideGaps struct {
	seqs     int32
	from, to int // of the steps
	gap      sim.Duration
}

// An answer is when a request streamed.
type answer struct {
	replica     int32
	first, last sim.Time
}

// NewExposure returns an Exposure that has seen nothing.
func NewExposure() *Exposure { return &Exposure{lengths: map[int64]int32{}} }

// Request implements observe.Sink.
func (e *Exposure) Request(r *observe.Request) error {
	e.lengths[r.ID] = r.Prompt
	if r.Outcome == observe.Completed && r.Output > 1 {
		e.answers = append(e.answers, answer{r.Replica, r.First, r.Last})
	}
	return nil
}

// Step implements observe.Sink.
func (e *Exposure) Step(r *observe.StepRun) error {
	for len(e.lanes) <= int(r.Replica) {
		e.lanes = append(e.lanes, lane{})
	}
	l := &e.lanes[r.Replica]
	end := r.Start.Add(r.First)
	if len(r.Chunks) > 0 {
		s := promptStep{end: end, excess: r.First, decodes: int64(r.Decodes)}
		if r.Decodes > 0 {
			s.excess -= r.Base
		}
		for i := range r.Chunks {
			s.tokens += int64(r.Chunks[i].Tokens)
			l.ids = append(l.ids, r.Chunks[i].ID)
		}
		s.ids = len(l.ids)
		l.steps = append(l.steps, s)
	}
	for i := range r.Gaps {
		g := &r.Gaps[i]
		e.gaps += int64(g.Seqs) * g.Steps
		if g.Steps > 1 || len(r.Chunks) == 0 && (g.First == r.First || r.Steps == 2 && g.First == r.First+r.Inc) {
			continue // of steps of r alone, the second of two included
		}
		if from := l.after(end - sim.Time(g.First)); from < len(l.steps) {
			l.gaps = append(l.gaps, besideGaps{g.Seqs, from, len(l.steps), g.First})
		}
	}
	return nil
}

// after returns the number of the first step that ended after instant t.
func (l *lane) after(t sim.Time) int {
	n := len(l.steps)
	for n > 0 && l.steps[n-1].end > t && len(l.steps)-n < 4 { // most gaps are short
		n--
	}
	if n == 0 || l.steps[n-1].end <= t {
		return n
	}
	return sort.Search(n, func(i int) bool { return l.steps[i].end > t })
}

// Beside is what prompts did to the gaps between the tokens of others. A gap
// coincides with a step if the step lies in it, so that its prompts made it longer.
type Beside struct {
	// Gaps is the number of all gaps, Prompted of those that coincide with a step
	// with prompts, and Over of those that do with one that is over the budget asked
	// about: of as many tokens or more, or with a part of a prompt that is longer.
	Gaps, Prompted, Over int64
	// Answers is the number of completed requests with gaps, and OverAnswers of those
	// of which one coincides with a step over the budget.
	Answers, OverAnswers int64
	// Steps is the number of steps with prompts beside which there were gaps, and
	// Tokens the prompt tokens that they computed.
	Steps, Tokens int64
	// Lost is by how much the gaps were longer for prompts, all together, in seconds.
	Lost float64
}

// Share returns part of all gaps, 0 if there are none.
func (b *Beside) Share(part int64) float64 { return share(part, b.Gaps) }

// share returns part/all, 0 of nothing.
func share(part, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

// Beside returns what has been seen, for a budget of so many tokens a step.
func (e *Exposure) Beside(budget int32) Beside {
	b := Beside{Gaps: e.gaps, Answers: int64(len(e.answers))}
	over := make([]overSteps, len(e.lanes))
	for i := range e.lanes {
		over[i] = e.lanes[i].beside(&b, budget, func(id int64) bool { return e.lengths[id] > budget })
	}
	for _, a := range e.answers {
		if int(a.replica) < len(over) && over[a.replica].within(a.first, a.last) {
			b.OverAnswers++
		}
	}
	return b
}

// overSteps are the ends of steps over a budget, in order.
type overSteps []sim.Time

// within tells whether a step ended after one instant and by another.
func (o overSteps) within(after, by sim.Time) bool {
	i := sort.Search(len(o), func(i int) bool { return o[i] > after })
	return i < len(o) && o[i] <= by
}

// beside adds the gaps of l to b, and returns its steps over the budget, beyond which
// the prompts are that long says are.
func (l *lane) beside(b *Beside, budget int32, long func(id int64) bool) overSteps {
	var ends overSteps
	over := make([]int, len(l.steps)+1)     // steps over the budget before each
	lost := make([]float64, len(l.steps)+1) // seconds of excess before each
	touched := make([]bool, len(l.steps))   // of gaps
	before := 0
	for i := range l.steps {
		s := &l.steps[i]
		over[i+1], lost[i+1] = over[i], lost[i]+s.excess.Seconds()
		if s.tokens+s.decodes >= int64(budget) || slices.ContainsFunc(l.ids[before:s.ids], long) {
			over[i+1], ends = over[i]+1, append(ends, s.end)
		}
		before = s.ids
	}
	for _, g := range l.gaps {
		b.Prompted += int64(g.seqs)
		if over[g.to] > over[g.from] {
			b.Over += int64(g.seqs)
		}
		b.Lost += float64(float64(g.seqs) * (lost[g.to] - lost[g.from]))
		for i := g.from; i < g.to; i++ {
			touched[i] = true
		}
	}
	for i, t := range touched {
		if t {
			b.Steps++
			b.Tokens += l.steps[i].tokens
		}
	}
	return ends
}

// Longer returns the number of gaps of d or longer that coincide with a step with
// prompts.
func (e *Exposure) Longer(d sim.Duration) (n int64) {
	for i := range e.lanes {
		for _, g := range e.lanes[i].gaps {
			if g.gap >= d {
				n += int64(g.seqs)
			}
		}
	}
	return n
}
