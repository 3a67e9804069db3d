package analysis

import "servesim/sim"

// timeBins is the number of bins of eventBins.
const timeBins = 1024

// eventBins counts events by when they came about, in bins of time whose width
// doubles whenever an event outgrows them. The zero value has none.
type eventBins struct {
	shift uint // a bin is 1<<shift ps wide; 0 before the first event
	bins  [timeBins]int64
	total int64
	last  sim.Time // the latest event
}

// add counts an event at t, at least 0.
func (b *eventBins) add(t sim.Time) {
	if b.shift == 0 {
		b.shift = 20 // about a microsecond
	}
	for t>>b.shift >= timeBins {
		for i := range timeBins / 2 {
			b.bins[i] = b.bins[2*i] + b.bins[2*i+1]
		}
		clear(b.bins[timeBins/2:])
		b.shift++
	}
	b.bins[t>>b.shift]++
	b.total++
	b.last = max(b.last, t)
}

// before returns the number of events before each of the ascending instants, those
// of a bin that an instant cuts taken for evenly spread over it. It is exact at
// the edges of bins and from the last event on.
func (b *eventBins) before(instants []sim.Time) []float64 {
	list := make([]float64, len(instants))
	done, n := sim.Time(0), int64(0) // whole bins counted, and the events in them
	for i, t := range instants {
		if b.total == 0 || t > b.last {
			list[i] = float64(b.total)
			continue
		}
		for ; done < t>>b.shift; done++ {
			n += b.bins[done]
		}
		width := sim.Time(1) << b.shift
		part := float64(t&(width-1)) / float64(width)
		list[i] = float64(n) + float64(part*float64(b.bins[done]))
	}
	return list
}
