package viz

import (
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// superscript is a text handler for tick labels that draws what is in ^{...} small and raised, because the fonts lack the Unicode
// superscripts for minus, 0 and 9. It handles one line without rotation, as ticks have.
type superscript struct{ text.Plain }

const (
	supScale = 0.8  // size of a superscript over the size of its text: 11 pixels, beside ticks of 14
	supRaise = 0.38 // rise of a superscript over the size of its text
)

func (superscript) split(txt string) (base, sup string) {
	base, sup, _ = strings.Cut(txt, "^{")
	return base, strings.TrimSuffix(sup, "}")
}

// Box implements text.Handler.
func (h superscript) Box(txt string, f font.Font) (width, height, depth vg.Length) {
	base, sup := h.split(txt)
	width, height, depth = h.Plain.Box(base, f)
	if sup != "" {
		f.Size *= supScale
		w, _, _ := h.Plain.Box(sup, f)
		width += w
	}
	return width, height, depth
}

// Draw implements text.Handler.
func (h superscript) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	base, sup := h.split(txt)
	if strings.TrimSpace(base) == "" {
		return
	}
	face := h.Fonts.Lookup(sty.Font, sty.Font.Size)
	width, height, _ := h.Box(txt, sty.Font)
	depth := face.Extents().Descent
	pt.X += vg.Length(sty.XAlign) * width
	// The baseline is the same as in text.Plain, so that labels with and without a power line up.
	pt.Y += vg.Length(sty.YAlign)*(height+depth) - face.Extents().Ascent + sty.Font.Size
	c.SetColor(sty.Color)
	axis := "y"
	if sty.XAlign == text.XCenter {
		axis = "x"
	}
	marked(c, axis, func() {
		c.FillString(face, pt, base)
		if sup != "" {
			pt.X += face.Width(base)
			pt.Y += supRaise * sty.Font.Size
			c.FillString(h.Fonts.Lookup(sty.Font, supScale*sty.Font.Size), pt, sup)
		}
	})
}
