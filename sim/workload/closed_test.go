package workload_test

import (
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/workload"
)

// event is an arrival or, with done, the end of a request.
type event struct {
	r    workload.Request
	done bool
}

// serve runs source against a server that takes service(r) for request r, and
// returns all requests in the order they arrive, and the most at once.
func serve(t *rapid.T, source workload.Reactive, service func(workload.Request) sim.Duration) (all []workload.Request, most int) {
	var cal sim.Calendar[event]
	for {
		r, err := source.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		cal.Book(r.Arrival, sim.Fact, event{r: r})
	}
	inside := 0
	err := cal.Run(func(e event) error {
		if !e.done {
			all = append(all, e.r)
			inside++
			most = max(most, inside)
			cal.Book(cal.Now().Add(service(e.r)), sim.Fact, event{e.r, true})
			return nil
		}
		inside--
		r, ok := source.Done(e.r.ID, cal.Now())
		if !ok {
			return nil
		}
		if r.Arrival < cal.Now() {
			t.Fatalf("released at %v, arrives at %v", cal.Now(), r.Arrival)
		}
		cal.Book(r.Arrival, sim.Fact, event{r: r})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, most
}

// loopSpec draws a closed loop.
func loopSpec(t *rapid.T) workload.Spec {
	users := rapid.Int64Range(1, 12).Draw(t, "users")
	think := sim.Duration(rapid.Int64Range(1, int64(sim.Second)).Draw(t, "think"))
	ramp := sim.Duration(rapid.Int64Range(0, int64(sim.Second)).Draw(t, "ramp"))
	requests := rapid.Int64Range(1, 60).Draw(t, "requests")
	return workload.Spec{
		Preset: "azure-chat", Requests: &requests,
		ClosedLoop: &workload.ClosedLoopSpec{
			Users: &users, Ramp: &ramp,
			ThinkTime: &workload.DelaySpec{Dist: "exponential", Mean: &think},
		},
	}
}

func startLoop(t *rapid.T, s workload.Spec, seed sim.Seed) workload.Reactive {
	source, err := s.Source(seed)
	if err != nil {
		t.Fatal(err)
	}
	loop, ok := source.(workload.Reactive)
	if !ok {
		t.Fatalf("a closed loop is a %T, which is not Reactive", source)
	}
	return loop
}

func TestClosedLoopLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := loopSpec(t)
		service := sim.Duration(rapid.Int64Range(0, int64(10*sim.Second)).Draw(t, "service"))
		all, most := serve(t, startLoop(t, s, 9), func(workload.Request) sim.Duration { return service })
		if most > int(*s.ClosedLoop.Users) {
			t.Fatalf("%d requests at once, of %d users", most, *s.ClosedLoop.Users)
		}
		if int64(len(all)) != *s.Requests {
			t.Fatalf("%d requests, want %d", len(all), *s.Requests)
		}
		seen := make([]bool, len(all))
		var last sim.Time
		for _, r := range all {
			if r.ID < 0 || r.ID >= int64(len(all)) || seen[r.ID] {
				t.Fatalf("id %d is out of range or comes twice", r.ID)
			}
			seen[r.ID] = true
			if r.Arrival < last || r.Session < 1 || r.Session > *s.ClosedLoop.Users {
				t.Fatalf("request %+v after %v", r, last)
			}
			last = r.Arrival
		}
	})
}

// TestClosedLoopContentsIgnoreTiming: the k-th request of a user is the same
// however long the server takes; only when it comes differs.
func TestClosedLoopContentsIgnoreTiming(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := loopSpec(t)
		calls := rapid.Int64Range(1, 8).Draw(t, "calls")
		s.ClosedLoop.RequestsPerUser = &calls
		*s.Requests = calls * *s.ClosedLoop.Users
		byUser := func(all []workload.Request) map[int64][][2]int32 {
			m := map[int64][][2]int32{}
			for _, r := range all {
				m[r.Session] = append(m[r.Session], [2]int32{r.Prompt, r.Output})
			}
			return m
		}
		slow := sim.Duration(rapid.Int64Range(1, int64(sim.Minute)).Draw(t, "slow"))
		a, _ := serve(t, startLoop(t, s, 4), func(workload.Request) sim.Duration { return sim.Millisecond })
		b, _ := serve(t, startLoop(t, s, 4), func(r workload.Request) sim.Duration {
			return sim.Duration(r.Output) * slow / 100 // users fall out of step
		})
		if diff := cmp.Diff(byUser(a), byUser(b)); diff != "" {
			t.Fatalf("requests changed with the service time:\n%s", diff)
		}
		for user, list := range byUser(a) {
			if int64(len(list)) != calls {
				t.Fatalf("user %d made %d calls, want %d", user, len(list), calls)
			}
		}
	})
}

func TestClosedLoopRampAndLimits(t *testing.T) {
	spec, err := workload.ParseSpec("spec.toml", `
duration = "3s"
prompt = { dist = "constant", value = 10 }
output = { dist = "constant", value = 5 }
closed_loop = { users = 4, ramp = "4s", think_time = { dist = "constant", value = "500ms" } }
`)
	if err != nil {
		t.Fatal(err)
	}
	source, err := spec.Source(1)
	if err != nil {
		t.Fatal(err)
	}
	loop := source.(workload.Reactive)
	for u := range int64(3) { // user 3 would start at 3 s, when it is over
		r, err := loop.Next()
		if err != nil {
			t.Fatal(err)
		}
		want := workload.Request{ID: u, Arrival: sim.Time(u) * sim.Time(sim.Second), Prompt: 10, Output: 5, Session: u + 1}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := loop.Next(); err != io.EOF {
		t.Errorf("after the last user: %v, want EOF", err)
	}
	second := sim.Time(sim.Second)
	r, ok := loop.Done(1, 2*second)
	want := workload.Request{ID: 3, Arrival: 2*second + second/2, Prompt: 10, Output: 5, Session: 2}
	if diff := cmp.Diff(want, r); !ok || diff != "" {
		t.Errorf("Done: %v\n%s", ok, diff)
	}
	if r, ok := loop.Done(3, 2*second+second/2); ok {
		t.Errorf("a call at 3 s, when it is over: %+v", r)
	}
	if r, ok := loop.Done(1, 2*second); ok {
		t.Errorf("request 1 ended twice, and released %+v", r)
	}
	if r, ok := loop.Done(0, sim.MaxTime); ok {
		t.Errorf("a call after the last instant: %+v", r)
	}
}

// TestUsersDiffer: each stream of a user is the user's own. Two of fifty users
// could share a length by chance; that few distinct ones could not.
func TestUsersDiffer(t *testing.T) {
	spec, err := workload.ParseSpec("spec.toml", `
requests = 100
prompt = { dist = "uniform", min = 1, max = 1000000 }
output = { dist = "uniform", min = 1, max = 1000000 }
cancel = { fraction = 1, after = { dist = "exponential", mean = "1s" } }
closed_loop = { users = 50, think_time = { dist = "exponential", mean = "1s" }, requests_per_user = 2 }
`)
	if err != nil {
		t.Fatal(err)
	}
	source, err := spec.Source(1)
	if err != nil {
		t.Fatal(err)
	}
	loop := source.(workload.Reactive)
	prompts, outputs, cancels, thinks := map[int32]bool{}, map[int32]bool{}, map[sim.Duration]bool{}, map[sim.Time]bool{}
	for range 50 {
		r, err := loop.Next()
		if err != nil {
			t.Fatal(err)
		}
		prompts[r.Prompt], outputs[r.Output], cancels[r.Cancel] = true, true, true
		next, ok := loop.Done(r.ID, 0)
		if !ok {
			t.Fatalf("user %d makes no second call", r.Session)
		}
		thinks[next.Arrival] = true
	}
	for name, n := range map[string]int{"prompts": len(prompts), "outputs": len(outputs), "cancellations": len(cancels), "think times": len(thinks)} {
		if n < 45 {
			t.Errorf("50 users have %d different %s", n, name)
		}
	}
}
