package main

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// looks keeps the colour of each engine the same in every figure.
var looks = []struct {
	engine, name string
	slot         int
}{
	{gppl.EngineDense, "dense", 7},
	{gppl.EngineBanded, "banded", 2},
	{gppl.EngineSpectral, "spectral", 1},
	{gppl.EngineStateSpace, "state space", 3},
	{gppl.EngineInterpolated, "interpolated", 4},
	{gppl.EngineGridded, "gridded", 6},
}

const autoSlot = 5

// panel draws the times of each engine, and a broad line along the automatic choice.
func panel(s sweep, xlabel string) (*viz.Figure, error) {
	var curves []viz.Curve
	for _, look := range looks {
		var x, y []float64
		for _, p := range s.engines {
			if p.engine == look.engine {
				x, y = append(x, p.x), append(y, 1e3*p.seconds)
			}
		}
		if x != nil {
			curves = append(curves, viz.Curve{Name: look.name, X: x, Y: y, Dots: true, Slot: look.slot})
		}
	}
	var auto plotter.XYs
	for _, p := range s.auto {
		auto = append(auto, plotter.XY{X: p.x, Y: 1e3 * p.seconds})
	}
	// The dots of the engines cover these dots, which are for the legend; the broad line shows the choice.
	dots := viz.Curve{Name: "automatic choice", Dots: true, NoLine: true, Slot: autoSlot}
	for _, p := range auto {
		dots.X, dots.Y = append(dots.X, p.X), append(dots.Y, p.Y)
	}
	fig, err := viz.Curves(viz.CurvesOptions{
		Frame: viz.Frame{Title: s.title, XLabel: xlabel, YLabel: "time (ms)"},
		LogX:  true, LogY: true, Curves: append([]viz.Curve{dots}, curves...),
	})
	if err != nil {
		return nil, err
	}
	line, err := plotter.NewLine(auto)
	if err != nil {
		return nil, err
	}
	line.Width = vg.Points(8)
	line.Color = color.NRGBA{R: 0xE6, G: 0x9F, B: 0x00, A: 0x60}
	fig.Plot(0).Add(line)
	return fig, nil
}

func drawN(sweeps []sweep, path string) error {
	return drawPanels(sweeps, path, viz.Frame{
		Title:  fmt.Sprintf("What is chosen leaves the dense engine behind (l = %g on [0, %g], k = %d)", l0, span, k),
		XLabel: "observations n", YLabel: "time (ms)", Height: 560,
		Alt: "Time of one value and gradient against the number of observations, for each engine and for the automatic choice.",
	})
}

func drawL(sweeps []sweep, n int, path string) error {
	return drawPanels(sweeps, path, viz.Frame{
		Title:  fmt.Sprintf("Banded for short lengthscales, spectral for long ones; PL interpolates (n = %d)", n),
		XLabel: "lengthscale l (unit of x)", YLabel: "time (ms)", Height: 400,
		Alt: "Time of one value and gradient against the lengthscale, for each engine and for the automatic choice.",
	})
}

// drawPanels draws a panel for each sweep, two in a row, and saves the figure.
func drawPanels(sweeps []sweep, path string, frame viz.Frame) error {
	var figs []*viz.Figure
	for _, s := range sweeps {
		f, err := panel(s, frame.XLabel)
		if err != nil {
			return err
		}
		figs = append(figs, f)
	}
	fig, err := viz.Grid((len(figs)+1)/2, 2, viz.GridOptions{Frame: frame, ShareX: true, ShareY: true}, figs...)
	if err != nil {
		return err
	}
	return fig.SaveImages(path)
}
