package gppltest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// checkPoints checks a kernel of points of d axes: that it is symmetric and positive semi-definite, that blocks of pairs equal
// single pairs, that derivatives in parameters and in points equal differences, and that the exact likelihood, PL with its
// residual, and VFE train by it.
func checkPoints(t *testing.T, k gppl.Kernel, d int) {
	const n = 24
	rnd := rand.New(rand.NewPCG(5, 6))
	at := make([]float64, n*d)
	for i := range at {
		at[i] = 10 * rnd.Float64()
	}
	x := gppl.Vectors(at, d)
	theta := gppl.Values(k.Params())
	block := covarianceOf(t, k, x)
	single, grad := make([]float64, n*n), make([]float64, len(theta))
	w, got := normals(n*n, 7, 8), make([]float64, len(theta))
	own, is := k.(capability.Placed)
	for i := range n {
		for j := range n {
			if single[i*n+j] = (gppl.Model{Kernel: k}).PairGrad(grad, x.At(i), x.At(j)); is {
				if v := own.At(x.At(i), x.At(j)); v != single[i*n+j] {
					t.Fatalf("k(%v, %v) = %v, and At says %v", x.At(i), x.At(j), single[i*n+j], v)
				}
			}
			if there, back := block[i*n+j], block[j*n+i]; math.Abs(there-back) > 1e-14*math.Abs(there) {
				t.Fatalf("k(%v, %v) = %v, and %v the other way round", x.At(i), x.At(j), there, back)
			}
			floats.AddScaled(got, w[i*n+j], grad)
		}
	}
	closeVectors(t, "k in a block and of single pairs", block, single, 1e-14)
	if c, is := k.(capability.Reacher); is && !math.IsInf(c.Reach(0.5), 1) {
		for i := range n {
			for j := range n {
				if bound := cov(k, floats.Distance(x.At(i), x.At(j), 2)); !(math.Abs(block[i*n+j]) <= bound*(1+1e-12)) {
					t.Errorf("k(%v, %v) = %v, above the bound Cov = %v", x.At(i), x.At(j), block[i*n+j], bound)
				}
			}
		}
	}
	checkDefinite(t, block, n)
	closeVectors(t, "Σ w ∂k(x, y)/∂log θ", got, differencesIn(k, func(k gppl.Kernel) float64 {
		return floats.Dot(w, covarianceOf(t, k, x))
	}), 1e-7)
	if is {
		checkSlopeAt(t, own, x)
	}
	checkTraining(t, k, x)
}

// covarianceOf returns k(x, x).
func covarianceOf(t *testing.T, k gppl.Kernel, x gppl.Inputs) []float64 {
	c := make([]float64, x.Len()*x.Len())
	if err := gppl.Covariance(t.Context(), c, k, x, x); err != nil {
		t.Fatal(err)
	}
	return c
}

// checkDefinite fails if a Gram matrix has a negative eigenvalue.
func checkDefinite(t *testing.T, gram []float64, n int) {
	t.Helper()
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(n, slices.Clone(gram)), false) {
		t.Fatal("no eigenvalues")
	}
	if v := e.Values(nil); v[0] < -1e-12*v[n-1] {
		t.Errorf("smallest eigenvalue %v of a Gram matrix whose largest is %v", v[0], v[n-1])
	}
}

// differencesIn differentiates f in the logs of the kernel's parameters; locations are differentiated as they are.
func differencesIn(k gppl.Kernel, f func(k gppl.Kernel) float64) []float64 {
	params := k.Params()
	raw := make([]float64, len(params))
	for i, p := range params {
		if raw[i] = p.Value; p.Role != gppl.RoleLocation {
			raw[i] = math.Log(p.Value)
		}
	}
	return fd.Gradient(nil, func(u []float64) float64 {
		theta := slices.Clone(u)
		for i, p := range params {
			if p.Role != gppl.RoleLocation {
				theta[i] = math.Exp(u[i])
			}
		}
		return f(k.WithParams(theta))
	}, raw, &fd.Settings{Formula: fourthOrder, Step: 1e-4})
}

// checkSlopeAt compares SlopeAt with differences between points, and asks for it where points coincide.
func checkSlopeAt(t *testing.T, k capability.Placed, x gppl.Inputs) {
	slope := make([]float64, x.Dim())
	for i := range x.Len() - 1 {
		a, b := x.At(i), slices.Clone(x.At(i+1))
		k.SlopeAt(slope, a, b)
		want := fd.Gradient(nil, func(b []float64) float64 { return k.At(a, b) }, b, &fd.Settings{Formula: fourthOrder, Step: 1e-4})
		closeVectors(t, "∂k(x, y)/∂y", slope, want, 1e-7)
		if k.SlopeAt(slope, a, a); floats.HasNaN(slope) {
			t.Errorf("∂k(x, y)/∂y at x = y = %v: %v", a, slope)
		}
	}
}

// checkTraining runs CheckLoss on the likelihoods that take the kernel.
func checkTraining(t *testing.T, k gppl.Kernel, x gppl.Inputs) {
	data, err := gppl.NewData(x, normals(x.Len(), 9, 10))
	if err != nil {
		t.Fatal(err)
	}
	m := gppl.Model{Kernel: k, Noise: 0.3 * cov(k, 0)}
	exact, err := gppl.NewExact(t.Context(), m, data)
	if err != nil {
		t.Fatal(err)
	}
	CheckLoss(t, exact)
	p, err := gppl.NewProjection(t.Context(), gppl.Sphere{}, x, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	projected, err := gppl.NewResidual(t.Context(), m, data, p)
	if err != nil {
		t.Fatal(err)
	}
	CheckLoss(t, projected)
	vfe, err := gppl.NewVFE(t.Context(), m, data, x.Slice(0, 5), gppl.VFEOptions{})
	if err != nil {
		t.Fatal(err)
	}
	CheckLoss(t, vfe)
}
