package explain

import (
	"context"
	"slices"
	"sort"

	"servesim/analysis/blame"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/observe"
)

// A Prompt is a part of a request's prompt that a step computes.
type Prompt struct {
	ID int64
	// From is how many of its tokens were computed before, Tokens how many are by
	// the step, Of how many it has.
	From, Tokens, Of int32
}

// A Batch is a step with prompts.
type Batch struct {
	start, end sim.Time
	// Decodes is the number of sequences that get a token of it.
	Decodes int32
	Prompts []Prompt
}

// An Event is a part of a request's life. The events of a life follow each other
// without gaps.
type Event struct {
	// After is the time since the arrival, Lasts how long it lasts.
	After, Lasts sim.Duration
	// Parts is what it was spent on; it sums to Lasts.
	Parts blame.Parts
	// Steps is the number of steps with prompts in it, and Batch the only one, nil
	// if there are others or none.
	Steps int
	Batch *Batch
	// First tells that it begins with the first token.
	First bool
}

// A Culprit is what the prompt of a request cost another.
type Culprit struct {
	blame.Cost
	// Prompt is its tokens.
	Prompt int32
}

// A Life is what became of one request.
type Life struct {
	Request observe.Request
	// ToFirst and AfterFirst are its latency by cause: they sum to TTFT and to what
	// follows, exactly.
	ToFirst, AfterFirst blame.Parts
	// Gap is its longest gap by cause, if it completed and has one.
	Gap    blame.Parts
	Events []Event
	// Culprits are whose prompts cost it time, the most costly first.
	Culprits []Culprit
}

// Lives are those of some requests of a run.
type Lives struct {
	Result *scenario.Result
	List   []Life
}

// A witness is an observe.Sink that keeps the steps with prompts of certain times.
type witness struct {
	picked []picked
	steps  [][]Batch // by replica, in order
	of     map[int64]int32
}

// Request implements observe.Sink.
func (w *witness) Request(*observe.Request) error { return nil }

// Step implements observe.Sink.
func (w *witness) Step(r *observe.StepRun) error {
	if len(r.Chunks) == 0 {
		return nil
	}
	b := Batch{start: r.Start, end: r.Start.Add(r.First), Decodes: r.Decodes}
	if !slices.ContainsFunc(w.picked, func(p picked) bool {
		return p.replica == r.Replica && p.since < b.end && b.start < p.end
	}) {
		return nil
	}
	for _, c := range r.Chunks {
		b.Prompts = append(b.Prompts, Prompt{c.ID, c.Start, c.Tokens, w.of[c.ID]})
	}
	slices.SortFunc(b.Prompts, func(x, y Prompt) int { return int(min(1, max(-1, x.ID-y.ID))) })
	for len(w.steps) <= int(r.Replica) {
		w.steps = append(w.steps, nil)
	}
	w.steps[r.Replica] = append(w.steps[r.Replica], b)
	return nil
}

// at returns the step with prompts of a replica that instant t is in, or nil.
func (w *witness) at(replica int32, t sim.Time) *Batch {
	if int(replica) >= len(w.steps) {
		return nil
	}
	s := w.steps[replica]
	i := sort.Search(len(s), func(i int) bool { return s[i].end > t })
	if i < len(s) && s[i].start <= t {
		return &s[i]
	}
	return nil
}

// next returns the first step with prompts of a replica that begins after instant t,
// or nil.
func (w *witness) next(replica int32, t sim.Time) *Batch {
	if int(replica) >= len(w.steps) {
		return nil
	}
	s := w.steps[replica]
	if i := sort.Search(len(s), func(i int) bool { return s[i].start > t }); i < len(s) {
		return &s[i]
	}
	return nil
}

// Tell simulates the scenario of src twice: to find the requests of c, and to follow
// them. The error is a scenario.UsageError if src or c is at fault.
func Tell(ctx context.Context, src scenario.Source, c Choice, w Work) (*Lives, error) {
	if err := c.Check(); err != nil {
		return nil, &scenario.UsageError{Err: err}
	}
	p := &picker{choice: c, prompts: map[int64]int32{}}
	if err := pick(ctx, src, w, p); err != nil {
		return nil, err
	}
	found, err := p.found()
	if err != nil {
		return nil, &scenario.UsageError{Err: err}
	}
	seen := &witness{picked: found, of: p.prompts}
	lives := make([]Life, len(found))
	pieces := make([][]blame.Piece, len(found))
	charged := blame.New(blame.Options{Each: func(l *blame.Life) error {
		i := slices.IndexFunc(found, func(q picked) bool { return q.id == l.Request.ID })
		if i < 0 {
			return nil
		}
		r := *l.Request
		r.Made, r.Lost, r.Attempts = slices.Clone(r.Made), slices.Clone(r.Lost), slices.Clone(r.Attempts)
		lives[i] = Life{Request: r, ToFirst: l.ToFirst, AfterFirst: l.AfterFirst, Gap: l.Gap}
		var costs []blame.Cost
		pieces[i], costs = l.Tell()
		for _, cost := range costs {
			lives[i].Culprits = append(lives[i].Culprits, Culprit{cost, p.prompts[cost.ID]})
		}
		return nil
	}})
	plan, err := scenario.Load(src)
	if err != nil {
		return nil, err
	}
	all := &Lives{List: lives}
	if all.Result, err = plan.Simulate(ctx, scenario.Options{Percentiles: percentiles(), Sinks: []observe.Sink{seen, charged}}); err != nil {
		return nil, err
	}
	if _, err := charged.Report(); err != nil { // which settles with those that were left
		return nil, err
	}
	for i := range lives {
		lives[i].Events = eventsOf(&lives[i].Request, pieces[i], seen)
	}
	if w.Progress != nil {
		w.Progress(2, 2)
	}
	return all, nil
}

// pick simulates src for a picker.
func pick(ctx context.Context, src scenario.Source, w Work, sink *picker) error {
	p, err := scenario.Load(src)
	if err != nil {
		return err
	}
	_, err = p.Simulate(ctx, scenario.Options{Percentiles: percentiles(), Measured: []observe.Sink{slowest{sink}}, Watch: func(*scenario.Opened) observe.Sink { return sink }})
	if w.Progress != nil {
		w.Progress(1, 2)
	}
	return err
}
