package gppl_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// Bayesian is the kernel of linear functions of several coordinates, v·(c + xᵀy): a kernel of one's own that sees vectors, and
// whose variance is not constant.
type Bayesian struct{ Variance, Offset float64 }

var _ capability.Placed = Bayesian{}

func (k Bayesian) Params() []gppl.Param {
	return []gppl.Param{{Name: "variance", Value: k.Variance, Unit: gppl.UnitY2, Role: gppl.RoleVariance},
		{Name: "offset", Value: k.Offset, Role: gppl.RoleShape}}
}

func (k Bayesian) WithParams(theta []float64) gppl.Kernel {
	if len(theta) != 2 {
		panic(fmt.Sprintf("Bayesian.WithParams: len(theta) = %d, want 2", len(theta)))
	}
	return Bayesian{theta[0], theta[1]}
}

func (k Bayesian) String() string { return fmt.Sprintf("Bayesian(%.4g, %.4g)", k.Variance, k.Offset) }

func (k Bayesian) Cov(dst, r []float64) {
	for i := range r {
		dst[i] = k.Variance * (k.Offset + 1)
	}
}

func (k Bayesian) Contract(grad, w, _ []float64) {
	for _, v := range w {
		grad[0] += v * k.Variance * (k.Offset + 1)
		grad[1] += v * k.Variance * k.Offset
	}
}

func (k Bayesian) Slope(dst, _ []float64) { clear(dst) }

func (k Bayesian) At(x, y []float64) float64 {
	sum := k.Offset
	for a := range x {
		sum += x[a] * y[a]
	}
	return k.Variance * sum
}

func (k Bayesian) ContractAt(grad []float64, w float64, x, y []float64) {
	grad[0] += w * k.At(x, y)
	grad[1] += w * k.Variance * k.Offset
}

func (k Bayesian) SlopeAt(dst, x, _ []float64) {
	for a := range x {
		dst[a] = k.Variance * x[a]
	}
}

// axesCovariance is k(x, y) by the formulas.
func axesCovariance(k gppl.Kernel, x, y []float64) (v float64) {
	switch k := k.(type) {
	case gppl.Sum:
		for _, t := range k.Terms() {
			v += axesCovariance(t, x, y)
		}
		return v
	case gppl.Product:
		v = 1
		for _, f := range k.Factors() {
			v *= axesCovariance(f, x, y)
		}
		return v
	case gppl.Axes:
		var px, py []float64
		for _, a := range k.Axes() {
			px, py = append(px, x[a]), append(py, y[a])
		}
		return axesCovariance(k.Kernel(), px, py)
	case gppl.Anisotropic:
		var sx, sy []float64
		for a, l := range k.Lengthscales() {
			sx, sy = append(sx, x[a]/l), append(sy, y[a]/l)
		}
		return axesCovariance(k.Kernel(), sx, sy)
	case gppl.ChangePoint:
		s := func(at []float64) float64 { return 1 / (1 + math.Exp(-(at[0]-k.Location)/k.Width)) }
		return (1-s(x))*(1-s(y))*axesCovariance(k.Before, x, y) + s(x)*s(y)*axesCovariance(k.After, x, y)
	case Bayesian:
		v = k.Offset
		for a := range x {
			v += x[a] * y[a]
		}
		return k.Variance * v
	}
	var rr float64
	for a := range x {
		rr += (x[a] - y[a]) * (x[a] - y[a])
	}
	r := math.Sqrt(rr)
	switch k := k.(type) {
	case gppl.SE:
		return k.Variance * math.Exp(-rr/(2*k.Lengthscale*k.Lengthscale))
	case gppl.Laplace:
		return k.Variance * math.Exp(-r/k.Lengthscale)
	case gppl.Matern32:
		a := math.Sqrt(3) * r / k.Lengthscale
		return k.Variance * (1 + a) * math.Exp(-a)
	case gppl.Matern52:
		a := math.Sqrt(5) * r / k.Lengthscale
		return k.Variance * (1 + a + a*a/3) * math.Exp(-a)
	case gppl.RQ:
		return k.Variance * math.Pow(1+rr/(2*k.Alpha*k.Lengthscale*k.Lengthscale), -k.Alpha)
	case gppl.White:
		return 0
	}
	panic(fmt.Sprintf("no formula for %T", k))
}

// axesCase is a model on points of several axes, with everything that a likelihood of it takes.
type axesCase struct {
	model gppl.Model
	data  gppl.Data
	z, at gppl.Inputs // inducing inputs, and inputs of predictions
	k     int
	omega *mat.Dense
	known []float64 // variances of known errors, 0 without
}

// randomIsotropic is a kernel of distances.
func randomIsotropic(rnd *rand.Rand) gppl.Kernel {
	v, l := math.Exp(rnd.NormFloat64()*0.5), math.Exp(0.4*rnd.NormFloat64()+0.3)
	return []gppl.Kernel{gppl.SE{Variance: v, Lengthscale: l}, gppl.Laplace{Variance: v, Lengthscale: l},
		gppl.Matern32{Variance: v, Lengthscale: l}, gppl.Matern52{Variance: v, Lengthscale: l},
		gppl.RQ{Variance: v, Lengthscale: l, Alpha: 0.5 + rnd.Float64()},
		gppl.Add(gppl.SE{Variance: v, Lengthscale: l}, gppl.Matern32{Variance: 0.5, Lengthscale: 2 * l}),
		gppl.Mul(gppl.RQ{Variance: v, Lengthscale: l, Alpha: 1}, gppl.Laplace{Variance: 0.5, Lengthscale: 2 * l}),
	}[rnd.IntN(7)]
}

// randomAxes is a kernel of d axes, at most that many levels deep.
func randomAxes(rnd *rand.Rand, d, depth int) gppl.Kernel {
	several := func() (ks []gppl.Kernel) {
		for range 1 + rnd.IntN(3) {
			ks = append(ks, randomAxes(rnd, d, depth-1))
		}
		return ks
	}
	switch at := rnd.IntN(7); {
	case at == 0 && depth > 0:
		return gppl.Add(several()...)
	case at == 1 && depth > 0:
		return gppl.Mul(several()...)
	case at == 2 && depth > 0:
		axes := rnd.Perm(d)[:1+rnd.IntN(d)]
		return gppl.On(randomAxes(rnd, len(axes), depth-1), axes...)
	case at == 3:
		return gppl.Add(Bayesian{0.3 * rnd.Float64(), 1}, randomIsotropic(rnd))
	case at == 4:
		axis := rnd.IntN(d)
		return gppl.On(gppl.ChangePoint{Before: randomIsotropic(rnd), After: randomIsotropic(rnd), Location: 2 * rnd.NormFloat64(),
			Width: 0.2 + rnd.Float64()}, axis)
	case at == 5:
		return randomIsotropic(rnd)
	}
	l := make([]float64, d)
	for a := range l {
		l[a] = math.Exp(0.5*rnd.NormFloat64() + 0.3)
	}
	return gppl.ARD(randomIsotropic(rnd), l...)
}

func randomAxesCase(rnd *rand.Rand) axesCase {
	d := 1 + rnd.IntN(4)
	n, k, m := 9+rnd.IntN(14), 3+rnd.IntN(4), 3+rnd.IntN(3)
	// Coordinates of what is differentiated are never within the step of a difference of others: a Laplace has a kink there.
	points := func(n int, from, apart, within float64) gppl.Inputs {
		x := make([]float64, n*d)
		for i := range x {
			x[i] = 0.1*math.Round(20*rnd.NormFloat64()) + from + apart*float64(i/d) + within*rnd.Float64()
		}
		return gppl.Vectors(x, d)
	}
	c := axesCase{data: gppl.Data{X: points(n, 0, 0, 0.02), Y: make([]float64, n)}, z: points(m, 0.03, 0.008, 0.001),
		at: points(3, 0.085, 0, 0.005), k: k}
	c.known = make([]float64, n)
	for i := range c.data.Y {
		c.data.Y[i] = rnd.NormFloat64()
	}
	if rnd.IntN(3) == 0 {
		c.data.Errors = make([]float64, n)
		for i := range c.known {
			c.data.Errors[i] = rnd.Float64()
			c.known[i] = c.data.Errors[i] * c.data.Errors[i]
		}
	}
	c.model = gppl.Model{Kernel: randomAxes(rnd, d, 2), Noise: 0.1 + rnd.Float64()}
	return c
}

// matrix is k(a, b).
func (c axesCase) matrix(k gppl.Kernel, a, b gppl.Inputs) *mat.Dense {
	m := mat.NewDense(a.Len(), b.Len(), nil)
	for i := range a.Len() {
		for j := range b.Len() {
			m.Set(i, j, axesCovariance(k, a.At(i), b.At(j)))
		}
	}
	return m
}

// axesGaussian is −log N(y | 0, a).
func axesGaussian(y []float64, a *mat.Dense) float64 {
	n := len(y)
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, 0.5*(a.At(i, j)+a.At(j, i)))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(s) {
		return math.NaN()
	}
	var alpha mat.VecDense
	if chol.SolveVecTo(&alpha, mat.NewVecDense(n, y)) != nil {
		return math.NaN()
	}
	return 0.5 * (mat.Dot(mat.NewVecDense(n, y), &alpha) + chol.LogDet() + float64(n)*math.Log(2*math.Pi))
}

// noisy adds the noise to a.
func (c axesCase) noisy(a *mat.Dense, noise float64) *mat.Dense {
	for i, s := range c.known {
		a.Set(i, i, a.At(i, i)+noise+s)
	}
	return a
}

func (c axesCase) exact(theta []float64) float64 {
	m := c.model.WithParams(theta)
	return axesGaussian(c.data.Y, c.noisy(c.matrix(m.Kernel, c.data.X, c.data.X), m.Noise))
}

// vfe is the bound by n×n matrices.
func (c axesCase) vfe(theta []float64) float64 {
	hyper := len(c.model.Params())
	m, z := c.model.WithParams(theta[:hyper]), gppl.Vectors(theta[hyper:], c.z.Dim())
	kuu, kuf := c.matrix(m.Kernel, z, z), c.matrix(m.Kernel, z, c.data.X)
	var solved, q mat.Dense
	if err := solved.Solve(kuu, kuf); err != nil {
		return math.NaN()
	}
	q.Mul(kuf.T(), &solved)
	var slack float64
	for i := range c.data.Len() {
		slack += (axesCovariance(m.Kernel, c.data.X.At(i), c.data.X.At(i)) - q.At(i, i)) / (m.Noise + c.known[i])
	}
	return axesGaussian(c.data.Y, c.noisy(&q, m.Noise)) + slack/2
}

// residual is PL with the residual energy, by n×n matrices.
func (c axesCase) residual(theta []float64) float64 {
	m := c.model.WithParams(theta)
	n, k := c.omega.Dims()
	full := c.noisy(c.matrix(m.Kernel, c.data.X, c.data.X), m.Noise)
	var half, s, z mat.Dense
	half.Mul(full, c.omega)
	s.Mul(c.omega.T(), &half)
	y := mat.NewDense(n, 1, slices.Clone(c.data.Y))
	z.Mul(c.omega.T(), y)
	dof := float64(n - k)
	tau := (mat.Trace(full) - mat.Trace(&s)) / dof
	r := mat.Dot(y.ColView(0), y.ColView(0)) - mat.Dot(z.ColView(0), z.ColView(0))
	return axesGaussian(mat.Col(nil, 0, &z), &s) + 0.5*(dof*math.Log(tau)+r/tau+dof*math.Log(2*math.Pi))
}

// posterior is the mean and the variance of f at one input.
func (c axesCase) posterior(at []float64) (mean, variance float64) {
	x := gppl.Vectors(at, len(at))
	a := c.noisy(c.matrix(c.model.Kernel, c.data.X, c.data.X), c.model.Noise)
	k := c.matrix(c.model.Kernel, c.data.X, x)
	var solved mat.Dense
	if err := solved.Solve(a, k); err != nil {
		return math.NaN(), math.NaN()
	}
	return mat.Dot(solved.ColView(0), mat.NewVecDense(len(c.data.Y), c.data.Y)),
		axesCovariance(c.model.Kernel, at, at) - mat.Dot(solved.ColView(0), k.ColView(0))
}

// axesDifferences is the gradient of f, each derivative in the size of its parameter.
func axesDifferences(f func([]float64) float64, theta []float64) []float64 {
	grad := make([]float64, len(theta))
	for p := range theta {
		step := 3e-4 * max(0.1, math.Abs(theta[p]))
		sixth := fd.Formula{Stencil: []fd.Point{{Loc: -3, Coeff: -1. / 60}, {Loc: -2, Coeff: 9. / 60}, {Loc: -1, Coeff: -45. / 60},
			{Loc: 1, Coeff: 45. / 60}, {Loc: 2, Coeff: -9. / 60}, {Loc: 3, Coeff: 1. / 60}}, Derivative: 1, Step: step}
		grad[p] = fd.Derivative(func(v float64) float64 {
			at := slices.Clone(theta)
			at[p] = v
			return f(at)
		}, theta[p], &fd.Settings{Formula: sixth, Step: step})
	}
	return grad
}

// The tolerances of TestAxesRandom are relative: the error of a number is divided by 1 + its size, and the error of a derivative
// by 1 + the norm of the gradient.
const (
	axesValue     = 1e-10
	axesGradient  = 1e-7 // error of sixth-order differences
	axesBound     = 1e-8 // VFE: K_uu is solved by LU here, in other digits
	axesBoundGrad = 1e-5 // differences of these, which lose as many digits as K_uu is ill conditioned
	axesPredicted = 1e-10
	axesSlope     = 1e-7 // error of sixth-order differences
)

// TestAxesRandom: kernels of axes, with a lengthscale for each, sums and products of them, change points on an axis and a kernel
// of one's own, in one to four dimensions: the exact likelihood, PL with its residual, VFE with its inducing inputs, posterior
// means and variances and their gradients, against formulas in plain loops. 50 cases, with GPPL_LONG 2000.
func TestAxesRandom(t *testing.T) {
	t.Parallel()
	worst := map[string]float64{}
	for seed := range testkit.Size(50, 50, 2000) {
		c := randomAxesCase(rand.New(rand.NewPCG(uint64(seed), 91)))
		off := func(what string, got, want, limit float64) {
			e := math.Abs(got-want) / (1 + math.Abs(want))
			worst[what] = max(worst[what], e)
			if !(e <= limit) {
				t.Errorf("seed %d, %v: %s is %.12g, by the formulas %.12g (%.2g)", seed, c.model, what, got, want, e)
			}
		}
		compare := func(what string, l gppl.Loss, f func([]float64) float64, limit, slope float64) {
			theta := gppl.Values(l.Params())
			grad := make([]float64, len(theta))
			value, err := l.ValueGrad(t.Context(), grad, theta)
			if err != nil {
				t.Errorf("seed %d, %v: %s: %v", seed, c.model, what, err)
				return
			}
			if r := l.Report(); r.Jitter > 0 {
				return // another matrix
			}
			off(what, value, f(theta), limit)
			want := axesDifferences(f, theta)
			size := floats.Norm(want, 2)
			for p := range want {
				off(what+" gradient", grad[p]/(1+size), want[p]/(1+size), slope)
			}
		}
		exact := testkit.Must(gppl.NewExact(t.Context(), c.model, c.data))(t)
		compare("exact", exact, c.exact, axesValue, axesGradient)
		p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, c.data.X, c.k, uint64(seed)))(t)
		c.omega = testkit.Must(p.Omega(t.Context()))(t)
		compare("residual", testkit.Must(gppl.NewResidual(t.Context(), c.model, c.data, p))(t), c.residual, axesValue, axesGradient)
		vfe := testkit.Must(gppl.NewVFE(t.Context(), c.model, c.data, c.z, gppl.VFEOptions{}))(t)
		compare("VFE", vfe, c.vfe, axesBound, axesBoundGrad)

		post := testkit.Must(gppl.NewPosterior(t.Context(), c.model, c.data))(t)
		left, leftVariances := testkit.Must2(gppl.LeaveOut(t.Context(), c.model, c.data, [][]int{{0}, {1, 2}}))(t)
		for i, without := range [][]int{{0}, {1, 2}, {1, 2}} {
			rest := c
			kept := slices.DeleteFunc(timeline.Range(0, c.data.Len()), func(j int) bool { return slices.Contains(without, j) })
			rest.data, rest.known = c.data.Pick(kept), timeline.Pick(c.known, kept)
			m, v := rest.posterior(c.data.X.At(i))
			off("left out", left[i], m, axesPredicted)
			off("left out, variance", leftVariances[i], v+c.model.Noise+c.known[i], axesPredicted)
		}
		mean, variances := testkit.Must2(post.Latent(t.Context(), c.at))(t)
		means, slopes := testkit.Must2(post.Gradient(t.Context(), c.at))(t)
		for i := range c.at.Len() {
			at := c.at.At(i)
			m, v := c.posterior(at)
			off("mean", mean[i], m, axesPredicted)
			off("variance", variances[i], v, axesPredicted)
			ofMean := axesDifferences(func(x []float64) float64 { m, _ := c.posterior(x); return m }, at)
			ofVariance := axesDifferences(func(x []float64) float64 { _, v := c.posterior(x); return v }, at)
			for a := range at {
				off("slope of the mean", means[i*len(at)+a], ofMean[a], axesSlope)
				off("slope of the variance", slopes[i*len(at)+a], ofVariance[a], axesSlope)
			}
		}
	}
	t.Log(worst)
}

// TestAxesConform: the conformance suite on kernels of axes.
func TestAxesConform(t *testing.T) {
	space, time := gppl.ARD(gppl.Matern52{Variance: 1.2}, 2, 3), gppl.Matern32{Variance: 0.7, Lengthscale: 1.5}
	for name, k := range map[string]gppl.Kernel{
		"on":          gppl.On(gppl.SE{Variance: 1, Lengthscale: 2}, 2, 0),
		"ard":         gppl.ARD(gppl.RQ{Variance: 1, Lengthscale: 7, Alpha: 1.3}, 2, 4, 3),
		"ard, period": gppl.ARD(gppl.LocPer{Variance: 1, Lengthscale: 7, Period: 0.9, PeriodicLengthscale: 1}, 4),
		"space-time":  gppl.Mul(gppl.On(space, 0, 1), gppl.On(time, 2)),
		"additive": gppl.Add(gppl.On(gppl.SE{Variance: 1, Lengthscale: 2}, 0), gppl.On(time, 1),
			gppl.White{Variance: 0.1}),
		"change": gppl.On(gppl.ChangePoint{Before: time, After: gppl.SE{Variance: 1, Lengthscale: 2}, Location: 4, Width: 1}, 1),
	} {
		t.Run(name, func(t *testing.T) { gppltest.CheckKernel(t, k) })
	}
	t.Run("own", func(t *testing.T) { gppltest.CheckKernelIn(t, Bayesian{0.7, 1.1}, 3) })
}
