package gate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
)

// target is the share, in percent, at which a gate is decided, and beyond the one at
// which goodput may not have fallen far.
const (
	target = 100
	beyond = 150
)

// neededSweep returns the shares of the target, in percent, that every gate has.
func neededSweep() []int64 { return []int64{25, 50, target, beyond} }

// A Level is a load at which runs are made.
type Level struct {
	// Name is the share of the target in percent, such as "100", or "peak" for twice
	// the peak.
	Name string
	// Title is what tables call it, such as "100 %".
	Title string
	// One of these says what the load is; the others are 0. Rate is requests per
	// second, Users the number of users who each wait for their answers, and Times
	// how many times the workload's own rate it is.
	Rate  float64
	Users int64
	Times float64
	// Share is the share of the target, in percent.
	Share float64
}

// peakName is the Name of the level at twice the peak.
const peakName = "peak"

// Load says in words what l is.
func (l *Level) Load() string {
	switch {
	case l.Users > 0:
		return analysis.Counted(l.Users, "user")
	case l.Times > 0:
		return number(l.Times) + " times the workload"
	}
	return number(l.Rate) + " requests/s"
}

// number writes x without needless digits.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// at returns the level of a gate with a name.
func (g *Gate) at(name string) int {
	return slices.IndexFunc(g.Levels, func(l Level) bool { return l.Name == name })
}

// levels reads the loads.
func (r *reader) levels() {
	l := r.f.Load
	if l == nil {
		r.refuse("load", "no load is given, so no verdict would mean anything; give [load] with rate_per_s or concurrency, the target, and sweep = [25, 50, 100, 150]")
		return
	}
	if !r.target(l) {
		r.sweep()
		return
	}
	r.shares(r.sweep())
	r.peak()
	slices.SortStableFunc(r.gate.Levels, func(a, b Level) int { return cmp.Compare(a.Share, b.Share) })
}

// most is the largest rate and the largest number of users of a target.
const most = 1e6

// target checks what the target is and tells whether it is well.
func (r *reader) target(l *loadSection) bool {
	before := len(r.faults)
	given := 0
	for _, g := range []bool{l.RatePerS != nil, l.Concurrency != nil, l.Multiple != nil} {
		if g {
			given++
		}
	}
	switch {
	case given == 0:
		r.fault("load", "no target; give rate_per_s, in requests per second, concurrency, in users, or rate_multiple, of the workload's own rate")
	case given > 1:
		r.fault("load", "has more than one of rate_per_s, concurrency and rate_multiple; a load is a rate, whatever the answers take, or a number of users who wait for theirs; take the others out")
	case l.RatePerS != nil && !(*l.RatePerS > 0 && *l.RatePerS <= most):
		r.fault("load.rate_per_s", "found %v; must be more than 0 and at most 1,000,000 requests per second", *l.RatePerS)
	case l.Concurrency != nil && (*l.Concurrency < 1 || *l.Concurrency > most):
		r.fault("load.concurrency", "found %d; must be from 1 to 1,000,000 users", *l.Concurrency)
	case l.Multiple != nil && !(*l.Multiple > 0 && *l.Multiple <= 100):
		r.fault("load.rate_multiple", "found %v; must be more than 0 and at most 100 times the workload's own rate", *l.Multiple)
	}
	return len(r.faults) == before
}

// sweep checks the shares of the target and returns them.
func (r *reader) sweep() []int64 {
	list := r.f.Load.Sweep
	if len(list) == 0 {
		r.refuse("load.sweep", "no sweep: one load doesn't show how near the edge it is; give sweep = [25, 50, 100, 150], in percent of the target")
		return nil
	}
	var lack []string
	for _, n := range neededSweep() {
		if !slices.Contains(list, n) {
			lack = append(lack, strconv.FormatInt(n, 10))
		}
	}
	if len(lack) > 0 {
		r.refuse("load.sweep", "no sweep without %s %%; give at least [25, 50, 100, 150], in percent of the target", strings.Join(lack, ", "))
	}
	for i, n := range list {
		if n < 1 || n > 10_000 {
			r.fault("load.sweep", "found %d; must be from 1 to 10,000 percent of the target", n)
		}
		if slices.Contains(list[:i], n) {
			r.fault("load.sweep", "has %d twice; take one out", n)
		}
	}
	return list
}

// shares makes levels of shares of the target.
func (r *reader) shares(list []int64) {
	l := r.f.Load
	for _, n := range list {
		name := strconv.FormatInt(n, 10)
		level := Level{Name: name, Title: name + " %", Share: float64(n)}
		switch {
		case l.RatePerS != nil:
			level.Rate = float64(*l.RatePerS*float64(n)) / 100
		case l.Multiple != nil:
			level.Times = float64(*l.Multiple*float64(n)) / 100
		case *l.Concurrency*n%100 == 0:
			level.Users = *l.Concurrency * n / 100
		default:
			r.fault("load.sweep", "%d %% of %s is no whole number of users; choose a concurrency of which it is, such as a multiple of 4", n, analysis.Counted(*l.Concurrency, "user"))
		}
		r.gate.Levels = append(r.gate.Levels, level)
	}
}

// peak makes a level of twice the peak, which the runs of a benchmark have too.
func (r *reader) peak() {
	l := r.f.Load
	level := Level{Name: peakName, Title: "2x peak"}
	var own, peak float64
	for _, k := range []struct {
		name        string
		target, max *float64
		load        func(twice float64)
	}{
		{"rate_per_s", l.RatePerS, l.PeakPerS, func(x float64) { level.Rate = x }},
		{"concurrency", floatOf(l.Concurrency), floatOf(l.PeakUsers), func(x float64) { level.Users = int64(x) }},
		{"rate_multiple", l.Multiple, l.PeakTimes, func(x float64) { level.Times = x }},
	} {
		key := "load.peak_" + k.name
		switch {
		case k.max != nil && !l.Benchmark:
			r.fault(key, "has no meaning without benchmark = true, which runs 200 %% of the peak too; add it, or take the line out")
			return
		case k.max != nil && k.target == nil:
			r.fault(key, "isn't what the target is of, as %s isn't given; leave it out for the target itself", k.name)
			return
		case k.target == nil:
			continue
		}
		own, peak = *k.target, *k.target
		if k.max != nil {
			peak = *k.max
		}
		if !(peak >= own && peak <= most) {
			r.fault(key, "found %v, but the peak is at least the target, %v, and at most 1,000,000", peak, own)
			return
		}
		k.load(2 * peak)
	}
	if l.Benchmark {
		level.Share = float64(200*peak) / own
		r.gate.Levels = append(r.gate.Levels, level)
	}
}

// floatOf returns what n points to as a float, nil of nil.
func floatOf(n *int64) *float64 {
	if n == nil {
		return nil
	}
	x := float64(*n)
	return &x
}

// sweepText lists the loads in words.
func (g *Gate) sweepText() string {
	var names []string
	for i := range g.Levels {
		names = append(names, g.Levels[i].Title)
	}
	return strings.Join(names, ", ")
}

// targetText says what the target is.
func (g *Gate) targetText() string { return g.Levels[g.at(strconv.Itoa(target))].Load() }
