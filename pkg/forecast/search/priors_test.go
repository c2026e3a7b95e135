package search

import (
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

func TestParsePrior(t *testing.T) {
	for text, want := range map[string]gppl.ParamPrior{
		"lengthscale=lognormal(10,2)":            {Role: gppl.RoleLengthscale, Prior: prior.LogNormal{Mu: 10, Sigma: 2}},
		"noise = HalfNormal(0.5)":                {Role: gppl.RoleNoise, Prior: prior.HalfNormal{Scale: 0.5}},
		"noise variance=gamma(2, 3)":             {Role: gppl.RoleNoise, Prior: prior.Gamma{Shape: 2, Rate: 3}},
		"SE.lengthscale=inverse-gamma( 2 , 1e1)": {Name: "SE.lengthscale", Prior: prior.InverseGamma{Shape: 2, Scale: 10}},
		"period=uniform(0.9,1.1)":                {Role: gppl.RolePeriod, Prior: prior.Uniform{Lo: 0.9, Hi: 1.1}},
		"variance=within(1,10)":                  {Role: gppl.RoleVariance, Prior: prior.LogNormalWithin(1, 10)},
	} {
		got, err := ParsePrior(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"lengthscale": "NAME=DISTRIBUTION", "=gamma(1,2)": "NAME=DISTRIBUTION", "noise=cauchy(1)": "there are lognormal(mu, sigma)",
		"noise=gamma(1,2": "is not a distribution",
		"noise=gamma(1)":  "2 numbers, not 1: shape, rate", "noise=gamma(1,x)": `rate of gamma is "x"`, "noise=gamma(-1,2)": "positive",
		"noise=within(2,1)": "lo < hi", "noise=uniform(2,1)": "lo < hi",
	} {
		if _, err := ParsePrior(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestReachable: every candidate of a search is among the models that priors are checked against.
func TestReachable(t *testing.T) {
	s := testseries.Steps(t, 200, 0.5, func(i int) float64 {
		return math.Sin(0.02*float64(i)) + math.Sin(2*math.Pi*float64(i)/7) + math.Sin(2*math.Pi*float64(i)/28)
	})
	o := Options{Periods: []float64{7, 28}, Log: "never", Trend: "none"}
	p := &policy{progress: new(progress), task: task{options: o, plan: planner(t, s, o).Plan(), series: s,
		extent: extent{s.Step, s.X[len(s.X)-1] - s.X[0]}}}
	if err := p.setSeasons(auto.LikelyPeriods); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	models, err := p.reachable()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		known[KernelName(m.Kernel)] = true
	}
	most := 0
	for _, c := range testkit.Must(Find(t.Context(), s, o))(t).Candidates {
		if !known[c.Kernel] && c.candidate != candidate(randomWalk{}) {
			t.Errorf("%s was tried", c.Kernel)
		}
		most = max(most, strings.Count(c.Kernel, "+"))
	}
	if most < 2 {
		t.Errorf("no sum of three terms was tried")
	}
	// A parameter of a second season has a name only where both seasons are in one sum.
	prior, err := ParsePrior("LocPer2.lengthscale=within(20, 80)")
	if err != nil {
		t.Fatal(err)
	}
	if err := checkPriors(models, []gppl.ParamPrior{prior}); err != nil {
		t.Error(err)
	}
}

// TestEvidenceOfGivenPriors compares the evidence by Laplace's method with a sum over a grid, for priors that are not log-normal,
// and for the log-normal one both as a weak and as a given prior, which have different modes and the same evidence.
func TestEvidenceOfGivenPriors(t *testing.T) {
	s := testseries.Steps(t, 60, 1, func(int) float64 { return 0 })
	v, err := NewYScale(s, 0, 60, false)
	if err != nil {
		t.Fatal(err)
	}
	m := gppl.Model{Kernel: gppl.White{Variance: 1e-9}, Noise: 0.7}.Fix("variance")
	at := func(b beliefs) float64 {
		r, _, err := trainWithPriors(t.Context(), v, m, b, 59,
			gppl.Settings{GradientTolerance: 1e-6, MaxEvaluations: 100, NoStandardErrors: true})
		if err != nil {
			t.Fatal(err)
		}
		loss, err := gppl.NewExact(t.Context(), r.Model, v.Data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := evidenceOf(t.Context(), loss, r.Model.Values(), b, 60, math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		return got.nats
	}
	with := func(p gppl.Prior) beliefs {
		return beliefs{weak: make([]prior.LogNormal, 2), given: []gppl.Prior{nil, p}}
	}
	for _, p := range []gppl.Prior{prior.LogNormal{Mu: -1, Sigma: 0.3}, prior.Gamma{Shape: 20, Rate: 40},
		prior.InverseGamma{Shape: 20, Scale: 10}, prior.HalfNormal{Scale: 0.5}} {
		loss, err := gppl.NewExact(t.Context(), m, v.Data)
		if err != nil {
			t.Fatal(err)
		}
		const about = 60 // nats, near the least loss: the terms of the sum then do not underflow
		var sum float64
		theta := m.Values()
		const step = 0.005
		for u := -4.0; u < 3; u += step {
			theta[1] = math.Exp(u)
			nll, err := loss.ValueGrad(t.Context(), nil, theta)
			if err != nil {
				t.Fatal(err)
			}
			log, _ := p.LogDensity(theta[1])
			sum += step * math.Exp(about-nll+log+u)
		}
		want := about - math.Log(sum)
		if got := at(with(p)); math.Abs(got-want) > 0.05 {
			t.Errorf("%v: the evidence is %v, by a sum %v", p, got, want)
		}
	}
	weak := beliefs{weak: []prior.LogNormal{{}, {Mu: -1, Sigma: 0.3}}, given: make([]gppl.Prior, 2)}
	if a, b := at(weak), at(with(prior.LogNormal{Mu: -1, Sigma: 0.3})); math.Abs(a-b) > 0.02 {
		t.Errorf("the same prior has the evidence %v as a weak one and %v as a given one", a, b)
	}
}
