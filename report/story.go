package report

import (
	"fmt"
	"io"
	"strings"

	"servesim/analysis"
	"servesim/analysis/blame"
	"servesim/sim"
)

// Story is the life of one request, kept to be printed.
type Story struct {
	ID      int64
	title   string
	head    string
	arrival sim.Time
	parts   blame.Parts
	gap     blame.Parts
	acts    []act
	costs   []blame.Cost
	whole   sim.Duration
}

// act is successive pieces of a life that are alike.
type act struct {
	start sim.Time
	parts blame.Parts
}

// Tell returns the story of l under a title. It is for blame.Options.Each to call.
func Tell(title string, l *blame.Life) Story {
	r := l.Request
	pieces, costs := l.Tell()
	s := Story{ID: r.ID, title: title, arrival: r.Arrival, parts: l.Parts(), gap: l.Gap, costs: costs}
	s.whole = s.parts.Sum()
	s.head = fmt.Sprintf("%s prompt tokens, %s of %s output tokens, %s", analysis.Grouped(int64(r.Prompt)),
		analysis.Grouped(int64(r.Output)), analysis.Grouped(int64(r.Wanted)), strings.ReplaceAll(r.Outcome.String(), "_", " "))
	for _, p := range pieces {
		n := len(s.acts) - 1
		if n < 0 || actOf(p.Cause) != actOf(s.last()) {
			s.acts = append(s.acts, act{start: p.Start})
			n++
		}
		s.acts[n].parts[p.Cause] += p.Lasts
	}
	return s
}

// last returns a cause of the latest act.
func (s *Story) last() blame.Cause {
	for c, d := range s.acts[len(s.acts)-1].parts {
		if d > 0 {
			return blame.Cause(c)
		}
	}
	return blame.Idle
}

// actOf returns the first cause of those that alternate from step to step.
func actOf(c blame.Cause) blame.Cause {
	switch c {
	case blame.PrefillSlowed, blame.Redo:
		return blame.Prefill
	case blame.DecodeSlowed, blame.Stalled, blame.LeftOut:
		return blame.Decode
	case blame.Ahead:
		return blame.InFlight
	case blame.Slots, blame.Blocks, blame.Budget, blame.Order:
		return blame.Behind
	}
	return c
}

// most is the number of culprits, and half that of acts, that are printed.
const most = 10

// Write writes the story for people. The only errors are those of w.
func (s *Story) Write(w io.Writer) error {
	var p page
	p.item(s.title, "%d: %s; %s ms from %s s on", s.ID, s.head, milliseconds(s.whole), Number(s.arrival.Sub(0).Seconds()))
	t := table{left: 0}
	t.add("  after ms", "ms", "  spent on")
	for i, a := range s.acts {
		if len(s.acts) > 4*most && i >= 2*most && i < len(s.acts)-2*most {
			if i == 2*most {
				t.add("...", "...", fmt.Sprintf("  %s more of the same", analysis.Grouped(int64(len(s.acts)-4*most))))
			}
			continue
		}
		first := true
		for c, d := range a.parts {
			if d == 0 {
				continue
			}
			after := ""
			if first {
				after = milliseconds(a.start.Sub(s.arrival))
			}
			first = false
			t.add(after, milliseconds(d), "  "+blame.Cause(c).String())
		}
	}
	t.writeLastLeft(&p)
	s.longest(&p)
	s.culprits(&p)
	return p.to(w)
}

// longest says what the longest gap between tokens was spent on.
func (s *Story) longest(p *page) {
	var parts []string
	for c, d := range s.gap {
		if d > 0 {
			parts = append(parts, milliseconds(d)+" "+blame.Cause(c).String())
		}
	}
	if len(parts) > 0 {
		p.line("")
		p.item("longest gap", "%s ms: %s", milliseconds(s.gap.Sum()), strings.Join(parts, ", "))
	}
}

// culprits lists whose prompts cost the request most.
func (s *Story) culprits(p *page) {
	if len(s.costs) == 0 {
		return
	}
	p.line("")
	t := table{}
	t.add("  prompt of", "ms", "  as")
	for i, c := range s.costs {
		if i == most {
			t.add("...", "", fmt.Sprintf("  %s more", analysis.Grouped(int64(len(s.costs)-most))))
			break
		}
		t.add("  "+fmt.Sprint(c.ID), milliseconds(c.Time), "  "+c.Cause.String())
	}
	t.writeLastLeft(p)
}

// StoriesMember is stories as a member of JSON.
func StoriesMember(stories []Story) Member {
	list := []object{}
	for i := range stories {
		s := &stories[i]
		acts, costs := []object{}, []object{}
		for _, a := range s.acts {
			acts = append(acts, object{{"start_ps", int64(a.start)}, {"parts_ps", partsObject(&a.parts)}})
		}
		for _, c := range s.costs {
			costs = append(costs, object{{"id", c.ID}, {"cause", c.Cause.Key()}, {"ps", int64(c.Time)}})
		}
		list = append(list, object{{"id", s.ID}, {"title", s.title}, {"arrival_ps", int64(s.arrival)}, {"total_ps", int64(s.whole)},
			{"parts_ps", partsObject(&s.parts)}, {"longest_gap_ps", partsObject(&s.gap)}, {"acts", acts}, {"culprits", costs}})
	}
	return Member{"explain", list}
}

// partsObject is parts as an object, without those that are 0.
func partsObject(parts *blame.Parts) object {
	o := object{}
	for c, d := range parts {
		if d > 0 {
			o = append(o, Member{blame.Cause(c).Key(), int64(d)})
		}
	}
	return o
}
