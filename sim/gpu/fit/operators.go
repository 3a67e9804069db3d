package fit

import (
	"fmt"

	"servesim/sim/gpu"
)

// nothing is a rate so high that what it moves takes no time: the fit of a pass
// that isn't there.
const nothing = 1e14 // bytes/s

// warm leaves out the rows of an m at which most shapes take over 1.2 times as
// long as at the next larger m: padding to that m would be faster, so something
// else was measured, such as a first call.
func warm(rows []gemmRow) []gemmRow {
	type shape struct{ n, k int64 }
	by := map[int64]map[shape]float64{}
	for _, r := range rows {
		if by[r.shape.M] == nil {
			by[r.shape.M] = map[shape]float64{}
		}
		by[r.shape.M][shape{r.shape.N, r.shape.K}] = r.seconds
	}
	ms := sortedKeys(by)
	cold := map[int64]bool{}
	for i := range len(ms) - 1 {
		slow := 0
		for s, t := range by[ms[i]] {
			if next, ok := by[ms[i+1]][s]; ok && t > 1.2*next {
				slow++
			}
		}
		cold[ms[i]] = 2*slow > len(by[ms[i]])
	}
	var out []gemmRow
	for _, r := range rows {
		if !cold[r.shape.M] {
			out = append(out, r)
		}
	}
	return out
}

// prefillWork returns the tokens and the query-key pairs of a row.
func (r attnRow) prefillWork() (tokens, pairs int64) {
	tokens = r.batch * r.length
	pairs = r.batch * (r.length * (r.length + 1) / 2)
	if r.window > 0 {
		pairs = min(pairs, tokens*r.window)
	}
	return tokens, pairs
}

// fitPrefill fits the attention of prompt tokens over keys of format f.
func fitPrefill(rows []attnRow, d gpu.Datasheet, f gpu.Format) (gpu.AttnPrefill, error) {
	at := func(x []float64) gpu.AttnPrefill {
		return gpu.AttnPrefill{FixedS: x[0], FlopPerS: x[1], TailS: x[2], BytesPerS: x[3], KVBytesPerS: x[4]}
	}
	p := problem{
		coefficients: []coefficient{{10e-6, 0}, {0.4 * d.Peak(f), 0.8 * d.Peak(f)}, {10e-6, 0}, {0.4 * d.HBMBytesPerS, d.HBMBytesPerS}, {0.3 * d.HBMBytesPerS, d.HBMBytesPerS}},
		predict: func(x []float64) func(int) float64 {
			c := at(x)
			return func(i int) float64 {
				tokens, pairs := rows[i].prefillWork()
				return c.Seconds(rows[i].shape, tokens, pairs)
			}
		},
	}
	for _, r := range rows {
		p.samples = append(p.samples, sample{r.shapeName(), r.seconds})
	}
	x, prov, err := p.solve()
	if err != nil {
		return gpu.AttnPrefill{}, err
	}
	c := at(x)
	c.Fit = prov
	if c.TailS < 1e-11 { // less than a nanosecond of a step
		c.TailS = 0
	}
	c.Fit.Range = fmt.Sprintf("prompt tokens %s, prompts %s, query heads %s, KV heads %s", span(rows, length), span(rows, batch), span(rows, heads), span(rows, kvHeads))
	return c, nil
}

// fitDecode fits the attention of decode tokens.
func fitDecode(rows []attnRow, d gpu.Datasheet) (gpu.AttnDecode, error) {
	at := func(x []float64) gpu.AttnDecode {
		return gpu.AttnDecode{FixedS: x[0], PerSeqKVHeadS: x[1], BytesPerS: x[2]}
	}
	p := problem{
		coefficients: []coefficient{{15e-6, 0}, {10e-9, 0}, {0.9 * d.HBMBytesPerS, d.HBMBytesPerS}},
		predict: func(x []float64) func(int) float64 {
			c := at(x)
			return func(i int) float64 {
				return c.Seconds(rows[i].shape, rows[i].batch, rows[i].batch*rows[i].length)
			}
		},
	}
	for _, r := range rows {
		p.samples = append(p.samples, sample{r.shapeName(), r.seconds})
	}
	x, prov, err := p.solve()
	if err != nil {
		return gpu.AttnDecode{}, err
	}
	c := at(x)
	if c.PerSeqKVHeadS < 1e-12 {
		c.PerSeqKVHeadS = 0
	}
	c.Fit = prov
	c.Fit.Range = fmt.Sprintf("context %s, sequences %s, query heads %s, KV heads %s, KV outside the L2 cache", span(rows, length), span(rows, batch), span(rows, heads), span(rows, kvHeads))
	return c, nil
}

// fitReduce fits all-reduces over one number of GPUs.
func fitReduce(rows []reduceRow, d gpu.Datasheet) (gpu.AllReduce, error) {
	at := func(x []float64) gpu.AllReduce {
		return gpu.AllReduce{FixedS: x[0], BytesPerS: x[1], KneeS: x[2], KneeBytes: x[3]}
	}
	p := problem{
		coefficients: []coefficient{{4e-6, 0}, {0.6 * d.LinkBytesPerS(), d.LinkBytesPerS()}, {10e-6, 0}, {1e6, 0}},
		predict: func(x []float64) func(int) float64 {
			c := at(x)
			return func(i int) float64 { return c.Seconds(rows[i].bytes) }
		},
	}
	for _, r := range rows {
		p.samples = append(p.samples, sample{fmt.Sprintf("%12d bytes", r.bytes), r.seconds})
	}
	x, prov, err := p.solve()
	if err != nil {
		return gpu.AllReduce{}, err
	}
	c := at(x)
	if c.KneeS < 1e-9 {
		c.KneeS, c.KneeBytes = 0, 0
	}
	c.Fit = prov
	c.Fit.Range = fmt.Sprintf("bytes %s", span(rows, func(r reduceRow) int64 { return r.bytes }))
	return c, nil
}

// fitMoE fits layers of experts of format f.
func fitMoE(rows []moeRow, d gpu.Datasheet, f gpu.Format) (gpu.MoE, error) {
	at := func(x []float64) gpu.MoE {
		return gpu.MoE{FixedS: x[0], PerExpertS: x[1], FlopPerS: x[2], WeightBytesPerS: x[3], ActivationBytesPS: x[4]}
	}
	p := problem{
		coefficients: []coefficient{{30e-6, 0}, {20e-9, 0}, {0.6 * d.Peak(f), d.Peak(f)}, {0.8 * d.HBMBytesPerS, d.HBMBytesPerS}, {1e12, 0}},
		predict: func(x []float64) func(int) float64 {
			c := at(x)
			return func(i int) float64 { return c.Seconds(rows[i].shape, rows[i].tokens) }
		},
	}
	for _, r := range rows {
		p.samples = append(p.samples, sample{fmt.Sprintf("h%d f%d e%d", r.shape.Hidden, r.shape.Width, r.shape.Experts), r.seconds})
	}
	x, prov, err := p.solve()
	if err != nil {
		return gpu.MoE{}, err
	}
	c := at(x)
	if c.ActivationBytesPS > nothing {
		c.ActivationBytesPS = 0
	}
	if c.PerExpertS < 1e-12 {
		c.PerExpertS = 0
	}
	c.Fit = prov
	c.Fit.Range = fmt.Sprintf("tokens %s, hidden %s, width %s, experts %s, one rank of experts, power-law (1.2) routing", span(rows, func(r moeRow) int64 { return r.tokens }),
		span(rows, func(r moeRow) int64 { return r.shape.Hidden }), span(rows, func(r moeRow) int64 { return r.shape.Width }), span(rows, func(r moeRow) int64 { return r.shape.Experts }))
	return c, nil
}

func length(r attnRow) int64  { return r.length }
func batch(r attnRow) int64   { return r.batch }
func heads(r attnRow) int64   { return r.shape.Heads }
func kvHeads(r attnRow) int64 { return r.shape.KVHeads }

// shapeName names the heads and the batch of a row.
func (r attnRow) shapeName() string {
	return fmt.Sprintf("h%d k%d b%d", r.shape.Heads, r.shape.KVHeads, r.batch)
}

// span says from where to where of goes in rows.
func span[R any](rows []R, of func(R) int64) string {
	least, most := of(rows[0]), of(rows[0])
	for _, r := range rows {
		least, most = min(least, of(r)), max(most, of(r))
	}
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}
