package fit

import (
	"slices"
	"strings"
	"testing"

	"servesim/sim/gpu"
)

// Rows of one k cannot tell the fixed time of a product from that of its depth; rows
// of small m alone say nothing of its FLOP rate; rows of all kinds tell everything.
func TestUntoldByHand(t *testing.T) {
	c := gpu.GEMM{FixedS: 3e-6, Per1024KS: 0.3e-6, FlopPerS: 800e12, WeightBytesPerS: 3e12, Fit: gpu.Provenance{Median: 0.01}}
	rows := func(ms, ks []int64) *Tables {
		var out Tables
		for _, m := range ms {
			for _, n := range []int64{1024, 4096, 16384} {
				for _, k := range ks {
					s := gpu.GEMMShape{M: m, N: n, K: k, WeightBytes: 2}
					out.gemm = append(out.gemm, gemmRow{kernel{"X", "e", "bf16"}, s, c.Seconds(s), false})
				}
			}
		}
		return &out
	}
	said := func(tables *Tables) string {
		var all []string
		for _, u := range tables.Untold(gpu.Kernels{GEMM: map[string]gpu.GEMM{"bf16": c}}, Wanted{GPU: "X", Engines: []string{"e"}}) {
			all = append(all, u.String())
		}
		slices.Sort(all)
		return strings.Join(all, "\n")
	}
	many, deep := []int64{1, 64, 512, 4096, 16384}, []int64{1024, 4096, 16384}
	if got := said(rows(many, deep)); got != "" {
		t.Errorf("rows of all kinds: %s", got)
	}
	if got := said(rows(many, []int64{4096})); !strings.Contains(got, "gemm.bf16: the rows cannot tell fixed_s and per_1024_k_s apart") {
		t.Errorf("rows of one depth: %s", got)
	}
	if got := said(rows([]int64{1}, deep)); !strings.Contains(got, "gemm.bf16: the rows say nothing of flop_per_s") {
		t.Errorf("rows of one token: %s", got)
	}
}

// What ships is told by its rows, and what isn't is named.
func TestUntoldOfShippedKernels(t *testing.T) {
	tables := measured(t)
	p, err := gpu.LoadProfile("h100")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range tables.Untold(p.Kernels["vllm"], wanted("H100", p.Datasheet)["vllm"]) {
		t.Log(u)
		if u.Flat && strings.HasPrefix(u.Table, "gemm") {
			t.Errorf("%v", u)
		}
	}
}
