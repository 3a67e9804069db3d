package dialect

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/analysis"
	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// drawCalls draws calls with all kinds of chunks, whose instants are multiples of
// unit picoseconds.
func drawCalls(t *rapid.T, unit int64) []transcript.Call {
	at := func(most int64, what string) sim.Time {
		return sim.Time(unit * rapid.Int64Range(0, most).Draw(t, what))
	}
	var calls []transcript.Call
	for id := range rapid.Int64Range(1, 8).Draw(t, "calls") {
		c := transcript.Call{ID: id, Scheduled: at(1000, "scheduled"), Prompt: rapid.Int32Range(0, 50).Draw(t, "prompt")}
		c.Sent = c.Scheduled + at(20, "client's queue")
		c.Response = sim.Duration(at(5, "response"))
		now := c.Sent.Add(c.Response)
		for range rapid.IntRange(0, 8).Draw(t, "chunks") {
			now += at(30, "gap")
			k := transcript.Chunk{At: now, Kind: rapid.SampledFrom([]transcript.Kind{
				transcript.Content, transcript.Content, transcript.Content, transcript.Role, transcript.Reasoning, transcript.Tool, transcript.Finish,
			}).Draw(t, "kind")}
			if k.Kind == transcript.Content || k.Kind == transcript.Reasoning || k.Kind == transcript.Tool {
				k.Tokens = rapid.Int32Range(0, 5).Draw(t, "tokens")
				c.Output += k.Tokens
			}
			c.Chunks = append(c.Chunks, k)
		}
		c.Closed = now + at(10, "tail")
		c.Wanted = c.Output + rapid.Int32Range(0, 3).Draw(t, "cut short")
		c.Outcome = rapid.SampledFrom([]observe.Outcome{observe.Completed, observe.Completed, observe.Completed, observe.TimedOut}).Draw(t, "outcome")
		calls = append(calls, c)
	}
	return calls
}

// slower is c with every instant and span k times as long.
func slower(c transcript.Call, k int64) *transcript.Call {
	longer := func(t sim.Time) sim.Time {
		if t == transcript.Never {
			return t
		}
		return t * sim.Time(k)
	}
	c.Scheduled, c.Sent, c.Closed = longer(c.Scheduled), longer(c.Sent), longer(c.Closed)
	c.Response *= sim.Duration(k)
	c.Chunks = append([]transcript.Chunk(nil), c.Chunks...)
	for i := range c.Chunks {
		c.Chunks[i].At = longer(c.Chunks[i].At)
	}
	return &c
}

// resultsOf is what all dialects say of calls with limits k times as long.
func resultsOf(t *rapid.T, calls []transcript.Call, k int64) []Result {
	s := New(All(), Options{
		Facts: transcript.Everything(), Percentiles: analysis.TailPercentiles(),
		Goodput: analysis.Goodput{
			{Objective: analysis.TTFT, Max: 60 * ms * sim.Duration(k)},
			{Objective: analysis.TPOT, Max: 12 * ms * sim.Duration(k)},
			{Objective: analysis.E2EL, Max: 100 * ms * sim.Duration(k)},
		},
	})
	for _, c := range calls {
		if err := s.Call(slower(c, k)); err != nil {
			t.Fatal(err)
		}
	}
	return s.Results()
}

// Law: a run that is k times as slow has spans k times as long, speeds and rates a
// k-th, and the same counts.
func TestSlowerRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const unit, k = int64(sim.Millisecond), 3
		calls := drawCalls(t, unit)
		once, thrice := resultsOf(t, calls, 1), resultsOf(t, calls, k)
		for i := range once {
			a, b := &once[i], &thrice[i]
			name := a.Dialect.Name
			for j := range a.Values {
				v, w := &a.Values[j], &b.Values[j]
				if v.OK != w.OK || v.Count != w.Count || v.Calls != w.Calls || v.Never != w.Never || v.Need != w.Need {
					t.Fatalf("%s %s: %+v, slower %+v", name, v.Metric.Key, v, w)
				}
				near := func(what string, x, y sim.Duration) {
					most := float64(k * sim.Nanosecond) // of what is rounded to that
					if v.Metric.Kind == Speed {
						x, y = y, x
						most = 1e-4 * float64(y) // whose span is rounded: 1 ns of 25 us or more
					}
					if math.Abs(float64(y-k*x)) > most {
						t.Fatalf("%s %s %s: %d, slower %d", name, v.Metric.Key, what, x, y)
					}
				}
				near("mean", v.Mean, w.Mean)
				near("deviation", v.Deviation, w.Deviation)
				for q := range v.Quantiles {
					if v.Quantiles[q].Unbounded != w.Quantiles[q].Unbounded {
						t.Fatalf("%s %s: %+v, slower %+v", name, v.Metric.Key, v.Quantiles[q], w.Quantiles[q])
					}
					near(v.Quantiles[q].P.String(), v.Quantiles[q].Value, w.Quantiles[q].Value)
				}
			}
			for j := range a.Rates {
				v, w := &a.Rates[j], &b.Rates[j]
				want := v.Value / k
				switch v.Rate.Amount {
				case Latency, PeakCalls:
					want = v.Value
				case PeakChunks:
					continue // a second stays one
				}
				if !(math.Abs(w.Value-want) <= 1e-6*math.Abs(want)) && v.Value == v.Value {
					t.Fatalf("%s %s: %v, slower %v", name, v.Rate.Key, v.Value, w.Value)
				}
			}
			if g, h := a.Goodput, b.Goodput; g != nil && (g.Good != h.Good || g.Of != h.Of) {
				t.Fatalf("%s goodput: %+v, slower %+v", name, g, h)
			}
		}
	})
}

// Law: what two dialects measure alike they say alike, each in a sink of its own.
func TestEqualMeasuresAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := drawCalls(t, 997)
		type said struct {
			who string
			v   Value
		}
		seen := map[Measure]said{}
		for _, d := range All() {
			s := New([]*Dialect{d}, Options{Facts: transcript.Everything(), Percentiles: analysis.TailPercentiles()})
			for i := range calls {
				if err := s.Call(&calls[i]); err != nil {
					t.Fatal(err)
				}
			}
			for _, v := range s.Results()[0].Values {
				key := v.Metric.Measure
				a, ok := seen[key]
				if !ok {
					seen[key] = said{d.Name, v}
					continue
				}
				b := v
				a.v.Quantiles, b.Quantiles = nil, nil // by their estimators
				if diff := cmp.Diff(a.v.Distribution, b.Distribution); diff != "" || a.v.Calls != b.Calls {
					t.Fatalf("%s and %s of %s:\n%s", a.who, d.Name, b.Metric.Definition(), diff)
				}
			}
		}
	})
}

// Law: the moments of values are those of the plain formula, in whatever order.
func TestMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m moments
		var values []float64
		for range rapid.IntRange(2, 30).Draw(t, "values") {
			v := rapid.Uint64Range(0, 1<<40).Draw(t, "value")
			n := rapid.Int64Range(1, 4).Draw(t, "times")
			m.add(v, n)
			for range n {
				values = append(values, float64(v))
			}
		}
		mean, squares, n := 0.0, 0.0, float64(len(values))
		for _, v := range values {
			mean += v / n
		}
		for _, v := range values {
			squares += (v - mean) * (v - mean)
		}
		for ddof := range int64(2) {
			want := math.Sqrt(squares / (n - float64(ddof)))
			if got, ok := m.deviation(ddof); !ok || math.Abs(float64(got)-want) > 1+1e-9*want {
				t.Fatalf("deviation with %d is %d, want %v", ddof, got, want)
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) { // a run is its values one by one
		first, inc := rapid.Uint64Range(0, 1<<60).Draw(t, "first"), rapid.Uint64Range(0, 1<<50).Draw(t, "inc")
		n := rapid.Int64Range(1, 300).Draw(t, "n")
		var run, single moments
		run.addRun(first, inc, n)
		for i := range uint64(n) {
			single.add(first+i*inc, 1)
		}
		if run != single {
			t.Fatalf("%+v, one by one %+v", run, single)
		}
	})
	var one moments
	one.add(7, 1)
	if d, ok := one.deviation(0); !ok || d != 0 {
		t.Errorf("one value deviates by %v, %v", d, ok)
	}
	if _, ok := one.deviation(1); ok {
		t.Error("one value has a deviation with one degree of freedom taken away")
	}
	var big moments
	big.add(math.MaxInt64, 1<<40) // as much as squares may sum to
	big.add(0, 1<<40)
	if d, ok := big.deviation(0); !ok || d != sim.Duration(1)<<62 { // (2^63 - 1)/2, to the nearest
		t.Errorf("half of them at 106 days deviate by %d", d)
	}
}

// Law: each dialect's names are its own and can be found, its percentiles can be
// read and everything has a definition.
func TestDialectsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range All() {
		if found, err := Find(d.Name); err != nil || found.Tool != d.Tool || seen[d.Name] {
			t.Errorf("%s is found as %+v, %v", d.Name, found, err)
		}
		seen[d.Name] = true
		if _, err := analysis.ParsePercentiles(d.Percentiles); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		keys := map[string]bool{}
		for i := range d.Metrics {
			m := &d.Metrics[i]
			if keys[m.Key] || m.Label == "" || m.Definition() == "" || m.Unit == "" {
				t.Errorf("%s: metric %+v", d.Name, m)
			}
			keys[m.Key] = true
		}
		for i := range d.Rates {
			r := &d.Rates[i]
			if keys[r.Key] || r.Label == "" || r.Definition() == "" || r.Unit == "" {
				t.Errorf("%s: rate %+v", d.Name, r)
			}
			keys[r.Key] = true
		}
		for _, k := range d.Goodput.Keys {
			measured := false
			for i := range d.Metrics {
				measured = measured || d.Metrics[i].Measure == k.Measure
			}
			if !measured {
				t.Errorf("%s: its limit of %s is on no metric of its own", d.Name, k.Objective)
			}
		}
		if d.Tool == "" || d.Version == "" || d.Failures == "" {
			t.Errorf("%s doesn't say what it is: %+v", d.Name, d)
		}
	}
}

func TestParse(t *testing.T) {
	for list, want := range map[string]int{"vllm": 1, "vllm,llmperf": 2, "LLMPerf vllm": 2, "all": len(All())} {
		if ds, err := Parse(list); err != nil || len(ds) != want {
			t.Errorf("%q is %d dialects, %v; want %d", list, len(ds), err, want)
		}
	}
	for _, list := range []string{"", ",", "vlm", "vllm,vllm", "vllm,all"} {
		if ds, err := Parse(list); err == nil {
			t.Errorf("%q is %d dialects", list, len(ds))
		}
	}
}

// Halves of a nanosecond go to the even one, as in Python, or down, or up.
func TestRoundings(t *testing.T) {
	for _, c := range []struct {
		span         sim.Duration
		over         int64
		up, even, dn int64
	}{
		{1500, 1, 1500, 2000, 1000}, {2500, 1, 2500, 2000, 2000}, {2501, 1, 2501, 3000, 2000},
		{5000, 2, 2500, 2000, 2000}, {7000, 2, 3500, 4000, 3000}, {7, 2, 4, 0, 0}, {700 * sim.Millisecond, 99, 7_070_707_071, 7_070_707_000, 7_070_707_000},
	} {
		q := quotient{c.span, c.over}
		if up, even, dn := q.rounded(ToPicosecond), q.rounded(ToNanosecond), q.rounded(DownToNanosecond); up != c.up || even != c.even || dn != c.dn {
			t.Errorf("%d ps over %d: %d, %d and %d, want %d, %d and %d", int64(c.span), c.over, up, even, dn, c.up, c.even, c.dn)
		}
	}
}

// Of calls scheduled at one instant, the one with the larger number was issued
// last: loadgen's window ends with it.
func TestLastIssued(t *testing.T) {
	long, last := answer(1, 0, 500*ms, 700*ms, 9, 11, 1), answer(2, 0, 500*ms, 300*ms, 9, 11, 1)
	for _, calls := range [][]*transcript.Call{{long, last}, {last, long}} {
		r := measured(t, "mlperf", calls, Options{}, nil)
		if got := number(t, r, "result_completed_samples_per_sec"); got != 1.25 { // (2 - 1) / 0.8 s
			t.Errorf("%v samples/s, want 1.25", got)
		}
	}
}

// A client's tokenizer doesn't see the tokens of reasoning where the tool doesn't
// read it: 11 tokens of which 4 are reasoning are 7 to GenAI-Perf, 11 to AIPerf.
func TestHiddenTokens(t *testing.T) {
	c := answer(1, 0, 500*ms, 1000*ms, 9, 11, 1)
	for i := range 4 {
		c.Chunks[i].Kind = transcript.Reasoning
	}
	// Visible are the tokens after 900, 1000, … 1500 ms.
	check(t, []cell{
		{"genai-perf", []*transcript.Call{c}, nil, "time_to_first_token mean", "900", "%.0f"},
		{"genai-perf", []*transcript.Call{c}, nil, "inter_token_latency mean", "100", "%.0f"},
		{"genai-perf", []*transcript.Call{c}, nil, "output_token_throughput", "4.667", "%.3f"},
		{"aiperf", []*transcript.Call{c}, nil, "time_to_first_token mean", "500", "%.0f"},
		{"aiperf", []*transcript.Call{c}, nil, "output_token_throughput", "7.333", "%.3f"},
	})
}
