package gpu

import "servesim/sim"

// Bound is what the datasheet says an operator must wait for longest.
type Bound string

// The bounds.
const (
	ComputeBound Bound = "compute" // FLOP/s of its number format
	MemoryBound  Bound = "memory"  // HBM bytes/s
	LinkBound    Bound = "link"    // NVLink bytes/s, one direction
	Unbound      Bound = ""        // no datasheet figure concerns it
)

// An Operator is what one operator takes of a step, in all layers, on one GPU.
type Operator struct {
	// Name is one of qkv_proj, o_proj, gate_up_proj, down_proj, experts,
	// prefill_attention, decode_attention, all_reduce, elementwise, lm_head and
	// engine. The last is what the engine adds to each layer, less than nothing if
	// it hides what isolated kernels pay.
	Name string
	Time sim.Duration
	// FLOPs is the multiplications and additions, Bytes what must at least be
	// moved: through HBM, or, by an all-reduce, NVLink.
	FLOPs, Bytes float64
	// Limit is the time that the datasheet's rates would take: the larger of that
	// of FLOPs and that of Bytes. Bound tells which.
	Limit sim.Duration
	Bound Bound
}

// Share returns Limit/Time, the share of its roofline that the operator reaches,
// or 0 if no datasheet figure concerns it.
func (o Operator) Share() float64 {
	if o.Time <= 0 {
		return 0
	}
	return float64(o.Limit) / float64(o.Time)
}

// Breakdown returns the operators of a step that does w, in the order in which a
// layer runs them. Their times sum to the GPU time of the step within a few
// picoseconds, the steps of the context's price apart. Host time is not among
// them.
func (t *StepTime) Breakdown(w Work) []Operator {
	m, d := t.setup.Model, t.setup.Profile.Datasheet
	tokens := w.PrefillTokens + w.DecodeSeqs
	b := breakdown{sheet: d}
	names := []string{"qkv_proj", "o_proj", "gate_up_proj", "down_proj"}
	for i, g := range t.layout.gemms(m, t.setup.Weights) {
		g.M = tokens
		flops, bytes := g.work()
		b.add(Operator{Name: names[i], FLOPs: t.layers * flops, Bytes: t.layers * bytes},
			t.layers*t.gemms[i].seconds(float64(tokens)), d.Peak(t.setup.Weights.outsideExperts()))
	}
	if t.experts != nil {
		flops, bytes := t.layout.experts(m, t.setup.Weights).work(tokens, t.experts.activeFor(tokens))
		b.add(Operator{Name: "experts", FLOPs: t.layers * flops, Bytes: t.layers * bytes},
			t.layers*t.experts.seconds(tokens), d.Peak(t.setup.Weights))
	}
	t.addAttention(&b, w)
	if t.layout.tp > 1 {
		bytes := 2 * 2 * float64(m.Hidden) * float64(tokens)
		b.operators = append(b.operators, Operator{
			Name: "all_reduce", Bytes: t.layers * bytes, Bound: LinkBound,
			Time:  picoseconds(t.layers * t.reduce.seconds(float64(tokens))),
			Limit: picoseconds(t.layers * bytes / d.LinkBytesPerS()),
		})
	}
	elementwise := t.layers * t.elementwise * float64(tokens)
	b.add(Operator{Name: "elementwise", Bytes: elementwise * t.setup.Profile.Fitted.Elementwise.BytesPerS}, elementwise, 0)
	rows := max(1, w.Samples)
	flops, bytes := GEMMShape{rows, t.layout.vocab, m.Hidden, BF16.BytesPerWeight()}.work()
	b.add(Operator{Name: "lm_head", FLOPs: flops, Bytes: bytes + float64(4*float64(m.Vocab)*float64(rows))}, t.head.seconds(w.Samples), d.Peak(BF16))
	return append(b.operators, Operator{Name: "engine", Time: picoseconds(t.layers * t.layer)})
}

// addAttention adds prefill and decode attention, where there are any. Their peak
// is that of the cache's format, the most that they can compute at; an engine that
// computes over an fp8 cache in bf16 reaches half of it at best.
func (t *StepTime) addAttention(b *breakdown, w Work) {
	shape := t.layout.attn(t.setup.Model, t.setup.KV)
	peak := b.sheet.Peak(t.setup.KV)
	if w.PrefillTokens > 0 {
		flops, bytes := shape.prefillWork(w.PrefillTokens, w.PrefillPairs)
		seconds := float64(t.fullLayers * t.prefill.seconds(w.PrefillTokens, w.PrefillPairs))
		o := Operator{Name: "prefill_attention", FLOPs: float64(t.fullLayers * flops), Bytes: t.layers * bytes}
		if t.window > 0 {
			pairs := windowPairs(w.PrefillTokens, w.PrefillPairs, t.window)
			flops, _ = shape.prefillWork(w.PrefillTokens, pairs)
			seconds += float64(t.windowLayers * t.windowPre.seconds(w.PrefillTokens, pairs))
			o.FLOPs += float64(t.windowLayers * flops)
		}
		b.add(o, seconds, peak)
	}
	if w.DecodeSeqs > 0 {
		flops, bytes := shape.decodeWork(w.DecodeKV)
		o := Operator{Name: "decode_attention", FLOPs: float64(t.fullLayers * flops), Bytes: float64(t.fullLayers * bytes)}
		slopes := sim.Duration(t.full.at(w.DecodeKV))
		if t.window > 0 {
			kv := min(w.DecodeKV, w.DecodeSeqs*t.window)
			flops, bytes = shape.decodeWork(kv)
			o.FLOPs += float64(t.windowLayers * flops)
			o.Bytes += float64(t.windowLayers * bytes)
			slopes += sim.Duration(t.windowed.at(kv))
		}
		b.add(o, t.layers*t.decode.seconds(w.DecodeSeqs), peak)
		b.operators[len(b.operators)-1].Time += slopes
	}
}

// breakdown collects operators.
type breakdown struct {
	sheet     Datasheet
	operators []Operator
}

// add adds o, which takes seconds, with its limit by HBM and by peak FLOP/s.
func (b *breakdown) add(o Operator, seconds, peak float64) {
	o.Time = picoseconds(seconds)
	memory, compute := o.Bytes/b.sheet.HBMBytesPerS, 0.0
	if peak > 0 {
		compute = o.FLOPs / peak
	}
	o.Limit, o.Bound = picoseconds(memory), MemoryBound
	if compute > memory {
		o.Limit, o.Bound = picoseconds(compute), ComputeBound
	}
	b.operators = append(b.operators, o)
}
