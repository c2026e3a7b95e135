package experiment

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Efficiency is what projections keep of the information in the data about each parameter: the squared ratio of the Cramér–Rao
// standard errors, 1 if nothing is lost and 0 where a parameter is not identified.
type Efficiency struct {
	Design   string
	Residual bool // with the residual energy
	K        int
	Kept     []float64 // for each parameter of the model
}

// Efficiencies computes them at the truth of a draw of SE with l = 5 for every design and k of the curves. O(n³) once.
func Efficiencies(s Scale) (es []Efficiency, params []gppl.Param, err error) {
	source := CurveSources(s)[0]
	source.Seed = 1
	sample, err := source.Load()
	if err != nil {
		return nil, nil, err
	}
	model := source.Truth()
	params = model.Params()
	theta := make([]float64, len(params))
	for i, p := range params {
		theta[i] = p.Value
	}
	info, err := gppl.NewInformation(model, sample.Train.X)
	if err != nil {
		return nil, nil, err
	}
	all, err := gppl.StdErrLog(info.Data(), params)
	if err != nil {
		return nil, nil, err
	}
	for _, design := range CurveDesigns {
		for _, residual := range []bool{false, true} {
			for _, k := range CurveOrders(s) {
				omega, err := gppl.NewProjection(Designs[design], sample.Train.X, k, 1)
				if err != nil {
					return nil, nil, fmt.Errorf("experiment: %w", err)
				}
				make := gppl.NewProjected
				if residual {
					make = gppl.NewResidual
				}
				loss, err := make(model, sample.Train, omega)
				if err != nil {
					return nil, nil, err
				}
				kept, err := loss.Information(theta)
				if err != nil {
					return nil, nil, err
				}
				// A parameter that is not identified has an infinite standard error, and keeps nothing.
				stderr, _ := gppl.StdErrLog(kept, params)
				e := Efficiency{Design: design, Residual: residual, K: k}
				for i := range stderr {
					e.Kept = append(e.Kept, math.Pow(all[i]/stderr[i], 2))
				}
				es = append(es, e)
			}
		}
	}
	return es, params, nil
}
