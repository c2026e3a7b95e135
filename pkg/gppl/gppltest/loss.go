package gppltest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// CheckLoss checks that loss keeps the contract of gppl.Loss at its own parameters. Its gradient must equal central
// differences. Its value must not depend on whether a gradient is requested, nor on earlier calls. It must not change theta.
// Parameters out of range must give errors that name them.
func CheckLoss(t *testing.T, loss gppl.Loss) {
	t.Helper()
	params := loss.Params()
	theta := gppl.Values(params)
	value := func(theta []float64) float64 {
		t.Helper()
		v, err := loss.ValueGrad(t.Context(), nil, theta)
		if err != nil {
			t.Fatalf("%v at %v: %v", loss, theta, err)
		}
		return v
	}
	before := slices.Clone(theta)
	grad := make([]float64, len(theta))
	got, err := loss.ValueGrad(t.Context(), grad, theta)
	if err != nil {
		t.Fatalf("%v: %v", loss, err)
	}
	if !slices.Equal(theta, before) {
		t.Errorf("%v changed theta from %v to %v", loss, before, theta)
	}
	if alone := value(theta); alone != got {
		t.Errorf("%v: %v with a gradient, %v without", loss, got, alone)
	}

	// Differences are in units of each parameter's size, so that all are alike.
	scaled := make([]float64, len(theta))
	unit := make([]float64, len(theta))
	for i, v := range theta {
		unit[i] = max(math.Abs(v), 1e-3)
		scaled[i] = v / unit[i]
	}
	at := make([]float64, len(theta))
	want := fd.Gradient(nil, func(s []float64) float64 {
		for i := range at {
			at[i] = s[i] * unit[i]
		}
		return value(at)
	}, scaled, &fd.Settings{Formula: fourthOrder, Step: 2e-5})
	floats.Mul(grad, unit)
	closeVectors(t, loss.String()+": gradient", grad, want, 1e-6)

	for i, p := range params {
		bad := slices.Clone(theta)
		values := []float64{math.NaN(), math.Inf(1)}
		_, free := p.Transform.(transform.Free)
		if place := p.Role == gppl.RoleLocation || p.Role == gppl.RoleInput || p.Role == gppl.RoleCoefficient; !free && !place {
			values = append(values, 0, -1)
		}
		for _, v := range values {
			bad[i] = v
			if _, err := loss.ValueGrad(t.Context(), nil, bad); err == nil {
				t.Errorf("%v: no error for parameter %q = %v", loss, p.Name, v)
			}
		}
		if i > 20 {
			break
		}
	}
	if again := value(theta); again != got {
		t.Errorf("%v: %v at first, %v after errors and other values", loss, got, again)
	}
	m := loss.Model(theta)
	for i, p := range m.Params() {
		if p.Value != theta[i] {
			t.Errorf("%v: Model(theta) has %q = %v, want %v", loss, p.Name, p.Value, theta[i])
		}
	}
}

// Series returns n regular observations, a unit apart, of an Ornstein–Uhlenbeck process (gppl.Laplace) with noise.
func Series(tb testing.TB, rnd *rand.Rand, n int, variance, lengthscale, noise float64) gppl.Data {
	tb.Helper()
	x, y := make([]float64, n), make([]float64, n)
	state, keep := math.Sqrt(variance)*rnd.NormFloat64(), math.Exp(-1/lengthscale)
	for i := range x {
		x[i], y[i] = float64(i), state+math.Sqrt(noise)*rnd.NormFloat64()
		state = keep*state + math.Sqrt(variance*(1-keep*keep))*rnd.NormFloat64()
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
