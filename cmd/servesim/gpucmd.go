package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"servesim/internal/strict"
	"servesim/report"
	"servesim/scenario"
	"servesim/sim/gpu"

	"github.com/spf13/cobra"
)

// A gpuOptions is what `servesim gpu` was asked for.
type gpuOptions struct {
	env  env
	name string // of one profile, or empty for a line about each
}

// newGPU returns the verb gpu, which calls run, or runGPU if that is nil.
func newGPU(e env, run func(gpuOptions) error) *cobra.Command {
	if run == nil {
		run = runGPU
	}
	return &cobra.Command{
		Use:   "gpu [NAME]",
		Short: "Print what is known of a GPU: its datasheet, and what was fitted on measurements",
		Long: `Print what is known of a GPU: its datasheet, and the coefficients that were fitted on
measurements, under the names and in the units that profile files have. NAME is a
profile or the path of one; without it, a line about each profile that ships. The
formulas that the coefficients belong to, their sources and their errors stand in the
profile files.`,
		Example: "  servesim gpu\n  servesim gpu h100",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			return run(gpuOptions{e, strings.Join(args, "")})
		},
		ValidArgs: gpu.ProfileNames(),
	}
}

// runGPU prints one profile, or a line about each.
func runGPU(o gpuOptions) error {
	if o.name == "" {
		return listGPUs(o.env.stdout)
	}
	p, err := gpu.LoadProfile(o.name)
	if err != nil {
		return &scenario.UsageError{Err: err}
	}
	_, err = io.WriteString(o.env.stdout, profileText(p))
	return err
}

// listGPUs prints a line about each profile that ships.
func listGPUs(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "gpu\tGB\tTB/s\tbf16 TFLOP/s\tfp8\tfp4\tNVLink GB/s\tTDP W\tidle W\t$/GPU-h\t")
	for _, name := range gpu.ProfileNames() {
		p, err := gpu.LoadProfile(name)
		if err != nil {
			return err
		}
		d := p.Datasheet
		fp4 := "-"
		if d.FP4FlopPerS > 0 {
			fp4 = fmt.Sprintf("%.0f", d.FP4FlopPerS/1e12)
		}
		idle, price := "-", "-"
		if p.Power != nil {
			idle = fmt.Sprintf("%.0f", p.Power.IdleW)
		}
		if p.Price != nil {
			price = fmt.Sprintf("%.2f", p.Price.USDPerGPUHour)
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.2f\t%.0f\t%.0f\t%s\t%.0f\t%.0f\t%s\t%s\t\n", p.Name, d.HBMBytes/1e9, d.HBMBytesPerS/1e12,
			d.BF16FlopPerS/1e12, d.FP8FlopPerS/1e12, fp4, d.NVLinkBytesPerS/1e9, d.TDPW, idle, price)
	}
	return w.Flush()
}

// profileText writes a profile, a part of it a paragraph.
func profileText(p *gpu.Profile) string {
	var b strings.Builder
	b.WriteString(p.Name + "\n")
	parts := []profilePart{{"Datasheet", p.Datasheet}, {"Memory", p.Memory}}
	if p.Price != nil {
		parts = append(parts, profilePart{"Price of one GPU on demand", *p.Price})
	}
	if p.Power != nil {
		parts = append(parts, profilePart{"Power beside the datasheet's tdp_w", *p.Power})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Kernels)) {
		parts = append(parts, kernelParts(name, p.Kernels[name])...)
	}
	f := p.Fitted
	parts = append(parts, profilePart{"Element-wise kernels", f.Elementwise}, profilePart{"Output projection, beside its GEMM", f.LMHead},
		profilePart{"Range of the measurements", f.Range}, profilePart{"Engines", p.Engine})
	for _, part := range parts {
		pairs := strict.Pairs(part.what)
		if len(pairs) == 0 {
			continue
		}
		b.WriteString("\n" + part.title + "\n")
		for _, pair := range pairs {
			b.WriteString(report.Fold("  "+pair, 6) + "\n")
		}
	}
	return b.String()
}

// A profilePart is a part of a profile under a title.
type profilePart struct {
	title string
	what  any
}

// kernelParts returns the parts of the kernels that engines find under name.
func kernelParts(name string, k gpu.Kernels) []profilePart {
	return []profilePart{
		{"Kernels " + name + ": GEMM, by format of the weights", k.GEMM},
		{"Kernels " + name + ": prefill attention, by head dimension and format of the KV cache", k.AttnPrefill},
		{"Kernels " + name + ": decode attention, by head dimension and format of the KV cache", k.AttnDecode},
		{"Kernels " + name + ": all-reduce", k.AllReduce},
		{"Kernels " + name + ": experts, by format of their weights", k.MoE},
	}
}
