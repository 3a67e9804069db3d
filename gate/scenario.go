package gate

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/internal/strict"
	"servesim/scenario"
	"servesim/sim"
)

// Keys of a scenario in which runs differ: those of a load by the seed, and by a window
// of time if there is a trace, and loads by the factor of the rate, unless they have
// keys of their own.
const (
	seedKey = "seed"
	fromKey = "transform.from"
	toKey   = "transform.to"
	rateKey = "transform.rate"
)

// scenario reads the scenario at the target.
func (r *reader) scenario() {
	b := r.f.Scenario
	if b == nil {
		switch {
		case !r.measured:
			r.fault("scenario", "missing; give the path of a scenario file, from this folder, or its keys as [scenario]; results that were measured need none: --from")
		case len(r.f.Set) > 0:
			r.fault("set", "changes keys of a scenario, but there is none; take it out")
		}
		return
	}
	g, before := r.gate, len(r.faults)
	g.source = scenario.Source{Path: r.gate.File, Content: "schema = 1\n", Shelf: &scenario.Shelf{}}
	if b.path != "" {
		g.source.Path, g.source.Content = b.path, ""
		if !filepath.IsAbs(b.path) {
			g.source.Path = filepath.Join(r.dir, b.path)
		}
	}
	inline := maps.Clone(b.keys)
	delete(inline, "schema")
	if name, ok := inline["name"]; ok {
		delete(inline, "name")
		inline[scenario.TitleKey] = name
	}
	r.settings("scenario", inline)
	r.settings("set", r.f.Set)
	if len(r.faults) > before {
		return
	}
	r.plan()
}

// settings adds those of the table called path.
func (r *reader) settings(path string, t map[string]any) {
	for _, e := range scenario.Entries(path, t, r.where, scenario.WholeTables()...) {
		var src scenario.Source
		s, err := e.Setting(r.where, r.dir)
		if err == nil {
			src, err = r.gate.source.With([]scenario.Setting{s})
		}
		if err != nil {
			r.err(err)
			continue
		}
		r.gate.source = src
	}
}

// err notes a fault that says by itself where it is.
func (r *reader) err(err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		r.faults = append(r.faults, told(line))
	}
}

// told returns a line of an error of package scenario as a fault: what stands before
// its first blank may be a place.
func told(line string) strict.Fault {
	where, text, ok := strings.Cut(line, ": ")
	if i := strings.LastIndexByte(where, ':'); ok && i > 0 && !strings.ContainsAny(where, " ") {
		if _, err := strconv.Atoi(where[i+1:]); err == nil {
			return strict.Fault{Where: where, Text: text}
		}
	}
	return strict.Fault{Text: line}
}

// plan loads the scenario at the target and looks at what it would run.
func (r *reader) plan() {
	g := r.gate
	if l := r.f.Load; l != nil && !r.measured {
		g.load = "workload.rate_per_s"
		switch {
		case l.Concurrency != nil:
			g.load = "workload.closed_loop.users"
		case l.Multiple != nil:
			g.load = rateKey
		}
	}
	if n := r.f.Runs.Requests; n != nil {
		r.settings("runs", map[string]any{"workload.requests": *n})
	}
	if g.load == rateKey && r.multiplied() {
		return
	}
	src := g.source
	if i := g.at(strconv.Itoa(target)); i >= 0 && !r.measured {
		var err error
		if src, err = g.sourceAt(i); err != nil {
			r.err(err)
			return
		}
	}
	p, err := scenario.Load(src)
	if err != nil {
		// A trace or a merged workload has no key that a load could change.
		if base, other := scenario.Load(g.source); other == nil && !r.measured && !r.drawn(base) {
			return
		}
		r.err(err)
		return
	}
	g.plan, g.seed = p, *p.Scenario.Seed
	if g.Name == filepath.Base(g.File) && p.Scenario.Name != "" {
		g.Name = p.Scenario.Name
	}
	if !r.measured {
		r.workload(p)
	}
}

// multiplied refuses a scenario that changes its rate by the key that a multiple is
// given by, which would take its place.
func (r *reader) multiplied() bool {
	p, err := scenario.Load(r.gate.source)
	if err != nil || p.Scenario.Transform.Rate == nil {
		return false // what is wrong is told where it is loaded with its load
	}
	r.refuse("load.rate_multiple", "the scenario has transform.rate = %v, of which a multiple would take the place; take it out there, and multiply rate_multiple by it", *p.Scenario.Transform.Rate)
	return true
}

// sourceAt returns the source of the scenario at level i.
func (g *Gate) sourceAt(i int) (scenario.Source, error) {
	if g.load == "" {
		return g.source, nil
	}
	l := &g.Levels[i]
	s := scenario.Setting{Key: g.load, Value: l.Rate, Text: "rate_per_s=" + number(l.Rate), Flag: g.File + ": load"}
	switch {
	case l.Users > 0:
		s.Value, s.Text = l.Users, fmt.Sprintf("concurrency=%d", l.Users)
	case l.Times > 0:
		s.Value, s.Text = l.Times, "rate_multiple="+number(l.Times)
	}
	return g.source.With([]scenario.Setting{s})
}

// sourceOf returns the source of run n at level i.
func (g *Gate) sourceOf(i, n int) (scenario.Source, error) {
	src, err := g.sourceAt(i)
	if err != nil {
		return src, err
	}
	own := []scenario.Setting{g.setting(seedKey, strconv.FormatUint(g.seed+uint64(n), 10))}
	if g.width > 0 {
		from := g.from + sim.Duration(n)*g.width
		own = append(own, g.setting(fromKey, from.String()), g.setting(toKey, (from+g.width).String()))
	}
	// The gate's own seed and window, of which these are parts, give way.
	src.Settings = slices.DeleteFunc(slices.Clone(src.Settings), func(s scenario.Setting) bool {
		return slices.ContainsFunc(own, func(o scenario.Setting) bool { return o.Key == s.Key })
	})
	src.Settings = append(src.Settings, own...)
	return src, nil
}

// setting returns the setting that gives key a value of TOML, or a string.
func (g *Gate) setting(key, value string) scenario.Setting {
	return scenario.Setting{Key: key, Value: scenario.TOMLValue(value), Text: key + "=" + value, Flag: g.File}
}

// drawn refuses a scenario whose workload isn't one that is drawn anew in each run
// at any rate, unless the load is a multiple of what it is.
func (r *reader) drawn(p *scenario.Plan) bool {
	s := p.Scenario
	const mend = "give rate_multiple = 1.0 in [load] in the place of its target, which is the workload as it is"
	switch {
	case r.gate.load != rateKey && (s.Transform.Rate != nil || s.Transform.Stretch != nil):
		r.refuse("scenario", "transform.rate or transform.stretch changes the rate that [load] sets; take it out, or %s", mend)
	case r.gate.load == rateKey:
		return true
	case traced(p):
		r.refuse("scenario", "requests come from a trace, of which [load] can't set the rate; %s: each of the %d runs is then a window of the trace", mend, r.gate.Runs)
	case len(s.Workload.Parts()) > 1:
		r.refuse("scenario", "workloads are merged, and [load] would set the rate of one; %s", mend)
	default:
		return true
	}
	return false
}

// traced tells whether requests of p come from a trace, which no seed changes.
func traced(p *scenario.Plan) bool {
	return slices.ContainsFunc(p.Scenario.Workload.Parts(), func(w scenario.Part) bool { return w.Trace != "" })
}

// workload refuses what makes runs that say nothing.
func (r *reader) workload(p *scenario.Plan) {
	s := p.Scenario
	if !r.drawn(p) {
		return
	}
	if traced(p) {
		r.windows(p)
		return
	}
	if n := s.Workload.Requests; n != nil && *n < LeastRequests && r.f.Runs.Requests == nil {
		r.refuse("scenario", "its runs are of %s, and of so few a P99 is the one slowest; give [runs] with requests = %d or more", analysis.Counted(*n, "request"), LeastRequests)
	}
	if uint64(r.gate.Runs) > math.MaxInt64-r.gate.seed {
		r.fault("scenario", "the seeds from %d on would exceed %d; choose a smaller one", r.gate.seed, int64(math.MaxInt64))
	}
	if err := r.prompts(p); err != nil {
		r.err(err)
	}
}
