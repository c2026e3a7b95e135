package forecast

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

func TestFitCancelled(t *testing.T) {
	s, err := series.Read(t.Context(), testdraws.File(t, testdraws.Monthly(60)), series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	a, err := Fit(ctx, s, Options{Progress: func(p Progress) {
		if p.Evaluations > 5 {
			cancel()
		}
	}})
	if a != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", a, err)
	}
}

// TestProductFit: only those parameters of a product are trained that the data determine. The product is no worse than LocPer,
// the same kernel with one variance.
func TestProductFit(t *testing.T) {
	var x, y []float64
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 150 {
		x = append(x, 0.2*float64(i))
		y = append(y, math.Sin(2*math.Pi*x[i]/3)*(1+0.3*math.Sin(x[i]/9))+0.1*rnd.NormFloat64())
	}
	fit := func(kernel string) *Analysis {
		t.Helper()
		s := &series.Series{X: x, Y: y, Step: 0.2}
		a, err := Fit(context.Background(), s, Options{Kernels: []string{kernel}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a, b := fit("SE*Periodic + White"), fit("LocPer")
	if a.Kernel() != "SE * Periodic" || a.Candidates[0].Parameters != 5 || b.Candidates[0].Parameters != 5 {
		t.Errorf("%+v and %+v", a.Candidates[0], b.Candidates[0])
	}
	if math.Abs(a.NLL()-b.NLL()) > 0.5 { // their weak priors differ a little
		t.Errorf("the product has %v nats, LocPer %v", a.NLL(), b.NLL())
	}
	fixed := 0
	for _, p := range a.Result.Params {
		if p.Param.IsFixed() {
			fixed++
		} else if p.StdErrLog == 0 {
			t.Errorf("%s has no standard error: %v", p.Name, a.Result.Warnings)
		}
	}
	if fixed != 1 {
		t.Errorf("%d parameters are fixed, want one:\n%v", fixed, a.Result)
	}
}

// A named kernel is also tried for log y if Options.Log allows it. log y is likelier if y grows by a share a step, and y is if y
// grows by an amount; both likelihoods are densities of y.
func TestFitNamedOnTheLogarithm(t *testing.T) {
	multiplied := testseries.Steps(t, 60, 0, func(i int) float64 { return float64(i) })
	added := testseries.Steps(t, 60, 0, func(i int) float64 { return float64(i) })
	rng := rand.New(rand.NewPCG(5, 0))
	for i := range multiplied.Y {
		e := rng.NormFloat64()
		multiplied.Y[i] = 10 * math.Exp(0.05*float64(i)+0.1*e+0.3*math.Sin(0.3*float64(i)))
		added.Y[i] = 40 + 0.5*float64(i) + 4*e + 8*math.Sin(0.3*float64(i))
	}
	for _, test := range []struct {
		s   *series.Series
		log string
		is  bool
	}{{multiplied, "", true}, {multiplied, "auto", true}, {multiplied, "never", false}, {added, "auto", false},
		{added, "always", true}} {
		a := automatic(t, test.s, Options{Kernels: []string{"SE"}, Trend: "linear", Log: test.log})
		if a.Log != test.is || a.Candidates[0].Log != test.is {
			t.Errorf("--log %q: the logarithm is modelled: %v, want %v; %+v", test.log, a.Log, test.is, a.Candidates)
		}
		if auto := test.log == "" || test.log == "auto"; auto != (len(a.Candidates) == 2) {
			t.Errorf("--log %q: %d candidates", test.log, len(a.Candidates))
		}
		for _, c := range a.Candidates { // −log p(y) from the model's own values
			if c.Log != a.Log {
				continue
			}
			v, err := search.NewYScale(test.s, 0, 60, c.Log)
			if err != nil {
				t.Fatal(err)
			}
			offset := 60 * math.Log(v.Scaling.Scale)
			for _, y := range test.s.Y {
				if c.Log { // the density of y is the density of log y, divided by y
					offset += math.Log(y)
				}
			}
			if want := a.Result.Value + a.Result.LogPrior + offset; math.Abs(c.NLL-want) > 1e-9*math.Abs(want) ||
				a.NLL() != a.Candidates[0].NLL {
				t.Errorf("the NLL of y is %v, reported as %v and %v", want, c.NLL, a.NLL())
			}
		}
		f, err := a.Forecast(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		if f.Median[2] < 0.3*test.s.Y[59] || f.Median[2] > 3*test.s.Y[59] {
			t.Errorf("--log %q: %v is forecast after %v", test.log, f.Median[2], test.s.Y[59])
		}
	}
}
