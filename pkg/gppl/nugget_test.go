package gppl_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// covariance returns the covariance of two observations, by the definition: White is v for one
// with itself, and sums and products are what they say.
func covariance(k gppl.Kernel, r float64, self bool) float64 {
	switch k := k.(type) {
	case gppl.White:
		if self {
			return k.Variance
		}
		return 0
	case gppl.Sum:
		var sum float64
		for _, p := range k.Terms() {
			sum += covariance(p, r, self)
		}
		return sum
	case gppl.Product:
		product := 1.0
		for _, p := range k.Factors() {
			product *= covariance(p, r, self)
		}
		return product
	}
	v := []float64{r}
	k.Cov(v, v)
	return v[0]
}

// nuggetKernels have White in every place. With each are the engines that take it
// on an irregular series, beside the dense and the banded one.
func nuggetKernels() (cases []nuggetCase) {
	se, white := gppl.SE{Variance: 1.3, Lengthscale: 2}, gppl.White{Variance: 0.3}
	laplace := gppl.Laplace{Variance: 0.7, Lengthscale: 3}
	return []nuggetCase{
		{gppl.Kernel(white), nil},
		{gppl.Add(se, white), []string{gppl.EngineSpectral}},
		{gppl.Add(white, laplace, gppl.White{Variance: 0.1}), []string{gppl.EngineStateSpace}},
		{gppl.Mul(se, white), nil},
		{gppl.Mul(gppl.Add(se, white), gppl.Add(laplace, gppl.White{Variance: 0.2})), nil},
		{gppl.Add(laplace, gppl.Mul(white, se)), []string{gppl.EngineStateSpace}},
		{gppl.Mul(se, gppl.Add(gppl.SE{Variance: 0.8, Lengthscale: 9}, white)), []string{gppl.EngineSpectral}},
	}
}

type nuggetCase struct {
	kernel  gppl.Kernel
	engines []string
}

// denseNLL is the exact negative log likelihood, by the definition.
func denseNLL(m gppl.Model, x gppl.Inputs, y []float64) float64 {
	n := x.Len()
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			var r2 float64
			for c := range x.Dim() {
				r2 += (x.At(i)[c] - x.At(j)[c]) * (x.At(i)[c] - x.At(j)[c])
			}
			v := covariance(m.Kernel, math.Sqrt(r2), i == j)
			if i == j {
				v += m.Noise
			}
			a.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	chol.Factorize(a)
	var alpha mat.VecDense
	chol.SolveVecTo(&alpha, mat.NewVecDense(n, y))
	return 0.5 * (mat.Dot(&alpha, mat.NewVecDense(n, y)) + chol.LogDet() + float64(n)*math.Log(2*math.Pi))
}

// TestNugget compares every loss that is exact with the definition, for White
// anywhere in a kernel, duplicated inputs among the others: they share their
// signal but not their noise. Products with White get structured engines too.
func TestNugget(t *testing.T) {
	const n = 24
	rnd := rand.New(rand.NewPCG(71, 0))
	x, y := make([]float64, 2*n), make([]float64, n)
	for i := range y {
		x[2*i], x[2*i+1], y[i] = 20*rnd.Float64(), 3*rnd.Float64(), rnd.NormFloat64()
	}
	copy(x[2:4], x[:2])
	line, regular := make([]float64, n), make([]float64, n)
	for i := range line {
		line[i], regular[i] = x[2*i], float64(i)
	}
	for _, inputs := range []gppl.Inputs{gppl.Vectors(x, 2), gppl.Scalars(line), gppl.Scalars(regular)} {
		d, err := gppl.NewData(inputs, y)
		if err != nil {
			t.Fatal(err)
		}
		everything, err := gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, n, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range nuggetKernels() {
			k := c.kernel
			m := gppl.Model{Kernel: k, Noise: 0.2}
			logs := make([]float64, 0)
			for _, p := range m.Params() {
				logs = append(logs, math.Log(p.Value))
			}
			at := func(u []float64) gppl.Model {
				theta := make([]float64, len(u))
				for i, v := range u {
					theta[i] = math.Exp(v)
				}
				return m.WithParams(theta)
			}
			want := denseNLL(m, d.X, y)
			slope := fd.Gradient(nil, func(u []float64) float64 { return denseNLL(at(u), d.X, y) }, logs,
				&fd.Settings{Formula: fd.Central, Step: 1e-5})
			check := func(name string, l gppl.Loss) {
				theta := gppl.Values(l.Params())
				grad := make([]float64, len(theta))
				value, err := l.ValueGrad(t.Context(), grad, theta)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				if math.Abs(value-want) > 1e-7*n {
					t.Errorf("%s: %v, by the definition %v", name, value, want)
				}
				for p, s := range slope {
					if g := grad[p] * theta[p]; math.Abs(g-s) > 1e-6*n {
						t.Errorf("%s: derivative %d is %v, by the definition %v", name, p, g, s)
					}
				}
			}
			engines := []string{"", gppl.EngineDense}
			if d.X.Dim() == 1 {
				engines = append(append(engines, gppl.EngineBanded), c.engines...)
			}
			if d.X.At(1)[0] == 1 && covariance(k, 1, false) != 0 {
				engines = append(engines, gppl.EngineToeplitz)
			}
			for _, engine := range engines {
				l, err := gppl.NewExact(t.Context(), m, d, gppl.WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				check(fmt.Sprintf("%v, d = %d, %q", k, d.X.Dim(), engine), l)
			}
			pl, err := gppl.NewProjected(t.Context(), m, d, everything)
			if err != nil {
				t.Fatal(err)
			}
			check("PL, "+k.String(), pl)
			if d.X.Dim() == 2 && i == 5 { // K_uu of Laplace can be factorised; the bound is tight
				v, err := gppl.NewVFE(t.Context(), m, d, d.X.Slice(1, n), gppl.VFEOptions{FixInducing: true}) // all that are distinct
				if err != nil {
					t.Fatal(err)
				}
				check("VFE, "+k.String(), v)
			}
		}
	}
}

// TestNuggetPosterior: f at a new x has the nugget anew, and that is what its
// samples vary by; a product with White is conditioned like the sum that it is.
func TestNuggetPosterior(t *testing.T) {
	x, y := []float64{0, 1, 2, 4, 4}, []float64{0.3, -0.2, 0.5, 1, 0.7}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	long := gppl.SE{Variance: 2, Lengthscale: 3}
	sum := gppl.Model{Kernel: gppl.Add(gppl.SE{Variance: 2, Lengthscale: 3}, gppl.White{Variance: 0.6}), Noise: 0.1}
	product := gppl.Model{Kernel: gppl.Mul(long, gppl.Add(gppl.Periodic{Variance: 1, Lengthscale: 1e9, Period: 1},
		gppl.White{Variance: 0.3})), Noise: 0.1}
	plain := gppl.Model{Kernel: long, Noise: 0.7}
	at := gppl.Scalars([]float64{-1, 1, 3.5, 300})
	var means, variances [][]float64
	for _, m := range []gppl.Model{sum, product, plain} {
		p, err := gppl.NewPosterior(t.Context(), m, d)
		if err != nil {
			t.Fatal(err)
		}
		mean, v := testkit.Must2(p.Latent(t.Context(), at))(t)
		means, variances = append(means, mean), append(variances, v)
	}
	for i := range at.Len() {
		for j := range 2 {
			if math.Abs(means[j][i]-means[2][i]) > 1e-8 || math.Abs(variances[j][i]-variances[2][i]-0.6) > 1e-8 {
				t.Errorf("case %d at %v: %v ± %v, want %v ± %v + 0.6", j, at.At(i), means[j][i], variances[j][i], means[2][i],
					variances[2][i])
			}
		}
	}
}
