package sweep

import (
	"runtime"
	"testing"
)

// BenchmarkThousandPoints sweeps 1,000 points of 20,000 requests each on all cores:
// a chat service on one GPU, from nearly idle to nearly full.
func BenchmarkThousandPoints(b *testing.B) {
	text := `schema = 1
[set]
preset = "azure-chat"
requests = 20000
model = "Llama-3.1-8B"
tp = 1
dtype = "bf16"
goodput = "ttft:500 tpot:25"
[grid]
gpu = ["h100", "b200"]
max_num_batched_tokens = [512, 1024, 2048, 4096, 8192]
max_num_seqs = [64, 128, 192, 256, 512]
rate_per_s = [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10]
`
	for b.Loop() {
		p, err := ReadPlan("plan.toml", text)
		if err != nil {
			b.Fatal(err)
		}
		jobs := runtime.GOMAXPROCS(0)
		s, err := Open(b.Context(), p, b.TempDir(), jobs)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Run(b.Context(), Options{Jobs: jobs}); err != nil {
			b.Fatal(err)
		}
		table, err := s.Merge()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Write(table); err != nil {
			b.Fatal(err)
		}

	}
}
