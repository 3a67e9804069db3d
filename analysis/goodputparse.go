package analysis

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"servesim/internal/strict"
	"servesim/sim"
)

// ParseSLO reads what users must get, as in
//
//	ttft <= 500ms, tpot <= 15ms, e2e <= 3s for outputs below 300 tokens
//	ttft p99 <= 800ms, itl p99.9 < 100ms, goodput >= 99 %
//	ttft:500 tpot:15 e2el:2000
//
// the last as vLLM's --goodput takes it, in milliseconds. In EBNF, blanks being
// free between tokens:
//
//	slo       = [ clause ] { separator [ clause ] } .
//	clause    = short { short } | limit | least .
//	short     = metric ":" number .
//	limit     = metric [ at ] ( "<=" | "≤" | "<" ) number unit { condition } .
//	least     = "goodput" ( ">=" | "≥" ) number "%" .
//	metric    = "ttft" | "queue" | "tpot" | "max_gap" | "e2e" | "itl"
//	          | "maxgap" | "max_itl" | "e2el" .
//	at        = "p" number | "median" | "max" .
//	unit      = "s" | "ms" | "us" | "µs" | "ns" | "ps" .
//	condition = "for" "class" label { "or" label }
//	          | "except" "class" label { "or" label }
//	          | "for" "outputs" bound [ bound ] [ "tokens" ] .
//	bound     = ( "below" | "under" | "<" | "<=" | "from" | ">=" | "above" | "over" | ">" ) number .
//	label     = word | string in double quotes .
//	separator = "," | ";" | line break | "and" .
//
// A limit without "at" is on each request and part of what makes it good; one
// with it is on a percentile of the run. All faults are reported at once, each
// with its column.
func ParseSLO(text string) (SLO, error) {
	p := parser{text: text, tokens: lex(text)}
	for p.peek().kind != tokenEnd {
		if p.separator() {
			continue
		}
		before := len(p.faults)
		p.clause()
		if len(p.faults) > before {
			p.recover()
		}
	}
	if len(p.faults) == 0 && p.slo.Empty() {
		return SLO{}, errors.New("no limit is given; write for instance ttft <= 500ms, tpot <= 15ms, or ttft:500 tpot:15 in milliseconds")
	}
	return p.slo, errors.Join(p.faults...)
}

// parser is the state of ParseSLO.
type parser struct {
	text   string
	tokens []token
	next   int
	slo    SLO
	seen   []seen
	faults []error
}

// seen is a clause that was read, without what it asks for, and where it began.
type seen struct {
	what string
	at   int
}

// peek returns the next token, and take takes it. The last is never taken.
func (p *parser) peek() token { return p.tokens[p.next] }
func (p *parser) take() token {
	t := p.tokens[p.next]
	if t.kind != tokenEnd {
		p.next++
	}
	return t
}

// word takes the next token if it is one of words.
func (p *parser) word(words ...string) bool {
	t := p.peek()
	ok := (t.kind == tokenWord || t.kind == tokenSign) && slices.Contains(words, t.text)
	if ok {
		p.take()
	}
	return ok
}

// separator takes a separator.
func (p *parser) separator() bool {
	if p.peek().kind == tokenBreak {
		p.take()
		return true
	}
	return p.word("and")
}

// fault notes what is wrong with t.
func (p *parser) fault(t token, format string, args ...any) {
	p.faults = append(p.faults, fmt.Errorf("%s: %s", place(p.text, t.at), fmt.Sprintf(format, args...)))
}

// found names t for messages.
func found(t token) string {
	switch t.kind {
	case tokenEnd:
		return "found the end"
	case tokenBreak:
		return "found the end of the limit"
	}
	return fmt.Sprintf("found %q", t.text)
}

// ended tells whether a limit ends here, and notes a fault if not.
func (p *parser) ended() bool {
	t := p.peek()
	ok := t.kind == tokenEnd || t.kind == tokenBreak || t.text == "and"
	if !ok {
		p.fault(t, "%s behind a limit; separate limits by commas", found(t))
	}
	return ok
}

// recover goes on behind the next separator, or at the next short limit.
func (p *parser) recover() {
	for p.peek().kind != tokenEnd && p.peek().kind != tokenBreak && !p.short() && p.peek().text != "and" {
		p.take()
	}
}

// short tells whether a limit in vLLM's form begins here.
func (p *parser) short() bool {
	return p.peek().kind == tokenWord && p.tokens[p.next+1].text == ":"
}

// clause reads one clause.
func (p *parser) clause() {
	t := p.take()
	if t.kind != tokenWord {
		p.fault(t, "%s where a limit begins; write for instance ttft <= 500ms", found(t))
		return
	}
	if t.text == "goodput" {
		p.least(t)
		return
	}
	o, ok := p.objective(t)
	switch {
	case !ok:
	case p.word(":"):
		p.shortLimit(t, o)
	default:
		p.limit(t, o)
	}
}

// objective returns what t names.
func (p *parser) objective(t token) (Objective, bool) {
	var names []string
	for o, list := range objectiveNames() {
		if slices.Contains(list, t.text) {
			return Objective(o), true
		}
		names = append(names, list[0])
	}
	if name, ok := otherTools()[t.text]; ok {
		p.fault(t, "unknown metric %q; it is called %s here", t.text, name)
		return 0, false
	}
	p.fault(t, "unknown metric %q; %s", t.text, strict.Unlike(t.text, append(names, "goodput")))
	return 0, false
}

// otherTools returns the objectives by the names that AIPerf, GenAI-Perf and
// inference-perf limit them by.
func otherTools() map[string]Objective {
	return map[string]Objective{
		"time_to_first_token": TTFT, "inter_token_latency": TPOT, "time_per_output_token": TPOT, "request_latency": E2EL,
	}
}

// shortLimit reads the number of a limit in vLLM's form on o, which t named.
func (p *parser) shortLimit(t token, o Objective) {
	n := p.peek()
	unit := p.tokens[min(p.next+1, len(p.tokens)-1)]
	switch {
	case o == ITL:
		p.pooled(t)
	case n.kind != tokenNumber:
		p.fault(n, "%s; KEY:NUMBER takes a number of milliseconds, at least 0, such as %s:500", found(n), t.text)
	case unit.kind == tokenWord && unit.at == n.end:
		p.fault(unit, "KEY:NUMBER is in milliseconds and takes no unit, as in vLLM; write %s <= %s%s", t.text, n.text, unit.text)
	default:
		p.take()
		d, err := sim.ParseDuration(n.text + "ms")
		if err != nil {
			p.fault(n, "%v", err)
			return
		}
		p.add(t, Limit{Objective: o, Max: d}, nil)
		if !p.short() {
			p.ended()
		}
	}
}

// pooled says that t, ITL, has no value for each request.
func (p *parser) pooled(t token) {
	p.fault(t, "itl is every gap of the run; limit a percentile of it, such as itl p99 <= 50ms, or the longest gap of each request, max_gap <= 200ms")
}

// limit reads the rest of a limit on o, which t named.
func (p *parser) limit(t token, o Objective) {
	l := Limit{Objective: o}
	at, ok := p.percentile()
	if !ok {
		return
	}
	r := p.take()
	switch r.text {
	case "<":
		l.Strict = true
	case "<=", "≤":
	default:
		p.fault(r, "%s after %s; times are limited from above: write <= or <, such as %s <= 500ms", found(r), t.text, t.text)
		return
	}
	if l.Max, ok = p.duration(); !ok {
		return
	}
	if l.Max == 0 && l.Strict {
		p.fault(r, "nothing is below 0")
		return
	}
	if !p.conditions(&l.Scope) {
		return
	}
	switch {
	case o == ITL && at == nil:
		p.pooled(t)
	case o == ITL && !l.Scope.All():
		p.fault(t, "itl is every gap of the run, whatever its request; it can't be limited%s", l.Scope.String())
	default:
		p.add(t, l, at)
	}
}

// percentile reads the percentile of a limit, nil if it has none.
func (p *parser) percentile() (at *Percentile, ok bool) {
	t := p.peek()
	if t.kind != tokenWord {
		return nil, true
	}
	p.take()
	text := t.text
	if text == "median" {
		text = "p50"
	}
	if v, err := ParsePercentile(text); err == nil && (text == "max" || text[0] == 'p') {
		return &v, true
	}
	p.fault(t, "%q is no percentile; allowed are p0 to p100 with at most 7 decimals, such as p99.9, median and max, or none for a limit on each request", t.text)
	return nil, false
}

// duration reads a number and its unit.
func (p *parser) duration() (d sim.Duration, ok bool) {
	n := p.take()
	if n.kind != tokenNumber {
		p.fault(n, "%s in the place of a time; write a number and a unit, such as 500ms", found(n))
		return 0, false
	}
	units := []string{"s", "ms", "us", "ns", "ps"}
	u := p.peek()
	unit := strings.NewReplacer("µ", "u", "μ", "u").Replace(u.text)
	if u.kind != tokenWord || unit == "for" || unit == "except" || unit == "and" {
		p.fault(n, "%s has no unit; write %sms or %ss (the units are s, ms and us)", n.text, n.text, n.text)
		return 0, false
	}
	p.take()
	if !slices.Contains(units, unit) {
		p.fault(u, "unknown unit %q; %s", u.text, strict.Unlike(u.text, units))
		return 0, false
	}
	d, err := sim.ParseDuration(n.text + unit)
	if err != nil {
		p.fault(n, "%v", err)
	}
	return d, err == nil
}

// least reads the least goodput.
func (p *parser) least(t token) {
	r := p.take()
	if r.text != ">=" && r.text != "≥" {
		p.fault(r, "%s after goodput; it is the least share of good requests: write goodput >= 99 %%", found(r))
		return
	}
	n := p.take()
	v, err := ParsePercentile(n.text)
	if n.kind != tokenNumber || err != nil || !p.word("%") {
		p.fault(n, "%s; the share of good requests is a percentage from 0 to 100 with at most 7 decimals, such as goodput >= 99 %%", found(n))
		return
	}
	if p.ended() && p.once(t, "goodput") {
		p.slo.MinGoodput = &v
	}
}

// once notes a clause that t begins. ok is false if there is one like it already.
func (p *parser) once(t token, what string) (ok bool) {
	for _, s := range p.seen {
		if s.what == what {
			p.fault(t, "%s is given twice, first at %s", what, place(p.text, s.at))
			return false
		}
	}
	p.seen = append(p.seen, seen{what, t.at})
	return true
}

// add adds a limit that t began.
func (p *parser) add(t token, l Limit, at *Percentile) {
	switch {
	case at == nil && p.once(t, l.what("")):
		p.slo.Goodput = append(p.slo.Goodput, l)
	case at != nil && p.once(t, l.what(" "+at.String())):
		p.slo.Run = append(p.slo.Run, RunLimit{*at, l})
	}
}
