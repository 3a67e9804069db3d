package dialect

import (
	"math"
	"math/bits"

	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// Kind is what a Measure takes from a call.
type Kind uint8

// The kinds.
const (
	// Span is the time from one event to another, divided by Over.
	Span Kind = iota
	// Speed is the inverse of Span: Over per second.
	Speed
	// Gaps are the pauses between the chunks of Among, all of them.
	Gaps
	// Worst is the longest of them.
	Worst
)

// Divisor is what a Span is divided by.
type Divisor uint8

// The divisors.
const (
	// One leaves the span whole.
	One Divisor = iota
	// Tokens is the number of output tokens, N.
	Tokens
	// TokensLessOne is N-1.
	TokensLessOne
	// TokensAfterFirst is N less the tokens of the first text.
	TokensAfterFirst
	// Messages is the number of all chunks but the line that ends the stream.
	Messages
	// Inputs is the number of tokens of the prompt.
	Inputs
)

// Spread is what becomes of the pause before a chunk of k tokens.
type Spread uint8

// The ways to spread a pause.
const (
	// PerChunk is one pause, however many tokens end it.
	PerChunk Spread = iota
	// Even is k pauses of a k-th of it.
	Even
	// Burst is the pause and k-1 of 0, also in the first chunk, which has k-1 of 0.
	Burst
)

// Rounding is how exact a tool keeps a quotient.
type Rounding uint8

// The roundings.
const (
	// ToPicosecond is to the nearest, halves up: as exact as is printed.
	ToPicosecond Rounding = iota
	// ToNanosecond is to the nearest, halves to the even one, as Python's round.
	ToNanosecond
	// DownToNanosecond drops what is below one.
	DownToNanosecond
)

// Short is what becomes of a call that has too few tokens or chunks.
type Short uint8

// The rules for short answers.
const (
	// Left leaves it out.
	Left Short = iota
	// AsZero counts it as 0.
	AsZero
	// Illegal makes the run invalid.
	Illegal
)

// Failed is what becomes of a call that did not complete.
type Failed uint8

// The rules for failed calls.
const (
	// Out leaves it out.
	Out Failed = iota
	// In takes it as far as it came.
	In
	// Infinite counts it as longer than any other.
	Infinite
)

// Source is where a count of output tokens comes from.
type Source uint8

// The sources.
const (
	// Usage is the engine's own count.
	Usage Source = iota
	// Retokenized is the client's, of the text that it looks at: here the
	// engine's count without that of reasoning and tool calls.
	Retokenized
)

// Fallback is what is taken where the engine's count is not known.
type Fallback uint8

// The fallbacks.
const (
	// NoFallback leaves the call out.
	NoFallback Fallback = iota
	// Requested is the number of tokens asked for.
	Requested
	// ChunkCount is the number of chunks with text.
	ChunkCount
)

// Count is how a tool counts output tokens.
type Count struct {
	From Source
	Else Fallback
	// Extra is added to every count: 1 for a tokenizer that begins with a token
	// of its own.
	Extra int64
}

// Measure is how values are taken from calls. Measures that are equal give the
// same values.
type Measure struct {
	Kind     Kind
	From, To Event
	Over     Divisor
	Count    Count
	Among    Set
	Spread   Spread
	// Weighted counts each value as often as Over says.
	Weighted bool
	Round    Rounding
	// LeastTokens and LeastChunks, of Among, are what a call must have; fewer,
	// or a divisor below 1, is what Short is about.
	LeastTokens, LeastChunks int64
	Short                    Short
	Failed                   Failed
	// AbsentZero counts a completed call in which From or To didn't come about as
	// 0; otherwise it is left out.
	AbsentZero bool
}

// of returns the number of output tokens of v. ok is false if it isn't known.
func (c Count) of(v *view) (n int64, ok bool) {
	switch n = int64(v.call.Output); {
	case n >= 0 && c.From == Retokenized:
		if v.hidden < 0 {
			return 0, false
		}
		n -= v.hidden
	case n >= 0:
	case c.Else == Requested && v.call.Wanted >= 0:
		n = int64(v.call.Wanted)
	case c.Else == ChunkCount:
		n = v.texts
	default:
		return 0, false
	}
	return max(n, 0) + c.Extra, true
}

// state says what a call is to a Measure.
type state uint8

const (
	counted state = iota // it has a value
	short                // too few tokens or chunks, or an event that didn't come about
	unknown              // the source doesn't say what is needed
	apart                // it failed, or is none of those measured
	endless              // it failed and counts as longer than any other
	illegal              // the tool doesn't allow it
	zeroed               // too few tokens or chunks, which counts as 0
)

// A quotient is a value before it is divided.
type quotient struct {
	span sim.Duration
	over int64
}

// quotient returns what m takes from v, for a Span or a Speed.
func (m *Measure) quotient(v *view) (quotient, state) {
	if v.call.Outcome != observe.Completed && m.Failed != In {
		if m.Failed == Infinite {
			return quotient{}, endless
		}
		return quotient{}, apart
	}
	over, s := m.divisor(v)
	if s == zeroed {
		return quotient{0, 1}, counted
	}
	if s != counted {
		return quotient{}, s
	}
	from, to := v.at[m.From], v.at[m.To]
	if from == transcript.Never || to == transcript.Never {
		if m.AbsentZero {
			return quotient{0, over}, counted
		}
		if m.To == Closed && to == transcript.Never {
			return quotient{}, unknown
		}
		return quotient{}, short
	}
	return quotient{max(to.Sub(from), 0), over}, counted
}

// divisor returns what v's span is divided by, or what is the matter with it.
func (m *Measure) divisor(v *view) (int64, state) {
	n, known := m.Count.of(v)
	if !known && (m.LeastTokens > 0 || m.Over != One && m.Over < Messages) {
		return 0, unknown
	}
	over := int64(1)
	switch m.Over {
	case Tokens:
		over = n
	case TokensLessOne:
		over = n - 1
	case TokensAfterFirst:
		if v.texts > 0 && v.first < 0 {
			return 0, unknown
		}
		over = n - max(v.first, 0)
	case Messages:
		over = v.messages
	case Inputs:
		if over = int64(v.call.Prompt); over < 0 {
			return 0, unknown
		}
	}
	if over < 1 || known && n < m.LeastTokens || v.count(m.Among) < m.LeastChunks {
		switch m.Short {
		case AsZero:
			return 0, zeroed
		case Illegal:
			return 0, illegal
		}
		return 0, short
	}
	return over, counted
}

// value returns q as m rounds it: picoseconds, or billionths of a unit per
// second for a Speed. ok is false if it is beyond all bounds.
func (m *Measure) value(q quotient) (x int64, ok bool) {
	x = q.rounded(m.Round)
	if m.Kind != Speed {
		return x, true
	}
	if m.Round != ToPicosecond {
		q = quotient{sim.Duration(x), 1}
	}
	return q.speed()
}

// rounded returns q divided.
func (q quotient) rounded(r Rounding) int64 {
	span, over := uint64(q.span), uint64(q.over)
	if r == ToPicosecond {
		quo, rest := span/over, span%over
		if rest >= over-rest {
			quo++
		}
		return int64(quo)
	}
	const ns = uint64(sim.Nanosecond)
	h, unit := bits.Mul64(over, ns)
	if h != 0 {
		return 0 // a divisor above any span
	}
	quo, rest := span/unit, span%unit
	if r == ToNanosecond && (rest > unit-rest || rest == unit-rest && quo&1 == 1) {
		quo++
	}
	return int64(quo * ns)
}

// speed returns q's divisor per second, in billionths.
func (q quotient) speed() (x int64, ok bool) {
	if q.span <= 0 {
		return 0, false
	}
	const billion = 1_000_000_000
	h, l := bits.Mul64(uint64(q.over), uint64(sim.Second))
	h2, l2 := bits.Mul64(l, billion)
	h2 += h * billion
	l2, carry := bits.Add64(l2, uint64(q.span)/2, 0)
	if h2 += carry; h2 >= uint64(q.span) {
		return 0, false
	}
	quo, _ := bits.Div64(h2, l2, uint64(q.span))
	return int64(quo), quo <= math.MaxInt64
}

// within tells whether q keeps within limit, or below it if strict, as m rounds.
func (m *Measure) within(q quotient, limit sim.Duration, strict bool) bool {
	if m.Round != ToPicosecond {
		q = quotient{sim.Duration(q.rounded(m.Round)), 1}
	}
	h, most := bits.Mul64(uint64(limit), uint64(q.over)) // without the rounding of a division
	if strict {
		return h != 0 || uint64(q.span) < most
	}
	return h != 0 || uint64(q.span) <= most
}
