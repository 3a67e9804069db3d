package analysis

import (
	"math"

	"servesim/sim"
	"servesim/sim/observe"
)

// SaturationState says whether the engines kept up with the requests.
type SaturationState string

// The states, as reports spell them. Each is decided by the requests that came to a
// queue, n of them, m in the last half of the time in which they came.
const (
	// Stable: none of the others. Only then do percentiles tell of a steady state.
	Stable SaturationState = "stable"
	// Backlogged: at some instant at least 2·√n requests, and at least 1 % of all,
	// waited to be computed first. That is more than chance makes of a queue that
	// is just at capacity, whose arrivals and services have a coefficient of
	// variation of 1. Percentiles mix the time of the backlog with the rest.
	Backlogged SaturationState = "backlogged"
	// Overloaded: the queue grew over the whole last half: the 95 % interval of its
	// growth lies above 0, and it grew by at least √m requests and 1 % of m.
	// Whoever comes later waits longer, without end.
	Overloaded SaturationState = "overloaded"
	// Unsettled: so did the number of requests in the engines, waiting or not, but
	// the queue did not: the run is too short for its batches to fill.
	Unsettled SaturationState = "unsettled"
	// UnknownSaturation: fewer than 100 requests, or none that says when it was sent.
	UnknownSaturation SaturationState = "unknown"
)

// Steady tells whether the figures of a run in this state don't depend on how
// long it was, as far as is known.
func (s SaturationState) Steady() bool { return s != Overloaded && s != Unsettled }

// Saturation is whether the engines kept up with the requests, and what says so.
type Saturation struct {
	State SaturationState
	// Requests is the number of requests that came to a queue.
	Requests int64
	// Half is the last half of the time in which they came, the rates below are over
	// it: of requests that came and of those that completed, in requests/s, NaN if
	// it is 0.
	Half                        sim.Duration
	ArrivalRate, CompletionRate float64
	// Queue is of the requests that waited to be computed first, Present of all
	// that were in the engines.
	Queue, Present Trend
}

// Trend is how a number of requests went while requests came.
type Trend struct {
	// Growth is that of the number over the last half, in requests/s, with its 95 %
	// interval from Lo to Hi. They are NaN if Half is 0.
	Growth, Lo, Hi float64
	// Peak is its highest value, and Last that when the last request had come;
	// both are of as many instants as there are bins.
	Peak, Last int64
}

// saturationCount is the number of requests below which nothing is said.
const saturationCount = 100

// saturation collects what Saturation says. It takes 33 KB.
type saturation struct {
	came, begun, left, done eventBins
	first                   sim.Time // the first that came
}

// request takes r, whatever became of it.
func (s *saturation) request(r *observe.Request) {
	if r.Sent < 0 {
		return
	}
	if s.came.total == 0 || r.Sent < s.first {
		s.first = r.Sent
	}
	s.came.add(r.Sent)
	ended := r.Outcome != observe.Unfinished
	switch {
	case r.Scheduled >= 0:
		s.begun.add(r.Scheduled)
	case ended:
		s.begun.add(r.End)
	}
	if ended {
		s.left.add(r.End)
	}
	if r.Outcome == observe.Completed {
		s.done.add(r.End)
	}
}

// report says whether the engines kept up.
func (s *saturation) report() Saturation {
	none := Trend{Growth: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
	r := Saturation{State: UnknownSaturation, Requests: s.came.total, ArrivalRate: math.NaN(), CompletionRate: math.NaN(), Queue: none, Present: none}
	if s.came.total == 0 {
		return r
	}
	last := s.came.last
	middle := s.first + (last-s.first)/2
	r.Half = last.Sub(middle)
	r.Queue, r.Present = s.trend(&s.begun, middle), s.trend(&s.left, middle)
	came := s.came.between(middle, last)
	if r.Half > 0 {
		r.ArrivalRate, r.CompletionRate = came/r.Half.Seconds(), s.done.between(middle, last)/r.Half.Seconds()
	}
	n := float64(s.came.total)
	grew := func(t *Trend) bool {
		return t.Lo > 0 && float64(t.Growth*r.Half.Seconds()) >= max(came/100, math.Sqrt(came))
	}
	switch {
	case s.came.total < saturationCount:
	case grew(&r.Queue):
		r.State = Overloaded
	case float64(r.Queue.Peak) >= max(n/100, 2*math.Sqrt(n)):
		r.State = Backlogged
	case grew(&r.Present):
		r.State = Unsettled
	default:
		r.State = Stable
	}
	return r
}

// between returns the number of events from one instant to another, both included.
func (b *eventBins) between(from, to sim.Time) float64 {
	n := b.before([]sim.Time{from, to + 1})
	return n[1] - n[0]
}

// trend returns that of the number of requests that came and aren't yet in gone.
// Its growth is the mean of that in equal stretches of time from middle on. They
// depend on each other as any stretches of a run do; in a steady state more comes
// after less, so that the interval is too wide rather than too narrow.
func (s *saturation) trend(gone *eventBins, middle sim.Time) Trend {
	last := s.came.last + 1
	at := func(instants []sim.Time) []float64 {
		came, went := s.came.before(instants), gone.before(instants)
		for i := range came {
			came[i] -= went[i]
		}
		return came
	}
	edges := make([]sim.Time, 0, timeBins+2)
	for i := s.first>>s.came.shift + 1; i <= s.came.last>>s.came.shift; i++ {
		edges = append(edges, i<<s.came.shift)
	}
	numbers := at(append(edges, last))
	var t Trend
	for _, n := range numbers {
		t.Peak = max(t.Peak, int64(math.Round(n)))
	}
	t.Last = int64(math.Round(numbers[len(numbers)-1]))
	half := last.Sub(middle)
	const cells = 4 * coarseBatches
	edges = edges[:0]
	for i := range sim.Time(cells + 1) {
		edges = append(edges, middle+sim.Time(half)/cells*i+sim.Time(half)%cells*i/cells)
	}
	numbers = at(edges)
	var r quotient
	for i := range cells {
		r.over = append(r.over, numbers[i+1]-numbers[i])
		r.under = append(r.under, edges[i+1].Sub(edges[i]).Seconds())
	}
	if s.came.last == s.first {
		t.Growth, t.Lo, t.Hi = math.NaN(), math.NaN(), math.NaN()
		return t
	}
	sp := r.dependent()
	t.Growth = (numbers[cells] - numbers[0]) / half.Seconds()
	off := float64(student95(sp.freedom) * math.Sqrt(sp.variance))
	t.Lo, t.Hi = t.Growth-off, t.Growth+off
	return t
}
