package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"servesim/sim"
)

// A Drill is what goes wrong in a pool on purpose, and what becomes of the requests
// that it hits. The zero value is nothing.
//
// A replica fails between two instants: the step under way is cut short, its tokens
// are never made, and all that its KV cache and its queue held is lost. When it is
// back it is empty. The router sends nothing to a replica that is down, knows at
// once of each that fails or comes back, and never asks one that is down.
//
// At one instant failures and returns come after the ends of steps, before arrivals
// and deadlines, which come before what is tried again.
type Drill struct {
	// Failures are replicas that fail, in any order.
	Failures []Failure
	// Rolling is a restart of all replicas one after the other, nil for none.
	Rolling *RollingRestart
	// Retry says which of the requests on a replica that fails are tried again.
	Retry RetryRule
	// MaxRetries is how often one request is, at most.
	MaxRetries int32
	// RetryDelay is how long after the failure it is.
	RetryDelay sim.Duration
	// Wait is how long a request waits for a replica while none takes any; it is
	// rejected then. 0 is not to wait.
	Wait sim.Duration
	// Told, if it isn't nil, is called when a replica stops taking requests, to drain
	// or because it failed, and when it takes them again; ahead of all records of
	// what comes of that.
	Told func(Change)
}

// A Change is a replica that stops or begins to take requests.
type Change struct {
	At      sim.Time
	Replica int32
	Takes   bool
}

// Failure is one replica that is killed.
type Failure struct {
	// Replica is its number, from 0.
	Replica int32
	// At is when.
	At sim.Duration
	// Down is how long after that it takes requests again: the restart, with loading
	// weights, capturing graphs and warming up. 0 is never.
	Down sim.Duration
}

// RollingRestart restarts the replicas in order of their numbers, each when the one
// before takes requests again. A replica whose turn it is gets no more requests and
// goes down when all that it had have left it, or when Grace has passed, which
// kills it. One that is down when its turn comes is waited for and not restarted
// again; if it never comes back, the restart goes no further.
type RollingRestart struct {
	// Start is when the turn of the first comes.
	Start sim.Duration
	// Grace is how long a replica may take for what it has.
	Grace sim.Duration
	// Down is how long it is down, more than 0.
	Down sim.Duration
}

// RetryRule says which requests are tried again.
type RetryRule uint8

// The rules.
const (
	// RetryNone: none, so that each is lost.
	RetryNone RetryRule = iota
	// RetryUnstarted: those that have made no token. It is what a proxy can do: what
	// the client has read of an answer cannot be taken back.
	RetryUnstarted
	// RetryAll: all, from the beginning. The client throws away what it has read.
	RetryAll
)

// RetryRules returns the names of the rules, in order.
func RetryRules() []string { return []string{"none", "unstarted", "all"} }

// String returns the name of r.
func (r RetryRule) String() string {
	if names := RetryRules(); int(r) < len(names) {
		return names[r]
	}
	return "unknown"
}

// Empty tells that nothing goes wrong.
func (d *Drill) Empty() bool { return len(d.Failures) == 0 && d.Rolling == nil }

// Check returns all faults of d for a pool of some replicas, joined, or nil.
func (d *Drill) Check(replicas int) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for i, f := range d.Failures {
		at := fmt.Sprintf("failure[%d]", i)
		if f.Replica < 0 || int(f.Replica) >= replicas {
			fault("%s.replica: found %d; the replicas are from 0 to %d", at, f.Replica, replicas-1)
		}
		checkSpan(at+".at", f.At, fault)
		checkSpan(at+".restart_after", f.Down, fault)
	}
	for _, f := range d.overlaps() {
		fault("%w", f)
	}
	if r := d.Rolling; r != nil {
		checkSpan("rolling_restart.start", r.Start, fault)
		checkSpan("rolling_restart.grace", r.Grace, fault)
		checkSpan("rolling_restart.down", r.Down, fault)
		if r.Down == 0 {
			fault("rolling_restart.down: found 0; a restart takes time")
		}
	}
	checkSpan("retry_delay", d.RetryDelay, fault)
	checkSpan("wait_for_replica", d.Wait, fault)
	if d.Retry > RetryAll {
		fault("retry: found %d; the rules are %q", d.Retry, RetryRules())
	}
	if d.Retry != RetryNone && d.MaxRetries < 1 {
		fault("max_retries: found %d; it must be 1 or more, or retry none", d.MaxRetries)
	}
	return errors.Join(faults...)
}

// longestDrill bounds each time of a drill, so that sums of them don't overflow.
const longestDrill = 30 * 24 * sim.Hour

// checkSpan reports a time of a drill that can't be.
func checkSpan(key string, d sim.Duration, fault func(string, ...any)) {
	if d < 0 || d > longestDrill {
		fault("%s: found %v; it must be from 0 to 30 days", key, d)
	}
}

// overlaps returns a fault for each failure of a replica that is down already.
func (d *Drill) overlaps() (faults []error) {
	order := make([]int, len(d.Failures))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := d.Failures[i], d.Failures[j]
		return cmp.Or(cmp.Compare(a.Replica, b.Replica), cmp.Compare(a.At, b.At))
	})
	for n := 1; n < len(order); n++ {
		a, b := d.Failures[order[n-1]], d.Failures[order[n]]
		if a.Replica == b.Replica && (a.Down == 0 || b.At <= a.At+a.Down) {
			faults = append(faults, fmt.Errorf("failure[%d].at: found %v; replica %d is down then: it failed at %v (failure[%d]) and %s",
				order[n], b.At, b.Replica, a.At, order[n-1], a.back()))
		}
	}
	return faults
}

// back says when the replica of f is back.
func (f Failure) back() string {
	if f.Down == 0 {
		return "never comes back"
	}
	return fmt.Sprintf("is back at %v", f.At+f.Down)
}
