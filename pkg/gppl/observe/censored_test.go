package observe

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestCensoredOne: of one censored value the evidence is exact, log Φ of the standardised bound times the density of the others.
func TestCensoredOne(t *testing.T) {
	x, y := []float64{0, 1, 2}, []float64{0.3, -0.2, 0.8}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1.2, Lengthscale: 1.5}, Noise: 0.1}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []Limits{{-0.2, math.Inf(1)}, {math.Inf(-1), 0.8}} {
		of, nats, err := Censored(t.Context(), m, d, l, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := nats + nll(t, m, of)
		rest, at, sign := []int{0, 2}, 1, 1.0
		if math.IsInf(l.Lo, -1) {
			rest, at, sign = []int{0, 1}, 2, -1
		}
		others := d.Pick(rest)
		p, err := gppl.NewPosterior(t.Context(), m, others)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance, err := p.Noisy(t.Context(), gppl.Scalars(x[at:at+1]))
		if err != nil {
			t.Fatal(err)
		}
		log, _ := tail(sign * (y[at] - mean[0]) / math.Sqrt(variance[0]))
		if want := nll(t, m, others) - log; math.Abs(got-want) > 1e-4 {
			t.Errorf("%v: %v, want %v", l, got, want)
		}
	}
}

func nll(t *testing.T, m gppl.Model, d gppl.Data) float64 {
	t.Helper()
	exact, err := gppl.NewExact(t.Context(), m, d)
	if err != nil {
		t.Fatal(err)
	}
	value, err := exact.ValueGrad(t.Context(), nil, m.Values())
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestCensoredMany compares the evidence of censored values, and their means without bounds, with 400 000 draws of them given the
// others, and the derivatives in the parameters with central differences of the whole.
func TestCensoredMany(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 1))
	const n, lo, draws = 12, 0.0, 400_000
	x, y := make([]float64, n), make([]float64, n)
	var rest, at []int
	for i := range x {
		x[i] = float64(i)
		if y[i] = max(lo, 0.3+math.Sin(0.9*x[i])+0.4*r.NormFloat64()); y[i] > lo {
			rest = append(rest, i)
		} else {
			at = append(at, i)
		}
	}
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 0.8, Lengthscale: 2}, Noise: 0.2}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	l := Limits{lo, math.Inf(1)}
	of, nats, err := Censored(t.Context(), m, d, l, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, more, err := Censored(t.Context(), m, d, l, &of)
	if err != nil || math.Abs(more-nats) > 1e-3 || !slices.EqualFunc(again.Y, of.Y, func(a, b float64) bool { return math.Abs(a-b) < 0.01 }) {
		t.Errorf("from where it ended: %v and %v, %v", more, nats, err)
	}
	p, err := gppl.NewPosterior(t.Context(), m, d.Pick(rest))
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := p.Sample(t.Context(), d.Pick(at).X, draws, 3)
	if err != nil {
		t.Fatal(err)
	}
	within, sum := 0.0, make([]float64, len(at))
	g := make([]float64, len(at))
	for _, one := range drawn {
		all := true
		for k, f := range one.F {
			g[k] = f + math.Sqrt(m.Noise)*r.NormFloat64()
			all = all && g[k] <= lo
		}
		if all {
			within++
			for k, v := range g {
				sum[k] += v
			}
		}
	}
	want := nll(t, m, d.Pick(rest)) - math.Log(within/draws)
	if got := nats + nll(t, m, of); math.Abs(got-want) > 0.02 {
		t.Errorf("%d of %d censored: %v, want %v", len(at), n, got, want)
	}
	exact, err := gppl.NewExact(t.Context(), m, of)
	if err != nil {
		t.Fatal(err)
	}
	alpha, grad := make([]float64, n), make([]float64, 3)
	if _, err := exact.Residuals(t.Context(), alpha, nil, grad, m.Values()); err != nil {
		t.Fatal(err)
	}
	for k, i := range at {
		got, want := of.Y[i]-of.Errors[i]*of.Errors[i]*alpha[i], sum[k]/within
		if math.Abs(got-want) > 0.02 {
			t.Errorf("value %d: %v, want %v", i, got, want)
		}
	}
	for k, v := range m.Values() {
		const step = 1e-3
		var ends [2]float64
		for side, sign := range []float64{1, -1} {
			theta := m.Values()
			theta[k] = v * (1 + sign*step)
			moved := m.WithParams(theta)
			of, nats, err := Censored(t.Context(), moved, d, l, nil)
			if err != nil {
				t.Fatal(err)
			}
			ends[side] = nats + nll(t, moved, of)
		}
		if want := (ends[0] - ends[1]) / (2 * step * v); math.Abs(grad[k]-want) > 2e-3*math.Abs(want) {
			t.Errorf("derivative %d: %v, want %v", k, grad[k], want)
		}
	}
}

// TestCensoredRefuses names values beyond the limits, and known errors; without a value at a bound nothing changes.
func TestCensoredRefuses(t *testing.T) {
	d, err := gppl.NewData(gppl.Scalars([]float64{0, 1, 2}), []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	if _, _, err := Censored(t.Context(), m, d, Limits{0, 2.5}, nil); err == nil || !strings.Contains(err.Error(), "observation 2: 3") {
		t.Error(err)
	}
	of, nats, err := Censored(t.Context(), m, d, Limits{0, 4}, nil)
	if err != nil || nats != 0 || !slices.Equal(of.Y, d.Y) || slices.Max(of.Errors) > 0 {
		t.Errorf("%v, %v, %v", of.Y, nats, err)
	}
	if of, err = d.WithErrors([]float64{1, 1, 1}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Censored(t.Context(), m, of, Limits{0, 4}, nil); err == nil || !strings.Contains(err.Error(), "known errors") {
		t.Error(err)
	}
}

// TestTail compares with the definitions, and both branches with each other where they meet.
func TestTail(t *testing.T) {
	for _, z := range []float64{-29.5, -8, -1, 0, 2, 9} {
		log, ratio := tail(z)
		p := 0.5 * math.Erfc(-z/math.Sqrt2)
		want := math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi) / p
		if math.Abs(ratio-want) > 1e-12*want || math.Abs(math.Exp(log)-p) > 1e-12*p {
			t.Errorf("%v: %v, %v", z, log, ratio)
		}
	}
	below, slope := tail(-30 - 1e-9)
	above, other := tail(-30 + 1e-9)
	if math.Abs(below-above) > 1e-6 || math.Abs(slope-other) > 1e-8 {
		t.Errorf("%v and %v, %v and %v", below, above, slope, other)
	}
}
