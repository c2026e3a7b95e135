package forecast

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestUntilRandomWalk compares the first crossing of a level by a random walk with the reflection principle: P(the level a is
// reached by T) = 2·P(N(0, T) > a), with a + 0.5826σ√Δ for a walk observed at steps of Δ (Siegmund 1979), within the error
// of the draws.
func TestUntilRandomWalk(t *testing.T) {
	t.Parallel()
	const steps, far = 120, 1e6
	for seed := range uint64(testkit.Size(2, 4, 50)) {
		rnd := rand.New(rand.NewPCG(seed, 17))
		x, y := []float64{}, []float64{}
		for i := range 12 {
			x, y = append(x, float64(i)), append(y, rnd.NormFloat64())
		}
		a := trueModel(t, x, y, far, 1e-9)
		unit := 1 / (a.Scaling.Scale * a.Scaling.Scale)
		a.Result.Model = gppl.Model{Kernel: gppl.Laplace{Variance: unit * far / 2, Lengthscale: far},
			Noise: 1e-9 * unit} // increments of variance 1
		a.members = a.alone()
		ahead, err := a.Series.Next(steps)
		if err != nil {
			t.Fatal(err)
		}
		for _, away := range []float64{6, -6, 15} {
			c, err := a.Until(t.Context(), y[len(y)-1]+away, ahead, seed)
			if err != nil {
				t.Fatal(err)
			}
			if c.Rising != (away > 0) || c.Draws != mostDraws {
				t.Errorf("%v away: rising %v, %d draws", away, c.Rising, c.Draws)
			}
			for _, by := range []int{20, 60, steps} {
				want := math.Erfc((math.Abs(away) + 0.5826) / math.Sqrt(2*float64(by)))
				if got := c.By[by-1]; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/float64(c.Draws))+0.002 {
					t.Errorf("seed %d, %v away: %v by step %d, by reflection %v", seed, away, got, by, want)
				}
			}
			if q := c.Quantile(0.1); q < 0 || c.By[q] < 0.1 || q > 0 && c.By[q-1] >= 0.1 {
				t.Errorf("the quantile at 0.1 is step %d of %v", q, c.By)
			}
			if c.Quantile(1) != -1 || math.Abs(c.Never()-(1-c.By[steps-1])) > 1e-15 {
				t.Errorf("all of the draws reach the level, by %v", c.By)
			}
		}
	}
}

// TestUntil: for every kind of model, each call gives the same time at which its curve reaches a level. A level that it cannot
// reach is never reached.
func TestUntil(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind        string
		near, never float64
	}{
		"plain": {"plain", 33, 1e6}, "automatic": {"automatic", 33, 1e6}, "log": {"log", 33, -1}, "bounds": {"bounds", 33, 100},
		"counts": {"counts", 2.5, -1}, "shares": {"shares", 3, 20},
		"regressor": {"regressor", 33, 1e6},
	} {
		kind := updateKinds[c.kind]
		s, err := series.Read(t.Context(), updateFile(t, 0, 48, 60), kind.read)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Fit(t.Context(), s, kind.fit)
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.Next(12)
		if err != nil {
			t.Fatal(err)
		}
		near, err := a.Until(t.Context(), c.near, x, 1)
		if err != nil {
			t.Fatal(err)
		}
		again, err := a.Until(t.Context(), c.near, x, 1)
		if err != nil || !slices.Equal(near.By, again.By) || !slices.IsSorted(near.By) || near.By[11] < 0.2 ||
			near.When[0] != s.Axis.Text(x[0]) {
			t.Errorf("%s: %v reached by %v, again by %v, %v", name, c.near, near.By, again, err)
		}
		if never, err := a.Until(t.Context(), c.never, x, 1); err != nil || never.By[11] != 0 {
			t.Errorf("%s: %v is reached by %v, %v", name, c.never, never, err)
		}
		for _, wrong := range [][]float64{nil, {s.X[3]}, make([]float64, CrossingSteps+1)} {
			if _, err := a.Until(t.Context(), 1, wrong, 1); err == nil {
				t.Errorf("%s: no error for %d steps", name, len(wrong))
			}
		}
	}
}
