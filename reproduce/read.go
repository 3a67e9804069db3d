package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/analysis/tail"
	"servesim/internal/strict"
	"servesim/scenario"
	"servesim/sim"
)

// A reader makes a claim of a file and collects its faults.
type reader struct {
	f      *file
	path   string
	where  func(key string) string
	shelf  *scenario.Shelf
	claim  *Claim
	faults []strict.Fault
}

// read returns the claim of the file at path that has a text, or every fault of it.
func read(path, text string, shelf *scenario.Shelf) (*Claim, []strict.Fault) {
	f, where, faults := decode(path, text)
	if f == nil || len(faults) > 0 {
		return nil, faults
	}
	r := &reader{f: f, path: path, where: where, shelf: shelf, claim: &Claim{
		Name: nameOf(path), Says: f.Says, Source: f.Source, Setup: f.Setup, explanation: f.Explanation,
	}}
	r.words()
	r.runs()
	r.madeUp()
	r.claim.Checks = r.checks("check", f.Checks)
	r.claim.Facts = r.checks("fact", f.Facts)
	if len(f.Checks) == 0 {
		r.fault("check", "missing; a claim takes a check, written [[check]]")
	}
	r.unused()
	r.placeholders()
	return r.claim, r.faults
}

// fault notes what is wrong with key.
func (r *reader) fault(key, format string, args ...any) {
	r.faults = append(r.faults, strict.Fault{Where: r.where(key), Key: key, Text: fmt.Sprintf(format, args...)})
}

// words looks for the sentences that every claim has.
func (r *reader) words() {
	for _, w := range []struct{ key, text string }{
		{"says", r.f.Says}, {"source", r.f.Source}, {"setup", r.f.Setup}, {"explanation", r.f.Explanation},
	} {
		if strings.TrimSpace(w.text) == "" {
			r.fault(w.key, "missing; give a sentence")
		}
	}
}

// add adds a subject, whose name must be its own.
func (r *reader) add(key, name string, s subject) {
	switch {
	case name == "":
		r.fault(key+".name", "missing; give what checks call it")
	case r.claim.find(name) >= 0:
		r.fault(key+".name", "found %q, which another run, gaps or call has; give each a name of its own", name)
	}
	r.claim.subjects = append(r.claim.subjects, named{name, s})
}

// runs reads the scenarios.
func (r *reader) runs() {
	base := r.settings("scenario", r.f.Scenario)
	for i, t := range r.f.Runs {
		key := fmt.Sprintf("run[%d]", i)
		seeds := int64(1)
		if t.Seeds != nil {
			seeds = *t.Seeds
		}
		if seeds != 1 && (seeds < analysis.FewestReplications || seeds > maxSeeds) {
			r.fault(key+".seeds", "found %d; must be 1, of a scenario that draws nothing, or from %d to %d", seeds, analysis.FewestReplications, maxSeeds)
		}
		own := r.settings(key+".set", t.Set)
		all := slices.DeleteFunc(slices.Clone(base), func(s scenario.Setting) bool {
			return slices.ContainsFunc(own, func(o scenario.Setting) bool { return o.Key == s.Key })
		})
		src := scenario.Source{Path: r.path, Content: "schema = 1\n", Shelf: r.shelf}
		src, err := src.With(append(all, own...))
		if err == nil && len(r.faults) == 0 {
			_, err = scenario.Load(src)
		}
		if err != nil {
			r.fault(key, "%v", err)
		}
		r.add(key, t.Name, &run{src, seeds})
	}
}

// maxSeeds is the largest number of runs of a scenario.
const maxSeeds = 1000

// settings returns those that the table called path makes.
func (r *reader) settings(path string, t scenario.Table) []scenario.Setting {
	var list []scenario.Setting
	for _, e := range scenario.Entries(path, t, r.where, scenario.WholeTables()...) {
		s, err := e.Setting(r.where, ".")
		if err != nil {
			r.fault(e.Path, "%v", err)
			continue
		}
		list = append(list, s)
	}
	return list
}

// madeUp reads gaps and calls.
func (r *reader) madeUp() {
	for i, t := range r.f.Gaps {
		key := fmt.Sprintf("gaps[%d]", i)
		p, err := tail.Parse(t.Population)
		if err != nil {
			r.fault(key+".population", "%v", err)
		}
		if t.Answer < 1 {
			r.fault(key+".answer", "found %d; must be the number of gaps of an answer, at least 1", t.Answer)
		}
		r.add(key, t.Name, &gaps{p, t.Answer})
	}
	for i, t := range r.f.Calls {
		key := fmt.Sprintf("call[%d]", i)
		c := &call{tokens: t.Tokens}
		for _, d := range []struct {
			name, text string
			to         *sim.Duration
		}{{"first", t.First, &c.first}, {"last", t.Last, &c.last}} {
			var err error
			if *d.to, err = sim.ParseDuration(d.text); err != nil {
				r.fault(key+"."+d.name, "%v", err)
			}
		}
		if t.Tokens < 2 || t.Tokens > maxTokens || c.last <= c.first {
			r.fault(key, "must have from 2 to %s tokens, of which the last comes after the first", analysis.Grouped(maxTokens))
		}
		r.add(key, t.Name, c)
	}
}

// maxTokens is the largest number of tokens of a call.
const maxTokens = 1_000_000

// columnsOf lists the columns of a subject.
func columnsOf(s subject) []string {
	switch s.(type) {
	case *run:
		return runColumns()
	case *gaps:
		return gapColumns()
	}
	return callColumns()
}
