package gate

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/internal/strict"
	"servesim/scenario"
	"servesim/sim/workload"
)

// seedKey is the key of a scenario in which runs of a load differ.
const seedKey = "seed"

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
		if l.Concurrency != nil {
			g.load = "workload.closed_loop.users"
		}
	}
	if n := r.f.Runs.Requests; n != nil {
		r.settings("runs", map[string]any{"workload.requests": *n})
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

// sourceAt returns the source of the scenario at level i.
func (g *Gate) sourceAt(i int) (scenario.Source, error) {
	if g.load == "" {
		return g.source, nil
	}
	l := &g.Levels[i]
	s := scenario.Setting{Key: g.load, Value: l.Rate, Text: "rate_per_s=" + number(l.Rate), Flag: g.File + ": load"}
	if l.Users > 0 {
		s.Value, s.Text = l.Users, fmt.Sprintf("concurrency=%d", l.Users)
	}
	return g.source.With([]scenario.Setting{s})
}

// drawn refuses a scenario whose workload isn't one that is drawn anew in each run
// at any rate.
func (r *reader) drawn(p *scenario.Plan) bool {
	s := p.Scenario
	parts := s.Workload.Parts()
	switch {
	case slices.ContainsFunc(parts, func(w scenario.Part) bool { return w.Trace != "" }):
		r.refuse("scenario", "requests come from a trace, which is the same in each of the %d runs, so that they would say nothing of chance; draw them from a preset (servesim list presets), or from lengths and arrivals like those of the trace", r.gate.Runs)
	case len(parts) > 1:
		r.refuse("scenario", "workloads are merged, and the target is the rate of one; give their requests as classes of one workload")
	case s.Transform.Rate != nil || s.Transform.Stretch != nil:
		r.refuse("scenario", "transform.rate or transform.stretch changes the rate that [load] sets; take it out")
	default:
		return true
	}
	return false
}

// workload refuses what makes runs that say nothing.
func (r *reader) workload(p *scenario.Plan) {
	s := p.Scenario
	if !r.drawn(p) {
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

// prompts refuses a workload whose first prompts are all as long.
func (r *reader) prompts(p *scenario.Plan) error {
	in, err := p.Open()
	if err != nil {
		return err
	}
	var lengths []int32
	for len(lengths) < LeastRequests {
		q, err := in.Source.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(err, workload.CloseSource(in.Source))
		}
		lengths = append(lengths, q.Prompt)
	}
	if n := len(lengths); n > 1 && slices.Min(lengths) == slices.Max(lengths) {
		r.refuse("scenario", "identical prompts: each has %s, so that no long one ever stalls the others, as happens to users; give prompt a distribution, such as that of preset azure-chat", analysis.Counted(int64(lengths[0]), "token"))
	}
	return workload.CloseSource(in.Source)
}
