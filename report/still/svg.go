package still

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"io"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// family is the fonts of text in SVG: the one that widths are computed of, and those
// with the same widths that readers have.
const family = "'Liberation Sans',Arial,Helvetica,sans-serif"

// svgCanvas is a vg.Canvas that writes SVG: text as text, coordinates to a hundredth
// of a point.
type svgCanvas struct {
	b     strings.Builder
	w, h  vg.Length
	state svgState
	stack []svgState
}

// svgState is what Push saves.
type svgState struct {
	width  vg.Length
	dashes []vg.Length
	color  color.Color
	at     vg.Point // of the origin
	turned bool     // a quarter to the left
}

// newSVG returns an empty canvas.
func newSVG(w, h vg.Length) *svgCanvas {
	c := &svgCanvas{w: w, h: h}
	vg.Initialize(c)
	return c
}

// Size implements vg.CanvasSizer.
func (c *svgCanvas) Size() (w, h vg.Length) { return c.w, c.h }

// SetLineWidth implements vg.Canvas.
func (c *svgCanvas) SetLineWidth(w vg.Length) { c.state.width = w }

// SetLineDash implements vg.Canvas.
func (c *svgCanvas) SetLineDash(dashes []vg.Length, _ vg.Length) { c.state.dashes = dashes }

// SetColor implements vg.Canvas.
func (c *svgCanvas) SetColor(k color.Color) { c.state.color = k }

// Rotate implements vg.Canvas for the one turn that is drawn, a quarter to the left.
func (c *svgCanvas) Rotate(rad float64) { c.state.turned = rad > 0 }

// Translate implements vg.Canvas.
func (c *svgCanvas) Translate(p vg.Point) { c.state.at = c.state.at.Add(p) }

// Scale implements vg.Canvas; nothing here scales.
func (c *svgCanvas) Scale(float64, float64) {}

// Push implements vg.Canvas.
func (c *svgCanvas) Push() { c.stack = append(c.stack, c.state) }

// Pop implements vg.Canvas.
func (c *svgCanvas) Pop() {
	c.state = c.stack[len(c.stack)-1]
	c.stack = c.stack[:len(c.stack)-1]
}

// DrawImage implements vg.Canvas; nothing here draws images.
func (c *svgCanvas) DrawImage(vg.Rectangle, image.Image) {}

// place returns where a point is, from the top left.
func (c *svgCanvas) place(p vg.Point) (x, y string) {
	if c.state.turned {
		p = vg.Point{X: -p.Y, Y: p.X}
	}
	p = p.Add(c.state.at)
	return decimal(p.X), decimal(c.h - p.Y)
}

// decimal writes a length in points, rounded to a hundredth.
func decimal(l vg.Length) string {
	text := strconv.FormatFloat(l.Points(), 'f', 2, 64)
	text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// paint returns the attributes that give an element its colour.
func (c *svgCanvas) paint(attribute string) string {
	n := color.NRGBAModel.Convert(c.state.color).(color.NRGBA)
	text := fmt.Sprintf(` %s="#%02X%02X%02X"`, attribute, n.R, n.G, n.B)
	if n.A < 255 {
		text += " " + attribute + `-opacity="` + strconv.FormatFloat(float64(n.A)/255, 'f', 2, 64) + `"`
	}
	return text
}

// path writes the data of a path.
func (c *svgCanvas) path(p vg.Path) string {
	var b strings.Builder
	point := func(p vg.Point) {
		x, y := c.place(p)
		b.WriteString(x + "," + y)
	}
	for _, one := range p {
		switch one.Type {
		case vg.MoveComp:
			b.WriteByte('M')
			point(one.Pos)
		case vg.LineComp:
			b.WriteByte('L')
			point(one.Pos)
		case vg.CurveComp:
			b.WriteByte("QC"[len(one.Control)-1])
			for _, k := range one.Control {
				point(k)
				b.WriteByte(' ')
			}
			point(one.Pos)
		case vg.CloseComp:
			b.WriteByte('Z')
		}
	}
	return b.String()
}

// Stroke implements vg.Canvas.
func (c *svgCanvas) Stroke(p vg.Path) {
	if c.state.width <= 0 || len(p) == 0 {
		return
	}
	dash := ""
	if len(c.state.dashes) > 0 {
		var parts []string
		for _, d := range c.state.dashes {
			parts = append(parts, decimal(d))
		}
		dash = ` stroke-dasharray="` + strings.Join(parts, " ") + `"`
	}
	fmt.Fprintf(&c.b, "<path d=\"%s\" fill=\"none\"%s stroke-width=\"%s\"%s stroke-linejoin=\"round\"/>\n", c.path(p), c.paint("stroke"), decimal(c.state.width), dash)
}

// Fill implements vg.Canvas.
func (c *svgCanvas) Fill(p vg.Path) {
	fmt.Fprintf(&c.b, "<path d=\"%s\"%s/>\n", c.path(p), c.paint("fill"))
}

// dots draws discs at points: lines of no length with round ends.
func (c *svgCanvas) dots(points []vg.Point, radius vg.Length) {
	if len(points) == 0 {
		return
	}
	var b strings.Builder
	for _, p := range points {
		x, y := c.place(p)
		b.WriteString("M" + x + "," + y + "h0")
	}
	fmt.Fprintf(&c.b, "<path d=\"%s\" fill=\"none\"%s stroke-width=\"%s\" stroke-linecap=\"round\"/>\n", b.String(), c.paint("stroke"), decimal(2*radius))
}

// FillString implements vg.Canvas. The text has been cleaned.
func (c *svgCanvas) FillString(f font.Face, p vg.Point, text string) {
	x, y := c.place(p)
	turn := ""
	if c.state.turned {
		turn = fmt.Sprintf(` transform="rotate(-90 %s %s)"`, x, y)
	}
	weight := ""
	if f.Font.Weight > 0 {
		weight = ` font-weight="bold"`
	}
	// The length keeps text in its place where a reader's font is wider.
	fmt.Fprintf(&c.b, "<text x=\"%s\" y=\"%s\" font-size=\"%s\"%s textLength=\"%s\" lengthAdjust=\"spacingAndGlyphs\"%s%s>%s</text>\n",
		x, y, decimal(f.Font.Size), weight, decimal(f.Width(text)), c.paint("fill"), turn, html.EscapeString(text))
}

// write writes the picture, with its title and its words for those who don't see it.
func (c *svgCanvas) write(w io.Writer, title, words string) error {
	_, err := fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%[1]s\" height=\"%[2]s\" viewBox=\"0 0 %[1]s %[2]s\" role=\"img\" font-family=\"%[3]s\">\n<title>%[4]s</title>\n<desc>%[5]s</desc>\n%[6]s</svg>\n",
		decimal(c.w), decimal(c.h), family, html.EscapeString(clean(title)), html.EscapeString(clean(words)), c.b.String())
	return err
}
