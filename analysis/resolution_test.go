package analysis

import (
	"testing"

	"servesim/sim"
)

// sampled returns a Sample that keeps up to limit spans, with values taken.
func sampled(limit int64, values []int64) *Sample {
	s := &Sample{limit: limit}
	for _, v := range values {
		s.Add(sim.Duration(v))
	}
	return s
}

// repeated returns n times v after list.
func repeated(list []int64, v int64, n int) []int64 {
	for range n {
		list = append(list, v)
	}
	return list
}

// P50 of 8,193 spans is span 4,096 from 0 exactly, and what the next one is does
// not matter: 5 ps, in a bucket one wide, is exact though 1 s follows it. P50 of
// 8,194 is half-way to that next one.
func TestResolutionOfAnExactRank(t *testing.T) {
	for _, c := range []struct {
		after int
		exact bool
	}{{4096, true}, {4097, false}} {
		s := sampled(chunkValues, repeated(repeated(nil, 5, 4097), 1e12, c.after))
		q := s.Distribution(DefaultPercentiles()).Quantiles[0]
		if s.hist == nil {
			t.Fatal("the spans are not in a histogram")
		}
		if exact := q.Resolution == 0; exact != c.exact || exact && q.Value != 5 {
			t.Errorf("%d spans after 4,097 of 5 ps: %+v; exact %v, want %v", c.after, q, exact, c.exact)
		}
	}
}

// The largest value of a bucket of width w is w/2 from what a histogram says it
// is, and no value is farther. Resolution grants one picosecond more, for the
// rounding of an interpolation. Buckets from 2^30 on are 2^18 wide.
func TestResolutionIsReached(t *testing.T) {
	const low, width = 1 << 30, 1 << 18
	worst := sim.Duration(0)
	for _, v := range []int64{low, low + 1, low + width/2 - 1, low + width/2, low + width - 2, low + width - 1} {
		values := repeated(nil, 1, 100) // the extremes are exact
		values = repeated(values, v, 2*chunkValues)
		values = repeated(values, 2*low, 100)
		q := sampled(chunkValues, values).Distribution(DefaultPercentiles())
		p50 := q.Quantiles[0]
		if p50.Resolution != width/2+1 {
			t.Errorf("%d ps: %+v, want a resolution of %d", v, p50, width/2+1)
		}
		worst = max(worst, p50.Value-sim.Duration(v), sim.Duration(v)-p50.Value)
	}
	if worst != width/2 {
		t.Errorf("the worst value is off by %v, want %v", worst, sim.Duration(width/2))
	}
}

// A Sample is exact with as many spans as its limit, and folded with one more.
func TestSampleFoldsAtItsLimit(t *testing.T) {
	for _, limit := range []int64{0, chunkValues, 3 * chunkValues} {
		n := limit
		if limit == 0 {
			n = 1 << 20 // what the zero value keeps
		}
		s := sampled(limit, nil)
		for i := range n {
			s.Add(sim.Duration(1e12 + i))
		}
		middle := Percentile{whole / 2}
		if q := s.Distribution([]Percentile{middle}).Quantiles[0]; s.hist != nil || q.Resolution != 0 || q.Value != sim.Duration(1e12+n/2) {
			t.Errorf("limit %d, %d spans: folded %v, %+v", limit, n, s.hist != nil, q)
		}
		s.Add(sim.Duration(1e12 + n))
		if q := s.Distribution([]Percentile{middle}).Quantiles[0]; s.hist == nil || q.Resolution == 0 {
			t.Errorf("limit %d, %d spans: folded %v, %+v", limit, n+1, s.hist != nil, q)
		}
	}
}
