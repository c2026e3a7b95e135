package forecast

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// mostOutliers is the number of latest observations among which outliers are looked for.
const mostOutliers = 2500

// Outliers returns the observations that the best model does not explain. With normal noise these have a leave-one-out residual
// so large that the probability of one as large among all is below 1 % (observe.FindOutliers); with Student-t noise, less than a
// sixth of the weight of the others. Counts, and observations with known errors, have none.
//
// They are computed once for each model. The caller must not change the result.
func (a *Analysis) Outliers(ctx context.Context) (*Outliers, error) {
	out, err := a.outliers.get(nil, func() (*Outliers, error) { return a.findOutliers(ctx) })
	return out, cmp.Or(err, ctx.Err())
}

// findUnexplained returns observe.FindOutliers of the model. If its noise is too small to leave observations out, as in a series
// without noise, it takes more noise: the least of 1e-11, 1e-10, … 1e-5 times the variance of the signal at which rounding errors
// are small beside it. An observation off by less is then no outlier.
func findUnexplained(ctx context.Context, m gppl.Model, d gppl.Data) (found *observe.Outliers, err error) {
	const first, last, further = 1e-11, 1e-5, 10
	if found, err = observe.FindOutliers(ctx, m, d); err == nil {
		return found, nil
	}
	at := []float64{0}
	m.Kernel.Cov(at, at)
	for share := first; share < 2*last && ctx.Err() == nil; share *= further {
		if noise := share * at[0]; noise > m.Noise {
			m.Noise = noise
			if found, again := observe.FindOutliers(ctx, m, d); again == nil {
				return found, nil
			}
		}
	}
	return nil, cmp.Or(ctx.Err(), err)
}

func (a *Analysis) findOutliers(ctx context.Context) (*Outliers, error) {
	s, n := a.Series, len(a.Series.X)
	from := max(0, n-mostOutliers)
	out := &Outliers{Of: n - from}
	if s.Approximated() || s.Errors != nil && s.Student == nil || n-from < 5 {
		return out, ctx.Err()
	}
	add := func(i int, probability float64) {
		out.List = append(out.List, Outlier{i, s.Axis.TableText(s.X[i]), s.Y[i], probability, i > n-beside && i < n-1})
	}
	if s.Student != nil {
		nu, typical := s.Student.Nu, numeric.UpperMedian(s.Errors)
		tail := distuv.StudentsT{Sigma: 1, Nu: nu}
		for i := from; i < n; i++ {
			if e := s.Errors[i]; e > series.FarOff*typical { // w = 1/e² = (ν+1)/(ν+z²)
				add(i, 2*tail.Survival(math.Sqrt(max(0, (nu+1)*e*e-nu))))
			}
		}
		return out, nil
	}
	data, err := a.standardised(ctx)
	if err != nil {
		return nil, err
	}
	m := a.Result.Model
	if a.Candidates[0].NoSignal() { // a kernel that is zero between observations, so that none predicts another
		m.Kernel = gppl.Laplace{Variance: search.WhiteTerm.Variance, Lengthscale: s.X[n-1] - s.X[0]}
	}
	found, err := findUnexplained(ctx, m, search.Latest(data, n-from))
	if err != nil {
		return nil, err
	}
	out.Heavy = found.Proposed() && len(found.At) > 0
	for _, i := range found.At {
		add(from+i, math.Erfc(math.Abs(found.Z[i])/math.Sqrt2))
	}
	slices.SortFunc(out.List, func(a, b Outlier) int { return cmp.Compare(a.Index, b.Index) })
	return out, nil
}

// beside is the number of observations at either end without shifts, since up to so many that are far off may be outliers.
const beside = 6
