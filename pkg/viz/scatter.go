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

	// XLo to XHi and YLo to YHi are the ends of a bar through the point, such as quartiles. There is no bar if the first is
	// not below the second; an end beyond the axes is cut.
	XLo, XHi, YLo, YHi float64
}

// PointGroup is points of one kind.
type PointGroup struct {
	Name   string // in the legend; empty: not in it
	Marker Marker
	Points []Point
	Slot   int  // 1, 2, …: the colour to use; zero means by position
	Hollow bool // pale and not filled: for figures of others, such as published ones
	Joined bool // by a line, in the order of the points
}

// ScatterOptions describe a scatter of marked points. Only the axis labels and one drawable point are required.
type ScatterOptions struct {
	Frame
	LogX, LogY bool
	Groups     []PointGroup // drawn in this order
	Rules      []Rule

	// YRange fixes the vertical axis from the first to the second value; the zero value fits it to the data. A point beyond is drawn as
	// an arrow head at the edge, so that it remains visible.
	YRange [2]float64
}

// Scatter draws few points with shapes, error bars and labels on linear or logarithmic axes; many plain dots are for
// [Curves]. A label is placed on the side of its point where it covers the fewest others, in O(N²) for N points.
// Panels are made by [Grid], which merges the legends.
//
// It returns an error if an axis label is missing, a range is empty or not positive on a log axis, or no point is drawable
// ([ErrNoData]).
func Scatter(o ScatterOptions) (*Figure, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	b := newBuilder(o.Frame, o.LogX, o.LogY)
	b.grid()
	b.rules(o.Rules)
	p := pointsPlot{logX: o.LogX, logY: o.LogY}
	for i, g := range o.Groups {
		look := glyph{g.Marker, style.colour(slotOf(g.Slot, i)), style.glyphR, g.Hollow}
		drawn := layer{kind: layerPoints, name: clean(g.Name), colour: look.colour}
		number := strconv.Itoa(len(b.layers))
		for _, pt := range g.Points {
			if !drawable(pt.X, o.LogX) || !drawable(pt.Y, o.LogY) {
				continue
			}
			pt.Label = clean(pt.Label)
			p.points = append(p.points, glyphPoint{pt, look, number, number + "." + strconv.Itoa(len(drawn.x))})
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
				layer{kind: layerLine, name: clean(g.Name), colour: thin.Color, x: drawn.x, y: drawn.y}) // the same numbers: read off once
		}
		b.legend = append(b.legend, entry{name: clean(g.Name), glyph: look, kind: swatchGlyph})
	}
	for _, r := range o.Rules {
		if drawable(r.Y, o.LogY) {
			p.rules = append(p.rules, r.Y)
		}
		b.legend = append(b.legend, r.entry())
	}
	b.plot.Add(part{p, "edge"}) // arrow heads at the edges are neither bars nor points
	f, err := b.figure(0.07)
	if err != nil {
		return nil, err
	}
	if err := b.fix([2]float64{}, o.YRange); err != nil {
		return nil, err
	}
	return f, nil
}

// glyphPoint is a drawable point with its looks, and the parts of an SVG that its bars and itself are (see [part]).
type glyphPoint struct {
	Point
	look     glyph
	bars, at string
}

// pointsPlot draws bars, then markers, then labels, which so never hide one another's middle.
type pointsPlot struct {
	points     []glyphPoint
	rules      []float64 // for labels to keep off
	logX, logY bool
}

func (p pointsPlot) Plot(c draw.Canvas, plt *plot.Plot) {
	trX, trY := plt.Transforms(&c)
	cut := func(v float64, a *plot.Axis) float64 { return math.Max(a.Min, math.Min(a.Max, v)) }
	at := make([]vg.Point, len(p.points))
	var taken []vg.Rectangle
	for i, q := range p.points {
		at[i] = vg.Point{X: trX(cut(q.X, &plt.X)), Y: trY(cut(q.Y, &plt.Y))}
		bar := draw.LineStyle{Color: withAlpha(q.look.colour, 170), Width: 1.1}
		if q.look.hollow {
			bar.Color = withAlpha(q.look.colour, 90)
		}
		for _, e := range []struct{ from, to vg.Point }{
			{vg.Point{X: trX(cut(q.XLo, &plt.X)), Y: at[i].Y}, vg.Point{X: trX(cut(q.XHi, &plt.X)), Y: at[i].Y}},
			{vg.Point{X: at[i].X, Y: trY(cut(q.YLo, &plt.Y))}, vg.Point{X: at[i].X, Y: trY(cut(q.YHi, &plt.Y))}},
		} {
			if e.from.X < e.to.X && q.XLo < q.XHi || e.from.Y < e.to.Y && q.YLo < q.YHi {
				marked(c, q.bars, func() { c.StrokeLines(bar, []vg.Point{e.from, e.to}) })
				taken = append(taken, grow(vg.Rectangle{Min: e.from, Max: e.to}, 0.8))
			}
		}
		taken = append(taken, grow(vg.Rectangle{Min: at[i], Max: at[i]}, q.look.size()))
	}
	for _, y := range p.rules {
		if plt.Y.Min <= y && y <= plt.Y.Max {
			taken = append(taken, grow(vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: trY(y)}, Max: vg.Point{X: c.Max.X, Y: trY(y)}}, 0.5))
		}
	}
	for i, q := range p.points {
		if dy := beyond(q.Y, &plt.Y); dy != 0 {
			q.look.drawEdge(&c, at[i], dy)
		} else {
			marked(c, q.at, func() { q.look.draw(&c, at[i]) })
		}
	}
	for i, q := range p.points {
		if q.Label == "" {
			continue
		}
		col := darker(q.look.colour)
		if q.look.hollow {
			col = style.muted
		}
		sty := style.text(style.noteSize, col, false)
		size := vg.Point{X: sty.Width(q.Label), Y: 0.75 * sty.FontExtents().Ascent} // the height of a digit
		box := beside(at[i], q.look.size()+2, size, taken, c.Rectangle)
		taken = append(taken, box)
		sty.YAlign = draw.YBottom
		marked(c, q.at, func() { c.FillText(sty, vg.Point{X: box.Min.X, Y: box.Min.Y}, q.Label) })
	}
}

// beyond is the direction in which v leaves the axis: −1, 0 or 1.
func beyond(v float64, a *plot.Axis) vg.Length {
	switch {
	case v < a.Min:
		return -1
	case v > a.Max:
		return 1
	}
	return 0
}

func grow(r vg.Rectangle, by vg.Length) vg.Rectangle {
	d := vg.Point{X: by, Y: by}
	return vg.Rectangle{Min: r.Min.Sub(d), Max: r.Max.Add(d)}
}

// beside finds a place for a box of a size at a distance from a point: of the eight directions, the one where it covers
// least of what is taken and does not leave the axes; right of the point, if all are alike.
func beside(p vg.Point, distance vg.Length, size vg.Point, taken []vg.Rectangle, within vg.Rectangle) vg.Rectangle {
	var best vg.Rectangle
	least := math.Inf(1)
	for i, d := range []vg.Point{{X: 1}, {X: 1, Y: 1}, {X: 1, Y: -1}, {Y: 1}, {Y: -1}, {X: -1}, {X: -1, Y: 1}, {X: -1, Y: -1}} {
		off := distance
		if d.X != 0 && d.Y != 0 {
			off *= 0.7
		}
		middle := vg.Point{X: p.X + d.X*(off+size.X/2), Y: p.Y + d.Y*(off+size.Y/2)}
		half := vg.Point{X: size.X / 2, Y: size.Y / 2}
		box := vg.Rectangle{Min: middle.Sub(half), Max: middle.Add(half)}
		area := size.X * size.Y
		cost := 10*float64(area-overlap(box, within)) + 0.01*float64(i)*float64(area)
		for _, t := range taken {
			cost += float64(overlap(box, t))
		}
		if cost < least {
			best, least = box, cost
		}
	}
	return best
}

// overlap is the area that two rectangles have in common.
func overlap(a, b vg.Rectangle) vg.Length {
	w := min(a.Max.X, b.Max.X) - max(a.Min.X, b.Min.X)
	h := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	return max(w, 0) * max(h, 0)
}
