package gppl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/projected"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// projectedColumns returns the projected data of PL: z = Ωᵀy and, if m has a mean, ΩᵀH,
// in the coordinates of the regression of z on ΩᵀH. sizes are bounds on the lengths of
// the columns before projection.
func projectedColumns(m Model, d Data, directions projected.Directions) (mean *regress.Regression, z blas64.General, sizes []float64, err error) {
	z = directions.ProjectColumns(dense.AsColumn(d.Y))
	sizes = dense.Lengths(dense.AsColumn(d.Y))
	if m.Mean == nil {
		return nil, z, sizes, nil
	}
	h, err := basisAt(m.Mean, d.X)
	if err != nil {
		return nil, z, nil, err
	}
	// Columns of H that nearly repeat each other would do so but for rounding once they are projected.
	first, err := regressionOn(m.Mean, h)
	if err != nil {
		return nil, z, nil, err
	}
	columns := directions.ProjectColumns(first.Q.RawMatrix())
	seen := mat.NewDense(columns.Rows, columns.Cols, columns.Data)
	basis, err := seenBasis(m.Mean, first, seen)
	if err != nil {
		return nil, z, nil, fmt.Errorf("gppl: of the observations, the likelihood sees %d projections: %w", directions.K, err)
	}
	mean, z = regress.New(columnNames(m.Mean), basis, seen, dense.Slice(dense.Column(z, 0)))
	// The columns of Z are combinations of projections: what rounds is as long as the
	// columns that are combined.
	for j := range seen.RawMatrix().Cols {
		var size float64
		for i, length := range dense.Lengths(first.Q.RawMatrix()) {
			size += length * math.Abs(basis.T.At(i, j))
		}
		sizes = append(sizes, size)
		sizes[0] += size * math.Abs(mean.Gamma0[j])
	}
	mean.Basis = basis.After(first)
	return mean, z, sizes, nil
}

func (l *Projected) conditionedAt(theta []float64) (of *regress.Conditioned, err error) {
	if l.mean == nil {
		return nil, nil
	}
	if err := CheckParams(l.params, theta); err != nil {
		return nil, err
	}
	c := l.calls.Get()
	c.ctx = l.ctx
	if err = l.begin(c, theta); err == nil {
		err = l.covariance(c, false)
	}
	if err == nil {
		of, err = l.given(c)
	}
	l.done(c)
	return of, err
}

// given returns the mean given the data at a call that has factorised S.
func (l *Projected) given(c *projectedCall) (*regress.Conditioned, error) {
	c.Solve()
	return l.mean.Given(c.All)
}
