package publish

import (
	"bufio"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"servesim/sim"
	"servesim/sim/observe"
)

// openMetrics writes what vLLM's server would have told Prometheus at intervals of
// a run, from instant 0 to the first that is not before its end, as OpenMetrics
// text, which `promtool tsdb create-blocks-from openmetrics` takes in.
//
// It keeps some 3 KB for each interval in which something happens.
type openMetrics struct {
	e       *Export
	out     *bufio.Writer
	servers []*server // by replica
	last    int       // the latest interval
	err     error
}

// maxSamples is the most intervals that a run is cut into.
const maxSamples = 100_000

// unknownLen stands for a max_model_len that isn't known: that of today's models.
const unknownLen = 131_072

// beginOpenMetrics begins the text.
func beginOpenMetrics(e *Export) (err error) {
	if e.run.Interval <= 0 {
		return fmt.Errorf("openmetrics: the interval is %v; it is above 0", e.run.Interval)
	}
	m := &openMetrics{e: e}
	if m.out, err = e.create(""); err != nil {
		return err
	}
	e.Records, e.finish = m, m.finish
	return nil
}

// of returns the number of the first sample that has what happened at t.
func (m *openMetrics) of(t int64) int {
	every := int64(m.e.run.Interval)
	k := t / every
	if t%every > 0 {
		k++
	}
	if k > maxSamples {
		if m.err == nil {
			m.err = fmt.Errorf("openmetrics: a sample every %v is more than %d of them by %v of the run; take a longer interval", m.e.run.Interval, maxSamples, sim.Duration(t))
		}
		k = maxSamples
	}
	m.last = max(m.last, int(k))
	return int(k)
}

// at returns the metrics of a replica.
func (m *openMetrics) at(replica int32) (*server, error) {
	if replica < 0 || replica > 1<<16 {
		return nil, fmt.Errorf("replica %d; replicas are numbered from 0 up", replica)
	}
	for int(replica) >= len(m.servers) {
		m.servers = append(m.servers, newServer(cmp.Or(int64(m.e.run.MaxModelLen), unknownLen)))
	}
	return m.servers[replica], nil
}

// Request implements observe.Sink.
func (m *openMetrics) Request(r *observe.Request) error {
	s, err := m.at(r.Replica)
	if err != nil {
		return err
	}
	s.request(r, m.of)
	return m.err
}

// Step implements observe.Sink.
func (m *openMetrics) Step(r *observe.StepRun) error {
	s, err := m.at(r.Replica)
	if err != nil {
		return err
	}
	s.count(preemptions, m.of(int64(r.Start)), int64(r.Preempted))
	batch := int64(r.Decodes)
	for _, c := range r.Chunks {
		batch += int64(c.Tokens)
	}
	end := r.Start
	for i := range r.Steps {
		end = end.Add(r.First + sim.Duration(i)*r.Inc)
		k := m.of(int64(end))
		s.iteration.add(k, batch, 1)
		for _, g := range r.Gaps {
			if n := i - skipped(r, &g); n >= 0 && n < g.Steps {
				s.perToken.add(k, max(int64(g.First+sim.Duration(n)*g.Inc), 0), int64(g.Seqs))
				s.count(generationTokens, k, int64(g.Seqs))
			}
		}
	}
	// The samples that are taken while these steps run.
	for k := m.of(int64(r.Start)); sim.Time(k)*sim.Time(m.e.run.Interval) < end && m.err == nil; k++ {
		for i, v := range [...]int64{int64(r.Running), int64(r.Waiting), r.BlocksUsed} {
			*at(&s.gauges[i], k) = v
		}
	}
	return m.err
}

// skipped returns the number of steps of r before the one in which the first of the
// gaps g ends: 1 for those of sequences whose gap before, in the first step, was of
// another length.
func skipped(r *observe.StepRun, g *observe.Gaps) int64 {
	if g.Steps == r.Steps-1 && g.First == r.First+r.Inc && g.Inc == r.Inc {
		return 1
	}
	return 0
}

// finish writes the families, each with its samples together.
func (m *openMetrics) finish() error {
	if len(m.servers) == 0 {
		if _, err := m.at(0); err != nil {
			return err
		}
	}
	w := &metricWriter{out: m.out, model: escaped(m.e.run.Model), begin: m.e.run.since, every: m.e.run.Interval, last: m.last}
	w.info(m.e.run, len(m.servers))
	m.writeGauges(w)
	m.writeCounters(w)
	for i, h := range m.servers[0].histograms() {
		w.family(h.name, "histogram", h.help)
		for engine, s := range m.servers {
			w.histogram(engine, s.histograms()[i])
		}
	}
	w.line("# EOF")
	return w.err
}

// writeGauges writes the state of the schedulers.
func (m *openMetrics) writeGauges(w *metricWriter) {
	gauge := func(name, help string, of func(*server, int) string) {
		w.family(name, "gauge", help)
		for engine, s := range m.servers {
			for k := range m.last + 1 {
				w.sample(name, engine, "", of(s, k), k)
			}
		}
	}
	whole := func(i int) func(*server, int) string {
		return func(s *server, k int) string { return strconv.FormatInt(value(s.gauges[i], k), 10) + ".0" }
	}
	gauge("vllm:num_requests_running", "Number of requests in model execution batches.", whole(0))
	gauge("vllm:num_requests_waiting", "Number of requests waiting to be processed.", whole(1))
	if blocks := m.e.run.UsableBlocks; blocks > 0 {
		gauge("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", func(s *server, k int) string {
			return string(appendFloat(nil, float64(value(s.gauges[2], k))/float64(blocks)))
		})
	}
}

// writeCounters writes the counters.
func (m *openMetrics) writeCounters(w *metricWriter) {
	for _, f := range []struct {
		name, help string
		of         []int
		labels     []string
	}{
		{"vllm:num_preemptions", "Cumulative number of preemptions from the engine.", []int{preemptions}, []string{""}},
		{"vllm:prompt_tokens", "Number of prefill tokens processed.", []int{promptTokens}, []string{""}},
		{"vllm:generation_tokens", "Number of generation tokens processed.", []int{generationTokens}, []string{""}},
		{"vllm:request_success", "Count of successfully processed requests.", []int{finishedStop, finishedLength, finishedAbort}, []string{"stop", "length", "abort"}},
	} {
		w.family(f.name, "counter", f.help)
		for engine, s := range m.servers {
			for i, which := range f.of {
				label := f.labels[i]
				if label != "" {
					label = `finished_reason="` + label + `"`
				}
				sum := int64(0)
				for k := range m.last + 1 {
					sum += value(s.counts[which], k)
					w.sample(f.name+"_total", engine, label, strconv.FormatInt(sum, 10)+".0", k)
				}
			}
		}
	}
}

// value returns element k of a list, 0 beyond its end.
func value(list []int64, k int) int64 {
	if k < len(list) {
		return list[k]
	}
	return 0
}

// metricWriter writes lines of OpenMetrics text.
type metricWriter struct {
	out   *bufio.Writer
	model string // as the value of a label
	begin func(sim.Time) (ns, ps int64)
	every sim.Duration
	last  int
	err   error
}

// line writes a line.
func (w *metricWriter) line(parts ...string) {
	for _, p := range append(parts, "\n") {
		if _, err := w.out.WriteString(p); err != nil && w.err == nil {
			w.err = err
		}
	}
}

// family begins a family.
func (w *metricWriter) family(name, kind, help string) {
	w.line("# HELP ", name, " ", help)
	w.line("# TYPE ", name, " ", kind)
}

// sample writes a sample of an engine at interval k. label is one that comes between
// the engine's and the model's.
func (w *metricWriter) sample(name string, engine int, label, value string, k int) {
	if label != "" {
		label += ","
	}
	w.line(name, `{engine="`, strconv.Itoa(engine), `",`, label, `model_name="`, w.model, `"} `, value, " ", w.stamp(k))
}

// stamp writes the instant of sample k in seconds.
func (w *metricWriter) stamp(k int) string {
	ns, ps := w.begin(sim.Time(k) * sim.Time(w.every))
	text := strconv.FormatInt(ns/1e9, 10)
	if part := ns%1e9*1000 + ps; part > 0 {
		text += string(appendTime(nil, sim.Duration(part), inSeconds)[1:])
	}
	return text
}

// info writes how the cache of each engine is set up.
func (w *metricWriter) info(r *Run, engines int) {
	if r.BlockSize == 0 {
		return
	}
	const name = "vllm:cache_config_info"
	w.family(name, "gauge", "Information of the LLMEngine CacheConfig")
	for engine := range engines {
		for k := range w.last + 1 {
			w.line(name, `{block_size="`, strconv.Itoa(int(r.BlockSize)), `",engine="`, strconv.Itoa(engine), `",num_gpu_blocks="`, strconv.FormatInt(r.NumGPUBlocks, 10), `"} 1.0 `, w.stamp(k))
		}
	}
}

// histogram writes a histogram of an engine at all intervals.
func (w *metricWriter) histogram(engine int, h *histogram) {
	sums := make([]int64, len(h.edges)+3)
	for k := range w.last + 1 {
		h.merge(sums, k)
		n := int64(0)
		for i := range len(h.edges) + 1 {
			le := "+Inf"
			if i < len(h.text) {
				le = h.text[i]
			}
			n += sums[i]
			w.sample(h.name+"_bucket", engine, `le="`+le+`"`, strconv.FormatInt(n, 10)+".0", k)
		}
		w.sample(h.name+"_count", engine, "", strconv.FormatInt(n, 10)+".0", k)
		w.sample(h.name+"_sum", engine, "", string(h.sum(nil, sums)), k)
	}
}

// escaped writes the value of a label.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "\uFFFD"))
}
