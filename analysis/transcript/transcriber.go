package transcript

import (
	"fmt"
	"slices"
	"strconv"

	"servesim/sim"
	"servesim/sim/observe"
)

// Transcriber is an observe.Sink that writes down what the clients of a run saw
// and hands each call to a Sink when it has ended.
//
// A call is sent at Request.Arrival. A token is made at the end of its step and
// reaches the client Request.Response later, as the whole answer does; so what
// is measured from the send to the first chunk is TTFT plus that delay. The
// call's Response has it, for who wants the engine's instant. A call that did not
// complete closes at Request.End, and its chunks may come later.
//
// Of a request that was tried again the call tells what came of its last attempt.
//
// It keeps the steps since the first of the oldest request that is under way.
type Transcriber struct {
	to       Sink
	how      Streaming
	coarse   bool
	replicas []*replica
	call     Call
	stream   stream
}

// NewTranscriber returns a Transcriber that hands calls to a Sink. An error says
// what of how can't be.
func NewTranscriber(to Sink, how Streaming) (*Transcriber, error) {
	if err := how.Check(); err != nil {
		return nil, err
	}
	return &Transcriber{to: to, how: how}, nil
}

// NewCoarse returns a Transcriber for records that leave out the steps: of each
// answer it knows the first token and the last, which carries all others. Gaps
// is then no fact of the calls.
func NewCoarse(to Sink) *Transcriber { return &Transcriber{to: to, coarse: true} }

// replica is what is known of the steps of one engine.
type replica struct {
	runs []run // in order of serial
	next int64 // the serial of the step that comes next
	// first is the serial of the first step of each request under way, and queue
	// these requests in the order of that, some of which may have ended.
	first map[int64]int64
	queue []int64
	// late are requests that ended before the record of a step of theirs came.
	late []observe.Request
	// gone are requests whose clients gave up, and which steps that were formed
	// before may yet compute: that under way then and the one after it.
	gone []gone
}

// gone is a request whose client gave up, and when.
type gone struct {
	id  int64
	end sim.Time
}

// run is some steps in a row.
type run struct {
	serial, steps int64
	start         sim.Time
	first, inc    sim.Duration
}

// end returns when the step of a serial in r ended.
func (r *run) end(serial int64) sim.Time {
	n := sim.Duration(serial - r.serial + 1)
	return r.start.Add(n*r.first + r.inc*(n*(n-1)/2))
}

// at returns the replica of a number, which is added if it isn't there.
func (t *Transcriber) at(n int32) (*replica, error) {
	if n < 0 || n > 1<<20 {
		return nil, fmt.Errorf("replica %d; replicas are numbered from 0 up", n)
	}
	for int(n) >= len(t.replicas) {
		t.replicas = append(t.replicas, &replica{first: make(map[int64]int64)})
	}
	return t.replicas[n], nil
}

// Step implements observe.Sink. It is an error if steps are missing.
func (t *Transcriber) Step(s *observe.StepRun) error {
	if t.coarse {
		return nil
	}
	r, err := t.at(s.Replica)
	if err != nil {
		return err
	}
	if s.Serial != r.next || s.Steps < 1 {
		return fmt.Errorf("replica %d, step at %v: %d steps from number %d; number %d is next", s.Replica, s.Start, s.Steps, s.Serial, r.next)
	}
	for i := range s.Chunks {
		id := s.Chunks[i].ID
		_, known := r.first[id]
		if !known && !slices.ContainsFunc(r.gone, func(g gone) bool { return g.id == id }) {
			r.first[id] = s.Serial
			r.queue = append(r.queue, id)
		}
	}
	r.gone = slices.DeleteFunc(r.gone, func(g gone) bool { return g.end <= s.Start })
	r.runs = append(r.runs, run{s.Serial, s.Steps, s.Start, s.First, s.Inc})
	r.next += s.Steps
	return t.catchUp(r)
}

// catchUp hands on the requests that waited for steps which are now there.
func (t *Transcriber) catchUp(r *replica) error {
	waiting := r.late[:0]
	for i := range r.late {
		if needs(&r.late[i]) > r.next {
			waiting = append(waiting, r.late[i])
			continue
		}
		if err := t.transcribe(r, &r.late[i]); err != nil {
			return err
		}
	}
	clear(r.late[len(waiting):])
	r.late = waiting
	r.forget()
	return nil
}

// needs returns the number of steps that the tokens of r take to tell.
func needs(r *observe.Request) int64 {
	if len(r.Made) == 0 {
		return 0
	}
	last := r.Made[len(r.Made)-1]
	return last.Step + last.Steps
}

// Request implements observe.Sink. It is an error if r has tokens and doesn't say
// in which steps they were made.
func (t *Transcriber) Request(r *observe.Request) error {
	if t.coarse {
		return t.hand(r, nil)
	}
	x, err := t.at(r.Replica)
	if err != nil {
		return err
	}
	delete(x.first, r.ID)
	for _, a := range r.Attempts {
		lost, err := t.at(a.Replica)
		if err != nil {
			return err
		}
		delete(lost.first, r.ID)
		lost.forget()
	}
	if r.Outcome == observe.TimedOut || r.Outcome == observe.Cancelled {
		x.gone = append(x.gone, gone{r.ID, r.End})
	}
	if needs(r) > x.next {
		late := *r
		late.Made = slices.Clone(r.Made)
		x.late = append(x.late, late)
		return nil
	}
	if err := t.transcribe(x, r); err != nil {
		return err
	}
	x.forget()
	return nil
}

// forget drops the steps that no request can refer to any more.
func (x *replica) forget() {
	for len(x.queue) > 0 {
		if _, live := x.first[x.queue[0]]; live {
			break
		}
		x.queue = x.queue[1:]
	}
	if len(x.late) > 0 {
		return
	}
	oldest := x.next
	if len(x.queue) > 0 {
		oldest = x.first[x.queue[0]]
	}
	i, found := x.find(oldest)
	if !found {
		i = len(x.runs)
	}
	if 2*i >= len(x.runs) { // at most as many are moved as were dropped
		x.runs = x.runs[:copy(x.runs, x.runs[i:])]
	}
}

// find returns the index of the run that holds the step of a serial.
func (x *replica) find(serial int64) (i int, found bool) {
	return slices.BinarySearchFunc(x.runs, serial, func(r run, s int64) int {
		switch {
		case s < r.serial:
			return 1
		case s >= r.serial+r.steps:
			return -1
		}
		return 0
	})
}

// transcribe hands on r, all of whose steps are known.
func (t *Transcriber) transcribe(x *replica, r *observe.Request) error {
	made := int64(0)
	for _, span := range r.Made {
		if made += span.Steps; span.Steps < 1 || span.Steps > int64(r.Output) {
			break // so that no sum overflows, and no time is spent on what can't be
		}
	}
	if made != int64(r.Output) {
		return fmt.Errorf("request %d has %d output tokens, but its record tells of the steps of %d; records in detail tell of all", r.ID, r.Output, made)
	}
	return t.hand(r, func(token func(sim.Time)) error {
		for _, span := range r.Made {
			i, found := x.find(span.Step)
			if !found || span.Steps < 1 || span.Step+span.Steps > x.next {
				return fmt.Errorf("request %d made tokens in %d steps from number %d, of which there are no records", r.ID, span.Steps, span.Step)
			}
			for s := span.Step; s < span.Step+span.Steps; s++ {
				if s >= x.runs[i].serial+x.runs[i].steps {
					i++
				}
				token(x.runs[i].end(s))
			}
		}
		return nil
	})
}

// hand makes the call of r and hands it on. tokens gives the instants of its
// tokens; nil is the first and the last.
func (t *Transcriber) hand(r *observe.Request, tokens func(func(sim.Time)) error) error {
	c, s := &t.call, &t.stream
	*c = Call{
		ID: r.ID, Name: r.Name, Class: r.Class,
		Scheduled: r.Arrival, Sent: r.Arrival, Closed: r.End, Response: r.Response,
		Prompt: r.Prompt, Output: r.Output, Wanted: r.Wanted, Cached: r.Cached,
		Outcome: r.Outcome, Error: r.Reason,
	}
	if r.Session != 0 {
		c.Session = strconv.FormatInt(r.Session, 10)
	}
	s.begin(&t.how)
	if joined := r.Joined(); t.how.Role == RoleAccepted && joined != Never && r.Outcome != observe.Rejected && (r.Detour == 0 || joined < r.End) {
		s.chunks = append(s.chunks, Chunk{At: joined.Add(r.Response), Kind: Role})
	}
	if tokens == nil {
		s.coarse(r)
	} else if err := tokens(func(at sim.Time) { s.token(at.Add(r.Response)) }); err != nil {
		return err
	}
	if r.Outcome == observe.Completed {
		c.Closed = s.end(r.End.Add(r.Response), true)
	} else if r.Output > 0 {
		s.end(r.Last.Add(r.Response), false)
	}
	c.Chunks = s.chunks
	return t.to.Call(c)
}

// coarse is the chunks of the first token of r and of all others.
func (s *stream) coarse(r *observe.Request) {
	if r.Output > 0 {
		s.chunks = append(s.chunks, Chunk{At: r.First.Add(r.Response), Tokens: 1})
	}
	if r.Output > 1 {
		s.chunks = append(s.chunks, Chunk{At: r.Last.Add(r.Response), Tokens: r.Output - 1})
	}
}

// Close returns an error if a request refers to steps of which no record came.
func (t *Transcriber) Close() error {
	for n, x := range t.replicas {
		if len(x.late) > 0 {
			return fmt.Errorf("request %d made tokens in step %d of replica %d, of which there is no record", x.late[0].ID, needs(&x.late[0])-1, n)
		}
	}
	return nil
}
