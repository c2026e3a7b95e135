package draws

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// ended is y itself between two ends.
type ended struct{ lo, hi float64 }

var _ Ended = ended{}

func (ended) Forward(y float64) float64        { return y }
func (e ended) Inverse(z float64) float64      { return min(max(z, e.lo), e.hi) }
func (ended) LogSlope(float64) float64         { return 0 }
func (e ended) Ends() (lo, hi float64)         { return e.lo, e.hi }
func (e ended) draw(mu, sd, z float64) float64 { return e.Inverse(mu + sd*z) }

// TestMixtureEnds compares moments, quantiles, probabilities and scores of a mixture whose values end with draws.
func TestMixtureEnds(t *testing.T) {
	const n = 200_000
	e := ended{0, 4}
	m := &Mixture{Weights: []float64{0.3, 0.7}, Means: [][]float64{{-0.5}, {2.8}}, Variances: [][]float64{{1}, {2.25}},
		Scales: []Scale{e, e}}
	r := rand.New(rand.NewPCG(65, 2))
	y := make([]float64, n)
	var sum, squares, zero float64
	for i := range y {
		mu, sd := -0.5, 1.0
		if r.Float64() > 0.3 {
			mu, sd = 2.8, 1.5
		}
		y[i] = e.draw(mu, sd, r.NormFloat64())
		sum, squares = sum+y[i], squares+y[i]*y[i]
		if y[i] == 0 {
			zero++
		}
	}
	slices.Sort(y)
	near := func(what string, got, want, within float64) {
		t.Helper()
		if !(math.Abs(got-want) <= within) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	mean := sum / n
	near("mean", m.Mean()[0], mean, 0.01)
	near("variance", m.Variance()[0], squares/n-mean*mean, 0.02)
	for _, p := range []float64{0.025, 0.2, 0.24, 0.5, 0.8, 0.9, 0.975} {
		q, err := m.Quantile(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want := y[int(p*n)]
		near("quantile", q[0], want, 0.03)
		if (want == 0 || want == 4) && q[0] != want {
			t.Errorf("quantile at %v: %v, want the end %v", p, q[0], want)
		}
	}
	logs, err := m.LogDensity(t.Context(), []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	near("probability of the end", math.Exp(logs[0]), zero/n, 0.005)
	beyond, err := m.LogDensity(t.Context(), []float64{-0.1})
	if err != nil {
		t.Fatal(err)
	}
	near("beyond", math.Exp(beyond[0]), 0, 0)
	for _, at := range []float64{0, 1.5, 4} { // E|Y − y| − ½E|Y − Y′|
		score, err := m.CRPS(t.Context(), []float64{at})
		if err != nil {
			t.Fatal(err)
		}
		var apart, within float64
		for i, v := range y {
			apart += math.Abs(v-at) / n
			within += v * float64(2*i+1-n) / n / n
		}
		near("CRPS", score[0], apart-within, 0.01)
	}
}
