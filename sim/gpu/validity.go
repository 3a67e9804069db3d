package gpu

import "fmt"

// Extrapolated tells whether w lies outside the work that the profile's
// coefficients were fitted on: more tokens in a step, more sequences, a longer
// mean context, or prompt tokens that attend to more keys on average than those
// of the longest measured prompt.
func (t *StepTime) Extrapolated(w Work) bool {
	r := &t.limits
	return w.PrefillTokens+w.DecodeSeqs > r.StepTokensMax ||
		w.DecodeSeqs > r.DecodeSeqsMax ||
		w.DecodeKV/max(1, w.DecodeSeqs) > r.ContextTokensMax ||
		w.PrefillPairs > 0 && w.PrefillPairs/max(1, w.PrefillTokens) > (r.PromptTokensMax+1)/2
}

// Caveats returns what a reader of the times should know of this setup, in
// sentences, or nothing.
func (t *StepTime) Caveats() []string { return t.caveats }

// caveats returns where a setup goes beyond what was measured.
func (s Setup) caveats(l layout, c coefficients) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if s.Model.KVRank > 0 {
		say("multi-head latent attention was not measured; its kernels are computed at the rates of heads of 128 elements")
	} else if d := s.Model.HeadDim; d != 64 && d != 128 {
		say("head_dim is %d; attention was measured at 64 and 128", d)
	}
	if l.kvHeads > 8 {
		say("%d KV heads a GPU; decode attention was measured up to 8, and with 32 it is 10 to 13 %% slower than this model", l.kvHeads)
	}
	r := s.Profile.Fitted.Range
	for _, x := range l.shapes(s.Model) {
		if r.GEMMWidthMax > 0 && x.n > r.GEMMWidthMax || r.GEMMDepthMax > 0 && x.k > r.GEMMDepthMax {
			say("%s of a layer is %d wide and %d deep; matrix products were measured up to %d and %d", x.name, x.n, x.k, r.GEMMWidthMax, r.GEMMDepthMax)
		}
	}
	if w := s.Model.Window; w > 0 && (w != 128 || s.Model.HeadDim != 64) {
		say("sliding window %d with head_dim %d; attention to a window was measured at 128 with head_dim 64", w, s.Model.HeadDim)
	}
	if l.ep > 1 {
		say("experts over %d groups of GPUs are taken as evenly chosen; the fullest group takes longer", l.ep)
	}
	if l.groups > 1 {
		say("attention over %d groups of GPUs is taken as evenly divided, and an all-reduce stands for what carries tokens to the experts or the MLP and back", l.groups)
	}
	if s.PP > 1 {
		say("a step is that of the pipeline stage that has most to do, of %d; sending activations between stages is left out", s.PP)
	}
	if x, ok := s.Profile.ExpertCaution[c.engine.Kernels]; ok && s.Model.Experts > 0 && x.Format == s.Weights {
		say("%s", x.Text)
	}
	if s.Engine == "generic" {
		say("the host times of engine generic are round figures; nothing was calibrated")
	}
	if c.engine.Overlapped && !s.Async {
		say("the host times of %s were fitted on runs with asynchronous scheduling; without it they are longer, by an unknown amount", s.Engine)
	}
	if mixed := c.engine.MixedStep(); s.Host.MixedStep == nil && c.engine.MixedStepS > 1e-3 {
		say("the fit of %s adds %.1f ms to each step with prompt tokens, which is not credible as GPU time and not applied; TTFT may come out low",
			s.Engine, mixed.Milliseconds())
	}
	if s.Profile.BaseChanged {
		say("profile %s was fitted on top of %s as it was then, which has changed since; fit it again", s.Profile.Name, s.Profile.Base)
	}
	return append(out, s.launchCaveats(c.engine)...)
}

// launchCaveats returns what a reader should know of steps that replay no CUDA graph.
func (s Setup) launchCaveats(e Engine) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if s.EnforceEager && e.EagerLayerS == 0 {
		say("enforce_eager is on, and profile %s does not know how long %s takes to launch the kernels of a layer (eager_layer_s): launches are taken as hidden behind the GPU, and steps may come out short",
			s.Profile.Name, s.Engine)
	} else if s.EnforceEager {
		say("enforce_eager is on: each step takes at least the %.1f ms that launching its kernels takes", s.launch(e).step.Milliseconds())
	}
	if e.EagerLayerHighS > 0 {
		ms := func(layer float64) float64 { return picoseconds(layer * float64(s.Model.Layers)).Milliseconds() }
		applied := "not applied here, because prompts are assumed to replay graphs too"
		if s.launch(e).step > 0 {
			applied = fmt.Sprintf("%.1f ms here", ms(e.EagerLayerS))
		} else if eager := s.EagerPrefill; eager == nil && e.EagerPrefill || eager != nil && *eager {
			applied = "0 here, because the runs cannot tell"
		}
		say("launching its kernels without a CUDA graph may keep each step with prompt tokens at %.1f to %.1f ms or more, however small the chunk, by the runs that %s was fitted on; %s",
			ms(e.EagerLayerLowS), ms(e.EagerLayerHighS), s.Engine, applied)
	}
	return out
}
