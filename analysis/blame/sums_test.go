package blame

import (
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim"
)

// bigOf returns w as a big number.
func bigOf(w wide) *big.Int {
	n := new(big.Int).SetUint64(w.hi)
	return n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(w.lo))
}

func TestSumsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w, x wide
		want := new(big.Int)
		n := int64(0)
		for range rapid.IntRange(1, 20).Draw(t, "numbers") {
			d := rapid.Int64Min(0).Draw(t, "d")
			k := rapid.Int64Range(1, 1<<20).Draw(t, "times")
			w.add(sim.Duration(d), k)
			x.add(sim.Duration(d), k)
			x.plus(wide{})
			want.Add(want, new(big.Int).Mul(big.NewInt(d), big.NewInt(k)))
			n += k
		}
		if bigOf(w).Cmp(want) != 0 || w != x {
			t.Fatalf("%v, want %v", w, want)
		}
		if got := w.over(n); new(big.Int).Div(want, big.NewInt(n)).Int64() != int64(got) {
			t.Fatalf("%v over %d is %d", want, n, got)
		}
	})
}

// TestBucketsAddUpExactly holds that the sums of a bucket do not overflow, whether
// they are words of it or not.
func TestBucketsAddUpExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scales := newScales()
		s := &scales[rapid.IntRange(0, metrics-1).Draw(t, "metric")]
		var want, got [Causes]wide
		n := rapid.IntRange(1, 20).Draw(t, "lives")
		for range n {
			left := sim.MaxDuration - sim.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "below the most"))
			v := left
			var parts, more Parts
			for left > 0 {
				c := rapid.IntRange(0, Causes-1).Draw(t, "cause")
				d := sim.Duration(rapid.Int64Range(0, int64(left)).Draw(t, "part"))
				if rapid.Bool().Draw(t, "all of it") {
					d = left
				}
				if rapid.Bool().Draw(t, "in the first") {
					parts[c] += d
				} else {
					more[c] += d
				}
				want[c].add(d, 1)
				left -= d
			}
			s.add(v, &parts, &more)
		}
		for _, o := range s.octaves {
			for sub := range 1 << subBits {
				if o != nil {
					s.sum(&got, o, sub)
				}
			}
		}
		if got != want || s.count != int64(n) {
			t.Fatalf("%d lives: %v, want %v", s.count, got, want)
		}
	})
}

func TestPortionsSumToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64Min(0).Draw(t, "d")
		of := rapid.Int64Range(1, math.MaxInt64).Draw(t, "of")
		n := rapid.Int64Range(0, of).Draw(t, "n")
		want := new(big.Int).Mul(big.NewInt(d), big.NewInt(n))
		if got := portion(sim.Duration(d), n, of); want.Div(want, big.NewInt(of)).Int64() != int64(got) {
			t.Fatalf("%d·%d/%d is %d, not %d", d, n, of, want, got)
		}
		if portion(sim.Duration(d), of, of) != sim.Duration(d) {
			t.Fatal("the whole is not the whole")
		}
	})
}

func TestPlusStopsAtTheLongestTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, n, d := rapid.Int64Min(0).Draw(t, "a"), rapid.Int64Min(0).Draw(t, "n"), rapid.Int64Min(0).Draw(t, "d")
		want := new(big.Int).Mul(big.NewInt(n), big.NewInt(d))
		want.Add(want, big.NewInt(a))
		if most := big.NewInt(int64(sim.MaxDuration)); want.Cmp(most) > 0 {
			want = most
		}
		if got := plus(sim.Duration(a), n, sim.Duration(d)); int64(got) != want.Int64() {
			t.Fatalf("%d + %d·%d is %d, want %d", a, n, d, got, want)
		}
	})
}

// TestPlaces holds that buckets are in order, hold what is below their end, and
// are at most a 256th of their values wide.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sim.Duration(rapid.Int64Range(0, math.MaxInt64/2).Draw(t, "d"))
		i := place(d)
		end := above(i)
		if d >= end || place(end-1) != i || place(end) != i+1 {
			t.Fatalf("%d is in bucket %d, which ends at %d", d, i, end)
		}
		if i > 0 {
			if low := above(i - 1); low > d || int64(end-low-1)*256 > int64(d) {
				t.Fatalf("%d is in a bucket from %d to %d", d, low, end)
			}
		}
	})
}

// TestRunsOfGaps holds that a run of gaps counts as its gaps one by one.
func TestRunsOfGaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs, each gapScale
		for range 3 {
			n, seqs := rapid.Int64Range(1, 300).Draw(t, "n"), rapid.Int64Range(1, 5).Draw(t, "seqs")
			inc := sim.Duration(rapid.Int64Range(-20, 50).Draw(t, "inc"))
			first := sim.Duration(rapid.Int64Range(6000, 40_000).Draw(t, "first"))
			runs.run(first, inc, n, seqs)
			for i := range n {
				each.add(first+inc*sim.Duration(i), 0, seqs)
			}
		}
		if d := cmp.Diff(each.report(), runs.report()); d != "" {
			t.Fatalf("(-one by one +runs)\n%s", d)
		}
	})
}
