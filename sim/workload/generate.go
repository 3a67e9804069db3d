package workload

import (
	"io"
	"math/rand/v2"

	"servesim/sim"
)

// mix says what a request is, apart from when it arrives. It holds no
// randomness.
type mix struct {
	classes []class
	upTo    []float64 // cumulative shares of classes, the last one 1
	cancel  float64   // share of requests that the client gives up
	after   Delay     // how long after their arrival
}

// class is a kind of request.
type class struct {
	name           string
	priority       int32
	prompt, output Length
}

// draws are the streams from which requests are drawn, one for each quantity,
// so that a change to one never moves another.
type draws struct{ class, prompt, output, cancel, after rand.PCG }

// fill draws what r is.
func (m *mix) fill(r *Request, d *draws) { m.fillAs(m.kind(d), r, d) }

// kind draws the class of a request.
func (m *mix) kind(d *draws) *class {
	if len(m.classes) > 1 {
		return &m.classes[pick(m.upTo, unit(&d.class))]
	}
	return &m.classes[0]
}

// fillAs draws what r, of class k, is.
func (m *mix) fillAs(k *class, r *Request, d *draws) {
	r.Class, r.Priority = k.name, k.priority
	r.Prompt = k.prompt.Draw(&d.prompt, 0)
	r.Output = k.output.Draw(&d.output, r.Prompt)
	if m.cancel > 0 && unit(&d.cancel) < m.cancel {
		for r.Cancel = 0; r.Cancel == 0; { // 0 would mean never
			r.Cancel = m.after.Draw(&d.after)
		}
	}
}

// Generator is a Source that draws requests: when they arrive from one stream
// of its seed, how long they are from others, so that two generators which
// differ only in their arrivals yield the same lengths in the same order.
type Generator struct {
	arrivals arrivals
	mix      mix
	draws    draws
	id       int64
	requests int64    // yields at most this many
	until    sim.Time // and none that arrives at or after this instant
	err      error
}

// Next returns the next request. It allocates nothing. The error is io.EOF
// after the last request, or says that an arrival is beyond the 106 days that
// a run can last.
func (g *Generator) Next() (Request, error) {
	if g.err != nil {
		return Request{}, g.err
	}
	if g.id >= g.requests {
		g.err = io.EOF
		return Request{}, g.err
	}
	at, err := g.arrivals.next()
	if err == nil && at >= g.until {
		err = io.EOF
	}
	if err != nil {
		g.err = err
		return Request{}, err
	}
	r := Request{ID: g.id, Arrival: at}
	g.id++
	g.mix.fill(&r, &g.draws)
	return r, nil
}
