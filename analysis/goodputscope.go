package analysis

import (
	"math"
	"slices"
	"strconv"
)

// conditions reads what a limit is for, up to its end.
func (p *parser) conditions(s *Scope) bool {
	for {
		t := p.peek()
		if t.kind == tokenEnd || t.kind == tokenBreak || t.text == "and" {
			return true
		}
		p.take()
		of := p.peek()
		switch {
		case t.text == "for" && p.word("outputs", "output"):
			if !p.outputs(of, s) {
				return false
			}
		case (t.text == "for" || t.text == "except") && p.word("class", "classes"):
			if !p.labels(of, s) {
				return false
			}
			s.Except = t.text == "except"
		case t.text == "for" || t.text == "except":
			p.fault(of, "%s after %s; allowed are for class NAME, except class NAME and for outputs below N tokens", found(of), t.text)
			return false
		default:
			p.fault(t, "%s behind a limit; separate limits by commas, or go on with for class NAME, except class NAME or for outputs below N tokens", found(t))
			return false
		}
	}
}

// labels reads the classes of a limit.
func (p *parser) labels(of token, s *Scope) bool {
	if s.Classes != nil {
		p.fault(of, "a limit names classes once; join them by or, such as for class chat or code")
		return false
	}
	for more := true; more; more = p.word("or") {
		t := p.take()
		if t.kind != tokenWord && t.kind != tokenString {
			p.fault(t, "%s in the place of a class; write its label, in double quotes if it isn't one word", found(t))
			return false
		}
		if slices.Contains(s.Classes, t.text) {
			p.fault(t, "class %s is named twice", quoted(t.text))
			return false
		}
		s.Classes = append(s.Classes, t.text)
	}
	return true
}

// outputs reads the one or two bounds of the output tokens of a limit.
func (p *parser) outputs(of token, s *Scope) bool {
	if s.From > 0 || s.Below > 0 {
		p.fault(of, "a limit bounds outputs once, such as for outputs from 100 below 300 tokens")
		return false
	}
	for first := true; ; first = false {
		t := p.peek()
		low, past := int32(0), int32(0)
		switch {
		case p.word("below", "under", "<"):
		case p.word("<="):
			past = 1
		case p.word("from", ">="):
			low = 1
		case p.word("above", "over", ">"):
			low, past = 1, 1
		case first:
			p.fault(t, "%s after outputs; write below N, from N, or both, such as for outputs below 300 tokens", found(t))
			return false
		default:
			p.word("tokens", "token")
			return true
		}
		n := p.take()
		v, err := strconv.ParseInt(n.text, 10, 32)
		if n.kind != tokenNumber || err != nil || v < 1 || v+int64(past) >= math.MaxInt32 {
			p.fault(n, "%s in the place of a number of tokens, a whole number of 1 or more", found(n))
			return false
		}
		bound := &s.Below
		if low == 1 {
			bound = &s.From
		}
		if *bound > 0 {
			p.fault(t, "outputs are bounded twice from the same side")
			return false
		}
		*bound = int32(v) + past
		if s.Below > 0 && s.From >= s.Below {
			p.fault(t, "no output has from %d to below %d tokens", s.From, s.Below)
			return false
		}
	}
}
