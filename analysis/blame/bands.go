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

// The words of a bucket ahead of its sums.
const (
	wordCount = iota // of requests
	wordLow          // their least metric
	wordHigh         // their greatest
	wordSums
)

// octave is the buckets of values from one power of two to the next, or of those
// below the first.
type octave struct {
	words []uint64
	// rest has what the words of a bucket have no place for, nil if that is nothing.
	rest [1 << subBits]*[Causes]wide
}

// scale is the buckets of one metric. A bucket adds up the requests whose metrics
// are about the same. It is a few words side by side: the number of requests, their
// extremes, and sums of the parts that most have.
type scale struct {
	from, below Cause // whose sums are words: from ≤ cause < below
	stride      int   // words of a bucket, a power of two
	octaves     [64 - subBits + 1]*octave
	count       int64
}

// newScales returns those of all metrics.
func newScales() [metrics]scale {
	before := scale{from: NetworkRequest, below: Stalled + 1, stride: 16}
	after := scale{from: Decode, below: Preempted + 1, stride: 8}
	return [...]scale{TTFT: before, TPOT: after, WorstGap: after, E2E: before}
}

// add counts a request whose metric is v and is made of parts and more.
func (s *scale) add(v sim.Duration, parts, more *Parts) {
	i := place(v)
	o := s.octaves[i>>subBits]
	if o == nil {
		o = &octave{words: make([]uint64, s.stride<<subBits)}
		s.octaves[i>>subBits] = o
	}
	sub := i & (1<<subBits - 1)
	w := o.words[sub*s.stride:][:s.stride]
	if w[wordCount] == 0 || uint64(v) < w[wordLow] {
		w[wordLow] = uint64(v)
	}
	w[wordCount]++
	w[wordHigh] = max(w[wordHigh], uint64(v))
	s.count++
	left, carry := uint64(v), uint64(0)
	p, q := parts[s.from:s.below], more[s.from:s.below]
	q = q[:len(p)]
	w = w[wordSums:][:len(p)]
	for k := range p {
		part := uint64(p[k]) + uint64(q[k])
		left -= part
		w[k] += part
		if w[k] < part {
			carry |= 1 << k
		}
	}
	if left|carry != 0 {
		s.addRest(o.other(sub), carry, parts, more)
	}
}

// other returns what bucket sub has no words for.
func (o *octave) other(sub int) *[Causes]wide {
	if o.rest[sub] == nil {
		o.rest[sub] = new([Causes]wide)
	}
	return o.rest[sub]
}

// addRest adds the parts of causes without a word, and the carries of those with one.
func (s *scale) addRest(to *[Causes]wide, carry uint64, parts, more *Parts) {
	for i := range parts {
		if c := Cause(i); c < s.from || c >= s.below {
			to[c].add(parts[c]+more[c], 1)
		} else {
			to[c].hi += carry >> (c - s.from) & 1
		}
	}
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
	for _, o := range s.octaves {
		if o == nil {
			continue
		}
		for sub := range 1 << subBits {
			w := o.words[sub*s.stride:][:s.stride]
			n := int64(w[wordCount])
			if n > 0 && before <= hi && before+n > lo {
				if b.Count == 0 {
					b.Low = sim.Duration(w[wordLow])
				}
				b.High = sim.Duration(w[wordHigh])
				b.Count += n
				s.sum(&parts, o, sub)
			}
			before += n
		}
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

// sum adds the sums of bucket sub of o to parts.
func (s *scale) sum(parts *[Causes]wide, o *octave, sub int) {
	for c := s.from; c < s.below; c++ {
		parts[c].plus(wide{lo: o.words[sub*s.stride+wordSums+int(c-s.from)]})
	}
	if rest := o.rest[sub]; rest != nil {
		for c := range rest {
			parts[c].plus(rest[c])
		}
	}
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

// count takes in a life, whose wholes are w.
func (b *Blame) count(l *Life, w wholes) {
	r := l.Request
	if r.Outcome != completed {
		return
	}
	b.bands[TTFT].add(w.toFirst, &l.ToFirst, &b.none)
	b.bands[E2E].add(w.toFirst+w.afterFirst, &l.ToFirst, &l.AfterFirst)
	if r.Output < 2 {
		return
	}
	b.bands[WorstGap].add(w.gap, &l.Gap, &b.none)
	n := sim.Duration(r.Output - 1)
	var each Parts
	sum, upTo := sim.Duration(0), sim.Duration(0)
	for c, part := range l.AfterFirst {
		if part == 0 || Cause(c) == NetworkResponse {
			continue
		}
		sum += part
		now := sum / n
		each[c], upTo = now-upTo, now
	}
	b.bands[TPOT].add(upTo, &each, &b.none)
}
