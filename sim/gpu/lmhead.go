package gpu

// LMHead is what the sampling of a step takes beside the output projection.
type LMHead struct {
	FixedS float64 `toml:"fixed_s" want:"span"`
}

// lmHead is the output projection, a bf16 GEMM over the rows that sample, and
// one pass over their fp32 logits.
type lmHead struct {
	gemm   gemm
	fixed  float64 // s
	perRow float64 // s
}

func (c LMHead) of(p *Profile, g GEMM, m *Model, l layout) lmHead {
	return lmHead{
		gemm:   g.of(l.vocab, m.Hidden, BF16.BytesPerWeight(), 1),
		fixed:  c.FixedS,
		perRow: 4 * float64(m.Vocab) / p.Fitted.Elementwise.BytesPerS,
	}
}

// seconds counts at least one row: the engines run the projection in every step.
func (h lmHead) seconds(samples int64) float64 {
	rows := float64(max(1, samples))
	return h.gemm.seconds(rows) + h.fixed + float64(h.perRow*rows)
}
