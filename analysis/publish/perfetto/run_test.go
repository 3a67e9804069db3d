package perfetto_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"servesim/analysis/publish/perfetto"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
)

// failer is what tests and laws have in common.
type failer interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// A record is a run that was kept.
type record struct {
	header   observe.Header
	steps    []observe.StepRun
	requests []observe.Request
	all      []any // in order
}

// Step implements observe.Sink.
func (r *record) Step(s *observe.StepRun) error {
	c := *s
	c.Chunks, c.Gaps = slices.Clone(s.Chunks), slices.Clone(s.Gaps)
	r.steps, r.all = append(r.steps, c), append(r.all, &c)
	return nil
}

// Request implements observe.Sink.
func (r *record) Request(q *observe.Request) error {
	c := *q
	c.Made, c.Lost = slices.Clone(q.Made), slices.Clone(q.Lost)
	r.requests, r.all = append(r.requests, c), append(r.all, &c)
	return nil
}

// replay gives the records to a sink.
func (r *record) replay(t failer, to observe.Sink) {
	if err := r.give(to); err != nil {
		t.Fatal(err)
	}
}

// simulated returns the default scenario's run with some keys set, and its limits.
func simulated(t failer, settings ...string) (*record, perfetto.Run) {
	var src scenario.Source
	for _, text := range settings {
		s, err := scenario.ParseSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		src.Settings = append(src.Settings, s)
	}
	p, err := scenario.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	in, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	r := &record{header: p.Header()}
	c := p.Engine(in.Source, r)
	c.Detail = true
	if err := engine.Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	return r, perfetto.Run{Header: r.header, SLO: p.SLO}
}

// drawnSettings draws settings under which requests end in every way, are preempted,
// and share steps with prompts under several policies.
func drawnSettings(t *rapid.T) []string {
	maybe := func(what string, settings ...string) []string {
		if rapid.Bool().Draw(t, what) {
			return settings
		}
		return nil
	}
	list := []string{
		fmt.Sprintf("seed=%d", rapid.IntRange(0, 1000).Draw(t, "seed")),
		fmt.Sprintf("requests=%d", rapid.IntRange(1, 60).Draw(t, "requests")),
		fmt.Sprintf("rate_per_s=%d", rapid.SampledFrom([]int{1, 20, 200}).Draw(t, "rate")),
		"policy=" + rapid.SampledFrom([]string{"vllm@0.20", "vllm@0.11", "vllm@0.8-v0"}).Draw(t, "policy"),
		fmt.Sprintf("output={dist=\"uniform\", min=1, max=%d}", rapid.SampledFrom([]int{1, 3, 80}).Draw(t, "longest answer")),
		"prompt={dist=\"uniform\", min=1, max=3000}", "max_model_len=4096", "classes=[]",
	}
	list = append(list, maybe("few blocks", fmt.Sprintf("num_gpu_blocks_override=%d", rapid.IntRange(300, 900).Draw(t, "blocks")))...)
	list = append(list, maybe("chunked", fmt.Sprintf("max_num_batched_tokens=%d", rapid.SampledFrom([]int{512, 2048}).Draw(t, "budget")), "enable_chunked_prefill=true")...)
	list = append(list, maybe("timeout", "timeout=\"400ms\"")...)
	list = append(list, maybe("cancellations", "workload.cancel={fraction=0.3, after={dist=\"exponential\", mean=\"200ms\"}}")...)
	list = append(list, maybe("replicas", "pool.replicas=2")...)
	list = append(list, maybe("horizon", "horizon=\"2s\"")...)
	return list
}

// choice reads a choice.
func choice(t failer, text string) perfetto.Choice {
	c, err := perfetto.ParseChoice(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// traced returns what is written of a run under a choice, read back.
func traced(t failer, r *record, of perfetto.Run, text string) (*trace, perfetto.Told, []byte) {
	c := choice(t, text)
	plan := c.Plan()
	if c.Twice() {
		s := perfetto.NewScout(c, &of.SLO)
		r.replay(t, s)
		plan = s.Plan()
	}
	var file bytes.Buffer
	w := perfetto.New(&file, of, plan)
	r.replay(t, w)
	told, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := validate(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return tr, told, file.Bytes()
}

// ns is an instant as a trace has it.
func ns(t sim.Time) uint64 { return uint64(t) / 1000 }
