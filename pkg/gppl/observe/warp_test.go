package observe_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/must"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

var _ forecast.Predictive = observe.Warped{}

func TestWarps(t *testing.T) {
	for _, c := range []struct {
		w observe.Warp
		y []float64
	}{
		{observe.LogWarp{}, []float64{1e-9, 0.3, 1, 700}},
		{observe.LogWarp{Offset: 2}, []float64{-1.999, 0, 5}},
		{observe.BoxCoxWarp{Lambda: 0.5}, []float64{1e-9, 0.3, 1, 700}},
		{observe.BoxCoxWarp{Lambda: -1.3, Offset: 1}, []float64{-0.9, 0, 3, 90}},
		{observe.BoxCoxWarp{}, []float64{0.1, 1, 30}},
		{observe.BoxCoxWarp{Lambda: 1e-14}, []float64{0.1, 1, 30}},
		{observe.LogitWarp{Lo: -1, Hi: 3}, []float64{-1 + 1e-9, 0, 2, 3 - 1e-12}},
	} {
		t.Run(c.w.String(), func(t *testing.T) {
			if err := c.w.Check(); err != nil {
				t.Fatal(err)
			}
			before := math.Inf(-1)
			for _, y := range c.y {
				z := c.w.Forward(y)
				if !(z > before) {
					t.Errorf("g(%v) = %v is not above %v", y, z, before)
				}
				before = z
				if back := c.w.Inverse(z); math.Abs(back-y) > 1e-12*(1+math.Abs(y)) {
					t.Errorf("there and back: %v, want %v", back, y)
				}
				h := 1e-4 * math.Abs(1/math.Exp(c.w.LogSlope(y))) * min(1, math.Exp(c.w.LogSlope(y)))
				slope := (c.w.Forward(y+h) - c.w.Forward(y-h)) / (2 * h)
				if y > -0.9 && y > 1e-3 && y < 2.9 && math.Abs(math.Log(slope)-c.w.LogSlope(y)) > 1e-6 {
					t.Errorf("log slope at %v: %v, by differences %v", y, c.w.LogSlope(y), math.Log(slope))
				}
			}
			// The density of a forecast integrates to one, and quantiles are where its
			// integral says.
			f := observe.Warped{Of: &draws.Mixture{Weights: []float64{0.7, 0.3}, Means: [][]float64{{0.1}, {0.3}}, Variances: [][]float64{{0.04}, {0.01}}}, Warp: c.w}
			density := func(z float64) float64 { // by the substitution y = g⁻¹(z)
				y := c.w.Inverse(z)
				return math.Exp(f.LogDensity([]float64{y})[0] - c.w.LogSlope(y))
			}
			lo, hi := -0.75, 1.4 // seven standard deviations, and inside the range of all
			if b, ok := c.w.(observe.BoxCoxWarp); ok && b.Lambda < 0 {
				hi = 0.76
			}
			all := quad.Fixed(density, lo, hi, 200, nil, 0)
			if math.Abs(all-1) > 2e-3 {
				t.Errorf("the density integrates to %v", all)
			}
			for _, p := range []float64{0.1, 0.5, 0.9} {
				q := f.Quantile(p)[0]
				if below := quad.Fixed(density, lo, c.w.Forward(q), 200, nil, 0); math.Abs(below-p) > 1e-4 {
					t.Errorf("below the quantile at %v: %v", p, below)
				}
			}
			want := quad.Fixed(func(z float64) float64 { return c.w.Inverse(z) * density(z) }, lo, hi, 200, nil, 0)
			if got := f.Mean()[0]; math.Abs(got-want) > 1e-2 && !math.IsInf(got, 1) {
				t.Errorf("mean %v, by quadrature %v", got, want)
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			var sample []float64
			for range 20000 {
				z := 0.1 + 0.2*rnd.NormFloat64()
				if rnd.Float64() < 0.3 {
					z = 0.3 + 0.1*rnd.NormFloat64()
				}
				sample = append(sample, c.w.Inverse(z))
			}
			y := c.w.Inverse(0.5)
			if got, want := f.CRPS([]float64{y})[0], forecast.CRPSSample(y, sample); math.Abs(got-want) > 0.02*(math.Abs(want)+0.1) {
				t.Errorf("CRPS %v, of draws %v", got, want)
			}
		})
	}
}

// TestWarpedLogNormal: a Gaussian forecast of log y is a log-normal one of y.
func TestWarpedLogNormal(t *testing.T) {
	d := distuv.LogNormal{Mu: 0.4, Sigma: 0.8}
	for _, w := range []observe.Warp{observe.LogWarp{}, observe.BoxCoxWarp{}} {
		f := observe.Warped{Of: &draws.Mixture{Weights: []float64{1}, Means: [][]float64{{0.4}}, Variances: [][]float64{{0.64}}}, Warp: w}
		near(t, "quantile", f.Quantile(0.975)[0], d.Quantile(0.975), 1e-9)
		near(t, "mean", f.Mean()[0], d.Mean(), 1e-11)
		near(t, "log density", f.LogDensity([]float64{2.2})[0], d.LogProb(2.2), 1e-12)
		if v := f.LogDensity([]float64{-1})[0]; !math.IsInf(v, -1) {
			t.Errorf("log density at −1: %v", v)
		}
	}
	if m := (observe.Warped{Of: &draws.Mixture{Weights: []float64{1}, Means: [][]float64{{0}}, Variances: [][]float64{{1}}}, Warp: observe.BoxCoxWarp{Lambda: -1}}).Mean()[0]; !math.IsInf(m, 1) {
		t.Errorf("the mean of a reciprocal normal is %v", m)
	}
}

// TestWarpJacobian: −log p(y) of log y ~ GP is that of log y plus Σ log y.
func TestWarpJacobian(t *testing.T) {
	data := noisySine(40)
	for i := range data.Y {
		data.Y[i] = math.Exp(data.Y[i])
	}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.3}
	nll := func(d gppl.Data) float64 {
		z := must.Get(observe.WarpData(observe.LogWarp{}, d))(t)
		v := valueAt(t, m, z)
		return v - observe.LogJacobian(observe.LogWarp{}, d.Y)
	}
	want := nll(data)
	var sum float64
	for _, y := range data.Y {
		sum += math.Log(y)
	}
	z := must.Get(observe.WarpData(observe.LogWarp{}, data))(t)
	v := valueAt(t, m, z)
	near(t, "NLL", want, v+sum, 1e-10)
}

func TestWarpErrors(t *testing.T) {
	d := must.Get(gppl.NewData(gppl.Scalars([]float64{1, 2}), []float64{0.5, 1}))(t)
	for want, w := range map[string]observe.Warp{
		"y[1] = 1 is not inside the domain of logit on 0 to 1": observe.LogitWarp{Lo: 0, Hi: 1},
		"y[0] = 0.5 is not inside the domain of log(y + -0.5)": observe.LogWarp{Offset: -0.5},
		"lambda 50":       observe.BoxCoxWarp{Lambda: 50},
		"between 1 and 1": observe.LogitWarp{Lo: 1, Hi: 1},
		"offset NaN":      observe.LogWarp{Offset: math.NaN()},
	} {
		if _, err := observe.WarpData(w, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want an error that says %s", w, err, want)
		}
	}
	// Beyond the range of a Box–Cox warp is the end of the domain.
	if lo, hi := (observe.BoxCoxWarp{Lambda: 0.5, Offset: 3}).Inverse(-7), (observe.BoxCoxWarp{Lambda: -0.5}).Inverse(7); lo != -3 || !math.IsInf(hi, 1) {
		t.Errorf("beyond the range: %v and %v", lo, hi)
	}
}
