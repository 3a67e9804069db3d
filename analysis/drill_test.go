package analysis

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/observe"
)

// drillRequest is a request in the pool from one instant to another, in s.
func drillRequest(id, from, to int64, o observe.Outcome) *observe.Request {
	at := func(s int64) sim.Time { return sim.Time(s) * sim.Time(sim.Second) }
	r := &observe.Request{ID: id, Arrival: at(from), Sent: at(from), Scheduled: at(from), First: at(to), Last: at(to), End: at(to), Output: 1, Computed: 10, Outcome: o}
	if o != observe.Completed {
		r.First, r.Last, r.Output = observe.Never, observe.Never, 0
	}
	return r
}

// TestDrillByHand has one request in the system for 8 of the 10 s before the failure at
// 10 s, three at 20 s, when the replica is back, and one from 28 s on.
func TestDrillByHand(t *testing.T) {
	limit, err := ParseSLO("ttft:9000")
	if err != nil {
		t.Fatal(err)
	}
	d := NewDrill(limit.Goodput, "none", nil)
	give := func(r *observe.Request) {
		if err := d.Request(r); err != nil {
			t.Fatal(err)
		}
	}
	second := sim.Time(sim.Second)
	give(drillRequest(0, 0, 4, observe.Completed))
	d.Change(10*second, false)
	give(drillRequest(1, 6, 10, observe.ReplicaFailed))
	again := drillRequest(2, 11, 18, observe.Completed)
	again.Attempts = []observe.Attempt{{Computed: 7}, {Computed: 5}}
	give(again)
	none := drillRequest(3, 19, 19, observe.Rejected)
	none.Reason = "none"
	give(none)
	d.Change(20*second, true)
	give(drillRequest(4, 12, 26, observe.Completed)) // later than its limit
	give(drillRequest(5, 15, 28, observe.Completed))
	give(drillRequest(6, 16, 30, observe.Completed))
	give(drillRequest(7, 29, 33, observe.Completed))
	r := d.Report()
	for k, want := range [...][2]int64{DrillBefore: {1, 1}, DrillDuring: {6, 1}, DrillAfter: {1, 1}} {
		if p := &r.Phases[k]; p.Requests != want[0] || p.Good != want[1] {
			t.Errorf("phase %d: %d requests, %d good, want %v", k, p.Requests, p.Good, want)
		}
	}
	if r.Lost != 1 || r.NoReplica != 1 || r.Again != 1 || r.Attempts != 2 || r.Recovered != 1 || r.LostTokens != 22 {
		t.Errorf("%+v", r)
	}
	if r.From != 10*second || r.To != 20*second || r.Out != 10*sim.Second || math.Abs(r.Level-0.8) > 1e-12 || r.Peak != 4 {
		t.Errorf("from %v to %v, out for %v, level %v, peak %d", r.From, r.To, r.Out, r.Level, r.Peak)
	}
	if off := r.Drained - 28*second; off < 0 || off > sim.Time(r.Resolution) {
		t.Errorf("drained at %v, to %v; want 28 s", r.Drained, r.Resolution)
	}
}

// TestDrillAfterTheEnd has a replica fail, and come back, when all requests have ended.
func TestDrillAfterTheEnd(t *testing.T) {
	d := NewDrill(nil, "none", nil)
	if err := d.Request(drillRequest(0, 0, 4, observe.Completed)); err != nil {
		t.Fatal(err)
	}
	d.Change(sim.Time(10*sim.Second), false)
	d.Change(sim.Time(20*sim.Second), true)
	if r := d.Report(); r.From != observe.Never || r.To != observe.Never || r.Out != 0 || r.Phases[DrillBefore].Requests != 1 {
		t.Errorf("%+v", r)
	}
}

// TestDrillCountsEveryRequestOnce holds that the phases are a partition, that failures
// that follow each other at once are one, and that the most requests at once are no
// fewer than at any end of a bin.
func TestDrillCountsEveryRequestOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := NewDrill(nil, "", nil)
		at, out, n := sim.Time(0), 0, int64(0)
		var open sim.Duration // for which some replica was out
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			step := sim.Duration(rapid.Int64Range(0, int64(10*sim.Second)).Draw(t, "step"))
			if out > 0 {
				open += step
			}
			at = at.Add(step)
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				out++
				d.Change(at, false)
			case 1:
				if out > 0 {
					out--
					d.Change(at, true)
				}
			default:
				begin := sim.Time(rapid.Int64Range(0, int64(at)).Draw(t, "arrival"))
				r := &observe.Request{ID: n, Arrival: begin, Sent: begin, Scheduled: begin, First: at, Last: at, End: at, Output: 1}
				if err := d.Request(r); err != nil {
					t.Fatal(err)
				}
				n++
			}
		}
		if err := d.Step(&observe.StepRun{Start: at}); err != nil {
			t.Fatal(err)
		}
		r := d.Report()
		got := int64(0)
		for k := range r.Phases {
			got += r.Phases[k].Requests
		}
		if got != n || r.Out != open || r.Peak > n {
			t.Fatalf("%d of %d requests are in a phase; out for %v, want %v; peak %d", got, n, r.Out, open, r.Peak)
		}
		if (r.To == observe.Never) != (out > 0 || r.From == observe.Never) || r.Drained != observe.Never && r.Drained < r.To {
			t.Fatalf("%d replicas are out; from %v to %v, drained at %v", out, r.From, r.To, r.Drained)
		}
	})
}
