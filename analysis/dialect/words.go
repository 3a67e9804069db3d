package dialect

import (
	"fmt"
	"strconv"
	"strings"
)

// tokens says in words what c counts.
func (c Count) tokens() string {
	s := "output tokens"
	if c.From == Retokenized {
		s = "tokens of the visible text"
	}
	if c.Extra > 0 {
		s = fmt.Sprintf("%s + %d", s, c.Extra)
	}
	return s
}

// divisorWords says in words what m divides by, "" for 1.
func (m *Measure) divisorWords() string {
	switch m.Over {
	case Tokens:
		return bracketed(m.Count.tokens())
	case TokensLessOne:
		return "(" + m.Count.tokens() + " - 1)"
	case TokensAfterFirst:
		return "(" + m.Count.tokens() + " - those of the first chunk)"
	case Messages:
		return "messages of the stream"
	case Inputs:
		return "prompt tokens"
	}
	return ""
}

// bracketed puts a sum into brackets.
func bracketed(s string) string {
	if strings.Contains(s, " + ") {
		return "(" + s + ")"
	}
	return s
}

// Definition says in one line how m is taken from a call.
func (m *Measure) Definition() string {
	var s string
	switch m.Kind {
	case Gaps:
		s = "each pause between two " + m.Among.String()
		switch m.Spread {
		case Even:
			s += ", spread evenly over the tokens of the later one"
		case Burst:
			s += ", and 0 before each further token of a chunk"
		}
	case Worst:
		s = "the longest pause between two chunks of a call"
	default:
		s = fmt.Sprintf("%s - %s", m.To, m.From)
		over := m.divisorWords()
		switch {
		case m.Kind == Speed && over == "":
			s = "1 / (" + s + ")"
		case m.Kind == Speed:
			s = over + " / (" + s + ")"
		case over != "":
			s = "(" + s + ") / " + over
		}
	}
	return strings.Join(append([]string{s}, m.conditions()...), "; ")
}

// conditions says what m does with calls that are short or failed, and how it
// weighs and rounds.
func (m *Measure) conditions() []string {
	var list []string
	least := m.LeastTokens
	if m.Over == TokensLessOne {
		least = max(least, 2-m.Count.Extra)
	}
	switch m.Short {
	case Left:
		if least > 1 {
			list = append(list, fmt.Sprintf("of %d tokens or more", least))
		}
	case AsZero:
		list = append(list, "0 for shorter answers")
	case Illegal:
		list = append(list, "one token makes the run invalid")
	}
	if m.LeastChunks > 1 {
		list = append(list, fmt.Sprintf("of %d chunks or more", m.LeastChunks))
	}
	if m.Weighted {
		list = append(list, "weighed by the divisor")
	}
	switch m.Round {
	case ToNanosecond:
		list = append(list, "rounded to ns")
	case DownToNanosecond:
		list = append(list, "cut to ns")
	}
	switch m.Failed {
	case In:
		list = append(list, "failed calls too")
	case Infinite:
		list = append(list, "failed calls count as infinite")
	}
	return list
}

// Definition says in one line what r counts and divides by.
func (r *Rate) Definition() string {
	var what string
	switch r.Amount {
	case Requests:
		what = [...]string{"completed calls", "all calls", "completed calls - 1", "all calls - 1", "calls completed with a chunk"}[r.Whose]
	case OutputTokens:
		what = bracketed(r.Count.tokens()) + " of completed calls"
	case PromptTokens:
		what = "prompt tokens of completed calls"
	case AllTokens:
		what = "prompt tokens and " + bracketed(r.Count.tokens()) + " of completed calls"
	case Latency:
		what = "sum of E2E"
	case PerUser:
		return "1 / " + r.Of.String() + " of TPOT"
	case PeakChunks:
		return "most chunks in a second, counted from the first send of a call completed with a chunk"
	case PeakCalls:
		return "most calls completed with a chunk at once, from send to last chunk"
	}
	s := what + " / " + r.Window.String()
	if r.Unit == PerMinute {
		s += ", a minute"
	}
	return s
}

// plain prints a number without needless digits.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
