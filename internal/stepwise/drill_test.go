package stepwise

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
)

// anyDrill draws what goes wrong in a pool, near enough to each other that a replica
// is often hit while it drains or is down.
func anyDrill(t *rapid.T, replicas int) (d engine.Drill) {
	span := func(name string, lo, hi int64) sim.Duration {
		return sim.Duration(rapid.Int64Range(lo, hi).Draw(t, name))
	}
	for replica := range replicas {
		at := span("first failure", 0, 4000)
		for range rapid.IntRange(0, 2).Draw(t, "failures") {
			down := span("down", 0, 1500)
			d.Failures = append(d.Failures, engine.Failure{Replica: int32(replica), At: at, Down: down})
			if down == 0 {
				break
			}
			at += down + span("up", 1, 2000)
		}
	}
	if rapid.Bool().Draw(t, "rolls") {
		d.Rolling = &engine.RollingRestart{Start: span("roll", 0, 3000), Grace: span("grace", 0, 800), Down: span("restart", 1, 600)}
	}
	d.Retry = engine.RetryRule(rapid.IntRange(0, len(engine.RetryRules())-1).Draw(t, "retry"))
	d.MaxRetries = rapid.Int32Range(1, 3).Draw(t, "max_retries")
	d.RetryDelay = span("retry delay", 0, 200)
	if rapid.Bool().Draw(t, "waits") {
		d.Wait = span("wait", 1, 2000)
	}
	return d
}

func TestEnginesAgreeOnDrills(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		newConfig := anyConfig(t)
		drill := anyDrill(t, max(1, newConfig().Replicas))
		with := func() engine.Config {
			c := newConfig()
			c.Drill = drill
			return c
		}
		got, diff := compare(with)
		if diff != "" {
			t.Fatal(diff)
		}
		laws(t, with(), got)
	})
}

// attemptLaws checks what holds of what a request lost.
func attemptLaws(t *rapid.T, d engine.Drill, r *observe.Request) {
	if n := len(r.Attempts); d.Retry == engine.RetryNone && n > 0 || n > int(d.MaxRetries) || r.Outcome == observe.ReplicaFailed && d.Empty() {
		t.Fatalf("request %d %s after %d attempts, with retry %s, %d at most", r.ID, r.Outcome, n, d.Retry, d.MaxRetries)
	}
	at := r.Sent
	for _, a := range r.Attempts {
		if a.From < at || a.To < a.From || d.Retry == engine.RetryUnstarted && a.Output > 0 {
			t.Fatalf("request %d: attempts %+v from %v on, with retry %s", r.ID, r.Attempts, r.Sent, d.Retry)
		}
		at = a.To.Add(d.RetryDelay)
	}
	if r.Scheduled != observe.Never && r.Sent.Add(r.Detour) < at {
		t.Fatalf("request %d: a detour of %v from %v on ends before its last attempt does, at %v", r.ID, r.Detour, r.Sent, at)
	}
}

// TestNothingRunsOnAReplicaThatIsDown holds that steps stop at a failure, the last of
// them cut short there, and go on when the replica is back.
func TestNothingRunsOnAReplicaThatIsDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		newConfig := anyConfig(t)
		drill := anyDrill(t, max(1, newConfig().Replicas))
		drill.Rolling = nil
		c := newConfig()
		c.Drill = drill
		got := &recorder{Peaks: map[place]int64{}}
		c.Sink, c.Detail = got, true
		if err := engine.Run(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		for _, s := range got.Steps {
			end, cut := s.Start.Add(s.Duration), false
			for _, f := range drill.Failures {
				at := sim.Time(f.At)
				if f.Replica == s.Replica && end > at && (f.Down == 0 || s.Start < at.Add(f.Down)) {
					t.Fatalf("replica %d is down from %v for %v and has a step from %v to %v", f.Replica, f.At, f.Down, s.Start, end)
				}
				cut = cut || f.Replica == s.Replica && end == at
			}
			if s.Cut && !cut {
				t.Fatalf("the step from %v to %v is cut short, and replica %d does not fail then", s.Start, end, s.Replica)
			}
		}
	})
}
