package scenario

import (
	"fmt"

	"servesim/internal/strict"
)

// maxLedgerBytes is the most that a line of the memory ledger may be given, as
// package gpu has it.
const maxLedgerBytes = 1_000_000_000_000_000

// check returns the faults of the lines that m gives.
func (m *MemorySection) check() []strict.Fault {
	var faults []strict.Fault
	for _, line := range []struct {
		key   string
		bytes *int64
	}{
		{"weights_bytes", m.Weights}, {"activations_bytes", m.Activations}, {"context_bytes", m.Context},
		{"collectives_bytes", m.Collectives}, {"graphs_bytes", m.Graphs},
	} {
		if n := line.bytes; n != nil && (*n < 0 || *n > maxLedgerBytes) {
			faults = append(faults, strict.Fault{Key: "memory." + line.key, Text: fmt.Sprintf("found %d; must be 0 to %d bytes on each GPU", *n, int64(maxLedgerBytes))})
		}
	}
	return faults
}
