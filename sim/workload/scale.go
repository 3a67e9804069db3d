package workload

import (
	"fmt"
	"math"
)

// ScaleLengths multiplies the prompts of src by the factor prompt and its
// outputs by output, both above 0, and rounds to the nearest token, half to
// even. Where that gives 0 tokens the length is 1, which is counted. Prefix
// hashes are kept as far as the new prompt reaches. The error says that a
// factor is out of range or wraps ErrNoReactive; Next fails with a
// *TransformFault at a length above 2147483647.
func ScaleLengths(src Source, prompt, output float64) (Source, error) {
	for _, f := range []float64{prompt, output} {
		if !(f > 0) || math.IsInf(f, 1) {
			return nil, fmt.Errorf("scale lengths: found the factor %v, want a finite number above 0", f)
		}
	}
	if err := openLoop("scale lengths", src); err != nil {
		return nil, err
	}
	return &scaleLengths{stage: stage{src: src}, prompt: prompt, output: output}, nil
}

type scaleLengths struct {
	stage
	prompt, output float64
	raised         int64
}

// Next implements Source.
func (s *scaleLengths) Next() (Request, error) {
	r, err := s.read()
	if err != nil {
		return r, err
	}
	for _, l := range []struct {
		tokens *int32
		factor float64
	}{{&r.Prompt, s.prompt}, {&r.Output, s.output}} {
		n := math.RoundToEven(float64(*l.tokens) * l.factor)
		if n > math.MaxInt32 {
			s.end = transformFault("scale lengths", "request %d of %d tokens would have %.0f, want at most %d",
				r.ID, *l.tokens, n, math.MaxInt32)
			return Request{}, s.end
		}
		if n < 1 {
			n = 1
			s.raised++
		}
		*l.tokens = int32(n)
	}
	trimBlocks(&r)
	return s.yield(r)
}

// Counts implements Counted.
func (s *scaleLengths) Counts() []Count {
	return append(CountsOf(s.src), Count{"scale lengths: lengths raised from 0 to 1 token", s.raised})
}

// trimBlocks drops the hashes of blocks that lie behind the end of the prompt.
func trimBlocks(r *Request) {
	if len(r.Blocks) > 0 {
		r.Blocks = r.Blocks[:min(len(r.Blocks), ceilDiv(r.Prompt, r.BlockTokens))]
	}
}
