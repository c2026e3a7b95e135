package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestGrown: log y is modelled if y grew a thousandfold before the observations that decide about log y, even if symmetric noise
// speaks for y among them.
func TestGrown(t *testing.T) {
	if testing.Short() {
		t.Skip("it learns from 1500 observations")
	}
	rnd := rand.New(rand.NewPCG(2, 1))
	const n, flat = 1500, 450
	s := &series.Series{YName: "y", Step: 1}
	for i := range n {
		level := math.Pow(1000, min(1, float64(i)/(n-flat)))
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, level*max(0.05, 1+0.2*rnd.NormFloat64()))
	}
	a, err := Fit(t.Context(), s, Options{NoSeason: true, Shifts: "never"})
	if err != nil {
		t.Fatal(err)
	}
	if !a.Log {
		t.Errorf("y is modelled: %s", a.Candidates[0].Name())
	}
}
