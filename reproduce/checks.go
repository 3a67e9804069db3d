package reproduce

import (
	"fmt"
	"regexp"
	"slices"

	"servesim/internal/strict"
	"servesim/scenario"
)

// checks reads the checks or the facts of a file.
func (r *reader) checks(kind string, tables []checkTable) []Check {
	var list []Check
	for i := range tables {
		t := &tables[i]
		key := fmt.Sprintf("%s[%d]", kind, i)
		if t.Says == "" {
			r.fault(key+".says", "missing; give it in words")
		}
		if kind == "fact" && t.Name == "" {
			r.fault(key+".name", "missing; give what the explanation calls it")
		}
		if t.Name != "" && r.called(t.Name, list) {
			r.fault(key+".name", "found %q, which another check or fact has; give each a name of its own", t.Name)
		}
		list = append(list, Check{
			Name: t.Name, Says: t.Says, Of: t.Of, Column: t.Column, Over: t.Over, Range: r.rangeOf(key, t),
		})
		r.quantity(key, t)
	}
	return list
}

// called tells whether a check or one of list has a name.
func (r *reader) called(name string, list []Check) bool {
	return slices.ContainsFunc(slices.Concat(r.claim.Checks, list), func(c Check) bool { return c.Name == name })
}

// quantity looks for what a check is about.
func (r *reader) quantity(key string, t *checkTable) {
	var names []string
	for _, s := range r.claim.subjects {
		names = append(names, s.name)
	}
	i := r.claim.find(t.Of)
	if i < 0 {
		r.fault(key+".of", "%s", scenario.UnknownName("run, gaps or call", t.Of, names))
		return
	}
	s := r.claim.subjects[i].subject
	if columns := columnsOf(s); !slices.Contains(columns, t.Column) {
		r.fault(key+".column", "%s", scenario.UnknownName("column", t.Column, columns))
	}
	if t.Over == "" {
		return
	}
	k := r.claim.find(t.Over)
	if k < 0 {
		r.fault(key+".over", "%s", scenario.UnknownName("run, gaps or call", t.Over, names))
		return
	}
	a, one := s.(*run)
	b, other := r.claim.subjects[k].subject.(*run)
	if !one || !other || t.Column == capacityRate && a.seeds != 1 || a.seeds != b.seeds {
		r.fault(key+".over", "found %q; must be a run of as many seeds as %s, for one is divided by the other seed by seed", t.Over, t.Of)
	}
}

// rangeOf returns the range that a check gives.
func (r *reader) rangeOf(key string, t *checkTable) Range {
	ways := 0
	for _, given := range []bool{t.About != nil, t.Prints != "", t.From != nil || t.To != nil} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		r.fault(key, "must have one of about, prints, and the bounds from and to")
		return Range{}
	case t.About != nil:
		if *t.About <= 0 {
			r.fault(key+".about", "found %v; must be more than 0", *t.About)
		}
		return about(*t.About)
	case t.Prints != "":
		p, err := printed(t.Prints)
		if err != nil {
			r.fault(key+".prints", "%v", err)
		}
		return p
	}
	if t.From != nil && t.To != nil && *t.From > *t.To {
		r.fault(key, "its bounds are from %v to %v; the first must not be more than the second", *t.From, *t.To)
	}
	return between(t.From, t.To)
}

// unused finds subjects that no check is about.
func (r *reader) unused() {
	for _, s := range r.claim.subjects {
		if !slices.ContainsFunc(r.claim.all(), func(c *Check) bool { return c.Of == s.name || c.Over == s.name }) {
			r.faults = append(r.faults, strict.Fault{Where: r.path, Text: fmt.Sprintf("no check or fact is of %q; take it out", s.name)})
		}
	}
}

// all returns the checks and the facts.
func (c *Claim) all() []*Check {
	var list []*Check
	for i := range c.Checks {
		list = append(list, &c.Checks[i])
	}
	for i := range c.Facts {
		list = append(list, &c.Facts[i])
	}
	return list
}

// placeholder matches {NAME} in an explanation.
func placeholder() *regexp.Regexp { return regexp.MustCompile(`\{([a-z0-9-]+)\}`) }

// placeholders finds those that stand for nothing.
func (r *reader) placeholders() {
	var names []string
	for _, c := range r.claim.all() {
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	for _, m := range placeholder().FindAllStringSubmatch(r.f.Explanation, -1) {
		if !slices.Contains(names, m[1]) {
			r.fault("explanation", "{%s} stands for nothing; %s", m[1], scenario.UnknownName("check or fact", m[1], names))
		}
	}
}
