package viz

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Point is a place in a scatter, such as the median over seeds, with a label beside it.
type Point struct {
	X, Y  float64
	Label string // short: "150"

	// XLo to XHi and YLo to YHi are the ends of a bar through the point, such as quartiles. There is no bar unless the first is
	// below the second; an end beyond the axes is cut.
	XLo, XHi, YLo, YHi float64
}

// PointGroup holds points of one method.
type PointGroup struct {
	Name   string // shown in the legend, unless it is empty
	Marker Marker
	Points []Point
	Slot   int  // colour to use: 1, 2, …; zero means the position among the groups
	Hollow bool // markers are pale and not filled, as for other people's figures
	Joined bool // a line joins the points in their order
}

// ScatterOptions describe a scatter of marked points. Only the axis labels and one drawable point are required.
type ScatterOptions struct {
	Frame
	LogX, LogY bool
	Groups     []PointGroup // drawn in this order
	Rules      []Rule

	// YRange fixes the vertical axis from the first to the second value; the zero value fits it to the data. A point beyond is drawn
	// as an arrow head at the edge, so that it remains visible.
	YRange [2]float64
}

// Scatter draws points with shapes, error bars and labels on linear or logarithmic axes; for many plain dots use [Curves]. Each
// label is placed where it covers least of the labels, markers and lines: beside its point or, in a crowd, farther away and tied
// to it by a thin line, in O(N²) for N points. A label without a place is left out; readers of a page find it at the point. Use
// [Grid] for several panels; it merges the legends.
//
// It returns an error if an axis label is missing, a range is empty or not positive on a log axis, or no point is drawable.
func Scatter(o ScatterOptions) (*Figure, error) {
	b, err := newBuilder(o.Frame, o.LogX, o.LogY)
	if err != nil {
		return nil, err
	}
	b.rules(o.Rules)
	var p pointsPlot
	for i, g := range o.Groups {
		look := glyph{g.Marker, style.colour(slotOf(g.Slot, i)), style.glyphR, g.Hollow}
		drawn := layer{kind: layerPoints, name: clean(g.Name), colour: look.colour}
		number := strconv.Itoa(len(b.layers))
		for _, pt := range g.Points {
			if !drawable(pt.X, o.LogX) || !drawable(pt.Y, o.LogY) {
				continue
			}
			pt.Label = clean(pt.Label)
			p.points = append(p.points, glyphPoint{pt, look, number,
				number + "." + strconv.Itoa(len(drawn.x)), g.Joined && len(drawn.x) > 0})
			drawn.x, drawn.y, drawn.label = append(drawn.x, pt.X), append(drawn.y, pt.Y), append(drawn.label, pt.Label)
			drawn.xBars, drawn.yBars = append(drawn.xBars, [2]float64{pt.XLo, pt.XHi}), append(drawn.yBars, [2]float64{pt.YLo, pt.YHi})
			b.drawn = true
			b.reach(pt.X, pt.Y)
			if pt.XLo < pt.XHi {
				b.reach(pt.XLo, math.NaN())
				b.reach(pt.XHi, math.NaN())
			}
			if pt.YLo < pt.YHi {
				b.reach(math.NaN(), pt.YLo)
				b.reach(math.NaN(), pt.YHi)
			}
		}
		if len(drawn.x) > 0 {
			b.layer(drawn)
		}
		if g.Joined && len(drawn.x) > 1 {
			thin := draw.LineStyle{Color: withAlpha(look.colour, 150), Width: 1.4}
			b.add(linePlot{path{x: drawn.x, y: drawn.y, logX: o.LogX, logY: o.LogY}, thin},
				layer{kind: layerLine, name: clean(g.Name), colour: thin.Color, x: drawn.x, y: drawn.y}) // it repeats the points
		}
		b.legend = append(b.legend, entry{name: clean(g.Name), glyph: look, kind: swatchGlyph})
	}
	for _, r := range o.Rules {
		if drawable(r.Y, o.LogY) {
			p.rules = append(p.rules, r.Y)
		}
	}
	b.plot.Add(part{p, "edge"}) // the arrow heads at the edges are neither bars nor points
	b.yRange = o.YRange
	return b.figure(0.07)
}

// glyphPoint is a drawable point with its look, and the names of the SVG parts of its bars and of itself (see [part]).
type glyphPoint struct {
	Point
	look     glyph
	bars, at string
	joined   bool // a line joins it to the one before
}

// pointsPlot draws bars, then markers, then labels, so that none hides the middle of another.
type pointsPlot struct {
	points []glyphPoint
	rules  []float64 // heights of lines that labels avoid
}

func (p pointsPlot) Plot(c draw.Canvas, plt *plot.Plot) {
	trX, trY := plt.Transforms(&c)
	cut := func(v float64, a *plot.Axis) float64 { return math.Max(a.Min, math.Min(a.Max, v)) }
	at := make([]vg.Point, len(p.points))
	around := crowd{within: c.Rectangle}
	for i, q := range p.points {
		at[i] = vg.Point{X: trX(cut(q.X, &plt.X)), Y: trY(cut(q.Y, &plt.Y))}
		bar := draw.LineStyle{Color: withAlpha(q.look.colour, 170), Width: 1.1}
		if q.look.hollow {
			bar.Color = withAlpha(q.look.colour, 90)
		}
		for _, e := range []stroke{
			{vg.Point{X: trX(cut(q.XLo, &plt.X)), Y: at[i].Y}, vg.Point{X: trX(cut(q.XHi, &plt.X)), Y: at[i].Y}},
			{vg.Point{X: at[i].X, Y: trY(cut(q.YLo, &plt.Y))}, vg.Point{X: at[i].X, Y: trY(cut(q.YHi, &plt.Y))}},
		} {
			if e.from.X < e.to.X && q.XLo < q.XHi || e.from.Y < e.to.Y && q.YLo < q.YHi {
				marked(c, q.bars, func() { c.StrokeLines(bar, []vg.Point{e.from, e.to}) })
				around.lines = append(around.lines, e)
			}
		}
		around.markers = append(around.markers, grow(vg.Rectangle{Min: at[i], Max: at[i]}, q.look.size()))
		if q.joined {
			around.lines = append(around.lines, stroke{at[i-1], at[i]})
		}
	}
	for _, y := range p.rules {
		if plt.Y.Min <= y && y <= plt.Y.Max {
			around.lines = append(around.lines, stroke{vg.Point{X: c.Min.X, Y: trY(y)}, vg.Point{X: c.Max.X, Y: trY(y)}})
		}
	}
	for i, q := range p.points {
		if dy := beyond(q.Y, &plt.Y); dy != 0 {
			q.look.drawEdge(&c, at[i], dy)
		} else {
			marked(c, q.at, func() { q.look.draw(&c, at[i]) })
		}
	}
	p.write(c, at, around)
}

// write writes the labels of the points at the places at.
func (p pointsPlot) write(c draw.Canvas, at []vg.Point, around crowd) {
	var labels []label
	var styles []draw.TextStyle
	var of []glyphPoint
	for i, q := range p.points {
		if q.Label == "" {
			continue
		}
		col := darker(q.look.colour)
		if q.look.hollow {
			col = style.muted
		}
		sty := style.text(style.noteSize, col, false)
		sty.YAlign = draw.YBottom
		// The text is as high as a digit.
		labels = append(labels, label{at[i], q.look.size() + 2, vg.Point{X: sty.Width(q.Label), Y: 0.75 * sty.FontExtents().Ascent}})
		styles, of = append(styles, sty), append(of, q)
	}
	for i, s := range around.place(labels) {
		if s.left {
			continue
		}
		marked(c, of[i].at, func() { // the label moves with its point when a reader zooms
			if s.tied {
				c.StrokeLines(draw.LineStyle{Color: styles[i].Color, Width: 0.6}, []vg.Point{s.tie.from, s.tie.to})
			}
			c.FillText(styles[i], s.box.Min, of[i].Label)
		})
	}
}

// beyond returns the direction in which v leaves the axis: −1, 0 or 1.
func beyond(v float64, a *plot.Axis) vg.Length {
	switch {
	case v < a.Min:
		return -1
	case v > a.Max:
		return 1
	}
	return 0
}
