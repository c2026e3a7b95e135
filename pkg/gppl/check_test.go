package gppl

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// TestEngineChecks spoils what the engines have computed and asks their checks.
func TestEngineChecks(t *testing.T) {
	d := benchData(t, 300)
	line := lineOf(d.X.at, d.Y)
	failed := func(err error) bool { return errors.As(err, new(verify.Failed)) }

	t.Run("dense", func(t *testing.T) {
		var e *denseFactor
		if _, err := nllBy(newDenseExact(d.X, dense.AsColumn(d.Y), observed.Noise{}), make([]float64, 3), benchModel.Kernel,
			benchModel.Noise, 300,
			func(f exactFactor) { e = f.(*denseFactor) }); err != nil {
			t.Fatal(err)
		}
		for _, place := range []int{0, e.inverse.N() / 2, e.inverse.N() - 1} {
			tile := e.inverse.At(place/dense.Tile, 0)
			old := tile.Data[place%dense.Tile*tile.Stride]
			tile.Data[place%dense.Tile*tile.Stride] += 1e-3 * (1 + math.Abs(old))
			dense.Copy(e.half, e.engine.columns)
			e.l.SolveL(e.half)
			if err := e.checkInverse(); !failed(err) {
				t.Errorf("row %d of the inverse of the factor is wrong: %v", place, err)
			}
			tile.Data[place%dense.Tile*tile.Stride] = old
		}
	})

	t.Run("statespace", func(t *testing.T) {
		for _, k := range []Kernel{Laplace{1, 5}, Matern52{1, 5}, Add(Matern32{1, 50}, Laplace{0.3, 2})} {
			grad := make([]float64, len(k.Params())+1)
			if _, err := nllBy(newStateSpaceExact(line), grad, k, 0.1, 300, func(any exactFactor) {
				f := any.(*stateSpaceFactor)
				right := append([]float64(nil), f.grad...)
				r := blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}}
				for p := range right {
					if p%2 == 1 && p < len(right)-1 {
						continue // lengthscales are checked on the stretch, which computes its own
					}
					copy(f.grad, right)
					f.grad[p] *= 1.001
					if err := f.checkGradient(0, r); !failed(err) {
						t.Errorf("%v: derivative %d is wrong: %v", k, p, err)
					}
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
