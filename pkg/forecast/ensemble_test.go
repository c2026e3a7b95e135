package forecast

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// logIf is the warp of a model of log y, or none.
func logIf(log bool) series.Warp {
	if log {
		return (&series.Series{}).Warp()
	}
	return nil
}

// randomMixture has components of very different means and deviations, about half of log y.
func randomMixture(r *rand.Rand) mixture {
	m := make(mixture, 1+r.IntN(12))
	var all float64
	for i := range m {
		m[i] = component{r.ExpFloat64(), logIf(r.IntN(2) == 0), 3 * r.NormFloat64(), math.Exp(2 * r.NormFloat64())}
		all += m[i].weight
	}
	for i := range m {
		m[i].weight /= all
	}
	return m
}

// bracket returns the lowest and the highest quantile of the components.
func (m mixture) bracket(p float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, c := range m {
		at := c.quantile(math.Sqrt2 * math.Erfinv(2*p-1))
		lo, hi = min(lo, at), max(hi, at)
	}
	return lo, hi
}

// The quantile is where bisection finds it, for mixtures of any shape.
func TestMixtureQuantile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		m, p := randomMixture(r), 0.001+0.998*r.Float64()
		lo, hi := m.bracket(p)
		got := m.quantile(p, lo, hi)
		a, b := lo, hi
		for range 200 {
			mid := a + 0.5*(b-a)
			if below, _ := m.distribution(mid); below < p {
				a = mid
			} else {
				b = mid
			}
		}
		if math.Abs(got-a) > 0x1p-39*(hi-lo)+1e-12*math.Abs(a) {
			t.Fatalf("%+v at %v: %v, bisection finds %v", m, p, got, a)
		}
	}
}

// A component of no variance, or of next to none, is a step of the distribution. Newton's method may stand on it.
func TestMixtureQuantileOfAStep(t *testing.T) {
	for _, sd := range []float64{0, 1e-300, 1e-14} {
		m := mixture{{0.5, nil, 1, sd}, {0.5, nil, 2, 0.1}}
		lo, hi := m.bracket(0.3)
		if got := m.quantile(0.3, lo, hi); math.Abs(got-1) > 1e-9 {
			t.Errorf("deviation %v: %v, want 1", sd, got)
		}
		m = mixture{{0.2, nil, 1, sd}, {0.8, nil, 1.5, 1}}
		want := 1.5 + math.Sqrt2*math.Erfinv(2*0.5-1) // 0.8·½ + 0.2 = 0.6
		if got := m.quantile(0.6, 1-0.5, 1+0.5); math.Abs(got-want) > 1e-9 {
			t.Errorf("deviation %v: %v, want %v: the first evaluation is on the step", sd, got, want)
		}
	}
}

// Where all quantiles agree to rounding, there is an end to it.
func TestMixtureQuantileAtRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, size := range []float64{0, 1e-320, 1e-300, 1, 1e9, 1e300} {
		for _, sd := range []float64{1e-18, 1e-15, 1e-12} {
			for _, p := range []float64{0.005, 0.3, 0.5, 0.975} {
				m := make(mixture, 5)
				for i := range m {
					m[i] = component{0.2, nil, size * (1 + sd*r.NormFloat64()), size * sd * r.Float64()}
				}
				lo, hi := m.bracket(p)
				if got := m.quantile(p, lo, hi); !(got >= lo && got <= hi) {
					t.Errorf("size %v, deviation %v, level %v: %v is not in [%v, %v]", size, sd, p, got, lo, hi)
				}
			}
		}
	}
}

// The density is the derivative of the distribution.
func TestMixtureDensity(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		m := randomMixture(r)
		lo, hi := m.bracket(0.3)
		v := lo + 0.5*(hi-lo)
		h := 1e-5 * min(1, math.Abs(v))
		_, density := m.distribution(v)
		above, _ := m.distribution(v + h)
		below, _ := m.distribution(v - h)
		if central := (above - below) / (2 * h); math.Abs(central-density) > 1e-4*(1e-3+density) {
			t.Errorf("%+v: density %v, central difference %v", m, density, central)
		}
	}
}

// BenchmarkMixtureQuantile is of 30 parts, as of three models with ten draws of their parameters.
func BenchmarkMixtureQuantile(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	m := make(mixture, 30)
	for i := range m {
		m[i] = component{1.0 / 30, logIf(i < 10), 2 + 0.1*r.NormFloat64(), 0.3 + 0.1*r.Float64()}
	}
	lo, hi := m.bracket(0.975)
	for b.Loop() {
		m.quantile(0.975, lo, hi)
	}
}

// TestLevels: a csv file has two columns for each further level, the ends of its band, and those that it always has.
func TestLevels(t *testing.T) {
	f := forecasted(t, []float64{1}, []string{"1"}, []Part{{Weight: 1, Mean: []float64{10}, LatentVar: []float64{1},
		NoisyVar: []float64{4}}})
	var plain, more strings.Builder
	if err := errors.Join(f.WriteCSV(&plain, series.Axis{}), f.WriteCSV(&more, series.Axis{}, 0.5, 0.95, 0.683)); err != nil {
		t.Fatal(err)
	}
	head, row, _ := strings.Cut(strings.TrimSpace(more.String()), "\n")
	first, values, _ := strings.Cut(strings.TrimSpace(plain.String()), "\n")
	if head != first+",lower_50,upper_50,lower_68.3,upper_68.3" || !strings.HasPrefix(row, values+",8.651020") ||
		!strings.Contains(row, ",11.34897") {
		t.Errorf("%s\n%s\nwithout levels\n%s\n%s", head, row, first, values)
	}
}

// TestLatentBand: the band of f for an average with models of log y consists of quantiles: above 0, and within the band of a new
// observation.
func TestLatentBand(t *testing.T) {
	parts := []Part{
		{Weight: 0.6, warp: (&series.Series{}).Warp(), Mean: []float64{0}, LatentVar: []float64{0.8}, NoisyVar: []float64{1}},
		{Weight: 0.4, warp: (&series.Series{}).Warp(), Mean: []float64{0.5}, LatentVar: []float64{0.5}, NoisyVar: []float64{1}},
	}
	f := forecasted(t, []float64{1}, []string{"1"}, parts)
	lo, hi := f.LatentBand()
	if !(f.Lower[0] < lo[0] && 0 < lo[0] && lo[0] < f.Mean[0] && f.Mean[0] < hi[0] && hi[0] < f.Upper[0]) {
		t.Errorf("f is in [%v, %v], y in [%v, %v]", lo[0], hi[0], f.Lower[0], f.Upper[0])
	}
	if symmetric := f.Mean[0] - Quantile95*math.Sqrt(f.LatentVar[0]); symmetric > 0 {
		t.Errorf("a symmetric band would begin at %v: this tests nothing", symmetric)
	}
	plain := forecasted(t, []float64{1}, []string{"1"}, []Part{{Weight: 1, Mean: []float64{3}, LatentVar: []float64{4},
		NoisyVar: []float64{5}}})
	if lo, hi := plain.LatentBand(); math.Abs(lo[0]-(3-2*Quantile95)) > 1e-9 || math.Abs(hi[0]-(3+2*Quantile95)) > 1e-9 {
		t.Errorf("of a Gaussian: [%v, %v]", lo[0], hi[0])
	}
}

func forecasted(t *testing.T, x []float64, when []string, parts []Part) *Forecast {
	t.Helper()
	return testkit.Must(forecastOf(t.Context(), x, when, parts))(t)
}
