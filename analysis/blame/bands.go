package blame

import (
	"math/bits"

	"servesim/sim"
)

// Metric is what requests are ordered by.
type Metric uint8

// The metrics, each of completed requests.
const (
	// TTFT is the time to the first token, network included.
	TTFT Metric = iota
	// TPOT is the time from the first token to the last by tokens after the first.
	TPOT
	// WorstGap is the longest time between two tokens.
	WorstGap
	// E2E is the whole latency.
	E2E

	metrics = int(E2E) + 1
)

// String returns the name of m.
func (m Metric) String() string { return [...]string{"TTFT", "TPOT", "worst gap", "E2E"}[m] }

// Key returns the name of m in programs' terms.
func (m Metric) Key() string { return key(m.String()) }

// subBits is the number of bits after the first that decide the bucket of a
// value: a bucket is at most a 256th of its values wide.
const subBits = 8

// place returns the number of the bucket that holds d.
func place(d sim.Duration) int {
	v := uint64(max(0, d))
	if v < 1<<subBits {
		return int(v)
	}
	octave := bits.Len64(v) - subBits
	return octave<<subBits + int(v>>(octave-1))&(1<<subBits-1)
}

// above returns the least value that is in a later bucket than those of number i.
func above(i int) sim.Duration {
	if i < 1<<subBits {
		return sim.Duration(i + 1)
	}
	octave := i >> subBits
	return sim.Duration(1<<subBits+i&(1<<subBits-1)+1) << (octave - 1)
}

// bucket adds up the requests whose metrics are about the same.
type bucket struct {
	count     int64
	low, high sim.Duration
	lo        [Causes]uint64
	hi        *[Causes]uint64 // nil until one of lo overflows
}

// add adds d to the part of cause c.
func (b *bucket) add(c Cause, d sim.Duration) {
	var carry uint64
	if b.lo[c], carry = bits.Add64(b.lo[c], uint64(d), 0); carry > 0 {
		if b.hi == nil {
			b.hi = new([Causes]uint64)
		}
		b.hi[c]++
	}
}

// part returns that of cause c.
func (b *bucket) part(c Cause) wide {
	w := wide{lo: b.lo[c]}
	if b.hi != nil {
		w.hi = b.hi[c]
	}
	return w
}

// scale is the buckets of one metric.
type scale struct {
	buckets []*bucket
	count   int64
}

// add counts a request whose metric is v and is made of parts.
func (s *scale) add(v sim.Duration, parts *Parts) {
	i := place(v)
	if i >= len(s.buckets) {
		s.buckets = append(s.buckets, make([]*bucket, i+1-len(s.buckets))...)
	}
	b := s.buckets[i]
	if b == nil {
		b = &bucket{low: v, high: v}
		s.buckets[i] = b
	}
	b.count++
	b.low, b.high = min(b.low, v), max(b.high, v)
	for c, part := range parts {
		if part != 0 {
			b.add(Cause(c), part)
		}
	}
	s.count++
}

// Band is some of the requests in order of a metric, and what the metric is made
// of in the mean of them.
type Band struct {
	// Count is the number of requests, Low and High their least and greatest metric.
	Count     int64
	Low, High sim.Duration
	// Mean is the mean metric and Parts what it is made of, which sum to it; both
	// are rounded to a picosecond.
	Mean  sim.Duration
	Parts Parts
}

// band returns the requests of the buckets that hold ranks from lo to hi, from 0.
func (s *scale) band(lo, hi int64) (b Band) {
	var parts [Causes]wide
	before := int64(0)
	for _, k := range s.buckets {
		if k == nil {
			continue
		}
		if before <= hi && before+k.count > lo {
			if b.Count == 0 {
				b.Low = k.low
			}
			b.High = k.high
			b.Count += k.count
			for c := range parts {
				parts[c].plus(k.part(Cause(c)))
			}
		}
		before += k.count
	}
	var sum wide
	for c := range parts {
		was := sum.over(b.Count)
		sum.plus(parts[c])
		b.Parts[c] = sum.over(b.Count) - was
	}
	b.Mean = sum.over(b.Count)
	return b
}

// Metric returns m of the request, rounded down; ok is false if it has none: if it
// did not complete, or got no two tokens to have a gap between.
func (l *Life) Metric(m Metric) (d sim.Duration, ok bool) {
	r := l.Request
	if r.Outcome != completed || r.Output < 2 && (m == TPOT || m == WorstGap) {
		return 0, false
	}
	switch m {
	case TTFT:
		d = r.First.Sub(r.Arrival)
	case TPOT:
		d = r.Last.Sub(r.First) / sim.Duration(r.Output-1)
	case WorstGap:
		d = r.MaxGap
	case E2E:
		d = r.End.Sub(r.Arrival) + r.Response
	}
	return d, true
}

// count takes in a life.
func (b *Blame) count(l *Life) {
	r := l.Request
	if r.Outcome != completed {
		return
	}
	whole := l.Parts()
	b.bands[TTFT].add(l.ToFirst.Sum(), &l.ToFirst)
	b.bands[E2E].add(whole.Sum(), &whole)
	if r.Output < 2 {
		return
	}
	b.bands[WorstGap].add(l.Gap.Sum(), &l.Gap)
	n := sim.Duration(r.Output - 1)
	var each Parts
	sum := sim.Duration(0)
	for c, part := range l.AfterFirst {
		if part == 0 || Cause(c) == NetworkResponse {
			continue
		}
		each[c] = (sum+part)/n - sum/n
		sum += part
	}
	b.bands[TPOT].add(sum/n, &each)
}
