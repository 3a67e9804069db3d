package main

import (
	"io"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/analysis/transcript"
	"servesim/report"

	"github.com/spf13/cobra"
)

// dialectFlag is the flag --dialect, which prints what benchmark tools would have
// said of the same calls.
type dialectFlag struct {
	list string
	sink *dialect.Sink // nil without the flag
}

// bind adds the flag to a command.
func (f *dialectFlag) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.list, "dialect", "", "print too what benchmark tools would say: `LIST` of names, such as vllm,llmperf, or all")
	must(cmd.RegisterFlagCompletionFunc("dialect", completeDialects))
}

// begin readies the dialects that were asked for, if any, for calls about which
// facts are known, with limits of slo.
func (f *dialectFlag) begin(facts transcript.Facts, ps []analysis.Percentile, slo analysis.SLO) error {
	if f.list == "" {
		return nil
	}
	ds, err := dialect.Parse(f.list)
	if err != nil {
		return usagef("--dialect: %w", err)
	}
	if ps == nil {
		ps = analysis.DefaultPercentiles()
	}
	f.sink = dialect.New(ds, dialect.Options{Facts: facts, Percentiles: ps, Goodput: slo.Goodput, Run: slo.Run})
	return nil
}

// text writes what the dialects say, after what stands before it.
func (f *dialectFlag) text(w io.Writer) error {
	if f.sink == nil {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return report.Dialects(w, f.sink.Results(), f.sink.Reasons())
}

// members are what the dialects say, for programs.
func (f *dialectFlag) members() []report.Member {
	if f.sink == nil {
		return nil
	}
	return []report.Member{report.DialectsMember(f.sink.Results(), f.sink.Reasons())}
}

// listDialects lists the benchmark tools whose metrics can be printed.
func listDialects() [][2]string {
	var items [][2]string
	for _, d := range dialect.All() {
		items = append(items, [2]string{d.Name, d.Tool + ", " + d.Version})
	}
	return items
}
