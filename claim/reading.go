package claim

import "math"

// A Reading is one thing that a figure can mean.
type Reading struct {
	Figure
	// Name says what makes it differ from other readings of the claim, empty if nothing
	// does.
	Name string
	// GPUs is Options.GPUs.
	GPUs int64
}

// readings returns what f can mean: where it doesn't say which tokens or which
// percentile, one of each that is usual.
func readings(f Figure, gpus int64) []Reading {
	alternatives := []string{f.Of}
	switch {
	case f.Of != "" || f.Quantity == Requests:
	case f.Quantity == Tokens && f.Scope != User:
		alternatives = []string{"output", "total"}
	default:
		alternatives = []string{"p50", "p99"}
	}
	var list []Reading
	for _, of := range alternatives {
		r := Reading{Figure: f, GPUs: gpus}
		r.Of = of
		switch of {
		case "output", "input":
			r.Name = of + " tokens"
		case "total":
			r.Name = "input and output tokens"
		default:
			r.Name = of
		}
		list = append(list, r)
	}
	return list
}

// one returns the figure of a replica of p, in the unit of the claim; of a
// deployment, that of one replica. It is NaN without data.
func (r *Reading) one(p *Point) float64 {
	switch {
	case r.Quantity.Latency():
		return p.latency(r.Quantity).at(r.Of)
	case r.Scope == User:
		return 1000 / p.TPOT.at(r.Of)
	}
	x := p.RequestsPerS
	if r.Quantity == Tokens {
		x = map[string]float64{"output": p.OutputPerS, "input": p.InputPerS, "total": p.OutputPerS + p.InputPerS}[r.Of]
	}
	if r.Scope == GPU {
		x /= float64(p.TP)
	}
	return x
}

// replicas returns the most replicas of p that the claim allows.
func (r *Reading) replicas(p *Point) int64 {
	if !r.deployment() {
		return 1
	}
	if r.GPUs > 0 {
		return r.GPUs / p.TP
	}
	return ServerGPUs / p.TP
}

// Most returns the figure that p reaches on as many GPUs as the claim allows. Each
// replica has users of its own, so that theirs add up.
func (r *Reading) Most(p *Point) float64 { return r.one(p) * float64(r.replicas(p)) }

// Reached tells whether p can run and reaches the claim.
func (r *Reading) Reached(p *Point) bool { return p.Reason == "" && r.reach(r.Most(p)) }

// reach tells whether x is the claim or better.
func (r *Reading) reach(x float64) bool {
	if r.Quantity.Latency() {
		return x <= r.Value
	}
	return x >= r.Value
}

// Share returns how much of the claim x is: 1 or more reaches it.
func (r *Reading) Share(x float64) float64 {
	if r.Quantity.Latency() {
		return r.Value / x
	}
	return x / r.Value
}

// Needs returns the fewest replicas of p that reach the claim, those allowed if none
// do.
func (r *Reading) Needs(p *Point) int64 {
	most := r.replicas(p)
	if !r.deployment() || r.GPUs > 0 {
		return most
	}
	for n := int64(1); n < most; n++ {
		if r.reach(r.one(p) * float64(n)) {
			return n
		}
	}
	return most
}

// Ceiling returns what p would reach, in the unit of the claim, if every operator ran
// at the rates of the datasheet; no load of these lengths has less of a latency.
func (r *Reading) Ceiling(p *Point) float64 {
	switch answer := float64(p.Lengths.Output - 1); {
	case r.Quantity == TTFT:
		return p.Roof.TTFT
	case r.Quantity == E2E:
		return p.Roof.TTFT + float64(answer*p.Roof.TPOT)
	case r.Quantity.Latency():
		return p.Roof.TPOT
	case r.Scope == User:
		return 1000 / p.Roof.TPOT
	}
	return r.Most(p) * p.Roof.Speedup
}

// better tells whether x is the better figure of two; what is no number is worse than
// any.
func (r *Reading) better(x, y float64) bool {
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return !math.IsNaN(x)
	case r.Quantity.Latency():
		return x < y
	}
	return x > y
}
