package gppl

import (
	"errors"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// TestEngineChecks spoils what the engines have computed and asks their checks.
func TestEngineChecks(t *testing.T) {
	d := benchData(t, 300)
	line := newLine(d.X, d.Y)
	failed := func(err error) bool { return errors.As(err, new(unverified)) }

	t.Run("dense", func(t *testing.T) {
		var e *denseFactor
		if _, err := nllBy(newDenseExact(d.X, columnOf(d.Y), nil), make([]float64, 3), benchModel.Kernel, benchModel.Noise, 300,
			func(f exactFactor) { e = f.(*denseFactor) }); err != nil {
			t.Fatal(err)
		}
		for _, place := range []int{0, e.inverse.N() / 2, e.inverse.N() - 1} {
			tile := e.inverse.At(place/dense.Tile, 0)
			old := tile.Data[place%dense.Tile*tile.Stride]
			tile.Data[place%dense.Tile*tile.Stride] += 1e-3 * (1 + math.Abs(old))
			copyGeneral(e.half, e.engine.columns)
			e.l.SolveL(e.half)
			if err := e.check(); !failed(err) {
				t.Errorf("row %d of the inverse of the factor is wrong: %v", place, err)
			}
			tile.Data[place%dense.Tile*tile.Stride] = old
		}
	})

	t.Run("statespace", func(t *testing.T) {
		for _, k := range []Kernel{Laplace{1, 5}, Matern52{1, 5}, Add(Matern32{1, 50}, Laplace{0.3, 2})} {
			e := newStateSpaceExact(line)
			grad := make([]float64, len(k.Params())+1)
			if _, _, err := e.nll(grad, k, 0.1); err != nil {
				t.Fatal(err)
			}
			for p := range e.grad {
				if p%2 == 1 && p < len(e.grad)-1 {
					continue // lengthscales are checked on the stretch, which computes its own
				}
				g := append([]float64(nil), e.grad...)
				g[p] *= 1.001
				if err := e.check(g); !failed(err) {
					t.Errorf("%v: derivative %d is wrong: %v", k, p, err)
				}
			}
		}
	})
}
