package still

import (
	"slices"

	"servesim/report/figure"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// fewPoints is the number of points up to which each of a line is drawn as a dot too.
const fewPoints = 40

// content is the plotter of all that is drawn between the axes of a panel.
type content struct {
	panel  *figure.Panel
	labels bool // of marks of its y axis, beside it
}

// Plot implements plot.Plotter.
func (d *content) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	at := frame{
		Canvas: c, labels: d.labels,
		x: func(v float64) vg.Length { return toX(place(&d.panel.X, v)) },
		y: func(v float64) vg.Length { return toY(place(&d.panel.Y, v)) },
	}
	at.grid(p)
	for i := range d.panel.Series {
		at.series(&d.panel.Series[i])
	}
	var taken []vg.Rectangle
	for i := range d.panel.Series {
		at.tags(&d.panel.Series[i], &taken)
	}
	at.marks(d.panel)
}

// frame is where values lie on a canvas.
type frame struct {
	draw.Canvas
	labels bool // of marks of the y axis, beside it
	x, y   func(float64) vg.Length
}

// grid draws a faint line at each tick with a label, and the border.
func (f *frame) grid(p *plot.Plot) {
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if x := f.X(p.X.Norm(t.Value)); t.Label != "" && f.ContainsX(x) {
			f.StrokeLine2(hairline(faint()), x, f.Min.Y, x, f.Max.Y)
		}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if y := f.Y(p.Y.Norm(t.Value)); t.Label != "" && f.ContainsY(y) {
			f.StrokeLine2(hairline(faint()), f.Min.X, y, f.Max.X, y)
		}
	}
}

// points returns where those of s lie.
func (f *frame) points(s *figure.Series) []vg.Point {
	list := make([]vg.Point, len(s.X))
	for i := range s.X {
		list[i] = vg.Point{X: f.x(s.X[i]), Y: f.y(s.Y[i])}
	}
	return list
}

// series draws s in its shape.
func (f *frame) series(s *figure.Series) {
	k := colorOf(s.Role, s.Index)
	pts := f.points(s)
	switch s.Shape {
	case figure.Bars:
		f.bars(s)
	case figure.Stems:
		for _, p := range pts {
			f.StrokeLine2(draw.LineStyle{Color: k, Width: vg.Points(1.6)}, p.X, f.Min.Y, p.X, p.Y)
		}
		f.dots(s, pts, 1.4)
	case figure.Dots:
		if s.Role == figure.RoleBest {
			f.rings(pts)
			return
		}
		f.dots(s, pts, 1.5)
	default:
		f.intervals(s)
		f.line(s, pts)
	}
}

// line draws a line, in steps if the shape says so.
func (f *frame) line(s *figure.Series, pts []vg.Point) {
	if s.Shape == figure.Steps {
		var corners []vg.Point
		for i, p := range pts {
			if i > 0 {
				corners = append(corners, vg.Point{X: p.X, Y: pts[i-1].Y})
			}
			corners = append(corners, p)
		}
		pts = corners
	}
	width := vg.Points(1.5)
	if s.Role == figure.RoleUsual {
		width = vg.Points(1)
	}
	style := draw.LineStyle{Color: colorOf(s.Role, s.Index), Width: width}
	f.StrokeLines(style, f.ClipLinesXY(pts)...)
	if len(pts) <= fewPoints && s.Shape == figure.Line {
		f.dots(s, pts, 2.2)
	}
}

// dotter is a canvas that draws many discs at once.
type dotter interface {
	dots(points []vg.Point, radius vg.Length)
}

// below returns the canvas that c is a part of.
func below(c draw.Canvas) vg.Canvas {
	for {
		inner, ok := c.Canvas.(draw.Canvas)
		if !ok {
			return c.Canvas
		}
		c = inner
	}
}

// dots draws discs of a radius in points.
func (f *frame) dots(s *figure.Series, pts []vg.Point, radius float64) {
	f.SetColor(colorOf(s.Role, s.Index))
	var inside []vg.Point
	for _, p := range pts {
		if f.Contains(p) {
			inside = append(inside, p)
		}
	}
	if d, ok := below(f.Canvas).(dotter); ok {
		d.dots(inside, vg.Points(radius))
		return
	}
	for _, p := range inside {
		f.Fill(disc(p, vg.Points(radius)))
	}
}

// disc returns a circle of four cubic curves, which differs from one by less than a
// thousandth of its radius.
func disc(at vg.Point, r vg.Length) vg.Path {
	k := times(r, 0.5523)
	point := func(x, y vg.Length) vg.Point { return vg.Point{X: at.X + x, Y: at.Y + y} }
	var p vg.Path
	p.Move(point(r, 0))
	p.CubeTo(point(r, k), point(k, r), point(0, r))
	p.CubeTo(point(-k, r), point(-r, k), point(-r, 0))
	p.CubeTo(point(-r, -k), point(-k, -r), point(0, -r))
	p.CubeTo(point(k, -r), point(r, -k), point(r, 0))
	p.Close()
	return p
}

// rings draws circles around points.
func (f *frame) rings(pts []vg.Point) {
	f.SetLineStyle(draw.LineStyle{Color: ink(), Width: vg.Points(1)})
	for _, p := range pts {
		f.Stroke(disc(p, vg.Points(4.5)))
	}
}

// intervals draws the interval of each point.
func (f *frame) intervals(s *figure.Series) {
	if s.Low == nil || s.High == nil {
		return
	}
	style := draw.LineStyle{Color: colorOf(s.Role, s.Index), Width: vg.Points(0.8)}
	cap := vg.Points(2)
	for i := range s.X {
		x, lo, hi := f.x(s.X[i]), f.y(s.Low[i]), f.y(s.High[i])
		lo, hi = max(lo, f.Min.Y), min(hi, f.Max.Y)
		f.StrokeLine2(style, x, lo, x, hi)
		f.StrokeLine2(style, x-cap, lo, x+cap, lo)
		f.StrokeLine2(style, x-cap, hi, x+cap, hi)
	}
}

// bars draws a bar along x at each place of y.
func (f *frame) bars(s *figure.Series) {
	f.SetColor(colorOf(s.Role, s.Index))
	half := 0.34
	for i := range s.X {
		lo, hi := f.x(s.Low[i]), f.x(s.High[i])
		top, bottom := f.y(s.Y[i]-half), f.y(s.Y[i]+half)
		var p vg.Path
		p.Move(vg.Point{X: lo, Y: bottom})
		p.Line(vg.Point{X: hi, Y: bottom})
		p.Line(vg.Point{X: hi, Y: top})
		p.Line(vg.Point{X: lo, Y: top})
		p.Close()
		f.Fill(p)
	}
}

// tags writes the names of points beside them, on the first side where no other name is
// and there is room.
func (f *frame) tags(s *figure.Series, taken *[]vg.Rectangle) {
	style := styleOf(tickSize, draw.XLeft, draw.YBottom)
	style.Color = colorOf(s.Role, s.Index)
	for i, t := range s.Tags {
		if t == "" {
			continue
		}
		p, w, h := vg.Point{X: f.x(s.X[i]), Y: f.y(s.Y[i])}, style.Width(short(t)), style.Height(short(t))
		right, left, above, below := vg.Points(4), -w-vg.Points(4), vg.Points(3), -h-vg.Points(3)
		for _, by := range []vg.Point{{X: right, Y: above}, {X: left, Y: above}, {X: right, Y: below}, {X: left, Y: below}} {
			at := p.Add(by)
			box := style.Rectangle(short(t)).Add(at)
			if box.Min.X < f.Min.X || box.Max.X > f.Max.X || slices.ContainsFunc(*taken, func(o vg.Rectangle) bool { return overlap(box, o) }) {
				continue
			}
			*taken = append(*taken, box)
			f.FillText(style, at, short(t))
			break
		}
	}
}

// overlap tells whether a and b have room in common.
func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}
