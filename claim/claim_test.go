package claim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"servesim/scenario"
)

// source returns what runs a model on a GPU, with settings.
func source(t testing.TB, sets ...string) scenario.Source {
	t.Helper()
	src := scenario.Source{Shelf: &scenario.Shelf{}}
	for _, one := range append([]string{"model=Llama-3.1-8B", "hardware.gpu=h100", "max_num_seqs=128"}, sets...) {
		s, err := scenario.ParseSetting(one)
		if err != nil {
			t.Fatal(err)
		}
		s.Flag = "--set"
		src.Settings = append(src.Settings, s)
	}
	return src
}

// short is the longest sequence of tests, lest they look for longer prompts.
const short = "max_model_len=4096"

// few are options that take a tenth of a second.
func few() Options {
	return Options{Lengths: []Lengths{{128, 64}, {2000, 50}}, Users: []int64{1, 32, 0}, Jobs: 2}
}

// answered returns an answer that there must be.
func answered(t testing.TB, text string, o Options, sets ...string) *Answer {
	t.Helper()
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Find(context.Background(), source(t, sets...), f, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// drawn draws a point that ran.
func drawn(t *rapid.T) *Point {
	number := rapid.Float64Range(0.01, 1e5)
	latency := rapid.Custom(func(t *rapid.T) Latency {
		return Latency{number.Draw(t, "mean"), number.Draw(t, "p50"), number.Draw(t, "p90"), number.Draw(t, "p99")}
	})
	return &Point{
		Layout:     Layout{"fp8", "bf16", rapid.SampledFrom([]int64{1, 2, 4, 8}).Draw(t, "tp")},
		OutputPerS: number.Draw(t, "output"), InputPerS: number.Draw(t, "input"), RequestsPerS: number.Draw(t, "requests"),
		TTFT: latency.Draw(t, "ttft"), TPOT: latency.Draw(t, "tpot"), ITL: latency.Draw(t, "itl"), E2E: latency.Draw(t, "e2e"),
	}
}

// figures are claims of every kind, of which %g is the number.
func figures() []string {
	return []string{
		"%f tok/s", "%f output tok/s/gpu", "%f input tok/s", "%f tok/s/user", "%f req/s", "%f req/s/gpu", "TTFT %f ms", "p99 TPOT %f ms", "mean ITL %f ms", "E2E %f s",
	}
}

// Law: a larger claim is never possible where a smaller isn't, and takes no fewer GPUs;
// what is needed reaches the claim and one replica less doesn't.
func TestLargerClaimsArePossibleInFewerPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		format := rapid.SampledFrom(figures()).Draw(t, "figure")
		f, err := Parse(fmt.Sprintf(format, rapid.Float64Range(0.1, 1e5).Draw(t, "value")))
		if err != nil {
			t.Fatal(err)
		}
		gpus := int64(0)
		if f.deployment() {
			gpus = rapid.SampledFrom([]int64{0, 1, 4, 24}).Draw(t, "gpus")
		}
		for _, r := range readings(f, gpus) {
			more := r
			times := rapid.Float64Range(1, 10).Draw(t, "times")
			if r.Quantity.Latency() {
				more.Value /= times
			} else {
				more.Value *= times
			}
			if more.Reached(p) && !r.Reached(p) || r.Needs(p) > more.Needs(p) || r.Share(r.Most(p)) < more.Share(more.Most(p)) {
				t.Fatalf("%v: %g is reached: %v, %g: %v", p, r.Value, r.Reached(p), more.Value, more.Reached(p))
			}
			n := r.Needs(p)
			if r.Reached(p) && !r.reach(r.one(p)*float64(n)) || n > r.replicas(p) || gpus == 0 && r.deployment() && n > 1 && r.reach(r.one(p)*float64(n-1)) {
				t.Fatalf("%v needs %d replicas for %g of %g each", p, n, r.Value, r.one(p))
			}
			if r.Reached(p) != (r.replicas(p) > 0 && r.Share(r.Most(p)) >= 1) {
				t.Fatalf("%v: %g of %g is a share of %g", p, r.Most(p), r.Value, r.Share(r.Most(p)))
			}
		}
	})
}

// TestClaimsAskTheSameRuns holds that what combinations reach doesn't depend on the
// claim, that an answer is the same on any number of cores, and that of a larger claim
// no prompt is longer.
func TestClaimsAskTheSameRuns(t *testing.T) {
	small, large := answered(t, "3000 tok/s/gpu", few(), short), answered(t, "6000 tok/s/gpu", few(), short)
	if len(small.Points) != 2*2*4*2*3 { // formats, of the cache too, TP, lengths, loads
		t.Fatalf("%d points", len(small.Points))
	}
	for i := range small.Points {
		if fmt.Sprint(small.Points[i]) != fmt.Sprint(large.Points[i]) {
			t.Errorf("%+v, of a larger claim %+v", small.Points[i], large.Points[i])
		}
	}
	for i := range small.Readings {
		if s, l := &small.Readings[i], &large.Readings[i]; s.Possible < l.Possible || s.Possible == 0 || s.Best.Layout != l.Best.Layout {
			t.Errorf("%d, of a larger claim %d", s.Possible, l.Possible)
		}
	}
	o := few()
	o.Jobs = 1
	one := answered(t, "3000 tok/s/gpu", o, short)
	a, errA := one.JSON()
	b, errB := small.JSON()
	if errA != nil || errB != nil || a != b || one.Text() != small.Text() {
		t.Errorf("on one core: %v %v", errA, errB)
	}
}

// Law: nothing is faster than the datasheet of its GPU allows, whatever is claimed.
func TestNothingIsAboveItsCeiling(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates some hundred combinations")
	}
	points := answered(t, "50 tok/s", few(), short).Points
	for _, format := range figures() {
		f, err := Parse(strings.Replace(format, "%f", "50", 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range readings(f, 0) {
			for i := range points {
				if p := &points[i]; p.Reason == "" && r.better(r.Most(p), r.Ceiling(p)) {
					t.Errorf("%s %s: %v reaches %g, at the rates of the datasheet %g", format, r.Name, *p, r.Most(p), r.Ceiling(p))
				}
			}
		}
	}
}

// TestOneUserByHand: one user at a time gets an answer of n tokens in TTFT and n - 1
// times TPOT, and throughput is n tokens, or the prompt's, over that.
func TestOneUserByHand(t *testing.T) {
	a := answered(t, "70 tok/s/user", Options{Lengths: []Lengths{{1000, 50}}, Users: []int64{1}, Jobs: 1}, "tp=1", "dtype=bf16", "kv_cache_dtype=bf16")
	if len(a.Points) != 1 {
		t.Fatalf("%d points", len(a.Points))
	}
	p := &a.Points[0]
	e2e := p.TTFT.P50 + 49*p.TPOT.P50
	near := func(what string, got, want float64) {
		if math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	near("E2E", p.E2E.P50, e2e)
	near("output", p.OutputPerS, 50/e2e*1000)
	near("input", p.InputPerS, 1000/e2e*1000)
	near("requests", p.RequestsPerS, 1/e2e*1000)
	near("speed", a.Readings[0].Most(p), 1000/p.TPOT.P50)
	// 16 GB of weights at 3.35 TB/s are 4.8 ms, the least that a token can take.
	if p.Roof.TPOT < 4.5 || p.Roof.TPOT > 5.2 || p.Roof.TPOTBound != "memory" || p.Roof.TTFTBound != "compute" {
		t.Errorf("%+v", p.Roof)
	}
}

// TestRowsAreTheFewest holds which combination stands for the others.
func TestRowsAreTheFewest(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates some hundred combinations")
	}
	for _, text := range []string{"9000 output tok/s", "TTFT 60 ms", "80000 output tok/s/gpu"} {
		a := answered(t, text, few(), short)
		for i := range a.Readings {
			v := &a.Readings[i]
			for _, row := range v.Rows {
				for k := range a.Points {
					p := &a.Points[k]
					if p.Reason != "" || p.Lengths != row.Lengths || p.Weights != row.Weights {
						continue
					}
					switch kept := v.Reached(row); {
					case v.Reached(p) && !kept:
						t.Errorf("%s: %v stands for %v", text, row, p)
					case v.Reached(p) && v.deployment() && v.Needs(p)*p.TP < v.Needs(row)*row.TP:
						t.Errorf("%s: %v with fewer GPUs than %v", text, p, row)
					case v.Reached(p) && v.Quantity == TTFT && load(p) > load(row):
						t.Errorf("%s: %v with more users than %v", text, p, row)
					case !kept && v.better(v.Most(p), v.Most(row)):
						t.Errorf("%s: %v is nearer than %v", text, p, row)
					}
				}
			}
			if len(v.Rows) != 4 {
				t.Errorf("%s: %d rows", text, len(v.Rows))
			}
		}
	}
}

// TestNumberOfGPUs holds that a claim holds on the fewest GPUs that it is said to take,
// and not on fewer.
func TestNumberOfGPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates some hundred combinations")
	}
	o := few()
	a := answered(t, "60000 output tok/s", o, short)
	v := &a.Readings[0]
	fewest := int64(math.MaxInt64)
	for i := range a.Points {
		if p := &a.Points[i]; v.Reached(p) {
			fewest = min(fewest, v.Needs(p)*p.TP)
		}
	}
	if fewest < 2 || fewest > ServerGPUs || !strings.Contains(strings.Join(strings.Fields(a.Text()), " "), fmt.Sprintf("It takes %d GPUs at least", fewest)) {
		t.Fatalf("it takes %d GPUs\n%s", fewest, a.Text())
	}
	for n, want := range map[int64]bool{fewest: true, fewest - 1: false} {
		o.GPUs = n
		if got := answered(t, "60000 output tok/s", o, short).Readings[0].Possible > 0; got != want {
			t.Errorf("on %d GPUs: %v", n, got)
		}
	}
}

// TestQuestionsFollowFromWhatDecides holds that nothing is asked that is given, or that
// changes nothing.
func TestQuestionsFollowFromWhatDecides(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates some hundred combinations")
	}
	about := func(a *Answer) (list []string) {
		for _, q := range a.Questions {
			list = append(list, q.About)
		}
		return list
	}
	o := few()
	o.GPUs = 1
	all := about(answered(t, "12000 tok/s", few(), short))
	for _, what := range []string{"meaning", "lengths", "load", "precision", "GPUs", "features"} {
		if !slices.Contains(all, what) {
			t.Errorf("%s isn't asked of %v", what, all)
		}
	}
	o.Lengths = o.Lengths[:1]
	if got := about(answered(t, "12000 output tok/s", o, "tp=1", "dtype=fp8", "kv_cache_dtype=fp8")); fmt.Sprint(got) != "[load features]" {
		t.Errorf("%v is asked of what is given", got)
	}
	q := answered(t, "12000 tok/s", few(), short).Questions
	for i := range q[:len(q)-2] {
		if q[i].Decides < q[i+1].Decides {
			t.Errorf("%+v comes before %+v", q[i], q[i+1])
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, claim string
		sets        []string
		edit        func(*Options)
		want        string
	}{
		{"lengths of nothing", "5 tok/s", nil, func(o *Options) { o.Lengths = []Lengths{{0, 5}} }, "lengths: found 0/5"},
		{"lengths twice", "5 tok/s", nil, func(o *Options) { o.Lengths = []Lengths{{5, 5}, {5, 5}} }, "5/5 is given twice"},
		{"negative users", "5 tok/s", nil, func(o *Options) { o.Users = []int64{-1} }, "users: found -1"},
		{"users twice", "5 tok/s", nil, func(o *Options) { o.Users = []int64{0, 0} }, "offline is given twice"},
		{"many lengths", "5 tok/s", nil, func(o *Options) {
			o.Lengths = nil
			for i := range int64(60) {
				o.Lengths = append(o.Lengths, Lengths{1 + i, 5})
			}
		}, "found 60 lengths"},
		{"negative GPUs", "5 tok/s", nil, func(o *Options) { o.GPUs = -1 }, "GPUs: found -1"},
		{"GPUs of a latency", "TTFT 5 ms", nil, func(o *Options) { o.GPUs = 4 }, "changes nothing: TTFT 5.000 ms"},
		{"fewer GPUs than a replica", "5 tok/s", []string{"tp=4"}, func(o *Options) { o.GPUs = 2 }, "fewer than every replica"},
		{"a workload", "5 tok/s", []string{"prompt.value=7"}, nil, "prompt.value=7: changes nothing"},
		{"limits", "5 tok/s", []string{"goodput=ttft:500"}, nil, "goodput=ttft:500: changes nothing"},
		{"half a GPU", "5 tok/s", []string{"tp=0.5"}, nil, "--tp 0.5"},
		{"TP of three", "5 tok/s", []string{"tp=3"}, nil, "--set tp=3: hardware.tensor_parallel_size: tensor_parallel_size is 3"},
		{"an unknown format", "5 tok/s", []string{"dtype=fp5"}, nil, `"fp5"`},
		{"what fits nowhere", "5 tok/s", []string{"tp=1", "dtype=bf16", "memory.activations_bytes=90000000000"}, nil, "does not fit on one h100"},
		{"lengths that max_model_len forbids", "5 tok/s", []string{"max_model_len=64"}, nil, "64 tokens are fewer than the 192 of prompt and answer"},
	} {
		o := few()
		if c.edit != nil {
			c.edit(&o)
		}
		f, err := Parse(c.claim)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Find(context.Background(), source(t, c.sets...), f, o)
		var usage *scenario.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Find(ctx, source(t), Figure{Quantity: Tokens, Value: 1, Scope: GPU}, few()); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
