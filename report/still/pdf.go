package still

import (
	"bytes"
	"fmt"
	"io"
	"regexp"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// outlined is a PDF whose text is drawn as outlines: readers need no font, and every
// character that the font has is drawn, not only those of one code page.
type outlined struct{ *vgpdf.Canvas }

// FillString implements vg.Canvas.
func (c outlined) FillString(f plotfont.Face, at vg.Point, text string) {
	var buf sfnt.Buffer
	units := fixed.Int26_6(f.Face.UnitsPerEm())
	scale := f.Font.Size / vg.Length(units)
	for _, r := range text {
		glyph, err := f.Face.GlyphIndex(&buf, r) // 0, a box, for what the font lacks
		if err != nil {
			glyph = 0
		}
		if segments, err := f.Face.LoadGlyph(&buf, glyph, units, nil); err == nil && len(segments) > 0 {
			c.Fill(outline(segments, at, scale))
		}
		if step, err := f.Face.GlyphAdvance(&buf, glyph, units, font.HintingNone); err == nil {
			at.X += times(scale, float64(step))
		}
	}
}

// outline returns the path of a glyph at a place.
func outline(segments sfnt.Segments, at vg.Point, scale vg.Length) vg.Path {
	point := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + times(scale, float64(p.X)), Y: at.Y - times(scale, float64(p.Y))}
	}
	var p vg.Path
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if len(p) > 0 {
				p.Close()
			}
			p.Move(point(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			p.Line(point(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			p.QuadTo(point(s.Args[0]), point(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			p.CubeTo(point(s.Args[0]), point(s.Args[1]), point(s.Args[2]))
		}
	}
	p.Close()
	return p
}

// pdfDates are the instants of the clock that the library writes.
var pdfDates = regexp.MustCompile(`/(Creation|Mod)Date \(D:[0-9]{14}\)`)

// write writes the PDF. Its dates are always the same, for the same figure has the same
// bytes; they are as long as others, so that no offset in the file changes.
func (c outlined) write(w io.Writer) error {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return fmt.Errorf("write PDF: %w", err)
	}
	_, err := w.Write(pdfDates.ReplaceAll(b.Bytes(), []byte("/${1}Date (D:19700101000000)")))
	return err
}
