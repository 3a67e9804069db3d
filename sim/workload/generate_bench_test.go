package workload_test

import (
	"testing"

	"servesim/sim/workload"
)

// generator returns the source of a spec that must be without fault.
func generator(t testing.TB, text string) workload.Source {
	t.Helper()
	spec, err := workload.ParseSpec("spec.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	source, err := spec.Source(1)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// BenchmarkGenerate draws requests of several kinds; one iteration is one
// request.
func BenchmarkGenerate(b *testing.B) {
	const lengths = `
requests = 1000000000000
prompt = { dist = "lognormal", mean = 1000, sigma = 0.8 }
output = { dist = "lognormal", mean = 250, sigma = 0.7 }
`
	for _, c := range []struct{ name, text string }{
		{"poisson", `arrival = { process = "poisson", rate_per_s = 1000 }` + lengths},
		{"gamma", `arrival = { process = "gamma", rate_per_s = 1000, cv = 2 }` + lengths},
		{"chat", "preset = \"chat-with-long-prompts\"\nrate_per_s = 1000\nrequests = 1000000000000"},
		{"code", "preset = \"azure-code\"\nrate_per_s = 1000\nrequests = 1000000000000"},
	} {
		b.Run(c.name, func(b *testing.B) {
			source := generator(b, c.text)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if _, err := source.Next(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
