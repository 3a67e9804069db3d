package gpu

// product is a matrix product of every layer of a kind, as a function of its rows.
type product struct {
	gemm
	shape
	weightBytes float64 // of one weight
}

// work is what the product computes with m rows and must read from memory.
func (p *product) work(m int64) (flops, bytes float64) {
	return GEMMShape{m, p.n, p.k, p.weightBytes}.work()
}

// products returns the products with weights of the given shapes.
func (s Setup) products(c coefficients, shapes []shape) []product {
	bytes := s.Weights.outsideExperts().BytesPerWeight()
	var out []product
	for _, x := range shapes {
		out = append(out, product{c.gemm.of(x.n, x.k, bytes, c.engine.FlopEfficiency), x, bytes})
	}
	return out
}

// mlp is the MLPs or experts of the layers that are alike in that.
type mlp struct {
	layers      float64
	gemms       []product
	experts     *moe    // or nil
	elementwise float64 // s per token, beside that of all layers
}

func (x *mlp) seconds(tokens int64) float64 {
	m := float64(tokens)
	s := float64(x.elementwise * m)
	for i := range x.gemms {
		s += x.gemms[i].seconds(m)
	}
	if x.experts != nil {
		s += x.experts.seconds(tokens)
	}
	return float64(x.layers * s)
}

// mlps returns the MLPs and experts of the layers, by kind.
func (s Setup) mlps(l layout, c coefficients) []mlp {
	m := s.Model
	if m.Experts == 0 {
		return []mlp{{layers: float64(m.Layers), gemms: s.products(c, mlpShapes(m, l.width))}}
	}
	shape := l.experts(m, s.Weights)
	experts := c.moe.of(shape)
	experts.active = activeExperts(shape)
	experts = experts.split(l.ep)
	rate := s.Profile.Fitted.Elementwise.BytesPerS
	withExperts := mlp{layers: float64(m.Layers - m.DenseLayers), experts: &experts}
	if l.shared > 0 {
		withExperts.gemms = s.products(c, l.sharedShapes(m))
		withExperts.elementwise = 6 * float64(l.shared) / rate
	}
	kinds := []mlp{withExperts}
	if m.DenseLayers > 0 {
		kinds = append(kinds, mlp{
			layers:      float64(m.DenseLayers),
			gemms:       s.products(c, mlpShapes(m, l.dense)),
			elementwise: 6 * float64(l.dense) / rate,
		})
	}
	return kinds
}

// contextSeconds returns what a token of context adds to the attention of one
// layer in a decode step.
func (s Setup) contextSeconds(l layout, c coefficients) float64 {
	w := l.attn(s.Model, s.KV)
	perToken := c.decode.perToken(w, c.kvEfficiency)
	if s.Model.KVRank > 0 {
		perToken = c.decode.latentPerToken(w, c)
	}
	return perToken / float64(l.groups)
}
