package observe

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/psis"
)

// whiteKernels returns kernels of the variance v, a share of it white noise: terms, factors, sums of both and one without
// any.
func whiteKernels(v, share, length float64) []gppl.Kernel {
	white, rest := gppl.White{Variance: v * share}, v*(1-share)
	return []gppl.Kernel{
		gppl.White{Variance: v},
		gppl.Add(gppl.Matern32{Variance: rest, Lengthscale: length}, white),
		gppl.Add(white, gppl.SE{Variance: 0.5 * rest, Lengthscale: length}, gppl.Laplace{Variance: 0.5 * rest, Lengthscale: 2 * length},
			gppl.White{Variance: 1e-3}),
		gppl.Add(gppl.Mul(gppl.White{Variance: share}, gppl.Periodic{Variance: v, Lengthscale: 1, Period: 3}),
			gppl.Matern52{Variance: rest, Lengthscale: length}),
		gppl.Mul(gppl.Add(gppl.SE{Variance: 1 - share, Lengthscale: length}, gppl.White{Variance: share}),
			gppl.Add(gppl.Matern32{Variance: 0.7 * v, Lengthscale: 3 * length}, gppl.White{Variance: 0.3 * v})),
		gppl.Mul(gppl.White{Variance: 2}, gppl.SE{Variance: 0.5 * v, Lengthscale: length}, gppl.Matern32{Variance: 1, Lengthscale: 1}),
		gppl.Add(gppl.ChangePoint{Before: gppl.Matern32{Variance: rest, Lengthscale: length},
			After: gppl.Matern32{Variance: 0.3 * rest, Lengthscale: 2 * length}, Location: 5, Width: 1}, white),
		gppl.SE{Variance: v, Lengthscale: length},
	}
}

// whiteCase draws a model with white noise in its kernel, and n observations.
func whiteCase(t *testing.T, seed uint64, n int) (m gppl.Model, d gppl.Data, l Likelihood, sizes []float64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 61))
	between := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rnd.Float64()) }
	kernels := whiteKernels(between(0.05, 4), 0.02+0.96*rnd.Float64(), between(0.3, 5))
	likelihoods := []Likelihood{Poisson{}, NegBinomial{Shape: between(0.5, 20)}, Binomial{}}
	m = gppl.Model{Kernel: kernels[rnd.IntN(len(kernels))], Noise: between(1e-6, 1)}
	l = likelihoods[rnd.IntN(len(likelihoods))]
	d, sizes = drawn(t, m, l, n, seed)
	return m, d, l, sizes
}

// TestCorrectionWhite compares corrections of one and two observations with quadrature over the latent values, corrections of
// more with importance sampling from a Student-t distribution.
func TestCorrectionWhite(t *testing.T) {
	draws, judged := 4000, 0
	for seed := range uint64(testkit.Size(60, 300, 2000)) {
		n := []int{1, 2, 2, 12}[seed%4]
		m, d, l, sizes := whiteCase(t, seed, n)
		loss := testkit.Must(NewLaplace(t.Context(), m, d, l, sizes))(t)
		theta := gppl.Values(loss.Params())
		value := testkit.Must(loss.ValueGrad(t.Context(), nil, theta))(t)
		correction, err := loss.Correct(t.Context(), theta, draws, seed)
		if err != nil { // k̂ is above 0.7
			continue
		}
		judged++
		s := dense(t, m, d, l, sizes)
		want, chance := s.byQuadrature(t, d, l, sizes), 0.0
		if n > 2 {
			want, chance = s.bySampling(t, d, l, sizes, draws, seed)
		}
		if off := math.Abs(value + correction.Nats - want); !(off < 5*math.Hypot(correction.StdErr, chance)+1e-6) {
			t.Errorf("case %d, %v, %v of %v: corrected %v ± %v (k̂ = %.2f), want %v ± %v", seed, m, l, d.Y, value+correction.Nats,
				correction.StdErr, correction.K, want, chance)
		}
	}
	if cases := testkit.Size(60, 300, 2000); judged < 9*cases/10 {
		t.Errorf("only %d of %d cases have a correction", judged, cases)
	}
}

// rootOf returns the Cholesky factor L of the covariance of g given the data.
func (s *byDefinition) rootOf(t *testing.T) *mat.TriDense {
	t.Helper()
	n := len(s.g)
	covariance, sym := s.covariance(), mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, covariance.At(i, j))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		t.Fatal("the covariance is not positive definite")
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	return &lower
}

// logJoint returns log p(y, g)·|L| at g = ĝ + Lz, a density of z.
func (s *byDefinition) logJoint(t *testing.T, d gppl.Data, l Likelihood, sizes []float64) func(z []float64) float64 {
	t.Helper()
	n, lower := len(s.g), s.rootOf(t)
	var prior mat.Cholesky
	if !prior.Factorize(s.prior) {
		t.Fatal("the prior is not positive definite")
	}
	constant := -0.5*prior.LogDet() - 0.5*float64(n)*math.Log(2*math.Pi)
	g, solved := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	return func(z []float64) float64 {
		g.MulVec(lower, mat.NewVecDense(n, z))
		g.AddVec(g, mat.NewVecDense(n, s.g))
		if err := prior.SolveVecTo(solved, g); err != nil {
			t.Fatal(err)
		}
		log := constant - 0.5*mat.Dot(g, solved)
		for i := range n {
			log += l.LogDensity(d.Y[i], sizes[i], g.AtVec(i)).Value + math.Log(lower.At(i, i))
		}
		return log
	}
}

// byQuadrature returns −log ∫ p(y, g) dg for one or two observations, by the trapezoidal rule on the axes of the approximation.
func (s *byDefinition) byQuadrature(t *testing.T, d gppl.Data, l Likelihood, sizes []float64) float64 {
	t.Helper()
	const reach, step = 25.0, 0.2
	if len(s.g) > 2 {
		return math.NaN()
	}
	log := s.logJoint(t, d, l, sizes)
	z := make([]float64, len(s.g))
	peak, sum := log(z), 0.0
	var over func(axis int)
	over = func(axis int) {
		for z[axis] = -reach; z[axis] <= reach; z[axis] += step {
			if axis+1 < len(z) {
				over(axis + 1)
				continue
			}
			sum += math.Exp(log(z) - peak)
		}
	}
	over(0)
	return -peak - math.Log(sum) - float64(len(z))*math.Log(step)
}

// bySampling returns −log ∫ p(y, g) dg and its standard error, by draws from a Student-t distribution of five degrees of freedom
// with the mode and the covariance of the approximation.
func (s *byDefinition) bySampling(t *testing.T, d gppl.Data, l Likelihood, sizes []float64, draws int,
	seed uint64) (nats, chance float64) {
	t.Helper()
	const nu = 5
	n := len(s.g)
	log := s.logJoint(t, d, l, sizes)
	rnd := rand.New(rand.NewPCG(seed, 62))
	constant := logGamma(0.5*(nu+float64(n))) - logGamma(0.5*nu) - 0.5*float64(n)*math.Log(nu*math.Pi)
	logs, z := make([]float64, draws), make([]float64, n)
	for k := range logs {
		var chi, square float64
		for range nu {
			v := rnd.NormFloat64()
			chi += v * v
		}
		for i := range z {
			z[i] = rnd.NormFloat64() * math.Sqrt(nu/chi)
			square += z[i] * z[i]
		}
		logs[k] = log(z) - constant + 0.5*(nu+float64(n))*math.Log1p(square/nu)
	}
	weights := testkit.Must(psis.Smooth(logs))(t)
	most, sum := logs[0], 0.0
	for _, v := range logs {
		most = max(most, v)
	}
	for _, v := range logs {
		sum += math.Exp(v - most)
	}
	return -most - math.Log(sum/float64(draws)), math.Sqrt(max(0, 1/weights.ESS-1/float64(draws)))
}
