package dense

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

func drawn(rows, cols int, seed uint64) blas64.General {
	rnd := rand.New(rand.NewPCG(seed, 1))
	a := New(rows, cols)
	for i := range a.Data {
		a.Data[i] = rnd.NormFloat64()
	}
	return a
}

// TestReflections: the factorisation and its Q equal gonum's to the last digit.
func TestReflections(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {5, 1}, {5, 5}, {40, 31}, {200, 33}, {300, 128}, {300, 129}, {400, 200}, {300, 300}, {9000, 170}} {
		a := drawn(size[0], size[1], 3)
		want, got := New(a.Rows, a.Cols), New(a.Rows, a.Cols)
		Copy(want, a)
		Copy(got, a)
		tau, work := make([]float64, a.Cols), make([]float64, 1)
		lapack64.Geqrf(want, tau, work, -1)
		work = make([]float64, int(work[0]))
		lapack64.Geqrf(want, tau, work, len(work))
		r := newReflections(t.Context(), got, make([]float64, a.Cols))
		r.factorise()
		if !slices.Equal(got.Data, want.Data) || !slices.Equal(r.tau, tau) {
			t.Errorf("%v: the factorisation is off by %.3g", size, mat.Norm(difference(got, want), math.Inf(1)))
		}
		lapack64.Orgqr(want, tau, work, len(work))
		r.form()
		if !slices.Equal(got.Data, want.Data) {
			t.Errorf("%v: Q is off by %.3g", size, mat.Norm(difference(got, want), math.Inf(1)))
		}
	}
}

func difference(a, b blas64.General) mat.Matrix {
	d := Difference(a, b)
	return mat.NewDense(d.Rows, d.Cols, d.Data)
}

// ending is a context that ends at the given look at it.
type ending struct {
	context.Context
	left int
}

func (c *ending) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestOrthonormalEnds: making directions orthonormal stops when its context ends, at every look at it.
func TestOrthonormalEnds(t *testing.T) {
	for name, run := range map[string]func(ctx context.Context){
		"Orthonormalise":   func(ctx context.Context) { Orthonormalise(ctx, drawn(400, 200, 1)) },
		"OrthonormalBasis": func(ctx context.Context) { OrthonormalBasis(ctx, drawn(400, 200, 1)) },
		"Complement":       func(ctx context.Context) { Complement(ctx, drawn(300, 20, 1), New(300, 40)) },
		"Repel": func(ctx context.Context) {
			w := drawn(90, 20, 1)
			Normalise(t.Context(), w)
			Repel(ctx, mat.NewDense(w.Rows, w.Cols, w.Data), 5, 0.1)
		},
	} {
		ends := func(at int) (err error) {
			defer parallel.Stopped(&err)
			run(&ending{t.Context(), at})
			return nil
		}
		all := 0
		for ends(all) != nil {
			if all++; all > 100_000 {
				t.Fatal(name, "never succeeds")
			}
			if all < 20 || all%37 == 0 {
				if err := ends(all - 1); !errors.Is(err, context.Canceled) {
					t.Errorf("%s at look %d: error %v", name, all-1, err)
				}
			}
		}
		if all < 5 {
			t.Errorf("%s looks %d times", name, all)
		}
	}
}

// TestPieces: sums that are taken in pieces have the digits of sums that are taken at once.
func TestPieces(t *testing.T) {
	const terms, few = 3*deepest + 17, 700
	a, b := drawn(terms, 70, 1), drawn(terms, few, 2)
	want := New(a.Cols, b.Cols)
	Gemm(blas.Trans, blas.NoTrans, 1, a, b, 0, want)
	if got := ProductWithin(t.Context(), blas.Trans, a, b); !slices.Equal(got.Data, want.Data) {
		t.Errorf("op(a)·b is off by %.3g", mat.Norm(difference(got, want), math.Inf(1)))
	}
	c := drawn(70, terms, 3)
	Gemm(blas.NoTrans, blas.NoTrans, 1, c, b, 0, want)
	if got := ProductWithin(t.Context(), blas.NoTrans, c, b); !slices.Equal(got.Data, want.Data) {
		t.Errorf("a·b is off by %.3g", mat.Norm(difference(got, want), math.Inf(1)))
	}
}
