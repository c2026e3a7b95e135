package search

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// detrendedViews returns the latest observations, at most mostFolded, minus a line, the changes and the regressors, on each scale
// that the options allow. Values are clipped at five robust standard deviations.
func detrendedViews(s *series.Series, o Options) (all []*view) {
	late := s
	if n := len(s.X); n > mostFolded {
		late = s.Part(n-mostFolded, n)
	}
	for _, log := range []bool{false, true} {
		if log && !o.mayBeLog(s) || !log && o.alwaysLog(s) {
			continue
		}
		y := slices.Clone(late.Y)
		for i, value := range y {
			switch {
			case log:
				y[i] = s.Warp().Forward(value)
			case s.Counting != nil: // the variance of their logarithm hardly depends on their mean
				y[i] = math.Sqrt(max(0, value) / late.Counting.Size(i))
			}
		}
		rest, err := withoutMean(late, y)
		if err != nil {
			continue
		}
		all = append(all, &view{stepsOf(late, 0), numeric.Clipped(rest), weightsOf(late)}) // one wrong reading can hide a season
	}
	return all
}

// withoutMean returns the residuals of y after least squares on a line, changes, regressors and holidays.
func withoutMean(s *series.Series, y []float64) ([]float64, error) {
	in, err := s.Inputs(s.X)
	if err != nil {
		return nil, err
	}
	mean, err := policyMean(slopeOf, "linear", in)
	if err != nil {
		return nil, err
	}
	h, err := mean.Basis(in)
	if err != nil {
		return nil, err
	}
	n, k := h.Dims()
	var rest [][]float64 // orthonormal columns; columns that depend on others are left out
	left := slices.Clone(y)
	column := make([]float64, n)
	for j := range k {
		mat.Col(column, j, h)
		length := floats.Norm(column, 2)
		numeric.Orthogonalise(column, rest)
		// Only rounding counts here: a regressor that others explain to a thousandth has no coefficient, but it may explain y.
		const dependent = 1e-6
		if norm := floats.Norm(column, 2); norm > dependent*length && len(rest) < n/4 {
			q := slices.Clone(column)
			floats.Scale(1/norm, q)
			rest = append(rest, q)
			floats.AddScaled(left, -floats.Dot(q, left), q)
		}
	}
	return left, nil
}
