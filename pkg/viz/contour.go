package viz

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// ContourLevel is a height at which a surface is cut.
type ContourLevel struct {
	Z    float64
	Name string // in the legend
}

// ContourOptions describe the level lines of a surface over two quantities. Axis labels, levels and a grid of at least two by
// two values are required.
type ContourOptions struct {
	Frame
	LogX, LogY bool
	X, Y       []float64   // ascending
	Z          [][]float64 // len(Y) rows of len(X); a value that is not finite counts as higher than every level
	Levels     []ContourLevel
	Mark       [2]float64 // a point to mark, such as the optimum
	MarkName   string     // empty: none is marked
}

// Contour draws the level lines of a surface; the lowest level is the darkest.
//
// It returns an error if an axis label is missing, the grid does not fit its sides or these do not ascend, there is no
// level, or no value is finite ([ErrNoData]).
func Contour(o ContourOptions) (*Figure, error) {
	b, err := newBuilder(o.Frame, o.LogX, o.LogY)
	if err != nil {
		return nil, err
	}
	if len(o.X) < 2 || len(o.Y) < 2 || len(o.Z) != len(o.Y) {
		return nil, fmt.Errorf("viz: a contour of %d × %d values with %d rows", len(o.X), len(o.Y), len(o.Z))
	}
	if len(o.Levels) == 0 {
		return nil, fmt.Errorf("%w: a contour without levels", ErrNoData)
	}
	for _, side := range []struct {
		at  []float64
		log bool
	}{{o.X, o.LogX}, {o.Y, o.LogY}} {
		for i, v := range side.at {
			if !drawable(v, side.log) || i > 0 && !(side.at[i-1] < v) {
				return nil, fmt.Errorf("viz: value %d along a side of a contour is %g: values must ascend, be finite "+
					"and, on a log axis, positive", i, v)
			}
		}
	}
	highest := slices.MaxFunc(o.Levels, func(a, b ContourLevel) int { return cmp.Compare(a.Z, b.Z) }).Z
	surface := grid{x: o.X, y: o.Y}
	found := false
	for i, row := range o.Z {
		if len(row) != len(o.X) {
			return nil, fmt.Errorf("viz: row %d of a contour has %d values, want %d", i, len(row), len(o.X))
		}
		values := make([]float64, len(row))
		for j, z := range row {
			values[j] = z
			if !drawable(z, false) {
				values[j] = highest + 1 + math.Abs(highest)
				continue
			}
			found = true
		}
		surface.z = append(surface.z, values)
	}
	if !found {
		return nil, fmt.Errorf("%w: no value of a contour is finite", ErrNoData)
	}
	for i, l := range o.Levels {
		look := draw.LineStyle{
			Color: withAlpha(style.colour(Blue-1), uint8(255-150*i/len(o.Levels))),
			Width: style.lineWidth, Dashes: style.dashes[i%len(style.dashes)],
		}
		c := plotter.NewContour(surface, []float64{l.Z}, nil)
		c.LineStyles = []draw.LineStyle{look}
		b.plot.Add(levelLines{c, look})
		b.legend = append(b.legend, entry{name: clean(l.Name), look: look, kind: swatchLine})
		b.layer(layer{kind: layerLevels, name: "A level line: " + clean(l.Name), colour: look.Color})
	}
	for _, x := range o.X {
		for _, y := range []float64{o.Y[0], o.Y[len(o.Y)-1]} {
			b.reach(x, y)
		}
	}
	b.drawn = true
	if o.MarkName != "" {
		b.dots(o.MarkName, path{x: o.Mark[:1], y: o.Mark[1:], logX: o.LogX, logY: o.LogY}, style.colour(Vermillion-1), style.glyphR)
	}
	return b.figure(0)
}

// levelLines draws the lines of a level in an order that depends only on the surface: gonum/plot takes the lines, and the start
// of a closed one, from a map in random order.
type levelLines struct {
	*plotter.Contour
	look draw.LineStyle
}

// Plot implements plot.Plotter.
func (l levelLines) Plot(c draw.Canvas, plt *plot.Plot) {
	var log recorder.Canvas
	l.Contour.Plot(draw.Canvas{Canvas: &log, Rectangle: c.Rectangle}, plt)
	var lines []vg.Path
	for _, a := range log.Actions {
		if s, ok := a.(*recorder.Stroke); ok {
			lines = append(lines, canonical(s.Path))
		}
	}
	slices.SortFunc(lines, func(a, b vg.Path) int { return slices.CompareFunc(a, b, byPlace) })
	c.SetLineStyle(l.look)
	for _, line := range lines {
		c.Stroke(line)
	}
}

// canonical reorders a line of gonum/plot so that it starts from its lesser end (see byPlace) or, if it is closed, from its least
// point towards the lesser neighbour.
func canonical(line vg.Path) vg.Path {
	points := slices.Clone(line)
	closed := points[len(points)-1].Type == vg.CloseComp
	if closed {
		points = points[:len(points)-2] // without the repeated first point, and Close
		least := 0
		for i := range points {
			if byPlace(points[i], points[least]) < 0 {
				least = i
			}
		}
		points = slices.Concat(points[least:], points[:least])
		if byPlace(points[1%len(points)], points[len(points)-1]) > 0 {
			slices.Reverse(points[1:])
		}
	} else if byPlace(points[0], points[len(points)-1]) > 0 {
		slices.Reverse(points)
	}
	for i := range points {
		points[i].Type = vg.LineComp
	}
	points[0].Type = vg.MoveComp
	if closed {
		points = append(points, points[0], vg.PathComp{Type: vg.CloseComp})
		points[len(points)-2].Type = vg.LineComp
	}
	return points
}

// byPlace orders points from left to right, then from bottom to top.
func byPlace(a, b vg.PathComp) int {
	return cmp.Or(cmp.Compare(a.Pos.X, b.Pos.X), cmp.Compare(a.Pos.Y, b.Pos.Y))
}

// grid is a surface in the form that gonum/plot expects.
type grid struct {
	x, y []float64
	z    [][]float64
}

func (g grid) Dims() (c, r int)   { return len(g.x), len(g.y) }
func (g grid) X(c int) float64    { return g.x[c] }
func (g grid) Y(r int) float64    { return g.y[r] }
func (g grid) Z(c, r int) float64 { return g.z[r][c] }
