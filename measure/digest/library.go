package main

import (
	"context"
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// library evaluates each loss on the standard cases of the engines, by the automatic choice: the exact likelihood and VFE, or,
// for a case with projections, PL with and without the residual energy. A line has the engine, the value, its bound and the
// gradient.
func library(ctx context.Context) (lines []string, err error) {
	for _, c := range gppltest.EngineCases() {
		for _, l := range losses(c) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			lines = append(lines, fmt.Sprintf("%s/%s: %s", c.Name, l.name, evaluate(l.build)))
		}
	}
	return lines, nil
}

type named struct {
	name  string
	build func() (gppl.Loss, error)
}

// losses returns the losses of a case.
func losses(c gppltest.EngineCase) []named {
	if c.Proj != nil {
		return []named{
			{"PL", func() (gppl.Loss, error) { return gppl.NewProjected(context.Background(), c.Model, c.Data, c.Proj) }},
			{"PL + residual", func() (gppl.Loss, error) { return gppl.NewResidual(context.Background(), c.Model, c.Data, c.Proj) }},
		}
	}
	return []named{
		{"exact", func() (gppl.Loss, error) { return gppl.NewExact(context.Background(), c.Model, c.Data) }},
		{"VFE", func() (gppl.Loss, error) {
			const inducing = 20
			z, err := c.Data.X.KMeans(context.Background(), min(inducing, c.Data.Len()), 1)
			if err != nil {
				return nil, err
			}
			return gppl.NewVFE(context.Background(), c.Model, c.Data, z, gppl.VFEOptions{})
		}},
	}
}

// evaluate returns the line of a loss at its own parameters, or its error.
func evaluate(build func() (gppl.Loss, error)) string {
	l, err := build()
	if err != nil {
		return "error: " + err.Error()
	}
	theta := gppl.Values(l.Params())
	grad := make([]float64, len(theta))
	value, err := l.ValueGrad(context.Background(), grad, theta)
	if err != nil {
		return "error: " + err.Error()
	}
	r := l.Report()
	return fmt.Sprintf("%s %v %v %v", r.Engine, value, r.LastBound, grad)
}
