package gppl_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// TestSpectralMixtureDensity: the covariance is the transform of a Gaussian about 1/p and
// its mirror image.
func TestSpectralMixtureDensity(t *testing.T) {
	k := gppl.SpectralMixture{Variance: 1.7, Lengthscale: 0.8, Period: 0.6}
	sd := 1 / (2 * math.Pi * k.Lengthscale)
	density := func(f float64) float64 {
		z := (f - 1/k.Period) / sd
		return k.Variance * math.Exp(-0.5*z*z) / (sd * math.Sqrt(2*math.Pi))
	}
	for _, r := range []float64{0, 0.2, 1, 1.9} {
		got := []float64{r}
		k.Cov(got, got)
		want := quad.Fixed(func(f float64) float64 { return density(f) * math.Cos(2*math.Pi*f*r) }, 1/k.Period-9*sd, 1/k.Period+9*sd,
			200, nil, 0)
		if !(math.Abs(got[0]-want) <= 1e-12) {
			t.Errorf("k is %v, want %v", got[0], want)
		}
	}
}

// TestSpectralMixtureStart: the periods of a mixture of two start at the periods of the data,
// and training finds both components.
func TestSpectralMixtureStart(t *testing.T) {
	truth := gppl.Model{Kernel: gppl.Add(gppl.SpectralMixture{Variance: 2, Lengthscale: 25, Period: 7.3},
		gppl.SpectralMixture{Variance: 1, Lengthscale: 25, Period: 2.9}), Noise: 0.1}
	x := make([]float64, 250)
	for i := range x {
		x[i] = 0.4 * float64(i)
	}
	draw, err := truth.Sample(t.Context(), gppl.Scalars(x), 3, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	y := draw.Y
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	m := testkit.Must(auto.StartFrom(t.Context(), gppl.Model{Kernel: gppl.Add(gppl.SpectralMixture{1, 1, 1}, gppl.SpectralMixture{1, 1, 1}), Noise: 1}, d))(t)
	check := func(m gppl.Model, tol float64) {
		t.Helper()
		var periods []float64
		for _, p := range m.Params() {
			if p.Role == gppl.RolePeriod {
				periods = append(periods, p.Value)
			}
		}
		slices.Sort(periods)
		if len(periods) != 2 || math.Abs(periods[0]/2.9-1) > tol || math.Abs(periods[1]/7.3-1) > tol {
			t.Errorf("periods %v, want 2.9 and 7.3", periods)
		}
	}
	check(m, 0.1)
	loss := testkit.Must(gppl.NewExact(t.Context(), m, d))(t)
	r := testkit.Must(gppl.Fit(context.Background(), loss, nil, gppl.Settings{}))(t)
	check(r.Model, 0.05)
	atTruth, err := loss.ValueGrad(t.Context(), nil, truth.Values())
	if err != nil || r.Value > atTruth {
		t.Errorf("trained to %v nats, the truth has %v (%v)", r.Value, atTruth, err)
	}
}

// TestFixRedundant: after it, every direction in the parameters changes the covariance.
func TestFixRedundant(t *testing.T) {
	se, rq, per, white := gppl.SE{Variance: 2, Lengthscale: 1}, gppl.RQ{Variance: 3, Lengthscale: 1, Alpha: 1},
		gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 2}, gppl.White{Variance: 1}
	for _, c := range []struct {
		k    gppl.Kernel
		want []string
	}{
		{se, nil},
		{gppl.Add(se, rq), nil},
		{gppl.Mul(se, per), []string{"Periodic.variance"}},
		{gppl.Add(gppl.Mul(se, per), gppl.Mul(rq, per, se), white), []string{"Product1.Periodic.variance", "Product2.Periodic.variance",
			"Product2.SE.variance"}},
		{gppl.Mul(gppl.Add(se, rq), gppl.Add(rq, per)), []string{"Sum2.RQ.variance"}},
		{gppl.Mul(se, gppl.Mul(rq, per)), []string{"Product.Periodic.variance", "Product.RQ.variance"}},
		{gppl.Mul(white, se, rq), []string{"RQ.variance"}},
	} {
		var got []string
		for _, p := range (gppl.Model{Kernel: c.k, Noise: 1}).FixRedundant().Params() {
			if p.Transform == (transform.Fixed{}) {
				got = append(got, p.Name)
			}
		}
		slices.Sort(c.want)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: fixed %q, want %q", c.k, got, c.want)
		}
	}
}
