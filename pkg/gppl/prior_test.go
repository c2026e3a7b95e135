package gppl_test

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"
	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// TestPriorDensities compares densities with gonum's, slopes with differences, and
// integrals with one.
func TestPriorDensities(t *testing.T) {
	for _, c := range []struct {
		p    gppl.Prior
		want interface{ LogProb(float64) float64 }
	}{
		{prior.LogNormal{Mu: 0.3, Sigma: 0.7}, distuv.LogNormal{Mu: 0.3, Sigma: 0.7}},
		{prior.Gamma{Shape: 2.5, Rate: 1.3}, distuv.Gamma{Alpha: 2.5, Beta: 1.3}},
		{prior.InverseGamma{Shape: 3.1, Scale: 2}, distuv.InverseGamma{Alpha: 3.1, Beta: 2}},
		{prior.Uniform{Lo: 0.1, Hi: 7}, distuv.Uniform{Min: 0.1, Max: 7}},
		{prior.HalfNormal{Scale: 1.4}, nil},
	} {
		t.Run(c.p.String(), func(t *testing.T) {
			if err := c.p.Check(); err != nil {
				t.Fatal(err)
			}
			for _, x := range []float64{0.2, 1, 3.3, 6} {
				got, slope := c.p.LogDensity(x)
				if c.want != nil && math.Abs(got-c.want.LogProb(x)) > 1e-12 {
					t.Errorf("log p(%v) = %v, gonum %v", x, got, c.want.LogProb(x))
				}
				want := fd.Derivative(func(x float64) float64 { v, _ := c.p.LogDensity(x); return v }, x,
					&fd.Settings{Formula: fd.Central, Step: 1e-5})
				if math.Abs(slope-want) > 1e-7*(1+math.Abs(want)) {
					t.Errorf("slope at %v: %v, by differences %v", x, slope, want)
				}
			}
			// ∫ p dθ = ∫ p·θ du, u = log θ.
			sum := quad.Fixed(func(u float64) float64 {
				v, _ := c.p.LogDensity(math.Exp(u))
				return math.Exp(v + u)
			}, -20, math.Log(7), 4000, nil, 0) + quad.Fixed(func(u float64) float64 {
				v, _ := c.p.LogDensity(math.Exp(u))
				return math.Exp(v + u)
			}, math.Log(7), 12, 4000, nil, 0)
			if math.Abs(sum-1) > 1e-3 {
				t.Errorf("the density integrates to %v", sum)
			}
			for _, x := range []float64{-1, math.Inf(1), math.NaN()} {
				if v, s := c.p.LogDensity(x); !math.IsInf(v, -1) || s != 0 {
					t.Errorf("log p(%v) = %v, slope %v; want −Inf, 0", x, v, s)
				}
			}
		})
	}
	p := prior.LogNormalWithin(2, 50)
	gonum := distuv.LogNormal{Mu: p.Mu, Sigma: p.Sigma}
	if lo, hi := gonum.CDF(2), gonum.Survival(50); math.Abs(lo-0.01) > 1e-12 || math.Abs(hi-0.01) > 1e-12 {
		t.Errorf("LogNormalWithin leaves %v below and %v above", lo, hi)
	}
	for _, bad := range []gppl.Prior{
		prior.LogNormal{Sigma: 0}, prior.LogNormal{Mu: math.NaN(), Sigma: 1}, prior.HalfNormal{}, prior.Gamma{Shape: -1, Rate: 1},
		prior.Gamma{Shape: 1},
		prior.InverseGamma{Shape: 1, Scale: math.Inf(1)}, prior.Uniform{Lo: 2, Hi: 2}, prior.Uniform{Lo: -1, Hi: 2},
	} {
		if bad.Check() == nil {
			t.Errorf("%v is out of range, and Check says nothing", bad)
		}
	}
}

func priorCase(t *testing.T) (gppl.Model, gppl.Data) {
	data := randomData(t, 60, 1, 7)
	return gppl.Model{Kernel: gppl.Add(gppl.SE{Variance: 1.3, Lengthscale: 0.7}, gppl.Matern32{Variance: 0.4, Lengthscale: 3}),
		Noise: 0.2}, data
}

func TestMAPLoss(t *testing.T) {
	m, data := priorCase(t)
	exact := testkit.Must(gppl.NewExact(t.Context(), m, data))(t)
	loss := testkit.Must(gppl.NewMAP(exact,
		gppl.ParamPrior{Name: "SE.lengthscale", Prior: prior.LogNormal{Mu: 0, Sigma: 0.5}},
		gppl.ParamPrior{Role: gppl.RoleLengthscale, Prior: prior.InverseGamma{Shape: 3, Scale: 2}},
		gppl.ParamPrior{Role: gppl.RoleVariance, Prior: prior.HalfNormal{Scale: 2}},
		gppl.ParamPrior{Name: gppl.NoiseName, Prior: prior.Gamma{Shape: 2, Rate: 5}}))(t)
	gppltest.CheckLoss(t, loss)
	var names []string
	for _, p := range loss.Priors() {
		names = append(names, p.String())
	}
	want := []string{"SE.variance ~ HalfNormal(2)", "SE.lengthscale ~ LogNormal(0, 0.5)", "Matern32.variance ~ HalfNormal(2)",
		"Matern32.lengthscale ~ InverseGamma(3, 2)", "noise variance ~ Gamma(2, 5)"}
	if !slices.Equal(names, want) {
		t.Errorf("priors %q, want %q", names, want)
	}
	theta := gppl.Values(loss.Params())
	likelihood, _ := valueAt(t, exact)
	value, _ := valueAt(t, loss)
	if got := value + loss.LogPrior(theta); math.Abs(got-likelihood) > 1e-12*math.Abs(likelihood) {
		t.Errorf("value and log prior add up to %v, the likelihood is %v", got, likelihood)
	}

	tight := testkit.Must(gppl.NewMAP(exact, gppl.ParamPrior{Name: gppl.NoiseName, Prior: prior.Uniform{Lo: 1, Hi: 2}}))(t)
	if _, err := tight.ValueGrad(t.Context(), nil, theta); err == nil || !strings.Contains(err.Error(),
		`"noise variance" (index 4) = 0.2 is outside the support`) {
		t.Errorf("outside the support: %v", err)
	}
	for want, bad := range map[string]gppl.ParamPrior{
		"no such parameter":           {Name: "lengthscale", Prior: prior.HalfNormal{Scale: 1}},
		"no parameter that is traine": {Role: gppl.RolePeriod, Prior: prior.HalfNormal{Scale: 1}},
		"is nil":                      {Name: "SE.lengthscale"},
		"half-normal prior is -1":     {Name: "SE.lengthscale", Prior: prior.HalfNormal{Scale: -1}},
	} {
		if _, err := gppl.NewMAP(exact, bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %s", err, want)
		}
	}
	noise := gppl.ParamPrior{Name: gppl.NoiseName, Prior: prior.HalfNormal{Scale: 1}}
	if _, err := gppl.NewMAP(exact, noise, noise); err == nil || !strings.Contains(err.Error(), "two priors") {
		t.Errorf("two priors on one parameter: %v", err)
	}
	fixed := testkit.Must(gppl.NewExact(t.Context(), m.Fix(gppl.NoiseName), data))(t)
	if _, err := gppl.NewMAP(fixed, noise); err == nil || !strings.Contains(err.Error(), "which is fixed") {
		t.Errorf("a prior on a fixed parameter: %v", err)
	}
}

// TestMAPOfNoise: white noise with an inverse gamma prior on its variance has the mode
// (b + yᵀy/2)/(a + 1 + n/2), whatever the transform that training moves it through.
func TestMAPOfNoise(t *testing.T) {
	data := randomData(t, 50, 1, 3)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1e-14, Lengthscale: 1}, Noise: 1}.Fix("variance", "lengthscale")
	var square float64
	for _, y := range data.Y {
		square += y * y
	}
	const a, b = 20.0, 8.0
	want := (b + square/2) / (a + 1 + 25)
	for _, transform := range []transform.Transform{transform.Log{}, transform.Softplus{}} {
		exact := testkit.Must(gppl.NewExact(t.Context(), m.WithTransform(gppl.NoiseName, transform), data))(t)
		loss := testkit.Must(gppl.NewMAP(exact, gppl.ParamPrior{Name: gppl.NoiseName, Prior: prior.InverseGamma{Shape: a, Scale: b}}))(t)
		r := testkit.Must(gppl.Fit(context.Background(), loss, nil, gppl.Settings{}))(t)
		if r.Status != gppl.Converged || math.Abs(r.Model.Noise/want-1) > 2e-5 {
			t.Errorf("%v: σ² = %v (%v), want %v", transform, r.Model.Noise, r.Status, want)
		}
		// L = (a + 1 + n/2)·log σ² + (b + S/2)/σ²: at the mode the curvature in log σ² is
		// a + 1 + n/2.
		if got, want := r.Params[2].StdErrLog, 1/math.Sqrt(a+1+25); math.Abs(got/want-1) > 1e-4 {
			t.Errorf("%v: standard error of log σ² %v, want %v", transform, got, want)
		}
		logPrior, _ := prior.InverseGamma{Shape: a, Scale: b}.LogDensity(r.Model.Noise)
		if math.Abs(r.LogPrior-logPrior) > 1e-12 {
			t.Errorf("log prior %v, want %v", r.LogPrior, logPrior)
		}
		likelihood, _ := valueAt(t, testkit.Must(gppl.NewExact(t.Context(), r.Model, data))(t))
		if got := r.Value + r.LogPrior; math.Abs(got-likelihood) > 1e-9 {
			t.Errorf("the result's likelihood is %v, want %v", got, likelihood)
		}
		if text := r.String(); !strings.Contains(text, "of which the likelihood") {
			t.Errorf("the report is silent about the prior: %s", text)
		}
		var again store.Result
		if err := json.Unmarshal(testkit.JSON(t, store.Result{Result: r}), &again); err != nil {
			t.Fatal(err)
		}
		testkit.SameJSON(t, testkit.JSON(t, store.Result{Result: r}), &again)
		if again.LogPrior != r.LogPrior || len(again.Priors) != 1 || again.Priors[0] != r.Priors[0] {
			t.Errorf("read %v and %v, want %v and %v", again.LogPrior, again.Priors, r.LogPrior, r.Priors)
		}
	}
}

// TestMAPStandardErrors: they follow from the posterior's curvature, by differences of the value.
func TestMAPStandardErrors(t *testing.T) {
	data := randomData(t, 60, 1, 7)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.5}
	exact := testkit.Must(gppl.NewExact(t.Context(), m, data))(t)
	loss := testkit.Must(gppl.NewMAP(exact,
		gppl.ParamPrior{Name: "lengthscale", Prior: prior.LogNormal{Mu: 0.2, Sigma: 0.01}},
		gppl.ParamPrior{Name: "variance", Prior: prior.Gamma{Shape: 3, Rate: 4}}))(t)
	r := testkit.Must(gppl.Fit(context.Background(), loss, nil, gppl.Settings{}))(t)
	if r.Status != gppl.Converged {
		t.Fatal(r)
	}
	u := make([]float64, 3)
	for i, p := range r.Params {
		u[i] = math.Log(p.Value)
	}
	var h mat.SymDense
	fd.Hessian(&h, func(u []float64) float64 {
		theta := make([]float64, 3)
		for i := range u {
			theta[i] = math.Exp(u[i])
		}
		v, err := loss.ValueGrad(t.Context(), nil, theta)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}, u, &fd.Settings{Step: 1e-3})
	var inv mat.Dense
	if err := inv.Inverse(&h); err != nil {
		t.Fatal(err)
	}
	for i, p := range r.Params {
		if want := math.Sqrt(inv.At(i, i)); math.Abs(p.StdErrLog/want-1) > 1e-3 {
			t.Errorf("%s: standard error %v, by differences %v", p.Name, p.StdErrLog, want)
		}
	}
	if se := r.Params[1].StdErrLog; math.Abs(se/0.01-1) > 0.02 {
		t.Errorf("a prior of 0.01 on log l leaves a standard error of %v", se)
	}
}

func TestTied(t *testing.T) {
	data := randomData(t, 60, 1, 7)
	m := gppl.Model{Kernel: gppl.Add(gppl.SE{Variance: 1.3, Lengthscale: 0.7}, gppl.RQ{Variance: 1.3, Lengthscale: 0.7, Alpha: 0.4}),
		Noise: 0.2}
	exact := testkit.Must(gppl.NewExact(t.Context(), m, data))(t)
	loss := testkit.Must(gppl.Tie(exact, []string{"SE.lengthscale", "RQ.lengthscale"}, []string{"RQ.variance", "SE.variance"}))(t)
	gppltest.CheckLoss(t, loss)

	r := testkit.Must(gppl.Fit(context.Background(), loss, nil, gppl.Settings{MaxEvaluations: 200}))(t)
	at := func(name string) gppl.FittedParam {
		for _, p := range r.Params {
			if p.Name == name {
				return p
			}
		}
		t.Fatalf("no %q", name)
		return gppl.FittedParam{}
	}
	l, follower := at("SE.lengthscale"), at("RQ.lengthscale")
	if l.Value == 0.7 || l.Value != follower.Value || follower.TiedTo != "SE.lengthscale" || l.TiedTo != "" ||
		l.StdErrLog != follower.StdErrLog {
		t.Errorf("lengthscales %+v and %+v", l, follower)
	}
	for i, p := range r.Model.Params() {
		if p.Value != r.Params[i].Value || p.Value != r.Starts[r.Best].Theta[i] {
			t.Errorf("%s: the model has %v, the report %v, the start %v", p.Name, p.Value, r.Params[i].Value, r.Starts[r.Best].Theta[i])
		}
	}
	value, _ := valueAt(t, testkit.Must(gppl.NewExact(t.Context(), r.Model, data))(t))
	if math.Abs(value-r.Value) > 1e-8*math.Abs(value) {
		t.Errorf("the exact loss at the result is %v, the result's %v", value, r.Value)
	}
	if text := r.String(); !strings.Contains(text, "(tied to SE.lengthscale)") {
		t.Errorf("%s does not tell of the tie", text)
	}
	var again store.Result
	if err := json.Unmarshal(testkit.JSON(t, store.Result{Result: r}), &again); err != nil {
		t.Fatal(err)
	}
	testkit.SameJSON(t, testkit.JSON(t, store.Result{Result: r}), &again)

	for want, group := range map[string][]string{
		"no such parameter": {"SE.lengthscale", "SE.period"},
		"two or more":       {"SE.lengthscale"},
		"tied twice":        {"SE.lengthscale", "SE.lengthscale"},
		"units are":         {"SE.lengthscale", "SE.variance"},
	} {
		if _, err := gppl.Tie(exact, group); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error that says %s", group, err, want)
		}
	}
	fixed := testkit.Must(gppl.NewExact(t.Context(), m.Fix("SE.lengthscale"), data))(t)
	if _, err := gppl.Tie(fixed, []string{"SE.lengthscale", "RQ.lengthscale"}); err == nil ||
		!strings.Contains(err.Error(), "it is fixed") {
		t.Errorf("a fixed parameter: %v", err)
	}

	// Priors on what is trained; the followers have none of their own.
	both := testkit.Must(gppl.NewMAP(loss, gppl.ParamPrior{Role: gppl.RoleLengthscale, Prior: prior.LogNormal{Sigma: 1}}))(t)
	if p := both.Priors(); len(p) != 1 || p[0].Name != "SE.lengthscale" {
		t.Errorf("priors %v", p)
	}
	gppltest.CheckLoss(t, both)
}

func TestDefaultPriors(t *testing.T) {
	data := randomData(t, 200, 1, 5)
	m := gppl.Model{Kernel: gppl.Add(gppl.LocPer{Variance: 1, Lengthscale: 3, Period: 1.2, PeriodicLengthscale: 0.6},
		gppl.Mul(gppl.SE{Variance: 1, Lengthscale: 2}, gppl.RQ{Variance: 1, Lengthscale: 1, Alpha: 1}), gppl.White{Variance: 0.1}),
		Noise: 0.2}.Fix("LocPer.period")
	priors := testkit.Must(m.DefaultPriors(t.Context(), data))(t)
	if want := len(m.Params()) - 1; len(priors) != want {
		t.Errorf("%d priors for %d parameters: %v", len(priors), want, priors)
	}
	exact := testkit.Must(gppl.NewExact(t.Context(), m, data))(t)
	gppltest.CheckLoss(t, testkit.Must(gppl.NewMAP(exact, priors...))(t))

	// In other units of x and y the priors are the same densities, but for the Jacobian.
	const a, b = 1000.0, 0.01
	x, y := make([]float64, data.Len()), make([]float64, data.Len())
	for i := range x {
		x[i], y[i] = a*data.X.At(i)[0], b*data.Y[i]
	}
	scaled := testkit.Must(m.DefaultPriors(t.Context(), testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)))(t)
	for i, p := range priors {
		got, want := scaled[i].Prior.(prior.LogNormal), p.Prior.(prior.LogNormal)
		shift := map[gppl.Role]float64{gppl.RoleLengthscale: a, gppl.RoleVariance: b * b, gppl.RoleNoise: b * b}[p.Role]
		if strings.Contains(p.Name, "Product") && p.Role == gppl.RoleVariance && strings.Contains(p.Name, "RQ") ||
			p.Role == gppl.RoleShape {
			shift = 1 // the further factor of a product is a pure number
		}
		if math.Abs(got.Mu-want.Mu-math.Log(shift)) > 1e-9 || math.Abs(got.Sigma-want.Sigma) > 1e-12 {
			t.Errorf("%s: %v in other units, %v", p.Name, got, want)
		}
	}
	for _, small := range []gppl.Data{data.Pick([]int{0}), data.Pick([]int{3, 3, 3})} {
		for _, p := range testkit.Must(m.DefaultPriors(t.Context(), small))(t) {
			if err := p.Prior.Check(); err != nil {
				t.Errorf("of %d points: %v", small.Len(), err)
			}
		}
	}
}

// TestTypesAreWritten: models and priors are not written without their types, which nobody could read.
func TestTypesAreWritten(t *testing.T) {
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 1}
	for what, v := range map[string]any{"store.Model": m, "store.Prior": gppl.ParamPrior{Prior: prior.Gamma{Shape: 1, Rate: 1}},
		"a store.Model": gppl.Result{Model: m}} {
		if b, err := json.Marshal(v); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("written as %s: %v", b, err)
		}
	}
}

func TestPriorJSON(t *testing.T) {
	for _, p := range []gppl.ParamPrior{
		{Name: "SE.lengthscale", Role: gppl.RoleLengthscale, Prior: prior.Gamma{Shape: 2, Rate: 1}},
		{Role: gppl.RoleNoise, Prior: prior.Uniform{Lo: 0, Hi: 3}},
	} {
		var again store.Prior
		if err := json.Unmarshal(testkit.JSON(t, store.Prior{ParamPrior: p}), &again); err != nil || again.ParamPrior != p {
			t.Errorf("read %v (%v), want %v", again, err, p)
		}
	}
	for text, want := range map[string]string{
		`{"role":"noise","type":"Cauchy","fields":{}}`:              `unknown type "Cauchy"`,
		`{"role":"nose","type":"Gamma","fields":{}}`:                `unknown role "nose"`,
		`{"role":"noise","type":"Gamma","fields":{"Shape":1}}`:      "rate of the gamma prior is 0",
		`{"role":"noise","type":"HalfNormal","fields":{"Width":1}}`: "Width",
		`null`: "unknown role",
	} {
		var p store.Prior
		if err := json.Unmarshal([]byte(text), &p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that says %s", text, err, want)
		}
	}
}
