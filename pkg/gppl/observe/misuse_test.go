package observe

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// panicOf returns what f panics with, "" if it does not.
func panicOf(f func()) (message string) {
	defer func() {
		if p := recover(); p != nil {
			message = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}

// TestImpossibleScores: a y that no observation can have is an error that names it, as in NewLaplace. So are the moments of g and
// the sizes of no distribution. One y too many or too few is a panic.
func TestImpossibleScores(t *testing.T) {
	scores := map[string]func(c *Counts, y []float64) error{
		"LogDensity": func(c *Counts, y []float64) error { _, err := c.LogDensity(t.Context(), y); return err },
		"CRPS":       func(c *Counts, y []float64) error { _, err := c.CRPS(t.Context(), y); return err },
		"PIT": func(c *Counts, y []float64) error {
			_, err := c.PIT(t.Context(), y, make([]float64, len(y)))
			return err
		},
	}
	for _, l := range []Likelihood{Poisson{}, NegBinomial{Shape: 2}, Binomial{}} {
		c := NewCounts(l, []float64{0.3, 1}, []float64{0.1, 0.2}, []float64{5, 5})
		for name, score := range scores {
			for _, y := range []float64{-1, 0.5, math.NaN(), math.Inf(1)} {
				want := fmt.Sprintf("observation 1: %v", y)
				if err := score(c, []float64{1, y}); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, %s of %v: %v", l, name, y, err)
				}
			}
			for _, y := range [][]float64{{1}, {1, 2, 3}} {
				if p := panicOf(func() { _ = score(c, y) }); !strings.Contains(p, fmt.Sprintf("len(y) = %d", len(y))) {
					t.Errorf("%v, %s of %d: %v", l, name, len(y), p)
				}
			}
		}
		if p := c.CDF(0, math.NaN()); !math.IsNaN(p) {
			t.Errorf("%v: P(Y ≤ NaN) = %v", l, p)
		}
		for _, v := range []float64{math.NaN(), math.Inf(1), -1} {
			for what, c := range map[string]*Counts{
				"size":     NewCounts(l, []float64{0.3, 1}, []float64{0.1, 0.2}, []float64{5, v}),
				"variance": NewCounts(l, []float64{0.3, 1}, []float64{0.1, v}, nil),
				"mean":     NewCounts(l, []float64{0.3, v}, []float64{0.1, 0.2}, nil),
			} {
				_, _, err := c.Expected(t.Context())
				if v == -1 && what == "mean" {
					continue
				}
				if _, other := c.Quantile(t.Context(), 0.5); err == nil || other == nil || !strings.Contains(err.Error(), "input 1") {
					t.Errorf("%v, %s %v: %v, %v", l, what, v, err, other)
				}
			}
		}
	}
}

// TestLaplaceMisuse: wrong numbers of parameters are panics that name them, and impossible values are errors that do.
func TestLaplaceMisuse(t *testing.T) {
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 2}, Noise: 1e-3}
	d := testkit.Must(gppl.NewData(gppl.Scalars([]float64{0, 1, 2}), []float64{0, 1, 2}))(t)
	for _, shape := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := NewLaplace(t.Context(), m, d, NegBinomial{Shape: shape}, nil)
		if err == nil || !strings.Contains(err.Error(), `"shape"`) {
			t.Errorf("shape %v: %v", shape, err)
		}
	}
	l := testkit.Must(NewLaplace(t.Context(), m, d, NegBinomial{Shape: 3}, nil))(t)
	theta := gppl.Values(l.Params())
	if _, err := l.ValueGrad(t.Context(), nil, []float64{1, 1, 1, -1}); err == nil || !strings.Contains(err.Error(), `"shape"`) {
		t.Errorf("shape −1: %v", err)
	}
	for want, f := range map[string]func(){
		"likelihood is nil": func() { _, _ = NewLaplace(t.Context(), m, d, nil, nil) },
		"len(theta) = 3":    func() { _, _ = l.ValueGrad(t.Context(), nil, theta[:3:3]) },
		"len(theta) = 5":    func() { _, _ = l.Predict(t.Context(), make([]float64, 5), d.X, nil) },
		"len(theta) = 2":    func() { l.Model(theta[:2:2]) },
		"len(theta) = 1":    func() { l.Likelihood(theta[:1:1]) },
		"len(grad) = 5":     func() { _, _ = l.ValueGrad(t.Context(), make([]float64, 5), theta) },
	} {
		if p := panicOf(f); !strings.Contains(p, want) {
			t.Errorf("%s: %s", want, p)
		}
	}
}

// TestFaultyData: what is wrong with data or a model is said before anything is computed.
func TestFaultyData(t *testing.T) {
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 2}, Noise: 1e-3}
	limits := Limits{Lo: 0, Hi: math.Inf(1)}
	good := gppl.Data{X: gppl.Scalars([]float64{0, 1, 2, 3, 4}), Y: []float64{0, 1, 2, 3, 1}}
	bad, exposed, huge := good, good, good
	bad.Y = []float64{0, 0, math.NaN(), 0, 0}
	exposed.Y, exposed.Exposures = []float64{1, 2, 3, 2, 1}, []float64{1, 1, 1, 1, 1}
	huge.Y = []float64{0, 1, 1e300, 1, 0}
	for want, f := range map[string]func() error{
		"no kernel":       func() error { _, _, err := Censored(t.Context(), gppl.Model{}, good, limits, nil); return err },
		"exposures":       func() error { _, _, err := Censored(t.Context(), m, exposed, limits, nil); return err },
		"y[2] = NaN":      func() error { _, err := FitRobust(t.Context(), m, bad, RobustSettings{}); return err },
		"beyond float64":  func() error { _, err := FindOutliers(t.Context(), m, huge); return err },
		"y[2] = NaN is n": func() error { _, _, err := Censored(t.Context(), m, bad, limits, nil); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestNoiseLooks: learning Student-t noise, which takes a second for 1e5 observations, looks at its context in every step.
func TestNoiseLooks(t *testing.T) {
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 2}, Noise: 0.1}
	d, _ := drawn(t, m, Poisson{}, 50, 1)
	testkit.OnOneProcessor(func() {
		all, leaving := &testkit.Looked{Context: t.Context()}, &testkit.Looked{Context: t.Context()}
		testkit.Must(FindOutliers(all, m, d))(t)
		if _, _, err := gppl.LeaveOut(leaving, m, d, nil); err != nil {
			t.Fatal(err)
		}
		if looks := all.Looks.Load() - leaving.Looks.Load(); looks < 100 {
			t.Errorf("%d looks while noise is learnt", looks)
		}
	})
}
