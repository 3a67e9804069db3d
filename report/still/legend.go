package still

import (
	"image/color"

	"servesim/report/figure"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// An entry is a series in the legend.
type entry struct {
	text  string
	color color.NRGBA
	shape figure.Shape
	ring  bool
	width vg.Length // with its sign and the space after it
}

const (
	signWidth = 16 // of the sign before a name, in points
	afterName = 14
)

// entries returns the series of f that have names, each once; nil if one name says
// nothing.
func entries(f *figure.Figure) []entry {
	type key struct {
		role  figure.Role
		index int
		text  string
	}
	seen := map[key]bool{}
	var list []entry
	style := styleOf(labelSize, draw.XLeft, draw.YCenter)
	for i := range f.Panels {
		for _, s := range f.Panels[i].Series {
			k := key{s.Role, s.Index, s.Label}
			if s.Label == "" || seen[k] {
				continue
			}
			seen[k] = true
			e := entry{text: short(s.Label), color: colorOf(s.Role, s.Index), shape: s.Shape, ring: s.Role == figure.RoleBest}
			e.width = vg.Points(signWidth+afterName) + style.Width(e.text)
			list = append(list, e)
		}
	}
	return list
}

// rows divides entries into rows of a width.
func rows(list []entry, width vg.Length) [][]entry {
	var out [][]entry
	used := width
	for _, e := range list {
		if used+e.width > width {
			out, used = append(out, nil), 0
		}
		out[len(out)-1] = append(out[len(out)-1], e)
		used += e.width
	}
	return out
}

// legendRow draws a row of the legend, y being its middle.
func (s *sheet) legendRow(c draw.Canvas, list []entry, y vg.Length) {
	x := vg.Points(margin)
	style := styleOf(labelSize, draw.XLeft, draw.YCenter)
	for _, e := range list {
		middle := vg.Point{X: x + vg.Points(signWidth/2-2), Y: y}
		c.SetColor(e.color)
		switch {
		case e.ring:
			c.SetLineStyle(draw.LineStyle{Color: e.color, Width: vg.Points(1)})
			c.Stroke(disc(middle, vg.Points(4)))
		case e.shape == figure.Bars, e.shape == figure.Stems:
			half := vg.Points(4)
			c.Fill(vg.Rectangle{Min: vg.Point{X: middle.X - half, Y: y - half}, Max: vg.Point{X: middle.X + half, Y: y + half}}.Path())
		case e.shape == figure.Dots:
			c.Fill(disc(middle, vg.Points(3)))
		default:
			c.StrokeLine2(draw.LineStyle{Color: e.color, Width: vg.Points(2)}, x, y, x+vg.Points(signWidth-4), y)
		}
		c.FillText(style, vg.Point{X: x + vg.Points(signWidth), Y: y}, e.text)
		x += e.width
	}
}
