package calibrate

import (
	"fmt"
	"strings"
	"testing"

	"servesim/calibrate/vllmlog"
	"servesim/sim/gpu"
)

// startOf reads the start of a server.
func startOf(t *testing.T, text string) *vllmlog.Start {
	t.Helper()
	l, err := vllmlog.Read(strings.NewReader(text), "x.log")
	if err != nil {
		t.Fatal(err)
	}
	return &l.Start
}

func TestStartBlocks(t *testing.T) {
	for _, c := range []struct {
		text   string
		groups int64
		blocks int64
		ok     bool
		note   string
	}{
		{"GPU KV cache size: 160 tokens", 1, 10, true, "160 tokens in blocks of 16"},
		{"GPU KV cache size: 160 tokens", 4, 40, true, "160 tokens in blocks of 16"},
		{"GPU KV cache size: 167 tokens", 1, 10, true, "no whole number of blocks"},
		{"# GPU blocks: 77, # CPU blocks: 5", 1, 77, true, "as printed"},
		{"# GPU blocks: 77\n# GPU blocks: 75", 1, 75, true, "as printed"},
		{"Overriding num_gpu_blocks=77 with num_gpu_blocks_override=12\n# GPU blocks: 77", 1, 12, true, "num_gpu_blocks_override of the server"},
		{"Model loading took 1.5 GiB and 3 seconds", 1, 0, false, "the log has no line"},
	} {
		blocks, note, ok := StartBlocks(startOf(t, c.text), 16, c.groups)
		if blocks != c.blocks || ok != c.ok || !strings.Contains(note, c.note) {
			t.Errorf("%q: %d, %q, %v", c.text, blocks, note, ok)
		}
	}
}

// The ledger stands beside the least that a worker has for KV and the most that one
// has of weights.
func TestCompareStartByHand(t *testing.T) {
	l := &gpu.Ledger{UsableBytes: 100 << 30, ShareBytes: 90 << 30, KVBytes: 40 << 30, BytesPerToken: 1 << 20, BlockSize: 16, Groups: 1,
		Items: []gpu.LedgerItem{{Name: "weights", Bytes: 20 << 30}, {Name: "graphs"}}}
	lines := CompareStart(startOf(t, "(Worker_TP0 pid=1) Model loading took 24.0 GiB and 1 seconds\n(Worker_TP1 pid=2) Model loading took 25.0 GiB and 1 seconds\n"+
		"(Worker_TP0 pid=1) Available KV cache memory: 50.00 GiB\n(Worker_TP1 pid=2) Available KV cache memory: 32.00 GiB\n"+
		"Estimated CUDA graph memory: 0.50 GiB total\nGraph capturing finished in 2 secs, took 0.40 GiB\nMaximum concurrency for 1,600 tokens per request: 20.48x\n"), l, 3200)
	want := []struct {
		name             string
		logged, ledger   float64
		difference, note string
	}{
		{"weights", 25 << 30, 20 << 30, "-20.0", "2 workers or engines print 24.00 GiB to 25.00 GiB"},
		{"graphs, estimated", 1 << 29, 0, "-100.0", "takes its estimate off the KV cache"},
		{"kv cache", 32 << 30, 40 << 30, "+25.0", "2 workers or engines print 32.00 GiB to 50.00 GiB"},
		{"requests at full length", 20.48, 25.6, "+25.0", "of 1600 tokens, not the scenario's max_model_len, 3200"},
	}
	if len(lines) != len(want) {
		t.Fatalf("%+v", lines)
	}
	for i, w := range want {
		l := lines[i]
		if l.Name != w.name || l.Logged != w.logged || l.Ledger != w.ledger || fmt.Sprintf("%+.1f", l.Difference()) != w.difference || !strings.Contains(l.Note, w.note) {
			t.Errorf("%+v, want %+v", l, w)
		}
	}
}
