package publish

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/observe"
)

// A metricFamily is what parseMetrics read of one.
type metricFamily struct {
	kind   string
	series map[string][]metricPoint // by name and labels, in the order of lines
}

// metricPoint is a sample.
type metricPoint struct{ value, at float64 }

// parseMetrics reads OpenMetrics text as its specification 1.0 has it, and nothing
// that it hasn't: each family after its TYPE and all its samples together, names
// with the suffixes of the type, labels quoted and escaped, each set of them once,
// timestamps of a metric that never go back, and "# EOF" with a line's end at the
// end.
func parseMetrics(text string) (map[string]*metricFamily, error) {
	body, found := strings.CutSuffix(text, "# EOF\n")
	if !found {
		return nil, fmt.Errorf("it doesn't end with # EOF and a line's end")
	}
	families := map[string]*metricFamily{}
	now, current, begun := "", "", map[string]bool{} // the family, its metric and those so far
	for n, line := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("line %d, %q: "+format, append([]any{n + 1, line}, args...)...)
		}
		if rest, is := strings.CutPrefix(line, "# "); is {
			f := strings.SplitN(rest, " ", 3)
			if len(f) != 3 || f[0] != "HELP" && f[0] != "TYPE" {
				return nil, fail("neither HELP nor TYPE")
			}
			if f[1] != now && families[f[1]] != nil {
				return nil, fail("the family is here again")
			}
			if families[f[1]] == nil {
				families[f[1]] = &metricFamily{series: map[string][]metricPoint{}}
			}
			now, current, begun = f[1], "", map[string]bool{}
			if f[0] == "TYPE" {
				families[now].kind = f[2]
			}
			continue
		}
		name, labels, p, err := parseSample(line)
		if err != nil {
			return nil, fail("%w", err)
		}
		fam := families[now]
		if fam == nil || fam.kind == "" || !suffixed(fam.kind, now, name) {
			return nil, fail("a sample of no family, or with a name that its type doesn't have")
		}
		metric := withoutEdge(labels)
		if metric != current && begun[metric] {
			return nil, fail("the samples of a metric are interrupted")
		}
		current, begun[metric] = metric, true
		key := name + labels
		if s := fam.series[key]; len(s) > 0 && s[len(s)-1].at >= p.at {
			return nil, fail("its timestamp isn't after the one before")
		}
		if p.value < 0 || p.value != math.Trunc(p.value) && (fam.kind == "counter" || strings.HasSuffix(name, "_bucket") || strings.HasSuffix(name, "_count")) {
			return nil, fail("a count below 0 or broken")
		}
		if s := fam.series[key]; fam.kind != "gauge" && len(s) > 0 && s[len(s)-1].value > p.value {
			return nil, fail("a counter goes back")
		}
		fam.series[key] = append(fam.series[key], p)
	}
	return families, nil
}

// suffixed tells whether a sample of a family of some kind may have a name.
func suffixed(kind, family, name string) bool {
	suffix, is := strings.CutPrefix(name, family)
	switch kind {
	case "gauge":
		return is && suffix == ""
	case "counter":
		return suffix == "_total" && !strings.HasSuffix(family, "_total")
	case "histogram":
		return suffix == "_bucket" || suffix == "_count" || suffix == "_sum"
	}
	return false
}

// withoutEdge returns labels without le.
func withoutEdge(labels string) string {
	at := strings.Index(labels, `,le="`)
	if at < 0 {
		return labels
	}
	end := at + 5 + strings.IndexByte(labels[at+5:], '"')
	return labels[:at] + labels[end+1:]
}

// parseSample reads a line of a sample.
func parseSample(line string) (name, labels string, p metricPoint, err error) {
	at := strings.IndexByte(line, '{')
	if at < 1 || strings.Trim(line[:at], "abcdefghijklmnopqrstuvwxyz_:0123456789") != "" {
		return "", "", p, fmt.Errorf("no name before {")
	}
	name, rest := line[:at], line[at+1:]
	var keys []string
	labels = "{"
	for {
		k, after, ok := strings.Cut(rest, `="`)
		if !ok || k == "" || strings.Trim(k, "abcdefghijklmnopqrstuvwxyz_") != "" {
			return "", "", p, fmt.Errorf("no label in %q", rest)
		}
		end := 0
		for end < len(after) && after[end] != '"' {
			if after[end] == '\\' {
				if end+1 >= len(after) || !strings.ContainsRune(`\"n`, rune(after[end+1])) {
					return "", "", p, fmt.Errorf("an escape that isn't one")
				}
				end++
			}
			end++
		}
		if end >= len(after)-1 {
			return "", "", p, fmt.Errorf("no end of a label")
		}
		for _, have := range keys {
			if have >= k {
				return "", "", p, fmt.Errorf("labels out of order or twice")
			}
		}
		keys = append(keys, k)
		labels += "," + k + `="` + after[:end] + `"`
		rest = after[end+1:]
		if rest[0] == '}' {
			break
		}
		if rest[0] != ',' {
			return "", "", p, fmt.Errorf("no comma after a label")
		}
		rest = rest[1:]
	}
	f := strings.Split(rest[1:], " ")
	if len(f) != 3 || f[0] != "" {
		return "", "", p, fmt.Errorf("not a value and a timestamp after a space each")
	}
	if p.value, err = strconv.ParseFloat(f[1], 64); err != nil {
		return "", "", p, err
	}
	p.at, err = strconv.ParseFloat(f[2], 64)
	return name, labels, p, err
}

// drawn is a run of records: requests one after another, each in a step of its own
// and some decode steps.
func drawn(t *rapid.T, name string) (records []any, completed, tokens int64) {
	now := sim.Time(0)
	serial := int64(0)
	step := func(s observe.StepRun) {
		s.Serial, s.Start = serial, now
		serial += s.Steps
		now = now.Add(s.Duration())
		records = append(records, s)
	}
	for id := range rapid.Int64Range(0, 8).Draw(t, "requests") {
		now += sim.Time(rapid.Int64Range(0, int64(3*sim.Second)).Draw(t, "idle"))
		r := observe.Request{
			ID: id, Name: name, Class: name, Reason: name, Arrival: now, Sent: now, Queued: now, Scheduled: now, Wanted: rapid.Int32Range(1, 20).Draw(t, "output"),
			Prompt: rapid.Int32Range(1, 5000).Draw(t, "prompt"), Outcome: rapid.SampledFrom(observe.Outcomes()).Draw(t, "outcome"),
		}
		step(observe.StepRun{Steps: 1, First: sim.Duration(rapid.Int64Range(1, int64(sim.Second)).Draw(t, "prefill")), Chunks: []observe.Chunk{{ID: id, Tokens: r.Prompt}}, Running: 1})
		r.First, r.Last, r.Output = now, now, 1
		if n := int64(r.Wanted - 1); n > 0 {
			first, inc := sim.Duration(rapid.Int64Range(1, int64(sim.Second)).Draw(t, "decode")), sim.Duration(rapid.Int64Range(0, 1000).Draw(t, "more"))
			step(observe.StepRun{Steps: n, First: first, Inc: inc, Base: first, Decodes: 1, Gaps: []observe.Gaps{{Seqs: 1, Steps: n, First: first, Inc: inc}}, Running: 1, BlocksUsed: 3})
			r.Last, r.Output = now, r.Wanted
		}
		r.End, r.Made = now, []observe.Span{{Step: serial - int64(r.Output), Steps: int64(r.Output)}}
		tokens += int64(r.Output)
		if r.Outcome == observe.Completed {
			completed++
		}
		records = append(records, r)
	}
	return records, completed, tokens
}

// Law: the text is OpenMetrics, its counters end at what the records sum to, and
// each histogram's buckets rise to its count.
func TestOpenMetricsCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records, completed, tokens := drawn(t, "x")
		run := testRun("m")
		run.Interval = sim.Duration(rapid.Int64Range(int64(100*sim.Millisecond), int64(10*sim.Second)).Draw(t, "interval"))
		families, err := parseMetrics(written(t, "openmetrics", run, records)[0])
		if err != nil {
			t.Fatal(err)
		}
		last := func(family, key string) float64 {
			s := families[family].series[key]
			return s[len(s)-1].value
		}
		labels := `{,engine="0",model_name="m"`
		for family, want := range map[string]int64{"vllm:generation_tokens": tokens, "vllm:num_preemptions": 0} {
			if got := last(family, family+"_total"+labels); got != float64(want) {
				t.Fatalf("%s: %v, want %d", family, got, want)
			}
		}
		if got := last("vllm:request_success", `vllm:request_success_total{,engine="0",finished_reason="length",model_name="m"`); got != float64(completed) {
			t.Fatalf("%v requests ended, want %d", got, completed)
		}
		for name, f := range families {
			if f.kind != "histogram" {
				continue
			}
			count := f.series[name+"_count"+labels]
			top := f.series[name+`_bucket{,engine="0",le="+Inf",model_name="m"`]
			for k := range count {
				if count[k] != top[k] {
					t.Fatalf("%s: the last bucket has %v of %v", name, top[k], count[k])
				}
			}
		}
		if got := last("vllm:e2e_request_latency_seconds", "vllm:e2e_request_latency_seconds_count"+labels); got != float64(completed) {
			t.Fatalf("%v latencies of %d requests", got, completed)
		}
	})
}

// TestBucketsAreVLLMs holds the edges of a few of vLLM's histograms as its endpoint
// spells them.
func TestBucketsAreVLLMs(t *testing.T) {
	s := newServer(1_100_000)
	for h, want := range map[*histogram]string{
		s.firstToken: "0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1.0 2.5 5.0 7.5 10.0 20.0 40.0 80.0 160.0 640.0 2560.0",
		s.perToken:   "0.01 0.025 0.05 0.075 0.1 0.15 0.2 0.3 0.4 0.5 0.75 1.0 2.5 5.0 7.5 10.0 20.0 40.0 80.0",
		s.e2e:        "0.3 0.5 0.8 1.0 1.5 2.0 2.5 5.0 10.0 15.0 20.0 30.0 40.0 50.0 60.0 120.0 240.0 480.0 960.0 1920.0 7680.0",
		s.iteration:  "1.0 8.0 16.0 32.0 64.0 128.0 256.0 512.0 1024.0 2048.0 4096.0 8192.0 16384.0",
		s.prompt:     "1.0 2.0 5.0 10.0 20.0 50.0 100.0 200.0 500.0 1000.0 2000.0 5000.0 10000.0 20000.0 50000.0 100000.0 200000.0 500000.0 1e+06",
	} {
		if got := strings.Join(h.text, " "); got != want {
			t.Errorf("%s: %s, want %s", h.name, got, want)
		}
	}
	s.e2e.add(0, int64(300*sim.Millisecond), 2) // an edge is within its bucket
	s.e2e.add(0, int64(300*sim.Millisecond)+1, 1)
	if row := s.e2e.rows[0]; row[0] != 2 || row[1] != 1 || string(s.e2e.sum(nil, row)) != "0.900000000001" {
		t.Errorf("%v", row)
	}
}
