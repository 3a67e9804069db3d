package main

import (
	"bytes"
	"cmp"

	"servesim/analysis"
	"servesim/report/figure"
	"servesim/report/lives"
	"servesim/report/page"
	"servesim/report/still"
	"servesim/scenario"
	"servesim/sim/observe"

	"github.com/spf13/cobra"
)

// livesShown returns how many of the slowest requests of each of so many runs a page
// tells of, by each metric.
func livesShown(runs int) int { return max(2, min(6, 12/runs)) }

// An htmlFlag is the file that a verb writes its report to as a page.
type htmlFlag struct {
	flag string // as it is typed
	path string
	file *observe.File
}

// bind adds the flag to cmd.
func (f *htmlFlag) bind(cmd *cobra.Command) {
	f.flag = "--html"
	cmd.Flags().StringVar(&f.path, "html", "", "write the report to `FILE` as a page with figures, which needs no network")
}

// asked tells whether a page is wanted.
func (f *htmlFlag) asked() bool { return f.path != "" }

// check returns what is wrong with the flag. taken are the files that the command
// writes besides, by the flag of each.
func (f *htmlFlag) check(taken map[string]string) error {
	if f.path == scenario.StdinPath {
		return usagef("%s -: a page goes to a file; name one, or a pipe or device such as /dev/stderr", f.flag)
	}
	for path, flag := range taken {
		if f.asked() && path != "" && realPath(path) == realPath(f.path) {
			return usagef("%s %s: %s has that name too; give each a file of its own", f.flag, f.path, flag)
		}
	}
	return nil
}

// open begins the file, so that one that can't be written is told before the work.
func (f *htmlFlag) open() (err error) {
	if !f.asked() {
		return nil
	}
	if f.file, err = observe.CreateFile(f.path); err != nil {
		return usagef("%s %w", f.flag, err)
	}
	return nil
}

// abort drops the file unless write came to its end.
func (f *htmlFlag) abort() {
	if f.file != nil {
		f.file.Abort()
	}
}

// write writes p to the file.
func (f *htmlFlag) write(p *page.Page) error {
	p.Version = scenario.Version()
	if err := page.Write(f.file, p); err != nil {
		return err
	}
	return f.file.Commit()
}

// A watcher collects what the page of a run shows.
type watcher struct {
	latencies *figure.Latencies
	history   *figure.History
	slow      *lives.Lives
}

// newWatcher returns one of a run of so many KV blocks, 0 if that isn't known, and of
// a page of so many runs.
func newWatcher(kvBlocks int64, runs int) *watcher {
	w := &watcher{new(figure.Latencies), figure.NewHistory(kvBlocks), lives.New(livesShown(runs))}
	w.history.Each = w.slow.Each
	return w
}

// watchPlan returns one of a run of p and a page of so many runs, and adds its sinks to o.
func watchPlan(p *scenario.Plan, runs int, o *scenario.Options) *watcher {
	w := newWatcher(p.Config.NumGPUBlocks*p.Replicas(), runs)
	o.Beside = append(o.Beside, w.history)
	o.Measured = append(o.Measured, w.latencies)
	return w
}

// run ends the run and returns it as pages show it.
func (w *watcher) run(name string, r *analysis.Report, slo analysis.SLO, facts []scenario.Fact) (page.Run, error) {
	if err := w.history.Finish(); err != nil {
		return page.Run{}, err
	}
	return page.Run{
		Run:  figure.Run{Name: name, Latencies: w.latencies, History: w.history, SLO: slo, Report: r},
		Slow: w.slow.List(), Facts: pageFacts(facts),
	}, nil
}

// pageFacts returns facts for a page.
func pageFacts(facts []scenario.Fact) []page.Fact {
	var list []page.Fact
	for _, f := range facts {
		list = append(list, page.Fact{Name: f.Name, Text: f.Text})
	}
	return list
}

// originOf says what a run came from, as its header has it.
func originOf(h observe.Header) []page.Fact {
	var list []page.Fact
	for _, f := range [][2]string{{"Model", h.Model}, {"GPUs", h.Profile}, {"Scenario hash", h.Scenario}} {
		if f[1] != "" {
			list = append(list, page.Fact{Name: f[0], Text: f[1]})
		}
	}
	return list
}

// titleOf names a plan.
func titleOf(p *scenario.Plan) string { return cmp.Or(p.Scenario.Name, "scenario without a name") }

// drawStill draws a figure of a page as a still picture.
func drawStill(f *figure.Figure) ([]byte, error) {
	var b bytes.Buffer
	err := still.Write(&b, f, still.SVG)
	return b.Bytes(), err
}
