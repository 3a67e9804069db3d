package still

import (
	"slices"
	"strings"

	"servesim/report/figure"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The measures of a picture, in points.
const (
	width     = 680
	margin    = 12
	gap       = 16  // between panels
	rowHeight = 190 // of a panel in a row of several, or alone
	lowHeight = 105 // of one of three or more panels over each other
	barHeight = 21  // of a bar
	axisRoom  = 44  // of the axis below bars
)

// A sheet is a figure laid out: where everything goes.
type sheet struct {
	f       *figure.Figure
	w, h    vg.Length
	legend  [][]entry // in rows
	caption []string  // in lines
	rows    []row
	columns []vg.Length // widths
	right   vg.Length   // room for labels beside the last column
	shared  bool        // all panels have one axis of x, and only the last names it
}

// A row is panels beside each other.
type row struct {
	panels []*figure.Panel
	heads  [][]line // above each panel
	head   vg.Length
	height vg.Length // of the panels with their axes
}

// A line is a line of text.
type line struct {
	text  string
	style text.Style
}

// lay lays a figure out.
func lay(f *figure.Figure) *sheet {
	s := &sheet{f: f, w: vg.Points(width)}
	inner := s.w - vg.Points(2*margin)
	s.legend = rows(entries(f), inner)
	s.caption = folded(cut(f.Caption, mostCaption), styleOf(captionSize, draw.XLeft, draw.YTop), inner)
	columns := max(1, f.Columns)
	s.shared = columns == 1 && sameX(f.Panels)
	for i := 0; i < len(f.Panels); i += columns {
		var r row
		for k := i; k < min(i+columns, len(f.Panels)); k++ {
			p := &f.Panels[k]
			lines := head(p)
			r.panels, r.heads = append(r.panels, p), append(r.heads, lines)
			r.head = max(r.head, linesHeight(lines))
			r.height = max(r.height, heightOf(p, s.shared && len(f.Panels) > 2))
			if k%columns == columns-1 {
				s.right = max(s.right, besideWidth(p))
			}
		}
		s.rows = append(s.rows, r)
	}
	s.widths(columns, inner-s.right)
	s.h = vg.Points(2*margin) + s.top()
	for _, r := range s.rows {
		s.h += r.head + r.height + vg.Points(gap)
	}
	s.h += times(lineOf(captionSize), float64(len(s.caption)))
	return s
}

// top returns the height of the title and the legend.
func (s *sheet) top() vg.Length {
	return lineOf(titleSize) + times(lineOf(labelSize), float64(len(s.legend))) + vg.Points(10)
}

// widths divides room among columns.
func (s *sheet) widths(columns int, room vg.Length) {
	shares := s.f.Widths
	if len(shares) != columns {
		shares = nil
	}
	sum := 0.0
	for i := range columns {
		if shares == nil {
			sum++
		} else {
			sum += shares[i]
		}
	}
	room -= times(vg.Points(gap), float64(columns-1))
	for i := range columns {
		part := 1.0
		if shares != nil {
			part = shares[i]
		}
		s.columns = append(s.columns, room*vg.Length(part/sum))
	}
}

// sameX tells whether panels have the same axis of x.
func sameX(panels []figure.Panel) bool {
	for i := range panels {
		if !sameAxis(&panels[i].X, &panels[0].X) {
			return false
		}
	}
	return len(panels) > 1
}

// sameAxis tells whether a and b mean the same, all along.
func sameAxis(a, b *figure.Axis) bool {
	return a.Label == b.Label && a.Unit == b.Unit && a.Min == b.Min && a.Max == b.Max && slices.Equal(a.Names, b.Names)
}

// heightOf returns the height of a panel with its axes.
func heightOf(p *figure.Panel, low bool) vg.Length {
	switch {
	case p.Y.Scale == figure.Names:
		return times(vg.Points(barHeight), float64(max(2, len(p.Y.Names)))) + vg.Points(axisRoom)
	case low:
		return vg.Points(lowHeight)
	}
	return vg.Points(rowHeight)
}

// besideWidth returns the room that labels beside a panel take.
func besideWidth(p *figure.Panel) vg.Length {
	style := styleOf(tickSize, draw.XLeft, draw.YCenter)
	most := vg.Length(0)
	for _, m := range p.Marks {
		if m.On == "y" {
			most = max(most, style.Width(short(m.Label))+vg.Points(12))
		}
	}
	return most
}

// mostHeads is the most runs whose percentiles are written above a panel.
const mostHeads = 4

// head returns the lines above a panel: its title, for each run the percentiles that
// are marked on its curve, and its limits.
func head(p *figure.Panel) []line {
	var lines []line
	if p.Title != "" {
		lines = append(lines, line{short(p.Title), bold(styleOf(panelSize, draw.XLeft, draw.YTop))})
	}
	var said []line
	for i := range p.Series {
		s := &p.Series[i]
		var words []string
		for _, m := range p.Marks {
			if m.On == "x" && m.Kind != figure.Limit && m.Index == s.Index && s.Role == figure.RoleRun {
				words = append(words, short(m.Label))
			}
		}
		if len(words) == 0 {
			continue
		}
		for k := range words[:len(words)-1] {
			words[k] = strings.TrimSuffix(words[k], " ms")
		}
		l := line{strings.Join(words, ", "), styleOf(tickSize, draw.XLeft, draw.YTop)}
		l.style.Color = colorOf(s.Role, s.Index)
		said = append(said, l)
	}
	if len(said) <= mostHeads {
		lines = append(lines, said...)
	}
	for i := range p.Marks {
		if m := &p.Marks[i]; m.On == "x" && m.Kind == figure.Limit {
			l := line{short(m.Label), styleOf(tickSize, draw.XLeft, draw.YTop)}
			l.style.Color = markColor(m)
			lines = append(lines, l)
		}
	}
	return lines
}

// linesHeight returns the height of lines.
func linesHeight(lines []line) vg.Length {
	h := vg.Length(0)
	for _, l := range lines {
		h += times(l.style.Font.Size, lineHeight)
	}
	return h
}

// folded breaks text into lines of a width.
func folded(text string, style text.Style, width vg.Length) []string {
	var lines []string
	now := ""
	for _, word := range strings.Fields(text) {
		word = short(word)
		next := word
		if now != "" {
			next = now + " " + word
		}
		if now != "" && style.Width(next) > width {
			lines, next = append(lines, now), word
		}
		now = next
	}
	if now != "" {
		lines = append(lines, now)
	}
	return lines
}

// A view is how a panel is drawn.
type view struct {
	size   vg.Point
	last   bool // no panel with the same axis of x is below it
	labels bool // its marks are labelled beside it
	named  bool // it says what its axis of y is; otherwise the panel to its left does
}

// plotOf returns the plot of a panel.
func plotOf(p *figure.Panel, v view) *plot.Plot {
	out := plot.New()
	out.BackgroundColor = nil
	axis := func(a *plot.Axis, of *figure.Axis, room int) {
		a.Min, a.Max = place(of, of.Min), place(of, of.Max)
		a.Padding = 0
		a.LineStyle = hairline(ink())
		a.Tick.LineStyle, a.Tick.Length = hairline(ink()), vg.Points(4)
		a.Tick.Marker = plot.ConstantTicks(ticks(of, room))
		a.Tick.Label.Font, a.Tick.Label.Color = styleOf(tickSize, 0, 0).Font, ink()
		a.Label.Text = axisTitle(of)
		a.Label.TextStyle.Font = styleOf(labelSize, 0, 0).Font
		a.Label.Padding = vg.Points(2)
	}
	axis(&out.X, &p.X, int(v.size.X/vg.Points(42)))
	axis(&out.Y, &p.Y, int(v.size.Y/vg.Points(26)))
	if !v.last {
		out.X.Label.Text = ""
	}
	if !v.named {
		out.Y.Label.Text = ""
	}
	if p.Y.Scale == figure.Names { // the first on top
		out.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
		out.Y.Tick.Length = 0
		if !v.named {
			out.Y.Tick.Marker = plot.ConstantTicks(nil)
		}
	}
	out.Add(&content{panel: p, labels: v.labels})
	return out
}

// axisTitle returns what an axis is called, with its unit.
func axisTitle(a *figure.Axis) string {
	switch {
	case a.Label == "":
		return ""
	case a.Unit == "":
		return short(a.Label)
	}
	return short(a.Label) + " (" + short(a.Unit) + ")"
}
