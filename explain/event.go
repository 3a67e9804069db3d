package explain

import (
	"slices"

	"servesim/analysis/blame"
	"servesim/sim"
	"servesim/sim/observe"
)

// shownStalls is the number of steps with prompts that a life shows one by one after
// the first token: those that cost it most.
const shownStalls = 8

// eventsOf makes events of the pieces of a life.
func eventsOf(r *observe.Request, pieces []blame.Piece, seen *witness) (list []Event) {
	pieces = divided(r.Replica, pieces, seen)
	stalls := worstStalls(r, pieces, seen)
	var last *Batch  // of the latest piece
	var follows bool // the latest event may go on
	for _, p := range pieces {
		first := r.First != observe.Never && p.Start >= r.First
		step := seen.at(r.Replica, p.Start)
		if !inStep(p.Cause) {
			step = nil
		}
		own := step
		if first && step != nil && !slices.Contains(stalls, step) {
			own = nil // one of many
		}
		n := len(list) - 1
		joins := n >= 0 && follows && list[n].First == first && list[n].Batch == own && (own != nil || alikeActs(&list[n].Parts, p.Cause))
		if !joins {
			list = append(list, Event{After: p.Start.Sub(r.Arrival), Batch: own, First: first})
			n++
			last = nil
		}
		e := &list[n]
		e.Parts[p.Cause] += p.Lasts
		e.Lasts += p.Lasts
		if step != nil && step != last {
			e.Steps++
			last = step
		}
		follows = true
	}
	return list
}

// divided cuts pieces where steps with prompts begin and end, so that each is in one
// of them or in none.
func divided(replica int32, pieces []blame.Piece, seen *witness) (list []blame.Piece) {
	for _, p := range pieces {
		for left := p.Lasts; left > 0; {
			part := left
			if s := seen.at(replica, p.Start); s != nil {
				part = min(part, s.end.Sub(p.Start))
			} else if s := seen.next(replica, p.Start); s != nil {
				part = min(part, s.start.Sub(p.Start))
			}
			list = append(list, blame.Piece{Cause: p.Cause, Start: p.Start, Lasts: part})
			p.Start, left = p.Start.Add(part), left-part
		}
	}
	return list
}

// inStep tells whether time charged to c is of a step with the request in it, or of
// one that it waits for, so that the step's prompts are of interest.
func inStep(c blame.Cause) bool {
	switch c {
	case blame.NetworkRequest, blame.NetworkResponse, blame.Idle, blame.Slots, blame.Blocks, blame.Preempted, blame.Failed, blame.NoReplica:
		return false
	}
	return true
}

// alikeActs tells whether c goes on with what parts are: decoding, or waiting for the
// same.
func alikeActs(parts *blame.Parts, c blame.Cause) bool {
	decoding := func(c blame.Cause) bool {
		return c == blame.Decode || c == blame.DecodeSlowed || c == blame.Stalled
	}
	for k, d := range parts {
		if d > 0 {
			return blame.Cause(k) == c || decoding(blame.Cause(k)) && decoding(c)
		}
	}
	return true
}

// worstStalls returns the steps with prompts that cost r most after its first token.
func worstStalls(r *observe.Request, pieces []blame.Piece, seen *witness) []*Batch {
	var steps []*Batch
	cost := map[*Batch]sim.Duration{}
	for _, p := range pieces {
		if r.First == observe.Never || p.Start < r.First || p.Cause == blame.Decode || !inStep(p.Cause) {
			continue
		}
		if s := seen.at(r.Replica, p.Start); s != nil {
			if cost[s] == 0 {
				steps = append(steps, s)
			}
			cost[s] += p.Lasts
		}
	}
	slices.SortStableFunc(steps, func(a, b *Batch) int { return int(min(1, max(-1, cost[b]-cost[a]))) })
	return steps[:min(len(steps), shownStalls)]
}
