package viz

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/projected-likelihood/gppl/internal/files"
)

// pngDPI gives a PNG twice as many pixels as the figure has CSS pixels, so that it is sharp on a dense screen and in print.
const pngDPI = 192

// render draws f on a canvas; a panic of a plotter that the caller added is returned as an error.
func (f *Figure) render(c vg.CanvasSizer, a arrangement) (places []place, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("viz: drawing the figure %q: %v", f.Title, r)
		}
	}()
	return f.draw(draw.New(c), a), nil
}

func (a arrangement) size() (w, h vg.Length) {
	return vg.Length(a.width * pxToPt), vg.Length(a.height * pxToPt)
}

// SVG returns the figure as an <svg> element for a page. It scales down with the page, needs nothing from the network, and has no
// ids, so that a page can hold any number of figures. It fails only if a plotter that was added to the figure's plots does.
func (f *Figure) SVG() (template.HTML, error) {
	s, err := f.svg(f.wide(), "", "")
	return template.HTML(s), err
}

// halfWidth, in CSS pixels, is the width up to which two figures may stand side by side.
const halfWidth = 480

// svg draws an arrangement; class and css are of the <svg> element.
func (f *Figure) svg(a arrangement, class, css string) (string, error) {
	w, h := a.size()
	c := &svgCanvas{Canvas: vgsvg.New(w, h), alive: class != "", panel: -1, width: 1}
	places, err := f.render(c, a)
	if err != nil {
		return "", err
	}
	attributes := fmt.Sprintf(`width="%g" height="%g" role="img" aria-label="%s" style="%smax-width:100%%;height:auto"`,
		a.width, math.Ceil(a.height), html.EscapeString(f.alt()), css)
	if class != "" {
		attributes += fmt.Sprintf(` class="%s" data-panels="%s"`, class, panelsAttribute(places, h))
	}
	return c.finish(attributes)
}

// panelsAttribute tells the script of a page where the panels are: "panel x y width height" for each, in points from the top
// left.
func panelsAttribute(places []place, height vg.Length) string {
	var parts []string
	for _, p := range places {
		size := p.data.Size()
		parts = append(parts, fmt.Sprintf("%d %.2f %.2f %.2f %.2f", p.panel, p.data.Min.X, height-p.data.Max.Y, size.X, size.Y))
	}
	return strings.Join(parts, ";")
}

// HTML returns the figure with its caption as a <figure> element. In a page with [CSS] it follows the page's dark theme, and a
// narrow page shows a second drawing instead of a shrunken one. With [Script], a reader can also zoom, read values and download
// the data. Without both it is the figure of [Figure.SVG]. Its errors are those of Figure.SVG.
func (f *Figure) HTML() (template.HTML, error) {
	svg, err := f.svg(f.wide(), "gppl-wide", "")
	if err != nil {
		return "", err
	}
	class := "gppl-figure"
	if a, ok := f.narrow(); ok {
		narrow, err := f.svg(a, "gppl-narrow", "display:none;")
		if err != nil {
			return "", err
		}
		svg += narrow
		class += fmt.Sprintf(" gppl-below-%d", f.breakpoint())
	}
	if f.Width <= halfWidth {
		class += " gppl-half"
	}
	if slices.ContainsFunc(f.drawn(), (*panel).zoomable) {
		class += " gppl-live"
	}
	data, err := f.data()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<figure class="%s" data-gppl="%s" style="margin:0.6em 0;max-width:%gpx"><div class="gppl-plot">%s</div>`,
		class, data, f.Width, inPage(svg))
	if f.Caption != "" {
		fmt.Fprintf(&b, `<figcaption style="font-size:0.92em;line-height:1.4;margin-top:0.3em">%s</figcaption>`, escape(f.Caption))
	}
	b.WriteString(`<div class="gppl-foot">`)
	if words := f.words(); words != "" {
		fmt.Fprintf(&b, `<details class="gppl-words"><summary>In words</summary><p>%s</p></details>`, escape(words))
	}
	b.WriteString("</div></figure>")
	return template.HTML(b.String()), nil
}

// Extensions are the file formats that a figure can be written in.
var Extensions = []string{".svg", ".png", ".pdf"}

// Save writes the figure to a file in the format of its extension: .svg, .png or .pdf. The file is written completely or
// not at all: Save writes a temporary file beside it and renames that. The folder must exist.
func (f *Figure) Save(path string) error {
	var b bytes.Buffer
	if err := f.Encode(&b, filepath.Ext(path)); err != nil {
		return fmt.Errorf("viz: saving %q: %w", path, err)
	}
	if err := files.WriteBytes(path, b.Bytes()); err != nil {
		return fmt.Errorf("viz: %w", err)
	}
	return nil
}

// narrowEnd is the end of the name of the narrow drawing, before its extension.
const narrowEnd = "-narrow"

// SaveImages writes an SVG file for a page that shows it as <img>. Unless the figure can simply shrink, it also writes
// NAME-narrow.svg, the drawing for a narrow page:
//
//	<picture><source media="(max-width: 600px)" srcset="NAME-narrow.svg"><img src="NAME.svg" alt="…"></picture>
//
// Unlike a file of [Figure.Save], both are dark on a dark page; on a page without a theme they are dark if its reader prefers
// dark pages.
func (f *Figure) SaveImages(path string) error {
	base, ok := strings.CutSuffix(path, ".svg")
	if !ok {
		return fmt.Errorf("viz: saving %q: the extension is not .svg", path)
	}
	drawings := map[string]arrangement{path: f.wide()}
	if a, ok := f.narrow(); ok {
		drawings[base+narrowEnd+".svg"] = a
	}
	for name, a := range drawings {
		svg, err := f.svg(a, "", "")
		if err != nil {
			return err
		}
		if err := files.WriteBytes(name, []byte(xmlHead+strings.Replace(inPage(svg), ">", ">"+darkImage, 1))); err != nil {
			return fmt.Errorf("viz: %w", err)
		}
	}
	return nil
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// Encode writes the figure in one of the formats of Extensions. A PNG has two pixels for each CSS pixel; text in a PDF is drawn
// as outlines.
func (f *Figure) Encode(w io.Writer, extension string) error {
	wide := f.wide()
	width, height := wide.size()
	var c interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch strings.ToLower(extension) {
	case ".svg":
		svg, err := f.SVG()
		if err == nil {
			_, err = io.WriteString(w, xmlHead+string(svg))
		}
		return err
	case ".png":
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI),
			vgimg.UseBackgroundColor(style.background))}
	case ".pdf":
		c = pdfCanvas{vgpdf.New(width, height)}
	default:
		return fmt.Errorf("the extension is not %s", strings.Join(Extensions, ", "))
	}
	_, err := f.render(c, wide)
	if err == nil {
		_, err = c.WriteTo(w)
	}
	return err
}

// svgCanvas is gonum/plot's SVG canvas adapted to web pages, see finish.
type svgCanvas struct {
	*vgsvg.Canvas
	attributes []string // of the texts and paths, in the order drawn

	alive bool // mark elements by part, for the script of a page
	panel int  // the one being drawn, −1 before the first
	part  string
	width vg.Length // of lines
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
	if c.width > 0 { // otherwise it is not drawn
		c.mark(part, "")
	}
	c.Canvas.Stroke(p)
}

// Dots implements dotter: strokes without length and with round caps (see finish) are discs, in a fifth of the bytes of outlines.
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

// fontStack lists the font that the layout was made for, then fonts with the same metrics.
const fontStack = `font-family:'Liberation Sans',Arial,Helvetica,sans-serif`

// element matches the beginning of a text or a path; inside texts "<" is escaped.
var element = regexp.MustCompile("<(text|path) ")

// withFonts completes the fonts of the first text. The first match is the style attribute: the text itself comes later, with its
// quotes escaped.
func withFonts(svg string) string {
	return strings.Replace(svg, "font-family:Liberation Sans;font-variant:normal", fontStack, 1)
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
