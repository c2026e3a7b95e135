package viz

import (
	"fmt"
	"math"
)

// SliceCurve is the excess of a loss over its optimum along one parameter, with the others fixed.
type SliceCurve struct {
	Name     string // of the parameter
	Label    string // of the horizontal axis, with the unit
	Value    []float64
	Excess   []float64 // nats
	Optimum  float64
	Parabola float64 // standard error of the log of the parameter, whose parabola is drawn too; 0: none
}

// SliceOptions describe slices through a loss. The axis labels of the frame are not used: each panel has its own.
type SliceOptions struct {
	Frame
	Slices []SliceCurve
}

// Slices draws the loss along each parameter in its own panel, on a logarithmic axis. A narrow valley means that the data
// determine the parameter, a flat one that they do not.
//
// It returns an error if there is no slice, one has nothing to draw, or a label is missing.
func Slices(o SliceOptions) (*Figure, error) {
	if len(o.Slices) == 0 {
		return nil, fmt.Errorf("%w: there are no slices", ErrNoData)
	}
	const limit = 8 // of the vertical axes, in nats
	cols := min(3, len(o.Slices))
	var figs []*Figure
	for i, s := range o.Slices {
		curves := []Curve{{Name: "loss", X: s.Value, Y: s.Excess, Slot: Blue}}
		if s.Parabola > 0 {
			parabola := make([]float64, len(s.Value))
			for j, v := range s.Value {
				u := math.Log(v/s.Optimum) / s.Parabola
				parabola[j] = 0.5 * u * u
			}
			curves = append(curves, Curve{Name: "by the standard error", X: s.Value, Y: parabola, Slot: Vermillion})
		}
		f, err := Curves(CurvesOptions{
			Frame:  Frame{Title: s.Name, XLabel: s.Label, YLabel: "above the optimum (nats)"},
			LogX:   true,
			Curves: append(curves, Curve{Name: "optimum", X: []float64{s.Optimum}, Y: []float64{0}, Mark: Dots, Slot: Grey}),
			YRange: [2]float64{-0.04 * limit, limit},
		})
		if err != nil {
			return nil, fmt.Errorf("slice %d (%q): %w", i, s.Name, err)
		}
		figs = append(figs, f)
	}
	rows := (len(figs) + cols - 1) / cols
	o.XLabel, o.YLabel = "", ""
	return Grid(rows, cols, GridOptions{Frame: o.Frame}, figs...)
}
