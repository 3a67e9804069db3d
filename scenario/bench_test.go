package scenario

import (
	"testing"
)

// BenchmarkLoad settles the default scenario.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load(Source{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSimulate runs 20,000 requests of azure-chat on a busy GPU.
func BenchmarkSimulate(b *testing.B) {
	src := Source{}
	for _, s := range []string{"model=Llama-3.1-8B", "tp=1", "dtype=bf16", "preset=azure-chat", "requests=20000", "workload.rate_per_s=6"} {
		one, err := ParseSetting(s)
		if err != nil {
			b.Fatal(err)
		}
		src.Settings = append(src.Settings, one)
	}
	p, err := Load(src)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := p.Simulate(b.Context(), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
