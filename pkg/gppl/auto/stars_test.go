package auto_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

var (
	stars    = flag.Int("stars", 0, "TestVariableStars: how many `stars`; 0 is a few short ones")
	starFrom = flag.Int("star", 0, "TestVariableStars: the `number` of the first star")
	starSize = flag.Int("star-size", 2000, "TestVariableStars: the largest `number` of observations")
)

// A star is a periodic light curve at irregular times.
type star struct {
	what   string
	d      gppl.Data
	kernel gppl.Kernel
	truth  float64 // the period
}

// newStar makes star number i: of the mean spacing, its period is 0.05 to 3 times.
func newStar(t testing.TB, i, longest int) star {
	rnd := rand.New(rand.NewPCG(uint64(i), 77))
	n := int(60 * math.Pow(float64(longest)/60, rnd.Float64()))
	var x []float64
	sampling := []string{"uniform", "seasons", "nights", "jittered nights"}[i%4]
	switch sampling {
	case "uniform":
		for range n {
			x = append(x, 300*rnd.Float64())
		}
	case "seasons": // five months each, at random times
		for range n {
			x = append(x, 365*float64(rnd.IntN(3))+150*rnd.Float64())
		}
	case "nights": // several observations in some nights, in seasons
		for len(x) < n {
			night := float64(365*rnd.IntN(3) + rnd.IntN(150))
			for range 1 + rnd.IntN(5) {
				x = append(x, night+0.35*rnd.Float64())
			}
		}
		x = x[:n]
	case "jittered nights": // one a night, most nights
		for night := 0; len(x) < n; night++ {
			if rnd.Float64() < 0.8 {
				x = append(x, float64(night)+0.25*rnd.Float64())
			}
		}
	}
	slices.Sort(x)
	spacing := (x[n-1] - x[0]) / float64(n)
	s := star{truth: spacing * 0.05 * math.Pow(60, rnd.Float64())}
	shape := []string{"sinusoid", "sawtooth", "eclipse"}[rnd.IntN(3)]
	noise := []float64{0.05, 0.15, 0.3, 0.6}[rnd.IntN(4)]
	y := make([]float64, n)
	for j, t := range x {
		phase := math.Mod(t/s.truth, 1)
		switch shape {
		case "sinusoid":
			y[j] = 1.3 * math.Sin(2*math.Pi*phase)
		case "sawtooth":
			y[j] = 2 * (min(phase/0.8, (1-phase)/0.2) - 0.5)
		case "eclipse":
			y[j] = -2.5 * math.Exp(-0.5*math.Pow((phase-0.5)/0.07, 2))
		}
		y[j] += noise * rnd.NormFloat64()
	}
	var mean float64
	for _, v := range y {
		mean += v / float64(n)
	}
	for j := range y {
		y[j] -= mean
	}
	p := gppl.Periodic{Variance: 1, Period: 1, Lengthscale: 1}
	s.kernel = []gppl.Kernel{p, p, p, gppl.LocPer{Variance: 1, Lengthscale: 1, Period: 1, PeriodicLengthscale: 1},
		gppl.Add(gppl.SE{Variance: 1, Lengthscale: 1}, p),
		gppl.Add(gppl.Matern32{Variance: 1, Lengthscale: 1}, p)}[rnd.IntN(6)]
	s.what = fmt.Sprintf("star %d: %s, %s, n = %d, noise %g, period %.6g of spacing %.3g, %T",
		i, shape, sampling, n, noise, s.truth, spacing, s.kernel)
	s.d = testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	return s
}

// periodFound returns the period that a result has.
func periodFound(r *auto.Result) float64 {
	for _, p := range r.Params {
		if p.Role == gppl.RolePeriod {
			return p.Value
		}
	}
	return math.NaN()
}

// TestVariableStars wants the period of each star, or a result that is not called converged.
func TestVariableStars(t *testing.T) {
	t.Parallel()
	count, longest := *stars, *starSize
	if count == 0 {
		count, longest = testkit.Size(2, 6, 6), testkit.Size(100, 150, 150)
	}
	var found int
	for i := *starFrom; i < *starFrom+count; i++ {
		s := newStar(t, i, longest)
		r, err := auto.Fit(context.Background(), gppl.Model{Kernel: s.kernel}, s.d, auto.Settings{})
		if err != nil {
			t.Errorf("%s: %v", s.what, err)
			continue
		}
		lo, hi := s.d.X.Range(0)
		got := periodFound(r)
		right := math.Abs((hi-lo)/got-(hi-lo)/s.truth) < 0.5
		if right {
			found++
		}
		t.Logf("%s: found %.6g (1/%.4g of it), %s, %.1f nats: %s", s.what, got, s.truth/got, r.Status, r.Value,
			strings.Join(r.Warnings, "; "))
		if !right && r.Status == gppl.Converged {
			t.Errorf("%s: converged at %.6g, 1/%.4g of the period", s.what, got, s.truth/got)
		}
	}
	t.Logf("%d of %d periods found", found, count)
}

// TestAliasesWithinTime wants to know of a result whose other periods were not compared because an evaluation there takes longer
// than the limit of time allows, and compares them without that limit.
func TestAliasesWithinTime(t *testing.T) {
	t.Parallel()
	s := newStar(t, 0, 80)
	found, err := auto.FindStarts(t.Context(), gppl.Model{Kernel: gppl.Periodic{Variance: 1, Period: 1, Lengthscale: 1}}, s.d,
		auto.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	likelihood := func(ctx context.Context, m gppl.Model, d gppl.Data) (gppl.Loss, error) {
		return gppl.NewExact(ctx, m, d)
	}
	for _, c := range []struct {
		seconds float64
		left    bool
	}{{0, false}, {1e-12, true}} {
		r, err := found.Train(t.Context(), likelihood, gppl.Settings{EvaluationSeconds: c.seconds})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(r.Warnings, "; "), "was not checked"); said != c.left {
			t.Errorf("evaluations of %g s: aliases are left out is %v, want %v: %q", c.seconds, said, c.left, r.Warnings)
		}
		if c.left && r.Status == gppl.Converged {
			t.Errorf("evaluations of %g s: converged", c.seconds)
		}
	}
}
