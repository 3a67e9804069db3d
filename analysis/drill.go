package analysis

import (
	"math"

	"servesim/sim"
	"servesim/sim/observe"
)

// The phases of a drill, by what a request lived through.
const (
	// DrillBefore: it had ended when the first replica stopped taking requests.
	DrillBefore = iota
	// DrillDuring: it was in the system while some replica took no requests.
	DrillDuring
	// DrillAfter: it came later, when all did.
	DrillAfter

	drillPhases
)

// DrillPhase is the requests of one phase.
type DrillPhase struct {
	// Requests is their number, Good that of those which met every limit on requests,
	// or completed if there are none.
	Requests, Good int64
	// TTFT is that of those which completed.
	TTFT Distribution
}

// Share returns Good as a share of Requests; ok is false if there are none.
func (p *DrillPhase) Share() (share float64, ok bool) { return ratio(p.Good, p.Requests) }

// DrillReport is how a run went through failures of replicas.
type DrillReport struct {
	// From is when the first replica stopped taking requests, Never if none did
	// before the run ended, and To when all took them again for the last time, Never if they didn't.
	From, To sim.Time
	// Out is for how long some replica took none, up to the end of the run.
	Out sim.Duration
	// Phases are by DrillBefore, DrillDuring and DrillAfter.
	Phases [drillPhases]DrillPhase
	// Lost is the requests that a failure ended, NoReplica those rejected for want of a
	// replica, Again those that were tried again, Attempts how often they were in all,
	// and Recovered those of them that completed.
	Lost, NoReplica, Again, Attempts, Recovered int64
	// LostTokens is the tokens that were run through the model in lost attempts and for
	// requests that a failure ended.
	LostTokens int64
	// Level is the mean number of requests in the system before From, NaN if there was
	// no time before. Peak is the most there were from then on, at PeakAt, and Drained
	// the first instant from To on at which there were no more than Level; Never if
	// that did not come. The three are told to Resolution.
	Level      float64
	Peak       int64
	PeakAt     sim.Time
	Drained    sim.Time
	Resolution sim.Duration
}

// drillBins is the number of bins of the requests that come and go in a drill.
const drillBins = 1 << 13

// Drill is an observe.Sink that reports how a run went through a drill. It is told of
// each replica that stops or begins to take requests ahead of what comes of that. Its
// memory does not grow with the number of requests but for the TTFT of each.
type Drill struct {
	limits    Goodput
	noReplica string
	cut       *Cut
	report    DrillReport
	out       int        // replicas that take none now
	windows   []sim.Time // when some began to take none, and when all took them again, in turn
	ttft      [drillPhases]Sample
	began     sim.Time // the first request reached the pool
	inside    float64  // seconds that requests spent in the system from then to From
	atStart   int64    // requests in the system at From
	shift     uint     // a bin is 1<<shift ps wide
	change    [drillBins]int64
	last      sim.Time
}

// NewDrill returns a Drill that judges requests by limits, and knows those rejected for
// want of a replica by their reason. Requests that cut leaves out, which may be nil,
// count in no phase.
func NewDrill(limits Goodput, noReplica string, cut *Cut) *Drill {
	return &Drill{limits: limits, noReplica: noReplica, cut: cut, began: observe.Never, shift: 30,
		report: DrillReport{From: observe.Never, To: observe.Never, PeakAt: observe.Never, Drained: observe.Never}}
}

// Change tells that a replica takes requests from t on, or no more.
func (d *Drill) Change(t sim.Time, takes bool) {
	before := d.out
	if takes {
		d.out--
	} else {
		d.out++
	}
	if before == 0 || d.out == 0 {
		if n := len(d.windows); n > 0 && before == 0 && d.windows[n-1] == t {
			d.windows = d.windows[:n-1] // one was back as the other went
		} else {
			d.windows = append(d.windows, t)
		}
	}
	if d.report.From == observe.Never {
		d.report.From = t
	}
}

// Step implements observe.Sink.
func (d *Drill) Step(r *observe.StepRun) error {
	d.last = max(d.last, r.Start.Add(r.Duration()))
	return nil
}

// Request implements observe.Sink.
func (d *Drill) Request(r *observe.Request) error {
	d.last = max(d.last, r.End)
	if r.Sent != observe.Never {
		d.level(r)
	}
	if d.cut != nil && d.cut.Leaves(r.ID, r.Arrival) {
		return nil
	}
	k := d.phase(r)
	p, o := &d.report.Phases[k], &d.report
	p.Requests++
	if d.limits.Good(r) {
		p.Good++
	}
	if n := int64(len(r.Attempts)); n > 0 {
		o.Again++
		o.Attempts += n
	}
	for i := range r.Attempts {
		o.LostTokens += r.Attempts[i].Computed
	}
	switch {
	case r.Outcome == observe.Completed:
		d.ttft[k].Add(r.First.Sub(r.Arrival))
		if len(r.Attempts) > 0 {
			o.Recovered++
		}
	case r.Outcome == observe.ReplicaFailed:
		o.Lost++
		o.LostTokens += r.Computed
	case r.Outcome == observe.Rejected && r.Reason == d.noReplica:
		o.NoReplica++
	}
	return nil
}

// phase returns that of r, which has just ended.
func (d *Drill) phase(r *observe.Request) int {
	if d.report.From == observe.Never || r.End < d.report.From {
		return DrillBefore
	}
	for i := len(d.windows) - 1; i >= 0; i -= 2 {
		if i%2 == 0 { // some take none since then
			return DrillDuring
		}
		if r.Arrival < d.windows[i] && r.End >= d.windows[i-1] {
			return DrillDuring
		}
	}
	return DrillAfter
}

// level counts r among those in the system.
func (d *Drill) level(r *observe.Request) {
	if d.began == observe.Never || r.Sent < d.began {
		d.began = r.Sent
	}
	from := d.report.From
	if from == observe.Never || r.End < from {
		d.inside += r.End.Sub(r.Sent).Seconds()
		return
	}
	if r.Sent < from {
		d.inside += from.Sub(r.Sent).Seconds()
		d.atStart++
	} else {
		d.bin(r.Sent.Sub(from), 1)
	}
	d.bin(r.End.Sub(from), -1)
}

// bin changes the number of requests in the system by n at the end of the bin of t.
func (d *Drill) bin(t sim.Duration, n int64) {
	for int64(t)>>d.shift >= drillBins {
		for i := range drillBins / 2 {
			d.change[i] = d.change[2*i] + d.change[2*i+1]
		}
		clear(d.change[drillBins/2:])
		d.shift++
	}
	d.change[int64(t)>>d.shift] += n
}

// Report returns how it went.
func (d *Drill) Report() *DrillReport {
	r := d.report
	for k := range r.Phases {
		r.Phases[k].TTFT = d.ttft[k].Distribution(DefaultPercentiles())
	}
	windows := d.windows
	if r.From != observe.Never && r.From > d.last { // nobody was left to feel it
		r.From, windows = observe.Never, nil
	}
	n := len(windows)
	if n > 0 && n%2 == 0 {
		r.To = windows[n-1]
	}
	for i, t := range windows {
		switch {
		case i%2 == 1:
			r.Out += t.Sub(windows[i-1])
		case i == n-1 && d.last > t:
			r.Out += d.last.Sub(t)
		}
	}
	r.Level = math.NaN()
	if r.From != observe.Never && d.began != observe.Never && r.From > d.began {
		r.Level = d.inside / r.From.Sub(d.began).Seconds()
	}
	d.drain(&r)
	return &r
}

// drain finds the peak and when the queue was back to its level.
func (d *Drill) drain(r *DrillReport) {
	r.Resolution = sim.Duration(1) << d.shift
	if r.From == observe.Never {
		return
	}
	in, limit := d.atStart, math.Ceil(r.Level)
	r.Peak, r.PeakAt = in, r.From
	for i := range d.change {
		end := r.From.Add(sim.Duration(i+1) << d.shift)
		in += d.change[i]
		if in > r.Peak {
			r.Peak, r.PeakAt = in, end
		}
		if r.To != observe.Never && end >= r.To && float64(in) <= limit { // false of NaN
			r.Drained = end
			return
		}
	}
}
