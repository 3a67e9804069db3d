package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Law: a run counts as its numbers do one by one, also one that lands exactly on
// the first number of a bucket.
func TestRunEqualsItsNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// An edge is the first number of a bucket; it is hit after some steps.
		octave := rapid.IntRange(0, 40).Draw(t, "octave")
		edge, width := bucketRange(octave, rapid.IntRange(0, subs-1).Draw(t, "sub"))
		inc := rapid.Uint64Range(0, 2*width).Draw(t, "inc")
		if rapid.Bool().Draw(t, "even") {
			inc = max(1, width>>rapid.IntRange(0, 8).Draw(t, "halvings")) // hits every edge after
		}
		before := rapid.Uint64Range(0, 100).Draw(t, "before")
		v := edge
		if before*inc <= edge {
			v = edge - before*inc
		}
		n, weight := rapid.Int64Range(1, 600).Draw(t, "n"), rapid.Int64Range(1, 5).Draw(t, "weight")
		var run, one histogram
		run.addRun(v, inc, n, weight)
		for i := range n {
			one.add(v+uint64(i)*inc, weight)
		}
		if d := cmp.Diff(one.counts, run.counts); d != "" {
			t.Fatalf("%d numbers from %d by %d, %d times each (- one by one, + run):\n%s", n, v, inc, weight, d)
		}
	})
}

// Buckets from 2^13 on are 2 wide: 8,192 and 8,193, then 8,194 and 8,195. A run of
// 8,192, 8,193 and 8,194 ends on the edge of the second.
func TestRunOntoAnEdge(t *testing.T) {
	var h histogram
	h.addRun(8192, 1, 3, 10)
	c := h.counts[2]
	if c == nil {
		t.Fatal("nothing is counted from 8,192 on")
	}
	if c[0] != 20 || c[1] != 10 {
		t.Errorf("buckets %v, want 20 and 10", c[:2])
	}
}
