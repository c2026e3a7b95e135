package gppl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// meanReference is the negative log likelihood of a model with a mean, of the data or of
// their projections Ωᵀy, by dense algebra alone, its gradient in log θ, noise last, and the
// regression. It is what losses with a mean are to be compared with.
func meanReference(t *testing.T, m Model, d Data, omega *mat.Dense) (value float64, grad []float64, fit *regress.Fit) {
	t.Helper()
	n := d.Len()
	r := make([]float64, n*n)
	distances(r, d.X, d.X)
	cov := make([]float64, n*n)
	m.Kernel.Cov(cov, r)
	full := mat.NewDense(n, n, cov)
	nugget := capability.Nugget(m.Kernel)
	for i := range n {
		full.Set(i, i, full.At(i, i)+m.Noise+nugget)
	}
	h, err := basisAt(m.Mean, d.X)
	if err != nil {
		t.Fatal(err)
	}
	y := mat.NewDense(n, 1, append([]float64(nil), d.Y...))
	if omega == nil {
		omega = mat.NewDense(n, n, nil)
		for i := range n {
			omega.Set(i, i, 1)
		}
	}
	project := func(b mat.Matrix) *mat.Dense {
		var p mat.Dense
		p.Mul(omega.T(), b)
		return &p
	}
	half, h, y := project(full), project(h), project(y)
	_, k := omega.Dims()
	a := mat.NewSymDense(k, nil)
	var whole mat.Dense
	whole.Mul(half, omega)
	for i := range k {
		for j := i; j < k; j++ {
			a.SetSym(i, j, 0.5*(whole.At(i, j)+whole.At(j, i)))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		t.Fatal("the covariance is not positive definite")
	}
	basis, err := regressionOn(t.Context(), m.Mean, h)
	if err != nil {
		t.Fatal(err)
	}
	c := mat.NewDense(k, 1+basis.Len(), nil)
	c.SetCol(0, mat.Col(nil, 0, y))
	for j := range basis.Len() {
		c.SetCol(1+j, mat.Col(nil, j, basis.Q))
	}
	var ac, g mat.Dense
	if err := chol.SolveTo(&ac, c); err != nil {
		t.Fatal(err)
	}
	g.Mul(c.T(), &ac)
	gram := mat.NewSymDense(1+basis.Len(), nil)
	for i := range 1 + basis.Len() {
		for j := i; j < 1+basis.Len(); j++ {
			gram.SetSym(i, j, 0.5*(g.At(i, j)+g.At(j, i)))
		}
	}
	if fit, err = basis.NewFit(gram, nil); err != nil {
		t.Fatal(err)
	}
	value = 0.5*(gram.At(0, 0)+chol.LogDet()+float64(k)*log2Pi) + fit.Value()

	// ½⟨V, Ωᵀ∂AΩ⟩, V = A⁻¹ − A⁻¹C W CᵀA⁻¹.
	var v mat.SymDense
	if err := chol.InverseTo(&v); err != nil {
		t.Fatal(err)
	}
	var acw, less, back, weights mat.Dense
	root := mat.NewDense(gram.SymmetricDim(), gram.SymmetricDim(), nil)
	fit.Root(root.RawMatrix().Data)
	acw.Mul(&ac, root)
	less.Mul(&acw, acw.T())
	less.Sub(&v, &less)
	back.Mul(omega, &less)
	weights.Mul(&back, omega.T())
	weights.Scale(0.5, &weights)
	grad = make([]float64, len(m.Params()))
	last := len(grad) - 1
	m.Kernel.Contract(grad[:last], weights.RawMatrix().Data, r)
	trace := mat.Trace(&weights)
	contractNugget(grad[:last], m.Kernel, trace)
	grad[last] = m.Noise * trace
	return value, grad, fit
}

func meanCase(t *testing.T, mean Mean) (Model, Data) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 9))
	const n = 40
	x, y, wind := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 10 * rnd.Float64()
		wind[i] = rnd.NormFloat64()
		y[i] = 3 + 0.4*x[i] - 0.7*wind[i] + math.Sin(2*x[i]) + 0.3*rnd.NormFloat64()
	}
	d, err := NewData(Scalars(x).WithColumn("wind", wind), y)
	if err != nil {
		t.Fatal(err)
	}
	return Model{Kernel: Add(SE{0.8, 1.1}, Matern32{0.3, 4}, White{0.05}), Noise: 0.1, Mean: mean}, d
}

// TestMeanReferenceGradient: the gradient by the weights of the regression equals the gradient of the
// value, for flat, Gaussian and mixed priors, of data and of projections.
func TestMeanReferenceGradient(t *testing.T) {
	for _, mean := range []Mean{
		Intercept{},
		AddMeans(Intercept{}, Trend{2, 0, 10}, Regressor{"wind"}, Step{4}),
		GaussianBeta{AddMeans(Linear{5}, Kink{3}), []float64{0.5, 2}},
		AddMeans(Intercept{}, GaussianBeta{Fourier{3, 2}, []float64{0.3}}, Kink{6}),
	} {
		m, d := meanCase(t, mean)
		omega := mat.NewDense(d.Len(), 15, nil)
		rnd := rand.New(rand.NewPCG(1, 1))
		for i := range d.Len() {
			for j := range 15 {
				omega.Set(i, j, rnd.NormFloat64())
			}
		}
		for name, omega := range map[string]*mat.Dense{"data": nil, "projections": omega} {
			_, got, _ := meanReference(t, m, d, omega)
			u := make([]float64, len(got))
			for i, p := range m.Params() {
				u[i] = math.Log(p.Value)
			}
			want := fd.Gradient(nil, func(u []float64) float64 {
				theta := make([]float64, len(u))
				for i, v := range u {
					theta[i] = math.Exp(v)
				}
				v, _, _ := meanReference(t, m.WithParams(theta), d, omega)
				return v
			}, u, &fd.Settings{Formula: fd.Central, Step: 1e-4})
			for i, p := range m.Params() {
				if math.Abs(got[i]-want[i]) > 1e-6*(1+math.Abs(want[i])) {
					t.Errorf("%v, %s, %s: got %v, by differences %v", mean, name, p.Name, got[i], want[i])
				}
			}
		}
	}
}

// TestMeanReferenceIdentities: what a loss with a mean has to fulfil, at 1e-8.
func TestMeanReferenceIdentities(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-8*max(1, math.Abs(want))) {
			t.Errorf("%s: got %.12g, want %.12g", what, got, want)
		}
	}
	trend := AddMeans(Intercept{}, Trend{2, 0, 10}, Regressor{"wind"})
	m, d := meanCase(t, trend)
	value, grad, fit := meanReference(t, m, d, nil)

	// Another basis of the same functions is the same model with flat priors.
	m.Mean = AddMeans(Regressor{"wind"}, Trend{2, -50, 7}, Step{-1}) // the step is 1 everywhere
	other, otherGrad, _ := meanReference(t, m, d, nil)
	near("another basis", other, value)
	for p := range grad {
		near("gradient in another basis", otherGrad[p], grad[p])
	}

	// What the basis explains does not count.
	m.Mean = trend
	shifted := Data{X: d.X, Y: append([]float64(nil), d.Y...)}
	wind, _ := d.X.Column("wind")
	for i := range shifted.Y {
		shifted.Y[i] += 100 - 3*d.X.at[i] + 5*wind[i]
	}
	same, _, shiftedFit := meanReference(t, m, shifted, nil)
	near("y with more of the basis", same, value)
	near("its coefficient", shiftedFit.Beta()[3]-fit.Beta()[3], 5)

	// n orthonormal projections are the data.
	rnd := rand.New(rand.NewPCG(5, 5))
	square := mat.NewDense(d.Len(), d.Len(), nil)
	for i := range d.Len() {
		for j := range d.Len() {
			square.Set(i, j, rnd.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(square)
	var omega mat.Dense
	qr.QTo(&omega)
	projected, projectedGrad, projectedFit := meanReference(t, m, d, &omega)
	near("n projections", projected, value)
	for p := range grad {
		near("gradient of n projections", projectedGrad[p], grad[p])
	}
	for j, b := range fit.Beta() {
		near("β̂ of n projections", projectedFit.Beta()[j], b)
	}

	// Gaussian priors are the degenerate kernel hᵀBh′: here, of an intercept, a constant
	// covariance, which SE is at an endless lengthscale.
	m.Mean = GaussianBeta{Intercept{}, []float64{2.5}}
	gaussian, _, _ := meanReference(t, m, d, nil)
	constant := m
	constant.Mean = nil
	constant.Kernel = Add(m.Kernel, SE{2.5, 1e12})
	loss, err := NewExact(t.Context(), constant, d, WithEngine(EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	want, err := loss.ValueGrad(t.Context(), nil, Values(constant.Params()))
	if err != nil {
		t.Fatal(err)
	}
	near("a constant covariance", gaussian, want)
}
