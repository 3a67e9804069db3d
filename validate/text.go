package validate

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// width is the most columns of a line of text.
const width = 100

// Text writes r for people, in lines of at most 100 columns.
func Text(w io.Writer, r *Report) error {
	var b strings.Builder
	for i := range r.Splits {
		if i > 0 {
			b.WriteString("\n")
		}
		r.Splits[i].text(&b)
	}
	if len(r.Notes) > 0 {
		b.WriteString("\nRules that filled in what sources leave open, and the rows they touch\n")
		countLines(&b, r.Notes)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// title returns what the rows of a split are called.
func (s Split) title() string {
	return map[Split]string{HeldOut: "Held-out rows", Calibration: "Calibration rows, which constants are fitted on",
		Excluded: "Excluded rows, for the reasons in their notes"}[s]
}

func (p *SplitReport) text(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %d, simulated %d (%d of them saturated), skipped %d\n", p.Split.title(), p.Rows, p.Simulated, p.Saturated, p.Rows-p.Simulated)
	for _, by := range Groupings() {
		cells := p.Cells[by]
		if len(cells) == 0 {
			continue
		}
		fmt.Fprintf(b, "\nErrors in %% by %s\n", by)
		writeTable(b, table(by, cells), len(by.heads())+1)
	}
	if len(p.Worst) > 0 {
		b.WriteString("\nWorst figures\n")
		rows := [][]string{{"error %", "metric", "row"}}
		for i := range p.Worst {
			l := &p.Worst[i]
			rows = append(rows, []string{fmt.Sprintf("%+.0f", l.Error()), l.Metric.String() + mark(l.Saturated), l.Row.ID})
		}
		writeTable(b, rows, 3)
	}
	if len(p.Skipped) > 0 {
		b.WriteString("\nSkipped rows\n")
		countLines(b, p.Skipped)
	}
	if len(p.Figures) > 0 {
		b.WriteString("\nFigures of simulated rows that are left out\n")
		countLines(b, p.Figures)
	}
}

// mark returns what stands behind the metric of a saturated run.
func mark(saturated bool) string {
	if saturated {
		return " saturated"
	}
	return ""
}

// table returns the cells as rows of text, with a header.
func table(by By, cells []Cell) [][]string {
	rows := [][]string{append(by.heads(), "metric", "n", "median", "P90", "bias")}
	for _, c := range cells {
		rows = append(rows, append(by.names(c.Key), c.metricName(), fmt.Sprint(c.N),
			fmt.Sprintf("%.1f", c.Median), fmt.Sprintf("%.1f", c.P90), fmt.Sprintf("%+.1f", c.Bias)))
	}
	return rows
}

// writeTable writes rows in columns, the first left of them aligned to the left.
// A cell that would make a line too long is cut, and its end shown by a dot.
func writeTable(b *strings.Builder, rows [][]string, left int) {
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(c))
		}
	}
	total := 2 * (len(wide) - 1)
	longest := 0
	for i, n := range wide {
		total += n
		if n > wide[longest] {
			longest = i
		}
	}
	wide[longest] -= max(0, total-width)
	for _, row := range rows {
		var line strings.Builder
		for i, c := range row {
			if runes := []rune(c); len(runes) > wide[i] {
				c = string(runes[:wide[i]-1]) + "…"
			}
			pad := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(c))
			if i > 0 {
				line.WriteString("  ")
			}
			if i < left {
				line.WriteString(c + pad)
			} else {
				line.WriteString(pad + c)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// countLines writes one folded line for each count.
func countLines(b *strings.Builder, counts []Count) {
	for _, c := range counts {
		line := fmt.Sprintf("%5d  %s", c.N, c.What)
		for utf8.RuneCountInString(line) > width {
			at := strings.LastIndexByte(line[:width], ' ')
			if at <= 7 {
				break
			}
			b.WriteString(line[:at] + "\n")
			line = "       " + line[at+1:]
		}
		b.WriteString(line + "\n")
	}
}
