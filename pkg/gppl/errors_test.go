package gppl_test

import (
	"errors"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// TestErrorKinds: what data or numerics refuse has a type of its own.
func TestErrorKinds(t *testing.T) {
	x := gppl.Scalars([]float64{0, 0, 1, 1})
	var dependent *gppl.DependentError
	if _, err := gppl.NewProjection(t.Context(), gppl.Localised{}, x, 3, 1); !errors.As(err, &dependent) || len(dependent.Columns) != 1 ||
		dependent.K != 3 {
		t.Errorf("dependent directions: %v", err)
	}
	info, err := fisher.New(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 1e-40}, x)
	var factor *gppl.FactorError
	if !errors.As(err, &factor) || factor.Noise != 1e-40 || factor.Err == nil {
		t.Errorf("a singular covariance: %v, %v", info, err)
	}
}

// TestDataAreKept: what a loss was made from cannot be changed from outside.
func TestDataAreKept(t *testing.T) {
	x, y, s := []float64{0, 1, 3, 4}, []float64{1, -1, 0.5, 2}, []float64{0.1, 0.2, 0.1, 0.3}
	d := testkit.Must(testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t).WithErrors(s))(t)
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 2}, Noise: 0.1}
	for name, loss := range map[string]gppl.Loss{
		"exact": testkit.Must(gppl.NewExact(t.Context(), m, d))(t),
		"VFE":   testkit.Must(gppl.NewVFE(t.Context(), m, d, gppl.Scalars([]float64{0, 3}), gppl.VFEOptions{}))(t),
		"PL":    testkit.Must(gppl.NewProjected(t.Context(), m, d, testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, 2, 1))(t)))(t),
	} {
		theta := gppl.Values(loss.Params())
		before, err := loss.ValueGrad(t.Context(), nil, theta)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x {
			x[i], y[i], s[i] = x[i]*1.7, y[i]+1, s[i]+1
		}
		if after, err := loss.ValueGrad(t.Context(), nil, theta); err != nil || after != before {
			t.Errorf("%s: %v after a change of the slices, want %v (%v)", name, after, before, err)
		}
	}
}
