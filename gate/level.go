package gate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/report"
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
	// Rate is requests per second, 0 if the load is a number of users.
	Rate float64
	// Users is the number of users who each wait for their answers, 0 if the load
	// is a rate.
	Users int64
	// Share is the share of the target, in percent.
	Share float64
}

// peakName is the Name of the level at twice the peak.
const peakName = "peak"

// Load says in words what l is.
func (l *Level) Load() string {
	if l.Users > 0 {
		return analysis.Counted(l.Users, "user")
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
	switch {
	case l.RatePerS == nil && l.Concurrency == nil:
		r.fault("load", "no target; give rate_per_s, in requests per second, or concurrency, in users")
	case l.RatePerS != nil && l.Concurrency != nil:
		r.fault("load.concurrency", "found beside rate_per_s; a load is either a rate, whatever the answers take, or a number of users who wait for theirs; take one out")
	case l.RatePerS != nil && !(*l.RatePerS > 0 && *l.RatePerS <= 1e6):
		r.fault("load.rate_per_s", "found %v; must be more than 0 and at most 1,000,000 requests per second", *l.RatePerS)
	case l.Concurrency != nil && (*l.Concurrency < 1 || *l.Concurrency > 1e6):
		r.fault("load.concurrency", "found %d; must be from 1 to 1,000,000 users", *l.Concurrency)
	default:
		r.shares(r.sweep())
		r.peak()
		slices.SortStableFunc(r.gate.Levels, func(a, b Level) int { return cmp.Compare(a.Share, b.Share) })
		return
	}
	r.sweep()
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
		if l.RatePerS != nil {
			level.Rate = float64(*l.RatePerS*float64(n)) / 100
		} else if level.Users = *l.Concurrency * n / 100; level.Users*100 != *l.Concurrency*n {
			r.fault("load.sweep", "%d %% of %s is no whole number of users; choose a concurrency of which it is, such as a multiple of 4", n, analysis.Counted(*l.Concurrency, "user"))
		}
		r.gate.Levels = append(r.gate.Levels, level)
	}
}

// peak makes a level of twice the peak, which the runs of a benchmark have too.
func (r *reader) peak() {
	l := r.f.Load
	for _, k := range []struct {
		key          string
		given, wrong bool
		instead      string
	}{
		{"load.peak_rate_per_s", l.PeakPerS != nil, l.RatePerS == nil, "peak_concurrency"},
		{"load.peak_concurrency", l.PeakUsers != nil, l.Concurrency == nil, "peak_rate_per_s"},
	} {
		switch {
		case !k.given:
		case !l.Benchmark:
			r.fault(k.key, "has no meaning without benchmark = true, which runs 200 %% of the peak too; add it, or take the line out")
			return
		case k.wrong:
			r.fault(k.key, "isn't what the target is of; give %s, or leave it out for the target itself", k.instead)
			return
		}
	}
	if !l.Benchmark {
		return
	}
	level := Level{Name: peakName, Title: "2x peak"}
	switch {
	case l.RatePerS != nil:
		peak := *l.RatePerS
		if l.PeakPerS != nil {
			peak = *l.PeakPerS
		}
		if !(peak >= *l.RatePerS && peak <= 1e6) {
			r.fault("load.peak_rate_per_s", "found %v, but the peak is at least the target, %v, and at most 1,000,000 requests per second", peak, *l.RatePerS)
			return
		}
		level.Rate, level.Share = 2*peak, float64(200*peak) / *l.RatePerS
	default:
		peak := *l.Concurrency
		if l.PeakUsers != nil {
			peak = *l.PeakUsers
		}
		if peak < *l.Concurrency || peak > 1e6 {
			r.fault("load.peak_concurrency", "found %d, but the peak is at least the target, %d, and at most 1,000,000 users", peak, *l.Concurrency)
			return
		}
		level.Users, level.Share = 2*peak, float64(200*peak)/float64(*l.Concurrency)
	}
	r.gate.Levels = append(r.gate.Levels, level)
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
func (g *Gate) targetText() string {
	l := &g.Levels[g.at(strconv.Itoa(target))]
	if l.Users > 0 {
		return analysis.Counted(l.Users, "user")
	}
	return report.Number(l.Rate) + " requests/s"
}
