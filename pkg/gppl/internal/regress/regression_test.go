package regress_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// TestRegression: the shift by γ₀ changes neither what the mean adds, nor coefficients, nor predictions; a further observation
// has the row that it would have among the others; and other observations are fitted as by a regression of their own.
func TestRegression(t *testing.T) {
	p := newProblem(20, 3)
	b, err := regress.NewBasis(t.Context(), p.h, []float64{inf, inf, 2})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "b", "c"}
	y := p.y.RawVector().Data
	r, c := regress.New(t.Context(), names, b, p.h, y)
	if r.Len() != 4 || c.Cols != 4 || c.Rows != p.n {
		t.Fatalf("%d columns of a regression of %d×%d", r.Len(), c.Rows, c.Cols)
	}
	inverse := chol(t, p.covariance(0.4, -1))
	solved := func(c blas64.General) (ac *mat.Dense, g blas64.General) {
		ac = new(mat.Dense)
		all := mat.NewDense(c.Rows, c.Cols, c.Data)
		if err := inverse.SolveTo(ac, all); err != nil {
			t.Fatal(err)
		}
		var form mat.Dense
		form.Mul(all.T(), ac)
		return ac, form.RawMatrix()
	}
	ac, g := solved(c)
	root := dense.New(4, 4)
	added, err := r.Complete(root, g)
	if err != nil {
		t.Fatal(err)
	}
	given, err := r.Given(g)
	if err != nil {
		t.Fatal(err)
	}
	plain := p.joined(b)
	_, unshifted := solved(plain.RawMatrix())
	fit, err := b.NewFit(dense.Symmetric(unshifted), nil)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
			t.Errorf("%s: %.14g, want %.14g", what, got, want)
		}
	}
	near("the value", added+0.5*g.Data[0], fit.Value()+0.5*unshifted.Data[0])
	near("the form", given.Quad(g), fit.Quad())
	beta, se := given.Coefficients()
	for j := range beta {
		near("a coefficient", beta[j], fit.Beta()[j])
		near("its standard error", se[j], fit.StdErr()[j])
	}
	for j, m := range given.PriorMeans() {
		if b.IsFlat(j) != math.IsNaN(m) || !b.IsFlat(j) && m != -r.Gamma0[j] {
			t.Errorf("the prior mean of column %d is %v", j, m)
		}
	}
	at := p.h.Slice(7, 8, 0, 3)
	near("the fit at an observation", b.Apply(at).At(0, 1), b.Q.At(7, 1))
	var k mat.Dense
	k.Mul(p.covariance(0.4, -1), ac) // AA⁻¹C
	mean, more := given.Predict(b.Q.RawRowView(7), k.RawRowView(7))
	near("a prediction where the covariance is that of the observation itself", mean, y[7])
	near("what the coefficients add there", more, 0)
	s := given.Spread(b.Q, dense.New(p.n, 4)) // without covariances the coefficients alone predict
	_, more = given.Predict(b.Q.RawRowView(7), make([]float64, 4))
	near("the square of the spread", blas64.Dot(dense.Column(s, 7), dense.Column(s, 7)), more)
	for j, v := range r.Row(at, y[7]) {
		near("a row of C", v, c.Data[7*c.Stride+j])
	}
	again, other := r.Again(y)
	for i, v := range other.Data {
		near("C of the same observations", v, c.Data[i])
	}
	if again.Basis != b || again.Names[2] != "c" {
		t.Error("a regression of other observations has another basis")
	}
}

// TestNoRegression: nil is a mean of zero.
func TestNoRegression(t *testing.T) {
	var r *regress.Regression
	root, g := dense.New(1, 1), dense.AsColumn([]float64{-3})
	added, err := r.Complete(root, g)
	c, other := r.Given(g)
	if added != 0 || err != nil || root.Data[0] != 1 || c != nil || other != nil || r.Len() != 1 || c.Of() != nil ||
		c.Quad(g) != 0 || c.PriorMeans() != nil {
		t.Error("no regression adds something")
	}
}
