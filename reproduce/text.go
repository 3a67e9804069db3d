package reproduce

import (
	"fmt"
	"io"
	"strings"

	"servesim/analysis"
	"servesim/report"
)

// Text writes results for people. The only errors are those of w.
func Text(w io.Writer, results []*Result) error {
	var b strings.Builder
	for _, r := range results {
		heads := []string{"", "claimed", "simulated", "95 % interval", "runs", "met"}
		var rows [][]string
		for i := range r.Checks {
			rows = append(rows, append([]string{r.Checks[i].Says}, r.Checks[i].cells()...))
		}
		for i := range r.Facts {
			rows = append(rows, append([]string{"fact: " + r.Facts[i].Says}, r.Facts[i].cells()...))
		}
		b.WriteString(report.Item("Claim", r.Name+": "+strings.ToUpper(string(r.Verdict))))
		for _, part := range [][2]string{{"Says", r.Says}, {"Source", r.Source}, {"Setup", r.Setup}, {"Because", r.because()}} {
			b.WriteString(report.Item(part[0], oneLine(part[1])))
		}
		b.WriteString(report.Columns(heads, 1, rows) + "\n")
	}
	b.WriteString(report.Item("Rule", Rule()))
	b.WriteString(report.Item("Total", total(results)))
	_, err := io.WriteString(w, b.String())
	return err
}

// List writes what claims say, a line each. The only errors are those of w.
func List(w io.Writer, claims []*Claim) error {
	var rows [][]string
	for _, c := range claims {
		rows = append(rows, []string{c.Name, oneLine(c.Says)})
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(report.Fold(fmt.Sprintf("%-*s  %s", width, r[0], r[1]), width+2) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cells returns what tables say of a finding, behind what it is.
func (f *Finding) cells() []string {
	interval, runs := fmt.Sprintf("%s to %s", report.Number(f.Lo), report.Number(f.Hi)), fmt.Sprint(f.Runs)
	if f.Exact() {
		interval = "exact"
	}
	if f.Runs == 0 {
		runs = "-"
	}
	return []string{f.Range.String(), report.Number(f.Value), interval, runs, string(f.Outcome)}
}

// because returns the explanation, or that it is wrong.
func (r *Result) because() string {
	if !r.Stale {
		return r.Explanation
	}
	var wrong []string
	for i := range r.Facts {
		if r.Facts[i].Outcome != Met {
			wrong = append(wrong, r.Facts[i].Name)
		}
	}
	return "the explanation does not hold any more, for these facts don't: " + strings.Join(wrong, ", ") + "; it was: " + r.Explanation
}

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// total counts the verdicts.
func total(results []*Result) string {
	var parts []string
	for _, v := range []Verdict{Reproduced, Partly, NotReproduced} {
		n := 0
		for _, r := range results {
			if r.Verdict == v {
				n++
			}
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, v))
	}
	return analysis.Counted(int64(len(results)), "claim") + ": " + strings.Join(parts, ", ")
}
