package gpu

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
)

// mustSetup returns a setup of what ships.
func mustSetup(tb testing.TB, profile, model string, tp int, weights, kv Format, engine string) Setup {
	tb.Helper()
	p, err := LoadProfile(profile)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := LoadModel(model)
	if err != nil {
		tb.Fatal(err)
	}
	return Setup{Profile: p, Model: m, TP: tp, Weights: weights, KV: kv, Engine: engine}
}

func mustCost(tb testing.TB, s Setup) *StepTime {
	tb.Helper()
	c, err := NewCost(s)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// roundSetup returns a setup of testdata/round.toml.
func roundSetup(tb testing.TB, model string, tp int, weights, kv Format, engine string) Setup {
	tb.Helper()
	p, err := LoadProfile("testdata/round.toml")
	if err != nil {
		tb.Fatal(err)
	}
	s := mustSetup(tb, "h100", model, tp, weights, kv, engine)
	s.Profile = p
	return s
}

// testRows returns the rows of a table in testdata, without comments and heads.
func testRows(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// The table testdata/steps.csv was made by an independent implementation. What
// is left between the two is the rounding of the cost of a context token: at most
// slopeError of that part, or half a hop.
func TestStepEqualsPrototype(t *testing.T) {
	costs := map[string]*StepTime{}
	for _, row := range testRows(t, "steps.csv") {
		n := make([]int64, 0, 7)
		for _, cell := range append([]string{row[1]}, row[5:11]...) {
			v, err := strconv.ParseInt(cell, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			n = append(n, v)
		}
		want, err := strconv.ParseFloat(row[11], 64)
		if err != nil {
			t.Fatal(err)
		}
		key := strings.Join(row[:5], " ")
		if costs[key] == nil {
			costs[key] = mustCost(t, roundSetup(t, row[0], int(n[0]), Format(row[2]), Format(row[3]), row[4]))
		}
		c := costs[key]
		w := Work{PrefillTokens: n[1], PrefillPairs: n[2], PrefillSeqs: n[3], DecodeSeqs: n[4], DecodeKV: n[5], Samples: n[6]}
		got := c.Step(w).Seconds() * 1e6
		context := float64(c.full.at(w.DecodeKV)+c.windowed.at(w.DecodeKV)) * 1e-6
		rounding := max(slopeError*context, 2*hop/2*1e-6)
		if math.Abs(got-want) > 1e-6*want+rounding {
			t.Errorf("%s: %+v takes %.6f us, the prototype says %.6f", key, w, got, want)
		}
	}
}

// The cost of a context token, hops included, is right to slopeError for
// everything that ships.
func TestSlopeKeepsItsPromise(t *testing.T) {
	forEachShipped(t, func(s Setup, c *StepTime) {
		perToken := s.perToken(t)
		for _, tokens := range []int64{1 << 22, 1 << 26, 1 << 30} {
			got := float64(c.full.at(tokens)) / 1e12
			want := perToken * c.fullLayers * float64(tokens)
			if e := math.Abs(got/want - 1); e > max(slopeError, hop/2/1e12/want)*(1+1e-6) {
				t.Errorf("%s %s tp%d: %d tokens are off by %.2g", s.Profile.Name, s.Model.Name, s.TP, tokens, e)
			}
		}
	})
}

// perToken returns the unrounded seconds of a context token in one layer.
func (s Setup) perToken(t *testing.T) float64 {
	c, err := s.Profile.coefficients(s)
	if err != nil {
		t.Fatal(err)
	}
	stage, l, err := s.layout()
	if err != nil {
		t.Fatal(err)
	}
	s.Model = stage
	return s.contextSeconds(l, c)
}

// forEachShipped visits every setup of shipped profiles and models that the
// profiles have coefficients for, and fails if there are fewer than expected.
func forEachShipped(t *testing.T, visit func(Setup, *StepTime)) {
	t.Helper()
	n := 0
	for _, profile := range ProfileNames() {
		for _, model := range ModelNames() {
			base := mustSetup(t, profile, model, 1, BF16, BF16, "")
			for _, engine := range []string{"vllm", "trtllm", "generic"} {
				for _, tp := range tensorParallel() {
					for _, kv := range []Format{BF16, FP8} {
						for _, weights := range []Format{BF16, FP8, FP4, MXFP4} {
							s := base
							s.TP, s.Weights, s.KV, s.Engine, s.Async = int(tp), weights, kv, engine, n%2 == 1
							c, err := NewCost(s)
							if err != nil {
								continue
							}
							n++
							visit(s, c)
						}
					}
				}
			}
		}
	}
	if n < 1000 {
		t.Fatalf("only %d setups of what ships work", n)
	}
}

// aCost draws a shipped setup with host times of all kinds.
func aCost(t *rapid.T) *StepTime {
	for {
		p, err := LoadProfile(rapid.SampledFrom(ProfileNames()).Draw(t, "profile"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := LoadModel(rapid.SampledFrom(ModelNames()).Draw(t, "model"))
		if err != nil {
			t.Fatal(err)
		}
		s := Setup{
			Profile: p, Model: m,
			TP:      int(rapid.SampledFrom(tensorParallel()).Draw(t, "tp")),
			Weights: rapid.SampledFrom([]Format{BF16, FP8, FP4, MXFP4}).Draw(t, "weights"),
			KV:      rapid.SampledFrom([]Format{BF16, FP8}).Draw(t, "kv"),
			Engine:  rapid.SampledFrom(sortedKeys(p.Engine)).Draw(t, "engine"),
			Async:   rapid.Bool().Draw(t, "async"),
		}
		duration := rapid.Custom(func(t *rapid.T) *sim.Duration {
			if rapid.Bool().Draw(t, "default") {
				return nil
			}
			d := sim.Duration(rapid.Int64Range(0, int64(maxHost)/50).Draw(t, "ps"))
			return &d
		})
		s.Host = Host{Base: duration.Draw(t, "base"), PerSeq: duration.Draw(t, "per seq"),
			PerPromptToken: duration.Draw(t, "per token"), MixedStep: duration.Draw(t, "mixed")}
		if rapid.Bool().Draw(t, "split") {
			s = aSplit(t, s)
		}
		if c, err := NewCost(s); err == nil {
			return c
		}
	}
}

// aWork draws work, small and huge.
func aWork(t *rapid.T) Work {
	small := rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, 1024))
	tokens := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 100), rapid.Int64Range(0, 1<<17))
	w := Work{
		PrefillTokens: tokens.Draw(t, "prefill tokens"), PrefillSeqs: small.Draw(t, "prefill seqs"),
		DecodeSeqs: small.Draw(t, "decode seqs"), Samples: small.Draw(t, "samples"),
		PrefillPairs: rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, 1<<36)).Draw(t, "pairs"),
		DecodeKV:     rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, 1<<30)).Draw(t, "kv"),
	}
	return w
}

// Law: a step takes time, and never less when any field of its work grows.
func TestStepNeverShrinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := aCost(t)
		for range 20 {
			w := aWork(t)
			before := c.Step(w)
			if before <= 0 {
				t.Fatalf("%+v takes %v", w, before)
			}
			more := w
			grow := rapid.OneOf(rapid.Int64Range(1, 2), rapid.Int64Range(1, 1<<16)).Draw(t, "grow")
			field := rapid.SampledFrom([]*int64{&more.PrefillTokens, &more.PrefillSeqs, &more.PrefillPairs,
				&more.DecodeSeqs, &more.DecodeKV, &more.Samples}).Draw(t, "field")
			*field += grow
			if after := c.Step(more); after < before {
				t.Fatalf("%+v takes %v, but %+v takes %v", w, before, more, after)
			}
		}
	})
}

// Law: what Decode says for a stretch is, step for step, what Step says.
func TestDecodeEqualsSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := aCost(t)
		seqs := rapid.OneOf(rapid.Int64Range(1, 4), rapid.Int64Range(1, 1024), rapid.Just(int64(cachedSeqs+1))).Draw(t, "seqs")
		kv := rapid.OneOf(rapid.Int64Range(1, 300), rapid.Int64Range(1, 1<<28)).Draw(t, "kv")
		for range 10 {
			p := c.Decode(seqs, kv)
			if p.Steps < 1 || p.Inc < 0 {
				t.Fatalf("Decode(%d, %d) = %+v", seqs, kv, p)
			}
			probes := []int64{0, 1, 2, p.Steps / 2, p.Steps - 2, p.Steps - 1,
				rapid.Int64Range(0, p.Steps-1).Draw(t, "i")}
			for _, i := range probes {
				if i < 0 || i >= p.Steps || i > 1<<20 {
					continue
				}
				got := p.First + p.Inc*sim.Duration(i)
				want := c.Step(Work{DecodeSeqs: seqs, DecodeKV: kv + i*seqs, Samples: seqs})
				if got != want {
					t.Fatalf("step %d of Decode(%d, %d) = %+v takes %v, Step says %v", i, seqs, kv, p, got, want)
				}
			}
			kv += seqs * min(p.Steps, 1<<20)
		}
	})
}

// Law: the answer does not depend on what was asked before.
func TestStepTimeIsPure(t *testing.T) {
	s := mustSetup(t, "b200", "Qwen3-32B", 2, FP8, FP8, "trtllm")
	asked, fresh := mustCost(t, s), mustCost(t, s)
	for seqs := int64(300); seqs > 0; seqs -= 7 {
		asked.Decode(seqs, 1000*seqs)
	}
	for seqs := int64(1); seqs < 300; seqs++ {
		if a, b := asked.Decode(seqs, 77*seqs), fresh.Decode(seqs, 77*seqs); a != b {
			t.Fatalf("Decode(%d) = %+v after other questions, %+v before", seqs, a, b)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, bench := range []struct {
		name string
		s    Setup
	}{
		{"model=8B/tp=1", mustSetup(b, "h100", "Llama-3.1-8B", 1, BF16, BF16, "vllm")},
		{"model=8B/tp=8/hops", mustSetup(b, "b200", "Llama-3.1-8B", 8, FP8, FP8, "vllm")},
		{"model=gpt-oss-20b/tp=8", mustSetup(b, "b200", "gpt-oss-20b", 8, MXFP4, FP8, "vllm")},
	} {
		b.Run(bench.name, func(b *testing.B) {
			c := mustCost(b, bench.s)
			b.ReportAllocs()
			i := int64(0)
			for b.Loop() {
				i++
				c.Decode(1+i&255, 1000*(1+i&255)+i)
			}
		})
	}
}

func BenchmarkMixedStep(b *testing.B) {
	c := mustCost(b, mustSetup(b, "h100", "Llama-3.3-70B", 8, FP8, FP8, "vllm"))
	b.ReportAllocs()
	w := Work{PrefillTokens: 512, PrefillSeqs: 1, PrefillPairs: 512 * 513 / 2, DecodeSeqs: 64, DecodeKV: 65536, Samples: 65}
	for b.Loop() {
		w.DecodeKV++
		c.Step(w)
	}
}
