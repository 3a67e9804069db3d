package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"testing"

	"servesim/analysis"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// cpuSeconds returns the CPU time that this process has used.
func cpuSeconds(tb testing.TB) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// counter is a Sink that counts steps, and runs of them, beside a summary.
type counter struct {
	*analysis.Summary
	steps, runs int64
}

func (c *counter) Step(s *observe.StepRun) error {
	c.steps += s.Steps
	c.runs++
	return c.Summary.Step(s)
}

// BenchmarkRun replays chat requests at 80 % of capacity, from drawing them to
// the finished summary, as the command run does.
func BenchmarkRun(b *testing.B) {
	for _, preset := range []string{"vllm@0.20", "vllm@0.11", "vllm@0.8-v0"} {
		for _, n := range []int64{10_000, 1_000_000} {
			b.Run(fmt.Sprintf("policy=%s/requests=%d", preset, n), func(b *testing.B) {
				c := h100Config(b, preset)
				var last *counter
				begin := cpuSeconds(b)
				for b.Loop() {
					last = &counter{Summary: analysis.NewSummary(analysis.Options{KVBlocks: c.Scheduler.NumGPUBlocks})}
					c.Source, c.Sink = chat(b, n, 0.8*capacityPerS(preset)), last
					if err := engine.Run(context.Background(), c); err != nil {
						b.Fatal(err)
					}
					if r := last.Report(); r.Counts.Outcome[observe.Completed] != n {
						b.Fatalf("%d of %d requests completed", r.Counts.Outcome[observe.Completed], n)
					}
				}
				b.ReportMetric(float64(n)*float64(b.N)/(cpuSeconds(b)-begin), "requests/cpu-s")
				b.ReportMetric(float64(last.steps), "steps")
				b.ReportMetric(float64(last.runs)/float64(n), "runs/request")
			})
		}
	}
}

// stretches is a Sink that counts steps and runs of them.
type stretches struct {
	steps int64
	runs  int
}

func (s *stretches) Request(*observe.Request) error { return nil }

func (s *stretches) Step(r *observe.StepRun) error {
	s.steps += r.Steps
	s.runs++
	return nil
}

// BenchmarkSteadyStretch is 256 sequences that start together and decode from
// 2,000 to 4,040 tokens each: 256 stretches, each ended by one sequence.
func BenchmarkSteadyStretch(b *testing.B) {
	c := h100Config(b, "vllm@0.20")
	c.Scheduler.NumGPUBlocks = 1 << 20
	c.Scheduler.AsyncScheduling = false // which cuts a step off after each end
	rs := make([]workload.Request, 256)
	for i := range rs {
		rs[i] = workload.Request{ID: int64(i), Prompt: int32(10 + i%16), Output: int32(2000 + 8*i)}
	}
	var k *stretches
	for b.Loop() {
		k = &stretches{}
		c.Source, c.Sink = &list{requests: rs}, k
		if err := engine.Run(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
	if k.steps < 4000 || k.runs < 256 || k.runs > 300 {
		b.Fatalf("%d steps in %d stretches", k.steps, k.runs)
	}
	ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	b.ReportMetric(ns/float64(k.steps), "ns/step")
	b.ReportMetric(ns/float64(k.runs), "ns/stretch")
}

// mallocs returns the number and bytes of the allocations of a run of n chat
// requests under preset at 80 % of capacity.
func mallocs(t *testing.T, preset string, n int64, detail bool) (count, bytes int64) {
	t.Helper()
	c := h100Config(t, preset)
	c.Detail = detail
	c.Source, c.Sink = chat(t, n, 0.8*capacityPerS(preset)), &queueing{n: n}
	return allocated(t, c)
}

// allocated returns the number and bytes of the allocations of a run of c.
func allocated(t *testing.T, c engine.Config) (count, bytes int64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := engine.Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return int64(after.Mallocs - before.Mallocs), int64(after.TotalAlloc - before.TotalAlloc)
}

// TestUnbrokenArrivalsDoNotAllocate has somebody arrive in every step, so that
// with asynchronous scheduling the policy has never heard of everybody.
func TestUnbrokenArrivalsDoNotAllocate(t *testing.T) {
	run := func(n int) (bytes int64) {
		rs := make([]workload.Request, n)
		for i := range rs {
			rs[i] = workload.Request{ID: int64(i), Arrival: at(int64(7 * i)), Prompt: 1, Output: 3}
		}
		c := small(t, "vllm@0.20", &list{requests: rs})
		c.Scheduler.AsyncScheduling, c.Sink = true, &queueing{n: int64(n)}
		_, bytes = allocated(t, c)
		return bytes
	}
	if short, long := run(20_000), run(80_000); long-short > 300_000 {
		t.Errorf("60,000 more requests allocate %d bytes more", long-short)
	}
}

// TestSteadyStateDoesNotAllocate runs four times as long: only buffers that
// grow to a new peak may allocate, once in a long while, and nothing that grows
// with the number of requests.
func TestSteadyStateDoesNotAllocate(t *testing.T) {
	for _, p := range scheduler.Presets() {
		for _, detail := range []bool{false, true} {
			short, shortBytes := mallocs(t, p.Name, 20_000, detail)
			long, longBytes := mallocs(t, p.Name, 80_000, detail)
			t.Logf("%s, detail=%v: %d allocations of %d bytes, then %d of %d", p.Name, detail, short, shortBytes, long, longBytes)
			if long-short > 100 || longBytes-shortBytes > 300_000 {
				t.Errorf("%s, detail=%v: 60,000 more requests allocate %d times more, and %d bytes more", p.Name, detail, long-short, longBytes-shortBytes)
			}
		}
	}
}

// TestSteadyStepsDoNotAllocate has one request decode 200 steps or 20,000, each
// in a run of its own, since the cost model allows no more.
func TestSteadyStepsDoNotAllocate(t *testing.T) {
	allocs := func(output int32) float64 {
		c := small(t, "vllm@0.20", nil)
		c.Scheduler.MaxModelLen, c.Scheduler.NumGPUBlocks = 30_000, 5000
		c.Cost = badCost{ms, gpu.Progression{First: ms, Steps: 1}}
		c.Sink = &queueing{n: 1}
		rs := []workload.Request{{Prompt: 20, Output: output}}
		return testing.AllocsPerRun(5, func() {
			c.Source = &list{requests: rs}
			if err := engine.Run(context.Background(), c); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocs(200), allocs(20_000); many > few {
		t.Errorf("%v allocations for 200 steps, %v for 20,000", few, many)
	}
}

// TestCostOfTheBenchmark keeps the benchmark honest: at 80 % of capacity there
// are both long decode stretches and mixed steps.
func TestCostOfTheBenchmark(t *testing.T) {
	k := run(t, func() engine.Config {
		c := h100Config(t, "vllm@0.20")
		c.Source = chat(t, 5000, 0.8*capacityPerS("vllm@0.20"))
		return c
	}())
	mixed, longest := 0, int64(0)
	var busy sim.Duration
	for _, s := range k.runs {
		if s.Steps == 1 && s.Decodes > 0 {
			mixed++
		}
		longest = max(longest, s.Steps)
		busy += s.Duration()
	}
	if mixed < 1000 || longest < 20 {
		t.Errorf("%d single steps, and at most %d steps in a row", mixed, longest)
	}
	if share := busy.Seconds() / k.requests[len(k.requests)-1].End.Seconds(); share < 0.9 {
		t.Errorf("the engine is busy %.0f %% of the time", 100*share)
	}
}
