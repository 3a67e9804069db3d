package fit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"servesim/sim/gpu"
)

// Wanted says which rows to fit: those of one GPU, of some engines. All-reduce may
// have other engines than the rest.
type Wanted struct {
	GPU           string   // as the tables call it, such as H100
	Engines       []string // whose rows are pooled
	ReduceEngines []string // nil: Engines
	Datasheet     gpu.Datasheet
	Data          string // for the provenance
}

// Kernels fits the coefficients of all operators that the tables have rows for.
func (t *Tables) Kernels(w Wanted) (gpu.Kernels, error) {
	k := gpu.Kernels{GEMM: map[string]gpu.GEMM{}, AllReduce: map[string]gpu.AllReduce{}, MoE: map[string]gpu.MoE{}}
	if err := t.gemms(w, k.GEMM); err != nil {
		return k, err
	}
	if err := t.attention(w, &k); err != nil {
		return k, err
	}
	if err := t.reductions(w, k.AllReduce); err != nil {
		return k, err
	}
	return k, t.experts(w, k.MoE)
}

func (t *Tables) gemms(w Wanted, into map[string]gpu.GEMM) error {
	groups := map[string][]gemmRow{}
	for _, r := range t.gemm {
		if w.has(r.kernel) {
			groups[r.format+" "+r.engine] = append(groups[r.format+" "+r.engine], r)
		}
	}
	pooled := map[string][]gemmRow{}
	for _, name := range sortedKeys(groups) {
		format, _, _ := strings.Cut(name, " ")
		pooled[format] = append(pooled[format], cached(warm(groups[name]), w.Datasheet.L2Bytes)...)
	}
	for _, format := range sortedKeys(pooled) {
		c, err := fitGEMM(pooled[format], w.Datasheet, gpu.Format(format))
		if err != nil {
			return fmt.Errorf("%s GEMM of %s: %w", format, w.Data, err)
		}
		c.Fit.Data = w.Data
		into[format] = c
	}
	return nil
}

// wideHead is the head dimension that the tables of d128 are fitted on.
const wideHead = 128

func (t *Tables) attention(w Wanted, k *gpu.Kernels) error {
	k.AttnPrefill = gpu.KernelsPrefill{D128: map[string]gpu.AttnPrefill{}, D64: map[string]gpu.AttnPrefill{}, Window: map[string]gpu.AttnPrefill{}}
	k.AttnDecode = gpu.KernelsDecode{D128: map[string]gpu.AttnDecode{}, D64: map[string]gpu.AttnDecode{}}
	for _, format := range []gpu.Format{gpu.BF16, gpu.FP8} {
		for _, table := range []struct {
			of       map[string]gpu.AttnPrefill
			belongs  func(attnRow) bool
			windowed string
		}{
			{k.AttnPrefill.D128, func(r attnRow) bool { return r.window == 0 && r.shape.HeadDim == wideHead }, ""},
			{k.AttnPrefill.D64, func(r attnRow) bool { return r.window == 0 && r.shape.HeadDim < wideHead }, ""},
			{k.AttnPrefill.Window, func(r attnRow) bool { return r.window > 0 }, ", window 128, head_dim 64"},
		} {
			c, err := fitPrefill(w.attention(t.prefill, format, table.belongs), w.Datasheet, format)
			if err != nil {
				return fmt.Errorf("%s prefill attention of %s: %w", format, w.Data, err)
			}
			c.Fit.Data = w.Data
			c.Fit.Range += table.windowed
			table.of[string(format)] = c
		}
		for _, table := range []struct {
			of      map[string]gpu.AttnDecode
			belongs func(attnRow) bool
		}{
			{k.AttnDecode.D128, func(r attnRow) bool { return !r.cached && r.shape.HeadDim == wideHead }},
			{k.AttnDecode.D64, func(r attnRow) bool { return !r.cached && r.shape.HeadDim < wideHead }},
		} {
			c, err := fitDecode(w.attention(t.decode, format, table.belongs), w.Datasheet)
			if err != nil {
				return fmt.Errorf("%s decode attention of %s: %w", format, w.Data, err)
			}
			c.Fit.Data = w.Data
			table.of[string(format)] = c
		}
	}
	return nil
}

// attention returns the rows of a KV format that are wanted and belong.
func (w Wanted) attention(rows []attnRow, format gpu.Format, belongs func(attnRow) bool) []attnRow {
	var out []attnRow
	for _, r := range rows {
		if w.has(r.kernel) && r.format == string(format) && belongs(r) {
			out = append(out, r)
		}
	}
	return out
}

func (t *Tables) reductions(w Wanted, into map[string]gpu.AllReduce) error {
	groups := map[int64][]reduceRow{}
	for _, r := range t.reduce {
		if w.reduces(r) {
			groups[r.gpus] = append(groups[r.gpus], r)
		}
	}
	for _, n := range sortedKeys(groups) {
		c, err := fitReduce(groups[n], w.Datasheet)
		if err != nil {
			return fmt.Errorf("all-reduce over %d GPUs of %s: %w", n, w.Data, err)
		}
		c.Fit.Data = strings.Join(w.reduceEngines(), ", ") + " rows of " + w.GPU
		into[fmt.Sprintf("tp%d", n)] = c
	}
	return nil
}

func (t *Tables) experts(w Wanted, into map[string]gpu.MoE) error {
	groups := map[string][]moeRow{}
	for _, r := range t.moe {
		if w.has(r.kernel) && t.fits(r) {
			f := string(expertFormat(r.format))
			groups[f] = append(groups[f], r)
		}
	}
	for _, format := range sortedKeys(groups) {
		c, err := fitMoE(groups[format], w.Datasheet, gpu.Format(format))
		if err != nil {
			return fmt.Errorf("%s experts of %s: %w", format, w.Data, err)
		}
		c.Fit.Data = w.Data
		into[format] = c
	}
	return nil
}

// outdone tells whether k computes mxfp4 in bf16 though the engine can do it in
// fp8 on that GPU, which is then what it does.
func (t *Tables) outdone(k kernel) bool {
	if k.format != "w4a16_mxfp4" {
		return false
	}
	k.format = "w4a8_mxfp4_mxfp8"
	return slices.ContainsFunc(t.moe, func(r moeRow) bool { return r.kernel == k })
}

// fits tells whether a row of experts is one that fits are made of.
func (t *Tables) fits(r moeRow) bool {
	return r.routing == "power_law_1.2" && r.ranks == 1 && !t.outdone(r.kernel)
}

func (w Wanted) reduceEngines() []string {
	if w.ReduceEngines != nil {
		return w.ReduceEngines
	}
	return w.Engines
}

// reduces tells whether w wants the row of an all-reduce.
func (w Wanted) reduces(r reduceRow) bool {
	return r.gpu == w.GPU && slices.Contains(w.reduceEngines(), r.engine)
}

// has tells whether w wants the rows of k.
func (w Wanted) has(k kernel) bool { return k.gpu == w.GPU && slices.Contains(w.Engines, k.engine) }

// Ratios says how much faster the memory of one GPU is than that of another, as
// seen by what streams weights or a bf16 cache, and by decode attention over an
// fp8 cache, which memory alone doesn't limit.
type Ratios struct {
	Memory, FP8Cache float64
}

// Carried returns k for another GPU of the same compute units and links, whose
// memory is faster by r: what streams weights or contexts is as much faster, and
// all else the same. note is added to every provenance.
func Carried(k gpu.Kernels, r Ratios, note string) gpu.Kernels {
	mark := func(p gpu.Provenance) gpu.Provenance {
		p.Data += note
		return p
	}
	out := gpu.Kernels{
		GEMM: mapped(k.GEMM, func(c gpu.GEMM) gpu.GEMM {
			c.WeightBytesPerS, c.Fit = c.WeightBytesPerS*r.Memory, mark(c.Fit)
			return c
		}),
		AllReduce: mapped(k.AllReduce, func(c gpu.AllReduce) gpu.AllReduce {
			c.Fit = mark(c.Fit)
			return c
		}),
		MoE: mapped(k.MoE, func(c gpu.MoE) gpu.MoE {
			c.WeightBytesPerS, c.Fit = c.WeightBytesPerS*r.Memory, mark(c.Fit)
			return c
		}),
	}
	prefill := func(c gpu.AttnPrefill) gpu.AttnPrefill {
		c.Fit = mark(c.Fit)
		return c
	}
	decode := func(byFormat map[string]gpu.AttnDecode) map[string]gpu.AttnDecode {
		out := map[string]gpu.AttnDecode{}
		for f, c := range byFormat {
			ratio := r.Memory
			if f == string(gpu.FP8) {
				ratio = r.FP8Cache
			}
			c.BytesPerS, c.Fit = c.BytesPerS*ratio, mark(c.Fit)
			out[f] = c
		}
		return out
	}
	out.AttnPrefill = gpu.KernelsPrefill{D128: mapped(k.AttnPrefill.D128, prefill), D64: mapped(k.AttnPrefill.D64, prefill), Window: mapped(k.AttnPrefill.Window, prefill)}
	out.AttnDecode = gpu.KernelsDecode{D128: decode(k.AttnDecode.D128), D64: decode(k.AttnDecode.D64)}
	return out
}

func mapped[V any](m map[string]V, f func(V) V) map[string]V {
	out := map[string]V{}
	for k, v := range m {
		out[k] = f(v)
	}
	return out
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
