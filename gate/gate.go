package gate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/internal/strict"
	"servesim/scenario"
	"servesim/sim"
)

// What a gate asks of its evidence at least.
const (
	// LeastRuns is the number of runs at each load.
	LeastRuns = 30
	// LeastRequests is the number of requests of each run.
	LeastRequests = 100
	// LargestFall is by how many points goodput may be less at 150 % of the target
	// than at 100 % before that is flagged.
	LargestFall = 5
)

// A Class says how much is at stake, and so how much goodput is enough.
type Class struct {
	Name string
	// Target is the least share of good requests.
	Target analysis.Percentile
}

// Classes lists the classes.
func Classes() []Class {
	of := func(percent string) analysis.Percentile {
		p, _ := analysis.ParsePercentile(percent) // of constants
		return p
	}
	return []Class{{"production", of("99")}, {"canary", of("95")}}
}

// limit writes the least goodput of c as analysis.ParseSLO reads it.
func (c *Class) limit() string { return (&analysis.SLO{MinGoodput: &c.Target}).String() }

// A Gate is a checked gate file.
type Gate struct {
	// File is the path of the file and Name what it calls the gate.
	File, Name string
	Class      Class
	// SLO is what users must get; its MinGoodput is the target of Class. From says
	// where the limits come from.
	SLO  analysis.SLO
	From string
	// Dialect is whose words the figures are in, and Version what the file says of
	// the tool's version.
	Dialect *dialect.Dialect
	Version string
	// Levels are the loads at which runs are made, in ascending order.
	Levels []Level
	// Runs is the number of runs at each load.
	Runs int
	// Percentiles are those of every metric.
	Percentiles []analysis.Percentile
	Thresholds  []Threshold
	// Notes are what a reader should know of all this, a sentence each.
	Notes []string

	source scenario.Source // of every run, but for load and seed
	plan   *scenario.Plan  // at the target, nil without a scenario
	seed   uint64          // of the first run
	load   string          // the setting that loads change, or ""
	from   sim.Duration    // the begin of the first window, if runs are windows of a trace
	width  sim.Duration    // of a window; 0 if they aren't
}

// Read reads the gate with the content text of the file at path, and the scenario
// that it names. measured tells that its runs come from files, so that a scenario is
// needed for its limits at most. The error is a scenario.UsageError of every fault,
// those that make the gate refused among them.
func Read(path, text string, measured bool) (*Gate, error) {
	f, where, faults := decode(path, text)
	if f == nil {
		return nil, scenario.FaultsError(faults)
	}
	r := &reader{f: f, where: where, dir: filepath.Dir(path), faults: faults, measured: measured}
	r.gate = &Gate{File: path, Name: f.Name, Runs: LeastRuns, seed: 1}
	if f.Name == "" {
		r.gate.Name = filepath.Base(path)
	}
	r.class()
	r.dialect()
	r.percentiles()
	r.levels()
	r.runs()
	r.scenario()
	r.thresholds()
	r.slo()
	if len(r.faults) > 0 {
		slices.SortStableFunc(r.faults, func(a, b strict.Fault) int { return lineOf(a) - lineOf(b) })
		return nil, scenario.FaultsError(r.faults)
	}
	return r.gate, nil
}

// lineOf orders faults as a reader of the file meets them; what no line holds comes
// last.
func lineOf(f strict.Fault) int {
	n, err := strconv.Atoi(f.Where[strings.LastIndexByte(f.Where, ':')+1:])
	if err != nil {
		return 1 << 30
	}
	return n
}

// A reader makes a Gate of its file.
type reader struct {
	gate     *Gate
	f        *file
	where    func(key string) string
	dir      string
	measured bool
	faults   []strict.Fault
}

// fault notes what is wrong with key.
func (r *reader) fault(key, format string, args ...any) {
	r.faults = append(r.faults, strict.Fault{Where: r.where(key), Key: key, Text: fmt.Sprintf(format, args...)})
}

// refuse notes why a gate that could be run isn't worth running.
func (r *reader) refuse(key, format string, args ...any) {
	r.fault(key, "refused: "+format, args...)
}

// note adds a sentence to those that go with every result.
func (r *reader) note(format string, args ...any) {
	r.gate.Notes = append(r.gate.Notes, fmt.Sprintf(format, args...))
}

// class reads how much is at stake.
func (r *reader) class() {
	var names []string
	for _, c := range Classes() {
		if c.Name == r.f.Class {
			r.gate.Class = c
			return
		}
		names = append(names, fmt.Sprintf("%q (%s)", c.Name, c.limit()))
	}
	if r.f.Class == "" {
		r.fault("class", "missing; give %s", strings.Join(names, " or "))
		return
	}
	r.fault("class", "found %q; must be %s", r.f.Class, strings.Join(names, " or "))
}

// dialect reads whose words the figures are in.
func (r *reader) dialect() {
	const such = `[dialect] with tool = "vllm" and version = "0.11.0"`
	d := r.f.Dialect
	switch {
	case d == nil || d.Tool == "" && d.Version == "":
		r.refuse("dialect", "no dialect is named, and tools mean different times by TTFT, TPOT and ITL; give %s: the tool that measures and its version (servesim list dialects)", such)
		return
	case d.Tool == "":
		r.refuse("dialect.tool", "missing, so nobody knows whose figures these are; give the name of a tool: servesim list dialects")
		return
	case d.Version == "":
		r.refuse("dialect.version", "missing, and tools change what they measure from version to version; give that of %s which measures, such as \"0.11.0\"", d.Tool)
	}
	found, err := dialect.Find(d.Tool)
	if err != nil {
		r.fault("dialect.tool", "%v", strings.TrimSuffix(err.Error(), ", or all"))
		return
	}
	r.gate.Dialect, r.gate.Version = found, d.Version
	words := strings.FieldsFunc(found.Version, func(c rune) bool { return c == ' ' || c == ',' })
	if d.Version != "" && d.Version != found.Version && !slices.Contains(words, d.Version) && found.Name != "servesim" {
		r.note("figures are by the rules of %s, %s; the gate names version %s, whose rules may differ", found.Tool, found.Version, d.Version)
	}
}

// percentiles reads which percentiles every metric gets.
func (r *reader) percentiles() {
	g, needed := r.gate, analysis.DefaultPercentiles()
	if r.f.Percentiles == nil {
		g.Percentiles = needed
		return
	}
	var words []string
	for _, x := range r.f.Percentiles {
		words = append(words, strconv.FormatFloat(x, 'f', -1, 64))
	}
	var lack []string
	if len(words) > 0 {
		ps, err := analysis.ParsePercentiles(strings.Join(words, " "))
		if err != nil {
			r.fault("percentiles", "%v", err)
			return
		}
		g.Percentiles = ps
	}
	for _, p := range needed {
		if !slices.Contains(g.Percentiles, p) {
			lack = append(lack, strings.ToUpper(p.String()))
		}
	}
	if len(lack) > 0 {
		r.refuse("percentiles", "without %s a mean hides the tail that users complain of; give [50, 90, 99] and more if you like", strings.Join(lack, ", "))
	}
}

// runs reads how often and how long each load is run.
func (r *reader) runs() {
	if n := r.f.Runs.Replications; n != nil {
		const most = 10_000
		switch {
		case *n < 1 || *n > most:
			r.fault("runs.replications", "found %d; must be from %d to %s runs", *n, LeastRuns, analysis.Grouped(most))
		case *n < LeastRuns:
			r.refuse("runs.replications", "%s at each load can't tell a change from luck; give %d or more", analysis.Counted(*n, "run"), LeastRuns)
		default:
			r.gate.Runs = int(*n)
		}
	}
	switch n := r.f.Runs.Requests; {
	case n == nil:
	case *n < 1:
		r.fault("runs.requests", "found %d; must be %d or more requests", *n, LeastRequests)
	case *n < LeastRequests:
		r.refuse("runs.requests", "of %s a P99 is the one slowest; give %d or more", analysis.Counted(*n, "request"), LeastRequests)
	}
}
