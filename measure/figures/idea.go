package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// The figure shows a draw of SE with this number of observations, and this number of their projections.
const observations, k = 300, 30

// drawIdea saves a figure of what the projected likelihood does: a series, its projections, and the likelihoods of both.
func drawIdea(path string) error {
	figure, err := idea()
	if err != nil {
		return err
	}
	return figure.SaveImages(path)
}

func idea() (*viz.Figure, error) {
	ctx := context.Background()
	truth := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 8}, Noise: 0.1}
	x := make([]float64, observations)
	for i := range x {
		x[i] = float64(i) / 3
	}
	draw, err := truth.Sample(ctx, gppl.Scalars(x), 2, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		return nil, err
	}
	y := draw.Y
	data, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		return nil, err
	}
	omega, err := gppl.NewProjection(ctx, gppl.Sphere{}, data.X, k, 1)
	if err != nil {
		return nil, err
	}
	exact, err := gppl.NewExact(ctx, truth, data)
	if err != nil {
		return nil, err
	}
	projected, err := gppl.NewProjected(ctx, truth, data, omega)
	if err != nil {
		return nil, err
	}
	ofSeries, err := profile(ctx, exact)
	if err != nil {
		return nil, err
	}
	ofProjections, err := profile(ctx, projected)
	if err != nil {
		return nil, err
	}
	ofSeries.Name, ofProjections.Name = fmt.Sprintf("of all %d observations (ML)", observations),
		fmt.Sprintf("of %d projections (PL)", k)
	series, err := viz.Curves(viz.CurvesOptions{
		Frame:  viz.Frame{Title: fmt.Sprintf("1. A series of %d observations, y", observations), XLabel: "time", YLabel: "y"},
		Curves: []viz.Curve{{X: x, Y: y, Dots: true, NoLine: true, Slot: viz.Orange}},
	})
	if err != nil {
		return nil, err
	}
	numbers, err := viz.Curves(viz.CurvesOptions{
		Frame:  viz.Frame{Title: fmt.Sprintf("2. Its %d projections, z = Ωᵀy", k), XLabel: "number of the projection", YLabel: "z"},
		Curves: []viz.Curve{{Y: omega.Project(y), Dots: true, NoLine: true, Slot: viz.Blue}},
	})
	if err != nil {
		return nil, err
	}
	ofSeries.Slot, ofProjections.Slot = viz.Orange, viz.Blue
	likelihoods, err := viz.Curves(viz.CurvesOptions{
		Frame: viz.Frame{Title: "3. The likelihood of a lengthscale", XLabel: "lengthscale (true value 8)",
			YLabel: "log likelihood (nats)"},
		LogX: true, YRange: [2]float64{-12, 0.6}, Curves: []viz.Curve{ofSeries, ofProjections},
	})
	if err != nil {
		return nil, err
	}
	return viz.Grid(1, 3, viz.GridOptions{Frame: viz.Frame{Width: 1040, Height: 320}}, series, numbers, likelihoods)
}

// profile returns the log likelihood less its maximum, against the lengthscale; the other parameters are the true ones.
func profile(ctx context.Context, loss gppl.Loss) (viz.Curve, error) {
	var c viz.Curve
	theta := gppl.Values(loss.Params())
	for step := range 61 {
		theta[1] = 8 * math.Exp2(float64(step-30)/15) // ¼ to 4 times the true lengthscale
		value, err := loss.ValueGrad(ctx, nil, theta)
		if err != nil {
			return c, err
		}
		c.X, c.Y = append(c.X, theta[1]), append(c.Y, -value)
	}
	most := slices.Max(c.Y)
	for i := range c.Y {
		c.Y[i] -= most
	}
	return c, nil
}
