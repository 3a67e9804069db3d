package gpu

import "fmt"

// SmallestFit returns the layout of s with the fewest GPUs that fits under o: of
// one pipeline stage if there is such, and otherwise, for which ok is false, with
// the fewest stages; and its ledger, nil if none fits. EP and DPAttention stay.
func (s Setup) SmallestFit(o MemoryOptions) (fit Setup, l *Ledger, ok bool) {
	for s.PP = 1; s.PP <= maxPP; s.PP *= 2 {
		for _, tp := range tensorParallel() {
			if s.PP > 1 && tp < tensorParallel()[len(tensorParallel())-1] {
				continue // more stages are for what does not fit on one node
			}
			s.TP = int(tp)
			l, err := s.ledger(o)
			if err == nil && l.shortfall(o) == "" {
				return s, l, s.PP == 1
			}
		}
	}
	return s, nil, false
}

// smallestFit names the smallest layout of s that fits under o.
func (s Setup) smallestFit(o MemoryOptions) string {
	if len(o.Overrides) > 0 || o.NumGPUBlocksOverride > 0 {
		return "the figures given override the ledger, so no other layout is tried"
	}
	fit, l, ok := s.SmallestFit(o)
	if ok {
		return fmt.Sprintf("the smallest layout that fits is tensor_parallel_size %d, with %.2f GB for KV on each GPU",
			fit.TP, float64(l.KVBytes)/1e9)
	}
	var last *Ledger
	var lastTP int64
	s.PP = 1
	for _, tp := range tensorParallel() {
		s.TP = int(tp)
		if l, err := s.ledger(o); err == nil {
			last, lastTP = l, tp
		}
	}
	if last == nil {
		return "no layout divides the model"
	}
	why := fmt.Sprintf("even tensor_parallel_size %d leaves %.2f GB for KV on each GPU; use a smaller number format",
		lastTP, float64(last.KVBytes)/1e9)
	if l != nil {
		why += fmt.Sprintf(", or tensor_parallel_size %d and pipeline_parallel_size %d, %d GPUs, with %.2f GB for KV on each",
			fit.TP, fit.PP, fit.TP*fit.PP, float64(l.KVBytes)/1e9)
	}
	return why
}
