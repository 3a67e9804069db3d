package dialect

// roles are the choices that most measures of a tool have in common.
type roles struct {
	// start begins every measure, first ends the wait for the first token, last
	// ends the making of tokens and end the call.
	start, first, last, end Event
	// among are the chunks that count, and count the tokens.
	among Set
	count Count
	round Rounding
}

// wait is the time to the first token.
func (r roles) wait() Measure { return Measure{Kind: Span, From: r.start, To: r.first} }

// whole is the time to the end of the call.
func (r roles) whole() Measure { return Measure{Kind: Span, From: r.start, To: r.end} }

// perToken is the time from the first token to event to, for each further token.
func (r roles) perToken(to Event) Measure {
	return Measure{Kind: Span, From: r.first, To: to, Over: TokensLessOne, Count: r.count, Round: r.round}
}

// perAny is the time from the start to event to for each token.
func (r roles) perAny(to Event) Measure {
	return Measure{Kind: Span, From: r.start, To: to, Over: Tokens, Count: r.count, Round: r.round}
}

// pauses are those between chunks.
func (r roles) pauses(s Spread) Measure { return Measure{Kind: Gaps, Among: r.among, Spread: s} }

// speed is the inverse of m.
func speed(m Measure) Measure {
	m.Kind = Speed
	return m
}

// rate is a rate of completed calls or of their tokens.
func (r roles) rate(key, label string, a Amount, w Window) Rate {
	x := Rate{Key: key, Label: label, Unit: PerSecond, Amount: a, Window: w}
	switch a {
	case Requests:
		x.Name = RequestRate
	case OutputTokens:
		x.Name, x.Count = OutputRate, r.count
	case AllTokens:
		x.Name, x.Count = TotalRate, r.count
	}
	return x
}
