package viz

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pxToPt converts CSS pixels, the unit of a figure's size, to gonum/plot's points.
const pxToPt = 0.75

// theme holds every visual decision of the package.
type theme struct {
	background, ink, muted, axis, grid, observed, heldOut, span color.NRGBA

	// palette and dashes distinguish methods in two ways: by a hue that is safe for colour-blind readers, and by a dash that
	// survives monochrome print and shows both of two lines that coincide.
	palette []color.NRGBA
	dashes  [][]vg.Length

	titleSize, labelSize, tickSize, noteSize               vg.Length
	lineWidth, gridWidth, axisWidth, dotR, markerR, glyphR vg.Length
	latentAlpha, noisyAlpha                                uint8 // opacities of the bands of one method
	overlaid                                               uint8 // opacity of the latent bands of several; noisy ones have half
	dotAlpha, heldAlpha                                    uint8
	margin, gap                                            vg.Length
	width, height                                          float64 // CSS pixels
}

// These slots have the names of their colours. As in the paper's figures PL is blue, VFE red and ML yellow; what goes beyond the
// paper is green. This holds in every figure that gives its methods slots rather than leave them to their order.
const (
	Blue = 1 + iota
	Vermillion
	Green
	Purple
	Orange
	Sky
	Grey
)

// light is the theme in which everything is made; dark replaces it on a dark page. The palette is Okabe and Ito's without its
// yellow, which is illegible on white. Blue and vermillion come first: they are the pair furthest apart for every kind of colour
// blindness.
var light = theme{
	background: rgb(0xFFFFFF),
	ink:        rgb(0x1F2328),
	muted:      rgb(0x57606A),
	axis:       rgb(0x8C959F),
	grid:       rgb(0xE7EAED),
	observed:   rgb(0x3A3F45),
	heldOut:    rgb(0xB5179E),
	span:       rgb(0xF1F3F5),

	palette: []color.NRGBA{
		rgb(0x0072B2), // blue
		rgb(0xD55E00), // vermillion
		rgb(0x009E73), // green
		rgb(0xCC79A7), // purple
		rgb(0xE69F00), // orange
		rgb(0x56B4E9), // sky
		rgb(0x4D4D4D), // grey
	},
	dashes: [][]vg.Length{nil, {7, 4}, {2, 3.5}, {9, 3.5, 2, 3.5}, {12, 4}, {4, 3}, {1, 3}},

	titleSize: 13, labelSize: 11.5, tickSize: 10.5, noteSize: 10,
	lineWidth: 1.7, gridWidth: 0.6, axisWidth: 0.8, dotR: 1.15, markerR: 2.6, glyphR: 3.4,
	latentAlpha: 88, noisyAlpha: 40, overlaid: 46, dotAlpha: 115, heldAlpha: 180,
	margin: 7, gap: 6,
	width: 800, height: 420,
}

// style is the theme that figures are drawn in.
var style = &light

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

func withAlpha(c color.NRGBA, a uint8) color.NRGBA {
	c.A = a
	return c
}

// darker darkens a line's colour for text, to a contrast of at least 4.5 on white.
func darker(c color.NRGBA) color.NRGBA {
	return color.NRGBA{R: uint8(int(c.R) * 2 / 3), G: uint8(int(c.G) * 2 / 3), B: uint8(int(c.B) * 2 / 3), A: c.A}
}

// colour returns the colour of the method in a slot, which counts from zero and wraps around; line returns its look.
func (t *theme) colour(slot int) color.NRGBA { return t.palette[slot%len(t.palette)] }

func (t *theme) line(slot int) draw.LineStyle {
	return draw.LineStyle{
		Color:  t.colour(slot),
		Width:  t.lineWidth,
		Dashes: t.dashes[(slot+slot/len(t.palette))%len(t.dashes)],
	}
}

// text returns a style for text of a given size. Liberation Sans has the metrics of Arial and Helvetica, so that an SVG that only
// names its fonts keeps its layout on any desktop.
func (t *theme) text(size vg.Length, c color.Color, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: c, Font: f, Handler: plot.DefaultTextHandler}
}

const tickLength = 4 // points

// dress applies the theme to a new plot: a light grid, thin grey axes, no box.
func (t *theme) dress(p *plot.Plot) {
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle = draw.LineStyle{Color: t.axis, Width: t.axisWidth}
		a.Tick.LineStyle = a.LineStyle
		a.Tick.Length = tickLength
		a.Tick.Label = t.text(t.tickSize, t.muted, false)
		a.Tick.Label.Handler = superscript{Plain: text.Plain{Fonts: plot.DefaultTextHandler.Cache()}}
	}
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XCenter, draw.YTop
	p.Y.Tick.Label.XAlign, p.Y.Tick.Label.YAlign = draw.XRight, draw.YCenter
}
