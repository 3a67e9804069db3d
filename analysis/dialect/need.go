package dialect

import "servesim/analysis/transcript"

// need says what a source must know for m and doesn't; "" if it knows enough.
func (m *Measure) need(f transcript.Facts) string {
	switch {
	case m.Kind <= Speed && m.From == Scheduled && !f.Schedule:
		return "needs when each call was scheduled; the source knows only when it was sent"
	case m.Kind > Speed && !f.Gaps, m.Over == Messages && !f.Gaps, m.event(SecondText, SecondVisible) && !f.Gaps:
		if f.First {
			return "needs the instant of each chunk; the source has only the first and the last"
		}
		return "needs the instant of each chunk, which the source doesn't have"
	case m.Kind <= Speed && m.event(FirstMade, FirstChoice, FirstText, FirstVisible) && !f.First:
		return "needs the instant of the first chunk, which the source doesn't have"
	case (m.LeastTokens > 0 || m.Over == Tokens || m.Over == TokensLessOne || m.Over == TokensAfterFirst) && !m.Count.known(f):
		return "needs the number of output tokens, which the source doesn't have"
	case m.Over == Inputs && !f.Prompts:
		return "needs the number of prompt tokens, which the source doesn't have"
	case m.Failed == Infinite && !f.Failures:
		return "needs the failed calls, which the source leaves out"
	}
	return ""
}

// event tells whether m begins or ends at one of es.
func (m *Measure) event(es ...Event) bool {
	for _, e := range es {
		if m.From == e || m.To == e {
			return true
		}
	}
	return false
}

// known tells whether a source with f can give c.
func (c Count) known(f transcript.Facts) bool {
	return f.Outputs || c.Else == ChunkCount && f.Gaps || c.Else == Requested
}

// need says what a source must know for r and doesn't; "" if it knows enough.
func (r *Rate) need(f transcript.Facts) string {
	switch {
	case !r.Window.known(f), !f.Clock && (r.Amount == PeakChunks || r.Amount == PeakCalls):
		return "needs when calls were sent, which the source doesn't have"
	case r.Amount == PeakCalls && !f.First, r.Amount == PeakChunks && !f.Gaps:
		return "needs the instant of each chunk, which the source doesn't have"
	case (r.Window == LastIssued || r.Window == Issuing) && !f.Schedule:
		return "needs when each call was scheduled; the source knows only when it was sent"
	case (r.Amount == OutputTokens || r.Amount == AllTokens) && !r.Count.known(f):
		return "needs the number of output tokens, which the source doesn't have"
	case (r.Amount == PromptTokens || r.Amount == AllTokens) && !f.Prompts:
		return "needs the number of prompt tokens, which the source doesn't have"
	case (r.Whose == Every || r.Whose == EveryLessOne) && r.Amount == Requests && !f.Failures:
		return "needs the failed calls, which the source leaves out"
	}
	return ""
}

// known tells whether a source with f tells how long w is.
func (w Window) known(f transcript.Facts) bool { return f.Clock || w == Wall && f.Wall > 0 }

// need says what a source must know for g with the limits l and doesn't.
func (g *Goodput) need(l limits, f transcript.Facts) string {
	for i := range l.keys {
		if why := l.keys[i].need(f); why != "" {
			return why
		}
	}
	if g.Of == Every && !f.Failures {
		return "needs the failed calls, which the source leaves out"
	}
	return ""
}
