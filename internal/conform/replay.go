package conform

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"servesim/sim/scheduler"
)

// Result is what became of one vector.
type Result struct {
	Vector Vector
	// Preset is the engine version it was replayed through, or "".
	Preset string
	// Skip says why it was not replayed, or is empty.
	Skip string
	// Diff is the first difference, or empty if every step matches exactly.
	Diff string
}

// Replayer replays a vector through the policy that c describes and returns
// the first difference, or "".
type Replayer func(c scheduler.Config, v Vector) (string, error)

// Replay replays v. A policy that is not empty is the engine version to use
// whatever was recorded, or the name of a policy whose own recordings alone are
// replayed.
func Replay(v Vector, policy string, replay Replayer) (Result, error) {
	r := Result{Vector: v, Preset: v.Preset()}
	if r.Skip = v.skip(); r.Skip != "" {
		return r, nil
	}
	own := slices.ContainsFunc(scheduler.Policies(), func(p scheduler.Info) bool { return p.Name == policy })
	switch found, err := scheduler.FindPreset(r.Preset); {
	case own && err == nil && found.Config.Policy != policy:
		r.Skip = "recorded from " + found.Config.Policy
		return r, nil
	case !own && policy != "":
		r.Preset = policy
		if chosen, err := scheduler.FindPreset(policy); err == nil && familyOf(chosen.Config) != v.engine() {
			r.Skip = "recorded from another engine than " + policy
			return r, nil
		}
	}
	c, err := v.config(r.Preset)
	if err != nil {
		return r, fmt.Errorf("vector %s: %w", v.Name, err)
	}
	if v.Params.Mode == scheduler.Swap && c.Policy != scheduler.VLLMV0 {
		r.Skip = "swap"
		return r, nil
	}
	if c.EnablePrefixCaching && c.Policy == scheduler.VLLMV0 {
		r.Skip = "prefix caching of vLLM V0"
		return r, nil
	}
	if c.AsyncScheduling && (c.WastesLastStep || c.Policy == scheduler.VLLMV0) {
		r.Skip = "async scheduling, which is not modelled for " + r.Preset
		return r, nil
	}
	if r.Diff, err = replay(c, v); err != nil {
		return r, fmt.Errorf("vector %s: %w", v.Name, err)
	}
	return r, nil
}

// familyOf returns the engine that the policy of c is of.
func familyOf(c scheduler.Config) string {
	switch {
	case c.OfSarathiServe():
		return engineSarathi
	case c.OfTensorRTLLM():
		return engineTRTLLM
	case c.Policy == scheduler.SGLang:
		return engineSGLang
	}
	return engineVLLM
}

// skip returns why v cannot be replayed, or "".
func (v *Vector) skip() string {
	p := &v.Params
	switch {
	case v.Preset() == "":
		return "no policy for " + engineOf(v.Label)
	case v.TRTLLM.Reuse:
		return "block reuse of TensorRT-LLM"
	case p.Spec > 0:
		return "speculative tokens"
	case p.Pipeline > 1:
		return "pipeline parallelism"
	case p.Depth > 2 || p.Depth > 1 && !p.Async:
		return "a batch queue other than that of async scheduling"
	}
	return ""
}

// engineOf returns the first word of label that names an engine.
func engineOf(label string) string {
	word, _, _ := strings.Cut(label, " ")
	return word
}

// config returns the limits of v with the switches of preset.
func (v *Vector) config(preset string) (scheduler.Config, error) {
	found, err := scheduler.FindPreset(preset)
	if err != nil {
		return scheduler.Config{}, err
	}
	c, p := found.Config, &v.Params
	c.AllowLivelock = true
	switch {
	case c.OfSarathiServe():
		return v.sarathi(c), nil
	case c.Policy == scheduler.SGLang:
		return v.sglang(c), nil
	case c.OfTensorRTLLM():
		return v.TRTLLM.config(c), nil
	}
	c.MaxNumBatchedTokens, c.MaxNumSeqs = p.Budget, p.MaxSeqs
	c.NumGPUBlocks, c.BlockSize = p.Blocks, p.BlockSize
	c.LongPrefillTokenThreshold = p.Threshold
	c.MaxModelLen = math.MaxInt32 / 2
	if c.Policy == scheduler.VLLMV0 {
		c.MaxModelLen = 64
	}
	if p.MaxModelLen != nil {
		c.MaxModelLen = *p.MaxModelLen
	}
	c.AsyncScheduling = p.Async
	c.EnablePrefixCaching = p.Caching
	if p.Chunked != nil {
		c.EnableChunkedPrefill = *p.Chunked
	}
	if p.Policy != "" {
		c.SchedulingPolicy = p.Policy
	}
	if found.Watermarked && p.Watermark > 0 {
		c.Watermark = p.Watermark
	}
	if p.Mode == scheduler.Swap && c.Policy == scheduler.VLLMV0 {
		c.PreemptionMode, c.NumCPUBlocks = scheduler.Swap, p.Swap
	}
	if p.MPP != nil {
		c.MaxNumPartialPrefills = *p.MPP
	}
	if p.MLPP != nil {
		c.MaxLongPartialPrefills = *p.MLPP
	}
	return c, nil
}

// sarathi returns c with the limits of v, which is of the sarathi-serve
// repository; those that are absent are the defaults of its recordings.
func (v *Vector) sarathi(c scheduler.Config) scheduler.Config {
	p := &v.Params
	c.MaxNumBatchedTokens, c.MaxNumSeqs = cmp.Or(p.Chunk, 16), cmp.Or(p.MaxSeqs, 4)
	c.NumGPUBlocks, c.BlockSize = cmp.Or(p.Blocks, 100), cmp.Or(p.BlockSize, 4)
	c.MaxModelLen = 64
	if p.MaxModelLen != nil {
		c.MaxModelLen = *p.MaxModelLen
	}
	if c.Policy == scheduler.PrefillFirst {
		c.MaxNumBatchedTokens = c.MaxModelLen
	}
	c.Regenerate = !c.ReservesModelLen()
	return c
}

// Seqs returns the sequences of v, by handle, as c limits them.
func (v *Vector) Seqs(c scheduler.Config) ([]scheduler.Seq, error) {
	out := make([]scheduler.Seq, len(v.Requests))
	for i := range v.Requests {
		r := &v.Requests[i]
		prompt, err := r.promptTokens()
		if err != nil {
			return nil, err
		}
		rank := int64(i)
		if r.Arr != nil {
			rank += *r.Arr * int64(len(v.Requests))
		}
		out[i] = scheduler.Seq{Rank: rank, Priority: r.Prio, Prompt: prompt,
			Output: min(r.Out, c.OutputLimit(prompt))}
	}
	v.chains(c, out)
	return out, nil
}

// Policy replays v through the policy of sim/scheduler that c describes.
func Policy(c scheduler.Config, v Vector) (string, error) {
	if c.Policy == scheduler.SGLang {
		return sglangPolicy(c, v)
	}
	p, err := scheduler.New(c)
	if err != nil {
		return "", err
	}
	seqs, err := v.Seqs(c)
	if err != nil {
		return "", err
	}
	for i := range v.Steps {
		for h := range v.Requests {
			if v.Requests[h].At == i {
				p.Add(scheduler.Handle(h), seqs[h])
			}
		}
		if diff := v.compare(i, observe(p, c, v)); diff != "" {
			return diff, nil
		}
	}
	if running, waiting, _ := p.Counts(); running+waiting > 0 {
		return fmt.Sprintf("after the last step: %d sequences run and %d wait; none should", running, waiting), nil
	}
	return "", nil
}

// observe plans and runs one step and returns it in the form of the recording.
func observe(p scheduler.Inspector, c scheduler.Config, v Vector) Step {
	id := func(h scheduler.Handle) string { return v.Requests[h].ID }
	ids := func(hs []scheduler.Handle) (out []string) {
		for _, h := range hs {
			out = append(out, id(h))
		}
		return out
	}
	step := p.Plan()
	var got Step
	share := map[scheduler.Handle]scheduler.Share{}
	for _, s := range step.Shares {
		share[s.Seq] = s
		if s.Admitted && s.Start > 0 {
			got.Hit = append(got.Hit, count{id(s.Seq), s.Start})
		}
	}
	p.Visit(func(h scheduler.Handle, tokens int32) {
		got.Sched = append(got.Sched, count{id(h), tokens})
		if s, ok := share[h]; !ok || s.Last {
			got.Emit = append(got.Emit, id(h))
		}
	})
	for _, l := range step.Preempted {
		got.Preempt = append(got.Preempt, id(l.Seq))
	}
	for _, d := range step.Dropped {
		got.Fin = append(got.Fin, "IGN:"+id(d.Seq))
	}
	_, _, free := p.Counts()
	running, waiting := p.Queues()
	if step.Empty() {
		p.Idle()
	} else {
		got.Fin = append(got.Fin, ids(p.Advance(1))...)
	}
	if c.Policy != scheduler.VLLMV1 { // recorded after the step
		_, _, free = p.Counts()
		running, waiting = p.Queues()
	}
	got.Running, got.Waiting = ids(running), ids(waiting)
	if s, ok := p.(interface{ Swapped() []scheduler.Handle }); ok {
		got.Swapped = ids(s.Swapped())
	}
	got.Free = &free
	return got
}

// compare returns the first difference between step i as recorded and got, or "".
func (v *Vector) compare(i int, got Step) string {
	want := &v.Steps[i]
	differ := func(what, w, g string) string {
		if w == g {
			return ""
		}
		return fmt.Sprintf("step %d: %s: recorded %q, simulated %q", i, what, w, g)
	}
	set := func(ids []string) string {
		ids = slices.Clone(ids)
		sort.Strings(ids)
		return strings.Join(ids, " ")
	}
	checks := []string{
		differ("tokens", want.Sched.String(), got.Sched.String()),
		differ("preempted", set(want.Preempt), set(got.Preempt)),
		differ("swapped out", strings.Join(want.Swapped, " "), strings.Join(got.Swapped, " ")),
		differ("cached", want.Hit.String(), got.Hit.String()),
		differ("emitted", set(want.Emit), set(got.Emit)),
		differ("ended", set(want.Fin), set(got.Fin)),
	}
	if free, ok := want.free(); ok {
		checks = append(checks, differ("free blocks", fmt.Sprint(free), fmt.Sprint(*got.Free)))
	}
	if v.engine() == engineSGLang {
		checks = append(checks, v.compareSGLang(i, got))
	} else if want.Running != nil {
		checks = append(checks, differ("running", strings.Join(want.Running, " "), strings.Join(got.Running, " ")))
	}
	if want.Waiting != nil {
		checks = append(checks, differ("waiting", strings.Join(want.Waiting, " "), strings.Join(got.Waiting, " ")))
	}
	for _, c := range checks {
		if c != "" {
			return c
		}
	}
	return ""
}
