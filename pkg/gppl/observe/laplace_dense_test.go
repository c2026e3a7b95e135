package observe

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// byDefinition is Laplace's approximation by matrices, with Newton's method to the last digit (Rasmussen and Williams 2006,
// algorithms 3.1 and 5.1).
type byDefinition struct {
	x, g, alpha, u []float64 // u_i = ½v_i ∂³log p
	root           []float64 // √W
	prior          *mat.SymDense
	precision      *mat.Dense // R = (K + σ²I + W⁻¹)⁻¹
	value          float64
}

// dense computes the loss by its definition.
func dense(t *testing.T, m gppl.Model, d gppl.Data, l Likelihood, sizes []float64) *byDefinition {
	t.Helper()
	n := d.Len()
	s := &byDefinition{g: make([]float64, n), alpha: make([]float64, n), u: make([]float64, n), root: make([]float64, n),
		prior: mat.NewSymDense(n, nil)}
	k := make([]float64, n*n)
	if err := gppl.Covariance(t.Context(), k, m.Kernel, d.X, d.X); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		s.x, s.g[i] = append(s.x, d.X.At(i)[0]), l.Guess(d.Y[i], sizes[i])
		for j := range i + 1 {
			s.prior.SetSym(i, j, k[i*n+j])
		}
		s.prior.SetSym(i, i, k[i*n+i]+capability.Nugget(m.Kernel)+m.Noise)
	}
	third, g, alpha := make([]float64, n), mat.NewVecDense(n, s.g), mat.NewVecDense(n, s.alpha)
	for range 60 {
		b := mat.NewVecDense(n, nil)
		s.value = 0.5 * mat.Dot(alpha, g)
		for i := range n {
			at := l.LogDensity(d.Y[i], sizes[i], s.g[i])
			s.root[i], third[i] = math.Sqrt(-at.D2), at.D3
			b.SetVec(i, -at.D2*s.g[i]+at.D1)
			s.value -= at.Value
		}
		inner := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				inner.SetSym(i, j, s.root[i]*s.prior.At(i, j)*s.root[j])
			}
			inner.SetSym(i, i, 1+inner.At(i, i))
		}
		var chol mat.Cholesky
		if !chol.Factorize(inner) {
			t.Fatal("not positive definite")
		}
		s.value += 0.5 * chol.LogDet()
		root := mat.NewDiagDense(n, s.root)
		s.precision = new(mat.Dense)
		if err := chol.SolveTo(s.precision, root); err != nil {
			t.Fatal(err)
		}
		s.precision.Mul(root, s.precision)
		var pb, rpb mat.VecDense
		pb.MulVec(s.prior, b)
		rpb.MulVec(s.precision, &pb)
		alpha.SubVec(b, &rpb)
		g.MulVec(s.prior, alpha)
	}
	covariance := s.covariance()
	for i := range n {
		s.u[i] = 0.5 * covariance.At(i, i) * third[i]
	}
	return s
}

// covariance of g given the data.
func (s *byDefinition) covariance() *mat.Dense {
	var c mat.Dense
	c.Mul(s.prior, s.precision)
	c.Mul(&c, s.prior)
	c.Sub(s.prior, &c)
	return &c
}

// gradient returns the derivatives in the parameters: Σ M_ij ∂K_ij with M = ½R − ½ααᵀ − (u − RKu)αᵀ, and of the likelihood's.
func (s *byDefinition) gradient(m gppl.Model, d gppl.Data, l Likelihood, sizes []float64) []float64 {
	n := len(s.g)
	var q mat.VecDense
	q.MulVec(s.prior, mat.NewVecDense(n, s.u))
	q.MulVec(s.precision, &q)
	q.SubVec(mat.NewVecDense(n, s.u), &q)
	theta := m.Values()
	grad, weights, distances := make([]float64, len(theta)), make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		for j := range n {
			weights[i*n+j] = 0.5*s.precision.At(i, j) - 0.5*s.alpha[i]*s.alpha[j] - q.AtVec(i)*s.alpha[j]
			distances[i*n+j] = math.Abs(s.x[i] - s.x[j])
		}
		grad[len(theta)-1] += m.Noise * weights[i*n+i]
	}
	m.Kernel.Contract(grad[:len(theta)-1], weights, distances)
	for p := range grad {
		grad[p] /= theta[p]
	}
	shaped, ok := l.(Shaped)
	if !ok {
		return grad
	}
	covariance, moved := s.covariance(), mat.NewVecDense(n, nil)
	var sum float64
	for i := range n {
		slope := shaped.Slopes(0, d.Y[i], sizes[i], s.g[i])
		sum -= slope.Value + 0.5*covariance.At(i, i)*slope.D2
		moved.SetVec(i, slope.D1)
	}
	moved.MulVec(covariance, moved)
	return append(grad, sum-mat.Dot(mat.NewVecDense(n, s.u), moved))
}

// randomCase draws a model, a likelihood and the inputs.
func randomCase(t *testing.T, seed uint64) (m gppl.Model, d gppl.Data, l Likelihood, sizes []float64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 77))
	between := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rnd.Float64()) }
	v, length := between(0.1, 3), between(0.3, 5)
	periodic := gppl.Periodic{Variance: v, Lengthscale: between(0.5, 2), Period: between(1, 5)}
	kernels := []gppl.Kernel{
		gppl.SE{Variance: v, Lengthscale: length}, gppl.Laplace{Variance: v, Lengthscale: length},
		gppl.Matern32{Variance: v, Lengthscale: length},
		gppl.Matern52{Variance: v, Lengthscale: length}, gppl.Add(gppl.Matern32{Variance: between(0.1, 1), Lengthscale: length},
			periodic),
	}
	likelihoods := []Likelihood{Poisson{}, NegBinomial{Shape: between(0.5, 20)}, Binomial{}}
	m = gppl.Model{Kernel: kernels[rnd.IntN(len(kernels))], Noise: between(1e-3, 0.3)}
	l = likelihoods[rnd.IntN(len(likelihoods))]
	d, sizes = drawn(t, m, l, 5+rnd.IntN(40), seed)
	return m, d, l, sizes
}

// longest is how many seconds an evaluation of a Gaussian model may take: rough kernels take a spectrum of many waves.
const longest = 0.002

// exactEngines are the engines of the exact likelihood.
var exactEngines = []string{gppl.EngineDense, gppl.EngineSpectral, gppl.EngineBanded, gppl.EngineStateSpace, gppl.EngineGridded,
	gppl.EngineToeplitz, gppl.EngineMixed}

// TestLaplaceDense compares value and gradient with the definition, by every engine that takes the case, to 1e-8 of each: of the
// gradient in the logs of the parameters, to 1e-8 of its largest entry or of 1.
func TestLaplaceDense(t *testing.T) {
	taken, worst := map[string]int{}, map[string][2]float64{}
	for seed := range uint64(testkit.Size(40, 200, 2000)) {
		m, d, l, sizes := randomCase(t, seed)
		want := dense(t, m, d, l, sizes)
		wantGrad := want.gradient(m, d, l, sizes)
		for _, engine := range exactEngines {
			loss := testkit.Must(NewLaplace(t.Context(), m, d, l, sizes, gppl.WithEngine(engine), gppl.WithTolerance(1e-11), gppl.WithSeconds(longest)))(t)
			theta := gppl.Values(loss.Params())
			grad := make([]float64, len(theta))
			value, err := loss.ValueGrad(t.Context(), grad, theta)
			if refusal := (*gppl.Refusal)(nil); errors.As(err, &refusal) {
				continue
			}
			if err != nil {
				t.Errorf("case %d, %v, %v, %s: %v", seed, m, l, engine, err)
				continue
			}
			size, off := 1.0, 0.0
			for p := range grad {
				size, off = max(size, theta[p]*math.Abs(wantGrad[p])), max(off, theta[p]*math.Abs(grad[p]-wantGrad[p]))
			}
			errs := [2]float64{math.Abs(value/want.value - 1), off / size}
			if taken[engine]++; errs[0] > 1e-8 || errs[1] > 1e-8 {
				t.Errorf("case %d, %v, %v, %s: value %v, want %v; gradient %v, want %v",
					seed, m, l, engine, value, want.value, grad, wantGrad)
			}
			worst[engine] = [2]float64{max(worst[engine][0], errs[0]), max(worst[engine][1], errs[1])}
		}
	}
	t.Logf("cases %v; largest relative errors of value and gradient %v", taken, worst)
	for _, engine := range []string{gppl.EngineDense, gppl.EngineBanded, gppl.EngineStateSpace} {
		if taken[engine] == 0 {
			t.Errorf("no case for %s", engine)
		}
	}
}
