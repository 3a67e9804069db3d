package validate

import (
	"strconv"
	"strings"

	"servesim/sim/workload"
)

// A traffic is a row's requests.
type traffic struct {
	spec     workload.Spec
	requests int64
	drawn    bool // lengths or arrivals are random
	cached   bool // prompts are in the prefix cache
	notes    []string
}

// Rules for what a source leaves open.
const (
	// requestsPerUser is the number of requests of a closed loop for each of
	// its users, which is InferenceMAX's.
	requestsPerUser = 10
	// openRequests is the number of requests of an open loop.
	openRequests = 1000
	// shortest is the least length of uniform lengths, as a share of the nominal.
	shortest = 0.8
	// outputSpread is the share by which outputs differ from the nominal length
	// where a source says nothing of lengths. Fixed lengths keep the users of a
	// closed loop in step: their prompts come together and delay no decodes. The
	// calibration runs of such a source (TensorRT-LLM on H100) refute that: TPOT of
	// 8 users grows by 0.3 to 2.6 ms from 512 to 256 outputs, and their loss falls
	// from 72 to 38 with this spread. It is 40 with 0.1, and 46 with 0.05.
	outputSpread = 0.2
	// draws is how often a run with random lengths or arrivals is simulated,
	// unless it has more than manyRequests.
	draws        = 4
	manyRequests = 2000
)

// uniformLengths is what tables call lengths that are uniform from shortest of the
// nominal to all of it.
const uniformLengths = "uniform[0.8,1]"

// load returns the requests of row r, or a skip.
func load(r *Row) (*traffic, error) {
	t := &traffic{}
	if err := t.lengths(r); err != nil {
		return nil, err
	}
	switch r.Load {
	case Closed:
		if r.Concurrency < 1 {
			return nil, skip("concurrency not recorded")
		}
		t.requests = r.Requests
		if t.requests == 0 {
			t.requests = requestsPerUser * r.Concurrency
			if r.Source != inferenceMAX {
				t.note("number of requests not stated: %d for each user", requestsPerUser)
			}
		}
		t.users(r.Concurrency)
	case Offline, Static:
		t.requests = r.Requests
		if t.requests == 0 {
			return nil, skip("number of requests not recorded")
		}
		t.users(t.requests)
	case Poisson:
		rate, err := strconv.ParseFloat(r.Rate, 64)
		if err != nil {
			if strings.Contains(r.Rate, "/") {
				return nil, skip("two rates in one run; its stages have rows of their own")
			}
			return nil, skip("arrival rate unknown")
		}
		t.requests = r.Requests
		if t.requests == 0 {
			t.requests = openRequests
			t.note("number of requests not stated: %d", openRequests)
		}
		t.drawn = true
		t.spec.Arrival = &workload.ArrivalSpec{Process: "poisson", RatePerS: &rate}
	case Open:
		return nil, skip("arrival rate unknown")
	default:
		return nil, skipf("load %s is not one that can be replayed", r.Load)
	}
	t.spec.Requests = &t.requests
	return t, nil
}

// repeats returns how often the run is simulated, each time with other draws: a
// run of few requests is one draw of their lengths, and the mean over several is
// what it would measure on average.
func (t *traffic) repeats() int {
	if !t.drawn || t.requests > manyRequests {
		return 1
	}
	return draws
}

func (t *traffic) note(format string, args ...any) {
	t.notes = append(t.notes, skipf(format, args...).Error())
}

// users makes t a closed loop of n users who do not pause.
func (t *traffic) users(n int64) { t.spec.ClosedLoop = &workload.ClosedLoopSpec{Users: &n} }

// lengths sets how long prompts and outputs are.
func (t *traffic) lengths(r *Row) error {
	if r.Prompt < 1 || r.Output < 1 {
		return skip("lengths not recorded")
	}
	fixed := func(n int64) *workload.LengthSpec { return &workload.LengthSpec{Dist: "constant", Value: &n} }
	t.spec.Prompt, t.spec.Output = fixed(r.Prompt), fixed(r.Output)
	switch l := r.Lengths; {
	case l == "fixed":
	case l == uniformLengths:
		t.spec.Prompt, t.spec.Output = between(r.Prompt, shortest, 1), between(r.Output, shortest, 1)
		t.drawn = true
	case strings.Contains(l, "prefix-cached"):
		t.cached = true
		t.note("prompts are nearly all in the prefix cache: %d tokens of each are computed", uncachedTokens)
	case strings.Contains(l, "unknown"):
		t.spec.Output = between(r.Output, 1-outputSpread, 1+outputSpread)
		t.drawn = true
		t.note("length distribution not documented: prompts fixed, outputs uniform within %.0f %% of the nominal length", 100*outputSpread)
	default:
		return skipf("length distribution %q is not documented", l)
	}
	return nil
}

// between returns lengths from low·n to high·n, rounded down, uniformly.
func between(n int64, low, high float64) *workload.LengthSpec {
	least, most := max(1, int64(low*float64(n))), int64(high*float64(n))
	return &workload.LengthSpec{Dist: "uniform", Min: &least, Max: &most}
}
