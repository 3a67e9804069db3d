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
	// prefill_attention, decode_attention, all_reduce, elementwise, lm_head,
	// engine and launch; with latent attention q_a_proj, q_b_proj (or q_proj), kv_a_proj and
	// kv_b_proj instead of qkv_proj; with shared experts shared_gate_up_proj and
	// shared_down_proj too. all_reduce is all that GPUs exchange in a layer. engine
	// is what the engine adds to each layer, less than nothing if it hides what
	// isolated kernels pay; launch, where there is any, is what the GPU waits for
	// kernels that the host is launching.
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

// Breakdown returns the operators of a step that does w, those of the MLPs by kind of
// layer. Their times sum to the GPU time of the step within a few picoseconds, the
// steps of the context's price apart. Host time is not among them.
func (t *StepTime) Breakdown(w Work) []Operator {
	sheet := t.setup.Profile.Datasheet
	tokens, own := w.PrefillTokens+w.DecodeSeqs, w.divided(t.groups)
	ownTokens := own.PrefillTokens + own.DecodeSeqs
	b := breakdown{sheet: sheet, operators: make([]Operator, 0, 16)}
	linear := sheet.Peak(t.setup.Weights.outsideExperts())
	b.addProducts(t.attention, t.layers, ownTokens, linear)
	elementwise := t.layers * t.elementwise * float64(ownTokens)
	for i := range t.mlps {
		x := &t.mlps[i]
		b.addProducts(x.gemms, x.layers, tokens, linear)
		if x.experts != nil {
			flops, bytes := t.layout.experts(t.model, t.setup.Weights).work(tokens, x.experts.activeFor(tokens))
			b.add(Operator{Name: "experts", FLOPs: x.layers * flops / float64(t.layout.ep), Bytes: x.layers * bytes},
				x.layers*x.experts.seconds(tokens), sheet.Peak(t.setup.Weights))
		}
		elementwise += float64(x.layers * x.elementwise * float64(tokens))
	}
	t.addAttention(&b, w)
	if t.layout.tp > 1 {
		bytes := t.layers * t.layout.linkBytes(t.model.Hidden, tokens)
		b.operators = append(b.operators, Operator{
			Name: "all_reduce", Bytes: bytes, Bound: LinkBound,
			Time:  picoseconds(t.layers * t.exchange.seconds(tokens)),
			Limit: picoseconds(bytes / sheet.LinkBytesPerS()),
		})
	}
	b.add(Operator{Name: "elementwise", Bytes: elementwise * t.setup.Profile.Fitted.Elementwise.BytesPerS}, elementwise, 0)
	rows := max(1, w.Samples)
	flops, bytes := GEMMShape{rows, t.layout.vocab, t.model.Hidden, BF16.BytesPerWeight()}.work()
	b.add(Operator{Name: "lm_head", FLOPs: flops, Bytes: bytes + float64(4*float64(t.model.Vocab)*float64(rows))}, t.head.seconds(w.Samples), sheet.Peak(BF16))
	b.operators = append(b.operators, Operator{Name: "engine", Time: picoseconds(t.layers * t.layer)})
	var sum sim.Duration
	for _, o := range b.operators {
		sum += o.Time
	}
	if wait := t.eager.join(sum, w) - sum; wait > 0 {
		b.operators = append(b.operators, Operator{Name: "launch", Time: wait})
	}
	return b.operators
}

// addAttention adds prefill and decode attention, where there are any. Their peak
// is that of the cache's format, the most that they can compute at; an engine that
// computes over an fp8 cache in bf16 reaches half of it at best.
func (t *StepTime) addAttention(b *breakdown, w Work) {
	attn := t.layout.attn(t.model, t.setup.KV)
	peak := b.sheet.Peak(t.setup.KV)
	own := w.divided(t.groups)
	if own.PrefillTokens > 0 {
		flops, bytes := attn.prefill(own.PrefillTokens, own.PrefillPairs)
		seconds := float64(t.fullLayers * t.prefill.seconds(own.PrefillTokens, own.PrefillPairs))
		o := Operator{Name: "prefill_attention", FLOPs: float64(t.fullLayers * flops), Bytes: t.layers * bytes}
		if t.window > 0 {
			pairs := windowPairs(own.PrefillTokens, own.PrefillPairs, t.window)
			flops, _ = attn.prefill(own.PrefillTokens, pairs)
			seconds += float64(t.windowLayers * t.windowPre.seconds(own.PrefillTokens, pairs))
			o.FLOPs += float64(t.windowLayers * flops)
		}
		b.add(o, seconds, peak)
	}
	if own.DecodeSeqs > 0 {
		context := float64(t.fullLayers * float64(w.DecodeKV)) // tokens, each in as many layers
		slopes := sim.Duration(t.full.at(w.DecodeKV))
		if t.window > 0 {
			kv := min(w.DecodeKV, w.DecodeSeqs*t.window)
			context += float64(t.windowLayers * float64(kv))
			slopes += sim.Duration(t.windowed.at(kv))
		}
		context /= float64(t.groups)
		o := Operator{Name: "decode_attention", FLOPs: context * attn.contextFlops, Bytes: context * attn.contextBytes}
		b.add(o, t.layers*t.decode.seconds(own.DecodeSeqs), peak)
		b.operators[len(b.operators)-1].Time += slopes
	}
}

// breakdown collects operators.
type breakdown struct {
	sheet     Datasheet
	operators []Operator
}

// addProducts adds matrix products with m rows in so many layers.
func (b *breakdown) addProducts(products []product, layers float64, m int64, peak float64) {
	for i := range products {
		p := &products[i]
		flops, bytes := p.work(m)
		b.add(Operator{Name: p.name, FLOPs: layers * flops, Bytes: layers * bytes}, layers*p.seconds(float64(m)), peak)
	}
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
