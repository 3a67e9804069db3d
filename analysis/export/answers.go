package export

import (
	"fmt"

	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// answers are the arrays that vLLM's results and SGLang's, which descend from them,
// have alike: one element for each request.
type answers struct {
	inputs, outputs []count
	ttfts           []span
	itls            [][]span
	errors          []string
}

// need asks c for each of the arrays.
func (a *answers) need(c *columns) {
	c.need("input_lens", a.inputs != nil, len(a.inputs))
	c.need("output_lens", a.outputs != nil, len(a.outputs))
	c.need("ttfts", a.ttfts != nil, len(a.ttfts))
	c.need("itls", a.itls != nil, len(a.itls))
	c.need("errors", a.errors != nil, len(a.errors))
}

// good tells whether request i got its answer. The files have no mask of that.
func (a *answers) good(i int) bool { return a.errors[i] == "" && a.outputs[i] > 0 }

// whole returns the time from the call of request i to its last chunk.
func (a *answers) whole(i int) sim.Duration { return sim.Duration(a.ttfts[i]) + sumOf(a.itls[i]) }

// units holds the mean TTFT of the answers against the one that the file states,
// and returns what a reader should know of the difference.
func (a *answers) units(p *pass, stated *float64) string {
	var sum float64
	n := 0
	for i := range a.ttfts {
		if a.good(i) {
			sum += sim.Duration(a.ttfts[i]).Milliseconds()
			n++
		}
	}
	return units(p, "mean_ttft_ms", stated, sum/float64(max(n, 1)), "ttfts")
}

// found returns request i, of which nothing but its lengths is known yet.
func (a *answers) found(i int) *found {
	f := &found{path: fmt.Sprintf("input_lens[%d]", i), gaps: true}
	f.call = transcript.Call{Prompt: int32(a.inputs[i]), Output: int32(a.outputs[i]), Wanted: transcript.Unknown, Cached: transcript.Unknown}
	return f
}

// failed makes of f, which is request i, a call that failed.
func (a *answers) failed(p *pass, i int, f *found) {
	f.call.Outcome, f.call.Error, f.call.Closed = observe.Rejected, lastLine(a.errors[i]), transcript.Never
	f.call.Output = 0
	if a.errors[i] == "" {
		f.call.Error = "no output, and no error is told"
		p.run.count("calls without an error but without output, taken as failed")
	}
}
