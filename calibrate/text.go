package calibrate

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Text writes r for people and, at its end, the constants as a profile has them.
func Text(w io.Writer, r *Result) error {
	var b strings.Builder
	if r.Rows > 0 {
		fmt.Fprintf(&b, "%s, engine %s: %d calibration rows, and %d left out that exhaust the KV cache\n\n", r.GPU, r.Engine, r.Rows, r.Saturated)
	} else {
		fmt.Fprintf(&b, "%s, engine %s: %d figures\n\n", r.GPU, r.Engine, r.Figures)
	}
	fmt.Fprintf(&b, "%-20s %12s %12s %12s %12s  %s\n", "constant", "value", "error", "prior", "width", "what the runs say")
	for _, c := range r.Constants {
		fmt.Fprintf(&b, "%-20s %12.4g %12.2g %12.4g %12.2g  %s\n", c.Key, c.Value, c.Error, c.Prior, c.Width, c.verdict())
	}
	if len(r.TradeOffs) > 0 {
		b.WriteString("\nTold apart badly: the correlation of their errors is\n")
		for _, t := range r.TradeOffs {
			fmt.Fprintf(&b, "%+.2f  %s and %s\n", t.Correlation, t.A, t.B)
		}
	}
	if len(r.Weak) > 0 {
		b.WriteString("\nCombinations, in widths, of which the data say less than was known before (singular value)\n")
		for _, d := range r.Weak {
			fmt.Fprintf(&b, "%5.2f  %s\n", d.Singular, d.text())
		}
	}
	if r.Form != nil {
		b.WriteString("\n" + r.form() + "\n")
	}
	b.WriteString("\nErrors in %                  n  median     P90    bias  held out: median     P90\n")
	for _, e := range r.Errors {
		fmt.Fprintf(&b, "%-22s %7d %7.1f %7.1f %+7.1f  %16s %7s\n", e.Metric, e.N, e.Median, e.P90, e.Bias, percent(e.HeldOutMedian), percent(e.HeldOutP90))
	}
	b.WriteString("\n" + r.toml())
	_, err := io.WriteString(w, b.String())
	return err
}

// text writes the combination as a sum.
func (d *Direction) text() string {
	parts := make([]string, len(d.Parts))
	for i, s := range d.Parts {
		parts[i] = fmt.Sprintf("%+.2f %s", s.Weight, s.Key)
	}
	return strings.Join(parts, "  ")
}

// percent writes an error, or - if there is none.
func percent(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.1f", x)
}

// The shares of the prior's variance that the runs must remove for them to count
// as telling a constant, and as telling something about it.
const (
	toldWell   = 0.75
	toldBarely = 0.25
)

// verdict says how much the runs tell of c.
func (c *Constant) verdict() string {
	switch {
	case c.Bound:
		return "on a bound of its range"
	case c.Told >= toldWell:
		return "told"
	case c.Told >= toldBarely:
		return "told in part"
	}
	return "cannot tell: this is the prior"
}

// form says what another form of the time of a step with prompt tokens would give.
func (r *Result) form() string {
	gain := r.Loss - r.Form.Loss
	said := fmt.Sprintf("With mixed_step_s free as well it is %.1f ms, and the loss %.1f instead of %.1f", 1e3*r.Form.MixedS, r.Form.Loss, r.Loss)
	if gain < 4 {
		return said + ": the runs do not ask for it."
	}
	return said + ": the runs do not tell which part of the time of a step with prompt tokens comes on top of the GPU's and which the GPU's hides."
}

// toml returns the constants as a profile has them.
func (r *Result) toml() string {
	var b strings.Builder
	key := r.Engine
	if strings.ContainsAny(key, ".") {
		key = fmt.Sprintf("%q", key)
	}
	fmt.Fprintf(&b, "[engine.%s]\n", key)
	for _, c := range r.Constants {
		fmt.Fprintf(&b, "%s = %s # ± %.2g; %s\n", c.Key, number(c.rounded()), c.Error, c.verdict())
	}
	return b.String()
}

// rounded returns the value to the digits that number writes, an efficiency near its
// bound towards the inside of the range, so that a profile with it loads.
func (c *Constant) rounded() float64 {
	if c.Bound && c.efficiency {
		return math.Floor(c.Value*1e3) / 1e3
	}
	return c.Value
}

// number returns v with four digits, as TOML has it.
func number(v float64) string {
	t := fmt.Sprintf("%.4g", v)
	if !strings.ContainsAny(t, ".e") {
		t += ".0"
	}
	return t
}
