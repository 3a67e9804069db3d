package export

import (
	"servesim/analysis/transcript"
	"servesim/internal/exact"
	"servesim/internal/infile"
	"servesim/internal/jsonread"
	"servesim/sim"
	"servesim/sim/observe"
)

// pass is one reading of a file.
type pass struct {
	name   string
	in     *jsonread.Reader
	faults *infile.Faults
	to     stage
	run    *Run
	err    error // of the stage, which ends the pass
}

// stage is what a pass does with what it finds.
type stage interface {
	// begin takes the next run, of which Label, Notes and what the format always
	// knows are set.
	begin(*Run) error
	// call takes a call of the run that has begun.
	call(*pass, *found) error
}

// found is a call as a format has it. In call everything is relative to when it
// was sent, which is 0.
type found struct {
	call transcript.Call
	// at is when it was sent, lag how long before that it was scheduled.
	at  exact.Instant
	lag sim.Duration
	// arrival is when it arrived, where the file has that on a clock of its own.
	arrival *exact.Instant
	// gaps tells that the instant of every chunk is known.
	gaps bool
	// line is that of the file on which its record ends.
	line int64
	// path leads to its record inside the value that is read, for faults.
	path string
}

// begin begins a run.
func (p *pass) begin(run *Run) {
	p.run = run
	if p.err == nil {
		p.err = p.to.begin(run)
	}
	if p.err != nil {
		p.in.Stop()
	}
}

// emit hands a call on.
func (p *pass) emit(f *found) {
	if p.err != nil {
		return
	}
	if f.line == 0 {
		f.line = p.in.Line()
	}
	if p.err = p.to.call(p, f); p.err != nil {
		p.in.Stop()
	}
}

// fault adds a fault of what is at path.
func (p *pass) fault(path, found, want, fix string) { p.in.FaultAt(path, found, want, fix) }

// checker is the first pass: it checks calls and learns what the file knows.
type checker struct {
	file  *File
	runs  *[]*Run
	names map[[16]byte]int64 // the line of each name
	first exact.Instant      // of the run, in the order of the file
}

func (c *checker) begin(run *Run) error {
	*c.runs = append(*c.runs, run)
	c.names = map[[16]byte]int64{}
	f := &run.Facts
	f.First, f.Gaps, f.Prompts, f.Outputs, f.Cached = true, true, true, true, true
	return nil
}

func (c *checker) call(p *pass, f *found) error {
	run, call := p.run, &f.call
	run.Calls++
	c.unique(p, f)
	if last := f.last(); last > longest {
		p.fault(f.path, "a call of "+seconds(last), "at most 26 days", "times seem to be in smaller units than the tool writes")
	} else if err := call.Check(); err != nil {
		p.fault(f.path, err.Error(), "a call that can be", "")
	}
	if run.Facts.Clock {
		c.clock(p, f)
	}
	if call.Outcome != observe.Completed {
		run.fail(call.Error)
		return nil
	}
	run.Completed++
	run.learn(f)
	return nil
}

// longest is how far apart two calls of a run and the ends of one may be, so that
// every instant of the run is one of sim's.
const longest = sim.MaxDuration / 4

// last returns the latest instant of f, or a time beyond longest if one is beyond
// the range of time.
func (f *found) last() sim.Duration {
	last := max(f.call.Closed, 0)
	for i := range f.call.Chunks {
		if at := f.call.Chunks[i].At; at < 0 {
			return sim.MaxDuration
		} else if at > last {
			last = at
		}
	}
	return sim.Duration(last)
}

// learn takes what a call that was answered lacks from what the run knows. An
// answer without a token has no instants that could be missing.
func (r *Run) learn(f *found) {
	call, none := &f.call, transcript.Unknown
	for _, k := range []struct {
		lacks bool
		n     *int64
		fact  *bool
	}{
		{len(call.Chunks) == 0 && call.Output != 0, &r.missing.first, &r.Facts.First},
		{!f.gaps && call.Output != 0, &r.missing.gaps, &r.Facts.Gaps},
		{call.Prompt == none, &r.missing.prompts, &r.Facts.Prompts},
		{call.Output == none, &r.missing.outputs, &r.Facts.Outputs},
		{call.Cached == none, &r.missing.cached, &r.Facts.Cached},
	} {
		if k.lacks {
			*k.n++
			*k.fact = false
		}
	}
}

// clock keeps the earliest instant of the run and checks that all are on one clock.
func (c *checker) clock(p *pass, f *found) {
	at := f.at.Minus(f.lag)
	run := p.run
	if !run.known {
		run.origin, run.known, c.first = at, true, at
		return
	}
	if at.Before(run.origin) {
		run.origin = at
	}
	early, late := at, c.first
	if late.Before(early) {
		early, late = late, early
	}
	if d, ok := late.Since(early); !ok || d > longest {
		p.fault(f.path, "a call sent at "+string(f.at.Append(nil))+" s, the first of the run at "+string(c.first.Append(nil))+" s",
			"instants of one clock, within 26 days", "two clocks, or two units, are mixed")
	}
}

// unique checks that no call before has the name.
func (c *checker) unique(p *pass, f *found) {
	if f.call.Name == "" {
		return
	}
	key := fingerprint(f.call.Name)
	if line, known := c.names[key]; known {
		p.fault(f.path, "the id "+infile.Quote([]byte(f.call.Name))+" again, which "+lineName(line)+" has", "an id of its own for each request", "")
		return
	}
	c.names[key] = f.line
}

// replayer is the second pass: it hands calls to their sinks.
type replayer struct {
	runs []*Run // those of the first pass that are to come
	run  *Run
	of   func(*Run) (transcript.Sink, error)
	sink transcript.Sink
	n    int64
}

func (r *replayer) begin(*Run) (err error) {
	r.run, r.runs, r.n = r.runs[0], r.runs[1:], 0
	r.sink, err = r.of(r.run)
	return err
}

func (r *replayer) call(p *pass, f *found) error {
	if r.sink == nil {
		return nil
	}
	call := &f.call
	call.ID = r.n
	r.n++
	if !r.run.Facts.Gaps && f.gaps {
		ends(call)
	}
	var shift sim.Duration
	if r.run.Facts.Clock {
		shift, _ = f.at.Since(r.run.origin) // the first pass has checked it
	}
	call.Scheduled, call.Sent = sim.Time(shift), sim.Time(shift)
	if r.run.Facts.Schedule {
		call.Scheduled = sim.Time(shift - f.lag)
	}
	for i := range call.Chunks {
		call.Chunks[i].At += call.Sent
	}
	if call.Closed != transcript.Never {
		call.Closed += call.Sent
	}
	return r.sink.Call(call)
}

// ends leaves the first and the last chunk of a call: in a run that doesn't know
// every gap of every call, none is told.
func ends(c *transcript.Call) {
	n := len(c.Chunks)
	if n <= 2 {
		return
	}
	c.Chunks[1] = c.Chunks[n-1]
	c.Chunks = c.Chunks[:2]
	c.Chunks[0].Tokens, c.Chunks[1].Tokens = firstOf(c.Output)
}

// firstOf divides the tokens of an answer between its first chunk and its last.
func firstOf(output int32) (first, last int32) {
	switch output {
	case transcript.Unknown:
		return transcript.Unknown, transcript.Unknown
	case 0:
		return 0, 0
	}
	return 1, output - 1
}
