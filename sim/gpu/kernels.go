package gpu

import "strings"

// Kernels is the coefficients of the operators of one engine's kernels, by number
// format where it matters.
type Kernels struct {
	GEMM        map[string]GEMM      `toml:"gemm" keys:"bf16,fp8,int8,fp4"`
	AttnPrefill KernelsPrefill       `toml:"attn_prefill"`
	AttnDecode  KernelsDecode        `toml:"attn_decode"`
	AllReduce   map[string]AllReduce `toml:"allreduce" keys:"tp2,tp4,tp8"`
	MoE         map[string]MoE       `toml:"moe" keys:"bf16,fp8,int8,fp4,mxfp4" want:"optional"`
}

// KernelsPrefill is the coefficients of prefill attention by head dimension, then
// by KV format. Window is that of sliding-window layers, of any head dimension.
type KernelsPrefill struct {
	D128   map[string]AttnPrefill `toml:"d128" keys:"bf16,fp8"`
	D64    map[string]AttnPrefill `toml:"d64" keys:"bf16,fp8"`
	Window map[string]AttnPrefill `toml:"window" keys:"bf16,fp8"`
}

// KernelsDecode is the coefficients of decode attention by head dimension, then
// by KV format.
type KernelsDecode struct {
	D128 map[string]AttnDecode `toml:"d128" keys:"bf16,fp8"`
	D64  map[string]AttnDecode `toml:"d64" keys:"bf16,fp8"`
}

// Provenance says which measurements coefficients come from and how far they are
// off. Errors are |predicted/measured - 1|; those held out are of shapes that a
// fit on the other shapes did not see.
type Provenance struct {
	Data          string  `toml:"data"`  // the measurements
	Range         string  `toml:"range"` // what they cover
	Rows          int64   `toml:"rows" want:"count"`
	Median        float64 `toml:"error_median" want:"error"`
	P90           float64 `toml:"error_p90" want:"error"`
	HeldOutMedian float64 `toml:"heldout_median" want:"error,optional"` // absent: one shape, which cannot be held out
	HeldOutP90    float64 `toml:"heldout_p90" want:"error,optional"`
}

// Of returns the coefficients for heads of dimension d, by KV format.
func (k KernelsPrefill) Of(d int64) map[string]AttnPrefill {
	if d >= 128 {
		return k.D128
	}
	return k.D64
}

// prefillTable is one of the tables of KernelsPrefill.
type prefillTable struct {
	name     string
	byFormat map[string]AttnPrefill
}

func (k KernelsPrefill) tables() []prefillTable {
	return []prefillTable{{"d128", k.D128}, {"d64", k.D64}, {"window", k.Window}}
}

// Of returns the coefficients for heads of dimension d, by KV format.
func (k KernelsDecode) Of(d int64) map[string]AttnDecode {
	if d >= 128 {
		return k.D128
	}
	return k.D64
}

// kernels returns the operators of e: those of its table, with the matrix products
// and attention, and the experts, of others if it names them.
func (p *Profile) kernels(e Engine) Kernels {
	k := p.Kernels[e.Kernels]
	if e.DenseKernels != "" {
		dense := p.Kernels[e.DenseKernels]
		k.GEMM, k.AttnPrefill, k.AttnDecode = dense.GEMM, dense.AttnPrefill, dense.AttnDecode
	}
	if e.ExpertKernels != "" {
		k.MoE = p.Kernels[e.ExpertKernels].MoE
	}
	return k
}

// checkKernels tells fault what p's kernels lack.
func (p *Profile) checkKernels(fault func(key, format string, args ...any)) {
	if len(p.Kernels) == 0 {
		fault("kernels", "found nothing in it; give at least one table [kernels.NAME.gemm.bf16]")
	}
	for _, name := range sortedKeys(p.Kernels) {
		k := p.Kernels[name]
		at := "kernels." + name
		need := func(n int, table string) {
			if n == 0 {
				fault(at+table, "found nothing in it; give at least one table [%s%s.NAME]", at, table)
			}
		}
		need(len(k.GEMM), ".gemm")
		need(len(k.AttnPrefill.D128), ".attn_prefill.d128")
		need(len(k.AttnPrefill.D64), ".attn_prefill.d64")
		need(len(k.AttnPrefill.Window), ".attn_prefill.window")
		need(len(k.AttnDecode.D128), ".attn_decode.d128")
		need(len(k.AttnDecode.D64), ".attn_decode.d64")
		if _, ok := k.GEMM[string(BF16)]; !ok && len(k.GEMM) > 0 {
			fault(at+".gemm.bf16", "missing; give a table, because the output projection is always bf16")
		}
	}
	for _, name := range sortedKeys(p.Engine) {
		e := p.Engine[name]
		for _, key := range []struct{ name, table string }{{".kernels", e.Kernels}, {".dense_kernels", e.DenseKernels}, {".expert_kernels", e.ExpertKernels}} {
			if _, ok := p.Kernels[key.table]; !ok && len(p.Kernels) > 0 && (key.table != "" || key.name == ".kernels") {
				fault("engine."+name+key.name, "found %q; must be one of the tables under kernels: %s", key.table, strings.Join(sortedKeys(p.Kernels), ", "))
			}
		}
	}
}
