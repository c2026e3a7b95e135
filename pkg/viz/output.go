package viz

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

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

// halfWidth is the width up to which two figures may stand side by side, in CSS pixels.
const halfWidth = 480

// svg draws an arrangement; class and css are attributes of the <svg> element.
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
// the data. Without both it looks as [Figure.SVG] does, and it fails as this does.
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
	if err := files.WriteBytes(context.Background(), path, b.Bytes()); err != nil {
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
		image := xmlHead + strings.Replace(inPage(svg), ">", ">"+darkImage, 1)
		if err := files.WriteBytes(context.Background(), name, []byte(image)); err != nil {
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
