package main

import (
	"io"

	"servesim/analysis"
	"servesim/report/figure"
	"servesim/report/spark"
	"servesim/sim/observe"

	"github.com/spf13/cobra"
)

// A histFlag is the flag of pictures of latencies for a terminal.
type histFlag struct {
	glyphs string
	seen   *figure.Latencies // nil if nobody asked
}

// The values of --hist: those of the terminal, and which characters pictures are of.
const (
	histAuto   = "auto"
	histBlocks = "blocks"
	histASCII  = "ascii"
)

// bind adds the flag to cmd.
func (h *histFlag) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&h.glyphs, "hist", "", "draw latencies as histograms and ECDFs, of `CHARACTERS`: blocks, ascii, or auto for what the locale has")
	f.Lookup("hist").NoOptDefVal = histAuto
	must(cmd.RegisterFlagCompletionFunc("hist", cobra.FixedCompletions([]string{histAuto, histBlocks, histASCII}, cobra.ShellCompDirectiveNoFileComp)))
}

// check returns a fault of the flag, for a form of output that has pictures or not.
func (h *histFlag) check(cmd *cobra.Command, of *formatFlag) error {
	if !cmd.Flags().Changed("hist") {
		return nil
	}
	switch h.glyphs {
	case histAuto, histBlocks, histASCII:
	default:
		return usagef("--hist %q: want blocks, ascii or auto", h.glyphs)
	}
	form, err := of.chosen()
	if err == nil && form.Name() != "text" {
		return usagef("--hist is a picture for people, and %s has none; leave one out", form.Name())
	}
	return err
}

// begin returns the sink that the pictures are made of, if they were asked for.
func (h *histFlag) begin() []observe.Sink {
	if h.glyphs == "" {
		return nil
	}
	h.seen = new(figure.Latencies)
	return []observe.Sink{h.seen}
}

// write draws the latencies of a run under an empty line.
func (h *histFlag) write(e env, out io.Writer, r *analysis.Report) error {
	if h.seen == nil {
		return nil
	}
	g := spark.ASCII()
	if h.glyphs == histBlocks || h.glyphs == histAuto && e.blocks {
		g = spark.Blocks()
	}
	if _, err := io.WriteString(out, "\n"); err != nil {
		return err
	}
	return spark.Write(out, figure.Run{Latencies: h.seen, Report: r}, g)
}
