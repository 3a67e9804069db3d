package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"servesim/analysis/blame"
	"servesim/report"
	"servesim/sim"
	"servesim/sim/observe"

	"github.com/spf13/cobra"
)

// A why is what was asked about the causes of a run's latencies.
type why struct {
	blame   bool
	explain []int64  // IDs of requests whose lives are to be told
	worst   []string // metrics, the worst requests by which are to be told
	charged *blame.Blame
	report  *blame.Report
	stories []report.Story
	records []record
}

// A record is the worst request so far by a metric.
type record struct {
	metric blame.Metric
	value  sim.Duration
	story  report.Story
	found  bool
}

// bind adds the flags of w to cmd.
func (w *why) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&w.blame, "blame", false, "print what latencies were spent on, and which prompts cost others time")
	f.Int64SliceVar(&w.explain, "explain", nil, "print the life of the request that the records and --blame call `ID`; may be given several times")
	f.StringSliceVar(&w.worst, "worst", nil, "print the life of the worst request by each of `METRICS`: ttft, tpot, itl, e2e")
}

// worstMetrics are the metrics that --worst can name.
func worstMetrics() map[string]blame.Metric {
	return map[string]blame.Metric{"ttft": blame.TTFT, "tpot": blame.TPOT, "itl": blame.WorstGap, "e2e": blame.E2E}
}

// begin returns the sink that answers, if anything was asked.
func (w *why) begin() ([]observe.Sink, error) {
	for _, name := range w.worst {
		m, known := worstMetrics()[strings.ToLower(name)]
		if !known {
			return nil, usagef("--worst: unknown metric %q; the metrics are ttft, tpot, itl (its longest gap), e2e", name)
		}
		if !slices.ContainsFunc(w.records, func(r record) bool { return r.metric == m }) {
			w.records = append(w.records, record{metric: m})
		}
	}
	if !w.blame && len(w.explain)+len(w.records) == 0 {
		return nil, nil
	}
	w.charged = blame.New(blame.Options{Each: w.each})
	return []observe.Sink{w.charged}, nil
}

// each keeps the lives that were asked for.
func (w *why) each(l *blame.Life) error {
	if slices.Contains(w.explain, l.Request.ID) {
		w.stories = append(w.stories, report.Tell("Request", l))
	}
	for i := range w.records {
		r := &w.records[i]
		if v, ok := l.Metric(r.metric); ok && (!r.found || v > r.value) {
			r.found, r.value = true, v
			r.story = report.Tell("Worst "+strings.TrimPrefix(r.metric.String(), "worst "), l)
		}
	}
	return nil
}

// end takes in that the run is over. It returns a fault for the first request
// that was asked for and is not there.
func (w *why) end() (err error) {
	if w.charged == nil {
		return nil
	}
	if w.report, err = w.charged.Report(); err != nil {
		return err
	}
	var stories []report.Story
	for i, id := range w.explain {
		at := slices.IndexFunc(w.stories, func(s report.Story) bool { return s.ID == id })
		if at < 0 {
			return usagef("--explain %d: the run has no such request; requests are numbered from 0 in order of the trace", id)
		}
		if !slices.Contains(w.explain[:i], id) {
			stories = append(stories, w.stories[at])
		}
	}
	for _, r := range w.records {
		if r.found {
			stories = append(stories, r.story)
		}
	}
	w.stories = stories
	return nil
}

// members returns the answers as members of JSON.
func (w *why) members() (list []report.Member) {
	if w.blame {
		list = append(list, report.BlameMember(w.report))
	}
	if len(w.explain)+len(w.records) > 0 {
		list = append(list, report.StoriesMember(w.stories))
	}
	return list
}

// write prints the answers, with an empty line before each but the first, which
// has one already if spaced.
func (w *why) write(out io.Writer, spaced bool) error {
	var answers []func(io.Writer) error
	if w.blame {
		answers = append(answers, func(out io.Writer) error { return report.Blame(out, w.report) })
	}
	for i := range w.stories {
		answers = append(answers, w.stories[i].Write)
	}
	for _, answer := range answers {
		if !spaced {
			if _, err := fmt.Fprintln(out); err != nil {
				return err
			}
		}
		if err := answer(out); err != nil {
			return err
		}
		spaced = false
	}
	return nil
}
