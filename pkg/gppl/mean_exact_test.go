package gppl_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// meanCase is a model with a mean and data from somewhere else, so that nothing
// cancels by chance.
type meanCase struct {
	name    string
	model   gppl.Model
	data    gppl.Data
	engines []string // engines that must support it, beside the dense one
}

func meanCases(n int) []meanCase {
	rnd := rand.New(rand.NewPCG(3, uint64(n)))
	irregular, regular, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range irregular {
		irregular[i] = 2020 + (float64(i)+0.6*rnd.Float64())/12
		regular[i] = 2020 + float64(i)/12
		y[i] = 300 + 2*float64(i)/12 + math.Sin(float64(i)/5) + 0.3*rnd.NormFloat64()
	}
	trend := func(x []float64) gppl.Mean { return gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(1, gppl.Scalars(x))) }
	rich := func(x []float64) gppl.Mean {
		return gppl.AddMeans(trend(x), gppl.Fourier{Period: 1, Harmonics: 1},
			gppl.GaussianBeta{Of: gppl.Step{At: 2022.5}, Variances: []float64{4}})
	}
	se, rough := gppl.SE{Variance: 1.3, Lengthscale: 0.4}, gppl.Matern32{Variance: 1.3, Lengthscale: 0.4}
	return []meanCase{
		{"SE", gppl.Model{Kernel: se, Noise: 0.1, Mean: trend(irregular)}, gppl.Data{X: gppl.Scalars(irregular), Y: y},
			[]string{gppl.EngineSpectral, gppl.EngineBanded, gppl.EngineGridded}},
		{"SE, regular", gppl.Model{Kernel: se, Noise: 0.1, Mean: rich(regular)}, gppl.Data{X: gppl.Scalars(regular), Y: y},
			[]string{gppl.EngineSpectral, gppl.EngineBanded, gppl.EngineGridded, gppl.EngineToeplitz}},
		{"Matern32", gppl.Model{Kernel: rough, Noise: 0.1, Mean: rich(irregular)}, gppl.Data{X: gppl.Scalars(irregular), Y: y},
			[]string{gppl.EngineStateSpace, gppl.EngineBanded}},
		{"SE + Laplace + White", gppl.Model{Kernel: gppl.Add(se, gppl.Laplace{Variance: 0.2, Lengthscale: 1},
			gppl.White{Variance: 0.05}), Noise: 0.1, Mean: trend(irregular)},
			gppl.Data{X: gppl.Scalars(irregular), Y: y}, []string{gppl.EngineBanded}},
	}
}

// denseWithMean is the NLL by dense formulas: y − Hβ̂ and log determinants for flat
// columns, A + HBHᵀ for the others.
func denseWithMean(t *testing.T, c meanCase) float64 {
	t.Helper()
	h, err := c.model.Mean.Basis(c.data.X)
	if err != nil {
		t.Fatal(err)
	}
	n := c.data.Len()
	a := covarianceOfData(c)
	var flat []int
	for j, column := range c.model.Mean.Columns() {
		if math.IsInf(column.Variance, 1) {
			flat = append(flat, j)
			continue
		}
		for i := range n {
			for k := i; k < n; k++ {
				a.SetSym(i, k, a.At(i, k)+column.Variance*h.At(i, j)*h.At(k, j))
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		t.Fatal("not positive definite")
	}
	f := mat.NewDense(n, len(flat), nil)
	for k, j := range flat {
		f.SetCol(k, mat.Col(nil, j, h))
	}
	var qr mat.QR
	qr.Factorize(f)
	var q mat.Dense
	qr.QTo(&q)
	basis := q.Slice(0, n, 0, len(flat))
	y := mat.NewVecDense(n, append([]float64(nil), c.data.Y...))
	for range 2 {
		var along, part mat.VecDense
		along.MulVec(basis.T(), y)
		part.MulVec(basis, &along)
		y.SubVec(y, &part)
	}
	var solved, g mat.Dense
	if err := chol.SolveTo(&solved, basis); err != nil {
		t.Fatal(err)
	}
	g.Mul(basis.T(), &solved)
	var gc mat.Cholesky
	if !gc.Factorize(symmetricOf(&g)) {
		t.Fatal("no regression")
	}
	var right, beta, rest, alpha mat.VecDense
	right.MulVec(solved.T(), y)
	if err := gc.SolveVecTo(&beta, &right); err != nil {
		t.Fatal(err)
	}
	rest.MulVec(basis, &beta)
	rest.SubVec(y, &rest)
	if err := chol.SolveVecTo(&alpha, &rest); err != nil {
		t.Fatal(err)
	}
	return 0.5 * (mat.Dot(&rest, &alpha) + chol.LogDet() + gc.LogDet() + float64(n-len(flat))*math.Log(2*math.Pi))
}

func symmetricOf(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, 0.5*(a.At(i, j)+a.At(j, i)))
		}
	}
	return s
}

// covarianceOf is K + σ²I by the kernel alone.
func covarianceOf(m gppl.Model, x gppl.Inputs) *mat.SymDense {
	n := x.Len()
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			r := []float64{math.Abs(x.At(i)[0] - x.At(j)[0])}
			m.Kernel.Cov(r, r)
			a.SetSym(i, j, r[0])
		}
		a.SetSym(i, i, a.At(i, i)+m.Noise+capability.Nugget(m.Kernel))
	}
	return a
}

// covarianceOfData is the same with the errors of the observations.
func covarianceOfData(c meanCase) *mat.SymDense {
	a := covarianceOf(c.model, c.data.X)
	for i, e := range c.data.Relative {
		a.SetSym(i, i, a.At(i, i)+(e*e-1)*(c.model.Noise+capability.Nugget(c.model.Kernel)))
	}
	for i, s := range c.data.Errors {
		a.SetSym(i, i, a.At(i, i)+s*s)
	}
	return a
}

// TestMeanExact: the likelihood with a mean against dense formulas, and its gradient
// against differences, by every engine.
func TestMeanExact(t *testing.T) {
	for _, c := range meanCases(80) {
		want := denseWithMean(t, c)
		for _, engine := range append(c.engines, gppl.EngineDense, "") {
			t.Run(fmt.Sprintf("%s/%s", c.name, engine), func(t *testing.T) {
				l, err := gppl.NewExact(t.Context(), c.model, c.data, gppl.WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				got, err := l.ValueGrad(t.Context(), nil, gppl.Values(l.Params()))
				if err != nil {
					t.Fatal(err)
				}
				if off := math.Abs(got - want); off > 1e-8*80 {
					t.Errorf("value %.12g, dense formulas give %.12g: off by %.2g", got, want, off)
				}
				checkGradient(t, c, engine)
			})
		}
	}
}

// TestMeanInvariance: the restricted likelihood does not depend on the scaling of the
// basis, nor on what y has of its flat columns.
func TestMeanInvariance(t *testing.T) {
	c := meanCases(60)[0]
	value := func(m gppl.Mean, y []float64) float64 {
		model := c.model
		model.Mean = m
		l, err := gppl.NewExact(t.Context(), model, gppl.Data{X: c.data.X, Y: y}, gppl.WithEngine(gppl.EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		theta := gppl.Values(l.Params())
		v, err := l.ValueGrad(t.Context(), nil, theta)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := value(c.model.Mean, c.data.Y)
	scaled := gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(1, gppl.Scalars([]float64{2000, 2500})))
	if got := value(scaled, c.data.Y); math.Abs(got-want) > 1e-8 {
		t.Errorf("%v with a trend in other coordinates, want %v", got, want)
	}
	moved := append([]float64(nil), c.data.Y...)
	for i := range moved {
		moved[i] += 1e6 - 400*c.data.X.At(i)[0]
	}
	if got := value(c.model.Mean, moved); math.Abs(got-want) > 1e-6 {
		t.Errorf("%v with another trend in y, want %v", got, want)
	}
}

// TestMeanPosterior: means, variances and samples' covariance against the formulas of
// Rasmussen and Williams, eq. 2.41 and 2.42, inside, beside and far from the data.
func TestMeanPosterior(t *testing.T) {
	for _, c := range meanCases(70) {
		x := gppl.Scalars([]float64{2019.2, 2020.03, 2023.4, 2027, 2060, 2500})
		mean, variances := denseMeanPosterior(t, c, x)
		for _, engine := range append(c.engines, gppl.EngineDense, "") {
			t.Run(fmt.Sprintf("%s/%s", c.name, engine), func(t *testing.T) {
				p, err := gppl.NewPosterior(t.Context(), c.model, c.data, gppl.WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				m, v := testkit.Must2(p.Latent(t.Context(), x))(t)
				for i := range m {
					if math.Abs(m[i]-mean[i]) > 1e-7*(1+math.Abs(mean[i])) || math.Abs(v[i]-variances[i]) > 1e-7*(1+variances[i]) {
						t.Errorf("x = %v: %.10g ± %.10g², want %.10g ± %.10g²", x.At(i)[0], m[i], v[i], mean[i], variances[i])
					}
				}
				f, err := p.Sample(t.Context(), x, 4000, 1)
				if err != nil {
					t.Fatal(err)
				}
				for i := range m {
					var sum, squares float64
					for _, row := range f {
						sum += row.F[i] - m[i]
						squares += (row.F[i] - m[i]) * (row.F[i] - m[i])
					}
					if z := sum / math.Sqrt(variances[i]*4000); math.Abs(z) > 4.5 {
						t.Errorf("x = %v: the mean of samples is %.1f standard errors off", x.At(i)[0], z)
					}
					if ratio := squares / 4000 / variances[i]; math.Abs(ratio-1) > 0.12 {
						t.Errorf("x = %v: the variance of samples is %.3g of the posterior's", x.At(i)[0], ratio)
					}
				}
			})
		}
	}
}

func denseMeanPosterior(t *testing.T, c meanCase, at gppl.Inputs) (mean, variances []float64) {
	t.Helper()
	n := c.data.Len()
	h, err := c.model.Mean.Basis(c.data.X)
	if err != nil {
		t.Fatal(err)
	}
	hs, err := c.model.Mean.Basis(at)
	if err != nil {
		t.Fatal(err)
	}
	_, cols := h.Dims()
	var chol mat.Cholesky
	if !chol.Factorize(covarianceOfData(c)) {
		t.Fatal("not positive definite")
	}
	var solved, g mat.Dense
	if err := chol.SolveTo(&solved, h); err != nil {
		t.Fatal(err)
	}
	g.Mul(h.T(), &solved)
	gs := symmetricOf(&g)
	for j, column := range c.model.Mean.Columns() {
		if !math.IsInf(column.Variance, 1) {
			gs.SetSym(j, j, gs.At(j, j)+1/column.Variance)
		}
	}
	var gc mat.Cholesky
	if !gc.Factorize(gs) {
		t.Fatal("no regression")
	}
	y := mat.NewVecDense(n, c.data.Y)
	var right, beta, rest, alpha mat.VecDense
	right.MulVec(solved.T(), y)
	if err := gc.SolveVecTo(&beta, &right); err != nil {
		t.Fatal(err)
	}
	rest.MulVec(h, &beta)
	rest.SubVec(y, &rest)
	if err := chol.SolveVecTo(&alpha, &rest); err != nil {
		t.Fatal(err)
	}
	zero := []float64{0}
	c.model.Kernel.Cov(zero, zero)
	for i := range at.Len() {
		k := mat.NewVecDense(n, nil)
		for j := range n {
			r := []float64{math.Abs(at.At(i)[0] - c.data.X.At(j)[0])}
			c.model.Kernel.Cov(r, r)
			k.SetVec(j, r[0])
		}
		var ak, r, gr mat.VecDense
		if err := chol.SolveVecTo(&ak, k); err != nil {
			t.Fatal(err)
		}
		r.MulVec(solved.T(), k)
		r.SubVec(mat.NewVecDense(cols, mat.Row(nil, i, hs)), &r)
		if err := gc.SolveVecTo(&gr, &r); err != nil {
			t.Fatal(err)
		}
		mean = append(mean, mat.Dot(mat.NewVecDense(cols, mat.Row(nil, i, hs)), &beta)+mat.Dot(k, &alpha))
		variances = append(variances, zero[0]+capability.Nugget(c.model.Kernel)-mat.Dot(k, &ak)+mat.Dot(&r, &gr))
	}
	return mean, variances
}
