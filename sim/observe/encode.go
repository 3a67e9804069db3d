package observe

import (
	"strconv"
	"unicode/utf8"

	"servesim/sim"
)

// encoder appends the members of a JSON object to buf. fault is the key of a
// text that cannot be written.
type encoder struct {
	buf   []byte
	fault string
}

// element begins element i of an array of objects.
func (e *encoder) element(i int) {
	if i > 0 {
		e.buf = append(e.buf, ',')
	}
	e.buf = append(e.buf, '{')
}

// key appends the key of the next member.
func (e *encoder) key(k string) {
	if e.buf[len(e.buf)-1] != '{' {
		e.buf = append(e.buf, ',')
	}
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, k...)
	e.buf = append(e.buf, '"', ':')
}

func (e *encoder) integer(k string, v int64) {
	e.key(k)
	e.buf = strconv.AppendInt(e.buf, v, 10)
}

func (e *encoder) instant(k string, t sim.Time) {
	if t != Never {
		e.integer(k, int64(t))
		return
	}
	e.key(k)
	e.buf = append(e.buf, "null"...)
}

func (e *encoder) boolean(k string, v bool) {
	e.key(k)
	e.buf = strconv.AppendBool(e.buf, v)
}

// text appends a string, escaping what JSON wants escaped.
func (e *encoder) text(k, s string) {
	if !utf8.ValidString(s) {
		e.fault = k
		return
	}
	const hex = "0123456789abcdef"
	e.key(k)
	e.buf = append(e.buf, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			e.buf = append(e.buf, '\\', c)
		case c < ' ':
			e.buf = append(e.buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			e.buf = append(e.buf, c)
		}
	}
	e.buf = append(e.buf, '"')
}

func (e *encoder) chunks(chunks []Chunk) {
	e.key("chunks")
	e.buf = append(e.buf, '[')
	for i := range chunks {
		c := &chunks[i]
		e.element(i)
		e.integer("id", c.ID)
		e.integer("start", int64(c.Start))
		e.integer("tokens", int64(c.Tokens))
		e.boolean("resumed", c.Resumed)
		e.boolean("ghost", c.Ghost)
		e.buf = append(e.buf, '}')
	}
	e.buf = append(e.buf, ']')
}

func (e *encoder) gaps(gaps []Gaps) {
	e.key("gaps")
	e.buf = append(e.buf, '[')
	for i := range gaps {
		g := &gaps[i]
		e.element(i)
		e.integer("seqs", int64(g.Seqs))
		e.integer("steps", g.Steps)
		e.integer("first_ps", int64(g.First))
		e.integer("inc_ps", int64(g.Inc))
		e.buf = append(e.buf, '}')
	}
	e.buf = append(e.buf, ']')
}

// spans appends the spans of steps that made tokens.
func (e *encoder) spans(spans []Span) {
	e.key("made")
	e.buf = append(e.buf, '[')
	for i, s := range spans {
		e.element(i)
		e.integer("step", s.Step)
		e.integer("steps", s.Steps)
		e.buf = append(e.buf, '}')
	}
	e.buf = append(e.buf, ']')
}

// attempts appends the attempts that were lost.
func (e *encoder) attempts(attempts []Attempt) {
	e.key("attempts")
	e.buf = append(e.buf, '[')
	for i, a := range attempts {
		e.element(i)
		e.integer("replica", int64(a.Replica))
		e.integer("from_ps", int64(a.From))
		e.integer("to_ps", int64(a.To))
		e.integer("output", int64(a.Output))
		e.integer("computed", a.Computed)
		e.buf = append(e.buf, '}')
	}
	e.buf = append(e.buf, ']')
}

// lost appends the serials of steps that preempted.
func (e *encoder) lost(serials []int64) {
	e.key("lost")
	e.buf = append(e.buf, '[')
	for i, s := range serials {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = strconv.AppendInt(e.buf, s, 10)
	}
	e.buf = append(e.buf, ']')
}

// streaming appends how answers were cut into chunks.
func (e *encoder) streaming(s *Streaming) {
	e.key("streaming")
	if s == nil {
		e.buf = append(e.buf, "null"...)
		return
	}
	e.element(0)
	e.integer("stream_interval", int64(s.Interval))
	e.integer("coalesce_ps", int64(s.Coalesce))
	e.text("role_chunk", s.Role)
	e.boolean("finish_chunk", s.Finish)
	e.boolean("usage_chunk", s.Usage)
	e.integer("done_delay_ps", int64(s.DoneDelay))
	e.buf = append(e.buf, '}')
}
