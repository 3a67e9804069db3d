package engine_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"servesim/sim/engine"
	"servesim/sim/kv"
	"servesim/sim/observe"
	"servesim/sim/workload"
)

// mooncake opens the Mooncake trace called name.
func mooncake(tb testing.TB, name string) *workload.Trace {
	tb.Helper()
	path := filepath.Join("..", "..", "..", "shared", "traces", "mooncake", name)
	if _, err := os.Stat(path); err != nil {
		tb.Skip("../shared/traces is not here; its traces cannot be replayed")
	}
	trace, err := workload.Open(path, workload.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { trace.Close() })
	return trace
}

// hits takes the requests of the trace called name one after the other through a
// cache of blocks of 512 tokens, each wholly, and returns how many of the hash ids
// were found, and of how many. The last id of a prompt, though it covers less,
// counts like the others.
func hits(tb testing.TB, name string, blocks int64) (found, all int64) {
	trace := mooncake(tb, name)
	cache := kv.NewPrefix(blocks, 512, kv.Append)
	var table kv.Table
	for {
		r, err := trace.Next()
		if err == io.EOF {
			return found, all
		}
		if err != nil {
			tb.Fatal(err)
		}
		n := int32(len(r.Blocks))
		cache.Enter(&table, kv.Chain{Hashes: r.Blocks, HashTokens: r.BlockTokens, Covered: n * r.BlockTokens})
		hit, _ := cache.Find(&table, n)
		cache.Hold(&table)
		cache.Take(int64(n - hit))
		cache.Register(&table, n)
		cache.Release(&table, n)
		cache.Leave(&table)
		found, all = found+int64(hit), all+int64(n)
	}
}

// TestMooncakeHits holds the cache against what was counted of the traces by
// other means: the ids that a cache without limit finds, and the share that one
// of 10,000, 30,000 and 100,000 blocks does (5.1, 15 and 51 M tokens).
func TestMooncakeHits(t *testing.T) {
	for _, c := range []struct {
		trace      string
		found, all int64
	}{{"conversation_trace.jsonl", 105_710, 288_500}, {"synthetic_trace.jsonl", 77_953, 121_877}} {
		if found, all := hits(t, c.trace, 1<<20); found != c.found || all != c.all {
			t.Errorf("%s: %d of %d ids are found; want %d of %d", c.trace, found, all, c.found, c.all)
		}
	}
	for blocks, want := range map[int64]float64{1_000: 4.5, 3_000: 6.5, 10_000: 21.2, 30_000: 32.6, 50_000: 35.5, 100_000: 36.4} {
		found, all := hits(t, "conversation_trace.jsonl", blocks)
		share := 100 * float64(found) / float64(all)
		t.Logf("%d blocks: %.2f %%", blocks, share)
		if share < want-1 || share > want+1 {
			t.Errorf("%d blocks: %.2f %% of the ids are found; want %.1f within 1 point", blocks, share, want)
		}
	}
}

// cachedConfig is a replay of the Mooncake conversations on one engine with the KV
// of eight GPUs, and none of their time.
func cachedConfig(tb testing.TB) engine.Config {
	c := h100Config(tb, "vllm@0.20")
	c.Scheduler.NumGPUBlocks *= 8
	c.Source = mooncake(tb, "conversation_trace.jsonl")
	return c
}

// BenchmarkMooncake replays the conversations with their prefixes cached; one
// iteration is the whole trace.
func BenchmarkMooncake(b *testing.B) {
	for _, cached := range []bool{true, false} {
		b.Run(map[bool]string{true: "cached", false: "not"}[cached], func(b *testing.B) {
			requests := 0
			for range b.N {
				b.StopTimer()
				c := cachedConfig(b)
				c.Scheduler.EnablePrefixCaching = cached
				c.Sink = count{&requests}
				b.StartTimer()
				if err := engine.Run(context.Background(), c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(requests)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// count counts requests.
type count struct{ n *int }

func (c count) Request(*observe.Request) error { *c.n++; return nil }
func (c count) Step(*observe.StepRun) error    { return nil }
