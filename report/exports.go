package report

import (
	"fmt"
	"io"
	"strings"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/analysis/export"
)

// Export is a run of a file of a benchmark tool, and what was made of it.
type Export struct {
	File *export.File
	Run  *export.Run
	// Number is the run's place in the file, from 1.
	Number int
	// Results and Reasons are those of the dialects.
	Results []dialect.Result
	Reasons []dialect.Reason
	// Report is what a simulated run with these requests would report, nil with the
	// reason in NoReport if the file doesn't tell enough; Unjudged are limits that it
	// doesn't tell enough for, Cautions what to beware of in it.
	Report   *analysis.Report
	NoReport string
	Unjudged []analysis.Unjudged
	Cautions []string
}

// Exports writes what each run of files is, which figures it can give and which
// not, and then the figures. The only errors are those of w.
func Exports(w io.Writer, runs []Export) error {
	for i := range runs {
		var p page
		if i > 0 {
			p.line("")
		}
		p.export(&runs[i])
		p.line("")
		p.measured(&runs[i])
		if err := p.to(w); err != nil {
			return err
		}
		if err := Dialects(w, runs[i].Results, runs[i].Reasons); err != nil {
			return err
		}
	}
	return nil
}

// export says what a run is.
func (p *page) export(e *Export) {
	compressed := ""
	if c := e.File.Compression; c != "" {
		compressed = ", " + c
	}
	p.item("File", "%s: %s (%s%s)", e.File.Name, e.File.Format.Title, e.File.Format.Name, compressed)
	if n := len(e.File.Runs); n > 1 || e.Run.Label != "" {
		label := e.Run.Label
		if n > 1 {
			label = joined([]string{fmt.Sprintf("%d of %d", e.Number, n), label}, ": ")
		}
		p.item("Run", "%s", label)
	}
	p.item("Calls", "%s: %s answered, %s failed", analysis.Grouped(e.Run.Calls), analysis.Grouped(e.Run.Completed), analysis.Grouped(e.Run.Calls-e.Run.Completed))
	for _, c := range e.Run.Errors {
		p.item("", "%s failed: %s", analysis.Grouped(c.N), c.What)
	}
	for _, c := range e.Run.Counts {
		p.item("", "%s: %s", analysis.Grouped(c.N), c.What)
	}
	gives, lacks := supports(e.Run)
	p.item("Gives", "%s", strings.Join(gives, "; "))
	name := "Lacks"
	for _, l := range lacks {
		p.item(name, "%s", l)
		name = ""
	}
	name = "Note"
	for _, n := range e.Run.Notes {
		p.item(name, "%s", n)
		name = ""
	}
}

// measured is the report of a run, or why there is none.
func (p *page) measured(e *Export) {
	r := e.Report
	if r == nil {
		p.item("Report", "none: %s", e.NoReport)
		p.line("")
		return
	}
	if p.warnings(r.Warnings, true) {
		p.line("")
	}
	p.overview(r)
	p.latencies(r)
	p.goodput(r.Goodput)
	p.verdicts(r.Verdicts)
	for _, l := range e.Unjudged {
		p.item("Not judged", "%s: %s", l.Limit, l.Why)
	}
	if len(e.Unjudged) > 0 {
		p.line("")
	}
	p.byClass(r)
	p.byOutput(r)
	p.engine(r)
	p.meaning(r.Metrics())
	p.warnings(r.Warnings, false)
	for _, c := range e.Cautions {
		p.item("Warning", "%s", c)
	}
	p.line("")
}

// supports returns the figures that a run gives, and those that it doesn't, for
// each reason.
func supports(r *export.Run) (gives, lacks []string) {
	var why []string
	what := map[string][]string{}
	for _, s := range r.Support() {
		if s.Lack == "" {
			gives = append(gives, s.Figure)
			continue
		}
		if what[s.Lack] == nil {
			why = append(why, s.Lack)
		}
		what[s.Lack] = append(what[s.Lack], s.Figure)
	}
	for _, w := range why {
		lacks = append(lacks, strings.Join(what[w], "; ")+": "+w)
	}
	return gives, lacks
}

// ExportsJSON writes what Exports does for programs, without loss.
func ExportsJSON(w io.Writer, runs []Export) error {
	list := []object{}
	for i := range runs {
		e := &runs[i]
		r, f := e.Run, &e.Run.Facts
		errors, counts, supports := []object{}, []object{}, []object{}
		for _, c := range r.Errors {
			errors = append(errors, object{{"what", c.What}, {"n", c.N}})
		}
		for _, c := range r.Counts {
			counts = append(counts, object{{"what", c.What}, {"n", c.N}})
		}
		for _, s := range r.Support() {
			supports = append(supports, object{{"figure", s.Figure}, {"given", s.Lack == ""}, {"lack", s.Lack}})
		}
		list = append(list, object{
			{"file", e.File.Name}, {"format", e.File.Format.Name}, {"compression", e.File.Compression},
			{"run", e.Number}, {"runs", len(e.File.Runs)}, {"label", r.Label}, {"calls", r.Calls}, {"answered", r.Completed},
			{"errors", errors}, {"counts", counts}, {"notes", append([]string{}, r.Notes...)},
			{"facts", object{
				{"clock", f.Clock}, {"schedule", f.Schedule}, {"first", f.First}, {"gaps", f.Gaps},
				{"prompts", f.Prompts}, {"outputs", f.Outputs}, {"failures", f.Failures}, {"cached", f.Cached},
			}},
			{"supports", supports}, e.reportMember(), DialectsMember(e.Results, e.Reasons),
		})
	}
	return writeJSON(w, object{{"schema", Schema}, {"kind", "servesim-analysis"}, {"runs", list}})
}

// reportMember is the report of a run, or what the file lacks for one.
func (e *Export) reportMember() Member {
	if e.Report == nil {
		return Member{"report", object{{"lack", e.NoReport}}}
	}
	unjudged := []object{}
	for _, l := range e.Unjudged {
		unjudged = append(unjudged, object{{"limit", l.Limit}, {"why", l.Why}})
	}
	return Member{"report", append(summaryMembers(e.Report), object{{"unjudged", unjudged}, {"cautions", append([]string{}, e.Cautions...)}}...)}
}
