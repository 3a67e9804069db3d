package still

import (
	"image/color"
	"strconv"

	"servesim/report/figure"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of text, in points.
const (
	titleSize   = 12
	panelSize   = 10
	labelSize   = 9
	tickSize    = 8
	captionSize = 8
)

// lineHeight is the distance of lines of text as a multiple of its size.
const lineHeight = 1.3

// lineOf returns the height of a line of text of a size in points.
func lineOf(size float64) vg.Length { return times(vg.Points(size), lineHeight) }

// times returns l as many times, rounded, so that no machine rounds the product and a
// sum at once.
func times(l vg.Length, n float64) vg.Length { return vg.Length(float64(l) * n) }

// styleOf returns the style of text of a size in points.
func styleOf(size float64, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: ink(), Font: font.From(face(), vg.Points(size)), XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler,
	}
}

// face returns the font of all text.
func face() font.Font { return font.Font{Typeface: "Liberation", Variant: "Sans"} }

// bold returns s in bold.
func bold(s text.Style) text.Style {
	s.Font.Weight = xfont.WeightBold
	return s
}

// ink is the colour of text and axes.
func ink() color.NRGBA { return color.NRGBA{A: 255} }

// faint is the colour of lines that guide the eye, over any ground.
func faint() color.NRGBA { return color.NRGBA{R: 128, G: 128, B: 128, A: 70} }

// colorOf returns the colour of a series.
func colorOf(role figure.Role, index int) color.NRGBA { return hex(toneOf(role, index)) }

// hex returns the colour that #RRGGBB says.
func hex(text string) color.NRGBA {
	n, err := strconv.ParseUint(text[1:], 16, 32)
	if err != nil {
		return ink()
	}
	return color.NRGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 255}
}

// hairline returns a thin line.
func hairline(c color.NRGBA) draw.LineStyle { return draw.LineStyle{Color: c, Width: vg.Points(0.6)} }

// dashed returns a line of dashes.
func dashed(c color.NRGBA) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(0.9), Dashes: []vg.Length{vg.Points(4), vg.Points(2.5)}}
}
