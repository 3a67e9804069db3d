package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"servesim/analysis"
	"servesim/calibrate"
	"servesim/report"
)

// report prints what came of the fit.
func (f *fitting) report(out io.Writer) error {
	var b strings.Builder
	f.reportInputs(&b)
	for _, s := range f.starts {
		if err := s.print(&b); err != nil {
			return err
		}
	}
	if f.result != nil {
		b.WriteString("\n")
		if err := calibrate.Text(&b, f.result); err != nil {
			return err
		}
	}
	f.reportScenario(&b)
	for i, n := range f.notes {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(report.Fold("Caution     "+n, 12) + "\n")
	}
	if f.o.output != "" {
		fmt.Fprintf(&b, "\nWritten     %s, a profile based on %s; use it as --gpu %[1]s\n", f.o.output, f.base)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// reportInputs says what was read, and what of it the fit is of.
func (f *fitting) reportInputs(b *strings.Builder) {
	for _, in := range f.inputs {
		line := fmt.Sprintf("Data        %s: %s", in.path, in.kind)
		switch {
		case in.kind == kindLog && in.rows > 0:
			line += fmt.Sprintf(", %s of the statistics' %s used", analysis.Grouped(int64(in.used)), analysis.Counted(int64(in.rows), "interval"))
		case in.kind == kindExport:
			line += fmt.Sprintf(" (%s), %s of %s used", in.files[0].Kind, analysis.Grouped(int64(in.used)), analysis.Counted(int64(in.rows), "call"))
		case in.kind != kindLog:
			line += fmt.Sprintf(", %s of %s used", analysis.Grouped(int64(in.used)), analysis.Counted(int64(in.rows), "row"))
		}
		b.WriteString(report.Fold(line, 12) + "\n")
		for _, n := range in.notes {
			b.WriteString(report.Fold("            "+n, 14) + "\n")
		}
	}
}

// print writes the start of a server beside the ledger.
func (s *startReport) print(b *strings.Builder) error {
	fmt.Fprintf(b, "\nMemory at the start, by %s, beside the memory ledger\n", s.log)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tlog\tledger\tdifference\t\t")
	for _, l := range s.lines {
		difference := "-"
		if d := l.Difference(); !math.IsNaN(d) {
			difference = fmt.Sprintf("%+.2f %%", d)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t line %d\t\n", l.Name, amount(l.Logged, l.Unit), amount(l.Ledger, l.Unit), difference, l.Line)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, l := range s.lines {
		if l.Note != "" {
			b.WriteString(report.Fold(fmt.Sprintf("  %s: %s", l.Name, l.Note), 4) + "\n")
		}
	}
	if s.blocks == 0 {
		b.WriteString("  blocks: " + s.blocksNote + "\n")
	}
	return nil
}

// amount writes a figure of a ledger in its unit.
func amount(v float64, unit string) string {
	switch unit {
	case "bytes":
		return fmt.Sprintf("%.2f GiB", v/(1<<30))
	case "requests":
		return fmt.Sprintf("%.2f requests", v)
	}
	return analysis.Grouped(int64(math.Round(v))) + " " + unit
}

// reportScenario prints what of the fit belongs to a scenario.
func (f *fitting) reportScenario(b *strings.Builder) {
	var lines []string
	if f.blocks > 0 {
		note := ""
		for _, s := range f.starts {
			if s.blocks == f.blocks {
				note = s.blocksNote
			}
		}
		lines = append(lines, "[engine]", fmt.Sprintf("num_gpu_blocks_override = %d # %s", f.blocks, note))
	}
	if len(f.starts) > 0 { // all are of one server
		for i, o := range f.starts[0].overrides {
			if i == 0 {
				lines = append(lines, "[memory] # lines of the ledger as "+f.starts[0].log+" has them; num_gpu_blocks_override decides without them")
			}
			lines = append(lines, fmt.Sprintf("%s = %d # line %d", o.Key, o.Bytes, o.Line))
		}
	}
	if f.result != nil && len(f.of(kindExport)) > 0 {
		for _, c := range f.result.Constants {
			if c.Key == "request_s" {
				lines = append(lines, "[network]", fmt.Sprintf("request = { dist = \"constant\", value = \"%.2fms\" } # request_s, ± %.2f ms; no profile applies it by itself", 1e3*c.Value, 1e3*c.Error))
			}
		}
	}
	if len(lines) > 0 {
		b.WriteString("\nFor scenarios of this server\n\n" + strings.Join(lines, "\n") + "\n")
	}
}
