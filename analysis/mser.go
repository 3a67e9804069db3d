package analysis

import (
	"math"

	"servesim/sim"
	"servesim/sim/observe"
)

// MSER is an observe.Sink that finds how many of the first requests of a run to
// leave out, by the marginal standard error rule of White (Simulation 69, 1997) over
// the means of batches of 5 (MSER-5; White, Cobb and Spratt, WSC 2000): the cut
// after which the squared standard error of the mean of what is left, taken for
// independent, is least,
//
//	d = argmin Σ_{i≥d} (m_i - mean of m_d…)² / (k-d)²
//
// of the k means m_i, d leaving a tenth of them and 5 at least. If that is in the
// second half, there is no steady state to be seen. It is asked of TTFT and of TPOT, and the
// later of the cuts holds. Requests are taken in the order of their IDs, in which they
// arrive, and those without a value leave their batch to the others. Memory is
// bounded: when there are 2,048 batches, each two become one.
type MSER struct {
	ttft, tpot batches
}

const (
	// mserBatch is the number of requests of a batch, until batches double.
	mserBatch = 5
	// mserBatches is the number of batches that become half as many.
	mserBatches = 2048
	// mserFewest is the number of batches below which there is nothing to find.
	mserFewest = 20
	// mserTail is the number of batches that a cut leaves at least.
	mserTail = 5
)

// batches are the sums of values of batches of requests, by ID.
type batches struct {
	size int64 // requests of a batch
	sum  []sum
	n    []int64
	last int64 // the largest ID
}

// add takes the value of request id.
func (b *batches) add(id int64, d sim.Duration) {
	if b.sum == nil {
		b.size, b.sum, b.n = mserBatch, make([]sum, mserBatches), make([]int64, mserBatches)
	}
	for id/b.size >= mserBatches {
		for i := range mserBatches / 2 {
			b.sum[i], b.n[i] = b.sum[2*i], b.n[2*i]+b.n[2*i+1]
			b.sum[i].addSum(b.sum[2*i+1], 1)
		}
		clear(b.sum[mserBatches/2:])
		clear(b.n[mserBatches/2:])
		b.size *= 2
	}
	b.sum[id/b.size].add(uint64(d))
	b.n[id/b.size]++
	b.last = max(b.last, id)
}

// Request implements observe.Sink. Its errors are those of Summary.Request.
func (m *MSER) Request(r *observe.Request) error {
	if err := checkRequest(r); err != nil {
		return err
	}
	if r.Outcome != observe.Completed || r.ID < 0 {
		return nil
	}
	m.ttft.add(r.ID, r.First.Sub(r.Arrival))
	if tpot, ok := perToken(r); ok {
		m.tpot.add(r.ID, tpot)
	}
	return nil
}

// Step implements observe.Sink.
func (m *MSER) Step(*observe.StepRun) error { return nil }

// Cut returns the number of the first requests to leave out. ok is false if there is
// no steady state to be seen, or too few requests.
func (m *MSER) Cut() (requests int64, ok bool) {
	ttft, ok := m.ttft.cut()
	if !ok {
		return 0, false
	}
	if m.tpot.sum == nil {
		return ttft, true
	}
	tpot, ok := m.tpot.cut()
	if !ok {
		return 0, false
	}
	return max(ttft, tpot), true
}

// cut returns the cut of b.
func (b *batches) cut() (requests int64, ok bool) {
	if b.sum == nil {
		return 0, false
	}
	var means []float64
	var begins []int64 // the IDs with which the batches of means begin
	for i := range (b.last + 1) / b.size {
		if b.n[i] > 0 {
			means, begins = append(means, b.sum[i].float()/float64(b.n[i])), append(begins, i*b.size)
		}
	}
	if len(means) < mserFewest {
		return 0, false
	}
	// Squares about the mean of what is left, from the last batch to the first (Welford).
	best, least := 0, math.Inf(1)
	mean, squares := 0.0, 0.0
	for i := len(means) - 1; i >= 0; i-- {
		n := float64(len(means) - i)
		off := means[i] - mean
		mean += off / n
		squares += float64(off * (means[i] - mean))
		if error2 := squares / float64(n*n); n >= float64(max(mserTail, len(means)/10)) && error2 <= least {
			best, least = i, error2
		}
	}
	if 2*best > len(means) {
		return 0, false
	}
	if best == 0 {
		return 0, true // requests before the first batch have no value
	}
	return begins[best], true
}
