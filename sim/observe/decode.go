package observe

import (
	"math"
	"strconv"
)

// The keys of each object, in the order in which a Writer writes them. The
// numbers in the functions below are indices of these.
var (
	headerKeys  = [...]string{"schema", "kind", "version", "seed", "scenario", "profile", "model", "policy", "requests_only", "streaming"}
	requestKeys = [...]string{
		"type", "id", "name", "line", "class", "session", "priority", "replica", "outcome", "reason",
		"arrival_ps", "sent_ps", "scheduled_ps", "first_ps", "last_ps", "end_ps", "response_ps",
		"prompt", "wanted", "output", "cached", "preemptions", "computed", "recomputed", "max_gap_ps",
		"queued_ps", "made", "lost", "detour_ps", "attempts",
	}
	stepKeys = [...]string{
		"type", "replica", "start_ps", "steps", "first_ps", "inc_ps", "decodes", "decode_kv",
		"chunks", "gaps", "running", "waiting", "preempted", "blocks_used",
		"serial", "base_ps", "held", "oldest_ps", "cut",
	}
	chunkKeys = [...]string{"id", "start", "tokens", "resumed", "ghost"}
	gapsKeys  = [...]string{"seqs", "steps", "first_ps", "inc_ps"}
	spanKeys  = [...]string{"step", "steps"}
	tryKeys   = [...]string{"replica", "from_ps", "to_ps", "output", "computed"}
	flowKeys  = [...]string{"stream_interval", "coalesce_ps", "role_chunk", "finish_chunk", "usage_chunk", "done_delay_ps"}
	endKeys   = [...]string{"type", "requests", "steps"}
)

// The numbers of keys that requests, steps and chunks have in files of schema 1.
const (
	requestKeys1 = 25
	stepKeys1    = 14
	chunkKeys1   = 4
)

// The numbers of keys that requests and steps have in files of schemas 2 and 3.
const (
	requestKeys3 = 28
	stepKeys3    = 18
)

// headerKeys2 is the number of keys of headers of schema 2 and before.
const headerKeys2 = 9

// keys returns those of all that the file has: the first of them in files of schema
// 1, more in those of schemas 2 and 3.
func (d *Reader) keys(all []string, in1, in3 int) []string {
	switch {
	case d.header.Schema == 1:
		return all[:in1]
	case d.header.Schema < 4:
		return all[:in3]
	}
	return all
}

// readHeader reads the header. The schema is looked at first, since another one
// may have other keys.
func (d *Reader) readHeader(s *scanner) {
	keys := headerKeys[:]
	if kind, schema := preview(s.b); kind != Kind {
		s.fail("this is not a record file: its first line must have \"kind\":%q", Kind)
	} else if v, err := strconv.Atoi(schema); err != nil || v < 1 || v > Schema {
		s.field = "schema"
		s.fail("found %q; this version reads schemas 1 to %d", schema, Schema)
	} else if v < 3 {
		keys = keys[:headerKeys2]
	}
	h := &d.header
	s.object(keys, func(k int) {
		switch k {
		case 0:
			h.Schema = int(s.integer(1, Schema))
		case 1:
			s.text(Kind)
		case 2:
			h.Version = s.text("")
		case 3:
			h.Seed = s.unsigned()
		case 4:
			h.Scenario = s.text("")
		case 5:
			h.Profile = s.text("")
		case 6:
			h.Model = s.text("")
		case 7:
			h.Policy = s.text("")
		case 8:
			h.RequestsOnly = s.boolean()
		case 9:
			h.Streaming = s.streaming()
		}
	})
}

// streaming reads how answers were cut into chunks, or null.
func (s *scanner) streaming() *Streaming {
	if s.literal("null") {
		return nil
	}
	f := &Streaming{}
	s.object(flowKeys[:], func(k int) {
		switch k {
		case 0:
			f.Interval = s.int32(0)
		case 1:
			f.Coalesce = s.span(0)
		case 2:
			f.Role = s.text("")
		case 3:
			f.Finish = s.boolean()
		case 4:
			f.Usage = s.boolean()
		case 5:
			f.DoneDelay = s.span(0)
		}
	})
	return f
}

// preview returns kind and schema of a header of any schema: a flat object whose
// other members do not matter.
func preview(line []byte) (kind, schema string) {
	s := scanner{b: line}
	s.expect('{')
	for s.err == nil && s.peek() == '"' {
		key := string(s.bytes())
		s.expect(':')
		c := s.peek()
		start := s.i
		if c == '"' {
			value := string(s.bytes())
			if key == "kind" {
				kind = value
			}
		} else {
			for s.i < len(s.b) && s.b[s.i] != ',' && s.b[s.i] != '}' {
				s.i++
			}
			if key == "schema" {
				schema = string(s.b[start:s.i])
			}
		}
		if s.peek() == ',' {
			s.i++
			s.peek()
		}
	}
	return kind, schema
}

// unsigned reads an integer from 0 to the largest uint64.
func (s *scanner) unsigned() uint64 {
	s.peek()
	start := s.i
	v, fits, ok := s.digits()
	if !fits || !ok {
		s.i = start
		s.fail("found %s, want an integer from 0 to %d", s.found(), uint64(math.MaxUint64))
	}
	return v
}

// readRequest reads a request into d.request.
func (d *Reader) readRequest(s *scanner) {
	r := &d.request
	r.Queued, r.Made, r.Lost, r.Detour, r.Attempts = Never, r.Made[:0], r.Lost[:0], 0, r.Attempts[:0]
	s.object(d.keys(requestKeys[:], requestKeys1, requestKeys3), func(k int) {
		switch k {
		case 0:
			s.text("request")
		case 1:
			r.ID = s.integer(math.MinInt64, math.MaxInt64)
		case 2:
			r.Name = s.text(r.Name)
		case 3:
			r.Line = s.integer(0, math.MaxInt64)
		case 4:
			r.Class = s.text(r.Class)
		case 5:
			r.Session = s.integer(math.MinInt64, math.MaxInt64)
		case 6:
			r.Priority = s.int32(math.MinInt32)
		case 7:
			r.Replica = s.int32(0)
		case 8:
			r.Outcome = s.outcome()
		case 9:
			r.Reason = s.text(r.Reason)
		default:
			r.readNumber(s, k)
		}
	})
}

// readNumber reads the instants, spans and counts of a request.
func (r *Request) readNumber(s *scanner, key int) {
	switch key {
	case 10:
		r.Arrival = s.instant()
	case 11:
		r.Sent = s.instant()
	case 12:
		r.Scheduled = s.instant()
	case 13:
		r.First = s.instant()
	case 14:
		r.Last = s.instant()
	case 15:
		r.End = s.instant()
	case 16:
		r.Response = s.span(0)
	case 17:
		r.Prompt = s.int32(0)
	case 18:
		r.Wanted = s.int32(0)
	case 19:
		r.Output = s.int32(0)
	case 20:
		r.Cached = s.int32(0)
	case 21:
		r.Preemptions = s.int32(0)
	case 22:
		r.Computed = s.integer(0, math.MaxInt64)
	case 23:
		r.Recomputed = s.integer(0, math.MaxInt64)
	case 24:
		r.MaxGap = s.span(0)
	case 25:
		r.Queued = s.instant()
	case 26:
		s.array(func() { r.Made = append(r.Made, s.steps()) })
	case 27:
		s.array(func() { r.Lost = append(r.Lost, s.integer(0, math.MaxInt64)) })
	case 28:
		r.Detour = s.span(0)
	case 29:
		s.array(func() { r.Attempts = append(r.Attempts, s.attempt()) })
	}
}

// outcome reads the name of an outcome.
func (s *scanner) outcome() Outcome {
	name := s.bytes()
	for o, n := range outcomeNames() {
		if n == string(name) {
			return Outcome(o)
		}
	}
	s.fail("found %q; the outcomes are %q", name, outcomeNames())
	return 0
}

// held reads the name of a reason.
func (s *scanner) held() Held {
	name := s.bytes()
	for h, n := range heldNames() {
		if n == string(name) {
			return Held(h)
		}
	}
	s.fail("found %q; the reasons are %q", name, heldNames())
	return 0
}

// readStep reads a run of steps into d.step.
func (d *Reader) readStep(s *scanner) {
	r := &d.step
	r.Chunks, r.Gaps, r.Oldest, r.Cut = r.Chunks[:0], r.Gaps[:0], Never, false
	s.object(d.keys(stepKeys[:], stepKeys1, stepKeys3), func(k int) {
		switch k {
		case 0:
			s.text("step")
		case 1:
			r.Replica = s.int32(0)
		case 2:
			r.Start = s.instant()
		case 3:
			r.Steps = s.integer(1, math.MaxInt64)
		case 4:
			r.First = s.span(0)
		case 5:
			r.Inc = s.span(math.MinInt64)
		case 6:
			r.Decodes = s.int32(0)
		case 7:
			r.DecodeKV = s.integer(0, math.MaxInt64)
		case 8:
			s.array(func() { r.Chunks = append(r.Chunks, s.chunk(d.keys(chunkKeys[:], chunkKeys1, len(chunkKeys)))) })
		case 9:
			s.array(func() { r.Gaps = append(r.Gaps, s.gaps()) })
		case 10:
			r.Running = s.int32(0)
		case 11:
			r.Waiting = s.int32(0)
		case 12:
			r.Preempted = s.int32(0)
		case 13:
			r.BlocksUsed = s.integer(0, math.MaxInt64)
		case 14:
			r.Serial = s.integer(0, math.MaxInt64)
		case 15:
			r.Base = s.span(0)
		case 16:
			r.Held = s.held()
		case 17:
			r.Oldest = s.instant()
		case 18:
			r.Cut = s.boolean()
		}
	})
}

// chunk reads one chunk, which has keys.
func (s *scanner) chunk(keys []string) (c Chunk) {
	s.object(keys, func(k int) {
		switch k {
		case 0:
			c.ID = s.integer(math.MinInt64, math.MaxInt64)
		case 1:
			c.Start = s.int32(0)
		case 2:
			c.Tokens = s.int32(0)
		case 3:
			c.Resumed = s.boolean()
		case 4:
			c.Ghost = s.boolean()
		}
	})
	return c
}

// steps reads one span of steps.
func (s *scanner) steps() (p Span) {
	s.object(spanKeys[:], func(k int) {
		if k == 0 {
			p.Step = s.integer(0, math.MaxInt64)
		} else {
			p.Steps = s.integer(1, math.MaxInt64)
		}
	})
	return p
}

// attempt reads one attempt that was lost.
func (s *scanner) attempt() (a Attempt) {
	s.object(tryKeys[:], func(k int) {
		switch k {
		case 0:
			a.Replica = s.int32(0)
		case 1:
			a.From = s.instant()
		case 2:
			a.To = s.instant()
		case 3:
			a.Output = s.int32(0)
		case 4:
			a.Computed = s.integer(0, math.MaxInt64)
		}
	})
	return a
}

// gaps reads one run of gaps.
func (s *scanner) gaps() (g Gaps) {
	s.object(gapsKeys[:], func(k int) {
		switch k {
		case 0:
			g.Seqs = s.int32(0)
		case 1:
			g.Steps = s.integer(0, math.MaxInt64)
		case 2:
			g.First = s.span(0)
		case 3:
			g.Inc = s.span(math.MinInt64)
		}
	})
	return g
}
