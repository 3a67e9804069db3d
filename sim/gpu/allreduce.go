package gpu

import (
	"fmt"
	"strings"
)

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

// ReduceAlgorithm is one algorithm of an engine's all-reduce, for messages of x
// bytes, FromBytes and more:
//
//	t = fixed + x/(bytes/s)
//
// Engines change algorithms by the size of the message, and some of the changes are
// steps that the curve of AllReduce cannot follow.
type ReduceAlgorithm struct {
	FromBytes float64 `toml:"from_bytes" want:"bytes"`
	FixedS    float64 `toml:"fixed_s" want:"span"`
	BytesPerS float64 `toml:"bytes_per_s" want:"rate"`
}

// Seconds returns the time of one all-reduce of bytes bytes, in seconds.
func (a ReduceAlgorithm) Seconds(bytes float64) float64 { return a.FixedS + bytes/a.BytesPerS }

// ReduceAlgorithms is the algorithms of an engine's all-reduces over 2, 4 and 8 GPUs,
// each in order of size.
type ReduceAlgorithms struct {
	TP2 []ReduceAlgorithm `toml:"tp2" want:"optional"`
	TP4 []ReduceAlgorithm `toml:"tp4" want:"optional"`
	TP8 []ReduceAlgorithm `toml:"tp8" want:"optional"`
}

// of returns the algorithms over so many GPUs.
func (r ReduceAlgorithms) of(gpus int64) []ReduceAlgorithm {
	switch gpus {
	case 2:
		return r.TP2
	case 4:
		return r.TP4
	case 8:
		return r.TP8
	}
	return nil
}

// checkAlgorithms tells fault what is wrong with the algorithms of the engine called
// name: they must stand in order of size, and none may be faster than the one before
// where it takes over from it.
func (p *Profile) checkAlgorithms(name string, fault func(key, format string, args ...any)) {
	e := p.Engine[name]
	r, ok := p.ReduceAlgorithms[e.ReduceAlgorithms]
	if !ok && e.ReduceAlgorithms != "" {
		fault("engine."+name+".reduce_algorithms", "found %q; must be one of the tables under reduce_algorithms: %s", e.ReduceAlgorithms, strings.Join(sortedKeys(p.ReduceAlgorithms), ", "))
	}
	k := p.kernels(e)
	for _, gpus := range tensorParallel() {
		before := func(bytes float64) float64 { return k.AllReduce[fmt.Sprintf("tp%d", gpus)].Seconds(int64(bytes)) }
		from := -1.0
		for i, a := range r.of(gpus) {
			key := fmt.Sprintf("reduce_algorithms.%s.tp%d[%d]", e.ReduceAlgorithms, gpus, i)
			if a.FromBytes <= from {
				fault(key, "from_bytes is %.0f; must be more than that of the algorithm before, %.0f", a.FromBytes, from)
			}
			if was, is := before(a.FromBytes), a.Seconds(a.FromBytes); a.FromBytes > 0 && is < was {
				fault(key, "takes %.2f us for %.0f bytes; must be at least what the algorithm before takes, %.2f us", is*1e6, a.FromBytes, was*1e6)
			}
			if most := p.Datasheet.LinkBytesPerS(); a.BytesPerS > most {
				fault(key, "bytes_per_s is %.6g; must be at most %.6g, by datasheet.nvlink_bytes_per_s, half of it in each direction", a.BytesPerS, most)
			}
			before, from = a.Seconds, a.FromBytes
		}
	}
}

// allReduce is the two all-reduces of a layer, as a function of the tokens of
// the step; the zero value is a replica of one GPU, which has none.
type allReduce struct {
	fixed    float64 // s, both
	perToken float64 // s, both
	knee     float64 // s, both
	kneeAt   float64 // tokens

	longer []longerReduce // by size; replace the above
}

// longerReduce is what takes over from so many tokens on.
type longerReduce struct {
	from            float64 // tokens
	fixed, perToken float64 // s, both
}

// of returns the all-reduces of bf16 activations of hidden elements a token,
// each of which the engine delays by skew seconds; algorithms are those of longer
// messages, if the engine has such.
func (c AllReduce) of(hidden int64, skew float64, algorithms []ReduceAlgorithm) allReduce {
	bytes := 2 * float64(hidden)
	var longer []longerReduce
	for _, a := range algorithms {
		longer = append(longer, longerReduce{a.FromBytes / bytes, 2 * (a.FixedS + skew), 2 * bytes / a.BytesPerS})
	}
	return allReduce{
		longer:   longer,
		fixed:    2 * (c.FixedS + skew),
		perToken: 2 * bytes / c.BytesPerS,
		knee:     2 * c.KneeS,
		kneeAt:   c.KneeBytes / bytes,
	}
}

func (a *allReduce) seconds(m float64) float64 {
	for i := len(a.longer) - 1; i >= 0; i-- {
		if l := &a.longer[i]; m >= l.from {
			return l.fixed + float64(l.perToken*m)
		}
	}
	t := a.fixed + float64(a.perToken*m)
	if a.knee > 0 {
		// m/(m+kneeAt), written so that it cannot shrink by rounding.
		t += float64(a.knee * (1 - a.kneeAt/(m+a.kneeAt)))
	}
	return t
}
