package viz

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
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
	if err := o.check(); err != nil {
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
				return nil, fmt.Errorf("viz: value %d of a side of a contour is %g: they ascend, are finite, and positive on a log axis", i, v)
			}
		}
	}
	highest := o.Levels[0].Z
	for _, l := range o.Levels {
		highest = max(highest, l.Z)
	}
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
	b := newBuilder(o.Frame, o.LogX, o.LogY)
	b.grid()
	for i, l := range o.Levels {
		look := draw.LineStyle{
			Color: withAlpha(style.colour(Blue-1), uint8(255-150*i/len(o.Levels))),
			Width: style.lineWidth, Dashes: style.dashes[i%len(style.dashes)],
		}
		c := plotter.NewContour(surface, []float64{l.Z}, nil)
		c.LineStyles = []draw.LineStyle{look}
		b.plot.Add(c)
		b.legend = append(b.legend, entry{name: clean(l.Name), look: look, kind: swatchLine})
		b.layer(layer{kind: layerLevels, name: "A level line: " + clean(l.Name), look: look})
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

// grid is a surface as gonum/plot wants it.
type grid struct {
	x, y []float64
	z    [][]float64
}

func (g grid) Dims() (c, r int)   { return len(g.x), len(g.y) }
func (g grid) X(c int) float64    { return g.x[c] }
func (g grid) Y(r int) float64    { return g.y[r] }
func (g grid) Z(c, r int) float64 { return g.z[r][c] }
