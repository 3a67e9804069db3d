package workload

import (
	"errors"
	"fmt"

	"servesim/sim"
)

// Caps are the most tokens that Clip leaves; 0 is no limit.
type Caps struct {
	// Prompt and Output limit each length by itself.
	Prompt, Output int32
	// Total limits prompt and output together, 2 or more: what is over is cut
	// from the output, down to 1 token, and then from the prompt.
	Total int32
}

// Clip cuts the lengths of src to caps, of which at least one is set, first by
// Prompt and Output and then by Total. It counts the lengths and the tokens
// that it cut. Prefix hashes are kept as far as the new prompt reaches. src may
// be Reactive; the result then is too.
func Clip(src Source, caps Caps) (Source, error) {
	switch {
	case caps == Caps{}:
		return nil, errors.New("clip: no limit, want at least one of prompt, output and total")
	case caps.Prompt < 0 || caps.Output < 0 || caps.Total < 0 || caps.Total == 1:
		return nil, fmt.Errorf("clip: found the limits prompt %d, output %d and total %d, want 1 or more tokens, 2 for the total",
			caps.Prompt, caps.Output, caps.Total)
	}
	c := clip{stage: stage{src: src}, caps: caps}
	if src, ok := src.(Reactive); ok {
		return &reactiveClip{c, src}, nil
	}
	return &c, nil
}

type clip struct {
	stage
	caps                       Caps
	prompts, outputs           int64 // lengths cut
	promptTokens, outputTokens int64 // tokens cut off
	full                       int64 // requests whose prompt alone reaches Caps.Total
}

// Next implements Source.
func (c *clip) Next() (Request, error) {
	r, err := c.read()
	if err == nil {
		c.cut(&r)
	}
	return r, err
}

// cut applies the caps to r.
func (c *clip) cut(r *Request) {
	prompt, output := r.Prompt, r.Output
	if c.caps.Prompt > 0 {
		r.Prompt = min(r.Prompt, c.caps.Prompt)
	}
	if c.caps.Output > 0 {
		r.Output = min(r.Output, c.caps.Output)
	}
	if total := c.caps.Total; total > 0 {
		if r.Prompt >= total {
			c.full++
		}
		r.Prompt = min(r.Prompt, total-1)
		r.Output = min(r.Output, total-r.Prompt)
	}
	if cut := int64(prompt - r.Prompt); cut > 0 {
		c.prompts++
		c.promptTokens += cut
	}
	if cut := int64(output - r.Output); cut > 0 {
		c.outputs++
		c.outputTokens += cut
	}
	trimBlocks(r)
}

// Counts implements Counted.
func (c *clip) Counts() []Count {
	return append(CountsOf(c.src), Count{"clip: prompts cut", c.prompts}, Count{"clip: prompt tokens cut off", c.promptTokens},
		Count{"clip: outputs cut", c.outputs}, Count{"clip: output tokens cut off", c.outputTokens},
		Count{"clip: requests whose prompt filled the total, left with 1 output token", c.full})
}

type reactiveClip struct {
	clip
	src Reactive
}

// Done implements Reactive.
func (c *reactiveClip) Done(id int64, t sim.Time) (Request, bool) {
	r, ok := c.src.Done(id, t)
	if ok {
		c.cut(&r)
	}
	return r, ok
}
