package forecast

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestWhiteOnce: the white noise of a kernel belongs to f and to the noise, but counts once in the variance of a new observation:
// a model whose noise includes it predicts the same.
func TestWhiteOnce(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 7))
	s := &series.Series{Axis: series.Axis{Name: "t"}, YName: "y", Step: 1}
	for i := range 60 {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, math.Sin(float64(i)/4)+0.5*rnd.NormFloat64())
	}
	a, err := Fit(context.Background(), s, Options{Kernels: []string{"Matern32"}, Trend: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Condition(t.Context()); err != nil {
		t.Fatal(err)
	}
	var forecasts []*Forecast
	m := a.members[0]
	for _, white := range []float64{0, 0.3} {
		m.Model = gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 5}, Noise: 0.5 - white}
		if white > 0 {
			m.Model.Kernel = gppl.Add(m.Model.Kernel, gppl.White{Variance: white})
		}
		m.posterior, m.posteriors, a.computed = nil, nil, new(computed)
		f, err := a.Predict(t.Context(), []float64{60, 65})
		if err != nil {
			t.Fatal(err)
		}
		forecasts = append(forecasts, f)
	}
	for j, v := range forecasts[0].NoisyVar {
		if got := forecasts[1].NoisyVar[j]; math.Abs(got/v-1) > 1e-8 {
			t.Errorf("a new observation has the variance %v, with a part of the noise in the kernel %v", v, got)
		}
	}
}
