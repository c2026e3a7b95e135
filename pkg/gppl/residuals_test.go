package gppl_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestResiduals compares α and the diagonal of P with what leaving out tells, and the likelihood of other observations with one
// made for them, by every engine that takes the case.
func TestResiduals(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 1))
	const n = 60
	x, y, errs := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i], errs[i] = 10*rnd.Float64(), 3+rnd.NormFloat64(), 0.2+rnd.Float64()
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	known, err := d.WithErrors(ones)
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]int{}
	for _, kernel := range []gppl.Kernel{
		gppl.Laplace{Variance: 1, Lengthscale: 2}, gppl.Matern32{Variance: 1, Lengthscale: 2},
		gppl.Matern52{Variance: 1, Lengthscale: 2}, gppl.SE{Variance: 1, Lengthscale: 1},
		gppl.SHO{Variance: 1, Period: 3, Quality: 2}, gppl.Rotation{Variance: 1, Period: 3, Quality: 2, Difference: 0.5, Mix: 0.3},
		gppl.Add(gppl.Matern32{Variance: 1, Lengthscale: 2}, gppl.Laplace{Variance: 0.5, Lengthscale: 1}),
		gppl.Add(gppl.Matern32{Variance: 1, Lengthscale: 2}, gppl.White{Variance: 0.1}),
		gppl.Add(gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 3}, gppl.Laplace{Variance: 0.5, Lengthscale: 1}),
		gppl.Add(gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 3}, gppl.SE{Variance: 0.5, Lengthscale: 0.05}),
	} {
		for _, mean := range []gppl.Mean{nil, gppl.Intercept{}, gppl.AddMeans(gppl.Intercept{},
			gppl.GaussianBeta{Of: gppl.Linear{}, Variances: []float64{0.25}})} {
			m := gppl.Model{Kernel: kernel, Noise: 0.05, Mean: mean}
			for _, engine := range []string{gppl.EngineStateSpace, gppl.EngineDense, gppl.EngineBanded, gppl.EngineSpectral, gppl.EngineMixed} {
				first, err := gppl.NewExact(t.Context(), m, known, gppl.WithEngine(engine), gppl.WithTolerance(1e-11), gppl.WithSeconds(0.01))
				if err != nil {
					t.Fatal(err)
				}
				moved := make([]float64, n)
				for i := range moved {
					moved[i] = -1 + y[i]*y[i]
				}
				l, err := first.WithObservations(moved, errs)
				if err != nil {
					t.Fatal(err)
				}
				alpha, precisions, grad := make([]float64, n), make([]float64, n), make([]float64, len(m.Params()))
				value, err := l.Residuals(context.Background(), alpha, precisions, grad, m.Values())
				if errors.As(err, new(*gppl.Refusal)) {
					continue
				}
				if err != nil {
					t.Errorf("%v, %s: %v", m, engine, err)
					continue
				}
				taken[engine]++
				other, err := gppl.NewData(d.X, moved)
				if err != nil {
					t.Fatal(err)
				}
				if other, err = other.WithErrors(errs); err != nil {
					t.Fatal(err)
				}
				exact, err := gppl.NewExact(t.Context(), m, other, gppl.WithEngine(engine), gppl.WithTolerance(1e-11), gppl.WithSeconds(0.01))
				if err != nil {
					t.Fatal(err)
				}
				wantGrad := make([]float64, len(grad))
				want, err := exact.ValueGrad(t.Context(), wantGrad, m.Values())
				if err != nil || math.Abs(value-want) > 1e-9 {
					t.Errorf("%v, %s: value %v, of a loss made for the data %v (%v)", m, engine, value, want, err)
				}
				for p, g := range wantGrad {
					if math.Abs(grad[p]-g) > 1e-8*(1+math.Abs(g)) {
						t.Errorf("%v, %s: gradient %v, want %v", m, engine, grad, wantGrad)
					}
				}
				all, err := gppl.NewExact(t.Context(), m, known, gppl.WithTolerance(1e-11))
				if err != nil {
					t.Fatal(err)
				}
				one, err := all.OnlyEngine(engine).WithObservations(moved, errs)
				if err != nil {
					t.Fatal(err)
				}
				clear(wantGrad)
				if v, err := one.ValueGrad(t.Context(), wantGrad, m.Values()); err != nil || math.Abs(v-value) > 1e-9 || one.Report().Engine != engine {
					t.Errorf("%v, %s: by this engine alone %v by %s, want %v (%v)", m, engine, v, one.Report().Engine, value, err)
				}
				for p, g := range wantGrad {
					if math.Abs(grad[p]-g) > 1e-8*(1+math.Abs(g)) {
						t.Errorf("%v, %s: gradient by this engine alone %v, want %v", m, engine, wantGrad, grad)
					}
				}
				left, variances, err := gppl.LeaveOut(t.Context(), m, other, nil, gppl.WithEngine(gppl.EngineDense))
				if err != nil {
					t.Fatal(err)
				}
				alone := make([]float64, n)
				if _, err := l.Residuals(context.Background(), alone, nil, nil, m.Values()); err != nil {
					t.Error(err)
				}
				for i := range left {
					if math.Abs(precisions[i]*variances[i]-1) > 1e-7 || math.Abs(alpha[i]-precisions[i]*(moved[i]-left[i])) > 1e-6 ||
						math.Abs(alone[i]-alpha[i]) > 1e-10 {
						t.Fatalf("%v, %s: observation %d: α = %v (%v alone) and P = %v, want %v and %v",
							m, engine, i, alpha[i], alone[i], precisions[i], (moved[i]-left[i])/variances[i], 1/variances[i])
					}
				}
			}
		}
	}
	t.Log(taken)
	for _, engine := range []string{gppl.EngineStateSpace, gppl.EngineDense, gppl.EngineBanded} {
		if taken[engine] < 9 {
			t.Errorf("%s took %d cases", engine, taken[engine])
		}
	}
}
