package fit

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"servesim/sim/gpu"
)

// WriteKernels writes k as the tables kernels.NAME of a profile, in TOML, with six
// digits.
func WriteKernels(w io.Writer, name string, k gpu.Kernels) error {
	t := tomlWriter{at: "kernels." + name}
	for _, f := range sortedKeys(k.GEMM) {
		c := k.GEMM[f]
		t.table("gemm."+f, c.Fit)
		t.number("fixed_s", c.FixedS)
		t.number("per_1024_k_s", c.Per1024KS)
		t.number("flop_per_s", c.FlopPerS)
		t.number("weight_bytes_per_s", c.WeightBytesPerS)
		t.optional("input_bytes_per_s", c.InputBytesPerS)
		t.optional("output_bytes_per_s", c.OutputBytesPerS)
	}
	t.prefill("d128", k.AttnPrefill.D128)
	t.prefill("d64", k.AttnPrefill.D64)
	t.prefill("window", k.AttnPrefill.Window)
	t.decode("d128", k.AttnDecode.D128)
	t.decode("d64", k.AttnDecode.D64)
	for _, n := range sortedKeys(k.AllReduce) {
		c := k.AllReduce[n]
		t.table("allreduce."+n, c.Fit)
		t.number("fixed_s", c.FixedS)
		t.number("bytes_per_s", c.BytesPerS)
		t.optional("knee_s", c.KneeS)
		t.optional("knee_bytes", c.KneeBytes)
	}
	for _, f := range sortedKeys(k.MoE) {
		c := k.MoE[f]
		t.table("moe."+f, c.Fit)
		t.number("fixed_s", c.FixedS)
		t.number("per_expert_s", c.PerExpertS)
		t.number("flop_per_s", c.FlopPerS)
		t.number("weight_bytes_per_s", c.WeightBytesPerS)
		t.optional("activation_bytes_per_s", c.ActivationBytesPS)
	}
	_, err := io.WriteString(w, t.text.String())
	return err
}

// tomlWriter collects the text of tables below at.
type tomlWriter struct {
	at   string
	text strings.Builder
}

// table begins a table with the provenance of what follows.
func (t *tomlWriter) table(name string, p gpu.Provenance) {
	fmt.Fprintf(&t.text, "\n[%s.%s]\n", t.at, name)
	fmt.Fprintf(&t.text, "fit = { data = %q, range = %q, rows = %d, error_median = %s, error_p90 = %s", p.Data, p.Range, p.Rows, share(p.Median), share(p.P90))
	if p.HeldOutP90 > 0 {
		fmt.Fprintf(&t.text, ", heldout_median = %s, heldout_p90 = %s", share(p.HeldOutMedian), share(p.HeldOutP90))
	}
	t.text.WriteString(" }\n")
}

func (t *tomlWriter) prefill(name string, by map[string]gpu.AttnPrefill) {
	for _, f := range sortedKeys(by) {
		c := by[f]
		t.table("attn_prefill."+name+"."+f, c.Fit)
		t.number("fixed_s", c.FixedS)
		t.number("flop_per_s", c.FlopPerS)
		t.number("tail_s", c.TailS)
		t.number("bytes_per_s", c.BytesPerS)
		t.number("kv_bytes_per_s", c.KVBytesPerS)
	}
}

func (t *tomlWriter) decode(name string, by map[string]gpu.AttnDecode) {
	for _, f := range sortedKeys(by) {
		c := by[f]
		t.table("attn_decode."+name+"."+f, c.Fit)
		t.number("fixed_s", c.FixedS)
		t.number("per_seq_kv_head_s", c.PerSeqKVHeadS)
		t.number("bytes_per_s", c.BytesPerS)
	}
}

func (t *tomlWriter) optional(key string, x float64) {
	if x != 0 {
		t.number(key, x)
	}
}

func (t *tomlWriter) number(key string, x float64) {
	fmt.Fprintf(&t.text, "%s = %s\n", key, engineering(x))
}

// engineering writes x with six digits and an exponent that is a multiple of
// three.
func engineering(x float64) string {
	mantissa, exponent, ok := strings.Cut(strconv.FormatFloat(x, 'e', 5, 64), "e")
	e, err := strconv.Atoi(exponent)
	if !ok || err != nil || x == 0 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	shift := ((e % 3) + 3) % 3
	digits := strings.Replace(mantissa, ".", "", 1)
	if e -= shift; e == 0 {
		return digits[:1+shift] + "." + digits[1+shift:]
	}
	return digits[:1+shift] + "." + digits[1+shift:] + "e" + strconv.Itoa(e)
}

// share writes a relative error to a tenth of a percent.
func share(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
