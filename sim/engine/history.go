package engine

import (
	"sort"

	"servesim/sim"
)

// history answers which was the longest gap of the decoding group since a
// given step. It keeps only gaps that no later one exceeds, so it is short.
type history struct {
	at  []int64 // group step, increasing
	gap []sim.Duration
}

// push records that the gap that ended with group step at lasted gap.
func (h *history) push(at int64, gap sim.Duration) {
	n := len(h.at)
	for n > 0 && h.gap[n-1] <= gap {
		n--
	}
	h.at, h.gap = append(h.at[:n], at), append(h.gap[:n], gap)
}

// max returns the longest gap that ended after group step from, 0 if none did.
func (h *history) max(from int64) sim.Duration {
	n := len(h.at)
	if n == 0 || h.at[n-1] <= from {
		return 0
	}
	return h.gap[sort.Search(n, func(i int) bool { return h.at[i] > from })]
}

// forget drops what ended at or before group step at.
func (h *history) forget(at int64) {
	i := sort.Search(len(h.at), func(i int) bool { return h.at[i] > at })
	h.at, h.gap = append(h.at[:0], h.at[i:]...), append(h.gap[:0], h.gap[i:]...)
}
