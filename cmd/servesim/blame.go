package main

import (
	"fmt"
	"io"
	"slices"

	"servesim/analysis/blame"
	"servesim/report"
	"servesim/sim/observe"

	"github.com/spf13/cobra"
)

// A why is what was asked about the causes of a run's latencies.
type why struct {
	blame   bool
	explain []int64 // IDs of requests whose lives are to be told
	charged *blame.Blame
	stories []report.Story
}

// bind adds the flags of w to cmd.
func (w *why) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&w.blame, "blame", false, "print what latencies were spent on, and which prompts cost others time")
	f.Int64SliceVar(&w.explain, "explain", nil, "print the life of the request that the records and --blame call `ID`; may be given several times")
}

// sinks returns the sink that answers, if anything was asked.
func (w *why) sinks() []observe.Sink {
	if !w.blame && len(w.explain) == 0 {
		return nil
	}
	w.explain = unique(w.explain)
	w.charged = blame.New(blame.Options{Each: w.each})
	return []observe.Sink{w.charged}
}

// unique returns ids without repetitions.
func unique(ids []int64) (list []int64) {
	for _, id := range ids {
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// each keeps the lives that were asked for.
func (w *why) each(l *blame.Life) error {
	if slices.Contains(w.explain, l.Request.ID) {
		w.stories = append(w.stories, report.Tell(l))
	}
	return nil
}

// members returns the answers as members of JSON.
func (w *why) members() ([]report.Member, error) {
	if w.charged == nil {
		return nil, nil
	}
	r, err := w.charged.Report()
	if err != nil {
		return nil, err
	}
	var list []report.Member
	if w.blame {
		list = append(list, report.BlameMember(r))
	}
	if len(w.explain) > 0 {
		list = append(list, report.StoriesMember(w.stories))
	}
	return list, nil
}

// write prints the answers, with an empty line before each but the first, which
// has one already if spaced.
func (w *why) write(e env, spaced bool) error {
	if w.charged == nil {
		return nil
	}
	r, err := w.charged.Report()
	if err != nil {
		return err
	}
	var answers []func(io.Writer) error
	if w.blame {
		answers = append(answers, func(out io.Writer) error { return report.Blame(out, r) })
	}
	for i := range w.stories {
		answers = append(answers, w.stories[i].Write)
	}
	for _, answer := range answers {
		if !spaced {
			fmt.Fprintln(e.stdout)
		}
		if err := answer(e.stdout); err != nil {
			return err
		}
		spaced = false
	}
	return nil
}

// missing returns a fault for the first request that was asked for and is not
// there, and puts the others into the order in which they were.
func (w *why) missing() error {
	for _, id := range w.explain {
		if !slices.ContainsFunc(w.stories, func(s report.Story) bool { return s.ID == id }) {
			return usagef("--explain %d: the run has no such request; requests are numbered from 0 in order of the trace", id)
		}
	}
	slices.SortStableFunc(w.stories, func(a, b report.Story) int {
		return slices.Index(w.explain, a.ID) - slices.Index(w.explain, b.ID)
	})
	return nil
}
