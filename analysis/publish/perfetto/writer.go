package perfetto

import (
	"errors"
	"fmt"
	"io"

	"servesim/analysis"
	"servesim/analysis/blame"
	"servesim/sim"
	"servesim/sim/observe"
)

// A Run is what a trace says of a run besides its records.
type Run struct {
	Header observe.Header
	// SLO is the limits that requests are held against.
	SLO analysis.SLO
}

// Told is what a trace has, and what it leaves out.
type Told struct {
	// Requests and Steps are those of the run, DrawnRequests and DrawnSteps those that
	// the trace has.
	Requests, DrawnRequests, Steps, DrawnSteps int64
	// Windows is the number of parts of the run that are drawn, 0 for the whole.
	Windows int
}

// Whole tells that nothing is left out.
func (t *Told) Whole() bool { return t.Requests == t.DrawnRequests && t.Steps == t.DrawnSteps }

// String says what is drawn, for people.
func (t *Told) String() string {
	return fmt.Sprintf("%s of %s and %s of %s", analysis.Grouped(t.DrawnRequests), analysis.Counted(t.Requests, "request"),
		analysis.Grouped(t.DrawnSteps), analysis.Counted(t.Steps, "step"))
}

// The tracks that a trace has once, and the first of those of replicas and of
// requests.
const (
	trackRun      track = 1
	trackReplicas track = 16
	trackRequests track = 1 << 24
)

// The tracks of a replica, counted from its first.
const (
	ofProcess = iota
	ofEngine
	ofSteps
	ofBlocks
	ofRunning
	ofWaiting
	ofRequests
	tracksOfReplica
)

// maxReplicas bounds what a record may take for the number of a replica.
const maxReplicas = 1 << 20

// A Writer is a Sink that writes a run as a trace. It needs the records that
// engine.Config.Detail gives, in the order in which a run gives them.
type Writer struct {
	stream   *stream
	run      Run
	plan     Plan
	limits   []analysis.Limit
	charged  *blame.Blame
	replicas []*replica
	told     Told
	last     sim.Time // end of what ended last
	track    track    // of the request to come
	flow     uint64   // the one to come
	args     arguments
	spans    []span // scratch
}

// New begins to write what plan says of a run to out.
func New(out io.Writer, run Run, plan Plan) *Writer {
	w := &Writer{stream: newStream(out), run: run, plan: plan, limits: limits(&run.SLO), track: trackRequests, flow: 1}
	w.charged = blame.New(blame.Options{Each: w.life})
	w.told.Windows = len(plan.Windows)
	w.stream.declare(trackRun, &descriptor{name: "servesim"})
	return w
}

// replica returns that of a number, declared.
func (w *Writer) replica(n int32) (*replica, error) {
	if n < 0 || n >= maxReplicas {
		return nil, fmt.Errorf("perfetto: found replica %d; it must be from 0 to %d", n, maxReplicas-1)
	}
	for len(w.replicas) <= int(n) {
		w.replicas = append(w.replicas, nil)
	}
	if w.replicas[n] == nil {
		w.replicas[n] = &replica{tracks: trackReplicas + track(n)*tracksOfReplica, live: map[int64]*living{}}
		w.declare(w.replicas[n].tracks, n)
	}
	return w.replicas[n], nil
}

// declare declares the tracks of a replica, from first on.
func (w *Writer) declare(first track, n int32) {
	name := fmt.Sprintf("replica %d", n)
	w.stream.declare(first+ofProcess, &descriptor{name: name, pid: int64(n) + 1})
	w.stream.declare(first+ofEngine, &descriptor{name: "engine", parent: first, order: orderExplicit, rank: 1})
	w.stream.declare(first+ofSteps, &descriptor{name: "steps", parent: first + ofEngine, rank: 1})
	w.stream.declare(first+ofBlocks, &descriptor{name: "KV blocks in use", parent: first + ofEngine, rank: 2, counts: "blocks"})
	w.stream.declare(first+ofRunning, &descriptor{name: "running", parent: first + ofEngine, rank: 3, counts: "requests"})
	w.stream.declare(first+ofWaiting, &descriptor{name: "waiting", parent: first + ofEngine, rank: 4, counts: "requests"})
	w.stream.declare(first+ofRequests, &descriptor{name: "requests", parent: first, order: orderChronological, rank: 2})
}

// Step implements observe.Sink.
func (w *Writer) Step(r *observe.StepRun) error {
	p, err := w.replica(r.Replica)
	if err != nil {
		return err
	}
	p.trim(r.Oldest)
	p.note(r, &w.plan)
	if err := w.charged.Step(r); err != nil {
		return err
	}
	w.steps(p, r)
	w.told.Steps += r.Steps
	w.last = max(w.last, r.Start.Add(r.Duration()))
	w.release(p, false)
	return w.stream.err
}

// Request implements observe.Sink.
func (w *Writer) Request(r *observe.Request) error {
	if _, err := w.replica(r.Replica); err != nil {
		return err
	}
	w.told.Requests++
	w.last = max(w.last, r.End)
	return errors.Join(w.charged.Request(r), w.stream.err)
}

// Close writes what follows from all records, and returns what the trace has.
func (w *Writer) Close() (Told, error) {
	if _, err := w.charged.Report(); err != nil { // which settles with the requests that were left
		return w.told, err
	}
	for _, p := range w.replicas {
		if p == nil {
			continue
		}
		w.release(p, true)
		if p.began && !p.unfinished && w.plan.overlaps(p.end, p.end) {
			w.idle(p)
		}
	}
	w.windows()
	return w.told, w.stream.err
}

// windows writes what the run was, and which parts of it are drawn.
func (w *Writer) windows() {
	h, a := &w.run.Header, w.args.reset()
	a.text(argVersion, h.Version)
	a.text(argScenario, h.Scenario)
	a.text(argSeed, fmt.Sprint(h.Seed))
	a.text(argModel, h.Model)
	a.text(argProfile, h.Profile)
	a.text(argPolicy, h.Policy)
	a.integer(argRequests, w.told.Requests)
	a.integer(argDrawnRequests, w.told.DrawnRequests)
	a.integer(argSteps, w.told.Steps)
	a.integer(argDrawnSteps, w.told.DrawnSteps)
	w.stream.begin(trackRun, run, 0, a, nil)
	at := sim.Time(0)
	part := func(e event, to sim.Time, why string) {
		if to = min(to, w.last); nanoseconds(to) <= nanoseconds(at) {
			return
		}
		a.reset().text(argWhy, why)
		w.stream.begin(trackRun, e, at, a, nil)
		w.stream.end(trackRun, to, 0, 0)
		at = to
	}
	for _, v := range w.plan.Windows {
		part(leftOut, v.From, "")
		part(drawn, v.To, v.Why)
	}
	if len(w.plan.Windows) == 0 {
		part(drawn, w.last, "the whole run")
	}
	part(leftOut, w.last, "")
	w.stream.end(trackRun, w.last, 0, 0)
}
