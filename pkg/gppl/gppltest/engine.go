package gppltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
)

// CheckEngine checks that the named engine, forced, agrees with the dense one over a standard set of kernels, lengthscales,
// noise and inputs, for the exact NLL and for PL. Values must agree to 1e-8, relative to the larger of the value and the
// number of observations (projections); gradients, in the logarithms of the parameters, to 1e-6 of their norm, likewise. A
// forced engine has no fallback, and the report must name it. Unless GPPL_LONG is set, tests use a fifth of the set. Cases
// that the engine itself estimates to take longer than 0.3 s (0.05 s in quick tests) are left out, such as rough kernels by
// their spectrum.
//
// An engine may refuse a case by a gppl.Refusal, unless must returns true for it; proj is nil for the exact NLL. A nil must
// allows every refusal. Any other error is a failure. The engine must accept at least one case.
func CheckEngine(t *testing.T, engine string, must func(m gppl.Model, d gppl.Data, proj *gppl.Projection) bool) {
	t.Helper()
	taken := 0
	for i, c := range EngineCases() {
		if testkit.Quick() && i%5 != 0 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			err := c.compare(t.Context(), engine)
			if errors.Is(err, errLong) {
				t.Skip(err)
			}
			switch refusal := (*gppl.Refusal)(nil); {
			case err == nil:
				taken++
			case !errors.As(err, &refusal):
				t.Error(err)
			case refusal.Reason == "":
				t.Errorf("%s refuses without a reason", engine)
			case must != nil && must(c.Model, c.Data, c.Proj):
				t.Errorf("must take this case: %v", err)
			}
		})
	}
	if taken == 0 {
		t.Errorf("the %s engine takes none of the standard cases", engine)
	}
}

// EngineCase is one case of the standard set of CheckEngine.
type EngineCase struct {
	Name  string
	Model gppl.Model
	Data  gppl.Data
	Proj  *gppl.Projection // nil for the exact NLL
}

// longest returns the limit on the engine's own estimate for a case, in seconds.
func longest() float64 {
	if testkit.Quick() {
		return 0.05
	}
	return 0.3
}

var errLong = errors.New("it would take too long")

// compare returns nil, a Refusal, errLong, or an error that describes the difference.
func (c EngineCase) compare(ctx context.Context, engine string) error {
	build := func(name string) (gppl.Loss, error) {
		if c.Proj == nil {
			return gppl.NewExact(ctx, c.Model, c.Data, gppl.WithEngine(name))
		}
		return gppl.NewProjected(ctx, c.Model, c.Data, c.Proj, gppl.WithEngine(name))
	}
	loss, err := build(engine)
	if err != nil {
		return err
	}
	if seconds := capability.Seconds(loss, c.Model.Values()); seconds > longest() && !math.IsInf(seconds, 1) {
		return fmt.Errorf("%w: %.2g s", errLong, seconds)
	}
	value, grad, err := valueGradLog(ctx, loss)
	if err != nil {
		return err
	}
	dense, err := build(gppl.EngineDense)
	if err != nil {
		return fmt.Errorf("dense: %v", err)
	}
	want, wantGrad, err := valueGradLog(ctx, dense)
	if err != nil {
		return fmt.Errorf("dense: %v", err)
	}
	terms := float64(c.Data.Len())
	if c.Proj != nil {
		_, k := c.Proj.Dims()
		terms = float64(k)
	}
	if !(math.Abs(value-want) <= 1e-8*max(terms, math.Abs(want))) {
		return fmt.Errorf("%s: %v, dense %v, difference %.3g", engine, value, want, value-want)
	}
	if !(floats.Distance(grad, wantGrad, 2) <= 1e-6*max(terms, floats.Norm(wantGrad, 2))) {
		return fmt.Errorf("%s: gradient in logs %v, dense %v", engine, grad, wantGrad)
	}
	for _, name := range strings.Split(loss.Report().Engine, " + ") {
		if name != engine {
			return fmt.Errorf("%s was forced, but %q is reported", engine, loss.Report().Engine)
		}
	}
	return nil
}

// valueGradLog evaluates a loss at its own parameters.
func valueGradLog(ctx context.Context, l gppl.Loss) (value float64, grad []float64, err error) {
	params := l.Params()
	theta := gppl.Values(params)
	grad = make([]float64, len(theta))
	value, err = l.ValueGrad(ctx, grad, theta)
	floats.Mul(grad, theta)
	return value, grad, err
}

// EngineCases returns the standard set of CheckEngine, some 300 cases, the same at each call.
func EngineCases() (cases []EngineCase) {
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
			gppl.SHO{Variance: 0.8, Period: 2 * l, Quality: 1.5},
			gppl.DampedTrend{Variance: 0.9, Lengthscale: 4 * l, Memory: 0.1},
			gppl.Add(gppl.Rotation{Variance: 1, Period: l, Quality: 0.8, Difference: 0.5, Mix: 0.3}, gppl.White{Variance: 0.1}),
			gppl.Mul(gppl.Matern32{Variance: 1, Lengthscale: 4 * l}, periodic),
			gppl.Add(gppl.Mul(laplace, gppl.Cosine{Variance: 1, Period: 0.7 * l}), gppl.Cosine{Variance: 0.3, Period: 3 * l}),
			gppl.Add(gppl.SpectralMixture{Variance: 1, Lengthscale: 2 * l, Period: l},
				gppl.SpectralMixture{Variance: 0.4, Lengthscale: 0.7 * l, Period: 3 * l}),
		}
	}
	designs := []gppl.Design{nil, gppl.Sphere{}, nil, gppl.OneHot{}, nil, gppl.Spectral{}, nil, gppl.Raw{Design: gppl.Sphere{}}}
	sizes := []int{1, 70, 2, 130, 64, 33}
	rnd := rand.New(rand.NewPCG(21, 0))
	turn := 0
	for _, l := range []float64{1.5, 6, 60} { // the range is about 30
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
					c := EngineCase{Model: gppl.Model{Kernel: k, Noise: noise}}
					var err error
					if c.Data, err = gppl.NewData(gppl.Scalars(x), y); err != nil {
						panic(err)
					}
					c.Name = fmt.Sprintf("%v/noise=%v/n=%d", k, noise, n)
					if design != nil {
						if c.Proj, err = gppl.NewProjection(context.Background(), design, c.Data.X, 1+n/4, 1); err != nil {
							continue // Spectral needs a range
						}
						c.Name += "/" + design.String()
					}
					cases = append(cases, c)
				}
				cases = append(cases, regularCase(k, noise, sizes[turn%len(sizes)], turn%3, rnd))
			}
		}
	}
	return cases
}

// regularCase is the exact NLL at n places with a constant step, some of them missing.
func regularCase(k gppl.Kernel, noise float64, n, missing int, rnd *rand.Rand) EngineCase {
	n = max(n, 20+missing)
	gaps := map[int]bool{}
	for len(gaps) < missing {
		gaps[1+rnd.IntN(n-2)] = true
	}
	var x, y []float64
	for i := range n {
		if !gaps[i] {
			x = append(x, -7+30*float64(i)/float64(n-1))
			y = append(y, math.Sin(float64(i))+math.Sqrt(noise)*rnd.NormFloat64())
		}
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		panic(err)
	}
	return EngineCase{
		Name:  fmt.Sprintf("%v/noise=%v/n=%d/regular/missing=%d", k, noise, n, missing),
		Model: gppl.Model{Kernel: k, Noise: noise}, Data: d,
	}
}
