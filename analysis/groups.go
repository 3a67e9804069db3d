package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servesim/sim/observe"
)

// Group is the requests of one class, or of one range of output tokens.
type Group struct {
	// Name is the label of the class, or the range in words.
	Name string
	// Rest tells that it's the requests of all classes beyond MaxClasses.
	Rest bool
	// Requests is the number of all requests, those that failed included, whose
	// output tokens are those they asked for. Completed is the number of those that
	// completed and Good of those that met the limits of goodput.
	Requests, Completed, Good int64
	// PromptTokens and OutputTokens are those of completed requests.
	PromptTokens, OutputTokens int64
	// The latencies are as in a Report. In runs of more than 2^18 requests they have no
	// intervals, in those of more than 2^20 percentiles have a Resolution of at most
	// 0.1 %. MaxGap is nil for ranges of output tokens.
	TTFT, TPOT, E2E Distribution
	MaxGap          *Distribution
}

// MaxClasses is the number of classes that a Report tells apart. Those that are
// first seen beyond it are one group together.
const MaxClasses = 16

// MaxOutputEdges is the most edges between groups by output tokens.
const MaxOutputEdges = 6

// DefaultOutputEdges returns 100, 300 and 500 output tokens.
func DefaultOutputEdges() []int32 { return []int32{100, 300, 500} }

// ParseOutputEdges reads edges between groups by output tokens, such as
// "100,300,500", ascending; "none" is one group. All faults are told at once.
func ParseOutputEdges(text string) ([]int32, error) {
	edges := []int32{}
	if text == "none" {
		return edges, nil
	}
	var faults []error
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 32)
		switch last := len(edges) - 1; {
		case err != nil || n < 1:
			faults = append(faults, fmt.Errorf("%q is not a number of output tokens; write whole numbers of 1 or more, ascending, such as 100,300,500, or none", word))
		case last >= 0 && int32(n) <= edges[last]:
			faults = append(faults, fmt.Errorf("%d is not above %d before it; edges ascend", n, edges[last]))
		default:
			edges = append(edges, int32(n))
		}
	}
	return edges, errors.Join(append(faults, checkEdges(edges))...)
}

// checkEdges tells what is wrong with edges, if anything.
func checkEdges(edges []int32) error {
	if len(edges) > MaxOutputEdges {
		return fmt.Errorf("%d output edges; at most %d are told apart", len(edges), MaxOutputEdges)
	}
	for i, e := range edges {
		if e < 1 || i > 0 && e <= edges[i-1] {
			return fmt.Errorf("output edges %d: they are 1 or more and ascend", edges)
		}
	}
	return nil
}

// groupIntervals is the number of requests of a run up to which the percentiles of
// its groups have intervals.
const groupIntervals = 1 << 18

// groups divides requests by class and by output tokens: a cell is the requests of
// one class in one range. Up to a limit the cell of each request is kept beside its
// values, and the groups are made when they are asked for, in the order of the run,
// on which intervals rest; then each group has a coarse histogram of its own.
type groups struct {
	edges   []int32        // each the first of the next range
	classes []string       // in order of appearance, "" in the place of those beyond MaxClasses
	of      map[string]int // the index of each of them
	last    string         // the class taken last, and its index
	at      int
	counts  []groupCounts // of each cell
	cell    int           // of the request taken last
	// cells are those of the completed requests, marked where they have no TPOT,
	// kept is their number and limit the most there may be, parted tells that there
	// were more.
	cells                   [][]uint8
	kept, limit             int
	parted                  bool
	ttft, tpot, maxGap, e2e grouped
}

// grouped is the values of one metric, all of them and, once groups are parted,
// those of each group; class is nil if there is one only.
type grouped struct {
	all           Sample
	output, class []sketch
	pending       []int64 // values that the groups are yet to get, and their cells
	cells         []uint8
}

const (
	// noTPOT marks the cell of a request without a second token. There are at most
	// (MaxClasses+1)·(MaxOutputEdges+1) cells.
	noTPOT = 1 << 7
	// chunkCells is the number of cells that are allocated at once.
	chunkCells = 1 << 16
)

// groupCounts are the numbers of a Group.
type groupCounts struct{ requests, completed, good, prompt, output int64 }

// newGroups returns groups without requests.
func newGroups(edges []int32) groups {
	return groups{edges: edges, of: make(map[string]int), at: -1, limit: exactValues}
}

// width is the number of ranges of output tokens.
func (s *groups) width() int { return len(s.edges) + 1 }

// request takes r, whatever became of it, and returns the counts of its cell, that
// of the tokens that it asked for if it failed.
func (s *groups) request(r *observe.Request) *groupCounts {
	if s.at < 0 || r.Class != s.last {
		s.turn(r.Class)
	}
	tokens, at := r.Output, 0
	if r.Outcome != observe.Completed {
		tokens = r.Wanted
	}
	for at < len(s.edges) && tokens >= s.edges[at] {
		at++
	}
	s.cell = s.at*s.width() + at
	c := &s.counts[s.cell]
	c.requests++
	return c
}

// turn makes class the last one.
func (s *groups) turn(class string) {
	at, known := s.of[class]
	if !known {
		at = min(len(s.classes), MaxClasses)
		if at < MaxClasses {
			s.of[class] = at
		} else {
			class = ""
		}
		if at == len(s.classes) {
			s.classes = append(s.classes, class)
			s.counts = append(s.counts, make([]groupCounts, s.width())...)
			if s.parted {
				s.anotherClass(at)
			}
		}
	}
	s.last, s.at = class, at
}

// metrics returns the values of each metric.
func (s *groups) metrics() [4]*grouped { return [4]*grouped{&s.ttft, &s.tpot, &s.maxGap, &s.e2e} }

// rest returns the number of requests of classes beyond MaxClasses.
func (s *groups) rest() int64 {
	var n int64
	for i := MaxClasses * s.width(); i < len(s.counts); i++ {
		n += s.counts[i].requests
	}
	return n
}

// completed takes r, a completed request.
func (s *groups) completed(r *observe.Request, good bool) {
	c := s.request(r)
	c.completed++
	c.prompt += int64(r.Prompt)
	c.output += int64(r.Output)
	if good {
		c.good++
	}
	tpot, ok := perToken(r)
	if s.kept < s.limit {
		s.keep(ok)
		s.ttft.all.Add(r.First.Sub(r.Arrival))
		if ok {
			s.tpot.all.Add(tpot)
			s.maxGap.all.Add(r.MaxGap)
		}
		s.e2e.all.Add(endToEnd(r))
		return
	}
	if !s.parted {
		s.part()
	}
	s.add(&s.ttft, r.First.Sub(r.Arrival))
	if ok {
		s.add(&s.tpot, tpot)
		s.add(&s.maxGap, r.MaxGap)
	}
	s.add(&s.e2e, endToEnd(r))
}

// byClass returns the classes in the order of their labels, nil if there is one only.
func (s *groups) byClass(ps []Percentile) []Group {
	if len(s.classes) < 2 {
		return nil
	}
	list := make([]Group, len(s.classes))
	for i, c := range s.classes {
		list[i] = Group{Name: c, Rest: i == MaxClasses, MaxGap: new(Distribution)}
	}
	s.fill(list, func(cell int) int { return cell / s.width() }, func(g *grouped) []sketch { return g.class }, ps)
	slices.SortFunc(list, func(a, b Group) int {
		if a.Rest != b.Rest {
			return map[bool]int{false: -1, true: 1}[a.Rest]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return list
}

// byOutput returns the ranges of output tokens, nil if there is one only.
func (s *groups) byOutput(ps []Percentile) []Group {
	if s.width() == 1 {
		return nil
	}
	list := make([]Group, s.width())
	for i := range list {
		list[i].Name = s.rangeName(i)
	}
	s.fill(list, func(cell int) int { return cell % s.width() }, func(g *grouped) []sketch { return g.output }, ps)
	return list
}

// fill fills in the numbers of list, in which each cell is of group of(cell). own
// returns the groups' sketches of a metric once they are parted.
func (s *groups) fill(list []Group, of func(cell int) int, own func(*grouped) []sketch, ps []Percentile) {
	for cell, c := range s.counts {
		g := &list[of(cell)]
		g.Requests += c.requests
		g.Completed += c.completed
		g.Good += c.good
		g.PromptTokens += c.prompt
		g.OutputTokens += c.output
	}
	var room []int64
	if s.kept <= groupIntervals {
		room = make([]int64, s.kept)
	}
	for k, m := range s.metrics() {
		to := func(i int) *Distribution {
			g := &list[i]
			return [...]*Distribution{&g.TTFT, &g.TPOT, g.MaxGap, &g.E2E}[k]
		}
		if to(0) == nil {
			continue
		}
		if s.parted {
			s.settle(m)
			for i := range list {
				*to(i) = own(m)[i].distribution(ps)
			}
			continue
		}
		if s.kept > groupIntervals {
			for i, d := range s.selected(m, len(list), of, ps) {
				*to(i) = d
			}
			continue
		}
		for i, values := range s.divided(m, len(list), of, room) {
			*to(i) = (&Sample{cur: values, n: len(values)}).Distribution(ps)
		}
	}
}

// rangeName says in words which output tokens range i is of.
func (s *groups) rangeName(i int) string {
	tokens := func(n int32) string { return strconv.Itoa(int(n)) }
	switch {
	case i == 0:
		return "below " + tokens(s.edges[0])
	case i == len(s.edges):
		return tokens(s.edges[i-1]) + " or more"
	case s.edges[i-1] == s.edges[i]-1:
		return tokens(s.edges[i-1])
	}
	return tokens(s.edges[i-1]) + " to " + tokens(s.edges[i]-1)
}
