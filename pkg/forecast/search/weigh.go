package search

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// Weigh returns the series to learn from. With Student-t noise its observations have weights, and y itself is modelled.
func (o *Options) Weigh(ctx context.Context, s *series.Series) (*series.Series, error) {
	if s.Student == nil {
		return s, nil
	}
	o.Log = "never"
	return weighted(ctx, s)
}

// weighted returns the series with the degrees of freedom of its noise, and the weights w of its observations as relative errors
// w^−½. Models then learn the noise as the squared scale σ² of the distribution; an observation has σ²/w. Weights and degrees of
// freedom come from a first model, a Matérn 3/2 with a linear trend, which a state space evaluates in O(n): observe.FitRobust.
func weighted(ctx context.Context, s *series.Series) (*series.Series, error) {
	if s.Counting != nil || s.Bounds != nil || s.Errors != nil && s.Student.Nu == 0 {
		return nil, errors.New("noise of a Student-t distribution is not combined with counts, bounds or known errors")
	}
	plain := *s
	plain.Errors, plain.Relative, plain.Student = nil, false, nil
	n := len(s.X)
	v, err := NewYScale(&plain, 0, n, false)
	if err != nil {
		return nil, err
	}
	span := s.X[n-1] - s.X[0]
	mean, err := policyMean(slopeOf, "linear", v.Data.X)
	if err != nil {
		return nil, err
	}
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: max(0.1*span, 2*s.Step)}, Noise: 0.1, Mean: mean}
	settings := observe.RobustSettings{MaxRounds: studentRounds, Tolerance: 1e-4, Fit: gppl.Settings{MaxEvaluations: 20}}
	from := max(0, n-mostStudent)
	robust, err := observe.FitRobust(ctx, m, Latest(v.Data, n-from), settings)
	if err != nil {
		return nil, err
	}
	out := *s
	out.Student, out.ErrorName, out.Relative = &series.Student{Nu: robust.Nu}, "", true
	out.Errors = slices.Repeat([]float64{1}, from) // earlier observations have full weight
	for _, w := range robust.Weights {
		out.Errors = append(out.Errors, 1/math.Sqrt(w))
	}
	return &out, nil
}

const mostStudent = 5000 // number of latest observations from which ν is learnt

const studentRounds = 200
