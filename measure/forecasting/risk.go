package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/competition"
	"github.com/projected-likelihood/gppl/internal/risk"
)

// predictors returns what the risk is a function of.
func predictors(d competition.Detail) []float64 {
	return risk.Predictors{N: d.N, Log: d.Log, Away: d.Away, Apart: d.Apart}.Values()
}

// fitRisk prints the coefficients of the risk, fitted to details by logistic regression, and what warnings above several levels are worth.
func fitRisk(w io.Writer, path string) error {
	all, err := competition.ReadDetails(path)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(d competition.Detail) bool { return d.Error != "" || d.Away < 0 || d.Apart < 0 }) // failed, or not finite
	if len(all) == 0 {
		return fmt.Errorf("%s: no forecasts", path)
	}
	b, err := logistic(all)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d series: level %.2f, log n %.2f, weight of log y %.2f, log away %.2f, log apart %.2f\n", len(all), b[0], b[1], b[2], b[3], b[4])
	for _, level := range []float64{risk.Refuse, 0.08, 0.06, risk.Care, 0.04} {
		var warned, low, caught int
		for _, d := range all {
			poor := d.Cover95 < competition.Poor
			other := slices.ContainsFunc(d.Reasons, func(r string) bool { return !strings.HasPrefix(r, risk.Reason) })
			risky := risk.Probability(b, predictors(d)) > level && !risk.Overruled(d.Relative, d.Past)
			if poor {
				low++
			}
			if risky || other {
				warned++
				if poor {
					caught++
				}
			}
		}
		fmt.Fprintf(w, "above %.2f: %d warnings, of %d of the %d poor forecasts\n", level, warned, caught, low)
	}
	return nil
}

// logistic returns the coefficients at which the log-likelihood of poor forecasts is largest, by Newton's method.
func logistic(all []competition.Detail) ([]float64, error) {
	const most = 50
	b := make([]float64, len(predictors(all[0])))
	for range most {
		gradient, curvature := mat.NewVecDense(len(b), nil), mat.NewSymDense(len(b), nil)
		for _, d := range all {
			x := predictors(d)
			p := risk.Probability(b, x)
			poor := 0.0
			if d.Cover95 < competition.Poor {
				poor = 1
			}
			gradient.AddScaledVec(gradient, poor-p, mat.NewVecDense(len(x), x))
			curvature.SymRankOne(curvature, p*(1-p), mat.NewVecDense(len(x), x))
		}
		var chol mat.Cholesky
		if !chol.Factorize(curvature) {
			return nil, errors.New("the risk is not determined by these series")
		}
		var step mat.VecDense
		if err := chol.SolveVecTo(&step, gradient); err != nil {
			return nil, err
		}
		for j := range b {
			b[j] += step.AtVec(j)
		}
		if mat.Norm(&step, math.Inf(1)) < 1e-8 {
			return b, nil
		}
	}
	return nil, errors.New("the fit of the risk did not converge")
}
