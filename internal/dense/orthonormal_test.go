package dense

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// TestRepel compares the iteration on the Gram matrix with the same iteration on the columns themselves.
func TestRepel(t *testing.T) {
	const n, k, steps, rate = 30, 6, 20, 0.1
	rnd := rand.New(rand.NewPCG(3, 3))
	w := mat.NewDense(n, k, nil)
	for i := range w.RawMatrix().Data {
		w.RawMatrix().Data[i] = 1 + 0.3*rnd.NormFloat64()
	}
	Normalise(t.Context(), w.RawMatrix())
	want := mat.DenseCopyOf(w)
	for range steps {
		var gram, push mat.Dense
		gram.Mul(want.T(), want)
		for j := range k {
			gram.Set(j, j, 0)
		}
		push.Mul(want, &gram)
		push.Scale(-rate, &push)
		want.Add(want, &push)
		Normalise(t.Context(), want.RawMatrix())
	}
	var gram mat.Dense
	if gram.Mul(w.T(), w); !mat.Equal(gramOf(t.Context(), w), &gram) {
		t.Error("the products of columns have other digits than gonum's")
	}
	Repel(t.Context(), w, steps, rate)
	if !mat.EqualApprox(w, want, 1e-11) {
		t.Error("the columns differ")
	}
}

// TestCholeskyWithJitter: a singular matrix has its diagonal increased a little; a matrix that is far from positive definite is
// an error.
func TestCholeskyWithJitter(t *testing.T) {
	const n = 5
	l := NewLower(n)
	fill := func(v, corner float64) func() {
		return func() {
			l.EachTile(func(_, _ int, tile blas64.General) {
				for i := range tile.Data {
					tile.Data[i] = v
				}
			})
			l.SetEntry(n-1, n-1, corner)
		}
	}
	jitter, err := l.CholeskyWithJitter(2, fill(2, 2-1e-15))
	if err != nil || !(jitter > 0 && jitter <= 2e-6) {
		t.Errorf("a singular matrix takes the jitter %v, error %v", jitter, err)
	}
	if jitter, err = l.CholeskyWithJitter(2, fill(2, -1)); !errors.As(err, new(NotPositive)) {
		t.Errorf("an indefinite matrix takes the jitter %v, error %v", jitter, err)
	}
	if jitter, err = l.CholeskyWithJitter(2, fill(2, math.NaN())); err == nil {
		t.Errorf("a matrix with NaN takes the jitter %v", jitter)
	}
}
