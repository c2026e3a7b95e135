package viz

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Marker is the shape of a point. Together with colour and position it distinguishes methods; in monochrome print it still does.
type Marker int

// The markers.
const (
	Disc Marker = iota
	Square
	Triangle
	Star
	Diamond
)

// shapes are corners at equal angles, with radii that repeat around the marker. All markers look equally large, though their
// radii differ.
var shapes = map[Marker]struct {
	corners int
	start   float64 // angle of the first corner, in radians
	radii   []float64
}{
	Disc:     {32, 0, []float64{1}},
	Square:   {4, math.Pi / 4, []float64{1.25}},
	Triangle: {3, math.Pi / 2, []float64{1.35}},
	Star:     {10, math.Pi / 2, []float64{1.6, 0.68}},
	Diamond:  {4, 0, []float64{1.3}},
}

// glyph is a marker with its look. A hollow one is pale: it stands for what accompanies the message, such as published figures.
type glyph struct {
	marker Marker
	colour color.NRGBA
	radius vg.Length
	hollow bool
}

// size returns the distance from the centre to the farthest corner.
func (g glyph) size() vg.Length { return g.radius * vg.Length(shapes[g.marker].radii[0]) }

func (g glyph) outline(centre vg.Point) []vg.Point {
	s := shapes[g.marker]
	pts := make([]vg.Point, s.corners)
	for i := range pts {
		sin, cos := math.Sincos(s.start + 2*math.Pi*float64(i)/float64(s.corners))
		r := g.radius * vg.Length(s.radii[i%len(s.radii)])
		pts[i] = vg.Point{X: centre.X + r*vg.Length(cos), Y: centre.Y + r*vg.Length(sin)}
	}
	return pts
}

func (g glyph) draw(c *draw.Canvas, centre vg.Point) {
	fill, edge, width := color.Color(g.colour), darker(g.colour), vg.Length(0.7)
	if g.hollow {
		fill, edge, width = withAlpha(style.background, 215), pale(g.colour), 1.2
	}
	pts := g.outline(centre)
	c.FillPolygon(fill, pts)
	c.StrokeLines(draw.LineStyle{Color: edge, Width: width}, append(pts, pts[0]))
}

// drawEdge draws an arrow head at the edge of the axes for a point that lies above (dy = 1) or below (−1) them.
func (g glyph) drawEdge(c *draw.Canvas, at vg.Point, dy vg.Length) {
	r := g.radius
	col := g.colour
	if g.hollow {
		col = pale(col)
	}
	tip := vg.Point{X: at.X, Y: at.Y + dy*r}
	c.FillPolygon(col, []vg.Point{tip, {X: at.X - dy*r, Y: at.Y - dy*r}, {X: at.X + dy*r, Y: at.Y - dy*r}})
}

func pale(c color.NRGBA) color.NRGBA { return mix(c, style.background) }

// mix blends a colour with a background.
func mix(c, background color.NRGBA) color.NRGBA {
	part := func(v, b uint8) uint8 { return uint8((55*int(v) + 45*int(b)) / 100) }
	return color.NRGBA{R: part(c.R, background.R), G: part(c.G, background.G), B: part(c.B, background.B), A: c.A}
}
