package gpu

import (
	"errors"
	"fmt"
)

// maxPP is the largest number of pipeline stages.
const maxPP = 64

// layout returns the shape of one pipeline stage of s, and what each GPU of it
// holds. The error joins a *SetupFault for everything that does not divide.
func (s Setup) layout() (*Model, layout, error) {
	var faults []error
	tp, ep, groups := int64(s.TP), max(1, int64(s.EP)), max(1, int64(s.DPAttention))
	fault := func(field, format string, args ...any) {
		faults = append(faults, blame(field, fmt.Errorf(format, args...)))
	}
	if err := allowedTP(tp); err != nil {
		return s.Model, layout{}, blame("TP", err)
	}
	switch {
	case s.EP < 0:
		fault("EP", "expert_parallel_size is %d; want 0 or more", s.EP)
	case ep > 1 && s.Model.Experts == 0:
		fault("EP", "expert_parallel_size is %d, but %s has no experts", ep, s.Model.Name)
	case ep > max(1, s.Model.Experts):
		fault("EP", "expert_parallel_size is %d, more than the %d experts of %s", ep, s.Model.Experts, s.Model.Name)
	case ep > 1 && s.Model.Experts%ep != 0:
		fault("EP", "expert_parallel_size %d does not divide the %d experts of %s", ep, s.Model.Experts, s.Model.Name)
	case tp%ep != 0:
		fault("EP", "expert_parallel_size is %d; it must divide tensor_parallel_size, %d", ep, tp)
	}
	if s.DPAttention < 0 {
		fault("DPAttention", "data_parallel_attention_size is %d; want 0 or more", s.DPAttention)
	} else if tp%groups != 0 {
		fault("DPAttention", "data_parallel_attention_size is %d; it must divide tensor_parallel_size, %d", groups, tp)
	}
	stage, err := s.Model.stage(s.PP)
	if err != nil {
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return s.Model, layout{}, err
	}
	l, err := divide(stage, layout{tp: tp, attention: tp / groups, groups: groups, ep: ep})
	if err != nil {
		return s.Model, layout{}, blame("TP", err)
	}
	return stage, l, nil
}

// stage returns the shape of the pipeline stage of pp, 0 and 1 meaning no
// pipeline, that has most to do: with the layers rounded up, as many as may be
// of full attention and with experts. Dense layers come first in the model, so
// the last stage has the fewest.
func (m *Model) stage(pp int) (*Model, error) {
	n := max(1, int64(pp))
	if pp < 0 || n > maxPP {
		return nil, blame("PP", fmt.Errorf("pipeline_parallel_size is %d; want 0 to %d", pp, maxPP))
	}
	if n > m.Layers {
		return nil, blame("PP", fmt.Errorf("pipeline_parallel_size is %d, more than the %d layers of %s", n, m.Layers, m.Name))
	}
	if n == 1 {
		return m, nil
	}
	part := *m
	part.Layers = (m.Layers + n - 1) / n
	full := (m.Layers - m.WindowLayers + n - 1) / n
	part.WindowLayers = max(0, part.Layers-full)
	part.DenseLayers = max(0, m.DenseLayers-(m.Layers-part.Layers))
	if part.WindowLayers == 0 {
		part.Window = 0
	}
	return &part, nil
}

// divided returns what one GPU computes of attention if the sequences of w are
// divided evenly among n groups of GPUs, rounded up: each field grows with that
// of w, so time keeps its order. It is what balanced groups have to do; where a
// step has fewer sequences than groups, or their lengths differ much, the
// fullest group takes longer.
func (w Work) divided(n int64) Work {
	if n <= 1 {
		return w
	}
	up := func(x int64) int64 { return (x + n - 1) / n }
	w.PrefillTokens, w.PrefillSeqs, w.PrefillPairs = up(w.PrefillTokens), up(w.PrefillSeqs), up(w.PrefillPairs)
	w.DecodeSeqs = up(w.DecodeSeqs)
	return w
}

// ofGroup returns l as element-wise kernels see it, which run over the tokens of
// a group: the MLP, which runs over those of all groups, counts once for each.
func (l layout) ofGroup() layout {
	l.width *= l.groups
	return l
}

// exchanges is the collectives of a layer as a function of the tokens of a step.
//
// Without data-parallel attention: one all-reduce after attention and one after
// the MLP or the experts. That holds for expert parallelism too, for then every
// GPU has every token and adds what its experts say of it.
//
// With it the GPUs of a group reduce their own tokens after attention, and one
// more collective over all GPUs carries tokens to the experts or the MLP and
// back. An all-reduce stands for it: an all-gather before and a reduce-scatter
// after, which is what vLLM's all2all_backend allgather_reducescatter runs, move
// together what an all-reduce moves. An all-to-all that sends a token only to
// the GPUs of its experts is not modelled, for lack of measurements.
type exchanges struct {
	all    allReduce // over all GPUs, both of a layer
	group  allReduce // of a group after attention, both of a layer
	groups int64
}

func (x *exchanges) seconds(tokens int64) float64 {
	if x.groups <= 1 {
		return x.all.seconds(float64(tokens))
	}
	own := (tokens + x.groups - 1) / x.groups
	return float64(0.5*x.all.seconds(float64(tokens))) + float64(0.5*x.group.seconds(float64(own)))
}

// linkBytes returns what each GPU at least receives in one layer if l divides it,
// of bf16 activations of hidden elements a token.
func (l layout) linkBytes(hidden, tokens int64) float64 {
	reduced := 2 * tokens
	if l.groups > 1 {
		reduced = tokens
		if l.attention > 1 {
			reduced += (tokens + l.groups - 1) / l.groups
		}
	}
	return 2 * float64(hidden) * float64(reduced)
}

// split divides the experts of x among ep groups of GPUs: each computes its
// share of the pairs of token and expert, and reads its share of the active
// experts. Routing is taken as balanced. The width of an expert, which is then
// divided among fewer GPUs, is the layout's affair. Against TensorRT-LLM's kernels
// in 2 to 8 groups (the AIConfigurator tables of the profiles; nothing was fitted
// on these rows) it errs by 7 to 13 % in the median, as without groups, and by -4
// to -7 % where the choices of experts follow a power law: the fullest group.
func (x moe) split(ep int64) moe {
	if ep <= 1 {
		return x
	}
	share := 1 / float64(ep)
	x.compute *= share
	x.input *= share
	active := make([]float64, len(x.active))
	for i, a := range x.active {
		active[i] = a * share
	}
	x.active = active
	return x
}
