package forecast

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

func TestParsePrior(t *testing.T) {
	for text, want := range map[string]gppl.ParamPrior{
		"lengthscale=lognormal(10,2)":            {Role: gppl.RoleLengthscale, Prior: gppl.LogNormal{Mu: 10, Sigma: 2}},
		"noise = HalfNormal(0.5)":                {Role: gppl.RoleNoise, Prior: gppl.HalfNormal{Scale: 0.5}},
		"noise variance=gamma(2, 3)":             {Role: gppl.RoleNoise, Prior: gppl.Gamma{Shape: 2, Rate: 3}},
		"SE.lengthscale=inverse-gamma( 2 , 1e1)": {Name: "SE.lengthscale", Prior: gppl.InverseGamma{Shape: 2, Scale: 10}},
		"period=uniform(0.9,1.1)":                {Role: gppl.RolePeriod, Prior: gppl.Uniform{Lo: 0.9, Hi: 1.1}},
		"variance=within(1,10)":                  {Role: gppl.RoleVariance, Prior: gppl.LogNormalWithin(1, 10)},
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

// TestPriors gives priors that overrule the data, in units of the file, and reads likelihood and prior apart.
func TestPriors(t *testing.T) {
	s := steps(t, 80, 5, func(i int) float64 { return 100 * math.Sin(0.1*float64(i)) })
	for _, test := range []struct {
		prior  string
		lo, hi float64
		of     string
	}{
		{"lengthscale=within(3, 3.3)", 3, 3.3, "SE.lengthscale"},
		{"SE.LENGTHSCALE=uniform(4, 4.2)", 4, 4.2, "SE.lengthscale"},
		{"noise=within(2500, 2600)", 2500, 2600, gppl.NoiseName},
		{"variance=gamma(3000, 1)", 2800, 3200, "SE.variance"},
	} {
		p, err := ParsePrior(test.prior)
		if err != nil {
			t.Fatal(err)
		}
		a := automatic(t, s, Options{Kernels: []string{"SE"}, Trend: "none", Priors: []gppl.ParamPrior{p}})
		var got float64
		for i, q := range a.Result.Params {
			if strings.HasSuffix(test.of, q.Name) {
				got = a.Result.Params[i].Value
				if q.Unit == "y²" {
					got = a.Scaling.Variance(got)
				}
			}
		}
		if got < test.lo || got > test.hi {
			t.Errorf("%s: %v is %v", test.prior, test.of, got)
		}
		data, err := a.standardised(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		exact, err := gppl.NewExact(t.Context(), a.Result.Model, data)
		if err != nil {
			t.Fatal(err)
		}
		nll, err := exact.ValueGrad(t.Context(), nil, a.Result.Model.Values())
		nll += float64(data.Len()) * math.Log(a.Scaling.Scale) // of y
		if err != nil || math.Abs(nll-a.NLL()) > 0.01 || math.Abs(a.Candidates[0].NLL-nll) > 0.01 {
			t.Errorf("%s: the NLL is %v, reported as %v and %v", test.prior, nll, a.NLL(), a.Candidates[0].NLL)
		}
		beliefs := a.Beliefs()
		if len(beliefs) != 1 || math.Abs(beliefs[0].Log-a.Result.LogPrior) > 1e-9 {
			t.Errorf("%s: %+v", test.prior, beliefs)
		}
		loaded := reloaded(t, a)
		if diff := cmp.Diff(beliefs, loaded.Beliefs()); diff != "" {
			t.Error(diff)
		}
	}
	for prior, want := range map[string]string{"period=within(1,2)": "the prior every period",
		"RQ.shape=within(1,2)": "SE.lengthscale"} {
		p, err := ParsePrior(prior)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Fit(t.Context(), s, Options{Kernels: []string{"SE", "SE + Laplace"}, Priors: []gppl.ParamPrior{p}}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", prior, err)
		}
	}
	p, _ := ParsePrior("noise=within(1,2)")
	if _, err := Fit(t.Context(), s, Options{Kernels: []string{"SE"}, Priors: []gppl.ParamPrior{p, p}}); err == nil ||
		!strings.Contains(err.Error(), "one prior is enough") {
		t.Error(err)
	}
}

// TestPolicyPriors: the automatic choice takes the given priors, in units of the file, wherever a candidate has the parameter.
func TestPolicyPriors(t *testing.T) {
	s := steps(t, 80, 5, func(i int) float64 { return 1000 + 100*math.Sin(0.1*float64(i)) + 30*math.Sin(2*math.Pi*float64(i)/7) })
	prior := func(text string) gppl.ParamPrior {
		p, err := ParsePrior(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	o := Options{Periods: []float64{7}, Trend: "none"}
	for _, test := range []struct {
		prior  string
		role   gppl.Role
		lo, hi float64
	}{
		{"noise=within(2500, 2600)", gppl.RoleNoise, 2500, 2600},
		{"noise=uniform(400, 500)", gppl.RoleNoise, 400, 500},
		{"lengthscale=within(40, 42)", gppl.RoleLengthscale, 40, 42},
	} {
		o.Priors = []gppl.ParamPrior{prior(test.prior)}
		a := automatic(t, s, o)
		for _, q := range a.Result.Params {
			v := q.Value
			if q.Unit == "y²" {
				v = a.Scaling.Variance(v)
			}
			if q.Role == test.role && (v < test.lo || v > test.hi) {
				t.Errorf("%s: %s is %v", test.prior, q.Name, v)
			}
		}
		for _, c := range a.Candidates {
			if c.Log && test.role == gppl.RoleNoise {
				t.Errorf("%s is in the unit of y², and %s was tried", test.prior, c.Name())
			}
		}
		beliefs := a.Beliefs()
		if len(beliefs) == 0 {
			t.Fatalf("%s: no beliefs", test.prior)
		}
		loaded := reloaded(t, a)
		if diff := cmp.Diff(beliefs, loaded.Beliefs()); diff != "" {
			t.Error(diff)
		}
	}
	for text, want := range map[string]string{
		"period=within(6, 8)":         "no parameter that is learnt", // the season is given
		"RQ.lengthscale=within(1, 2)": "SE.lengthscale",
	} {
		o.Priors = []gppl.ParamPrior{prior(text)}
		if _, err := Fit(t.Context(), s, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestReachable: every candidate of a search is among the models that priors are checked against.
func TestReachable(t *testing.T) {
	s := steps(t, 200, 0.5, func(i int) float64 {
		return math.Sin(0.02*float64(i)) + math.Sin(2*math.Pi*float64(i)/7) + math.Sin(2*math.Pi*float64(i)/28)
	})
	o := Options{Periods: []float64{7, 28}, Log: "never", Trend: "none"}
	p := &policy{progress: new(progress), options: o, plan: PlanFit(s, o), series: s,
		extent: extent{s.Step, s.X[len(s.X)-1] - s.X[0]}}
	if err := p.setSeasons(auto.LikelyPeriods); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	models, err := p.reachable()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		known[kernelName(m.Kernel)] = true
	}
	most := 0
	for _, c := range testkit.Must(find(t.Context(), s, o))(t).candidates {
		if !known[c.Kernel] && c.kind != candidate(randomWalk{}) {
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
	s := steps(t, 60, 1, func(int) float64 { return 0 })
	v, err := newYScale(s, 0, 60, false)
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
		loss, err := gppl.NewExact(t.Context(), r.Model, v.data)
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
		return beliefs{weak: make([]gppl.LogNormal, 2), given: []gppl.Prior{nil, p}}
	}
	for _, p := range []gppl.Prior{gppl.LogNormal{Mu: -1, Sigma: 0.3}, gppl.Gamma{Shape: 20, Rate: 40},
		gppl.InverseGamma{Shape: 20, Scale: 10}, gppl.HalfNormal{Scale: 0.5}} {
		loss, err := gppl.NewExact(t.Context(), m, v.data)
		if err != nil {
			t.Fatal(err)
		}
		const about = 60 // the least value, about, so that nothing underflows
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
	weak := beliefs{weak: []gppl.LogNormal{{}, {Mu: -1, Sigma: 0.3}}, given: make([]gppl.Prior, 2)}
	if a, b := at(weak), at(with(gppl.LogNormal{Mu: -1, Sigma: 0.3})); math.Abs(a-b) > 0.02 {
		t.Errorf("the same prior has the evidence %v as a weak one and %v as a given one", a, b)
	}
}
