package analysis

import (
	"strconv"
	"strings"
)

// String writes s as ParseSLO reads it.
func (s *SLO) String() string {
	var parts []string
	for i := range s.Goodput {
		parts = append(parts, s.Goodput[i].String())
	}
	for i := range s.Run {
		parts = append(parts, s.Run[i].String())
	}
	if s.MinGoodput != nil {
		parts = append(parts, "goodput >= "+s.MinGoodput.number()+" %")
	}
	return strings.Join(parts, ", ")
}

// String writes g as ParseSLO reads it.
func (g Goodput) String() string { return (&SLO{Goodput: g}).String() }

// String writes l as ParseSLO reads it.
func (l *Limit) String() string { return l.text("") }

// String writes l as ParseSLO reads it.
func (l *RunLimit) String() string { return l.text(" " + l.At.String()) }

// text writes a limit at a percentile, or at none.
func (l *Limit) text(at string) string {
	relation := " <= "
	if l.Strict {
		relation = " < "
	}
	return l.Objective.String() + at + relation + l.Max.String() + l.Scope.String()
}

// what says what a limit at a percentile, or at none, is on.
func (l *Limit) what(at string) string { return l.Objective.String() + at + l.Scope.String() }

// String writes s as a limit ends with it: " for class chat", "" for all requests.
func (s *Scope) String() string {
	var b strings.Builder
	if s.Classes != nil {
		b.WriteString(map[bool]string{false: " for class ", true: " except class "}[s.Except])
		for i, c := range s.Classes {
			if i > 0 {
				b.WriteString(" or ")
			}
			b.WriteString(quoted(c))
		}
	}
	if s.From > 0 || s.Below > 0 {
		b.WriteString(" for outputs")
		if s.From > 0 {
			b.WriteString(" from " + strconv.Itoa(int(s.From)))
		}
		if s.Below > 0 {
			b.WriteString(" below " + strconv.Itoa(int(s.Below)))
		}
		b.WriteString(" tokens")
	}
	return b.String()
}

// quoted writes the label of a class, in quotes unless it's one plain word.
func quoted(class string) string {
	for i, c := range class {
		if !wordRune(c) || i == 0 && !wordStart(c) {
			return strconv.Quote(class)
		}
	}
	if class == "" || class == "or" || class == "and" || class == "for" || class == "except" {
		return strconv.Quote(class)
	}
	return class
}

// number writes p without its letter, the maximum as 100.
func (p Percentile) number() string {
	if p.ppb == whole {
		return "100"
	}
	return strings.TrimPrefix(p.String(), "p")
}
