package gpu

// Parameters returns the number of weights of m, and of those that compute one
// token, the embedding counted in both. Norms, biases and the routers of experts,
// less than 0.1 %, are left out.
func (m *Model) Parameters() (total, active int64) {
	l := m.whole()
	attention := int64(0)
	for _, x := range l.attentionShapes(m) {
		attention += x.n * x.k
	}
	vocab := m.Vocab * m.Hidden
	if !m.TiedEmbeddings {
		vocab *= 2
	}
	mlp := 3 * m.Hidden * l.width
	common := m.Layers*attention + vocab + m.DenseLayers*3*m.Hidden*l.dense
	layers := m.Layers - m.DenseLayers
	if m.Experts == 0 {
		return common + layers*mlp, common + layers*mlp
	}
	common += layers * 3 * m.Hidden * l.shared
	return common + layers*mlp*m.Experts, common + layers*mlp*m.ExpertsPerToken
}

// WeightBytes returns the bytes of all weights in the format f, embedding and
// output projection in bf16.
func (m *Model) WeightBytes(f Format) int64 { return int64(weightBytes(m, m.whole(), f)) }

// KVBytesPerToken returns the bytes that a token takes in the KV cache of all
// layers, on one GPU that has all heads.
func (m *Model) KVBytesPerToken(kv Format) int64 {
	return m.Layers * m.cachedPerToken(m.whole(), kv)
}

// whole returns the layout of one GPU, which divides every model.
func (m *Model) whole() layout {
	l, _ := newLayout(m, 1)
	return l
}
