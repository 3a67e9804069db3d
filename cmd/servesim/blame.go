package main

import (
	"fmt"
	"io"

	"servesim/analysis/blame"
	"servesim/report"
	"servesim/sim/observe"

	"github.com/spf13/cobra"
)

// A why is what was asked about the causes of a run's latencies.
type why struct {
	blame   bool
	charged *blame.Blame
	report  *blame.Report
}

// bind adds the flags of w to cmd.
func (w *why) bind(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.blame, "blame", false, "print what latencies were spent on, and which prompts cost others time; servesim explain says more")
}

// begin returns the sink that answers, if anything was asked.
func (w *why) begin() []observe.Sink {
	if !w.blame {
		return nil
	}
	w.charged = blame.New(blame.Options{})
	return []observe.Sink{w.charged}
}

// end takes in that the run is over.
func (w *why) end() (err error) {
	if w.charged != nil {
		w.report, err = w.charged.Report()
	}
	return err
}

// members returns the answer as members of JSON.
func (w *why) members() []report.Member {
	if w.charged == nil {
		return nil
	}
	return []report.Member{report.BlameMember(w.report)}
}

// write prints the answer, after an empty line unless there is one already.
func (w *why) write(out io.Writer, spaced bool) error {
	if w.charged == nil {
		return nil
	}
	if !spaced {
		if _, err := fmt.Fprintln(out); err != nil {
			return err
		}
	}
	return report.Blame(out, w.report)
}
