package workers

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// Law: every number is handed out once, to as many at once as jobs at most.
func TestEachHandsOutAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs, n := rapid.IntRange(-1, 9).Draw(t, "jobs"), rapid.IntRange(0, 50).Draw(t, "n")
		times := make([]int, n)
		var now, most atomic.Int64
		Each(t.Context(), jobs, n, func(i int) bool {
			for at := now.Add(1); ; {
				if seen := most.Load(); at <= seen || most.CompareAndSwap(seen, at) {
					break
				}
			}
			times[i]++
			now.Add(-1)
			return true
		})
		if slices.ContainsFunc(times, func(k int) bool { return k != 1 }) {
			t.Fatalf("numbers were handed out %v times", times)
		}
		if m := most.Load(); m > int64(max(1, jobs)) {
			t.Fatalf("%d were done at once by %d jobs", m, jobs)
		}
	})
}

// Law: with one job, nothing comes after the number at which do returns false or
// the context ends.
func TestEachStops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "n")
		last, cancelled := rapid.IntRange(0, n-1).Draw(t, "last"), rapid.Bool().Draw(t, "by the context")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := 0
		Each(ctx, 1, n, func(i int) bool {
			if i != done {
				t.Fatalf("%d came after %d", i, done-1)
			}
			done++
			if cancelled && i == last {
				cancel()
			}
			return cancelled || i != last
		})
		if done != last+1 {
			t.Fatalf("%d were done, want %d", done, last+1)
		}
	})
}
