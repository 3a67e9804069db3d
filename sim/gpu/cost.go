package gpu

import "servesim/sim"

// Work is what one engine step computes.
type Work struct {
	// PrefillTokens is the number of prompt tokens, of PrefillSeqs sequences.
	PrefillTokens int64
	PrefillSeqs   int64
	// PrefillPairs is the number of query-key pairs that the attention of the
	// prompt tokens covers: a chunk of c tokens that follows s computed ones
	// adds c·s + c(c+1)/2.
	PrefillPairs int64
	// DecodeSeqs is the number of sequences that decode one token each, and
	// DecodeKV the sum of their context lengths in tokens, that token included.
	DecodeSeqs int64
	DecodeKV   int64
	// Samples is the number of sequences that sample an output token: the
	// decodes, and the prompts that this step completes.
	Samples int64
}

// AddChunk adds a prompt chunk of tokens tokens that follows start computed
// ones of its sequence; last tells that it completes the prompt.
func (w *Work) AddChunk(start, tokens int64, last bool) {
	w.PrefillTokens += tokens
	w.PrefillSeqs++
	w.PrefillPairs += tokens*start + tokens*(tokens+1)/2
	if last {
		w.Samples++
	}
}

// Progression is the durations of successive decode steps of one batch: First,
// First+Inc, First+2·Inc and so on, for Steps steps; what comes after must be
// asked for again.
type Progression struct {
	First, Inc sim.Duration
	Steps      int64
}

// Cost says how long a step takes. Implementations are pure: the same question
// always has the same answer.
type Cost interface {
	// Step returns the duration of a step, more than 0. It never shrinks when
	// any field of w grows.
	Step(w Work) sim.Duration
	// Decode returns the durations of successive decode steps of seqs
	// sequences, at least 1, whose context lengths sum to kv in the first step
	// and grow by seqs a step. The i-th, from 0, equals
	// Step(Work{DecodeSeqs: seqs, DecodeKV: kv+i·seqs, Samples: seqs}). Inc is
	// 0 or more and Steps at least 1.
	Decode(seqs, kv int64) Progression
}
