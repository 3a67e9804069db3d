package publish

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"servesim/analysis"
	"servesim/analysis/publish/perfetto"
	"servesim/analysis/transcript"
	"servesim/internal/exact"
	"servesim/sim"
	"servesim/sim/observe"
)

// Run is what files say of a run besides its calls and records.
type Run struct {
	// Header names what the run was of.
	Header observe.Header
	// Model is the name by which clients call the model, Label names the run and may
	// be empty.
	Model, Label string
	// Begin is when the run's instant 0 was, since 1970.
	Begin exact.Instant
	// RequestRate is the number of requests per second that the load aimed at,
	// Burstiness the shape of its gaps, as vLLM has them: 0 is no aim, and 1 is
	// that of a Poisson process.
	RequestRate, Burstiness float64
	// Facts are those that the source of the calls knows.
	Facts transcript.Facts
	// Percentiles are those of summaries; the tool's own if empty.
	Percentiles []analysis.Percentile
	// Goodput has the limits of good calls, if there are any.
	Goodput analysis.Goodput
	// MaxModelLen, BlockSize and NumGPUBlocks are those of each engine; 0 if they
	// aren't known. UsableBlocks are the blocks that sequences can hold.
	MaxModelLen, BlockSize     int32
	NumGPUBlocks, UsableBlocks int64
	// Interval is the time between two samples of OpenMetrics.
	Interval sim.Duration
	// RunLimits are limits on the run, which Perfetto's timeline looks at besides.
	RunLimits []analysis.RunLimit
	// Timeline says which part of the run Perfetto's timeline draws.
	Timeline perfetto.Choice
	// Again gives the records of the run once more, for formats that must have seen all
	// of it before they write; nil if that can't be.
	Again func(observe.Sink) error
}

// Format is a kind of files that a run can be written as.
type Format struct {
	// Name is what flags call it, Title what help texts do.
	Name, Title string
	// Records tells that it is made of the records of servesim, which measured runs
	// don't have.
	Records bool
	// Folder tells that it is several files, which get the tool's own names in a
	// folder.
	Folder bool

	names []string // of the files in a folder
	lacks func(transcript.Facts) string
	begin func(*Export) error
}

// Formats lists every format, in the order in which help texts print them.
func Formats() []Format {
	return []Format{
		{Name: "vllm", Title: "result JSON of vllm bench serve --save-result --save-detailed", lacks: vllmLacks, begin: beginVLLM(true)},
		{Name: "vllm-summary", Title: "the same without --save-detailed: no lists of requests", lacks: vllmLacks, begin: beginVLLM(false)},
		{Name: "aiperf", Title: "AIPerf's profile_export.jsonl, profile_export_aiperf.json and .csv, into a folder", Folder: true, names: aiperfNames(), lacks: aiperfLacks, begin: beginAIPerf},
		{Name: "openmetrics", Title: "vLLM's Prometheus metrics over time, as OpenMetrics text", Records: true, begin: beginOpenMetrics},
		{Name: "perfetto", Title: "a timeline of steps and requests for ui.perfetto.dev", Records: true, begin: beginPerfetto},
		{Name: "csv", Title: "a table of the requests as CSV", Records: true, begin: beginCSV},
		{Name: "parquet", Title: "a table of the requests as Parquet", Records: true, begin: beginRequests},
		{Name: "parquet-steps", Title: "a table of the engine's steps as Parquet", Records: true, begin: beginSteps},
	}
}

// Find returns the format that flags call name. The error lists all.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("unknown format %q; the formats are %s", name, strings.Join(names, ", "))
}

// Files returns the paths of the files that the format writes at path.
func (f *Format) Files(path string) []string {
	if !f.Folder {
		return []string{path}
	}
	var list []string
	for _, name := range f.names {
		list = append(list, filepath.Join(path, name))
	}
	return list
}

// Lacks says what sources with facts f lack that the format can't do without, ""
// if nothing.
func (f *Format) Lacks(facts transcript.Facts) string {
	if f.lacks == nil {
		return ""
	}
	return f.lacks(facts)
}

// Export is a run that is being written. Its sinks take the calls and the records
// of the run; then Finish writes what is left, and Commit gives the files their
// names. Abort drops them until then.
type Export struct {
	// Calls takes the calls, Records the records, in detail; either may be nil.
	Calls   transcript.Sink
	Records observe.Sink
	// Note is what was left out of the files without being asked for, after Finish;
	// empty if nothing was.
	Note string

	run    *Run
	path   string
	finish func() error
	files  []*observe.File
	outs   []*bufio.Writer
}

// New begins to write a run at path, as f does: a file, or a folder that exists.
func New(f Format, path string, run *Run) (*Export, error) {
	e := &Export{run: run, path: path}
	if why := f.Lacks(run.Facts); why != "" {
		return nil, fmt.Errorf("as %s the run can't be written: %s", f.Name, why)
	}
	if err := f.begin(e); err != nil {
		e.Abort()
		return nil, err
	}
	return e, nil
}

// create begins a file: that at the path of e, or the one called name in its folder.
func (e *Export) create(name string) (*bufio.Writer, error) {
	path := e.path
	if name != "" {
		path = filepath.Join(e.path, name)
	}
	f, err := observe.CreateFile(path)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(f, 1<<16)
	e.files, e.outs = append(e.files, f), append(e.outs, out)
	return out, nil
}

// Finish writes what follows from all calls and records.
func (e *Export) Finish() error {
	if e.finish != nil {
		if err := e.finish(); err != nil {
			return err
		}
	}
	for _, out := range e.outs {
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// Commit gives the files their names. After an error those not yet named are gone.
func (e *Export) Commit() error {
	var errs []error
	for _, f := range e.files {
		errs = append(errs, f.Commit())
	}
	return errors.Join(errs...)
}

// Abort drops the files, if they weren't committed.
func (e *Export) Abort() {
	for _, f := range e.files {
		f.Abort()
	}
}

// since returns the instant t of the run on the wall clock, in ns and the rest in
// ps.
func (r *Run) since(t sim.Time) (ns, ps int64) {
	at := exact.FromDuration(sim.Duration(t))
	sec, part := r.Begin.Sec+at.Sec, r.Begin.Ps+at.Ps
	return (sec+part/int64(sim.Second))*1e9 + part%int64(sim.Second)/1000, part % 1000
}

// instants returns those of the chunks of a call that a tool looks at.
func instants(c *transcript.Call, of func(*transcript.Chunk) bool, room []sim.Time) []sim.Time {
	room = room[:0]
	for i := range c.Chunks {
		if of(&c.Chunks[i]) {
			room = append(room, c.Chunks[i].At)
		}
	}
	return room
}

// failure says why a call failed, "" if it didn't.
func failure(c *transcript.Call) string {
	if c.Outcome == observe.Completed {
		return ""
	}
	if c.Error == "" {
		return c.Outcome.String()
	}
	return c.Outcome.String() + ": " + c.Error
}
