package perfetto

import (
	"io"

	"servesim/analysis/blame"
	"servesim/sim"
)

// A track is the uuid of a track.
type track uint64

// sequence is the number of the one sequence of packets that a trace has.
const sequence = 1

// A stream writes the packets of a trace. The first error stays.
type stream struct {
	out io.Writer
	err error

	packet, body, part []byte // scratch
}

// newStream begins a trace.
func newStream(out io.Writer) *stream {
	s := &stream{out: out}
	s.packet = appendVarint(s.packet[:0], packetSequence, sequence)
	s.packet = appendVarint(s.packet, packetSequenceFlags, flagCleared|flagNeeds)
	s.body = s.body[:0]
	names := eventNames()
	s.intern(internedEvents, names[:])
	s.intern(internedAnnotations, annotationNames())
	s.packet = appendBytes(s.packet, packetInterned, s.body)
	s.flush()
	return s
}

// intern appends names, numbered from 1 up, to the body.
func (s *stream) intern(as number, names []string) {
	for i, name := range names {
		s.part = appendVarint(s.part[:0], nameIID, uint64(1+i))
		s.part = appendBytes(s.part, nameText, name)
		s.body = appendBytes(s.body, as, s.part)
	}
}

// flush writes the packet.
func (s *stream) flush() {
	s.part = appendBytes(s.part[:0], tracePacket, s.packet)
	if _, err := s.out.Write(s.part); err != nil && s.err == nil {
		s.err = err
	}
}

// A descriptor says what a track is.
type descriptor struct {
	name   string
	parent track  // 0 is none
	pid    int64  // of a process; 0 of other tracks
	order  uint64 // of its children; 0 is the viewer's
	rank   int    // among its siblings
	counts string // what a counter counts, empty if it's of slices
}

// declare writes a track, which no event may come before.
func (s *stream) declare(t track, d *descriptor) {
	s.body = appendVarint(s.body[:0], descriptorUUID, uint64(t))
	if d.parent != 0 {
		s.body = appendVarint(s.body, descriptorParent, uint64(d.parent))
	}
	if d.pid != 0 {
		s.part = appendVarint(s.part[:0], processPID, uint64(d.pid))
		s.part = appendBytes(s.part, processName, d.name)
		s.body = appendBytes(s.body, descriptorProcess, s.part)
	} else {
		s.body = appendBytes(s.body, descriptorName, d.name)
	}
	if d.counts != "" {
		s.part = appendBytes(s.part[:0], counterUnitName, d.counts)
		s.body = appendBytes(s.body, descriptorCounter, s.part)
	}
	if d.order != 0 {
		s.body = appendVarint(s.body, descriptorOrdering, d.order)
	}
	if d.rank != 0 {
		s.body = appendVarint(s.body, descriptorRank, uint64(d.rank))
	}
	s.packet = appendVarint(s.packet[:0], packetSequence, sequence)
	s.packet = appendBytes(s.packet, packetDescriptor, s.body)
	s.flush()
}

// begin writes the begin of a slice, from which flows start.
func (s *stream) begin(t track, e event, at sim.Time, a *arguments, flows []uint64) {
	s.open(t, typeBegin)
	s.body = appendVarint(s.body, eventNameIID, uint64(e))
	if a != nil {
		s.body = append(s.body, a.b...)
	}
	for _, f := range flows {
		s.body = appendFixed(s.body, eventFlow, f)
	}
	s.event(at)
}

// end writes the end of the latest slice of a track that is open, at which n flows
// from number first on end.
func (s *stream) end(t track, at sim.Time, first uint64, n int) {
	s.open(t, typeEnd)
	for i := range uint64(n) {
		s.body = appendFixed(s.body, eventTerminating, first+i)
	}
	s.event(at)
}

// count writes the value of a counter from an instant on.
func (s *stream) count(t track, at sim.Time, value int64) {
	s.open(t, typeCounter)
	s.body = appendVarint(s.body, eventCounter, uint64(value))
	s.event(at)
}

// open begins the body of an event.
func (s *stream) open(t track, kind uint64) {
	s.body = appendVarint(s.body[:0], eventType, kind)
	s.body = appendVarint(s.body, eventTrack, uint64(t))
}

// event writes the event that the body holds.
func (s *stream) event(at sim.Time) {
	s.packet = appendVarint(s.packet[:0], packetTimestamp, nanoseconds(at))
	s.packet = appendVarint(s.packet, packetSequence, sequence)
	s.packet = appendVarint(s.packet, packetSequenceFlags, flagNeeds)
	s.packet = appendBytes(s.packet, packetTrackEvent, s.body)
	s.flush()
}

// nanoseconds returns an instant of the run as a trace has it.
func nanoseconds(t sim.Time) uint64 { return uint64(max(t, 0)) / uint64(sim.Nanosecond) }

// arguments are those of a slice.
type arguments struct{ b, one, dict []byte }

// reset drops what there is.
func (a *arguments) reset() *arguments {
	a.b = a.b[:0]
	return a
}

// begin begins an argument.
func (a *arguments) begin(n argument) {
	a.one = appendVarint(a.one[:0], annotationNameIID, uint64(n))
}

// integer adds a number.
func (a *arguments) integer(n argument, v int64) {
	a.begin(n)
	a.one = appendVarint(a.one, annotationInt, uint64(v))
	a.b = appendBytes(a.b, eventAnnotation, a.one)
}

// ms adds a time in ms.
func (a *arguments) ms(n argument, d sim.Duration) {
	a.begin(n)
	a.one = appendDouble(a.one, annotationDouble, d.Milliseconds())
	a.b = appendBytes(a.b, eventAnnotation, a.one)
}

// text adds a text, cleaned, unless it is empty.
func (a *arguments) text(n argument, s string) {
	if s == "" {
		return
	}
	a.begin(n)
	a.one = appendBytes(a.one, annotationText, clean(s))
	a.b = appendBytes(a.b, eventAnnotation, a.one)
}

// parts adds a latency by cause, in ms, unless it is none.
func (a *arguments) parts(n argument, p *blame.Parts) {
	a.dict = appendVarint(a.dict[:0], annotationNameIID, uint64(n))
	any := false
	for c, d := range p {
		if d == 0 {
			continue
		}
		any = true
		a.begin(argCauses + argument(c))
		a.one = appendDouble(a.one, annotationDouble, d.Milliseconds())
		a.dict = appendBytes(a.dict, annotationEntry, a.one)
	}
	if any {
		a.b = appendBytes(a.b, eventAnnotation, a.dict)
	}
}

// causeKeys returns the names of the causes, in order.
func causeKeys() []string {
	var keys []string
	for c := range blame.Causes {
		keys = append(keys, blame.Cause(c).Key())
	}
	return keys
}
