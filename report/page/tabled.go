package page

import (
	"fmt"
	"strconv"
	"strings"

	"servesim/report"
	"servesim/report/figure"
)

// Tabled is what a page of many runs is made of.
type Tabled struct {
	// Kind, Title and Verdict are those of the page. Without a Verdict it is the text
	// of the item that Answer names.
	Kind, Title, Verdict, Answer string
	// Text is what the verb prints for people.
	Text string
	// Table is what figures are drawn from; nil if there is none. More are figures
	// besides.
	Table *figure.Table
	More  []*figure.Figure
	// Best are the rows of Table from the best on, by which the deployments to draw are
	// chosen where there are too many to tell apart; nil if nothing says.
	Best []int
	// Draw is nil if there are to be no still pictures.
	Draw Draw
}

// OfTable returns the page of t. Figures that need an axis or a column that the table
// lacks aren't on it. The errors are those of Draw.
func OfTable(t *Tabled) (*Page, error) {
	blocks := TextBlocks(t.Text)
	p := &Page{Kind: t.Kind, Title: t.Title, Verdict: t.Verdict}
	if p.Verdict == "" {
		p.Verdict = t.Answer + ": " + itemText(blocks, t.Answer)
	}
	c := composer{draw: t.Draw, runs: 1}
	loads, trades := figuresOfTable(t.Table)
	note := "Each point is a run, or the mean of its seeds. Points that no other beats in both are joined."
	if few, of := t.few(); few != nil && len(loads)+len(trades) == 0 {
		loads, trades = figuresOfTable(few)
		p.Reading = fmt.Sprintf("Figures show the %d best of %d deployments.", mostDrawn, of)
	}
	loads = append(t.More, loads...)
	if len(loads) == 0 {
		loads, trades = trades, nil
	}
	p.First = c.pictures(loads...)
	if len(trades) > 0 {
		p.add(Section{Title: "Trade-offs", Note: note, Pictures: c.pictures(trades...)})
	}
	p.add(Section{Title: "Tables", Blocks: blocks})
	return p, c.err
}

// mostDrawn is the most deployments that are drawn where there are too many.
const mostDrawn = 6

// few returns the rows of the best deployments, which differ in more than the rate and
// the seed, and how many there are in all; nil if nothing says which are best.
func (t *Tabled) few() (few *figure.Table, of int) {
	if t.Table == nil || t.Best == nil {
		return nil, 0
	}
	key := func(r *figure.Row) string {
		var parts []string
		for i, a := range t.Table.Axes {
			if !strings.HasSuffix(a, "rate_per_s") && !strings.HasSuffix(a, "seed") {
				parts = append(parts, strconv.Quote(r.Axes[i]))
			}
		}
		return strings.Join(parts, " ")
	}
	rank := map[string]int{}
	for _, i := range t.Best {
		if k := key(&t.Table.Rows[i]); rank[k] == 0 {
			rank[k] = len(rank) + 1
		}
	}
	few = &figure.Table{Name: t.Table.Name, Axes: t.Table.Axes, Marks: t.Table.Marks}
	for i := range t.Table.Rows {
		if r := &t.Table.Rows[i]; rank[key(r)] <= mostDrawn {
			few.Rows = append(few.Rows, *r)
		}
	}
	return few, len(rank)
}

// figuresOfTable returns the figures against the rate of requests, and those of one
// column against another, as far as t has the columns.
func figuresOfTable(t *figure.Table) (loads, trades []*figure.Figure) {
	if t == nil {
		return nil, nil
	}
	add := func(to *[]*figure.Figure, f *figure.Figure, err error) {
		if err == nil {
			*to = append(*to, f)
		}
	}
	f, err := figure.Hockeystick(t, nil)
	add(&loads, f, err)
	f, err = figure.Goodput(t)
	add(&loads, f, err)
	f, err = figure.Pareto(t)
	add(&trades, f, err)
	f, err = figure.ChunkFrontier(t)
	add(&trades, f, err)
	f, err = figure.Cost(t, figure.TTFT)
	add(&trades, f, err)
	return loads, trades
}

// Bars returns a figure of a bar for each name, a panel for each quantity: what
// deployments cost or carry.
func Bars(title, caption string, names []string, quantities ...Quantity) *figure.Figure {
	f := &figure.Figure{Kind: "bars", Title: title, Caption: caption, Columns: min(2, max(1, len(quantities)))}
	for _, q := range quantities {
		p := figure.Panel{
			Title: q.Name, X: figure.Axis{Label: q.Name, Unit: q.Unit, Scale: figure.Linear, Max: 1},
			Y: figure.Axis{Scale: figure.Names, Names: names, Min: -0.5, Max: float64(len(names)) - 0.5},
		}
		for i, x := range q.Values {
			p.X.Max = max(p.X.Max, x)
			p.Series = append(p.Series, figure.Series{
				Label: names[i], Role: figure.RoleRun, Index: i, Shape: figure.Bars,
				X: []float64{x}, Y: []float64{float64(i)}, Low: []float64{0}, High: []float64{x},
			})
			f.Text += names[i] + ": " + q.Name + " " + report.Number(x) + " " + q.Unit + ". "
		}
		f.Panels = append(f.Panels, p)
	}
	return f
}

// A Quantity is a value for each of some names.
type Quantity struct {
	Name, Unit string
	Values     []float64
}
