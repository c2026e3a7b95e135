package auto_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// seDraw returns n of total noisy observations of an SE process on [0, 1000].
func seDraw(t testing.TB, n, total int, l float64, seed uint64) gppl.Data {
	t.Helper()
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: l}, Noise: 0.1}
	s, _, _, err := dataset.Synthetic{Model: m, N: total, Seed: seed}.Draw()
	if err != nil {
		t.Fatal(err)
	}
	pick := rand.New(rand.NewPCG(seed, 5)).Perm(total)[:n]
	return testkit.Must(gppl.NewData(gppl.Scalars(s.X), s.Y))(t).Pick(pick)
}

// excess returns the exact NLL at m above its optimum near m.
func excess(t testing.TB, m gppl.Model, d gppl.Data) float64 {
	t.Helper()
	l := testkit.Must(gppl.NewExact(t.Context(), m, d))(t)
	at := testkit.Must(l.ValueGrad(t.Context(), nil, m.Values()))(t)
	ml := testkit.Must(gppl.Fit(context.Background(), l, nil, gppl.Settings{NoStandardErrors: true}))(t)
	return at - ml.Value
}

func TestFitAuto(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, total int
		l        float64
	}{{1000, 1500, 20}, {1000, 1000, 5}} {
		if testkit.Quick() {
			c.n, c.total, c.l = c.n*2/5, c.total*2/5, c.l*5/2
		}
		for seed := range uint64(testkit.Size(1, 1, 3)) {
			d := seDraw(t, c.n, c.total, c.l, seed+1)
			for _, projected := range []bool{true, false} {
				t.Run(fmt.Sprintf("l=%v/seed=%d/projected=%v", c.l, seed+1, projected), func(t *testing.T) {
					var steps int
					r := testkit.Must(auto.Fit(context.Background(), gppl.Model{Kernel: gppl.SE{}}, d, auto.Settings{
						Projected: projected,
						Progress:  func(auto.Step) { steps++ },
					}))(t)
					if projected && r.Exact || r.Status != gppl.Converged || len(r.Warnings) > 0 || steps != len(r.Steps) {
						t.Errorf("exact %v, %d steps of %d: %v", r.Exact, len(r.Steps), steps, r)
					}
					if e := excess(t, r.Model, d); e > 0.5 {
						t.Errorf("%.3g nats above the optimum: %v", e, r)
					}
					for i, p := range r.Params {
						if truth := []float64{1, c.l, 0.1}[i]; !(p.StdErrLog > 0) || math.Abs(math.Log(p.Value/truth)) > 4*p.StdErrLog {
							t.Errorf("%s = %v ± %v of log, in truth %v", p.Name, p.Value, p.StdErrLog, truth)
						}
						if r.Kept[i] < 0.8 || r.Kept[i] > 1 {
							t.Errorf("share of the information about %s: %v", p.Name, r.Kept[i])
						}
					}
				})
			}
		}
	}
}

// TestFitAutoColour hides a fast oscillation behind a slow signal: it shows in what
// the first projections leave of y, not in the spectrum of the model that they
// teach.
func TestFitAutoColour(t *testing.T) {
	if testkit.Quick() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	slow := seDraw(t, 1000, 1000, 60, 4)
	for i := range slow.Y {
		slow.Y[i] += 0.5 * math.Sin(2*math.Pi*slow.X.At(i)[0]/6)
	}
	coloured := func(s auto.Step) bool { return strings.Contains(s.Decision, "a band of frequencies") }
	r := testkit.Must(auto.Fit(context.Background(), gppl.Model{Kernel: gppl.SE{}}, slow, auto.Settings{Projected: true}))(t)
	i := slices.IndexFunc(r.Steps, coloured)
	if i < 0 || r.Steps[i].K > 150 || r.Steps[i+1].K < 2*1000/6 {
		t.Errorf("the oscillation at frequency 1/6 of 1000 was not looked at: %v", r)
	}
	if e := excess(t, r.Model, slow); e > 0.5 {
		t.Errorf("%.3g nats above the optimum: %v", e, r)
	}
}

// TestFitAutoKeepsStart checks that training goes on from where it stood, with
// fixed parameters kept and columns added to those at hand.
func TestFitAutoKeepsStart(t *testing.T) {
	t.Parallel()
	n := testkit.Size(300, 600, 600)
	d := seDraw(t, n, n, 3000/float64(n), 9)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 20}, Noise: 0.1}.Fix("variance")
	r := testkit.Must(auto.Fit(context.Background(), m, d, auto.Settings{Projected: true, KeepStart: true, Gain: 1e-3}))(t)
	if len(r.Steps) < 2 || r.Params[0].Value != 1 || !math.IsNaN(r.Params[0].StdErrLog) {
		t.Fatal(r)
	}
	for i, s := range r.Steps[1:] {
		if s.K <= r.Steps[i].K || s.Gain < 0 {
			t.Errorf("step %d: k = %d after %d, gained %v", i+1, s.K, r.Steps[i].K, s.Gain)
		}
	}
	none := m.Fix("lengthscale", gppl.NoiseName)
	for _, projected := range []bool{true, false} {
		if r := testkit.Must(auto.Fit(context.Background(), none, d, auto.Settings{Projected: projected}))(t); r.Status != gppl.Converged ||
			r.Model.String() != none.String() {
			t.Errorf("nothing to train: %v", r)
		}
	}
	last := r.Steps[len(r.Steps)-1]
	if _, k := r.Projection.Dims(); k != last.K || last.Needed > k || last.Gain > 1e-3 {
		t.Errorf("k = %d, last step %+v", k, last)
	}
	if e := excess(t, r.Model, d); e > 0.5 {
		t.Errorf("%.3g nats above the optimum: %v", e, r)
	}
}

// TestFitAutoSunspots ends at the optima that are known. LocPer, which takes a minute, sees every third month unless GPPL_LONG=1,
// which adds RQ and the projected route of SE.
func TestFitAutoSunspots(t *testing.T) {
	if testkit.Quick() {
		t.Skip("takes some ten seconds")
	}
	t.Parallel()
	all := sunspots(t)
	var x, y []float64
	for i := 0; i < all.Len(); i += 3 {
		x, y = append(x, all.X.At(i)[0]), append(y, all.Y[i])
	}
	quarters := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	type fit struct {
		data   gppl.Data
		kernel gppl.Kernel
		want   float64
		exact  bool
	}
	fits := []fit{
		{all, gppl.SE{}, 1549.119, true},
		{all, gppl.Laplace{}, 1432.675, true},
	}
	if testkit.Long() {
		fits = append(fits, fit{all, gppl.SE{}, 1549.119, false}, fit{quarters, gppl.RQ{}, 625.911, true})
		fits = append(fits, fit{all, gppl.RQ{}, 1506.424, true}, fit{all, gppl.LocPer{}, 1468.565, true},
			fit{all, gppl.LocPer{}, 1468.565, false})
	} else {
		fits = append(fits, fit{quarters, gppl.LocPer{}, 607.950, true})
	}
	for _, c := range fits {
		route := "exact"
		if !c.exact {
			route = "projected"
		}
		t.Run(fmt.Sprintf("%T %s", c.kernel, route), func(t *testing.T) {
			d := c.data
			r := testkit.Must(auto.Fit(context.Background(), gppl.Model{Kernel: c.kernel}, d, auto.Settings{Projected: !c.exact}))(t)
			nll := testkit.Must(testkit.Must(gppl.NewExact(t.Context(), r.Model, d))(t).ValueGrad(t.Context(), nil, r.Model.Values()))(t)
			t.Logf("NLL %v: %v", nll, r)
			if nll > c.want+1 || r.Exact != c.exact {
				t.Errorf("%v: NLL %v, want %v; exact %v, want %v: %s", r.Model, nll, c.want, r.Exact, c.exact, r.Why)
			}
			if _, laplace := c.kernel.(gppl.Laplace); laplace && (r.Engine != gppl.EngineStateSpace ||
				!strings.Contains(r.Why, "falls too slowly")) {
				t.Errorf("Laplace by %s: %s", r.Engine, r.Why)
			}
		})
	}
}

// TestFitAutoSurvives fits data that no model of the family made.
func TestFitAutoSurvives(t *testing.T) {
	if testkit.Quick() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 300)
	for i := range x {
		x[i] = 100 * rnd.Float64()
	}
	slices.Sort(x)
	of := func(x []float64, f func(i int, x float64) float64) gppl.Data {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = f(i, v)
		}
		return testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	}
	noisy := func(x float64) float64 { return math.Sin(x/3) + 0.2*rnd.NormFloat64() }
	var gaps, clusters, twice, few []float64
	for i, v := range x {
		if i%2 == 0 {
			few = append(few, v)
		}
		gaps = append(gaps, v+500*math.Floor(v/50))
		clusters = append(clusters, 1000*float64(i%3)+v/100)
		twice = append(twice, x[i/2])
	}
	for i, c := range []struct {
		name  string
		data  gppl.Data
		doubt string // the required warning; "" for a success
	}{
		{"white noise", of(x, func(int, float64) float64 { return rnd.NormFloat64() }), "any"},
		{"trend", of(x, func(_ int, x float64) float64 { return x - 50 + 0.1*rnd.NormFloat64() }), "any"},
		{"exact trend", of(few, func(_ int, x float64) float64 { return x - 50 }), "noise variance"},
		{"two points", of([]float64{0, 1}, func(i int, _ float64) float64 { return float64(i) - 0.4 }), "any"},
		{"one point", of([]float64{0}, func(int, float64) float64 { return 1 }), "constant"},
		{"all equal", of(x, func(int, float64) float64 { return 3 }), "constant"},
		{"all zero", of(x, func(int, float64) float64 { return 0 }), "constant"},
		{"step", of(x, func(_ int, x float64) float64 { return math.Copysign(1, x-50) + 0.1*rnd.NormFloat64() }), ""},
		{"heavy tails", of(x, func(_ int, x float64) float64 { return math.Sin(x/3) + 0.1*rnd.NormFloat64()/rnd.Float64() }), ""},
		{"gaps", of(gaps, func(_ int, x float64) float64 { return noisy(x) }), ""},
		{"clusters", of(clusters, func(_ int, x float64) float64 { return noisy(100 * x) }), ""},
		{"duplicated x", of(twice, func(_ int, x float64) float64 { return noisy(x) }), ""},
		{"one x", of(make([]float64, 80), func(int, float64) float64 { return rnd.NormFloat64() }), "any"},
	} {
		for j, projected := range []bool{false, true} {
			if !testkit.Long() && c.doubt != "constant" && (i+j)%2 == 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s/projected=%v", c.name, projected), func(t *testing.T) {
				r, err := auto.Fit(context.Background(), gppl.Model{Kernel: gppl.SE{}}, c.data, auto.Settings{Projected: projected})
				if c.doubt == "constant" {
					if err == nil || !strings.Contains(err.Error(), "no maximum") {
						t.Errorf("got %v, %v, want an error", r, err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Log(r)
				for _, p := range r.Params {
					if !(p.Value > 0) || math.IsInf(p.Value, 0) {
						t.Errorf("%s = %v", p.Name, p.Value)
					}
				}
				if c.doubt == "" && r.Status != gppl.Converged {
					t.Errorf("status %s: %s", r.Status, r.Reason)
				}
				if c.doubt != "" && r.Status != gppl.Doubtful {
					t.Errorf("status %s, want doubts", r.Status)
				}
				if c.doubt != "" && c.doubt != "any" && !strings.Contains(strings.Join(r.Warnings, "; "), c.doubt) {
					t.Errorf("warnings %q, want %q", r.Warnings, c.doubt)
				}
				if once := slices.Compact(slices.Sorted(slices.Values(r.Warnings))); len(once) != len(r.Warnings) {
					t.Errorf("warnings that occur twice: %q", r.Warnings)
				}
			})
		}
	}
}

func TestFitAutoErrors(t *testing.T) {
	d := seDraw(t, 100, 100, 20, 1)
	if _, err := auto.Fit(context.Background(), gppl.Model{}, d, auto.Settings{}); err == nil {
		t.Error("no error without a kernel")
	}
	huge := gppl.Data{X: gppl.Scalars([]float64{1, 2, 3, 4}), Y: []float64{1, 2, 1e200, 3}}
	if _, err := auto.Fit(context.Background(), gppl.Model{Kernel: gppl.SE{}}, huge, auto.Settings{}); err == nil ||
		!strings.Contains(err.Error(), "y[2] = 1e+200") {
		t.Errorf("an observation whose square overflows: %v, want an error that names it", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, projected := range []bool{true, false} {
		if r, err := auto.Fit(ctx, gppl.Model{Kernel: gppl.SE{}}, d, auto.Settings{Projected: projected}); !errors.Is(err,
			context.Canceled) || r == nil || r.Status != gppl.Cancelled {
			t.Errorf("cancelled: got %v, %v", r, err)
		}
	}
}

// TestFitAutoCancelled: once ctx ends there is one evaluation more at most, whatever the number
// of starts that are left.
func TestFitAutoCancelled(t *testing.T) {
	d := seDraw(t, 450, 450, 5, 1) // more than are searched as a whole: several starts are left
	m := gppl.Model{Kernel: gppl.Add(gppl.Laplace{}, gppl.Matern52{})}
	for _, after := range []int{1, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		evaluations := 0
		settings := auto.Settings{Fit: gppl.Settings{Progress: func(gppl.Progress) {
			if evaluations++; evaluations == after {
				cancel()
			}
		}}}
		r, err := auto.Fit(ctx, m, d, settings)
		if !errors.Is(err, context.Canceled) || r == nil {
			t.Fatalf("cancelled after %d evaluations: %v, %v", after, r, err)
		}
		if evaluations > after+1 {
			t.Errorf("cancelled after %d evaluations, there were %d", after, evaluations)
		}
	}
}

// TestStartFrom checks that starts are near the truth where that is known.
func TestStartFrom(t *testing.T) {
	for seed := range uint64(5) {
		d := seDraw(t, 800, 800, 10, seed+1)
		m := testkit.Must(auto.StartFrom(t.Context(), gppl.Model{Kernel: gppl.SE{}}, d))(t)
		k := m.Kernel.(gppl.SE)
		for _, c := range []struct{ got, truth, factor float64 }{{m.Noise, 0.1, 1.3}, {k.Variance, 1, 3}, {k.Lengthscale, 10, 3}} {
			if !(c.got < c.truth*c.factor) || !(c.got > c.truth/c.factor) {
				t.Errorf("seed %d: %v, want within a factor %v of %v", seed+1, m, c.factor, c.truth)
			}
		}
	}
	// A model with a period, noise shared with White, fixed parameters and transforms.
	rnd := rand.New(rand.NewPCG(3, 3))
	x, y := make([]float64, 500), make([]float64, 500)
	for i := range x {
		x[i] = 200 * rnd.Float64()
		y[i] = 3*math.Sin(2*math.Pi*x[i]/7) + 0.3*rnd.NormFloat64()
	}
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	m := gppl.Model{Kernel: gppl.Add(gppl.LocPer{}, gppl.White{}), Noise: 1}
	p := testkit.Must(auto.StartFrom(t.Context(), m, d))(t).Kernel.(gppl.Sum).Terms()[0].(gppl.LocPer)
	if math.Abs(p.Period/7-1) > 0.03 || p.Lengthscale < 20 || p.Variance < 1 || p.Variance > 20 {
		t.Errorf("start %v", p)
	}
	start := testkit.Must(auto.StartFrom(t.Context(), m, d))(t)
	if w := start.Kernel.(gppl.Sum).Terms()[1].(gppl.White).Variance; w != start.Noise || w > 0.1 {
		t.Errorf("White %v, noise %v", w, start.Noise)
	}
	fixed := gppl.Model{Kernel: gppl.SE{Variance: 2, Lengthscale: 3}, Noise: 0.5}.Fix("lengthscale", gppl.NoiseName)
	if s, _ := auto.StartFrom(t.Context(), fixed, d); s.Kernel.(gppl.SE).Lengthscale != 3 || s.Noise != 0.5 {
		t.Errorf("fixed parameters moved: %v", s)
	}
	for _, c := range [][]float64{{0}, {0, 0}, {1, 1, 1, 1}, {1e-300, 1, 2, 3}} {
		d := testkit.Must(gppl.NewData(gppl.Scalars(c), make([]float64, len(c))))(t)
		if s, _ := auto.StartFrom(t.Context(), gppl.PaperModel(gppl.LocPer{}), d); s.Check() != nil {
			t.Errorf("x = %v, y = 0: %v", c, s.Check())
		}
	}
}

// TestFitAutoPriors: with priors the search finds the maximum of the posterior, at the place where a strong prior wants it, and
// its report equals NewMAP's.
func TestFitAutoPriors(t *testing.T) {
	t.Parallel()
	model := gppl.Model{Kernel: gppl.LocPer{Variance: 1, Lengthscale: 40, Period: 7, PeriodicLengthscale: 1}, Noise: 0.1}
	s, _, _, err := dataset.Synthetic{Model: model, N: testkit.Size(60, 150, 150), Seed: 3}.Draw()
	if err != nil {
		t.Fatal(err)
	}
	d := testkit.Must(gppl.NewData(gppl.Scalars(s.X), s.Y))(t)
	for i, c := range []struct {
		prior  gppl.ParamPrior
		lo, hi float64 // bounds on the learnt parameter
	}{
		{gppl.ParamPrior{Name: "period", Prior: prior.LogNormal{Mu: math.Log(14), Sigma: 0.001}}, 13.9, 14.1},
		{gppl.ParamPrior{Name: "period", Prior: prior.Uniform{Lo: 2, Hi: 5}}, 2, 5},
		{gppl.ParamPrior{Role: gppl.RoleNoise, Prior: prior.LogNormal{Mu: math.Log(5), Sigma: 0.01}}, 4.5, 5.5},
		{gppl.ParamPrior{Role: gppl.RoleLengthscale, Prior: prior.Uniform{Lo: 1, Hi: 2}}, 1, 2},
	} {
		if testkit.Quick() && i > 0 {
			continue
		}
		r, err := auto.Fit(t.Context(), model, d, auto.Settings{Priors: []gppl.ParamPrior{c.prior}})
		if err != nil {
			t.Fatalf("%v: %v", c.prior, err)
		}
		if len(r.Priors) != 1 {
			t.Fatalf("%v: the result has the priors %v", c.prior, r.Priors)
		}
		theta := make([]float64, len(r.Params))
		for i, p := range r.Params {
			if theta[i] = p.Value; p.Name == r.Priors[0].Name && !(p.Value > c.lo && p.Value < c.hi) {
				t.Errorf("%v: learnt %v", c.prior, p.Value)
			}
		}
		posterior := testkit.Must(gppl.NewMAP(testkit.Must(gppl.NewExact(t.Context(), model, d))(t), c.prior))(t)
		if v, err := posterior.ValueGrad(t.Context(), nil, theta); err != nil || math.Abs(v-r.Value) > 1e-3 {
			t.Errorf("%v: reported %v nats, NewMAP has %v there (error: %v)", c.prior, r.Value, v, err)
		}
	}
	if _, err := auto.Fit(t.Context(), model, d, auto.Settings{Priors: []gppl.ParamPrior{{Name: "perod",
		Prior: prior.LogNormal{Sigma: 1}}}}); err == nil {
		t.Error("a prior of a parameter that is not there is no error")
	}
}
