package gpu

import "servesim/sim"

// launch is the host time of launching the kernels of a step one by one, which
// the GPU part of a step that replays no CUDA graph cannot be shorter than:
//
//	t >= layers·eager        if the step has prompt tokens
//
// The host launches kernels ahead of the GPU, so the step takes the longer of
// the two, not their sum. Steps of decodes alone replay graphs.
type launch struct{ step sim.Duration } // of all layers; 0 if prompts replay graphs

func (s Setup) launch(e Engine) launch {
	eager := e.EagerPrefill
	if s.EagerPrefill != nil {
		eager = *s.EagerPrefill
	}
	if !eager {
		return launch{}
	}
	return launch{picoseconds(e.EagerLayerS * float64(s.Model.Layers))}
}

// join returns the time of the GPU part of a step of w whose kernels take gpu. It
// never shrinks as w grows.
func (l launch) join(gpu sim.Duration, w Work) sim.Duration {
	if w.PrefillTokens == 0 || l.step == 0 {
		return gpu
	}
	return max(gpu, l.step)
}
