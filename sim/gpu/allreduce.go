package gpu

// AllReduce is the coefficients of an all-reduce of x bytes over a replica:
//
//	t = fixed + knee·x/(x + kneeBytes) + x/(bytes/s)
//
// The knee is the change from the algorithms for short messages to those for long
// ones; the minimum of three straight lines, one for each, fits no better.
type AllReduce struct {
	FixedS    float64    `toml:"fixed_s" want:"span"`
	BytesPerS float64    `toml:"bytes_per_s" want:"rate"`
	KneeS     float64    `toml:"knee_s" want:"span,optional"`
	KneeBytes float64    `toml:"knee_bytes" want:"size,optional"`
	Fit       Provenance `toml:"fit" want:"optional"`
}

// Seconds returns the time of one all-reduce of bytes bytes, in seconds.
func (c AllReduce) Seconds(bytes int64) float64 {
	t := c.FixedS + float64(bytes)/c.BytesPerS
	if c.KneeS > 0 {
		t += float64(c.KneeS * (1 - c.KneeBytes/(float64(bytes)+c.KneeBytes)))
	}
	return t
}

// allReduce is the two all-reduces of a layer, as a function of the tokens of
// the step; the zero value is a replica of one GPU, which has none.
type allReduce struct {
	fixed    float64 // s, both
	perToken float64 // s, both
	knee     float64 // s, both
	kneeAt   float64 // tokens
}

// of returns the all-reduces of bf16 activations of hidden elements a token,
// each of which the engine delays by skew seconds.
func (c AllReduce) of(hidden int64, skew float64) allReduce {
	bytes := 2 * float64(hidden)
	return allReduce{
		fixed:    2 * (c.FixedS + skew),
		perToken: 2 * bytes / c.BytesPerS,
		knee:     2 * c.KneeS,
		kneeAt:   c.KneeBytes / bytes,
	}
}

func (a allReduce) seconds(m float64) float64 {
	t := a.fixed + float64(a.perToken*m)
	if a.knee > 0 {
		// m/(m+kneeAt), written so that it cannot shrink by rounding.
		t += float64(a.knee * (1 - a.kneeAt/(m+a.kneeAt)))
	}
	return t
}
