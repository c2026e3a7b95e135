package spectral

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// gaussian is v·exp(−r²/2), with the parameter log v.
type gaussian float64

func (v gaussian) Cov(dst, r []float64) {
	for i, x := range r {
		dst[i] = float64(v) * math.Exp(-0.5*x*x)
	}
}

func (v gaussian) Contract(grad, w, r []float64) {
	for i, x := range r {
		grad[0] += w[i] * float64(v) * math.Exp(-0.5*x*x)
	}
}

const (
	noise     = 0.3
	period    = 40.0
	tolerance = 1e-15
)

// problem is observations with their weights, and the factor of their covariance gaussian(1.7) + σ²W⁻¹.
type problem struct {
	t, w []float64
	y    blas64.General
	*Factor
}

func newProblem(t *testing.T, weighted bool) *problem {
	const n, c = 90, 2
	rnd := rand.New(rand.NewPCG(1, 2))
	p := &problem{t: make([]float64, n), w: make([]float64, n), y: dense.New(n, c), Factor: new(Factor)}
	wy := dense.New(n, c)
	for i := range n {
		p.t[i], p.w[i] = 20*rnd.Float64(), 1
		if weighted {
			p.w[i] = 0.5 + rnd.Float64()
		}
		for j := range c {
			p.y.Data[i*c+j] = rnd.NormFloat64()
			wy.Data[i*c+j] = p.w[i] * p.y.Data[i*c+j]
		}
	}
	p.Series = fourier.NewSeries(20, period, false)
	m, err := p.Series.Expand(gaussian(1.7), 1, 1e-14)
	if err != nil {
		t.Fatal(err)
	}
	p.Choose(m, m, dense.Tile, 0)
	points := fourier.NewPoints(p.t, 0, period)
	moments, columns, squares := dense.New(2*(2*m+1), 1), dense.New(2*(m+1), c), dense.New(c, c)
	points.Sums(moments, dense.AsColumn(p.w), 0, tolerance)
	points.Sums(columns, wy, 0, tolerance)
	for a := range c {
		for b := range c {
			squares.Data[a*c+b] = blas64.Dot(dense.Column(p.y, a), dense.Column(wy, b))
		}
	}
	p.Sums, p.Noise = Sums{n, moments.Data, columns, squares}, noise
	if err := p.Factorise(); err != nil {
		t.Fatal(err)
	}
	p.Solve()
	p.Forms()
	return p
}

// dense returns A and its inverse.
func (p *problem) dense(t *testing.T) (a *mat.SymDense, inverse *mat.Dense) {
	n := len(p.t)
	a = mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k := [1]float64{p.t[i] - p.t[j]}
			gaussian(1.7).Cov(k[:], k[:])
			if i == j {
				k[0] += noise / p.w[i]
			}
			a.SetSym(i, j, k[0])
		}
	}
	inverse = new(mat.Dense)
	if err := inverse.Inverse(a); err != nil {
		t.Fatal(err)
	}
	return a, inverse
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s: %.15g, want %.15g", what, got, want)
	}
}

// TestFactor compares log|A|, YᵀA⁻¹Y and the derivatives with dense matrices, with weights and without.
func TestFactor(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		p := newProblem(t, weighted)
		a, inverse := p.dense(t)
		want, _ := mat.LogDet(a)
		for _, w := range p.w {
			want += math.Log(w)
		}
		near(t, "log|A|", p.LogDet(), want, 1e-11)
		y := mat.NewDense(len(p.t), 2, p.y.Data)
		var u, g mat.Dense
		u.Mul(inverse, y)
		g.Mul(y.T(), &u)
		for i, v := range p.G.Data {
			near(t, "a form", v, g.At(i/2, i%2), 1e-11)
		}

		p.Invert()
		slope := p.Slopes(dense.AsColumn([]float64{1, 0}))
		var signal, noisy float64 // ½tr((A⁻¹ − uuᵀ)∂A), where ∂A is K, or the noise
		for i := range p.t {
			for j := range p.t {
				w := 0.5 * (inverse.At(i, j) - u.At(i, 0)*u.At(j, 0))
				if i == j {
					noisy += w * noise / p.w[i]
					signal -= w * noise / p.w[i]
				}
				signal += w * a.At(i, j)
			}
		}
		near(t, "the derivative in the noise", slope, noisy, 1e-10)
		var grad [1]float64
		p.Series.Adjoint(p.Q)
		p.Series.Contract(grad[:], p.Q, gaussian(1.7))
		near(t, "the derivative in the variance", grad[0], signal, 1e-9)

		i := 3
		near(t, "an entry of the inverse", p.entry(i), p.Diag[i], 1e-12)
		if err := p.verifyRow(i); err != nil {
			t.Error(err)
		}
	}
}

// TestRegress compares predictions within the observations and far from them with dense matrices.
func TestRegress(t *testing.T) {
	p := newProblem(t, true)
	_, inverse := p.dense(t)
	x := []float64{3.3, 19, 21, 27}
	cross := func(i, ni, j, nj int) blas64.General {
		k := dense.New(ni, nj)
		for a := range ni {
			for b := range nj {
				k.Data[a*nj+b] = p.t[i+a] - x[j+b]
			}
		}
		gaussian(1.7).Cov(k.Data, k.Data)
		return k
	}
	means, explained := dense.New(len(x), 2), make([]float64, len(x))
	of := Observations{Points: fourier.NewPoints(p.t, 0, period), Columns: p.y, Weights: p.w, Tolerance: tolerance}
	g, err := p.Regress(context.Background(), means, of, cross, func(r blas64.General) { dense.AddSquares(explained, 1/noise, r) })
	if err != nil {
		t.Fatal(err)
	}
	plus, minus := p.Signed(g)
	dense.AddSquares(explained, 1, plus)
	dense.AddSquares(explained, -1, minus)
	all := cross(0, len(p.t), 0, len(x))
	k := mat.NewDense(len(p.t), len(x), all.Data)
	var solved, form, want mat.Dense
	solved.Mul(inverse, k)
	form.Mul(k.T(), &solved)
	want.Mul(solved.T(), mat.NewDense(len(p.t), 2, p.y.Data))
	for i := range x {
		near(t, "kᵀA⁻¹k", explained[i], form.At(i, i), 1e-11)
		for j := range 2 {
			near(t, "a mean", means.Data[2*i+j], want.At(i, j), 1e-11)
		}
	}
	h, s := p.At(t.Context(), fourier.NewPoints(x[:1], 0, period))
	near(t, "a variance on the features", blas64.Dot(dense.Column(s, 0), dense.Column(s, 0)), 1.7-form.At(0, 0), 1e-11)
	near(t, "a mean on the features", blas64.Dot(dense.Column(h, 0), dense.Column(p.H, 1))/noise, want.At(0, 1), 1e-11)
}

// TestPart splits the derivative in the noise between two parts; the first has the weights v.
func TestPart(t *testing.T) {
	p := newProblem(t, true)
	_, inverse := p.dense(t)
	n := len(p.t)
	v, vy := make([]float64, n), dense.New(n, 2)
	part := &part{squares: dense.New(2, 2)}
	for i, w := range p.w {
		v[i] = w * w * float64(i%3) / 3
		part.diagonal += v[i] / w
		for j := range 2 {
			vy.Data[2*i+j] = v[i] * p.y.Data[2*i+j]
		}
	}
	for a := range 2 {
		for b := range 2 {
			part.squares.Data[2*a+b] = blas64.Dot(dense.Column(p.y, a), dense.Column(vy, b))
		}
	}
	points, m := fourier.NewPoints(p.t, 0, period), p.Highest()
	moments := dense.New(2*(2*m+1), 1)
	part.columns = dense.New(2*(m+1), 2)
	points.Sums(moments, dense.AsColumn(v), 0, tolerance)
	points.Sums(part.columns, vy, 0, tolerance)
	part.moments = moments.Data

	r := dense.AsColumn([]float64{0.4, 0.8})
	p.Invert()
	total := p.Slopes(r)
	p.fit(part)
	p.entry(5)
	trace, size, row := p.again(part, 5)
	near(t, "a trace", part.traces[5], trace, 1e-12*size)
	near(t, "a row of the fit", part.fitted.Data[5*2+1], blas64.Dot(dense.Vec(row), dense.Column(p.H, 1)), 1e-11)
	rest := p.rest(part)
	own, known := p.share(part, r), p.share(rest, r)
	near(t, "the sum of the parts", own+known, total, 1e-10)

	var u mat.VecDense
	var yr [90]float64
	for i := range n {
		yr[i] = 0.4*p.y.Data[2*i] + 0.8*p.y.Data[2*i+1]
	}
	u.MulVec(inverse, mat.NewVecDense(n, yr[:]))
	var want float64
	for i, w := range p.w {
		want += 0.5 * noise * v[i] / (w * w) * (inverse.At(i, i) - u.AtVec(i)*u.AtVec(i))
	}
	near(t, "a part", own, want, 1e-10)
}
