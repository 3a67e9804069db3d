package gpu

import (
	"errors"
	"fmt"
	"slices"

	"servesim/sim"
)

// Setup is what a step's time depends on beside its work.
type Setup struct {
	Profile *Profile
	Model   *Model
	TP      int // GPUs that run each layer together: 1, 2, 4 or 8
	// EP divides the experts among EP groups of GPUs, TP/EP in each, which share
	// the width of theirs. 0 or 1 divides the width of every expert among all
	// GPUs. It divides TP and the number of experts.
	EP int
	// DPAttention divides the sequences among DPAttention groups of GPUs for
	// attention, TP/DPAttention in each, which share the heads and hold the KV of
	// their sequences only. 0 or 1 divides the heads among all. It divides TP.
	DPAttention int
	// PP is the number of pipeline stages of TP GPUs each, 0 or 1 for none. A step
	// is then that of the stage that has most to do, output projection included;
	// sending activations from one stage to the next is left out. A token passes
	// through PP such steps.
	PP      int
	Weights Format // of the linear layers; the output projection is always bf16
	KV      Format // of the KV cache: bf16 or fp8
	Engine  string // one of Profile.Engine, such as vllm or trtllm
	Async   bool   // the host prepares a step while the GPU runs the one before
	Host    Host   // overrides the host time of Engine
	// EagerPrefill tells that steps with prompt tokens replay no CUDA graph: vLLM
	// with cudagraph_mode FULL_DECODE_ONLY or NONE, TensorRT-LLM always. nil is
	// what the profile says of Engine.
	EagerPrefill *bool
	// EnforceEager tells that no step replays a CUDA graph, as vLLM's enforce_eager
	// has it, whatever EagerPrefill says.
	EnforceEager bool
}

// StepTime is the Cost of steps on one replica. GPU time is a sum over
// operators, each with its formula in its own file; host time is added to it,
// or overlapped if scheduling is asynchronous: the step then takes the larger
// of the two. A StepTime fills a table as it is asked, so it is for one
// goroutine.
type StepTime struct {
	host  hostTime
	async bool

	layers, fullLayers, windowLayers float64
	window                           int64 // tokens; 0 without window layers

	groups      int64   // of GPUs with sequences of their own
	layer       float64 // s, the engine's
	eager       launch
	attention   []product // of one layer, over the sequences of a group
	mlps        []mlp     // or experts, by kind of layer
	exchange    exchanges
	elementwise float64 // s per token
	prefill     attnPrefill
	windowPre   attnPrefill // of sliding-window layers
	decode      attnDecode
	head        lmHead

	full, windowed slope // decode attention of all layers of the kind

	setup  Setup  // what the fields above were built from
	model  *Model // of one pipeline stage
	layout layout

	limits    FittedRange
	caveats   []string
	intercept []sim.Duration // GPU time of a decode step at context 0, by batch
}

// maxSteps is the longest stretch that Decode answers for.
const maxSteps = 1 << 30

// cachedSeqs is the largest batch whose intercept is kept.
const cachedSeqs = 1 << 14

// NewCost returns the cost model of s. The error joins everything that is wrong
// with s, each a *SetupFault: a layout that does not divide the model, a format or
// an engine that the profile has no coefficients for, host times out of range.
func NewCost(s Setup) (*StepTime, error) {
	if s.Profile == nil || s.Model == nil {
		return nil, errors.New("a cost model needs a GPU profile and a model")
	}
	var faults []error
	stage, l, err := s.layout()
	if err != nil {
		faults = append(faults, err)
	}
	c, err := s.Profile.coefficients(s)
	if err != nil {
		faults = append(faults, err)
	}
	host, wrong := newHostTime(c.engine, s.Host)
	faults = append(faults, wrong...)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	whole := s
	s.Model = stage
	t := s.build(l, c)
	t.setup = whole
	t.host, t.async = host, s.Async && !c.engine.Overlapped
	if d := t.Step(Work{}); d <= 0 {
		return nil, blame("Engine", fmt.Errorf("layer_s of engine %s in profile %s is %v, so a step of %s, which has small layers, would take %v; that engine was fitted on larger models",
			s.Engine, s.Profile.Name, picoseconds(c.engine.LayerS), s.Model.Name, d))
	}
	return t, nil
}

// build assembles the operators of one layout.
func (s Setup) build(l layout, c coefficients) *StepTime {
	m, p, e := s.Model, s.Profile, c.engine
	attn := l.attn(m, s.KV)
	t := &StepTime{
		layers:       float64(m.Layers),
		fullLayers:   float64(m.Layers - m.WindowLayers),
		windowLayers: float64(m.WindowLayers),
		window:       m.Window,
		groups:       l.groups,
		layer:        e.LayerS,
		eager:        s.launch(e),
		attention:    s.products(c, l.attentionShapes(m)),
		elementwise:  p.Fitted.Elementwise.perToken(m, l.ofGroup()),
		prefill:      c.prefill.of(attn, e.FlopEfficiency),
		decode:       c.decode.of(attn),
		head:         p.Fitted.LMHead.of(p, c.head, m, l),
		limits:       p.Fitted.Range,
		caveats:      s.caveats(l, c),
		model:        m,
		layout:       l,
	}
	t.mlps = s.mlps(l, c)
	t.exchange = exchanges{groups: l.groups}
	if l.tp > 1 {
		t.exchange.all = c.allReduce.of(m.Hidden, e.AllReduceSkewS, p.ReduceAlgorithms[e.ReduceAlgorithms].of(l.tp))
	}
	if l.groups > 1 && l.attention > 1 {
		t.exchange.group = c.groupReduce.of(m.Hidden, e.AllReduceSkewS, p.ReduceAlgorithms[e.ReduceAlgorithms].of(l.attention))
	}
	perToken := s.contextSeconds(l, c)
	t.full = newSlope(t.fullLayers * perToken)
	if m.WindowLayers > 0 {
		t.windowPre = c.window.of(attn, e.FlopEfficiency)
		t.windowed = newSlope(t.windowLayers * perToken)
	}
	return t
}

// Step returns the duration of a step. It does not allocate.
func (t *StepTime) Step(w Work) sim.Duration {
	g := picoseconds(t.gpuSeconds(w))
	if w.DecodeSeqs > 0 {
		g += sim.Duration(t.full.at(w.DecodeKV))
		if t.window > 0 {
			g += sim.Duration(t.windowed.at(min(w.DecodeKV, w.DecodeSeqs*t.window)))
		}
	}
	return t.join(t.eager.join(g, w), t.host.of(w))
}

// Decode returns the durations of decode steps, up to where the curve bends: at
// the window of sliding-window layers, where the GPU becomes slower than an
// asynchronous host or than the launching of kernels, at a hop of slope.
func (t *StepTime) Decode(seqs, kv int64) Progression {
	p := Progression{
		First: t.atZeroContext(seqs) + sim.Duration(t.full.at(kv)),
		Inc:   sim.Duration(t.full.ps * seqs),
		Steps: t.full.until(kv, seqs),
	}
	if t.window > 0 {
		if end := seqs * t.window; kv <= end {
			p.First += sim.Duration(t.windowed.at(kv))
			p.Inc += sim.Duration(t.windowed.ps * seqs)
			p.Steps = min(p.Steps, t.windowed.until(kv, seqs), (end-kv)/seqs+1)
		} else {
			p.First += sim.Duration(t.windowed.at(end))
		}
	}
	h := t.host.of(Work{DecodeSeqs: seqs})
	least := t.eager.decode
	if t.async {
		least = max(least, h)
	}
	if p.First < least {
		if p.Inc > 0 {
			p.Steps = min(p.Steps, int64((least-p.First)/p.Inc)+1)
		}
		p.First, p.Inc = least, 0
	}
	if !t.async {
		p.First += h
	}
	return p
}

// Clone returns a StepTime that answers as t does, for a goroutine of its own. Nobody
// may ask t meanwhile.
func (t *StepTime) Clone() *StepTime {
	c := *t
	c.intercept = slices.Clone(t.intercept)
	return &c
}

// join returns the time of a step from that of its GPU and host parts.
func (t *StepTime) join(gpu, host sim.Duration) sim.Duration {
	if t.async {
		return max(gpu, host)
	}
	return gpu + host
}

// atZeroContext returns the GPU time of a decode step without its context.
func (t *StepTime) atZeroContext(seqs int64) sim.Duration {
	if seqs >= cachedSeqs {
		return picoseconds(t.gpuSeconds(Work{DecodeSeqs: seqs, Samples: seqs}))
	}
	for n := int64(len(t.intercept)); n <= seqs; n++ {
		t.intercept = append(t.intercept, picoseconds(t.gpuSeconds(Work{DecodeSeqs: n, Samples: n})))
	}
	return t.intercept[seqs]
}

// gpuSeconds returns the GPU time of a step without the decode context. Every
// term is a sum, product or root of terms that do not shrink as w grows, and
// rounding keeps order, so neither does the result.
func (t *StepTime) gpuSeconds(w Work) float64 {
	tokens := w.PrefillTokens + w.DecodeSeqs
	own := w.divided(t.groups)
	layer := t.layer + t.exchange.seconds(tokens) + float64(t.elementwise*float64(own.PrefillTokens+own.DecodeSeqs))
	for i := range t.attention {
		layer += t.attention[i].seconds(float64(own.PrefillTokens + own.DecodeSeqs))
	}
	layer += t.decode.seconds(own.DecodeSeqs)
	s := float64(t.layers*layer) + float64(t.fullLayers*t.prefill.seconds(own.PrefillTokens, own.PrefillPairs))
	if t.window > 0 {
		s += float64(t.windowLayers * t.windowPre.seconds(own.PrefillTokens, windowPairs(own.PrefillTokens, own.PrefillPairs, t.window)))
	}
	for i := range t.mlps {
		s += t.mlps[i].seconds(tokens)
	}
	return s + t.head.seconds(w.Samples)
}
