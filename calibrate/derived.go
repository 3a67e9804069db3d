package calibrate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"servesim/internal/strict"
	"servesim/sim/gpu"
)

// Derived is a profile that a fit makes of another.
type Derived struct {
	// Name is the profile's, Base what LoadProfile calls that which it differs from.
	Name, Base string
	// Origin says what it was made of. Its constants and errors are those of Result.
	Origin gpu.Origin
	// Result is the constants of Origin.Engine, nil if none were fitted.
	Result *Result
	// Kernels is the text of the tables of kernels that were fitted, empty if none were;
	// the engine KernelsOf then has all of its kernels from them.
	Kernels   string
	KernelsOf string
}

// TOML returns the profile as a file.
func (d *Derived) TOML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Written by %s: what differs from the profile that it is based on.\n", d.Origin.Tool)
	fmt.Fprintf(&b, "# origin says what it was made of, how well each constant is known, and how far off it is.\n\n")
	fmt.Fprintf(&b, "schema = 1\nname = %s\nbase = %s\n", strict.Quote(d.Name), strict.Quote(d.Base))
	o := d.Origin
	if d.Result == nil && d.Kernels != "" {
		fmt.Fprintf(&b, "\n[engine.%s]\n", strict.Quote(d.KernelsOf))
		b.WriteString("weight_efficiency = 1.0\n") // the base's was fitted with other kernels
	}
	if r := d.Result; r != nil {
		b.WriteString("\n" + r.toml())
		for i := range r.Constants {
			if c := &r.Constants[i]; c.Key == "eager_layer_s" {
				low, high := c.Interval()
				fmt.Fprintf(&b, "eager_layer_low_s = %s\neager_layer_high_s = %s\n", number(low), number(high))
			}
		}
		o.Constants, o.Errors = r.originConstants(), r.originErrors()
	}
	if d.Kernels != "" {
		b.WriteString("dense_kernels = \"\"\nexpert_kernels = \"\"\n")
	}
	fmt.Fprintf(&b, "\n[origin]\ntool = %s\n", strict.Quote(o.Tool))
	if o.Engine != "" {
		fmt.Fprintf(&b, "engine = %s\n", strict.Quote(o.Engine))
	}
	fmt.Fprintf(&b, "base_sha256 = %s\n", strict.Quote(o.BaseSHA256))
	if len(o.Warnings) > 0 {
		b.WriteString("warnings = [\n")
		for _, w := range o.Warnings {
			fmt.Fprintf(&b, "  %s,\n", strict.Quote(w))
		}
		b.WriteString("]\n")
	}
	for _, i := range o.Inputs {
		fmt.Fprintf(&b, "\n[[origin.inputs]]\nfile = %s\nsha256 = %s\nkind = %s\nrows = %d\nused = %d\n", strict.Quote(i.File), strict.Quote(i.SHA256), strict.Quote(i.Kind), i.Rows, i.Used)
	}
	for _, c := range o.Constants {
		fmt.Fprintf(&b, "\n[[origin.constants]]\nkey = %s\nvalue = %s\nlow = %s\nhigh = %s\ntold = %s\n", strict.Quote(c.Key), number(c.Value), number(c.Low), number(c.High), share(c.Told))
	}
	for _, e := range o.Errors {
		fmt.Fprintf(&b, "\n[[origin.errors]]\nmetric = %s\nrows = %d\nerror_median = %s\nerror_p90 = %s\n", strict.Quote(e.Metric), e.Rows, share(e.Median), share(e.P90))
		if e.HeldOutP90 > 0 {
			fmt.Fprintf(&b, "heldout_median = %s\nheldout_p90 = %s\n", share(e.HeldOutMedian), share(e.HeldOutP90))
		}
	}
	b.WriteString(d.Kernels)
	return b.String()
}

// originConstants returns how well each constant is known.
func (r *Result) originConstants() []gpu.OriginConstant {
	var out []gpu.OriginConstant
	for i := range r.Constants {
		c := &r.Constants[i]
		low, high := c.Interval()
		out = append(out, gpu.OriginConstant{Key: c.Key, Value: c.rounded(), Low: low, High: high, Told: c.Told})
	}
	return out
}

// originErrors returns how far the fit is off, as shares.
func (r *Result) originErrors() []gpu.OriginError {
	var out []gpu.OriginError
	for _, e := range r.Errors {
		x := gpu.OriginError{Metric: e.Metric, Rows: int64(e.N), Median: e.Median / 100, P90: e.P90 / 100}
		if !math.IsNaN(e.HeldOutMedian) {
			x.HeldOutMedian, x.HeldOutP90 = e.HeldOutMedian/100, e.HeldOutP90/100
		}
		out = append(out, x)
	}
	return out
}

// Warnings returns in sentences what the data cannot tell.
func (r *Result) Warnings() []string {
	var out []string
	var untold, bound []string
	for i := range r.Constants {
		c := &r.Constants[i]
		switch {
		case c.Bound:
			bound = append(bound, c.Key)
		case c.Told < toldBarely:
			untold = append(untold, c.Key)
		}
	}
	if len(untold) > 0 {
		out = append(out, "the data cannot tell "+strings.Join(untold, ", ")+": the value is what was known without them")
	}
	if len(bound) > 0 {
		out = append(out, "on a bound of its range: "+strings.Join(bound, ", "))
	}
	for _, t := range r.TradeOffs {
		out = append(out, fmt.Sprintf("%s and %s are told apart badly: the correlation of their errors is %+.2f", t.A, t.B, t.Correlation))
	}
	for _, d := range r.Weak {
		out = append(out, fmt.Sprintf("the data say less than was known before of the combination %s (singular value %.2f)", d.text(), d.Singular))
	}
	return out
}

// share writes a share to a thousandth.
func share(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
