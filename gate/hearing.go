package gate

import (
	"servesim/analysis/dialect"
	"servesim/analysis/transcript"
	"servesim/sim/observe"
)

// A hearing is a measured run in the making: its records, for what judges simulated
// ones, and what the gate's dialect says of its calls.
type hearing struct {
	facts   transcript.Facts
	run     *run
	calls   *dialect.Sink
	records *transcript.Recorder
}

// hearing returns a hearing of calls of which facts are known.
func (g *Gate) hearing(facts transcript.Facts) *hearing {
	r := g.newRun()
	return &hearing{facts, r, g.listen(facts), transcript.NewRecorder(facts, observe.Tee{r.pool, r.observer})}
}
