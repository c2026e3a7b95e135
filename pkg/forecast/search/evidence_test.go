package search

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestEvidence: of one parameter, the variance of noise, the evidence is an integral that quadrature can do.
func TestEvidence(t *testing.T) {
	s := testseries.Steps(t, 200, 1, func(int) float64 { return 0 })
	v, err := NewYScale(s, 0, len(s.X), false)
	if err != nil {
		t.Fatal(err)
	}
	m := gppl.Model{Kernel: gppl.White{Variance: 1e-9}, Noise: 0.9}.Fix("variance")
	priors := beliefsOf(stationary{}.prior, m, extent{1, 199}, nil, 1)
	r, _, err := trainWithPriors(context.Background(), v, m, priors, 199, gppl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	loss, err := gppl.NewExact(t.Context(), m, v.Data)
	if err != nil {
		t.Fatal(err)
	}
	theta := r.Model.Values()
	found, err := evidenceOf(t.Context(), loss, theta, priors, 200, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	p := priors.weak[len(priors.weak)-1]
	least := testkit.Must(loss.ValueGrad(t.Context(), nil, theta))(t)
	var sum float64
	const step = 0.002
	for u := math.Log(theta[1]) - 1; u < math.Log(theta[1])+1; u += step {
		value, err := loss.ValueGrad(t.Context(), nil, []float64{theta[0], math.Exp(u)})
		if err != nil {
			t.Fatal(err)
		}
		z := (u - p.Mu) / p.Sigma
		sum += step * math.Exp(least-value-0.5*z*z) / (p.Sigma * math.Sqrt(2*math.Pi))
	}
	if want := least - math.Log(sum); math.Abs(found.nats-want) > 0.01 {
		t.Errorf("evidence %v, by quadrature %v", found.nats, want)
	}
}

// curved is a loss ½Σ h u² in u = log θ, which cannot be computed where a u is beyond most.
type curved struct {
	gppl.Loss
	h    []float64
	most float64
}

func (c curved) ValueGrad(ctx context.Context, grad, theta []float64) (value float64, err error) {
	for i, h := range c.h {
		u := math.Log(theta[i])
		if math.Abs(u) > c.most {
			return 0, errors.New("out of range")
		}
		value += 0.5 * h * u * u
		if grad != nil {
			grad[i] = h * u / theta[i]
		}
	}
	return value, nil
}

// TestEvidenceCurvature: the evidence is Laplace's where the curvature is positive definite, and says where it is BIC's.
func TestEvidenceCurvature(t *testing.T) {
	m := gppl.Model{Kernel: gppl.White{Variance: 1}, Noise: 1}
	loss, err := gppl.NewExact(t.Context(), m, gppl.Data{X: gppl.Scalars([]float64{0, 1}), Y: []float64{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	const n = 50
	weak := beliefs{weak: []prior.LogNormal{{Sigma: 1}, {Sigma: 1}}, given: make([]gppl.Prior, 2)}
	for name, test := range map[string]struct {
		c       curved
		want    float64
		laplace bool
	}{
		"a minimum": {curved{loss, []float64{3, 8}, 1}, 0.5 * math.Log(4*9), true},
		"a saddle":  {curved{loss, []float64{-3, 8}, 1}, math.Log(n), false},
		"a corner":  {curved{loss, []float64{3, 8}, 0}, math.Log(n), false},
	} {
		got, err := evidenceOf(t.Context(), test.c, []float64{1, 1}, weak, n, math.Inf(1))
		if err != nil || math.Abs(got.nats-test.want) > 1e-5 || got.laplace != test.laplace {
			t.Errorf("%s: %v, %v, %v; want %v, %v", name, got.nats, got.laplace, err, test.want, test.laplace)
		}
	}
}

// TestStructure: a sum is the same whatever the order of its terms, and not with another period.
func TestStructure(t *testing.T) {
	season := func(period float64) gppl.Kernel {
		return gppl.LocPer{Variance: 0.3, Lengthscale: 96, Period: period, PeriodicLengthscale: 0.8}
	}
	a := structure(stationary{}, []gppl.Kernel{season(12), gppl.SE{Variance: 1, Lengthscale: 3}})
	if b := structure(stationary{}, []gppl.Kernel{gppl.SE{Variance: 2, Lengthscale: 50}, season(12.01)}); a != b {
		t.Errorf("%q and %q", a, b)
	}
	if b := structure(stationary{}, []gppl.Kernel{season(7), gppl.SE{Variance: 1, Lengthscale: 3}}); a == b {
		t.Errorf("both %q", a)
	}
}

// TestChosenPeriods: a period that the data chose pays for the frequencies from which it was chosen; a fixed one, or one with a
// given prior, does not.
func TestChosenPeriods(t *testing.T) {
	m := gppl.Model{Kernel: gppl.LocPer{Variance: 0.3, Lengthscale: 96, Period: 12, PeriodicLengthscale: 0.8}, Noise: 0.1}
	e := extent{step: 1, span: 100}
	prior, err := ParsePrior("period=within(10, 14)")
	if err != nil {
		t.Fatal(err)
	}
	two := gppl.Model{Kernel: gppl.Add(m.Kernel, gppl.LocPer{Variance: 0.3, Lengthscale: 40, Period: 5, PeriodicLengthscale: 0.8}),
		Noise: 0.1}
	for name, test := range map[string]struct {
		b    beliefs
		want float64
	}{
		"chosen":  {beliefsOf(stationary{}.prior, m, e, nil, 1), math.Log(50)},
		"two":     {beliefsOf(stationary{}.prior, two, e, nil, 1), 2 * math.Log(50)},
		"held":    {beliefsOf(stationary{}.prior, m.Fix("period"), e, nil, 1), 0},
		"a prior": {beliefsOf(stationary{}.prior, m, e, []gppl.ParamPrior{prior}, 1), 0},
	} {
		if math.Abs(test.b.chosen-test.want) > 1e-12 {
			t.Errorf("%s: %v nats, want %v", name, test.b.chosen, test.want)
		}
	}
	loss, err := gppl.NewExact(t.Context(), m, gppl.Data{X: gppl.Scalars([]float64{0, 1, 2}), Y: []float64{0, 1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	paid, free := beliefsOf(stationary{}.prior, m, e, nil, 1), beliefsOf(stationary{}.prior, m, e, nil, 1)
	free.chosen = 0
	with, err := evidenceOf(t.Context(), loss, m.Values(), paid, 3, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	without, err := evidenceOf(t.Context(), loss, m.Values(), free, 3, math.Inf(1))
	if err != nil || math.Abs(with.nats-without.nats-math.Log(50)) > 1e-9 {
		t.Errorf("the evidence is %v and %v (%v)", with.nats, without.nats, err)
	}
}
