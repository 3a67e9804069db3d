package page

import (
	"strconv"

	"servesim/report/figure"
)

// data is what the scripts of a page read, as JSON.
type data struct {
	Figures []drawn `json:"figures"`
	// Lives are those on the page, Delayed by whose prompts.
	Lives []lived `json:"lives"`
}

// drawn is a figure for the scripts.
type drawn struct {
	Panels  []panel   `json:"panels"`
	Columns int       `json:"columns"`
	Widths  []float64 `json:"widths,omitempty"`
	Kind    string    `json:"kind"`
}

// panel is one of a figure, and the run that it shows.
type panel struct {
	Run    int           `json:"run"`
	Title  string        `json:"title"`
	X      figure.Axis   `json:"x"`
	Y      figure.Axis   `json:"y"`
	Series []series      `json:"series"`
	Marks  []figure.Mark `json:"marks"`
}

// series is one of a panel, with its numbers as short as they can be drawn from.
type series struct {
	Label string   `json:"label"`
	Role  string   `json:"role"`
	Index int      `json:"index"`
	Shape string   `json:"shape"`
	X     numbers  `json:"x"`
	Y     numbers  `json:"y"`
	Low   numbers  `json:"low,omitempty"`
	High  numbers  `json:"high,omitempty"`
	Notes []string `json:"notes,omitempty"`
	IDs   []int64  `json:"ids,omitempty"`
}

// lived is a life on the page.
type lived struct {
	Run     int     `json:"run"`
	ID      int64   `json:"id"`
	Delayed []int64 `json:"by"`
}

// numbers are written with seven digits, which is more than a screen can show.
type numbers []float64

// MarshalJSON implements json.Marshaler.
func (n numbers) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, x := range n {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, x, 'g', 7, 64)
	}
	return append(out, ']'), nil
}

// dataOf returns what the scripts of p read. Figures are numbered as Number does.
func dataOf(p *Page) *data {
	d := &data{Figures: []drawn{}, Lives: []lived{}}
	add := func(list []Picture) {
		for i := range list {
			d.Figures = append(d.Figures, drawnOf(&list[i]))
		}
	}
	add(p.First)
	for i := range p.Sections {
		add(p.Sections[i].Pictures)
		for k := range p.Sections[i].Lives {
			l := &p.Sections[i].Lives[k]
			by := []int64{}
			for _, c := range l.Culprits {
				by = append(by, c.ID)
			}
			d.Lives = append(d.Lives, lived{l.Run, l.ID, by})
		}
	}
	return d
}

// drawnOf returns the figure of a picture.
func drawnOf(p *Picture) drawn {
	f := p.Figure
	d := drawn{Columns: max(1, f.Columns), Widths: f.Widths, Kind: f.Kind}
	for i := range f.Panels {
		from := &f.Panels[i]
		to := panel{Title: from.Title, X: from.X, Y: from.Y, Marks: from.Marks, Series: []series{}}
		if i < len(p.Runs) {
			to.Run = p.Runs[i]
		}
		for _, s := range from.Series {
			to.Series = append(to.Series, series{s.Label, string(s.Role), s.Index, string(s.Shape), s.X, s.Y, s.Low, s.High, s.Notes, s.IDs})
		}
		d.Panels = append(d.Panels, to)
	}
	return d
}
