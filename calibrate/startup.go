package calibrate

import (
	"fmt"
	"math"

	"servesim/calibrate/vllmlog"
	"servesim/sim/gpu"
)

// LedgerLine is a figure of a server's start beside that of the memory ledger.
type LedgerLine struct {
	// Name is the ledger's; Unit is bytes, blocks, tokens or requests.
	Name, Unit string
	// Logged is what the server printed, on Line of its log first, Ledger what the
	// ledger computes.
	Logged, Ledger float64
	Line           int
	// Note says what to know of the comparison, or is empty.
	Note string
}

// Difference returns by how much the ledger is above the log, in percent of the log;
// NaN if that says 0.
func (l *LedgerLine) Difference() float64 {
	if l.Logged == 0 {
		return math.NaN()
	}
	return 100 * (l.Ledger/l.Logged - 1)
}

// CompareStart sets what a server printed at its start beside ledger l of the same
// deployment, whose longest sequence is of maxModelLen tokens.
func CompareStart(s *vllmlog.Start, l *gpu.Ledger, maxModelLen int64) []LedgerLine {
	item := map[string]float64{}
	for _, i := range l.Items {
		item[i.Name] = float64(i.Bytes)
	}
	var out []LedgerLine
	add := func(name, unit string, f vllmlog.Figure, logged, ledger float64, note string) {
		if !f.Given() {
			return
		}
		if f.Most > f.Least {
			note = fmt.Sprintf("%d workers or engines print %s to %s", f.Count, inUnit(f.Least, unit), inUnit(f.Most, unit)) + orNothing("; ", note)
		}
		out = append(out, LedgerLine{Name: name, Unit: unit, Logged: logged, Ledger: ledger, Line: f.Line, Note: note})
	}
	add("total", "bytes", s.TotalBytes, s.TotalBytes.Least, float64(l.UsableBytes), "")
	add("weights", "bytes", s.WeightsBytes, s.WeightsBytes.Most, item["weights"], "")
	add("activations", "bytes", s.ActivationBytes, s.ActivationBytes.Most, item["activations"], "")
	add("context and collectives", "bytes", s.NonTorchBytes, s.NonTorchBytes.Most, item["context"]+item["collectives"], "")
	if s.EstimatedGraphBytes.Given() {
		add("graphs, estimated", "bytes", s.EstimatedGraphBytes, s.EstimatedGraphBytes.Most, item["graphs"], "this version takes its estimate off the KV cache before it captures them")
	} else {
		add("graphs", "bytes", s.GraphBytes, s.GraphBytes.Most, item["graphs"], "vLLM captures them outside gpu_memory_utilization, so they take nothing of the KV cache")
	}
	add("kv cache", "bytes", s.AvailableKVBytes, s.AvailableKVBytes.Least, float64(l.KVBytes), "")
	add("kv cache", "tokens", s.KVTokens, s.KVTokens.Least*float64(l.Groups), float64(l.Blocks()*l.BlockSize), "")
	add("blocks", "blocks", s.Blocks, s.Blocks.Least*float64(l.Groups), float64(l.Blocks()), "")
	if f := s.Concurrency; f.Given() && s.ConcurrencyTokens.Least > 0 {
		blocks := math.Ceil(s.ConcurrencyTokens.Least / float64(l.BlockSize))
		note := ""
		if tokens := int64(s.ConcurrencyTokens.Least); tokens != maxModelLen {
			note = fmt.Sprintf("of %d tokens, not the scenario's max_model_len, %d", tokens, maxModelLen)
		}
		add("requests at full length", "requests", f, f.Least*float64(l.Groups), float64(l.Blocks())/blocks, note)
	}
	return out
}

// StartBlocks returns the KV blocks of all engines that a server printed, in tokens of
// blockSize, and what to know of them; ok is false if it printed none that can be
// told from the log. groups is the number of engines that hold sequences of their own.
func StartBlocks(s *vllmlog.Start, blockSize, groups int64) (blocks int64, note string, ok bool) {
	switch tokens := int64(s.KVTokens.Least); {
	case s.Override.Given():
		return int64(s.Override.Least) * groups, "num_gpu_blocks_override of the server", true
	case s.Blocks.Given():
		return int64(s.Blocks.Least) * groups, "as printed", true
	case !s.KVTokens.Given():
		return 0, "the log has no line \"GPU KV cache size\" or \"# GPU blocks\"", false
	case tokens%blockSize != 0:
		return tokens / blockSize * groups, fmt.Sprintf("%d tokens are no whole number of blocks of %d, as vLLM prints them of a hybrid KV cache: rounded down", tokens, blockSize), true
	default:
		return tokens / blockSize * groups, fmt.Sprintf("%d tokens in blocks of %d", tokens, blockSize), true
	}
}

// LedgerOverrides returns the lines of the memory ledger that the log tells, by the
// keys of a scenario's section memory, in order.
func LedgerOverrides(s *vllmlog.Start) []Override {
	var out []Override
	for _, o := range []struct {
		key string
		f   vllmlog.Figure
	}{{"weights_bytes", s.WeightsBytes}, {"activations_bytes", s.ActivationBytes}, {"graphs_bytes", s.EstimatedGraphBytes}} {
		if o.f.Given() {
			out = append(out, Override{o.key, int64(o.f.Most), o.f.Line})
		}
	}
	return out
}

// Override is a line of the ledger as a log has it.
type Override struct {
	Key   string
	Bytes int64 // on each GPU
	Line  int   // of the log
}

// inUnit writes a figure in its unit.
func inUnit(v float64, unit string) string {
	if unit == "bytes" {
		return fmt.Sprintf("%.2f GiB", v/(1<<30))
	}
	return fmt.Sprintf("%.4g", v)
}

// orNothing returns text behind lead, or nothing if text is empty.
func orNothing(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}
