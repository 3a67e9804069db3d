package still

import (
	"fmt"
	"io"
	"math"

	"servesim/report/figure"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// A Format is a form of picture.
type Format string

// The formats.
const (
	SVG Format = "svg"
	PNG Format = "png"
	PDF Format = "pdf"
)

// Formats lists every format.
func Formats() []Format { return []Format{SVG, PNG, PDF} }

// dpi is the resolution of PNG, in dots an inch: twice that of a plain screen.
const dpi = 192

// Write writes f as a picture. It is an error if f is not as package figure makes it, as
// with numbers that can't be drawn.
func Write(w io.Writer, f *figure.Figure, format Format) error {
	if err := check(f); err != nil {
		return err
	}
	s := lay(f)
	switch format {
	case SVG:
		return s.svg(w)
	case PNG:
		c := vgimg.NewWith(vgimg.UseWH(s.w, s.h), vgimg.UseDPI(dpi))
		s.draw(draw.New(c))
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
		return err
	case PDF:
		c := outlined{vgpdf.New(s.w, s.h)}
		s.draw(draw.New(c))
		return c.write(w)
	}
	return fmt.Errorf("unknown format %q of pictures; there are %v", format, Formats())
}

// svg writes the picture as SVG.
func (s *sheet) svg(w io.Writer) error {
	c := newSVG(s.w, s.h)
	on := draw.New(c)
	on.SetColor(hex("#FFFFFF"))
	on.Fill(on.Rectangle.Path())
	s.draw(on)
	return c.write(w, s.f.Title, s.f.Text)
}

// draw draws the picture.
func (s *sheet) draw(c draw.Canvas) {
	left, y := vg.Points(margin), s.h-vg.Points(margin)
	c.FillText(bold(styleOf(titleSize, draw.XLeft, draw.YTop)), vg.Point{X: left, Y: y}, cut(s.f.Title, mostTitle))
	y -= lineOf(titleSize) + vg.Points(4)
	for _, list := range s.legend {
		s.legendRow(c, list, y-lineOf(labelSize)/2)
		y -= lineOf(labelSize)
	}
	y -= vg.Points(6)
	for i := range s.rows {
		s.row(c, i, y)
		y -= s.rows[i].head + s.rows[i].height + vg.Points(gap)
	}
	style := styleOf(captionSize, draw.XLeft, draw.YTop)
	for _, text := range s.caption {
		c.FillText(style, vg.Point{X: left, Y: y}, text)
		y -= lineOf(captionSize)
	}
}

// row draws row i, whose top is at y. The areas of panels in one column are in line.
func (s *sheet) row(c draw.Canvas, i int, y vg.Length) {
	r := &s.rows[i]
	x := vg.Points(margin)
	for k := range r.panels {
		box := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: y - r.head - r.height}, Max: vg.Point{X: x + s.columns[k], Y: y - r.head},
		}}
		one := s.plot(i, k)
		before, after := s.sides(k)
		area := one.DataCanvas(box)
		box = draw.Crop(box, before-(area.Min.X-box.Min.X), (box.Max.X-area.Max.X)-after, 0, 0)
		area = one.DataCanvas(box)
		one.Draw(box)
		top := y
		for _, l := range r.heads[k] {
			c.FillText(l.style, vg.Point{X: area.Min.X, Y: top}, l.text)
			top -= times(l.style.Font.Size, lineHeight)
		}
		x += s.columns[k] + vg.Points(gap)
	}
}

// plot returns the plot of panel k of row i.
func (s *sheet) plot(i, k int) *plot.Plot {
	r := &s.rows[i]
	return plotOf(r.panels[k], view{
		size:   vg.Point{X: s.columns[k], Y: r.height},
		last:   !s.shared || i == len(s.rows)-1,
		labels: k == len(s.columns)-1,
		named:  k == 0 || !sameAxis(&r.panels[k].Y, &r.panels[k-1].Y),
	})
}

// sides returns the most room that the panels of a column take before and after what
// is drawn between their axes.
func (s *sheet) sides(k int) (before, after vg.Length) {
	for i := range s.rows {
		if k >= len(s.rows[i].panels) {
			continue
		}
		box := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: s.columns[k], Y: s.rows[i].height}}}
		area := s.plot(i, k).DataCanvas(box)
		before, after = max(before, area.Min.X), max(after, box.Max.X-area.Max.X)
	}
	return before, after
}

// mostPanels is the most panels of a picture.
const mostPanels = 64

// check returns what of f can't be drawn.
func check(f *figure.Figure) error {
	if len(f.Panels) > mostPanels {
		return fmt.Errorf("figure %q has %d panels; a picture has at most %d", f.Kind, len(f.Panels), mostPanels)
	}
	for i := range f.Panels {
		p := &f.Panels[i]
		for _, a := range []*figure.Axis{&p.X, &p.Y} {
			if !(a.Max-a.Min > 1e-9*max(math.Abs(a.Min), math.Abs(a.Max))) || math.IsInf(a.Max-a.Min, 0) || a.Scale == figure.Log && a.Min <= 0 {
				return fmt.Errorf("figure %q, panel %d: the axis of %s goes from %g to %g, which can't be drawn", f.Kind, i+1, a.Label, a.Min, a.Max)
			}
		}
		for _, s := range p.Series {
			if err := checkSeries(p, &s); err != nil {
				return fmt.Errorf("figure %q, panel %d, %q: %w", f.Kind, i+1, s.Label, err)
			}
		}
		for _, m := range p.Marks {
			on := &p.X
			if m.On == "y" {
				on = &p.Y
			}
			if !drawable(on, m.Value) {
				return fmt.Errorf("figure %q, panel %d: the mark %q is at %g, which can't be drawn", f.Kind, i+1, m.Label, m.Value)
			}
		}
	}
	return nil
}

// checkSeries returns what of s can't be drawn.
func checkSeries(p *figure.Panel, s *figure.Series) error {
	n := len(s.X)
	if len(s.Y) != n || s.Low != nil && len(s.Low) != n || s.High != nil && len(s.High) != n || s.Tags != nil && len(s.Tags) != n || s.Shape == figure.Bars && (s.Low == nil || s.High == nil) {
		return fmt.Errorf("it has %d x, %d y, %d and %d ends and %d tags", n, len(s.Y), len(s.Low), len(s.High), len(s.Tags))
	}
	ends := &p.Y
	if s.Shape == figure.Bars {
		ends = &p.X
	}
	for k := range n {
		bad := !drawable(&p.X, s.X[k]) || !drawable(&p.Y, s.Y[k])
		bad = bad || s.Low != nil && !drawable(ends, s.Low[k]) || s.High != nil && !drawable(ends, s.High[k])
		if bad {
			return fmt.Errorf("point %d, (%g, %g), can't be drawn", k+1, s.X[k], s.Y[k])
		}
	}
	return nil
}

// drawable tells whether v has a place on an axis.
func drawable(a *figure.Axis, v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (a.Scale != figure.Log || v > 0)
}
