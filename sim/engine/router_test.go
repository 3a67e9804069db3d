package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
	"servesim/sim/workload"
)

// TestRouters is the contract of Router: every implementation chooses one of
// those that take requests, changes nothing, and does the same again.
func TestRouters(t *testing.T) {
	for _, info := range engine.Routers() {
		t.Run(info.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				seed := sim.Seed(rapid.Uint64().Draw(t, "seed"))
				a, b := info.New(seed), info.New(seed)
				for id := range rapid.IntRange(1, 40).Draw(t, "requests") {
					loads := anyLoads(t)
					before := slices.Clone(loads)
					i := a.Route(int64(id), loads)
					if i < 0 || i >= len(loads) {
						t.Fatalf("request %d goes to the %dth of %d replicas", id, i, len(loads))
					}
					if j := b.Route(int64(id), loads); j != i {
						t.Fatalf("request %d goes to %d, and to %d under the same seed", id, i, j)
					}
					if d := cmp.Diff(before, loads); d != "" {
						t.Fatalf("the router changed the loads: %s", d)
					}
				}
			})
		})
	}
}

// anyLoads draws replicas that take requests, not all of a pool.
func anyLoads(t *rapid.T) []engine.Load {
	var loads []engine.Load
	n := int32(rapid.IntRange(1, 6).Draw(t, "replicas"))
	for r := range n {
		if len(loads) == 0 && r == n-1 || rapid.IntRange(0, 3).Draw(t, "down") > 0 {
			loads = append(loads, engine.Load{Replica: r, Outstanding: rapid.Int32Range(0, 4).Draw(t, "outstanding")})
		}
	}
	return loads
}

// routed returns where a router sends n requests of which none ever leaves.
func routed(t *testing.T, name string, n, replicas int) []int {
	t.Helper()
	info, ok := engine.FindRouter(name)
	if !ok {
		t.Fatalf("there is no router %q", name)
	}
	r, loads := info.New(1), make([]engine.Load, replicas)
	for i := range loads {
		loads[i].Replica = int32(i)
	}
	var to []int
	for id := range n {
		i := r.Route(int64(id), loads)
		loads[i].Outstanding++
		to = append(to, i)
	}
	return to
}

func TestRoundRobinAndLeastOutstandingTakeTurns(t *testing.T) {
	for _, name := range []string{"round-robin", "least-outstanding"} {
		if d := cmp.Diff([]int{0, 1, 2, 0, 1, 2, 0}, routed(t, name, 7, 3)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", name, d)
		}
	}
	least, _ := engine.FindRouter("least-outstanding")
	loads := []engine.Load{{Replica: 0, Outstanding: 3}, {Replica: 1, Outstanding: 1}, {Replica: 4, Outstanding: 1}}
	r := least.New(1)
	if got := []int{r.Route(0, loads), r.Route(1, loads), r.Route(2, loads)}; !slices.Equal(got, []int{1, 2, 1}) {
		t.Errorf("of loads 3, 1, 1 those chosen are %v; the two with 1 have it in turn", got)
	}
}

// TestRandomRoutersSpread sends 40,000 requests to four replicas. A share of one
// request in four has a standard deviation of 87 of 10,000; five of them are
// exceeded by chance once in millions of seeds. Two choices keep the longest
// queue within a few of the mean (log log n / log 2 beyond it), one does not.
func TestRandomRoutersSpread(t *testing.T) {
	for name, within := range map[string]int{"random": 435, "power-of-two": 8} {
		counts := [4]int{}
		for _, i := range routed(t, name, 40_000, 4) {
			counts[i]++
		}
		for i, n := range counts {
			if n < 10_000-within || n > 10_000+within {
				t.Errorf("%s: replica %d gets %d of 40,000 requests", name, i, n)
			}
		}
	}
}

// TestPoolIsItsReplicas replays a pool, and then for each replica the requests
// that it got by itself: where a request goes once it is sent, others don't matter.
func TestPoolIsItsReplicas(t *testing.T) {
	for _, preset := range []string{"vllm@0.20", "vllm@0.11", "vllm@0.8-v0"} {
		for _, info := range engine.Routers() {
			t.Run(preset+"/"+info.Name, func(t *testing.T) {
				const n, replicas = 2000, 3
				config := func(source workload.Source) engine.Config {
					c := h100Config(t, preset)
					c.Source, c.Seed = source, 7
					return c
				}
				c := config(chat(t, n, 0.8*replicas*capacityPerS(preset)))
				c.Replicas, c.Router = replicas, info.New(c.Seed)
				pool := run(t, c)
				for r := range int32(replicas) {
					alone := run(t, config(part(t, chat(t, n, 0.8*replicas*capacityPerS(preset)), pool, r)))
					var requests []observe.Request
					for _, q := range pool.requests {
						if q.Replica == r {
							q.Replica = 0
							requests = append(requests, q)
						}
					}
					for _, list := range [][]observe.Request{alone.requests, requests} {
						for i := range list {
							list[i].Lost = nil // which the engine uses again
						}
					}
					if d := cmp.Diff(alone.requests, requests); d != "" {
						t.Fatalf("replica %d (-alone +in the pool):\n%s", r, d)
					}
				}
			})
		}
	}
}

// part returns the requests of source that replica r of a run got.
func part(t *testing.T, source workload.Source, pool *kept, r int32) *list {
	t.Helper()
	at := map[int64]int32{}
	for _, q := range pool.requests {
		at[q.ID] = q.Replica
	}
	out := &list{}
	for {
		q, err := source.Next()
		if err != nil {
			break
		}
		if at[q.ID] == r {
			out.requests = append(out.requests, q)
		}
	}
	if len(out.requests) == 0 {
		t.Fatalf("replica %d got no request", r)
	}
	return out
}

func TestPoolsNeedARouterAndANumber(t *testing.T) {
	for n, want := range map[int]string{
		2:    "router: 2 replicas need one",
		-1:   "replicas: found -1; there are from 1 to 4096",
		5000: "replicas: found 5000; there are from 1 to 4096\nrouter: 5000 replicas need one",
	} {
		c := small(t, "vllm@0.20", requests())
		c.Replicas, c.Sink = n, &kept{}
		if err := engine.Run(context.Background(), c); err == nil || err.Error() != want {
			t.Errorf("%d replicas: Run returns %v, want %s", n, err, want)
		}
	}
}

// BenchmarkPool replays chat requests at 80 % of the capacity of a pool.
func BenchmarkPool(b *testing.B) {
	const n = 100_000
	for _, replicas := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprintf("replicas=%d", replicas), func(b *testing.B) {
			c := h100Config(b, "vllm@0.20")
			info, _ := engine.FindRouter(engine.DefaultRouter)
			begin := cpuSeconds(b)
			for b.Loop() {
				c.Replicas, c.Router, c.Sink = replicas, info.New(1), &stretches{}
				c.Source = chat(b, n, 0.8*capacityPerS("vllm@0.20")*float64(replicas))
				if err := engine.Run(context.Background(), c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/(cpuSeconds(b)-begin), "requests/cpu-s")
		})
	}
}
