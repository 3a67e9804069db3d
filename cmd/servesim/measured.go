package main

import (
	"fmt"

	"servesim/analysis"
	"servesim/analysis/export"
	"servesim/analysis/transcript"
	"servesim/report"
	"servesim/sim/observe"
)

// measured is the report of a run in a file in the making.
type measured struct {
	calls    transcript.Tee // where the run's calls go
	lack     string         // why there is no report, if so
	unseen   analysis.Unseen
	records  bool // servesim's records, which are read as they are
	recorder *transcript.Recorder
	kept     transcript.Chronicle
	clock    bool
}

// newMeasured returns what takes in r, a run of f.
func newMeasured(f *export.File, r *export.Run) *measured {
	facts := &r.Facts
	m := &measured{clock: facts.Clock}
	switch {
	case f.Format.Dialect == "servesim":
		m.records = true
	case !facts.First:
		m.lack = "the file doesn't say of every answer when its first token came"
	case !facts.Outputs:
		m.lack = "the file doesn't say of every answer how many tokens it has"
	default:
		m.unseen = analysis.Unseen{Clock: !facts.Clock, Engine: true, ITL: !facts.Gaps, MaxGap: !facts.Gaps, Prompts: !facts.Prompts}
		m.recorder = transcript.NewRecorder(*facts, &m.kept)
		m.calls = transcript.Tee{m.recorder}
	}
	return m
}

// report adds the report to e, of a run in src, by what is asked.
func (m *measured) report(src export.Source, e *report.Export, ask analysis.Options) error {
	if e.NoReport = m.lack; m.lack != "" {
		return nil
	}
	if m.records {
		return replayRecords(src, func(in *observe.Reader) error {
			ask.Header = in.Header()
			m.unseen.ITL = ask.Header.RequestsOnly
			return m.summarise(e, ask, in.Replay)
		})
	}
	f := &e.Run.Facts
	if !f.Failures {
		e.Cautions = append(e.Cautions, e.File.Format.Title+" doesn't write all failed calls, so that goodput is of those that it wrote")
	}
	if n := m.recorder.Empty(); n > 0 {
		e.Cautions = append(e.Cautions, analysis.Counted(n, "answer")+" without a token counts as failed")
	}
	return m.summarise(e, ask, func(to observe.Sink) error { return m.kept.Replay(m.clock, to) })
}

// summarise adds the report of the records that replay gives to e.
func (m *measured) summarise(e *report.Export, ask analysis.Options, replay func(observe.Sink) error) error {
	ask.Unseen = m.unseen
	ask.SLO, e.Unjudged = m.unseen.Judged(ask.SLO)
	s := analysis.NewSummary(ask)
	if err := replay(s); err != nil {
		return fmt.Errorf("%s: %w", e.File.Name, err)
	}
	e.Report = s.Report()
	return nil
}

// judgeMeasured returns errMissedSLO if a run missed a limit on it.
func judgeMeasured(runs []report.Export) error {
	var all []analysis.Verdict
	for i := range runs {
		e := &runs[i]
		if e.Report == nil {
			continue
		}
		for _, v := range e.Report.Verdicts {
			if len(runs) > 1 {
				v.Limit = fmt.Sprintf("%s, run %d: %s", e.File.Name, e.Number, v.Limit)
			}
			all = append(all, v)
		}
	}
	return judge(all)
}
