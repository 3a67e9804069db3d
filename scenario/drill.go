package scenario

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/internal/strict"
	"servesim/report"
	"servesim/sim"
	"servesim/sim/engine"
)

// FailureSection is one replica that fails on purpose.
type FailureSection struct {
	// Replica is its number, from 0.
	Replica *int64 `toml:"replica"`
	// At is when it fails.
	At *sim.Duration `toml:"at"`
	// RestartAfter is how long after that it takes requests again; absent, never.
	RestartAfter *sim.Duration `toml:"restart_after"`
}

// RollingSection restarts the replicas one after the other.
type RollingSection struct {
	// Start is when the first stops taking requests.
	Start *sim.Duration `toml:"start"`
	// Grace is how long each may take for what it has then.
	Grace *sim.Duration `toml:"grace"`
	// Down is how long each is down.
	Down *sim.Duration `toml:"down"`
}

// defaultGrace is Kubernetes' terminationGracePeriodSeconds of a pod that sets none.
const defaultGrace = 30 * sim.Second

// drills tells whether something goes wrong on purpose.
func (p *PoolSection) drills() bool { return len(p.Failures) > 0 || p.Rolling != nil }

// settleDrill gives the absent keys of a drill their defaults, and returns the faults
// of the others.
func (p *PoolSection) settleDrill() (faults []strict.Fault) {
	fault := func(key, format string, args ...any) {
		faults = append(faults, strict.Fault{Key: "pool." + key, Text: fmt.Sprintf(format, args...)})
	}
	if !p.drills() {
		for _, k := range []struct {
			key   string
			given bool
		}{{"retry", p.Retry != ""}, {"max_retries", p.MaxRetries != nil}, {"retry_delay", p.RetryDelay != nil}, {"wait_for_replica", p.WaitForReplica != nil}} {
			if k.given {
				fault(k.key, "no replica fails, so that it does nothing; give a [[pool.failure]] or a [pool.rolling_restart], or take it out")
			}
		}
		return faults
	}
	if p.Retry == "" {
		p.Retry = engine.RetryUnstarted.String()
	}
	rule := slices.Index(engine.RetryRules(), p.Retry)
	switch {
	case rule < 0:
		fault("retry", "%s", UnknownName("rule", p.Retry, engine.RetryRules()))
	case engine.RetryRule(rule) != engine.RetryNone:
		settle(&p.MaxRetries, 1)
		settle(&p.RetryDelay, 0)
	case p.MaxRetries != nil || p.RetryDelay != nil:
		fault("retry", "found none, with max_retries or retry_delay, which then do nothing; take them out")
	}
	settle(&p.WaitForReplica, 0)
	for i, f := range p.Failures {
		at := fmt.Sprintf("failure[%d].", i)
		switch n := *p.Replicas; {
		case f.Replica == nil:
			fault(at+"replica", "missing; give the number of a replica, from 0")
		case n >= 1 && (*f.Replica < 0 || *f.Replica >= n):
			fault(at+"replica", "found %d; the replicas are from 0 to %d", *f.Replica, n-1)
		}
		if f.At == nil {
			fault(at+"at", "missing; give the time of the failure, such as \"60s\"")
		}
		if d := f.RestartAfter; d != nil && *d <= 0 {
			fault(at+"restart_after", "found %v; must be more than 0s, or absent if it never comes back", *d)
		}
	}
	if r := p.Rolling; r != nil {
		settle(&r.Grace, defaultGrace)
		if r.Start == nil {
			fault("rolling_restart.start", "missing; give a time, such as \"60s\"")
		}
		if r.Down == nil {
			fault("rolling_restart.down", "missing; give how long a replica takes to load, warm up and serve again, such as \"120s\"")
		}
	}
	if len(faults) > 0 || *p.Replicas < 1 {
		return faults
	}
	d := p.drill()
	return keyedFaults("pool", d.Check(int(*p.Replicas)))
}

// drill returns what goes wrong.
func (p *PoolSection) drill() (d engine.Drill) {
	if !p.drills() {
		return d
	}
	for _, f := range p.Failures {
		d.Failures = append(d.Failures, engine.Failure{Replica: int32(*f.Replica), At: *f.At, Down: value(f.RestartAfter)})
	}
	if r := p.Rolling; r != nil {
		d.Rolling = &engine.RollingRestart{Start: *r.Start, Grace: *r.Grace, Down: *r.Down}
	}
	d.Retry = engine.RetryRule(max(0, slices.Index(engine.RetryRules(), p.Retry)))
	d.MaxRetries, d.RetryDelay, d.Wait = int32(max(0, min(value(p.MaxRetries), math.MaxInt32))), value(p.RetryDelay), value(p.WaitForReplica)
	return d
}

// Drill returns what goes wrong in a run of p.
func (p *Plan) Drill() engine.Drill { return p.Scenario.Pool.drill() }

// drillFacts says what goes wrong.
func (l *facts) drillFacts(d engine.Drill) {
	if d.Empty() {
		return
	}
	seconds := func(t sim.Duration) string { return report.Number(t.Seconds()) + " s" }
	name := "Drill"
	for _, f := range d.Failures {
		back := "and never comes back"
		if f.Down > 0 {
			back = "for " + seconds(f.Down)
		}
		l.item(name, "replica %d fails at %s %s", f.Replica, seconds(f.At), back)
		name = ""
	}
	if r := d.Rolling; r != nil {
		l.item(name, "rolling restart from %s on, each replica with %s for what it has, then down for %s", seconds(r.Start), seconds(r.Grace), seconds(r.Down))
	}
	var rules []string
	switch d.Retry {
	case engine.RetryUnstarted:
		rules = append(rules, "requests without a token are tried again")
	case engine.RetryAll:
		rules = append(rules, "all requests are tried again, from the beginning")
	default:
		rules = append(rules, "requests on a replica that fails are lost")
	}
	if d.Retry != engine.RetryNone {
		rules = append(rules, "at most "+analysis.Counted(int64(d.MaxRetries), "time"))
		if d.RetryDelay > 0 {
			rules = append(rules, "after "+seconds(d.RetryDelay))
		}
	}
	wait := "while no replica takes requests, they are rejected"
	if d.Wait > 0 {
		wait = "while no replica takes requests, they wait for up to " + seconds(d.Wait)
	}
	l.item("", "%s; %s", strings.Join(rules, ", "), wait)
}
