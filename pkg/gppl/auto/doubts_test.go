package auto_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// TestFitAutoVanished wants no word of a floor where the noise variance has none.
func TestFitAutoVanished(t *testing.T) {
	d := observe(t, 60, 1, 0, 1, func(x float64) float64 { return math.Sin(x / 9) })
	r := testkit.Must(auto.Fit(context.Background(), gppl.Model{Kernel: gppl.SE{}}, d, auto.Settings{}))(t)
	said := strings.Join(r.Warnings, "; ")
	if r.Status != gppl.Doubtful || strings.Contains(said, "its floor") || !strings.Contains(said, "nearly vanished") {
		t.Errorf("%v", r)
	}
}

// TestNotIdentified wants no number for the standard error of a parameter that the data do not determine, and NaN where none
// is known.
func TestNotIdentified(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	x, y := make([]float64, 80), make([]float64, 80)
	for i := range x {
		x[i], y[i] = float64(i), rnd.NormFloat64()
	}
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1e-9, Lengthscale: 3}, Noise: 1}.Fix(gppl.NoiseName)
	loss := testkit.Must(gppl.NewExact(t.Context(), m, d))(t)
	r := testkit.Must(gppl.Fit(context.Background(), loss, nil, gppl.Settings{MaxEvaluations: 2}))(t)
	for _, p := range r.Params {
		if se := p.StdErrLog; se == 0 || se > 10 && !math.IsInf(se, 1) {
			t.Errorf("%s: the standard error of its log is %v: %v", p.Name, se, r)
		}
	}
	if !math.IsNaN(r.Params[2].StdErrLog) || !math.IsNaN(r.Params[2].StdErr()) {
		t.Errorf("a fixed parameter has a standard error: %v", r.Params[2])
	}
}

// TestFitSumsOutlier wants a doubt where one value is all that there is to see.
func TestFitSumsOutlier(t *testing.T) {
	t.Parallel()
	for i, outlier := range []float64{1e3, 100, 1e6, 1e9} {
		settings := auto.Settings{}
		if i > 0 || !testkit.Long() {
			settings.Fit = gppl.Settings{MaxEvaluations: 5, NoStandardErrors: true}
		}
		rnd := rand.New(rand.NewPCG(9, 9))
		s := testkit.Must(sums.New(sums.Header{Lo: 0, Hi: 100, Origin: -50, Period: 200, Highest: 512, Largest: 1 << 31}))(t)
		x, y := make([]float64, 400), make([]float64, 400)
		for i := range x {
			x[i] = 100 * rnd.Float64()
			y[i] = math.Sin(x[i]/5) + 0.3*rnd.NormFloat64()
		}
		y[200] = outlier
		if err := s.Add(x, y); err != nil {
			t.Fatal(err)
		}
		r, err := auto.FitSums(context.Background(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}, s, s.Mean(),
			settings)
		if err == nil && (r.Status == gppl.Converged || !strings.Contains(strings.Join(r.Warnings, "; "), "one value")) {
			t.Errorf("one value of %v: %v", outlier, r)
		}
	}
}

// TestFitSumsEven wants no word of an outlier of white noise or a sinusoid, however few there are.
func TestFitSumsEven(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 10))
		s := testkit.Must(sums.New(sums.Header{Lo: 0, Hi: 100, Origin: -50, Period: 200, Highest: 512, Largest: 8}))(t)
		x, y := make([]float64, 30+10*seed), make([]float64, 30+10*seed)
		for i := range x {
			x[i] = 100 * rnd.Float64()
			y[i] = 0.5*rnd.NormFloat64() + float64(seed%2)*math.Sin(x[i])
		}
		if err := s.Add(x, y); err != nil {
			t.Fatal(err)
		}
		short := auto.Settings{Fit: gppl.Settings{MaxEvaluations: 1, NoStandardErrors: true}}
		r, err := auto.FitSums(context.Background(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}, s, s.Mean(),
			short)
		if err != nil || strings.Contains(strings.Join(r.Warnings, "; "), "one value") {
			t.Errorf("seed %d, n = %d: %v, %v", seed, len(x), err, r)
		}
	}
}

// TestFitAutoFloor: noise that ends at the floor of its transform, 1e-6 in the paper's model, is doubtful whatever the size of y,
// also where the floor is above a millionth of the mean of y².
func TestFitAutoFloor(t *testing.T) {
	x, y := make([]float64, 80), make([]float64, 80)
	for i := range x {
		x[i], y[i] = float64(i), math.Sin(float64(i)/5)
	}
	r := testkit.Must(auto.Fit(t.Context(), gppl.PaperModel(gppl.SE{}), gppl.Data{X: gppl.Scalars(x), Y: y}, auto.Settings{}))(t)
	if said := strings.Join(r.Warnings, "; "); r.Status != gppl.Doubtful ||
		!strings.Contains(said, "the noise variance was driven to its floor") {
		t.Errorf("%v: %s", r.Status, said)
	}
}

// TestFitAutoBounds: an optimum close to a floor or an end of an interval is as sure as any other, and the search begins where
// transforms reach; an optimum beyond a bound is doubtful, and the warning names the parameter.
func TestFitAutoBounds(t *testing.T) {
	x := make([]float64, 400)
	for i := range x {
		x[i] = float64(i) / 8
	}
	draw, err := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.53}.Sample(t.Context(), gppl.Scalars(x), 3, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	y := draw.Y
	d, m := gppl.Data{X: gppl.Scalars(x), Y: y}, gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 1}
	free := testkit.Must(auto.Fit(t.Context(), m, d, auto.Settings{}))(t)
	variance, noise := free.Params[0].Value, free.Params[2]
	for _, c := range []struct {
		name   string
		by     transform.Transform
		inside bool
	}{
		{gppl.NoiseName, transform.Softplus{Floor: 0.8 * noise.Value}, true},
		{gppl.NoiseName, transform.Interval{Lo: 0.9 * noise.Value, Hi: 2 * noise.Value}, true},
		{gppl.NoiseName, transform.Interval{Hi: 1.1 * noise.Value}, true},
		{"variance", transform.Interval{Lo: 0.3 * variance, Hi: 1.2 * variance}, true},
		{gppl.NoiseName, transform.Softplus{Floor: 1.5 * noise.Value}, false},
		{gppl.NoiseName, transform.Interval{Lo: 0.01, Hi: 0.7 * noise.Value}, false},
		{"variance", transform.Interval{Lo: 8 * variance, Hi: 100 * variance}, false},
	} {
		theta := []float64{variance, 1, noise.Value}
		for i, p := range m.Params() {
			if p.Name == c.name {
				theta[i] = c.by.Natural(0.1)
			}
		}
		r, err := auto.Fit(t.Context(), m.WithParams(theta).WithTransform(c.name, c.by), d, auto.Settings{})
		if err != nil {
			t.Errorf("%s, %v: %v", c.name, c.by, err)
			continue
		}
		said := strings.Join(r.Warnings, "; ")
		if c.inside && (r.Status != gppl.Converged || r.Value > free.Value+1e-6) ||
			!c.inside && (r.Status != gppl.Doubtful || !strings.Contains(said, "the optimal value found for "+c.name)) {
			t.Errorf("%s, %v, the optimum at %v: %v", c.name, c.by, free.Model, r)
		}
	}
}
