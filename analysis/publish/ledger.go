package publish

import (
	"cmp"
	"encoding/binary"
	"slices"

	"servesim/sim"
)

// ledger keeps calls until they can be written column by column: some 90 bytes each,
// and 5 for each time that the gap between two chunks changes otherwise than by
// the change before, so that a steady decode costs nothing, however long.
type ledger struct{ rows []row }

// row is a call in a ledger. Spans are from when it was sent.
type row struct {
	id             int64
	sent           sim.Time
	lag            sim.Duration // from schedule to send
	first, latency sim.Duration
	prompt, output int32
	chunks         int32
	failed         string
	gaps           []byte
}

// sort puts the calls in the order in which they were sent.
func (l *ledger) sort() {
	slices.SortFunc(l.rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.sent, b.sent), cmp.Compare(a.id, b.id)) })
}

// pack returns the gaps between instants: how many in a row are longer than the one
// before by the same, and by how much.
func pack(at []sim.Time, room []byte) []byte {
	room = room[:0]
	var before, step sim.Duration
	n := uint64(0)
	for i := 1; i < len(at); i++ {
		gap := at[i].Sub(at[i-1])
		if d := gap - before; n == 0 || d != step {
			if n > 0 {
				room = binary.AppendVarint(binary.AppendUvarint(room, n), int64(step))
			}
			n, step = 0, d
		}
		n++
		before = gap
	}
	if n > 0 {
		room = binary.AppendVarint(binary.AppendUvarint(room, n), int64(step))
	}
	return room
}

// unpack gives each gap that pack packed.
func unpack(packed []byte, each func(sim.Duration)) {
	var gap sim.Duration
	for len(packed) > 0 {
		n, k := binary.Uvarint(packed)
		step, m := binary.Varint(packed[k:])
		packed = packed[k+m:]
		for ; n > 0; n-- {
			gap += sim.Duration(step)
			each(gap)
		}
	}
}
