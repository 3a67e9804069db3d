package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"servesim/analysis"
	"servesim/analysis/publish"
	"servesim/analysis/publish/perfetto"
	"servesim/analysis/transcript"
	"servesim/internal/exact"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/observe"

	"github.com/spf13/cobra"
)

// exportFlag is the flags of the files that a run is written as.
type exportFlag struct {
	specs    []string
	start    string
	interval string
	perfetto string // short for one of specs
	window   string
	timeline perfetto.Choice

	wanted  []wantedExport
	exports []*publish.Export
}

// wantedExport is one --export.
type wantedExport struct {
	text   string
	format publish.Format
	path   string
}

// The flags of exports but --export, which say nothing without it.
const (
	exportStart    = "export-start"
	exportInterval = "export-interval"
	perfettoWindow = "perfetto-window"
)

// bind adds the flags to cmd.
func (f *exportFlag) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.specs, "export", nil, "write the run as files of other tools too, `FORMAT=PATH`, such as vllm=result.json; may be repeated; servesim list exports says which")
	flags.StringVar(&f.start, exportStart, "1970-01-01T00:00:00Z", "`TIME` on the wall clock at which the run begins in --export, as RFC 3339")
	flags.StringVar(&f.interval, exportInterval, "15s", "`TIME` between samples of --export openmetrics")
	flags.StringVar(&f.perfetto, "perfetto", "", "write a timeline for ui.perfetto.dev to `FILE`; short for --export perfetto=FILE")
	flags.StringVar(&f.window, perfettoWindow, "auto", "`PART` of the run that the timeline draws: all, ranges such as 100s-160s, worst=N for the N requests that did worst by each limit, auto for all of a short run and worst=3 of others")
	must(cmd.RegisterFlagCompletionFunc("export", completeExport))
}

// completeExport completes --export: the format up to its =, and then a path.
func completeExport(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if strings.Contains(begun, "=") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var list []string
	for _, x := range publish.Formats() {
		if strings.HasPrefix(x.Name, begun) {
			list = append(list, x.Name+"="+"\t"+x.Title)
		}
	}
	return list, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// listExports lists the formats of --export.
func listExports() [][2]string {
	var items [][2]string
	for _, f := range publish.Formats() {
		items = append(items, [2]string{f.Name, f.Title})
	}
	return items
}

// check returns what is wrong with the flags of cmd, all of it. taken are the files
// that the command writes besides, by the flag of each.
func (f *exportFlag) check(cmd *cobra.Command, taken map[string]string) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	given := cmd.Flags().Changed
	specs := f.specs
	if given("perfetto") {
		specs = append(slices.Clone(specs), "perfetto="+f.perfetto)
	}
	if len(specs) == 0 {
		for _, name := range []string{exportStart, exportInterval} {
			if given(name) {
				fault("--%s is about --export, of which there is none; add one, or leave it out", name)
			}
		}
	}
	var err error
	if f.timeline, err = perfetto.ParseChoice(f.window); err != nil {
		fault("--%s %w", perfettoWindow, err)
	} else if given(perfettoWindow) && !slices.ContainsFunc(specs, func(s string) bool { return strings.HasPrefix(s, "perfetto=") }) {
		fault("--%s is about --perfetto, which is not there; add it, or leave this out", perfettoWindow)
	}
	if _, err := f.begin(); err != nil {
		faults = append(faults, err)
	}
	if d, err := sim.ParseDuration(f.interval); err != nil || d <= 0 {
		fault("--%s %q: want a time above 0, such as 15s", exportInterval, f.interval)
	}
	files := map[string]string{}
	for path, flag := range taken {
		files[realPath(path)] = flag
	}
	f.wanted = f.wanted[:0]
	for _, text := range specs {
		w, err := parseExport(text)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		for _, path := range w.format.Files(w.path) {
			if before, there := files[realPath(path)]; there {
				fault("--export %s: %s writes %s too; give each a file of its own", text, before, path)
			}
			files[realPath(path)] = "--export " + text
		}
		f.wanted = append(f.wanted, w)
	}
	if err := errors.Join(faults...); err != nil {
		return &scenario.UsageError{Err: err}
	}
	return nil
}

// parseExport reads one --export.
func parseExport(text string) (w wantedExport, err error) {
	name, path, given := strings.Cut(text, "=")
	format, err := publish.Find(name)
	switch {
	case err != nil:
		return w, fmt.Errorf("--export %s: %w", text, err)
	case !given || path == "":
		return w, fmt.Errorf("--export %s: names no file; write %s=PATH", text, name)
	case path == scenario.StdinPath:
		return w, fmt.Errorf("--export %s: stdout is for the summary; name a file, or a pipe or device such as /dev/stderr", text)
	}
	return wantedExport{text, format, path}, nil
}

// realPath returns what tells files apart as well as can be, whether they are there
// or not. Devices and pipes may be given more than once.
func realPath(path string) string {
	folder, name := filepath.Split(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		folder, name = filepath.Split(real)
	} else if real, err := filepath.EvalSymlinks(filepath.Clean(folder)); err == nil {
		folder = real
	}
	if abs, err := filepath.Abs(folder); err == nil {
		folder = abs
	}
	return filepath.Join(folder, name)
}

// begin returns when runs begin.
func (f *exportFlag) begin() (exact.Instant, error) {
	at, err := time.Parse(time.RFC3339Nano, f.start)
	if err != nil || at.Unix() < 0 || at.Year() > 9000 {
		return exact.Instant{}, fmt.Errorf("--%s %q: want an instant since 1970 as RFC 3339 has it, such as 2026-01-31T12:00:00Z", exportStart, f.start)
	}
	return exact.Instant{Sec: at.Unix(), Ps: int64(at.Nanosecond()) * int64(sim.Nanosecond)}, nil
}

// open begins every file, of a run about which r says all but what the flags do.
func (f *exportFlag) open(r publish.Run) error {
	var err error
	if r.Begin, err = f.begin(); err != nil {
		return err
	}
	if r.Interval, err = sim.ParseDuration(f.interval); err != nil {
		return err
	}
	r.Timeline = f.timeline
	for _, w := range f.wanted {
		e, err := publish.New(w.format, w.path, &r)
		if err != nil {
			return usagef("--export %s: %w", w.text, err)
		}
		f.exports = append(f.exports, e)
	}
	return nil
}

// calls are the sinks of calls.
func (f *exportFlag) calls() (sinks transcript.Tee) {
	for _, e := range f.exports {
		if e.Calls != nil {
			sinks = append(sinks, e.Calls)
		}
	}
	return sinks
}

// records are the sinks of records.
func (f *exportFlag) records() (sinks observe.Tee) {
	for _, e := range f.exports {
		if e.Records != nil {
			sinks = append(sinks, e.Records)
		}
	}
	return sinks
}

// commit ends every file and gives it its name, and notes on out what they leave out.
func (f *exportFlag) commit(out io.Writer) error {
	for _, e := range f.exports {
		if err := e.Finish(); err != nil {
			return err
		}
	}
	var errs []error
	for i, e := range f.exports {
		errs = append(errs, e.Commit())
		if e.Note != "" {
			say(out, fmt.Sprintf("%s %s", f.wanted[i].path, e.Note))
		}
	}
	return errors.Join(errs...)
}

// abort drops the files that were not committed.
func (f *exportFlag) abort() {
	for _, e := range f.exports {
		e.Abort()
	}
}

// published is what files say of a run of p.
func published(p *scenario.Plan, ps []analysis.Percentile) publish.Run {
	s, c := p.Scenario, p.Config
	r := publish.Run{
		Header: p.Header(), Model: p.Machine.Model.Name, Label: s.Name, Facts: transcript.Everything(),
		Burstiness: 1, Percentiles: ps, Goodput: p.SLO.Goodput, RunLimits: p.SLO.Run,
		MaxModelLen: c.MaxModelLen, BlockSize: c.BlockSize, NumGPUBlocks: c.NumGPUBlocks, UsableBlocks: c.UsableBlocks(),
	}
	w := &s.Workload
	if w.Trace != "" || len(w.Merge) > 0 || w.Arrival == nil {
		return r
	}
	for _, rate := range []*float64{w.Arrival.RatePerS, w.RatePerS} {
		if rate != nil {
			r.RequestRate = *rate
		}
	}
	if cv := w.Arrival.CV; cv != nil && *cv > 0 {
		r.Burstiness = 1 / float64(*cv**cv)
	}
	return r
}
