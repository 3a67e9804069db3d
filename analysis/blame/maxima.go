package blame

import (
	"servesim/sim"
	"servesim/sim/observe"
)

// regularGap is a gap between the tokens of those who got one in two steps that
// decoded, with none in between that did: how long it was, which step ended it,
// and what it was spent on. What is left of it, no step took.
type regularGap struct {
	serial                     int64
	gap, base, slowed, stalled sim.Duration
}

// regularGaps takes in the gaps that end in e.
func (t *timeline) regularGaps(e *entry) {
	if t.lastDecode != observe.Never {
		t.regular = e.start.Add(e.first).Sub(t.lastDecode)
		base, slowed := e.first, sim.Duration(0)
		if e.chunks > 0 {
			base, slowed = e.base, e.first-e.base
		}
		s := &e.before
		t.gaps.push(regularGap{e.serial, t.regular, s.base + base - t.baseThere, s.slowed + slowed - t.slowedThere, s.stalled - t.stalledThere})
	}
	if e.steps > 2 && e.inc < 0 {
		d := e.first + e.inc
		t.gaps.push(regularGap{serial: e.serial + 1, gap: d, base: d})
	}
	if e.steps > 1 {
		d := e.first + e.inc*sim.Duration(e.steps-1)
		t.gaps.push(regularGap{serial: e.serial + e.steps - 1, gap: d, base: d})
	}
}

// maxima answers which was the longest regular gap since a given step, the latest
// of those as long. It keeps only gaps that no later one reaches.
type maxima []regularGap

func (m *maxima) push(g regularGap) {
	s := *m
	n := len(s)
	for n > 0 && s[n-1].gap <= g.gap {
		n--
	}
	*m = append(s[:n], g)
}

// since returns the longest gap that ended with a step after serial, the zero
// value if none did.
func (m maxima) since(serial int64) (g regularGap) {
	if i := m.after(serial); i < len(m) {
		return m[i]
	}
	return g
}

// after returns the index of the first gap that ended with a step after serial.
func (m maxima) after(serial int64) int {
	lo, hi := 0, len(m)
	for lo < hi {
		if i := int(uint(lo+hi) / 2); m[i].serial > serial {
			hi = i
		} else {
			lo = i + 1
		}
	}
	return lo
}

// forget drops the gaps of steps before serial.
func (m *maxima) forget(serial int64) {
	s := *m
	*m = s[:copy(s, s[s.after(serial-1):])]
}
