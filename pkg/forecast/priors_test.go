package forecast

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestPriors gives priors that overrule the data, in units of the file, and checks the likelihood and the density of the priors
// separately.
func TestPriors(t *testing.T) {
	s := testseries.Steps(t, 80, 5, func(i int) float64 { return 100 * math.Sin(0.1*float64(i)) })
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
		p, err := search.ParsePrior(test.prior)
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
		nll += float64(data.Len()) * math.Log(a.Scaling.Scale) // the density of y, not of the standardised y
		if err != nil || math.Abs(nll-a.NLL()) > 0.01 || math.Abs(a.Candidates[0].NLL-nll) > 0.01 {
			t.Errorf("%s: the NLL is %v, reported as %v and %v", test.prior, nll, a.NLL(), a.Candidates[0].NLL)
		}
		beliefs := a.Beliefs()
		want, _ := p.Prior.LogDensity(got)
		if strings.HasSuffix(test.of, "variance") { // the density of the variance of the standardised series
			want += 2 * math.Log(a.Scaling.Scale)
		}
		if len(beliefs) != 1 || math.Abs(beliefs[0].Log-want) > 1e-9 {
			t.Errorf("%s: %+v, want a density of %v", test.prior, beliefs, want)
		}
		loaded := reloaded(t, a)
		if diff := cmp.Diff(beliefs, loaded.Beliefs()); diff != "" {
			t.Error(diff)
		}
	}
	for prior, want := range map[string]string{"period=within(1,2)": "the prior every period",
		"RQ.shape=within(1,2)": "SE.lengthscale"} {
		p, err := search.ParsePrior(prior)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Fit(t.Context(), s, Options{Kernels: []string{"SE", "SE + Laplace"}, Priors: []gppl.ParamPrior{p}}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", prior, err)
		}
	}
	p, _ := search.ParsePrior("noise=within(1,2)")
	if _, err := Fit(t.Context(), s, Options{Kernels: []string{"SE"}, Priors: []gppl.ParamPrior{p, p}}); err == nil ||
		!strings.Contains(err.Error(), "one prior is enough") {
		t.Error(err)
	}
}

// TestPolicyPriors: the automatic choice takes the given priors, in units of the file, wherever a candidate has the parameter.
func TestPolicyPriors(t *testing.T) {
	s := testseries.Steps(t, 80, 5, func(i int) float64 { return 1000 + 100*math.Sin(0.1*float64(i)) + 30*math.Sin(2*math.Pi*float64(i)/7) })
	prior := func(text string) gppl.ParamPrior {
		p, err := search.ParsePrior(text)
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
