package publish

import (
	"errors"

	"servesim/analysis"
	"servesim/analysis/publish/perfetto"
)

// errTwice says that a run can't be seen twice, as choosing what to draw of it takes.
var errTwice = errors.New("which part of the run to draw takes a look at it before, and what it is made of can be read only once; say which part by --perfetto-window all or a range such as 100s-160s, or write the trace to a file")

// beginPerfetto begins a timeline. What is drawn of a run that is long is chosen when
// it has been seen.
func beginPerfetto(e *Export) error {
	r := e.run
	if r.Timeline.Twice() && r.Again == nil {
		return errTwice
	}
	out, err := e.create("")
	if err != nil {
		return err
	}
	of := perfetto.Run{Header: r.Header, SLO: analysis.SLO{Goodput: r.Goodput, Run: r.RunLimits}}
	if !r.Timeline.Twice() {
		w := perfetto.New(out, of, r.Timeline.Plan())
		e.Records, e.finish = w, func() error { return e.tell(w) }
		return nil
	}
	scout := perfetto.NewScout(r.Timeline, &of.SLO)
	e.Records, e.finish = scout, func() error {
		w := perfetto.New(out, of, scout.Plan())
		if err := r.Again(w); err != nil {
			return err
		}
		return e.tell(w)
	}
	return nil
}

// tell ends a timeline, and notes what it leaves out unless somebody said which part.
func (e *Export) tell(w *perfetto.Writer) error {
	told, err := w.Close()
	if !told.Whole() && e.run.Timeline.Twice() {
		e.Note = "has " + told.String() + ";\n--perfetto-window all draws the whole run"
	}
	return err
}
