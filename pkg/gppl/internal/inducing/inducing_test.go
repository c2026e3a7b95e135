package inducing

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
)

const (
	n, m, noise = 50, 6, 0.3
	span        = 20.0
	period      = 40.0 // the next image of a covariance is negligible
)

// gaussian is v·exp(−r²/8), with the parameter log v.
type gaussian float64

func (v gaussian) Cov(dst, r []float64) {
	for i, x := range r {
		dst[i] = float64(v) * math.Exp(-x*x/8)
	}
}

func (v gaussian) Contract(grad, w, r []float64) {
	for i, x := range r {
		grad[0] += w[i] * float64(v) * math.Exp(-x*x/8)
	}
}

// problem is observations y at x, with inducing inputs z.
type problem struct{ x, z, y []float64 }

func newProblem() *problem {
	rnd := rand.New(rand.NewPCG(1, 9))
	p := new(problem)
	for range n {
		p.x, p.y = append(p.x, span*rnd.Float64()), append(p.y, rnd.NormFloat64())
	}
	for i := range m {
		p.z = append(p.z, span*(float64(i)+0.5)/m)
	}
	return p
}

func covariance(a, b []float64) blas64.General {
	k := dense.New(len(a), len(b))
	for i, x := range a {
		for j, y := range b {
			k.Data[i*k.Stride+j] = x - y
		}
	}
	gaussian(1.7).Cov(k.Data, k.Data)
	return k
}

// bound returns the algebra for given covariances, and Φ.
func (p *problem) bound(t *testing.T, kuu, kxu blas64.General) (w *Bound, phi blas64.General) {
	w = &Bound{Unit: noise}
	w.Init(m, 1)
	w.Luu.Set(kuu)
	if err := w.Luu.Cholesky(); err != nil {
		t.Fatal(err)
	}
	phi = dense.New(n, m)
	dense.Copy(phi, kxu)
	w.Luu.SolveLTRight(phi)
	blas64.Scal(1/math.Sqrt(noise), dense.Vec(phi.Data))
	dense.Copy(w.PhiPhi, dense.ProductWithin(t.Context(), blas.Trans, phi, phi))
	dense.Copy(w.C, dense.ProductWithin(t.Context(), blas.Trans, phi, dense.AsColumn(p.y)))
	return w, phi
}

// energy is the free energy, but for what does not depend on the inducing variables.
func (p *problem) energy(t *testing.T, w *Bound) float64 {
	w.R.Data[0] = 1
	if err := w.Factorise(dense.AsColumn([]float64{blas64.Dot(dense.Vec(p.y), dense.Vec(p.y))})); err != nil {
		t.Fatal(err)
	}
	w.Complete()
	return 0.5 * (w.Lb.LogDet() + w.G.Data[0] - dense.Trace(w.PhiPhi))
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}

// TestBound compares log|Q + σ²I| and yᵀ(Q + σ²I)⁻¹y with dense matrices, and the weights with central differences in every
// covariance.
func TestBound(t *testing.T) {
	p := newProblem()
	kuu, kxu := covariance(p.z, p.z), covariance(p.x, p.z)
	dense.AddDiagonal(kuu, 0.05)
	w, phi := p.bound(t, kuu, kxu)
	p.energy(t, w)
	c := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := noise * blas64.Dot(dense.Row(phi, i), dense.Row(phi, j))
			if i == j {
				v += noise
			}
			c.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(c) {
		t.Fatal("Q + σ²I is not positive definite")
	}
	var solved mat.VecDense
	if err := chol.SolveVecTo(&solved, mat.NewVecDense(n, p.y)); err != nil {
		t.Fatal(err)
	}
	near(t, "log|B|", w.Lb.LogDet(), chol.LogDet()-n*math.Log(noise), 1e-11)
	near(t, "a form", w.G.Data[0], mat.Dot(&solved, mat.NewVecDense(n, p.y)), 1e-11)

	w.Weigh()
	rough := w.TraceG
	near(t, "tr B⁻¹", w.Weights(), m-n+noise*mat.Trace(inverse(t, &chol)), 1e-9)
	onXU := dense.New(n, m) // ΦE − βUᵀ
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, phi, w.E, 0, onXU)
	blas64.Ger(-1, dense.Vec(solved.RawVector().Data), dense.Column(w.U, 0), onXU)
	onUU := w.Inner()
	if !(rough >= w.TraceG && rough <= w.TraceG+m) {
		t.Errorf("Weigh puts the trace at %v, and it is %v", rough, w.TraceG)
	}
	const h = 1e-5
	differ := func(k blas64.General, at ...int) float64 {
		var sides [2]float64
		for s, step := range []float64{h, -h} {
			for _, i := range at {
				k.Data[i] += step
			}
			moved, _ := p.bound(t, kuu, kxu)
			sides[s] = p.energy(t, moved)
			for _, i := range at {
				k.Data[i] -= step
			}
		}
		return (sides[0] - sides[1]) / (2 * h)
	}
	for i := 0; i < n*m; i += 7 {
		near(t, "a weight on K_xu", onXU.Data[i], differ(kxu, i), 1e-6)
	}
	for a := range m {
		for b := range a {
			near(t, "a weight on K_uu", 2*onUU.Data[a*m+b], differ(kuu, a*m+b, b*m+a), 1e-6)
		}
	}
	moved, _ := p.bound(t, kuu, kxu)
	var e mat.EigenSym
	e.Factorize(mat.NewSymDense(m, kuu.Data), false)
	if norm, most := moved.InverseNorm(), 1/e.Values(nil)[0]; !(norm <= most*(1+1e-9) && norm >= 0.5*most) {
		t.Errorf("the norm of the inverse is %v, and it is %v", norm, most)
	}
}

// inverse returns (Q + σ²I)⁻¹.
func inverse(t *testing.T, c *mat.Cholesky) mat.Matrix {
	var a mat.SymDense
	if err := c.InverseTo(&a); err != nil {
		t.Fatal(err)
	}
	return &a
}

// TestFeatures: products over the observations by features, |β|² and the derivatives in the variance and in the inducing inputs,
// are those of the covariances themselves.
func TestFeatures(t *testing.T) {
	p := newProblem()
	kuu, kxu := covariance(p.z, p.z), covariance(p.x, p.z)
	want, phi := p.bound(t, kuu, kxu)
	got, _ := p.bound(t, kuu, kxu)
	clear(got.PhiPhi.Data)
	clear(got.C.Data)

	f := new(Features)
	f.Series = fourier.NewSeries(span, period, false)
	count, err := f.Series.Expand(gaussian(1.7), 1, 1e-14)
	if err != nil {
		t.Fatal(err)
	}
	f.Choose(count, count, dense.Tile, 0)
	points := fourier.NewPoints(p.x, 0, period)
	f.Sums = spectral.Sums{N: n, Moments: points.Moments(2*count, 1e-15), Columns: dense.New(2*(count+1), 1),
		Squares: dense.AsColumn([]float64{blas64.Dot(dense.Vec(p.y), dense.Vec(p.y))})}
	points.Sums(f.Sums.Columns, dense.AsColumn(p.y), 0, 1e-15)
	f.Project(context.Background(), got, p.z, 0)
	for i, v := range want.PhiPhi.Data {
		near(t, "ΦᵀΦ", got.PhiPhi.Data[i], v, 1e-10)
	}
	for i, v := range want.C.Data {
		near(t, "ΦᵀY", got.C.Data[i], v, 1e-10)
	}
	p.energy(t, want)
	p.energy(t, got)
	want.Weights()
	got.Weights()
	gradZ := make([]float64, m)
	beta2 := f.Contract(got, gradZ)

	beta := dense.New(n, 1) // (Y − ΦB⁻¹ΦᵀY)/σ²
	copy(beta.Data, p.y)
	dense.Gemm(blas.NoTrans, blas.NoTrans, -1/noise, phi, want.BInvC, 1/noise, beta)
	near(t, "|β|²", beta2, blas64.Dot(dense.Vec(beta.Data), dense.Vec(beta.Data)), 1e-9)
	weight := dense.New(n, m)
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, phi, want.E, 0, weight)
	blas64.Ger(-1, dense.Column(beta, 0), dense.Column(want.U, 0), weight)
	var inVariance float64
	inZ := make([]float64, m)
	for i, x := range p.x {
		for j, z := range p.z {
			v := weight.Data[i*m+j] * kxu.Data[i*m+j]
			inVariance += v
			inZ[j] += v * (x - z) / 4
		}
	}
	var grad [1]float64
	f.Series.Adjoint(f.Q)
	f.Series.Contract(grad[:], f.Q, gaussian(1.7))
	near(t, "the derivative in the variance", grad[0], inVariance, 1e-8)
	for j, v := range inZ {
		near(t, "the derivative in an inducing input", gradZ[j], v, 1e-8)
	}
}
