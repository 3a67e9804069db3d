package dialect

import (
	"slices"

	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// peaks are the most of a run at any time, of the calls that completed with a chunk
// with choices, as vLLM counts them (vllm/benchmarks/serve.py, calculate_metrics):
// chunks in any second, counted from when the first of these calls was sent, and
// calls at once, from send to last chunk.
type peaks struct {
	// origin is when the first call was sent, of those so far.
	origin sim.Time
	// perSecond counts the chunks in each second since. chunks are their instants, in
	// case that a call comes which was sent before, as far as there is room; lost
	// tells that one came when there was none any more.
	perSecond []int64
	chunks    []sim.Time
	lost      bool
	// sent and ended are the instants of each call, as far as there is room.
	sent, ended []sim.Time
	full        bool
}

// maxPeak is the number of chunks and of calls whose instants are kept, and of
// seconds that are counted.
const maxPeak = 1 << 20

// take takes in a call.
func (p *peaks) take(v *view) {
	c := v.call
	if c.Outcome != observe.Completed || v.choices == 0 {
		return
	}
	if p.full = p.full || len(p.sent) == maxPeak; !p.full {
		p.sent, p.ended = append(p.sent, c.Sent), append(p.ended, v.at[LastChoice])
	}
	if len(p.perSecond) == 0 && len(p.chunks) == 0 || c.Sent < p.origin {
		p.begin(c.Sent)
	}
	for i := range c.Chunks {
		if k := &c.Chunks[i]; k.Choice() {
			p.count(k.At)
			if p.chunks != nil && len(p.chunks) < maxPeak {
				p.chunks = append(p.chunks, k.At)
			} else if p.chunks != nil {
				p.chunks = nil // what is kept is all or nothing
			}
		}
	}
}

// begin counts the seconds from t on, before which no chunk so far came.
func (p *peaks) begin(t sim.Time) {
	if len(p.perSecond) == 0 {
		p.chunks = make([]sim.Time, 0, 64)
	} else if p.chunks == nil {
		p.lost = true
		return
	}
	p.origin = t
	clear(p.perSecond)
	for _, at := range p.chunks {
		p.count(at)
	}
}

// count counts a chunk.
func (p *peaks) count(at sim.Time) {
	s := int64(at.Sub(p.origin) / sim.Second)
	if s >= maxPeak {
		p.lost = true
		return
	}
	for int64(len(p.perSecond)) <= s {
		p.perSecond = append(p.perSecond, 0)
	}
	p.perSecond[s]++
}

// most returns the most chunks in a second. ok is false if it isn't known.
func (p *peaks) most() (n int64, ok bool) {
	if p.lost {
		return 0, false
	}
	for _, k := range p.perSecond {
		n = max(n, k)
	}
	return n, true
}

// together returns the most calls at once; one that ends when another is sent is
// gone by then. ok is false if it isn't known.
func (p *peaks) together() (n int64, ok bool) {
	if p.full {
		return 0, false
	}
	sent, ended := slices.Sorted(slices.Values(p.sent)), slices.Sorted(slices.Values(p.ended))
	gone := 0
	for i, t := range sent {
		for gone < len(ended) && ended[gone] <= t {
			gone++
		}
		n = max(n, int64(i+1-gone))
	}
	return n, true
}

// peak returns the value of a rate that is a peak.
func (s *Sink) peak(r *Rate) RateValue {
	v := RateValue{Rate: r, Need: r.need(s.o.Facts)}
	if v.Need != "" {
		return v
	}
	n, ok := s.peaks.together()
	if r.Amount == PeakChunks {
		n, ok = s.peaks.most()
	}
	if !ok {
		v.Need = "needs the instants of calls or chunks that come in another order than that in which they were sent, of which at most 1,048,576 are kept"
	}
	v.Value = float64(n)
	return v
}

// peaked tells whether a rate of d is a peak.
func (d *Dialect) peaked() bool {
	return slices.ContainsFunc(d.Rates, func(r Rate) bool { return r.Amount == PeakChunks || r.Amount == PeakCalls })
}

// answered tells whether a call counts among those of w: completed and, for Chunked,
// with a chunk with choices if the source knows of them.
func (v *view) answered(w Whose, f transcript.Facts) bool {
	return v.call.Outcome == observe.Completed && (w != Chunked || v.choices > 0 || !f.First)
}
