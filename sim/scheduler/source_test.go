package scheduler_test

import (
	"testing"

	"servesim/sim/scheduler"
)

// TestEverySource holds that every version says where it comes from, and has
// limits on every device.
func TestEverySource(t *testing.T) {
	for _, p := range scheduler.Presets() {
		s := p.Source
		if s.Repository == "" || s.Revision == "" || s.Scheduler == "" {
			t.Errorf("%s: a part of its source is missing: %+v", p.Name, s)
		}
		for _, option := range []string{"max_num_batched_tokens", "max_num_seqs", "max_model_len", "block_size"} {
			if s.DefaultOf(option) == "" {
				t.Errorf("%s: no file holds the default of %s", p.Name, option)
			}
		}
		if len(p.Devices) == 0 {
			t.Errorf("%s: no device has limits", p.Name)
			continue
		}
		if last := p.Devices[len(p.Devices)-1]; last.MinBytes != 0 || last.Not != "" {
			t.Errorf("%s: the last limits are not for all other devices: %+v", p.Name, last)
		}
		for _, l := range p.Devices {
			for _, b := range []scheduler.Budget{l.Serve, l.Offline} {
				if b.MaxNumBatchedTokens < 1 || b.MaxNumSeqs < 1 {
					t.Errorf("%s: limits of %+v", p.Name, l)
				}
			}
		}
	}
}

// TestOn by hand, by the table of vLLM.
func TestOn(t *testing.T) {
	p, err := scheduler.FindPreset("vllm@0.20")
	if err != nil {
		t.Fatal(err)
	}
	const gib = 1 << 30
	for _, c := range []struct {
		device               scheduler.Device
		serve, offline, seqs int32
	}{
		{scheduler.Device{Name: "H100", MemoryBytes: 80 * gib}, 8192, 16384, 1024},
		{scheduler.Device{Name: "A100-80G", MemoryBytes: 80 * gib}, 2048, 8192, 256},
		{scheduler.Device{Name: "L40", MemoryBytes: 48 * gib}, 2048, 8192, 256},
	} {
		l := p.On(c.device)
		if l.Serve != (scheduler.Budget{MaxNumBatchedTokens: c.serve, MaxNumSeqs: c.seqs}) || l.Offline != (scheduler.Budget{MaxNumBatchedTokens: c.offline, MaxNumSeqs: c.seqs}) {
			t.Errorf("%+v has %+v", c.device, l)
		}
	}
}
