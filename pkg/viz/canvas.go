package viz

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strings"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svgCanvas is gonum/plot's SVG canvas adapted to web pages; see finish.
type svgCanvas struct {
	*vgsvg.Canvas
	attributes []string // attributes of the texts and paths, in the order drawn

	alive bool // elements are marked by part, for the script of a page
	panel int  // index of the panel being drawn, −1 before the first
	part  string
	width vg.Length // current width of lines
}

// mark records the attributes of the next element.
func (c *svgCanvas) mark(part, more string) {
	if c.alive && part != "" {
		more = fmt.Sprintf(`class="gppl-t%d" data-part="%s" %s`, c.panel, part, more)
	}
	c.attributes = append(c.attributes, more)
}

// FillString implements vg.Canvas.
func (c *svgCanvas) FillString(f font.Face, pt vg.Point, s string) {
	if strings.TrimSpace(s) == "" {
		return
	}
	c.mark(c.part, fmt.Sprintf(`textLength="%.5g" lengthAdjust="spacingAndGlyphs" `, f.Width(s).Points()))
	c.Canvas.FillString(f, pt, s)
}

// Fill implements vg.Canvas.
func (c *svgCanvas) Fill(p vg.Path) {
	c.mark(c.part, "")
	c.Canvas.Fill(p)
}

// SetLineWidth implements vg.Canvas.
func (c *svgCanvas) SetLineWidth(w vg.Length) {
	c.width = w
	c.Canvas.SetLineWidth(w)
}

// Stroke implements vg.Canvas. A short line outside any part is a tick.
func (c *svgCanvas) Stroke(p vg.Path) {
	part := c.part
	if part == "" && c.panel >= 0 && len(p) == 2 {
		if d := p[1].Pos.Sub(p[0].Pos); math.Hypot(float64(d.X), float64(d.Y)) < tickLength+tolerance {
			part = "tick"
		}
	}
	if c.width > 0 { // a line without width is not drawn
		c.mark(part, "")
	}
	c.Canvas.Stroke(p)
}

// Dots implements dotter. Strokes without length and with round caps (see finish) are discs, and take a fifth of the bytes of
// outlines.
func (c *svgCanvas) Dots(centres []vg.Point, r vg.Length) {
	var p vg.Path
	for _, o := range centres {
		p.Move(o)
		p.Close()
	}
	c.SetLineWidth(2 * r)
	c.SetLineDash(nil, 0)
	c.Stroke(p)
}

// finish returns the element with further attributes:
//   - an opening tag that scales with the page and is announced as one image;
//   - fonts by families that a browser has, and on each text the width that it was laid out for, so that a browser without
//     these fonts squeezes another one to fit rather than let it run into the data;
//   - the part of a panel that each element belongs to, if any;
//   - round caps and joins, which Dots relies on.
func (c *svgCanvas) finish(attributes string) (string, error) {
	var raw bytes.Buffer
	if _, err := c.WriteTo(&raw); err != nil {
		return "", err
	}
	w, h := c.Size()
	_, body, ok := strings.Cut(raw.String(), `xmlns:xlink="http://www.w3.org/1999/xlink">`)
	if !ok {
		return "", errors.New("viz: gonum/plot's SVG is not as expected")
	}
	var b strings.Builder
	b.Grow(len(body) + 4096)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" %s `+
		`viewBox="0 0 %g %g" stroke-linecap="round" stroke-linejoin="round">`,
		attributes, w.Points(), h.Points())
	elements := element.FindAllStringIndex(body, -1)
	if len(elements) != len(c.attributes) {
		return "", errors.New("viz: gonum/plot's SVG has elements that were not drawn")
	}
	at := 0
	for i, e := range elements {
		b.WriteString(withFonts(body[at:e[1]]) + c.attributes[i])
		at = e[1]
	}
	b.WriteString(withFonts(body[at:]))
	return b.String(), nil
}

// part is a plotter whose elements are marked in the SVG of a page: data-part is "grid", "end", the number of a layer or, for a
// point, the number of the layer and its own, as in "2.7". Ticks and their labels are "tick", "x" and "y". While a reader zooms,
// the script of the page hides all marked parts of a panel and draws copies of them in other places, so that the looks are
// defined here only.
type part struct {
	plot.Plotter
	name string
}

// Plot implements plot.Plotter.
func (p part) Plot(c draw.Canvas, plt *plot.Plot) {
	marked(c, p.name, func() { p.Plotter.Plot(c, plt) })
}

// GlyphBoxes implements plot.GlyphBoxer.
func (p part) GlyphBoxes(plt *plot.Plot) []plot.GlyphBox {
	if g, ok := p.Plotter.(plot.GlyphBoxer); ok {
		return g.GlyphBoxes(plt)
	}
	return nil
}

// marked draws elements that belong to a part.
func marked(c vg.Canvas, part string, draw func()) {
	if s, ok := under(c).(*svgCanvas); ok {
		defer func(outer string) { s.part = outer }(s.part)
		s.part = part
	}
	draw()
}

// under returns the innermost canvas: gonum/plot wraps canvases in one another when it crops.
func under(c vg.Canvas) vg.Canvas {
	for {
		switch w := c.(type) {
		case draw.Canvas:
			c = w.Canvas
		case *draw.Canvas:
			c = w.Canvas
		default:
			return c
		}
	}
}

// fontStack lists the font that the layout was made for, then fonts with the same metrics.
const fontStack = `font-family:'Liberation Sans',Arial,Helvetica,sans-serif`

// element matches the beginning of a text or a path; inside texts "<" is escaped.
var element = regexp.MustCompile("<(text|path) ")

// withFonts completes the fonts of the first text. The first match is the style attribute: the text itself comes later, with its
// quotes escaped.
func withFonts(svg string) string {
	return strings.Replace(svg, "font-family:Liberation Sans;font-variant:normal", fontStack, 1)
}

// pdfCanvas corrects two faults of gonum/plot's PDF canvas. That canvas knows only the Western code page and no bold fonts, so
// that a σ or a minus sign would be lost: text is drawn as outlines. And it takes the premultiplied components of a translucent
// colour for plain ones, which darkens it.
type pdfCanvas struct{ *vgpdf.Canvas }

// SetColor implements vg.Canvas.
func (c pdfCanvas) SetColor(col color.Color) {
	if col == nil {
		col = color.Black
	}
	c.Canvas.SetColor(plainRGBA(color.NRGBAModel.Convert(col).(color.NRGBA)))
}

// plainRGBA is a colour whose components are not multiplied by its alpha, contrary to the rule of color.Color.
type plainRGBA color.NRGBA

func (p plainRGBA) RGBA() (r, g, b, a uint32) {
	return uint32(p.R) * 0x101, uint32(p.G) * 0x101, uint32(p.B) * 0x101, uint32(p.A) * 0x101
}

// FillString implements vg.Canvas.
func (c pdfCanvas) FillString(f font.Face, pt vg.Point, s string) {
	var (
		buf   sfnt.Buffer
		p     vg.Path
		units = f.Face.UnitsPerEm()
		ppem  = fixed.Int26_6(units) // coordinates are then in font units
		scale = f.Font.Size / vg.Length(units)
		x     = pt.X
	)
	at := func(q fixed.Point26_6) vg.Point {
		return vg.Point{X: x + vg.Length(q.X)*scale, Y: pt.Y - vg.Length(q.Y)*scale}
	}
	for _, r := range s {
		g, err := f.Face.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		// The segments live in buf: they must be used before the next call with it.
		if segments, err := f.Face.LoadGlyph(&buf, g, ppem, nil); err == nil {
			open := false
			for _, seg := range segments {
				a := seg.Args
				switch seg.Op {
				case sfnt.SegmentOpMoveTo:
					if open {
						p.Close()
					}
					p.Move(at(a[0]))
					open = true
				case sfnt.SegmentOpLineTo:
					p.Line(at(a[0]))
				case sfnt.SegmentOpQuadTo:
					p.QuadTo(at(a[0]), at(a[1]))
				case sfnt.SegmentOpCubeTo:
					p.CubeTo(at(a[0]), at(a[1]), at(a[2]))
				}
			}
			if open {
				p.Close()
			}
		}
		if adv, err := f.Face.GlyphAdvance(&buf, g, ppem, 0); err == nil {
			x += vg.Length(adv) * scale
		}
	}
	if len(p) > 0 {
		c.Fill(p)
	}
}

// tolerance is the largest shift that dropping a vertex or merging two dots may cause, in points.
const tolerance = 0.25
