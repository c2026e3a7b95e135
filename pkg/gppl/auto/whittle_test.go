package auto

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"

	"gonum.org/v1/gonum/floats"
)

// TestWhittle compares the gradient with differences, the profile with the value at the variances that it names, and
// differences of W with differences of the exact likelihood.
func TestWhittle(t *testing.T) {
	d := searchData(600)
	at := func(l gppl.Loss, theta, grad []float64) float64 {
		t.Helper()
		v, err := l.ValueGrad(t.Context(), grad, theta)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, k := range []gppl.Kernel{gppl.SE{Variance: 1, Lengthscale: 3}, gppl.Laplace{Variance: 1, Lengthscale: 5},
		gppl.Add(gppl.SE{Variance: 0.5, Lengthscale: 5}, gppl.Periodic{Variance: 0.5, Lengthscale: 1, Period: 6.2832}),
		gppl.RQ{Variance: 1, Lengthscale: 2, Alpha: 0.5},
		gppl.Add(gppl.LocPer{Variance: 1, Lengthscale: 20, Period: 6.3, PeriodicLengthscale: 1}, gppl.White{Variance: 0.02})} {
		m := gppl.Model{Kernel: k, Noise: 0.03}
		f := newWhittle(m, d)
		theta := m.Values()
		grad := make([]float64, len(theta))
		value := at(f, theta, grad)
		segments := newSegments(m, d, 512)
		for _, of := range []*whittle{f, segments} {
			at(of, theta, grad)
			for p := range theta {
				const h = 1e-5
				moved := append([]float64(nil), theta...)
				moved[p] = theta[p] * (1 + h)
				up := at(of, moved, nil)
				moved[p] = theta[p] * (1 - h)
				if slope := (up - at(of, moved, nil)) / (2 * h); math.Abs(slope-grad[p]*theta[p]) > 1e-4*(1+math.Abs(slope)) {
					t.Errorf("%v: ∂/∂log θ_%d is %v, by differences %v", k, p, grad[p]*theta[p], slope)
				}
			}
		}
		nll, factors := make([]float64, 1), make([]float64, 1)
		if err := f.NLL(t.Context(), nll, factors, m, []float64{m.Noise}, true); err != nil {
			t.Fatal(err)
		}
		for i, p := range m.Params() {
			if p.Unit == gppl.UnitY2 {
				theta[i] *= factors[0]
			}
		}
		if v := at(f, theta, grad); math.Abs(v-nll[0]) > 1e-9*math.Abs(v) || v > value {
			t.Errorf("%v: %v at the best factor, profiled %v; %v without it", k, v, nll[0], value)
		}
		if _, line := k.(gppl.Sum); line && capability.Nugget(k) == 0 {
			continue // neighbours of the lines of Periodic are one and the same, under the window
		}
		exact, err := gppl.NewExact(t.Context(), m, d)
		if err != nil {
			t.Fatal(err)
		}
		better, worse := theta, m.Values()
		worse[len(worse)-1] *= 2
		want := at(exact, worse, nil) - at(exact, better, nil)
		of := []*whittle{f}
		if _, lines := k.(gppl.Sum); !lines { // every segment has the same phase of a rhythm
			of = append(of, newSegments(m, d, 512))
		}
		for _, of := range of {
			if drop := at(of, worse, nil) - at(of, better, nil); math.Abs(drop-want) > 0.2*math.Abs(want)+5 {
				t.Errorf("%v: W of %d frequencies differs by %v, the exact likelihood by %v", k, len(of.data), drop, want)
			}
		}
	}
	if newWhittle(gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 1},
		gppl.Data{X: gppl.Scalars([]float64{1, 1}), Y: []float64{1, 2}}) != nil {
		t.Error("two coinciding times have no periodogram")
	}
}

// TestMetric: a rhythm that a long series repeats is one pattern, whose variance is known no better for its repetition.
func TestMetric(t *testing.T) {
	const n = 20_000
	theta := []float64{1, n / 200, 4, 1.4, 30, 0.09}
	m := gppl.Model{Kernel: gppl.Add(gppl.SE{}, gppl.Periodic{}), Noise: 1}.WithParams(theta)
	d := gppl.Data{X: gppl.Scalars(floats.Span(make([]float64, n), 0, n-1)), Y: make([]float64, n)}
	w := testkit.Must(metricOf(t.Context(), m, d).Information(t.Context(), theta))(t)
	t.Log(w.At(2, 2), w.At(5, 5), w.At(4, 4))
	if v := w.At(2, 2); v > 40 || v < 1 {
		t.Errorf("the information of the logarithm of a rhythm's variance is %v", v)
	}
	if v := w.At(5, 5); math.Abs(v/(n/2)-1) > 0.1 {
		t.Errorf("the information of the logarithm of the noise is %v, want about n/2 = %v", v, n/2)
	}
}

// TestSpectralStarts adds to a random walk that returns a rhythm that is worth 80 nats to 3000 observations and 10 to the part of
// them that the search trains on: one of the starts has it nevertheless.
func TestSpectralStarts(t *testing.T) {
	if testkit.Quick() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	const n, period = 3000, 6.3
	rnd := rand.New(rand.NewPCG(5, 5))
	x, y := make([]float64, n), make([]float64, n)
	var walk float64
	for i := range x {
		x[i] = float64(i)
		walk = 0.98*walk + 0.2*rnd.NormFloat64()
		y[i] = walk + 0.1*math.Sin(2*math.Pi*x[i]/period) + 0.3*rnd.NormFloat64()
	}
	family := gppl.Model{Kernel: gppl.Add(gppl.Laplace{Variance: 1, Lengthscale: 1},
		gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 1})}
	a := &fitting{ctx: context.Background(), family: family, result: &Result{}}
	a.data = gppl.Data{X: gppl.Scalars(x), Y: y}
	a.rest = a.data
	a.starts = testkit.Must(startsFrom(t.Context(), family, a.data))(t)
	if err := a.search(); err != nil {
		t.Fatal(err)
	}
	w := newWhittle(family, a.data)
	if p := w.excess(gppl.Model{Kernel: gppl.Laplace{Variance: 1, Lengthscale: 50}, Noise: 0.09}, 1); len(p) != 1 ||
		math.Abs(p[0]/period-1) > 0.002 {
		t.Errorf("beyond a random walk there are the periods %v, want %v", p, period)
	}
	found := false
	for _, m := range append(a.starts, a.given...) {
		p := m.Params()[4]
		found = found || math.Abs(p.Value/period-1) < 0.002
	}
	if !found || a.result.Search.Spectral == 0 {
		t.Errorf("no start has the period %v: %v, %v; %v", period, a.starts, a.given, a.result.Search)
	}
}

// TestLobes wants the other lobe of a rhythm that clusters of times show at several periods.
func TestLobes(t *testing.T) {
	const n, period = 100, 16.3
	rnd := rand.New(rand.NewPCG(6, 6))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 20*float64(i%5) + 2*rnd.Float64()
		for h := 1.0; h < 6; h++ {
			y[i] += math.Sin(2*math.Pi*h*x[i]/period+h) / h
		}
		y[i] += 0.2 * rnd.NormFloat64()
	}
	d := gppl.Data{X: gppl.Scalars(x), Y: y}
	m := gppl.Model{Kernel: gppl.Periodic{Variance: 1, Lengthscale: 0.4, Period: period}, Noise: 0.04}
	loss, err := newBlocks(t.Context(), m, d, trainWhole, trainSize)
	if err != nil {
		t.Fatal(err)
	}
	s := &searcher{
		ctx: context.Background(), model: m, params: m.Params(), loss: loss, compared: &profile{parts: loss.parts, n: float64(loss.n)},
		scales: newScales(t.Context(), d, true), search: &Search{},
		methods: gppl.Settings{NoStandardErrors: true, GradientTolerance: 1e-2},
	}
	s.findLinear()
	for _, cycles := range []float64{-1, -0.6, 0.4, 1} {
		theta := m.Values()
		theta[2] = 1 / (1/period + cycles/s.scales.longest)
		lobes := s.lobes(theta, 2, math.Inf(1))
		if !slices.ContainsFunc(lobes, func(p point) bool { return math.Abs(s.scales.longest*(1/p.u[2]-1/period)) < 0.2 }) {
			t.Errorf("%v cycles from the period %v the lobes are %v", cycles, period, lobes)
		}
	}
}
