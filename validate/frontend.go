package validate

import (
	"servesim/sim"
	"servesim/sim/workload"
)

// A frontEnd is a source whose requests pass a serial stage before they reach
// the engine: the server's HTTP and tokeniser, which take one request after
// another in order of arrival. Each takes fixed + perToken·prompt. To the
// engine a request arrives when the stage is done with it; delay says by how
// much that is later than the client's call.
type frontEnd struct {
	source          workload.Source
	reactive        workload.Reactive // the source, if it is one
	fixed, perToken sim.Duration
	free            sim.Time       // when the stage has served everyone so far
	delays          []sim.Duration // by id
}

// newFrontEnd puts a stage before source. The result is a Reactive if source is.
func newFrontEnd(source workload.Source, fixed, perToken sim.Duration) (workload.Source, *frontEnd) {
	f := &frontEnd{source: source, fixed: fixed, perToken: perToken}
	if r, ok := source.(workload.Reactive); ok {
		f.reactive = r
		return reactiveFrontEnd{f}, f
	}
	return f, f
}

// Next implements workload.Source.
func (f *frontEnd) Next() (workload.Request, error) {
	r, err := f.source.Next()
	if err != nil {
		return r, err
	}
	return f.pass(r), nil
}

// pass sends a request through the stage.
func (f *frontEnd) pass(r workload.Request) workload.Request {
	called := r.Arrival
	f.free = max(f.free, called).Add(f.fixed + f.perToken*sim.Duration(r.Prompt))
	r.Arrival = f.free
	for int64(len(f.delays)) <= r.ID {
		f.delays = append(f.delays, 0)
	}
	f.delays[r.ID] = r.Arrival.Sub(called)
	return r
}

// delay returns how long the stage held request id, its wait included.
func (f *frontEnd) delay(id int64) sim.Duration { return f.delays[id] }

// A reactiveFrontEnd is a frontEnd before a closed loop.
type reactiveFrontEnd struct{ *frontEnd }

// Done implements workload.Reactive.
func (f reactiveFrontEnd) Done(id int64, t sim.Time) (workload.Request, bool) {
	r, ok := f.reactive.Done(id, t)
	if !ok {
		return r, false
	}
	return f.pass(r), true
}
