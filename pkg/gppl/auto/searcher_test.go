package auto_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/testkit"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// observe returns n observations of f at even times with noise.
func observe(t testing.TB, n int, spacing, noise float64, seed uint64, f func(x float64) float64) gppl.Data {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 21))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = spacing * float64(i)
		y[i] = f(x[i]) + noise*rnd.NormFloat64()
	}
	return testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
}

// bestFrom trains the exact likelihood from each of the models and returns the least value.
func bestFrom(t testing.TB, d gppl.Data, starts ...gppl.Model) float64 {
	t.Helper()
	best := math.Inf(1)
	for _, m := range starts {
		loss := testkit.Must(gppl.NewExact(t.Context(), m, d))(t)
		r := testkit.Must(gppl.Fit(context.Background(), loss, nil, gppl.Settings{NoStandardErrors: true}))(t)
		best = min(best, r.Value)
	}
	return best
}

// TestFitAutoFast mixes a slow wave and a fast one: a slow kernel that takes the fast one for noise is an optimum, hundreds
// of nats above the best.
func TestFitAutoFast(t *testing.T) {
	for _, spacing := range []float64{0.5, 1} {
		d := observe(t, 200, spacing, 0.1, 1, func(x float64) float64 { return math.Sin(x/1.5) + math.Sin(x/11) })
		for _, k := range []gppl.Kernel{gppl.SE{Variance: 2, Lengthscale: 3}, gppl.Matern32{Variance: 1.5, Lengthscale: 5}} {
			best := bestFrom(t, d, gppl.Model{Kernel: k, Noise: 0.01})
			r := testkit.Must(auto.Fit(context.Background(), gppl.Model{Kernel: k}, d, auto.Settings{}))(t)
			if r.Value > best+0.1 {
				t.Errorf("%T, spacing %v: %.1f nats above the best: %v", k, spacing, r.Value-best, r)
			}
			if r.Search.Screened == 0 || r.Search.Trained == 0 || r.Search.Agree == 0 {
				t.Errorf("the search does not say what it did: %+v", r.Search)
			}
		}
	}
}

// TestFitAutoPeriod wants the period of a rhythm that others outweigh, and none that x cannot show.
func TestFitAutoPeriod(t *testing.T) {
	t.Parallel()
	d := observe(t, 150, 0.7, 0.2, 2, func(x float64) float64 {
		return math.Sin(2*math.Pi*x/7) + 0.7*math.Sin(4*math.Pi*x/7) + 1.2*math.Sin(x/16)
	})
	k := gppl.Add(gppl.SE{Variance: 1, Lengthscale: 16}, gppl.Periodic{Variance: 1, Period: 7, Lengthscale: 1})
	best := bestFrom(t, d, gppl.Model{Kernel: k, Noise: 0.04})
	r := testkit.Must(auto.Fit(context.Background(), gppl.Model{Kernel: k}, d, auto.Settings{}))(t)
	if r.Value > best+0.5 {
		t.Errorf("%.2f nats above the best: %v", r.Value-best, r)
	}
	if !testkit.Quick() {
		again := testkit.Must(auto.Fit(context.Background(), gppl.Model{Kernel: k}, d, auto.Settings{}))(t)
		if again.Value != r.Value || !reflect.DeepEqual(again.Search, r.Search) {
			t.Errorf("another result the second time: %v, %v", again, r)
		}
	}
	for _, p := range r.Params {
		if p.Transform != (transform.Log{}) {
			t.Errorf("%s comes back with the transform %v", p.Name, p.Transform)
		}
	}
	// A smooth curve has no rhythm: Periodic would take a period beyond the range.
	smooth := observe(t, 100, 1, 0.1, 3, func(x float64) float64 { return math.Sin(x*x/600) + x/40 })
	r = testkit.Must(auto.Fit(context.Background(), gppl.Model{Kernel: gppl.Periodic{}}, smooth, auto.Settings{}))(t)
	if p := r.Model.Kernel.(gppl.Periodic).Period; p < 2 || p > 99 {
		t.Errorf("period %v of a series with spacing 1 and range 99", p)
	}
	if r.Status != gppl.Doubtful || !strings.Contains(strings.Join(r.Warnings, "; "), "longer than the range of x") {
		t.Errorf("a period at the end of the range, without a word: %v", r)
	}
}

// TestPartOfPeriod: a rhythm of many harmonics is first found at a part of its period, and the search goes on to the whole.
// Without that these draws ended 24 and 20 nats above the model that drew them, and converged.
func TestPartOfPeriod(t *testing.T) {
	x := make([]float64, 150)
	for i := range x {
		x[i] = float64(i) * 2 / 3
	}
	truth := gppl.Model{Kernel: gppl.Periodic{Variance: 1, Period: 13, Lengthscale: 0.25}, Noise: 0.01}
	for _, seed := range []uint64{11, 58} {
		draw, err := truth.Sample(t.Context(), gppl.Scalars(x), seed, gppl.WithEngine(gppl.EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		y := draw.Y
		floats.AddConst(-floats.Sum(y)/float64(len(y)), y)
		d := gppl.Data{X: gppl.Scalars(x), Y: y}
		drawn := testkit.Must(testkit.Must(gppl.NewExact(t.Context(), truth, d))(t).ValueGrad(t.Context(), nil, truth.Values()))(t)
		r := testkit.Must(auto.Fit(t.Context(), gppl.Model{Kernel: gppl.Periodic{}}, d, auto.Settings{}))(t)
		if r.Value > drawn {
			t.Errorf("draw %d: %.2f nats, %s, and the model that drew it has %.2f", seed, r.Value, r.Status, drawn)
		}
	}
}
