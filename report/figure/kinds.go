package figure

import (
	"fmt"
	"slices"
	"strings"
)

// A Kind is a kind of figure.
type Kind struct {
	// Name is what it is asked for by, and Title says what it shows.
	Name, Title string
	// Table tells that it is made of a Table, otherwise of runs.
	Table bool
	// History tells that it needs the history of runs, which takes their steps.
	History bool
	// Limits tells that it shows the limits that runs have to keep.
	Limits bool
	// Metrics are those that it shows if nobody chooses; nil if there is no choice.
	// One tells that it shows one only.
	Metrics []Metric
	One     bool

	runs  func(metrics []Metric, runs []Run) *Figure
	table func(t *Table, metrics []Metric) (*Figure, error)
}

// Kinds lists every kind: those of runs, then those of tables.
func Kinds() []Kind {
	latencies := []Metric{TTFT, TPOT, ITL, E2E}
	plain := func(f func([]Run) *Figure) func([]Metric, []Run) *Figure {
		return func(_ []Metric, runs []Run) *Figure { return f(runs) }
	}
	simple := func(f func(*Table) (*Figure, error)) func(*Table, []Metric) (*Figure, error) {
		return func(t *Table, _ []Metric) (*Figure, error) { return f(t) }
	}
	return []Kind{
		{Name: "stalls", Title: "gaps between tokens over time, whose prompts made them long, and how many are longer", History: true, Limits: true, runs: plain(Stalls)},
		{Name: "timeline", Title: "gaps between tokens over time, and whose prompts made them long", History: true, Limits: true, runs: plain(Timeline)},
		{Name: "ecdf", Title: "share of requests, and of gaps, at or below each latency", Limits: true, Metrics: latencies, runs: ECDF},
		{Name: "ccdf", Title: "share above each latency, on a logarithmic axis: the tail", Limits: true, Metrics: latencies, runs: CCDF},
		{Name: "state", Title: "queue, running requests, KV cache and preemptions over time", History: true, runs: plain(State)},
		{Name: "batch", Title: "tokens of prompts and answers of each step around the longest gap", History: true, runs: plain(Batch)},
		{Name: "blame", Title: "what latencies were spent on, at the median and in the tail", History: true, Metrics: []Metric{TTFT, TPOT, WorstGap, E2E}, runs: Blame},
		{Name: "hockeystick", Title: "percentiles of latency against the request rate", Table: true, Metrics: []Metric{TTFT, TPOT}, table: Hockeystick},
		{Name: "goodput", Title: "good requests against the request rate", Table: true, table: simple(Goodput)},
		{Name: "pareto", Title: "tokens/s of a GPU against tokens/s of a user", Table: true, table: simple(Pareto)},
		{Name: "cost", Title: "US dollars for a million output tokens against P99 of a latency", Table: true, Metrics: []Metric{TTFT}, One: true,
			table: func(t *Table, metrics []Metric) (*Figure, error) { return Cost(t, metrics[0]) }},
		{Name: "chunk-frontier", Title: "P99 of TTFT against P99 of ITL over the token budgets of a step", Table: true, table: simple(ChunkFrontier)},
	}
}

// FindKind returns the kind of that name. The error lists those there are.
func FindKind(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fmt.Errorf("no kind of figure is called %q; there are %s", name, strings.Join(names, ", "))
}

// ParseMetrics reads the names of metrics, separated by commas, that k shows. It is an
// error if there are none to choose, or more than k shows.
func (k *Kind) ParseMetrics(text string) ([]Metric, error) {
	if k.Metrics == nil {
		return nil, fmt.Errorf("%s has no choice of metrics", k.Name)
	}
	all := Metrics()
	if k.Name == "blame" { // which charges requests, not single gaps
		all = k.Metrics
	}
	var list []Metric
	for _, word := range strings.Split(text, ",") {
		m := Metric(strings.TrimSpace(word))
		if !slices.Contains(all, m) || slices.Contains(list, m) {
			return nil, fmt.Errorf("found %q; %s shows %v, each once", word, k.Name, all)
		}
		list = append(list, m)
	}
	if k.One && len(list) > 1 {
		return nil, fmt.Errorf("found %d metrics; %s shows one", len(list), k.Name)
	}
	return list, nil
}

// OfRuns returns the figure of runs with metrics, k.Metrics if nil. It is an error if
// the runs have nothing that k shows.
func (k *Kind) OfRuns(metrics []Metric, runs []Run) (*Figure, error) {
	if metrics == nil {
		metrics = k.Metrics
	}
	f := k.runs(metrics, runs)
	f.Panels = slices.DeleteFunc(f.Panels, func(p Panel) bool { return len(p.Series) == 0 })
	if len(f.Panels) == 0 {
		return nil, fmt.Errorf("the runs have no data for %s", k.Name)
	}
	f.Columns = min(f.Columns, len(f.Panels))
	return f, nil
}

// OfTable returns the figure of a table with metrics, k.Metrics if nil. It is an error
// if the table lacks what k shows.
func (k *Kind) OfTable(t *Table, metrics []Metric) (*Figure, error) {
	if metrics == nil {
		metrics = k.Metrics
	}
	return k.table(t, metrics)
}
