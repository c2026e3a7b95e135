package auto_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// rising is a draw of SE l = 3 with noise 0.04 at n irregular times on [0, n/5], on a line.
func rising(t *testing.T, n int, level, slope float64) gppl.Data {
	t.Helper()
	rnd := rand.New(rand.NewPCG(uint64(n), 11))
	x := make([]float64, n)
	for i := range x {
		x[i] = (float64(i) + 0.8*rnd.Float64()) / 5
	}
	draw, err := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 3}, Noise: 0.04}.Sample(t.Context(), gppl.Scalars(x), 5, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	y := draw.Y
	for i := range y {
		y[i] += level + slope*x[i]
	}
	return gppl.Data{X: gppl.Scalars(x), Y: y}
}

// TestFitAutoMean: auto.Fit learns a model with a mean, whatever line is in y, by the exact
// likelihood and by projections.
func TestFitAutoMean(t *testing.T) {
	t.Parallel()
	for _, n := range []int{60, testkit.Size(500, 900, 900)} {
		var first *auto.Result
		for _, slope := range []float64{0.2, -40} {
			d := rising(t, n, 30*slope, slope)
			m := gppl.Model{Kernel: gppl.SE{}, Mean: gppl.AddMeans(gppl.Intercept{}, gppl.Linear{})}
			r, err := auto.Fit(context.Background(), m, d, auto.Settings{Projected: n > 60})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != gppl.Converged && r.Status != gppl.Doubtful || r.Exact == (n > 60) { // 60 hardly determine a variance
				t.Fatalf("n = %d: exact %v, %v", n, r.Exact, r)
			}
			if l := r.Params[1].Value; math.Abs(math.Log(l/3)) > 0.5 {
				t.Errorf("n = %d: lengthscale %.3g, drawn with 3", n, l)
			}
			if len(r.Mean) != 2 || math.Abs(r.Mean[1].Value-slope) > 4*r.Mean[1].StdErr {
				t.Errorf("n = %d: %+v, the slope is %v", n, r.Mean, slope)
			}
			if first == nil {
				first = r
				continue
			}
			for i, p := range r.Params { // the trained ones
				if math.Abs(math.Log(p.Value/first.Params[i].Value)) > 1e-3 {
					t.Errorf("n = %d: %s = %.8g, with another line in y %.8g", n, p.Name, p.Value, first.Params[i].Value)
				}
			}
		}
	}
}

// TestFitAutoExplained: where the mean explains all of y there is nothing to learn.
func TestFitAutoExplained(t *testing.T) {
	d := rising(t, 100, 0, 0)
	for i := range d.Y {
		d.Y[i] = 3 - 2*d.X.At(i)[0]
	}
	m := gppl.Model{Kernel: gppl.SE{}, Mean: gppl.AddMeans(gppl.Intercept{}, gppl.Linear{})}
	if _, err := auto.Fit(context.Background(), m, d, auto.Settings{}); err == nil ||
		!strings.Contains(err.Error(), "explains all") {
		t.Errorf("error %v", err)
	}
}

// TestFitAutoKnownErrors: observations with known errors are trained on exactly, and the
// noise beyond them is learnt.
func TestFitAutoKnownErrors(t *testing.T) {
	d := rising(t, 300, 0, 0)
	rnd := rand.New(rand.NewPCG(3, 3))
	s := make([]float64, d.Len())
	for i := range s {
		if i%3 == 0 {
			s[i] = 2
		}
		d.Y[i] += s[i] * rnd.NormFloat64()
	}
	d, err := d.WithErrors(s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := auto.Fit(context.Background(), gppl.Model{Kernel: gppl.SE{}}, d, auto.Settings{Projected: true})
	if err != nil {
		t.Fatal(err)
	}
	if noise := r.Params[2].Value; !r.Exact || math.Abs(math.Log(noise/0.04)) > 0.5 {
		t.Errorf("exact %v, noise variance %.3g beside the known errors, drawn with 0.04\n%v", r.Exact, noise, r)
	}
}

// TestFitAutoStraight: where a straight line explains all that the mean leaves, the likelihood of a smooth kernel has no
// maximum. auto.Fit says so, whatever rounding makes of gradients where it stopped.
func TestFitAutoStraight(t *testing.T) {
	t.Parallel()
	for _, n := range []int{5, testkit.Size(40, 100, 100)} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = float64(i), 0.3*float64(i)-7
		}
		for _, kernel := range []gppl.Kernel{gppl.SE{}, gppl.Matern32{}} {
			for _, mean := range []gppl.Mean{nil, gppl.Intercept{}} {
				r, err := auto.Fit(context.Background(), gppl.Model{Kernel: kernel, Mean: mean}, gppl.Data{X: gppl.Scalars(x), Y: y},
					auto.Settings{})
				if err != nil {
					t.Fatal(err)
				}
				if r.Status != gppl.Doubtful || !strings.Contains(r.Reason, "a straight line explains all") {
					t.Errorf("n = %d, %v, mean %v: %s: %s", n, kernel, mean, r.Status, r.Reason)
				}
			}
		}
	}
}
