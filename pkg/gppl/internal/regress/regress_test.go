package regress_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

var inf = math.Inf(1)

// problem is a regression on n points of the line, with A of the squared exponential.
type problem struct {
	n int
	y *mat.VecDense
	h *mat.Dense
}

func newProblem(n, cols int) problem {
	rnd := rand.New(rand.NewPCG(7, uint64(n)))
	p := problem{n: n, y: mat.NewVecDense(n, nil), h: mat.NewDense(n, cols, nil)}
	for i := range n {
		t := float64(i) / 3
		p.y.SetVec(i, 2+0.3*t+rnd.NormFloat64())
		for j := range cols {
			v := math.Pow(t, float64(j))
			if j > 2 {
				v = rnd.NormFloat64()
			}
			p.h.Set(i, j, v)
		}
	}
	return p
}

// covariance is A at log l and log σ².
func (p problem) covariance(logL, logNoise float64) *mat.SymDense {
	a := mat.NewSymDense(p.n, nil)
	for i := range p.n {
		for j := i; j < p.n; j++ {
			r := float64(i-j) / 3 / math.Exp(logL)
			a.SetSym(i, j, 1.7*math.Exp(-0.5*r*r))
		}
		a.SetSym(i, i, a.At(i, i)+math.Exp(logNoise))
	}
	return a
}

// joined returns C = [y, Q].
func (p problem) joined(b *regress.Basis) *mat.Dense {
	c := mat.NewDense(p.n, 1+b.Len(), nil)
	c.SetCol(0, p.y.RawVector().Data)
	for j := range b.Len() {
		c.SetCol(1+j, mat.Col(nil, j, b.Q))
	}
	return c
}

func chol(t *testing.T, a mat.Symmetric) *mat.Cholesky {
	t.Helper()
	var c mat.Cholesky
	if !c.Factorize(a) {
		t.Fatal("not positive definite")
	}
	return &c
}

// nll is −log N(y | 0, A).
func nll(t *testing.T, a mat.Symmetric, y *mat.VecDense) float64 {
	c := chol(t, a)
	var s mat.VecDense
	if err := c.SolveVecTo(&s, y); err != nil {
		t.Fatal(err)
	}
	return 0.5*(mat.Dot(y, &s)+c.LogDet()) + 0.5*float64(y.Len())*math.Log(2*math.Pi)
}

// fit returns the regression at A and CᵀA⁻¹C's left half A⁻¹C.
func (p problem) fit(t *testing.T, a mat.Symmetric, variance []float64) (*regress.Fit, *mat.Dense, *regress.Basis) {
	t.Helper()
	b, err := regress.NewBasis(t.Context(), p.h, variance)
	if err != nil {
		t.Fatal(err)
	}
	c := p.joined(b)
	var solved, g mat.Dense
	if err := chol(t, a).SolveTo(&solved, c); err != nil {
		t.Fatal(err)
	}
	g.Mul(c.T(), &solved)
	sym := mat.NewSymDense(1+b.Len(), nil)
	for i := range 1 + b.Len() {
		for j := i; j < 1+b.Len(); j++ {
			sym.SetSym(i, j, g.At(i, j))
		}
	}
	f, err := b.NewFit(sym, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f, &solved, b
}

func (p problem) value(t *testing.T, a mat.Symmetric, variance []float64) float64 {
	f, _, _ := p.fit(t, a, variance)
	return nll(t, a, p.y) + f.Value()
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s: got %.15g, want %.15g, off by %.2g", what, got, want, got-want)
	}
}

// degenerate returns A + HBHᵀ.
func (p problem) degenerate(a *mat.SymDense, variance []float64) *mat.SymDense {
	s := mat.NewSymDense(p.n, nil)
	s.CopySym(a)
	for j, v := range variance {
		s.SymRankOne(s, v, p.h.ColView(j))
	}
	return s
}

func flats(n int) []float64 { return slices.Repeat([]float64{inf}, n) }

func TestGaussianPriorIsDegenerateKernel(t *testing.T) {
	p := newProblem(40, 4)
	a := p.covariance(0.2, -1)
	b := []float64{3, 0.5, 0.01, 2}
	near(t, "NLL", p.value(t, a, b), nll(t, p.degenerate(a, b), p.y), 1e-11)
}

func TestFlatIsRestrictedLikelihood(t *testing.T) {
	p := newProblem(40, 4)
	a := p.covariance(0.2, -1)
	c := chol(t, a)
	var ah, hah, hh mat.Dense
	if err := c.SolveTo(&ah, p.h); err != nil {
		t.Fatal(err)
	}
	hah.Mul(p.h.T(), &ah)
	hh.Mul(p.h.T(), p.h)
	var beta, right mat.VecDense
	right.MulVec(ah.T(), p.y)
	if err := beta.SolveVec(&hah, &right); err != nil {
		t.Fatal(err)
	}
	var rest mat.VecDense
	rest.MulVec(p.h, &beta)
	rest.SubVec(p.y, &rest)
	d1, _ := mat.LogDet(&hah)
	d2, _ := mat.LogDet(&hh)
	want := nll(t, a, &rest) + 0.5*d1 - 0.5*d2 - 2*math.Log(2*math.Pi)
	near(t, "restricted NLL", p.value(t, a, flats(4)), want, 1e-10)
	f, _, _ := p.fit(t, a, flats(4))
	var inv mat.Dense
	if err := inv.Inverse(&hah); err != nil {
		t.Fatal(err)
	}
	for j, got := range f.Beta() {
		near(t, "β̂", got, beta.AtVec(j), 1e-8)
		near(t, "standard error", f.StdErr()[j], math.Sqrt(inv.At(j, j)), 1e-8)
	}
	// Contrasts of an orthonormal basis of the complement of H have the same density.
	var qr mat.QR
	qr.Factorize(p.h)
	var q mat.Dense
	qr.QTo(&q)
	k := q.Slice(0, p.n, 4, p.n)
	var ka, kak mat.Dense
	ka.Mul(k.T(), a)
	kak.Mul(&ka, k)
	var z mat.VecDense
	z.MulVec(k.T(), p.y)
	near(t, "density of contrasts", want, nll(t, mat.NewSymDense(p.n-4, kak.RawMatrix().Data), &z), 1e-10)
}

func TestFlatIsLimitOfHugePriors(t *testing.T) {
	p := newProblem(40, 3)
	a := p.covariance(0.2, -1)
	var hh mat.Dense
	hh.Mul(p.h.T(), p.h)
	d, _ := mat.LogDet(&hh)
	const huge = 1e10
	got := p.value(t, a, []float64{huge, huge, huge})
	want := p.value(t, a, flats(3)) + 0.5*(d+3*math.Log(huge)+3*math.Log(2*math.Pi))
	near(t, "NLL", got, want, 1e-9)
	g, _, _ := p.fit(t, a, []float64{huge, huge, huge})
	f, _, _ := p.fit(t, a, flats(3))
	for j := range 3 {
		near(t, "β̂", g.Beta()[j], f.Beta()[j], 1e-8)
		near(t, "standard error", g.StdErr()[j], f.StdErr()[j], 1e-8)
	}
}

func TestScalingOfFlatColumns(t *testing.T) {
	p := newProblem(40, 4)
	a := p.covariance(0.2, -1)
	want := p.value(t, a, flats(4))
	first, _, _ := p.fit(t, a, flats(4))
	scale := []float64{1e8, 1e-9, 3, -1e4}
	for i := range p.n {
		for j, s := range scale {
			p.h.Set(i, j, s*p.h.At(i, j))
		}
	}
	near(t, "scaled", p.value(t, a, flats(4)), want, 1e-10)
	f, _, _ := p.fit(t, a, flats(4))
	for j, s := range scale {
		near(t, "β̂", f.Beta()[j]*s, first.Beta()[j], 1e-9)
	}
	mix := mat.NewDense(4, 4, []float64{1, 2, 0, 1, 0, 1, 5, 0, 0, 0, 1, 0, 3, 0, 0, 1})
	q := newProblem(40, 4)
	var mixed mat.Dense
	mixed.Mul(q.h, mix)
	q.h = &mixed
	near(t, "mixed", q.value(t, a, flats(4)), want, 1e-10)
}

// TestMixedPriors: a flat column beside Gaussian ones is the restricted likelihood of
// the degenerate kernel.
func TestMixedPriors(t *testing.T) {
	p := newProblem(40, 4)
	a := p.covariance(0.2, -1)
	got := p.value(t, a, []float64{2, inf, 0.1, inf})
	s := p.degenerate(a, []float64{2, 0, 0.1, 0})
	q := p
	q.h = mat.NewDense(p.n, 2, nil)
	q.h.SetCol(0, mat.Col(nil, 1, p.h))
	q.h.SetCol(1, mat.Col(nil, 3, p.h))
	near(t, "NLL", got, q.value(t, s, flats(2)), 1e-10)
}

// TestMixedUnits: a flat column beside a Gaussian one, with y in any unit: the value changes by the
// log of the unit, coefficients and their covariance by the unit.
func TestMixedUnits(t *testing.T) {
	const n, cols = 40, 4
	p := newProblem(n, cols)
	a := p.covariance(0.2, -1)
	variance := []float64{2, inf, 0.1, inf}
	f, _, _ := p.fit(t, a, variance)
	value, beta, se := p.value(t, a, variance), f.Beta(), f.StdErr()
	for _, unit := range []float64{1e-12, 1e-9, 1e9, 1e12} {
		q := p
		q.y = mat.NewVecDense(n, nil)
		q.y.ScaleVec(unit, p.y)
		b := mat.NewSymDense(n, nil)
		b.ScaleSym(unit*unit, a)
		scaled := []float64{2 * unit * unit, inf, 0.1 * unit * unit, inf}
		near(t, "value", q.value(t, b, scaled), value+(n-2)*math.Log(unit), 1e-10)
		f, _, _ := q.fit(t, b, scaled)
		for j := range cols {
			near(t, "coefficient", f.Beta()[j]/unit, beta[j], 1e-10)
			near(t, "its standard error", f.StdErr()[j]/unit, se[j], 1e-10)
		}
	}
}

func TestGradientWeights(t *testing.T) {
	p := newProblem(30, 4)
	for _, variance := range [][]float64{flats(4), {2, 1, 0.1, 5}, {inf, 1, inf, 0.2}} {
		f, solved, b := p.fit(t, p.covariance(0.2, -1), variance)
		const h = 1e-4
		root := mat.NewDense(1+b.Len(), 1+b.Len(), nil)
		f.Root(root.RawMatrix().Data)
		var weights mat.Dense
		weights.Mul(root, root.T())
		for name, at := range map[string]func(u float64) *mat.SymDense{
			"log l":  func(u float64) *mat.SymDense { return p.covariance(0.2+u, -1) },
			"log σ²": func(u float64) *mat.SymDense { return p.covariance(0.2, -1+u) },
		} {
			var dot, inner, half mat.Dense
			dot.Sub(at(h/10), at(-h/10))
			dot.Scale(5/h, &dot)
			var ainv mat.Dense
			if err := chol(t, at(0)).SolveTo(&ainv, &dot); err != nil {
				t.Fatal(err)
			}
			half.Mul(solved.T(), &dot)
			inner.Mul(&half, solved)
			inner.MulElem(&inner, &weights)
			got := 0.5*mat.Trace(&ainv) - 0.5*mat.Sum(&inner)
			value := func(u float64) float64 { return p.value(t, at(u), variance) }
			want := (8*(value(h)-value(-h)) - value(2*h) + value(-2*h)) / (12 * h)
			near(t, name, got, want, 1e-8)
		}
	}
}

// TestPredict: with Gaussian priors, the regression is kriging with the degenerate
// kernel.
func TestPredict(t *testing.T) {
	p := newProblem(30, 3)
	a := p.covariance(0.2, -1)
	variance := []float64{2, 1, 0.1}
	f, solved, b := p.fit(t, a, variance)
	at := 12.3
	star := mat.NewDense(1, 3, []float64{1, at, at * at})
	k := mat.NewVecDense(p.n, nil)
	for i := range p.n {
		r := (float64(i)/3 - at) / math.Exp(0.2)
		k.SetVec(i, 1.7*math.Exp(-0.5*r*r))
	}
	var c, ak mat.VecDense
	c.MulVec(solved.T(), k)
	mean, more := f.Predict(b.Apply(star).RawRowView(0), c.RawVector().Data)
	if err := chol(t, a).SolveVecTo(&ak, k); err != nil {
		t.Fatal(err)
	}
	variances := 1.7 - mat.Dot(k, &ak) + more

	full := mat.VecDenseCopyOf(k)
	prior := 1.7
	for j, v := range variance {
		full.AddScaledVec(full, v*star.At(0, j), p.h.ColView(j))
		prior += v * star.At(0, j) * star.At(0, j)
	}
	s := chol(t, p.degenerate(a, variance))
	var sy, sk mat.VecDense
	if err := errors.Join(s.SolveVecTo(&sy, p.y), s.SolveVecTo(&sk, full)); err != nil {
		t.Fatal(err)
	}
	near(t, "mean", mean, mat.Dot(full, &sy), 1e-9)
	near(t, "variance", variances, prior-mat.Dot(full, &sk), 1e-8)

	// The residuals' weights equal the contrast's.
	var r, alpha, want mat.VecDense
	r.MulVec(p.joined(b), mat.NewVecDense(4, f.Contrast()))
	want.MulVec(p.h, mat.NewVecDense(3, f.Beta()))
	want.SubVec(p.y, &want)
	alpha.SubVec(&r, &want)
	near(t, "Cv − (y − Hβ̂)", mat.Norm(&alpha, 2), 0, 1e-11)
	// And (A + HBHᵀ)⁻¹ = A⁻¹ − A⁻¹Q M⁻¹ QᵀA⁻¹, entry by entry.
	var ainv, sinv mat.SymDense
	if err := errors.Join(chol(t, a).InverseTo(&ainv), s.InverseTo(&sinv)); err != nil {
		t.Fatal(err)
	}
	for i := range p.n {
		row := solved.RawRowView(i)[1:]
		near(t, "diagonal of the inverse", ainv.At(i, i)-f.Form(row, row), sinv.At(i, i), 1e-10)
	}
}

func TestRankErrors(t *testing.T) {
	p := newProblem(30, 4)
	for i := range p.n {
		p.h.Set(i, 3, 3*p.h.At(i, 0)-2*p.h.At(i, 2))
	}
	var e *regress.RankError
	if _, err := regress.NewBasis(t.Context(), p.h, flats(4)); !errors.As(err, &e) || e.Column != 3 || e.Zero ||
		!slices.Equal(e.With, []int{0, 2}) {
		t.Errorf("got %v, want column 3 of columns 0 and 2", err)
	}
	if _, err := regress.NewBasis(t.Context(), p.h, []float64{inf, inf, inf, 4}); err != nil {
		t.Errorf("a prior makes a dependent column harmless: %v", err)
	}
	p.h.SetCol(1, make([]float64, p.n))
	if _, err := regress.NewBasis(t.Context(), p.h, flats(4)); !errors.As(err, &e) || e.Column != 1 || !e.Zero {
		t.Errorf("got %v, want column 1 is zero", err)
	}
}
