package scheduler_test

import (
	"slices"

	"pgregory.net/rapid"

	"servesim/sim/scheduler"
)

// newPolicy returns the policy that c describes.
func newPolicy(t *rapid.T, c scheduler.Config) scheduler.Inspector {
	p, err := scheduler.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// anySeq draws a sequence of the given rank, its output cut as the engine cuts
// it. Every other prompt is about as long as the budget, so that it fits beside
// few others.
func anySeq(t *rapid.T, c scheduler.Config, rank int64) scheduler.Seq {
	prompt := rapid.Int32Range(1, min(40, c.MaxModelLen-1)).Draw(t, "prompt")
	if rapid.Bool().Draw(t, "as the budget") {
		prompt = max(1, min(c.MaxNumBatchedTokens-rapid.Int32Range(0, 2).Draw(t, "less"), c.MaxModelLen-1))
	}
	output := min(rapid.Int32Range(1, 30).Draw(t, "output"), c.OutputLimit(prompt))
	return scheduler.Seq{Rank: rank, Priority: rapid.Int32Range(0, 2).Draw(t, "priority"), Prompt: prompt, Output: output}
}

// tracked is what a model knows of one sequence in a policy.
type tracked struct {
	scheduler.Seq
	emitted, computed int32
	running           bool
	decoding          bool  // running, its prompt done
	grouped           bool  // decoding, and reported neither stalled nor lost since
	tokens            int32 // what it computes in the planned step
}

func (s *tracked) known() int32 { return s.Prompt + s.emitted }

// model follows a policy from outside: what a policy says must add up to what
// the model has counted.
type model struct {
	t    *rapid.T
	c    scheduler.Config
	p    scheduler.Inspector
	seqs map[scheduler.Handle]*tracked
	rank int64
}

func newModel(t *rapid.T, c scheduler.Config) *model {
	return &model{t: t, c: c, p: newPolicy(t, c), seqs: map[scheduler.Handle]*tracked{}}
}

// add puts a drawn sequence under the lowest handle that is free, if it fits.
func (m *model) add() {
	s := anySeq(m.t, m.c, m.rank)
	if m.p.Fits(s) != "" {
		return
	}
	m.rank++
	h := scheduler.Handle(0)
	for m.seqs[h] != nil {
		h++
	}
	m.seqs[h] = &tracked{Seq: s}
	m.p.Add(h, s)
}

// handles returns the sequences in the order of their handles.
func (m *model) handles() []scheduler.Handle {
	var hs []scheduler.Handle
	for h := range m.seqs {
		hs = append(hs, h)
	}
	slices.Sort(hs)
	return hs
}

// abort takes out one sequence, wherever it is.
func (m *model) abort() {
	if len(m.seqs) == 0 {
		return
	}
	h := rapid.SampledFrom(m.handles()).Draw(m.t, "abort")
	m.p.Abort(h)
	delete(m.seqs, h)
}

// step plans a step, checks it, runs it once and checks what ended. moved is
// false if nothing was computed, preempted or dropped.
func (m *model) step() (moved bool) {
	step := m.p.Plan()
	m.lose(step)
	m.visit(step)
	m.limits(step)
	m.held(step)
	m.blocks()
	m.queues()
	moved = !step.Empty() || len(step.Preempted)+len(step.Dropped) > 0 || step.Again
	if !step.Empty() {
		m.advance(step)
		m.blocks()
		m.queues()
	} else {
		m.p.Idle()
	}
	return moved
}

// held checks that the step has a reason if and only if somebody waits, and one
// that can be.
func (m *model) held(step *scheduler.Step) {
	running, waiting, free := m.p.Counts()
	spent := step.Decodes
	for i := range step.Shares {
		spent += step.Shares[i].Tokens
	}
	ok := true
	switch step.Held {
	case scheduler.NotHeld:
		ok = waiting == 0
	case scheduler.HeldSlots:
		ok = running+len(step.Preempted) >= int(m.c.MaxNumSeqs)
	case scheduler.HeldBudget:
		ok = spent > 0
	case scheduler.HeldBlocks:
		ok = running > 0 && free < m.c.NumGPUBlocks || len(step.Preempted) > 0 || m.c.AllowLivelock
	case scheduler.HeldPartial:
		ok = m.c.Policy == scheduler.VLLMV0 && m.c.MaxNumPartialPrefills > 1
	}
	if !ok || step.Held != scheduler.NotHeld && waiting == 0 {
		m.t.Fatalf("%d run, %d wait, %d blocks are free and %d tokens are computed; the reason is %q", running, waiting, free, spent, step.Held)
	}
}

// lose takes in who was preempted, dropped or stalled.
func (m *model) lose(step *scheduler.Step) {
	for _, l := range step.Preempted {
		s := m.seqs[l.Seq]
		if s == nil || !s.running || l.Tokens != s.computed || l.Emitted != s.emitted {
			m.t.Fatalf("%+v is preempted; the model has %+v", l, s)
		}
		s.computed, s.running, s.decoding, s.grouped = 0, false, false, false
	}
	for _, h := range step.Stalled {
		if s := m.seqs[h]; !s.grouped {
			m.t.Fatalf("sequence %d, %+v, stalls without being served before", h, s)
		}
		m.seqs[h].grouped = false
	}
	for _, h := range step.Unstalled {
		if s := m.seqs[h]; !s.decoding || s.grouped {
			m.t.Fatalf("sequence %d, %+v, goes on without having stalled", h, s)
		}
		m.seqs[h].grouped = true
	}
	for _, d := range step.Dropped {
		if m.seqs[d.Seq] == nil || d.Reason == "" {
			m.t.Fatalf("sequence %d is dropped for %q; the model has %+v", d.Seq, d.Reason, m.seqs[d.Seq])
		}
		delete(m.seqs, d.Seq)
	}
}

// visit takes in what each sequence computes and checks it against the shares.
func (m *model) visit(step *scheduler.Step) {
	for _, s := range m.seqs {
		s.tokens = 0
	}
	for i := range step.Shares {
		share := &step.Shares[i]
		s := m.seqs[share.Seq]
		if share.Ghost {
			if s == nil || s.running || share.Last {
				m.t.Fatalf("%+v is a ghost of %+v", share, s)
			}
			continue
		}
		if s != nil && share.Admitted && m.c.EnablePrefixCaching && s.Prompt+s.emitted > share.Start {
			s.computed = share.Start // what the cache has of it
		}
		if s == nil || s.decoding || s.running == share.Admitted || share.Tokens < 1 || s.tokens > 0 ||
			share.Start != s.computed || share.Last != (share.Start+share.Tokens == s.known()) || share.Start+share.Tokens > s.known() {
			m.t.Fatalf("%+v is a share of %+v", share, s)
		}
		s.running, s.tokens = true, share.Tokens
	}
	seen := map[scheduler.Handle]int32{}
	decodes, kv := int32(0), int64(0)
	m.p.Visit(func(h scheduler.Handle, tokens int32) {
		s := m.seqs[h]
		if s.decoding {
			s.tokens = 1
			decodes++
			kv += int64(s.known())
		}
		seen[h] += tokens
	})
	for h, s := range m.seqs {
		if ghost := !s.running && seen[h] > 0 && slices.ContainsFunc(step.Shares, func(x scheduler.Share) bool {
			return x.Seq == h && x.Ghost && x.Tokens == seen[h]
		}); seen[h] != s.tokens && !ghost {
			m.t.Fatalf("sequence %d, %+v, is visited with %d tokens", h, s, seen[h])
		}
		if step.Decodes > 0 && s.decoding && s.grouped != (s.tokens == 1) {
			m.t.Fatalf("sequence %d, %+v, is in the group but not served, or served but not in the group", h, s)
		}
	}
	if decodes != step.Decodes || kv != step.DecodeKV {
		m.t.Fatalf("%d sequences decode over %d tokens; the step says %d over %d", decodes, kv, step.Decodes, step.DecodeKV)
	}
}

// limits checks the token budget and the slots.
func (m *model) limits(step *scheduler.Step) {
	tokens, served := step.Decodes, step.Decodes
	admitted := false
	for _, s := range step.Shares {
		tokens += s.Tokens
		served++
		admitted = admitted || s.Admitted
	}
	running, _, _ := m.p.Counts()
	v0, chunked := m.c.Policy == "vllm-v0", m.c.EnableChunkedPrefill
	if prefillOnly := v0 && !chunked; prefillOnly {
		if len(step.Shares) > 0 && step.Decodes > 0 {
			m.t.Fatalf("a step of whole prompts also decodes: %+v", step)
		}
		if step.Decodes > 0 {
			tokens = 0 // a decode step has no token budget
		}
	}
	budget := max(m.c.MaxNumBatchedTokens, m.c.ChunkSchedule.HighChunkSize)
	if m.c.Policy == scheduler.SGLang {
		if len(step.Shares) > 0 && step.Decodes > 0 && !m.c.EnableMixedChunk {
			m.t.Fatalf("a step of prompts also decodes: %+v", step)
		}
		if !chunked || len(step.Shares) == 0 {
			tokens = 0 // the first prompt may be of any length, and decodes have no token budget
		}
	}
	if m.c.OfSarathiServe() {
		if apart := m.c.Policy == scheduler.PrefillFirst || m.c.Policy == scheduler.SimpleChunking; apart && len(step.Shares) > 0 && step.Decodes > 0 {
			m.t.Fatalf("a step of prompts also decodes: %+v", step)
		}
		if m.c.ReservesModelLen() || len(step.Shares) == 0 {
			tokens = 0 // whole prompts and decodes have no token budget
		}
	}
	if tokens > budget {
		m.t.Fatalf("%d tokens, over the budget of %d: %+v", tokens, budget, step)
	}
	if v0 && chunked {
		running = 0 // only those served in a step count, and only when one is admitted
		if admitted {
			running = int(served)
		}
	}
	if running > int(m.c.MaxNumSeqs) {
		m.t.Fatalf("%d sequences run, over the limit of %d: %+v", running, m.c.MaxNumSeqs, step)
	}
}

// blocks checks the free blocks against what each running sequence must hold:
// in V1 the blocks of what is computed, elsewhere those of the whole prompt at
// once, or of max_model_len.
func (m *model) blocks() {
	usable := m.c.UsableBlocks()
	held := int64(0)
	for _, s := range m.seqs {
		if !s.running {
			continue
		}
		tokens := s.computed + s.tokens
		switch {
		case m.c.ReservesModelLen():
			tokens = m.c.MaxModelLen
		case m.c.Policy != scheduler.VLLMV1 && m.c.Policy != scheduler.SGLang && !s.decoding:
			tokens = s.known()
		}
		held += int64((tokens + m.c.BlockSize - 1) / m.c.BlockSize)
	}
	if _, _, free := m.p.Counts(); free != usable-held || free < 0 {
		m.t.Fatalf("%d of %d blocks are free; the sequences hold %d", free, usable, held)
	}
}

// queues checks who runs and who waits.
func (m *model) queues() {
	running, waiting := m.p.Queues()
	nr, nw, _ := m.p.Counts()
	if nr != len(running) || nw != len(waiting) || nr+nw != len(m.seqs) {
		m.t.Fatalf("%d run and %d wait, by the lists %v and %v, of %d", nr, nw, running, waiting, len(m.seqs))
	}
	for _, h := range running {
		if m.seqs[h] == nil || !m.seqs[h].running {
			m.t.Fatalf("sequence %d runs; the model has %+v", h, m.seqs[h])
		}
	}
	for _, h := range waiting {
		if m.seqs[h] == nil || m.seqs[h].running {
			m.t.Fatalf("sequence %d waits; the model has %+v", h, m.seqs[h])
		}
	}
}

// advance runs the planned step once and checks who ended.
func (m *model) advance(step *scheduler.Step) {
	_, _, free := m.p.Counts()
	var ghosts []scheduler.Share
	for _, share := range step.Shares {
		if share.Ghost {
			ghosts = append(ghosts, share)
		}
	}
	done := slices.Clone(m.p.Advance(1))
	usable := m.c.UsableBlocks()
	if m.p.Peak() != usable-free {
		m.t.Fatalf("the step used %d blocks; %d of %d were free", m.p.Peak(), free, usable)
	}
	for _, share := range ghosts {
		m.seqs[share.Seq].computed = share.Tokens
	}
	for _, h := range m.handles() {
		s := m.seqs[h]
		s.computed += s.tokens
		if s.tokens > 0 && s.computed == s.known() {
			s.emitted++
			s.grouped = s.grouped || !s.decoding
			s.decoding = true
		}
		s.tokens = 0
		if ended := s.emitted == s.Output; ended != slices.Contains(done, h) {
			m.t.Fatalf("sequence %d has %d of %d tokens; %v ended", h, s.emitted, s.Output, done)
		} else if ended {
			delete(m.seqs, h)
		}
	}
}
