package gpu

// Elementwise is the rate at which norms, rotary embedding and the activation
// function move bytes.
type Elementwise struct {
	BytesPerS float64 `toml:"bytes_per_s" want:"rate"`
}

// perToken returns the seconds that one layer takes for one token: 16 bytes for
// each element of the residual stream (two norms with residual, read and
// written), 6 for each of the MLP (gate and up read, product written) and 6 for
// each of query, key and value. The MLP of an expert layer has its own.
func (c Elementwise) perToken(m *Model, l layout) float64 {
	bytes := 16*m.Hidden + 6*l.qkv
	if m.Experts == 0 {
		bytes += 6 * l.width
	}
	return float64(bytes) / c.BytesPerS
}
