package still

import (
	"image/color"
	"slices"

	"servesim/report/figure"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A label is text that belongs to a place of an axis.
type label struct {
	text  string
	color color.NRGBA
	at    vg.Length // where it belongs
	put   vg.Length // where it is put, so as to be apart from others
}

// spread puts labels of a height apart from each other, between low and high, each as
// near to where it belongs as the others let it.
func spread(labels []label, height, low, high vg.Length) {
	slices.SortStableFunc(labels, func(a, b label) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	for i := range labels {
		labels[i].put = max(labels[i].at, low)
		if i > 0 {
			labels[i].put = max(labels[i].put, labels[i-1].put+height)
		}
	}
	top := high
	for i := len(labels) - 1; i >= 0; i-- {
		labels[i].put = min(labels[i].put, top)
		top = labels[i].put - height
	}
}

// marks draws the marks of a panel: those of its y axis as lines across it, with labels
// beside the panel; limits of its x axis as lines; percentiles of its x axis as rings on
// the curve that they are of. What those of the x axis are stands above the panel.
func (f *frame) marks(p *figure.Panel) {
	var side []label
	for i := range p.Marks {
		m := &p.Marks[i]
		k := markColor(m)
		switch {
		case m.On == "y":
			y := f.y(m.Value)
			if !f.ContainsY(y) {
				continue
			}
			f.StrokeLine2(markLine(m), f.Min.X, y, f.Max.X, y)
			side = append(side, label{text: short(m.Label), color: k, at: y})
		case m.Kind == figure.Limit:
			if x := f.x(m.Value); f.ContainsX(x) {
				f.StrokeLine2(markLine(m), x, f.Min.Y, x, f.Max.Y)
			}
		default:
			f.ring(p, m)
		}
	}
	if f.labels {
		f.beside(side)
	}
}

// markColor returns the colour of a mark.
func markColor(m *figure.Mark) color.NRGBA {
	switch m.Kind {
	case figure.Limit:
		return hex("#A50026")
	case figure.Worst:
		return ink()
	}
	return hex("#404040")
}

// markLine returns the line of a mark.
func markLine(m *figure.Mark) draw.LineStyle {
	if m.Kind == figure.Worst {
		return draw.LineStyle{Color: markColor(m), Width: vg.Points(0.8)}
	}
	return dashed(markColor(m))
}

// beside writes labels to the right of the panel, joined to where they belong.
func (f *frame) beside(labels []label) {
	height := vg.Points(tickSize * 1.15)
	spread(labels, height, f.Min.Y+height/2, f.Max.Y-height/2)
	for _, l := range labels {
		style := styleOf(tickSize, draw.XLeft, draw.YCenter)
		style.Color = l.color
		f.StrokeLines(hairline(l.color), []vg.Point{{X: f.Max.X, Y: l.at}, {X: f.Max.X + vg.Points(8), Y: l.put}})
		f.FillText(style, vg.Point{X: f.Max.X + vg.Points(10), Y: l.put}, l.text)
	}
}

// ring draws a ring where the curve of the run of m has the value of m.
func (f *frame) ring(p *figure.Panel, m *figure.Mark) {
	for i := range p.Series {
		s := &p.Series[i]
		if s.Index != m.Index || s.Role != figure.RoleRun {
			continue
		}
		if y, ok := crossing(s, m.Value); ok {
			f.SetLineStyle(draw.LineStyle{Color: colorOf(s.Role, s.Index), Width: vg.Points(1.2)})
			f.Stroke(disc(vg.Point{X: f.x(m.Value), Y: f.y(y)}, vg.Points(3)))
		}
	}
}

// crossing returns the value of s at x, between the points on both sides.
func crossing(s *figure.Series, x float64) (y float64, ok bool) {
	for i := range s.X {
		if s.X[i] < x {
			continue
		}
		if i == 0 || s.X[i] == x || s.X[i] == s.X[i-1] {
			return s.Y[i], true
		}
		part := (x - s.X[i-1]) / (s.X[i] - s.X[i-1])
		return s.Y[i-1] + float64(part*(s.Y[i]-s.Y[i-1])), true
	}
	if n := len(s.X); n > 0 {
		return s.Y[n-1], true
	}
	return 0, false
}
