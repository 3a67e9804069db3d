package gpu

import (
	"math"
	"strconv"
	"testing"
)

// loggedModel returns a shape of the logs, shipped or not.
func loggedModel(t *testing.T, name string) *Model {
	t.Helper()
	switch name {
	case "Qwen3-0.6B":
		m := dense(name, [6]int64{28, 1024, 16, 8, 3072, 151936})
		m.TiedEmbeddings = true
		return m
	case "Qwen3-235B-A22B":
		m := dense(name, [6]int64{94, 4096, 64, 4, 12288, 151936})
		m.Experts, m.ExpertsPerToken, m.ExpertWidth = 128, 8, 1536
		return m
	case "Mistral-Small-3.2-24B":
		return dense(name, [6]int64{40, 5120, 32, 8, 32768, 131072})
	}
	m, err := LoadModel(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The KV cache that vLLM leaves, by its own logs: all rows but the excluded ones
// are within 3 %.
func TestLedgerAgainstPublicLogs(t *testing.T) {
	held := 0
	for _, row := range testRows(t, "kv_cache_logs.csv") {
		number := func(i int) float64 {
			v, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		p, err := LoadProfile(row[2])
		if err != nil {
			t.Fatal(err)
		}
		s := Setup{Profile: p, Model: loggedModel(t, row[3]), TP: int(number(4)), PP: int(number(5)), Weights: Format(row[6]), KV: BF16}
		l, err := NewLedger(s, MemoryOptions{GPUMemoryUtilization: number(7), BlockSize: 16,
			MaxNumBatchedTokens: int64(number(8)), MaxNumSeqs: int64(number(9))})
		if err != nil {
			t.Errorf("%v: %v", row, err)
			continue
		}
		got := float64(l.KVBytes) / (1 << 30)
		percent := (got/number(10) - 1) * 100
		t.Logf("%-9s vLLM %-4s %-21s tp%s pp%s %-5s: %6.2f GiB, log %6.2f, %+6.2f %%  %s", row[0], row[1], row[3], row[4], row[5], row[6], got, number(10), percent, row[12])
		if row[0] == "heldout" {
			held++
		}
		if row[0] != "excluded" && math.Abs(percent) > 3 {
			t.Errorf("%v: %.2f GiB of KV, %+.2f %%", row, got, percent)
		}
	}
	if held < 7 {
		t.Errorf("only %d held-out rows", held)
	}
}
