package gppl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// TestKnownErrors: errors that are all equal are a noise variance; one that is huge
// leaves its observation out; and gradients equal differences.
func TestKnownErrors(t *testing.T) {
	takes := map[string][]string{
		"SE": {gppl.EngineBanded, gppl.EngineSpectral}, "SE, regular": {gppl.EngineBanded, gppl.EngineSpectral},
		"Matern32": {gppl.EngineBanded, gppl.EngineStateSpace}, "SE + Laplace + White": {gppl.EngineBanded},
	}
	for _, c := range meanCases(60) {
		n := c.data.Len()
		for _, engine := range append(takes[c.name], gppl.EngineDense, "") {
			t.Run(fmt.Sprintf("%s/%s", c.name, engine), func(t *testing.T) {
				same, noisier := c, c
				same.data = withErrors(t, c.data, func(int) float64 { return 0.4 })
				noisier.model.Noise += 0.16
				if got, want := valueOf(t, same, engine), valueOf(t, noisier, gppl.EngineDense); math.Abs(got-want) > 1e-8*float64(n) {
					t.Errorf("equal errors: %.12g, the same in the noise variance: %.12g", got, want)
				}

				// What an observation of huge error adds is its density, ½log 2πs². (With flat
				// coefficients ½log|HᵀH| would differ.)
				const out, huge = 17, 1e7
				lost := c
				lost.model.Mean = nil
				lost.data.Y = make([]float64, n)
				for i := range n {
					lost.data.Y[i] = math.Sin(float64(i))
				}
				lost.data = withErrors(t, lost.data, func(i int) float64 {
					if i == out {
						return huge
					}
					return 0.1 * float64(i%3)
				})
				var rest []int
				for i := range n {
					if i != out {
						rest = append(rest, i)
					}
				}
				left := lost
				left.data = lost.data.Pick(rest)
				got := valueOf(t, lost, engine) - 0.5*math.Log(2*math.Pi*huge*huge)
				if want := valueOf(t, left, gppl.EngineDense); math.Abs(got-want) > 1e-8*float64(n) {
					t.Errorf("with an error of %g at one: %.10g, without it: %.10g", huge, got, want)
				}

				varied := c
				varied.data = withErrors(t, c.data, func(i int) float64 { return 0.2 * float64(i%5) })
				checkGradient(t, varied, engine)
			})
		}
	}
}

// TestLeaveOutKnownErrors: with errors that differ, as without them.
func TestLeaveOutKnownErrors(t *testing.T) {
	for _, c := range meanCases(40) {
		c.data = withErrors(t, c.data, func(i int) float64 { return 0.15 * float64(i%4) })
		blocks := [][]int{{0}, {5}, {7, 8, 9}, {39, 2}}
		got, variances, err := gppl.LeaveOut(t.Context(), c.model, c.data, blocks)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks { // Noisy knows nothing of the errors
			for _, i := range block {
				variances[i] -= c.data.Errors[i] * c.data.Errors[i]
			}
		}
		comparedWithRefits(t, c, blocks, got, variances)
	}
}

func withErrors(t *testing.T, d gppl.Data, of func(i int) float64) gppl.Data {
	t.Helper()
	s := make([]float64, d.Len())
	for i := range s {
		s[i] = of(i)
	}
	d, err := d.WithErrors(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func valueOf(t *testing.T, c meanCase, engine string) float64 {
	t.Helper()
	l, err := gppl.NewExact(t.Context(), c.model, c.data, gppl.WithEngine(engine))
	if err != nil {
		t.Fatal(err)
	}
	v, err := l.ValueGrad(t.Context(), nil, gppl.Values(l.Params()))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkGradient compares the gradient with differences of the value.
func checkGradient(t *testing.T, c meanCase, engine string) {
	t.Helper()
	l, err := gppl.NewExact(t.Context(), c.model, c.data, gppl.WithEngine(engine))
	if err != nil {
		t.Fatal(err)
	}
	theta := gppl.Values(l.Params())
	grad := make([]float64, len(theta))
	if _, err := l.ValueGrad(t.Context(), grad, theta); err != nil {
		t.Fatal(err)
	}
	for i := range theta {
		at := func(step float64) float64 {
			moved := append([]float64(nil), theta...)
			moved[i] *= math.Exp(step)
			v, err := l.ValueGrad(t.Context(), nil, moved)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		const h = 1e-4
		slope := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
		if off := math.Abs(grad[i]*theta[i] - slope); off > 1e-6*(1+math.Abs(slope)) {
			t.Errorf("derivative %d in the log: %.10g, differences give %.10g", i, grad[i]*theta[i], slope)
		}
	}
}

func TestKnownErrorsRefused(t *testing.T) {
	c := meanCases(40)[0]
	for _, s := range [][]float64{{1, 2}, make([]float64, 41)} {
		if _, err := c.data.WithErrors(s); err == nil {
			t.Errorf("%d errors for 40 observations: none", len(s))
		}
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1), 1e200} {
		s := make([]float64, 40)
		s[3] = bad
		if _, err := c.data.WithErrors(s); err == nil {
			t.Errorf("an error of %v: none", bad)
		}
	}
}

// TestProjectedHugeErrors: an observation with a huge error is in every random projection and drowns what they
// know of the others. PL says how much of that it has lost; projections of single observations lose nothing.
func TestProjectedHugeErrors(t *testing.T) {
	const n = 40
	rnd := rand.New(rand.NewPCG(3, 2))
	x, y, sd := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], sd[i] = float64(i)+0.3*rnd.Float64(), 0.1
		y[i] = math.Sin(x[i]/8) + 0.1*rnd.NormFloat64()
	}
	for _, huge := range []float64{1, 1e3, 1e5, 1e6, 1e7} {
		sd[7] = huge
		known, err := gppl.Data{X: gppl.Scalars(x), Y: y}.WithErrors(sd)
		if err != nil {
			t.Fatal(err)
		}
		relative, err := gppl.Data{X: gppl.Scalars(x), Y: y}.WithRelativeErrors(sd)
		if err != nil {
			t.Fatal(err)
		}
		for name, d := range map[string]gppl.Data{"known": known, "relative": relative} {
			for _, kernel := range []gppl.Kernel{gppl.SE{Variance: 1, Lengthscale: 8}, gppl.Matern32{Variance: 1, Lengthscale: 8}} {
				m := gppl.Model{Kernel: kernel, Noise: 0.01}
				want := valueOf(t, meanCase{model: m, data: d}, gppl.EngineDense)
				for _, design := range []gppl.Design{gppl.Sphere{}, gppl.Identity{}} {
					omega, err := gppl.NewProjection(t.Context(), design, d.X, n, 1)
					if err != nil {
						t.Fatal(err)
					}
					l, err := gppl.NewProjected(t.Context(), m, d, omega)
					if err != nil {
						t.Fatal(err)
					}
					got, err := l.ValueGrad(t.Context(), make([]float64, 3), []float64{1, 8, 0.01})
					if err != nil {
						t.Errorf("%s error of %v, %v: %v", name, huge, design, err)
						continue
					}
					report := l.Report()
					if bound := max(1e-8*n, report.LastBound); !(math.Abs(got-want) <= bound) {
						t.Errorf("%s error of %v, %v: PL of all projections is off by %v, the bound is %v", name, huge, design, got-want, bound)
					}
					if _, single := design.(gppl.Identity); single && name == "known" && report.LastInexact > 0 {
						t.Errorf("%s error of %v, %v: inexact by %v", name, huge, design, report.LastInexact)
					}
				}
			}
		}
	}
}

// TestNegligibleNoise: where known errors explain the noise, its variance is called negligible and not in doubt, and the others
// have the standard errors that they have given it.
func TestNegligibleNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	const n = 300
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i) + 0.3*rng.Float64()
	}
	k := gppl.Matern32{Variance: 1, Lengthscale: 8}
	m := gppl.Model{Kernel: k, Noise: 0.1}
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), drawMatern32(k, 1e-9, x, 7)))(t)
	d = withErrors(t, d, func(int) float64 { return 0.5 })
	for i := range d.Y {
		d.Y[i] += 0.4 * rng.NormFloat64() // less than the errors say
	}
	fit := func(m gppl.Model, d gppl.Data) *gppl.Result {
		return testkit.Must(gppl.Fit(context.Background(), testkit.Must(gppl.NewExact(t.Context(), m, d))(t), nil, gppl.Settings{}))(t)
	}
	r := fit(m, d)
	noise := r.Params[2]
	if !noise.Negligible || r.Status != gppl.Converged || len(r.Warnings) > 0 || !math.IsNaN(noise.StdErr()) {
		t.Fatalf("the errors say more than there is: %v", r)
	}
	m.Noise = noise.Value
	given := fit(m.Fix(gppl.NoiseName), d)
	for i := range 2 {
		if a, b := r.Params[i].StdErrLog, given.Params[i].StdErrLog; !(math.Abs(a/b-1) < 0.01) {
			t.Errorf("%s: the standard error of its log is %v, given the noise %v", r.Params[i].Name, a, b)
		}
	}
	var back store.Result
	if err := json.Unmarshal(testkit.Must(json.Marshal(store.Result{Result: r}))(t), &back); err != nil || !back.Params[2].Negligible {
		t.Errorf("a stored result: %v, negligible %v", err, back.Params[2].Negligible)
	}
	d = withErrors(t, d, func(int) float64 { return 0.1 })
	m.Noise = 0.1
	if r := fit(m, d); r.Params[2].Negligible || !(r.Params[2].StdErrLog < 0.3) {
		t.Errorf("the errors say less than there is: %v", r)
	}
}
