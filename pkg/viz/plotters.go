package viz

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The plotters below differ from gonum/plot's in three ways: they leave gaps at values that are not finite, they clip to the
// axes, and they keep vector files small by dropping vertices that are too close together to be seen and by drawing a cloud of
// dots as one path.

// path is a line, or dots, in data coordinates, with NaN where there is a gap.
type path struct {
	x, y       []float64
	logX, logY bool
}

func (p path) ok(i int) bool { return drawable(p.x[i], p.logX) && drawable(p.y[i], p.logY) }

// runs calls f with the canvas coordinates of each unbroken stretch of p.
func (p path) runs(c *draw.Canvas, plt *plot.Plot, f func([]vg.Point)) {
	trX, trY := plt.Transforms(c)
	var run []vg.Point
	for i := range p.x {
		if !p.ok(i) {
			if len(run) > 0 {
				f(simplify(run))
			}
			run = nil
			continue
		}
		run = append(run, vg.Point{X: trX(p.x[i]), Y: trY(p.y[i])})
	}
	if len(run) > 0 {
		f(simplify(run))
	}
}

// sagitta is the distance, in points, that a vertex must have from the line between its neighbours to be drawn: a tenth of the
// width of a thin line.
const sagitta = 0.06

// straighten drops vertices closer than sagitta to the line between the vertices that it keeps (Douglas and Peucker 1973): about
// a hundred vertices remain of a smooth curve with a thousand. It takes O(n log n) for most curves, O(n²) at worst.
func straighten(pts []vg.Point) []vg.Point {
	if len(pts) < 3 {
		return pts
	}
	keep := make([]bool, len(pts))
	keep[0], keep[len(pts)-1] = true, true
	for stack := [][2]int{{0, len(pts) - 1}}; len(stack) > 0; {
		from, to := stack[len(stack)-1][0], stack[len(stack)-1][1]
		stack = stack[:len(stack)-1]
		chord := pts[to].Sub(pts[from])
		length := math.Hypot(float64(chord.X), float64(chord.Y))
		farthest, at := sagitta, -1
		for i := from + 1; i < to; i++ {
			d := pts[i].Sub(pts[from])
			off := math.Hypot(float64(d.X), float64(d.Y))
			if length > 0 {
				// Beyond the ends of the chord, the distance to its line is too small; there a curve that turns back is cut.
				along := float64(d.X*chord.X+d.Y*chord.Y) / length
				if 0 <= along && along <= length {
					off = math.Abs(float64(d.X*chord.Y-d.Y*chord.X)) / length
				}
			}
			if off > farthest {
				farthest, at = off, i
			}
		}
		if at >= 0 {
			keep[at] = true
			stack = append(stack, [2]int{from, at}, [2]int{at, to})
		}
	}
	kept := pts[:0]
	for i, p := range pts {
		if keep[i] {
			kept = append(kept, p)
		}
	}
	return kept
}

// simplify drops vertices within tolerance of the last one kept; the ends remain.
func simplify(pts []vg.Point) []vg.Point {
	if len(pts) < 3 {
		return pts
	}
	kept := pts[:1]
	for _, p := range pts[1 : len(pts)-1] {
		d := p.Sub(kept[len(kept)-1])
		if math.Hypot(float64(d.X), float64(d.Y)) >= tolerance {
			kept = append(kept, p)
		}
	}
	return straighten(append(kept, pts[len(pts)-1]))
}

// linePlot draws a line.
type linePlot struct {
	path
	look draw.LineStyle
}

func (l linePlot) Plot(c draw.Canvas, plt *plot.Plot) {
	l.runs(&c, plt, func(run []vg.Point) {
		if len(run) == 1 { // a single value between two gaps would be invisible
			fillDots(&c, run, l.look.Width/2, l.look)
			return
		}
		c.StrokeLines(l.look, c.ClipLinesXY(run)...)
	})
}

// bandPlot fills between lo and hi; lo and hi are dense and finite where x is.
type bandPlot struct {
	x, lo, hi []float64
	look      draw.LineStyle // its colour fills the band
}

func (b bandPlot) Plot(c draw.Canvas, plt *plot.Plot) {
	start := 0
	flush := func(end int) {
		if end-start < 2 {
			return
		}
		var upper, lower []vg.Point
		path{x: b.x[start:end], y: b.hi[start:end]}.runs(&c, plt, func(r []vg.Point) { upper = r })
		path{x: b.x[start:end], y: b.lo[start:end]}.runs(&c, plt, func(r []vg.Point) { lower = r })
		slices.Reverse(lower)
		if area := c.ClipPolygonXY(append(upper, lower...)); len(area) > 2 {
			c.FillPolygon(b.look.Color, area)
		}
	}
	for i := range b.x {
		if !drawable(b.x[i], false) || !drawable(b.lo[i], false) || !drawable(b.hi[i], false) {
			flush(i)
			start = i + 1
		}
	}
	flush(len(b.x))
}

// errorsPlot draws upright lines from lo to hi.
type errorsPlot struct {
	x, lo, hi []float64
	look      draw.LineStyle
}

func (p errorsPlot) Plot(c draw.Canvas, plt *plot.Plot) {
	trX, trY := plt.Transforms(&c)
	for i, x := range p.x {
		lo, hi := math.Max(p.lo[i], plt.Y.Min), math.Min(p.hi[i], plt.Y.Max)
		if lo < hi && plt.X.Min <= x && x <= plt.X.Max {
			c.StrokeLine2(p.look, trX(x), trY(lo), trX(x), trY(hi))
		}
	}
}

// dotsPlot draws dots.
type dotsPlot struct {
	path
	radius vg.Length
	look   draw.LineStyle // its colour fills the dots
}

func (d dotsPlot) Plot(c draw.Canvas, plt *plot.Plot) {
	trX, trY := plt.Transforms(&c)
	// Dots at the same place look like one, so one is drawn. Nothing visible is lost, and a million observations cost no more than
	// the pixels that they cover.
	type cell struct{ x, y int32 }
	taken := make(map[cell]bool)
	var pts []vg.Point
	for i := range d.x {
		if !d.ok(i) {
			continue
		}
		p := vg.Point{X: trX(d.x[i]), Y: trY(d.y[i])}
		if !c.Contains(p) {
			continue
		}
		k := cell{int32(p.X / (2 * tolerance)), int32(p.Y / (2 * tolerance))}
		if !taken[k] {
			taken[k] = true
			pts = append(pts, p)
		}
	}
	if len(pts) > 0 {
		fillDots(&c, pts, d.radius, d.look)
	}
}

// dotter is a canvas that can write many discs in fewer bytes than their outlines.
type dotter interface {
	Dots(centres []vg.Point, radius vg.Length)
}

// fillDots draws discs as one shape, so that the colours of overlapping translucent dots do not add up.
func fillDots(c *draw.Canvas, pts []vg.Point, r vg.Length, look draw.LineStyle) {
	c.SetColor(look.Color)
	if d, ok := under(c).(dotter); ok {
		d.Dots(pts, r)
		return
	}
	// Four cubic curves, because the PDF backend does not draw an arc inside a path correctly.
	k := r * 0.5523
	var p vg.Path
	for _, o := range pts {
		at := func(dx, dy vg.Length) vg.Point { return vg.Point{X: o.X + dx, Y: o.Y + dy} }
		p.Move(at(r, 0))
		p.CubeTo(at(r, k), at(k, r), at(0, r))
		p.CubeTo(at(-k, r), at(-r, k), at(-r, 0))
		p.CubeTo(at(-r, -k), at(-k, -r), at(0, -r))
		p.CubeTo(at(k, -r), at(r, -k), at(r, 0))
		p.Close()
	}
	c.Fill(p)
}

// gridPlot draws the light lines behind the data at the labelled ticks.
type gridPlot struct{ look draw.LineStyle }

func (g gridPlot) Plot(c draw.Canvas, plt *plot.Plot) {
	trX, trY := plt.Transforms(&c)
	for _, t := range plt.X.Tick.Marker.Ticks(plt.X.Min, plt.X.Max) {
		if x := trX(t.Value); !t.IsMinor() && c.ContainsX(x) {
			c.StrokeLine2(g.look, x, c.Min.Y, x, c.Max.Y)
		}
	}
	for _, t := range plt.Y.Tick.Marker.Ticks(plt.Y.Min, plt.Y.Max) {
		if y := trY(t.Value); !t.IsMinor() && c.ContainsY(y) {
			c.StrokeLine2(g.look, c.Min.X, y, c.Max.X, y)
		}
	}
}

// spanPlot shades the full height of the axes between two abscissae and writes its label above the axes, away from the data.
type spanPlot struct{ Span }

func (s spanPlot) Plot(c draw.Canvas, plt *plot.Plot) {
	trX, _ := plt.Transforms(&c)
	from, to := math.Max(s.From, plt.X.Min), math.Min(s.To, plt.X.Max)
	if !(from < to) {
		return
	}
	x0, x1 := trX(from), trX(to)
	c.FillPolygon(style.span, rectangle(x0, c.Min.Y, x1, c.Max.Y))
	edge := draw.LineStyle{Color: style.axis, Width: style.axisWidth, Dashes: []vg.Length{3, 3}}
	for _, e := range []struct {
		v float64
		x vg.Length
	}{{s.From, x0}, {s.To, x1}} {
		if plt.X.Min < e.v && e.v < plt.X.Max {
			c.StrokeLine2(edge, e.x, c.Min.Y, e.x, c.Max.Y)
		}
	}
	if s.Label != "" {
		sty := style.text(style.noteSize, style.muted, false)
		sty.XAlign = draw.XCenter
		half := sty.Width(s.Label) / 2
		x := vg.Length(math.Min(float64((x0+x1)/2), float64(c.Max.X-half)))
		c.FillText(sty, vg.Point{X: x, Y: c.Max.Y + 4}, s.Label)
	}
}

// GlyphBoxes reserves the height of the label above the axes.
func (s spanPlot) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	if s.Label == "" {
		return nil
	}
	return spaceAbove(style.text(style.noteSize, style.muted, false).Height(s.Label) + 4)
}

// spaceAbove reserves a height above the axes.
func spaceAbove(height vg.Length) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: height}}}}
}

// rulePlot is a horizontal reference line.
type rulePlot struct{ Rule }

func (r Rule) look() draw.LineStyle {
	l := draw.LineStyle{Color: style.muted, Width: style.axisWidth, Dashes: []vg.Length{5, 3}}
	if r.Slot > 0 {
		l.Color, l.Width = style.colour(r.Slot-1), 1.2
	}
	return l
}

func (r rulePlot) Plot(c draw.Canvas, plt *plot.Plot) {
	if plt.Y.Min <= r.Y && r.Y <= plt.Y.Max {
		_, trY := plt.Transforms(&c)
		c.StrokeLine2(r.look(), c.Min.X, trY(r.Y), c.Max.X, trY(r.Y))
	}
}

// headPlot is the title of a panel, above the left end of its axes. If it is too long, it is drawn smaller, down to three
// quarters, and then cut.
type headPlot string

func (headPlot) style() draw.TextStyle { return style.text(style.labelSize, style.ink, true) }

func (h headPlot) Plot(c draw.Canvas, _ *plot.Plot) {
	sty, limit := h.style(), c.Max.X-c.Min.X
	at := vg.Point{X: c.Min.X, Y: c.Max.Y + 4 + sty.FontExtents().Descent}
	if w := sty.Width(string(h)); w > limit {
		sty.Font.Size *= max(0.75, limit/w)
	}
	line := []rune(h)
	for n := len(line) - 1; n > 0 && sty.Width(string(line)) > limit+0.1; n-- {
		line = append(line[:n:n], '…')
	}
	c.FillText(sty, at, string(line))
}

// GlyphBoxes reserves the height of the title.
func (h headPlot) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return spaceAbove(h.style().Height(string(h)) + 4)
}

func rectangle(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}
