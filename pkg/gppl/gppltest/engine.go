package gppltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// CheckEngine checks that the named engine, forced, agrees with the dense one
// over a standard set of kernels, lengthscales, noise and inputs, for the exact
// NLL and for PL: values to 1e-8, relative to the value or to the number of
// observations (projections), whichever is more, and gradients, in the
// logarithms of the parameters, to 1e-6 of their norm, likewise. An engine may
// refuse a kernel with an error; it must take one case at least. Fallbacks do
// not happen to a forced engine, and the report must name it. Short tests take a
// fifth of the set.
func CheckEngine(t *testing.T, engine string) {
	t.Helper()
	taken := 0
	for i, c := range engineCases() {
		if testing.Short() && i%5 != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			took, err := c.compare(engine)
			if err != nil {
				t.Error(err)
			}
			if took {
				taken++
			}
		})
	}
	if taken == 0 {
		t.Errorf("the %s engine takes none of the standard cases", engine)
	}
}

type engineCase struct {
	name  string
	model gppl.Model
	data  gppl.Data
	proj  *gppl.Projection // nil: the exact NLL
}

// compare reports whether the engine took the case, and what was wrong.
func (c engineCase) compare(engine string) (took bool, err error) {
	build := func(name string) (gppl.Loss, error) {
		if c.proj == nil {
			return gppl.NewExact(c.model, c.data, gppl.WithEngine(name))
		}
		return gppl.NewProjected(c.model, c.data, c.proj, gppl.WithEngine(name))
	}
	loss, err := build(engine)
	if err != nil {
		return false, nil // refused: it says why
	}
	value, grad, err := valueGradLog(loss)
	if err != nil {
		return false, nil
	}
	dense, err := build(gppl.EngineDense)
	if err != nil {
		return true, err
	}
	want, wantGrad, err := valueGradLog(dense)
	if err != nil {
		return true, fmt.Errorf("dense: %w", err)
	}
	terms := float64(c.data.Len())
	if c.proj != nil {
		_, k := c.proj.Dims()
		terms = float64(k)
	}
	if !(math.Abs(value-want) <= 1e-8*max(terms, math.Abs(want))) {
		return true, fmt.Errorf("%s: %v, dense %v, difference %.3g", engine, value, want, value-want)
	}
	var diff, norm float64
	for i, g := range wantGrad {
		diff, norm = math.Hypot(diff, grad[i]-g), math.Hypot(norm, g)
	}
	if !(diff <= 1e-6*max(terms, norm)) {
		return true, fmt.Errorf("%s: gradient in logs %v, dense %v", engine, grad, wantGrad)
	}
	for _, name := range strings.Split(loss.Report().Engine, " + ") {
		if name != engine {
			return true, fmt.Errorf("%s was forced, but %q is reported", engine, loss.Report().Engine)
		}
	}
	return true, nil
}

// valueGradLog evaluates a loss at its own parameters.
func valueGradLog(l gppl.Loss) (value float64, grad []float64, err error) {
	params := l.Params()
	theta := make([]float64, len(params))
	for i, p := range params {
		theta[i] = p.Value
	}
	grad = make([]float64, len(theta))
	value, err = l.ValueGrad(grad, theta)
	for i := range grad {
		grad[i] *= theta[i]
	}
	return value, grad, err
}

// engineCases is the standard set.
func engineCases() (cases []engineCase) {
	kernels := func(l float64) []gppl.Kernel {
		se, laplace := gppl.SE{Variance: 1.2, Lengthscale: l}, gppl.Laplace{Variance: 0.7, Lengthscale: l}
		periodic := gppl.Periodic{Variance: 0.5, Lengthscale: 0.9, Period: 2 * l}
		return []gppl.Kernel{
			se, laplace,
			gppl.Matern32{Variance: 0.9, Lengthscale: l},
			gppl.Matern52{Variance: 0.9, Lengthscale: l},
			gppl.RQ{Variance: 1, Lengthscale: l, Alpha: 1.5},
			periodic,
			gppl.LocPer{Variance: 1, Lengthscale: 3 * l, Period: l, PeriodicLengthscale: 0.8},
			gppl.Add(se, gppl.White{Variance: 0.2}),
			gppl.Add(laplace, gppl.Matern52{Variance: 0.4, Lengthscale: 3 * l}, gppl.White{Variance: 0.1}),
			gppl.Add(se, periodic),
			gppl.Mul(gppl.SE{Variance: 1, Lengthscale: 4 * l}, periodic),
		}
	}
	designs := []gppl.Design{nil, gppl.Sphere{}, nil, gppl.OneHot{}, nil, gppl.Spectral{}, nil, gppl.Raw{Design: gppl.Sphere{}}}
	sizes := []int{1, 70, 2, 130, 64, 33}
	rnd := rand.New(rand.NewPCG(21, 0))
	turn := 0
	for _, l := range []float64{1.5, 6, 60} { // on a range of about 30
		for _, noise := range []float64{0.01, 0.3} {
			for _, k := range kernels(l) {
				for range 2 {
					design, n := designs[turn%len(designs)], sizes[turn/2%len(sizes)]
					x, y := make([]float64, n), make([]float64, n)
					for i := range x {
						x[i] = 1e6 + 30*rnd.Float64()
						if i%7 == 6 {
							x[i] = x[i-1]
						}
						y[i] = math.Sin(x[i]-1e6) + math.Sqrt(noise)*rnd.NormFloat64()
					}
					turn++
					c := engineCase{model: gppl.Model{Kernel: k, Noise: noise}}
					var err error
					if c.data, err = gppl.NewData(gppl.Scalars(x), y); err != nil {
						panic(err)
					}
					c.name = fmt.Sprintf("%v/noise=%v/n=%d", k, noise, n)
					if design != nil {
						if c.proj, err = gppl.NewProjection(design, c.data.X, 1+n/4, 1); err != nil {
							continue // Spectral needs a range
						}
						c.name += "/" + design.String()
					}
					cases = append(cases, c)
				}
			}
		}
	}
	return cases
}
