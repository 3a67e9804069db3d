package scenario

import (
	"fmt"
	"slices"
	"strings"

	"servesim/sim/gpu"
	"servesim/sim/scheduler"
)

// Cautions returns what a reader of the results of p should know of its machine.
func (p *Plan) Cautions() []string {
	list := slices.Clone(p.Cost.Caveats())
	says := p.Machine.Model.WeightFormat
	if has, err := gpu.ParseFormat(says); says != "" && (err != nil || has != p.Machine.Weights) {
		list = append(list, fmt.Sprintf("%s says that its weights are %s, but model.dtype is %s, and %[3]s is what runs", p.Scenario.Model.Name, says, p.Machine.Weights))
	}
	if engine := p.Scenario.Host.Engine; p.Setup().Async && strings.HasPrefix(engine, "trtllm") && !p.Machine.Profile.Engine[engine].Overlapped {
		list = append(list, fmt.Sprintf("host times of %s are fitted to runs replayed with synchronous scheduling, and asynchronous scheduling hides them behind the GPU; TPOT may come out low", engine))
	}
	if p.Config.Policy == scheduler.SGLang {
		list = append(list, fmt.Sprintf("%s schedules as SGLang does, on the kernels and host times that were fitted to %s", p.Scenario.Engine.Policy, p.Scenario.Host.Engine))
	}
	if p.Config.OfSarathiServe() {
		list = append(list, fmt.Sprintf("%s schedules as the sarathi-serve repository does, on the kernels and host times that were fitted to %s", p.Scenario.Engine.Policy, p.Scenario.Host.Engine))
	}
	if p.Config.OfTensorRTLLM() {
		if !strings.HasPrefix(p.Scenario.Host.Engine, fittedTRTLLM) {
			list = append(list, fmt.Sprintf("%s schedules as TensorRT-LLM does, on the kernels and host times that were fitted to %s", p.Scenario.Engine.Policy, p.Scenario.Host.Engine))
		}
		if p.Scenario.Engine.overlaps() {
			list = append(list, "the overlap scheduler of TensorRT-LLM hides the host's work; that it frees the blocks of a request a step after its last token, and with MAX_UTILIZATION looks two steps ahead, is not modelled")
		}
	}
	if p.Ledger.Hybrid != nil && p.Config.Policy == scheduler.VLLMV1 {
		list = append(list, "KV blocks hold the sliding-window layers in full; vLLM's hybrid KV cache manager fits more requests into the same memory")
	}
	return list
}

// unmodelled returns an error if the config.json called name says that its weights
// have a format that no step time was fitted for.
func unmodelled(name, format string) error {
	if format == "" {
		return nil
	}
	if _, err := gpu.ParseFormat(format); err == nil {
		return nil
	}
	return fmt.Errorf("missing, and %s says %s, which is not modelled; say which format is to run in its place, such as dtype = \"bf16\"", name, format)
}

// FittedCaution says, of plans that are compared, if what their engines add to the
// GPU's operators comes from different fits, or "". labels are their names.
func FittedCaution(plans []*Plan, labels []string) string {
	differ := false
	var parts []string
	for i, p := range plans {
		differ = differ || p.overheads() != plans[0].overheads()
		h := p.Scenario.Host
		parts = append(parts, fmt.Sprintf("%.3g us a step and %.3g us a sequence (%s)", h.Base.Seconds()*1e6, h.PerSeq.Seconds()*1e6, labels[i]))
	}
	if !differ {
		return ""
	}
	return "host.base and host.per_seq are fitted for each GPU and engine, and only in combination with layer times, so no single one is physics: " +
		strings.Join(parts, ", ") + "; differences of that size may be the fits', not the GPUs'"
}

// overheads returns what the engine of p adds to the operators: the constants of its
// fit without those that aren't applied.
func (p *Plan) overheads() gpu.Engine {
	e := p.Machine.Profile.Engine[p.Scenario.Host.Engine]
	e.Version, e.MixedStepS, e.RequestS = "", 0, 0
	return e
}
