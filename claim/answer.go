package claim

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"servesim/internal/workers"
	"servesim/scenario"
)

// An Answer says where a claim is possible.
type Answer struct {
	Claim Figure
	// Plan is one of those that were tried, for what is the same in all: engine, GPU
	// and model.
	Plan *scenario.Plan
	// File is the path of the scenario, empty if there is none.
	File string
	// GPUs is Options.GPUs.
	GPUs int64
	// Points are all combinations, in the order of the formats of weights, numbers of
	// GPUs of a replica, lengths and loads.
	Points []Point
	// Readings are what the claim can mean.
	Readings []Verdict
	// Questions are those to ask, the one that most depends on first.
	Questions []Question
}

// A Verdict is what is said of one reading of a claim.
type Verdict struct {
	Reading
	// Possible is the number of combinations that reach the claim, of Ran that can run.
	Possible, Ran int
	// Best reaches the most, and Highest has the best Ceiling.
	Best, Highest *Point
	// Rows are a combination for each pair of lengths and format of the weights: of
	// those that reach the claim one that does with the fewest GPUs, and of these the
	// one with the fewest users, of a latency or a user's speed the one with the most;
	// where none does, the one that reaches the most.
	Rows []*Point
}

// Find simulates every combination that o asks for on the deployment of src, of which
// nothing but the machine, the engine and the client is taken. The error is a
// scenario.UsageError if what is given is at fault or nothing can run.
func Find(ctx context.Context, src scenario.Source, f Figure, o Options) (*Answer, error) {
	if err := o.check(&f); err != nil {
		return nil, err
	}
	if err := refuse(src, o.Own); err != nil {
		return nil, err
	}
	if src.Shelf == nil {
		src.Shelf = &scenario.Shelf{}
	}
	list, err := layouts(src, o.Own)
	if err != nil {
		return nil, err
	}
	a := &Answer{Claim: f, GPUs: o.GPUs}
	if o.Own {
		a.File = cmp.Or(src.Path, "the default scenario")
	}
	for _, l := range list {
		for _, lengths := range o.Lengths {
			for _, users := range o.Users {
				a.Points = append(a.Points, Point{Layout: l, Lengths: lengths, Users: users})
			}
		}
	}
	if err := a.simulate(ctx, src, &o); err != nil {
		return nil, err
	}
	for _, r := range readings(f, o.GPUs) {
		v := verdict(r, a.Points)
		if v.Best == nil {
			return nil, usagef("GPUs: found %d, fewer than every replica that can run has; give more, or a smaller --tp", o.GPUs)
		}
		a.Readings = append(a.Readings, v)
	}
	if a.Questions, err = a.ask(ctx, src, &o); err != nil {
		return nil, err
	}
	first := slices.IndexFunc(a.Points, func(p Point) bool { return p.Reason == "" })
	a.Plan, err = scenario.Load(with(src, &a.Points[first]))
	return a, err
}

// simulate tries every point of a. One that can't run is no fault if another can.
func (a *Answer) simulate(ctx context.Context, src scenario.Source, o *Options) error {
	errs := make([]error, len(a.Points))
	var mu sync.Mutex
	workers.Each(ctx, o.Jobs, len(a.Points), func(i int) bool {
		errs[i] = a.Points[i].try(ctx, src)
		mu.Lock()
		defer mu.Unlock()
		if o.Progress != nil {
			o.Progress(len(a.Points))
		}
		var usage *scenario.UsageError
		return errs[i] == nil || errors.As(errs[i], &usage)
	})
	if err := context.Cause(ctx); err != nil {
		return err
	}
	var faults []error
	ran := false
	for i, err := range errs {
		var usage *scenario.UsageError
		switch {
		case err == nil:
			ran = true
			continue
		case !errors.As(err, &usage):
			return err
		}
		a.Points[i].Reason = reason(err)
		faults = append(faults, err)
	}
	if ran {
		return nil
	}
	return &scenario.UsageError{Err: errors.Join(unlike(faults)...)}
}

// unfit tells whether why is that a model doesn't fit into memory.
func unfit(why string) bool { return strings.Contains(why, "does not fit") }

// unlike returns one of the faults of each text, and of those of memory only the last,
// which is that of the smallest formats on the most GPUs.
func unlike(faults []error) (list []error) {
	var last error
	for _, err := range faults {
		text := err.Error()
		if unfit(text) {
			last = err
		} else if !slices.ContainsFunc(list, func(e error) bool { return e.Error() == text }) {
			list = append(list, err)
		}
	}
	if last != nil {
		list = append(list, last)
	}
	return list
}

// verdict returns what points say of r.
func verdict(r Reading, points []Point) Verdict {
	v := Verdict{Reading: r}
	type kind struct {
		Lengths
		weights string
	}
	at := map[kind]int{}
	for i := range points {
		p := &points[i]
		if p.Reason != "" || r.replicas(p) == 0 {
			continue
		}
		v.Ran++
		if r.Reached(p) {
			v.Possible++
		}
		if v.Best == nil || r.better(r.Most(p), r.Most(v.Best)) {
			v.Best = p
		}
		if v.Highest == nil || r.better(r.Ceiling(p), r.Ceiling(v.Highest)) {
			v.Highest = p
		}
		k := kind{p.Lengths, p.Weights}
		if n, ok := at[k]; !ok {
			at[k] = len(v.Rows)
			v.Rows = append(v.Rows, p)
		} else if r.tells(p, v.Rows[n]) {
			v.Rows[n] = p
		}
	}
	slices.SortStableFunc(v.Rows, func(a, b *Point) int {
		return cmp.Or(cmp.Compare(a.Lengths.Prompt, b.Lengths.Prompt), cmp.Compare(a.Lengths.Output, b.Lengths.Output))
	})
	return v
}

// tells tells whether p says more of its lengths and format than q does.
func (r *Reading) tells(p, q *Point) bool {
	reached := r.Reached(p)
	if reached != r.Reached(q) {
		return reached
	}
	if !reached {
		return r.better(r.Most(p), r.Most(q))
	}
	users, gpus := cmp.Compare(load(p), load(q)), cmp.Compare(r.Needs(p)*p.TP, r.Needs(q)*q.TP)
	order := cmp.Or(gpus, users)
	if r.alone() {
		order = cmp.Or(-users, gpus)
	}
	return order < 0 || order == 0 && r.better(r.Most(p), r.Most(q))
}

// load orders loads, offline being the heaviest.
func load(p *Point) int64 {
	if p.Users == 0 {
		return maxUsers + 1
	}
	return p.Users
}

// unable returns which layouts can't run and why, those with one reason together.
func (a *Answer) unable() []string {
	type tally struct{ all, wrong int }
	counts := map[Layout]*tally{}
	reasons := map[Layout]string{}
	var order []Layout
	for i := range a.Points {
		p := &a.Points[i]
		n := counts[p.Layout]
		if n == nil {
			n = &tally{}
			counts[p.Layout], order = n, append(order, p.Layout)
		}
		if n.all++; p.Reason == "" {
			continue
		}
		if n.wrong++; n.wrong == 1 {
			reasons[p.Layout] = p.Reason
			if unfit(p.Reason) {
				reasons[p.Layout] = "does not fit into memory" // whose amounts servesim model tells
			}
		}
	}
	var why []string
	which := map[string][]string{}
	for _, l := range order {
		n := counts[l]
		if n.wrong == 0 {
			continue
		}
		text := reasons[l]
		if n.wrong < n.all {
			text += ", with some of the lengths"
		}
		if which[text] == nil {
			why = append(why, text)
		}
		which[text] = append(which[text], l.String())
	}
	for i, text := range why {
		why[i] = strings.Join(which[text], ", ") + ": " + text
	}
	return why
}
