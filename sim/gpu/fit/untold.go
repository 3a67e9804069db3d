package fit

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"gonum.org/v1/gonum/mat"

	"servesim/sim/gpu"
)

// Untold is a coefficient that rows tell badly, or two that they cannot tell apart.
type Untold struct {
	// Table is that of the coefficients, such as gemm.fp8, and Keys are the one or two.
	Table string
	Keys  []string
	// Error is the relative standard error of one coefficient, with all others free;
	// Correlation that of the errors of two.
	Error, Correlation float64
	// Flat tells that the rows say nothing of the one at all.
	Flat bool
}

// From what on a coefficient counts as told badly, and two as not told apart.
const (
	badError       = 0.25
	badCorrelation = 0.95
)

// String says it in words.
func (u Untold) String() string {
	switch {
	case len(u.Keys) > 1:
		return fmt.Sprintf("%s: the rows cannot tell %s and %s apart (correlation %+.2f)", u.Table, u.Keys[0], u.Keys[1], u.Correlation)
	case u.Flat:
		return fmt.Sprintf("%s: the rows say nothing of %s", u.Table, u.Keys[0])
	}
	return fmt.Sprintf("%s: the rows tell %s to %.0f %% only", u.Table, u.Keys[0], 100*u.Error)
}

// Untold returns what the rows that w wants cannot tell of the coefficients k that
// were fitted to them, table by table: the singular values of the derivatives of the
// logarithms of predicted times, with the scatter of the rows, give the errors.
func (t *Tables) Untold(k gpu.Kernels, w Wanted) []Untold {
	var out []Untold
	for _, f := range sortedKeys(k.GEMM) {
		var rows []gemmRow
		for _, r := range t.gemm {
			if w.has(r.kernel) && r.format == f {
				rows = append(rows, r)
			}
		}
		rows, memory := cached(rows, w.Datasheet.L2Bytes), k.GEMM[f].WeightBytesPerS
		out = append(out, untold("gemm."+f, k.GEMM[f], k.GEMM[f].Fit.Median, len(rows), func(c *gpu.GEMM, i int) float64 {
			if rows[i].cached { // tells nothing of the memory
				from := *c
				from.WeightBytesPerS = memory
				return from.Seconds(rows[i].shape)
			}
			return c.Seconds(rows[i].shape)
		})...)
	}
	for _, p := range []struct {
		name string
		by   map[string]gpu.AttnPrefill
		is   func(attnRow) bool
	}{
		{"d128", k.AttnPrefill.D128, func(r attnRow) bool { return r.window == 0 && r.shape.HeadDim == wideHead }},
		{"d64", k.AttnPrefill.D64, func(r attnRow) bool { return r.window == 0 && r.shape.HeadDim < wideHead }},
		{"window", k.AttnPrefill.Window, func(r attnRow) bool { return r.window > 0 }},
	} {
		for _, f := range sortedKeys(p.by) {
			rows := w.attention(t.prefill, gpu.Format(f), p.is)
			out = append(out, untold("attn_prefill."+p.name+"."+f, p.by[f], p.by[f].Fit.Median, len(rows), func(c *gpu.AttnPrefill, i int) float64 {
				tokens, pairs := rows[i].prefillWork()
				return c.Seconds(rows[i].shape, tokens, pairs)
			})...)
		}
	}
	for _, d := range []struct {
		name string
		by   map[string]gpu.AttnDecode
		wide bool
	}{{"d128", k.AttnDecode.D128, true}, {"d64", k.AttnDecode.D64, false}} {
		for _, f := range sortedKeys(d.by) {
			rows := w.attention(t.decode, gpu.Format(f), func(r attnRow) bool { return !r.cached && (r.shape.HeadDim == wideHead) == d.wide })
			out = append(out, untold("attn_decode."+d.name+"."+f, d.by[f], d.by[f].Fit.Median, len(rows), func(c *gpu.AttnDecode, i int) float64 {
				return c.Seconds(rows[i].shape, rows[i].batch, rows[i].batch*rows[i].length)
			})...)
		}
	}
	return append(append(out, t.untoldReductions(k, w)...), t.untoldExperts(k, w)...)
}

func (t *Tables) untoldReductions(k gpu.Kernels, w Wanted) []Untold {
	var out []Untold
	for _, n := range sortedKeys(k.AllReduce) {
		var rows []reduceRow
		for _, r := range t.reduce {
			if w.reduces(r) && fmt.Sprintf("tp%d", r.gpus) == n {
				rows = append(rows, r)
			}
		}
		out = append(out, untold("allreduce."+n, k.AllReduce[n], k.AllReduce[n].Fit.Median, len(rows), func(c *gpu.AllReduce, i int) float64 { return c.Seconds(rows[i].bytes) })...)
	}
	return out
}

func (t *Tables) untoldExperts(k gpu.Kernels, w Wanted) []Untold {
	var out []Untold
	for _, f := range sortedKeys(k.MoE) {
		var rows []moeRow
		for _, r := range t.moe {
			if w.has(r.kernel) && t.fits(r) && string(expertFormat(r.format)) == f {
				rows = append(rows, r)
			}
		}
		out = append(out, untold("moe."+f, k.MoE[f], k.MoE[f].Fit.Median, len(rows), func(c *gpu.MoE, i int) float64 { return c.Seconds(rows[i].shape, rows[i].tokens) })...)
	}
	return out
}

// untold returns what rows rows, of which seconds predicts row i, cannot tell of
// the coefficients c, which are its numbers above 0. scatter is the median error.
func untold[C any](table string, c C, scatter float64, rows int, seconds func(c *C, i int) float64) []Untold {
	keys, jacobian := derivatives(c, rows, seconds)
	n := len(keys)
	var svd mat.SVD
	if n == 0 || rows < n || !svd.Factorize(jacobian, mat.SVDThin) {
		return nil
	}
	values := svd.Values(nil)
	var v mat.Dense
	svd.VTo(&v)
	covariance := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sum := 0.0
			for s, x := range values {
				x = max(x, 1e-6) // of no effect: known to a million times the scatter
				sum += float64(float64(v.At(i, s)*v.At(j, s)) / float64(x*x))
			}
			covariance.SetSym(i, j, sum)
		}
	}
	// The median of |x| of a normal variable is 0.6745 of its deviation.
	sigma := scatter / 0.6745
	var out []Untold
	for i := range n {
		if e := sigma * math.Sqrt(covariance.At(i, i)); e > badError {
			out = append(out, Untold{Table: table, Keys: []string{keys[i]}, Error: e, Flat: e > 10})
		}
		for j := range i {
			if r := covariance.At(i, j) / math.Sqrt(float64(covariance.At(i, i)*covariance.At(j, j))); math.Abs(r) >= badCorrelation {
				out = append(out, Untold{Table: table, Keys: []string{keys[j], keys[i]}, Correlation: r})
			}
		}
	}
	return out
}

// derivatives returns the coefficients of c above 0 by their keys, and the derivatives
// of the logarithm of each row's seconds by theirs.
func derivatives[C any](c C, rows int, seconds func(c *C, i int) float64) ([]string, *mat.Dense) {
	const step = 1e-4
	var keys []string
	var columns [][]float64
	kind := reflect.TypeFor[C]()
	for f := range kind.NumField() {
		field := reflect.ValueOf(&c).Elem().Field(f)
		if field.Kind() != reflect.Float64 || field.Float() == 0 {
			continue
		}
		at := field.Float()
		column := make([]float64, rows)
		for i := range rows {
			field.SetFloat(float64(at * (1 + step)))
			above := seconds(&c, i)
			field.SetFloat(float64(at * (1 - step)))
			column[i] = (above/seconds(&c, i) - 1) / (2 * step)
		}
		field.SetFloat(at)
		key, _, _ := strings.Cut(kind.Field(f).Tag.Get("toml"), ",")
		keys, columns = append(keys, key), append(columns, column)
	}
	if rows == 0 || len(keys) == 0 {
		return nil, nil
	}
	j := mat.NewDense(rows, len(keys), nil)
	for k, column := range columns {
		j.SetCol(k, column)
	}
	return keys, j
}
