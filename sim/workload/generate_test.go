package workload_test

import (
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/workload"
)

// arrivalTables returns one arrival table of each process.
func arrivalTables() []string {
	return []string{
		`arrival = { process = "constant", rate_per_s = 3 }`,
		`arrival = { process = "poisson", rate_per_s = 70 }`,
		`arrival = { process = "gamma", rate_per_s = 0.5, cv = 3 }`,
		`arrival = { process = "piecewise", window = "1s", rates_per_s = [0, 9, 1], repeat = true }`,
		`arrival = { process = "on_off", burst_size = { dist = "uniform", min = 1, max = 9 },
		  gap = { dist = "uniform", min = "0s", max = "2ms" }, off = { dist = "lognormal", mean = "3s", sigma = 1 } }`,
	}
}

// lengthTables returns ways to say what requests are.
func lengthTables() []string {
	return []string{
		`prompt = { dist = "normal", mean = 800, stddev = 300 }
		 output = { dist = "by_prompt", prompt_up_to = [700, 9000], p = [0, 50, 100], values_by_prompt = [[1, 9, 90], [1, 50, 60]] }`,
		`prompt = { dist = "mixture", max = 900, parts = [{ weight = 1, dist = "lognormal", mean = 500, sigma = 1 }, { weight = 2, dist = "constant", value = 3 }] }
		 output = { dist = "knots", p = [0, 90, 100], values = [1, 20, 500], min = 2 }
		 cancel = { fraction = 0.3, after = { dist = "exponential", mean = "1s" } }
		 classes = [{ name = "a", weight = 1, priority = 2 }, { name = "b", weight = 3, output = { dist = "constant", value = 7 } }]`,
	}
}

func drawAll(t interface{ Fatal(...any) }, text string, seed sim.Seed) []workload.Request {
	spec, err := workload.ParseSpec("spec.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	source, err := spec.Source(seed)
	if err != nil {
		t.Fatal(err)
	}
	var all []workload.Request
	for {
		r, err := source.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
}

// contents returns the requests without their arrivals.
func contents(all []workload.Request) []workload.Request {
	bare := make([]workload.Request, len(all))
	for i, r := range all {
		r.Arrival = 0
		bare[i] = r
	}
	return bare
}

func TestGeneratorLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arrival := rapid.SampledFrom(arrivalTables()).Draw(t, "arrival")
		lengths := rapid.SampledFrom(lengthTables()).Draw(t, "lengths")
		seed := sim.Seed(rapid.Uint64().Draw(t, "seed"))
		text := "requests = 100\n" + arrival + "\n" + lengths
		all := drawAll(t, text, seed)
		if len(all) != 100 {
			t.Fatalf("%d requests, want 100", len(all))
		}
		var last sim.Time
		for i, r := range all {
			if r.ID != int64(i) || r.Arrival < last || r.Prompt < 1 || r.Output < 1 || r.Cancel < 0 {
				t.Fatalf("request %d, after one at %v, is %+v", i, last, r)
			}
			last = r.Arrival
		}
		if !reflect.DeepEqual(all, drawAll(t, text, seed)) {
			t.Fatal("the same seed gave other requests")
		}
		if reflect.DeepEqual(all, drawAll(t, text, seed+1)) {
			t.Fatal("another seed gave the same requests")
		}
	})
}

// TestStreamsAreApart: a change to the arrivals moves no length, and a change
// to the prompts moves no arrival and no output that does not depend on them.
func TestStreamsAreApart(t *testing.T) {
	for _, lengths := range lengthTables() {
		var first []workload.Request
		for _, arrival := range arrivalTables() {
			all := contents(drawAll(t, "requests = 500\n"+arrival+"\n"+lengths, 11))
			if first == nil {
				first = all
			}
			if diff := cmp.Diff(first, all); diff != "" {
				t.Errorf("%s moved what requests are:\n%s", arrival, diff)
			}
		}
	}
	for _, arrival := range arrivalTables() {
		const output = "\n" + `output = { dist = "lognormal", mean = 90, sigma = 1, max = 200 }` + "\nrequests = 500\n"
		a := drawAll(t, arrival+output+`prompt = { dist = "constant", value = 6 }`, 11)
		b := drawAll(t, arrival+output+`prompt = { dist = "normal", mean = 5, stddev = 10 }`, 11)
		for i := range b {
			b[i].Prompt = a[i].Prompt
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: the prompts moved something else:\n%s", arrival, diff)
		}
	}
}

func TestDurationEndsBeforeItsInstant(t *testing.T) {
	const text = `
duration = "2s"
arrival = { process = "constant", rate_per_s = 10 }
prompt = { dist = "constant", value = 6 }
output = { dist = "constant", value = 6 }
`
	all := drawAll(t, text, 1)
	if n := len(all); n != 20 || all[19].Arrival != sim.Time(1900*sim.Millisecond) {
		t.Errorf("%d requests, the last at %v; want 20, at 1.9s", n, all[len(all)-1].Arrival)
	}
}

// TestShares checks shares of classes and of cancellations in n requests: a
// share p has standard error sqrt(p(1-p)/n), at most 0.5/sqrt(n).
func TestShares(t *testing.T) {
	const n = 40_000
	all := drawAll(t, arrivalTables()[1]+"\nrequests = 40000\n"+lengthTables()[1], 5)
	var b, cancelled int
	for _, r := range all {
		switch {
		case r.Class == "b" && r.Priority == 0 && r.Output == 7:
			b++
		case r.Class != "a" || r.Priority != 2:
			t.Fatalf("request %+v", r)
		}
		if r.Cancel > 0 {
			cancelled++
		}
	}
	const tol = 4 * 0.5 / 200
	for _, c := range []struct {
		name        string
		share, want float64
	}{{"class b", float64(b) / n, 0.75}, {"cancelled", float64(cancelled) / n, 0.3}} {
		if c.share < c.want-tol || c.share > c.want+tol {
			t.Errorf("%s is %.3f of requests, want %.3f +- %.3f", c.name, c.share, c.want, tol)
		}
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, arrival := range arrivalTables() {
		source := generator(t, arrival+"\nrequests = 1000000\n"+lengthTables()[1])
		allocs := testing.AllocsPerRun(1000, func() {
			if _, err := source.Next(); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: Next allocates %v times", arrival, allocs)
		}
	}
}
