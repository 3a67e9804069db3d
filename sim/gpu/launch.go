package gpu

import "servesim/sim"

// launch is the host time of launching the kernels of a step one by one, which
// the GPU part of a step that replays no CUDA graph cannot be shorter than:
//
//	t >= layers·eager        if the step has prompt tokens, or replays none ever
//
// The host launches kernels ahead of the GPU, so the step takes the longer of
// the two, not their sum. Steps of decodes alone replay graphs unless the engine
// captures none.
type launch struct {
	step   sim.Duration // of all layers, in a step with prompt tokens; 0 if prompts replay graphs
	decode sim.Duration // of all layers, in a step without; 0 if decodes replay graphs
}

func (s Setup) launch(e Engine) launch {
	eager := e.EagerPrefill
	if s.EagerPrefill != nil {
		eager = *s.EagerPrefill
	}
	all := picoseconds(e.EagerLayerS * float64(s.Model.Layers))
	switch {
	case s.EnforceEager:
		return launch{all, all}
	case eager:
		return launch{step: all}
	}
	return launch{}
}

// join returns the time of the GPU part of a step of w whose kernels take gpu. It
// never shrinks as w grows.
func (l launch) join(gpu sim.Duration, w Work) sim.Duration {
	least := l.step
	if w.PrefillTokens == 0 {
		least = l.decode
	}
	if least == 0 { // no launch makes up for kernels that are shorter than nothing
		return gpu
	}
	return max(gpu, least)
}
