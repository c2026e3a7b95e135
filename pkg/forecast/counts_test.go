package forecast

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestCountForecastsCalibrated forecasts simulated counts from models that Fit finds, one step and several steps ahead: the
// randomised probability integral transforms are uniform by the Kolmogorov–Smirnov test at the level 1e-3.
func TestCountForecastsCalibrated(t *testing.T) {
	const n, ahead = 48, 7
	data := testkit.Size(4, 20, 100)
	for k, likelihood := range series.Likelihoods[3:] {
		var pit [2][]float64
		inside := 0
		for i := range data {
			rnd := rand.New(rand.NewPCG(uint64(i), uint64(k)))
			x, y, sizes := testdraws.Counts(rnd, likelihood, n+ahead)
			s := testkit.Must(testseries.OfCounts(t, likelihood, x, y, sizes).KnownIn(0, n))(t)
			a, err := Fit(t.Context(), s, Options{Budget: 1})
			if err != nil {
				t.Fatal(err)
			}
			a.sizes = sizes[n:]
			f, err := a.Forecast(t.Context(), ahead)
			if err != nil {
				t.Fatal(err)
			}
			u := make([]float64, ahead)
			for j := range u {
				u[j] = rnd.Float64()
				if !wholeAndPossible(f.Lower[j], f.Upper[j], likelihood, sizes[n+j]) {
					t.Errorf("%s: the band from %v to %v", likelihood, f.Lower[j], f.Upper[j])
				}
			}
			all := testkit.Must(f.Counts.PIT(t.Context(), y[n:], u))(t)
			pit[0], pit[1] = append(pit[0], all[0]), append(pit[1], all[ahead-1])
			if last := ahead - 1; f.Lower[last] <= y[n+last] && y[n+last] <= f.Upper[last] {
				inside++
			}
		}
		for lead, p := range pit {
			if d, most := uniformDistance(p), 1.95/math.Sqrt(float64(data)); d > most {
				t.Errorf("%s, lead %d: transforms are %.3f from uniform, %.3f at most", likelihood, lead, d, most)
			}
		}
		if p := (distuv.Binomial{N: float64(data), P: 0.95}).CDF(float64(inside)); p < 1e-3 {
			t.Errorf("%s: %d of %d within the 95 %% bands", likelihood, inside, data)
		}
	}
}

func wholeAndPossible(lo, hi float64, likelihood string, size float64) bool {
	most := math.Inf(1)
	if likelihood == "binomial" || likelihood == "bernoulli" {
		most = size
	}
	return lo == math.Trunc(lo) && hi == math.Trunc(hi) && lo >= 0 && hi <= most
}

// uniformDistance is the largest distance between the distribution of values and the uniform one.
func uniformDistance(values []float64) (d float64) {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n := float64(len(sorted))
	for i, v := range sorted {
		d = max(d, v-float64(i)/n, float64(i+1)/n-v)
	}
	return d
}

// TestCountsNamed trains the kernels that are named for counts, and no others.
func TestCountsNamed(t *testing.T) {
	x, y, _ := testdraws.Counts(rand.New(rand.NewPCG(6, 6)), "poisson", 72)
	a, err := Fit(t.Context(), testseries.OfCounts(t, "poisson", x, y, nil),
		Options{Kernels: []string{"Matern32", "Matern32 + Periodic"}, Periods: []float64{12}, Trend: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if a.Kernel() != "Matern32 + Periodic" || len(a.Candidates) != 2 {
		t.Errorf("%+v", a.Candidates)
	}
}

// TestSizesScale multiplies all exposures by ten: the rates divide by ten, and the forecast of counts stays.
func TestSizesScale(t *testing.T) {
	x, y, sizes := testdraws.Counts(rand.New(rand.NewPCG(7, 7)), "poisson", 40)
	var means [2][]float64
	for k, by := range []float64{1, 10} {
		of := slices.Clone(sizes)
		for i := range of {
			of[i] *= by
		}
		a, err := Fit(t.Context(), testseries.OfCounts(t, "poisson", x, y, of), Options{Budget: 1})
		if err != nil {
			t.Fatal(err)
		}
		f, err := a.Forecast(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		means[k] = f.Expected
	}
	for i := range means[0] {
		if !scalar.EqualWithinRel(means[0][i], means[1][i], 1e-6) {
			t.Errorf("%v, ten times the sizes %v", means[0][i], means[1][i])
		}
	}
}
