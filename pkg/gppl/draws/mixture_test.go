package draws

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/testkit"
)

// logarithm is the scale of log y.
type logarithm struct{}

func (logarithm) Forward(y float64) float64  { return math.Log(y) }
func (logarithm) Inverse(z float64) float64  { return math.Exp(z) }
func (logarithm) LogSlope(y float64) float64 { return -math.Log(y) }

func logIf(log bool) Scale {
	if log {
		return logarithm{}
	}
	return nil
}

// add adds a component at the one input.
func (m *Mixture) add(weight float64, s Scale, mean, sd float64) {
	m.Weights, m.Scales = append(m.Weights, weight), append(m.Scales, s)
	m.Means, m.Variances = append(m.Means, []float64{mean}), append(m.Variances, []float64{sd * sd})
}

// randomMixture has components of very different means and deviations, about half of log y.
func randomMixture(r *rand.Rand) *Mixture {
	m := new(Mixture)
	var all float64
	for range 1 + r.IntN(12) {
		m.add(r.ExpFloat64(), logIf(r.IntN(2) == 0), 3*r.NormFloat64(), math.Exp(2*r.NormFloat64()))
		all += m.Weights[len(m.Weights)-1]
	}
	for i := range m.Weights {
		m.Weights[i] /= all
	}
	return m
}

// at returns the distribution at v, and the bracket of the quantile at level p.
func (m *Mixture) at(v, p float64) (below, density, lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	m.each(func(_ int, mu, sd []float64) float64 {
		below, density = m.distribution(v, mu, sd)
		for c := range mu {
			q := m.value(c, mu[c]+numeric.NormalQuantile(p)*sd[c])
			lo, hi = min(lo, q), max(hi, q)
		}
		return 0
	})
	return below, density, lo, hi
}

// TestMixtureQuantile: the quantile is where bisection finds it, for mixtures of any shape.
func TestMixtureQuantile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range testkit.Size(2000, 20000, 20000) {
		m, p := randomMixture(r), 0.001+0.998*r.Float64()
		got := testkit.Must(m.Quantile(t.Context(), p))(t)[0]
		_, _, lo, hi := m.at(0, p)
		a, b := lo, hi
		for range 200 {
			mid := a + 0.5*(b-a)
			if below, _, _, _ := m.at(mid, p); below < p {
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

// TestMixtureQuantileOfAStep: a component of no variance, or of next to none, is a step of the distribution. Newton's method may
// stand on it.
func TestMixtureQuantileOfAStep(t *testing.T) {
	for _, sd := range []float64{0, 1e-150, 1e-14} {
		m := new(Mixture)
		m.add(0.5, nil, 1, sd)
		m.add(0.5, nil, 2, 0.1)
		if got := testkit.Must(m.Quantile(t.Context(), 0.3))(t)[0]; math.Abs(got-1) > 1e-9 {
			t.Errorf("deviation %v: %v, want 1", sd, got)
		}
		m = new(Mixture)
		m.add(0.2, nil, 1, sd)
		m.add(0.8, nil, 1.5, 1)
		want := 1.5 // 0.2 + 0.8·½ = 0.6
		if got := testkit.Must(m.Quantile(t.Context(), 0.6))(t)[0]; math.Abs(got-want) > 1e-9 {
			t.Errorf("deviation %v: %v, want %v", sd, got, want)
		}
	}
}

// TestMixtureQuantileAtRounding: where all quantiles agree to rounding, there is an end to it.
func TestMixtureQuantileAtRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, size := range []float64{0, 1e-150, 1, 1e9, 1e150} {
		for _, sd := range []float64{1e-18, 1e-15, 1e-12} {
			for _, p := range []float64{0.005, 0.3, 0.5, 0.975} {
				m := new(Mixture)
				for range 5 {
					m.add(0.2, nil, size*(1+sd*r.NormFloat64()), size*sd*r.Float64())
				}
				_, _, lo, hi := m.at(0, p)
				if got := testkit.Must(m.Quantile(t.Context(), p))(t)[0]; !(got >= lo && got <= hi) {
					t.Errorf("size %v, deviation %v, level %v: %v is not in [%v, %v]", size, sd, p, got, lo, hi)
				}
			}
		}
	}
}

// TestMixtureDensity: the density is the derivative of the distribution, and the tails are its two sides.
func TestMixtureDensity(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		m := randomMixture(r)
		_, _, lo, hi := m.at(0, 0.3)
		v := lo + 0.5*(hi-lo)
		h := 1e-5 * min(1, math.Abs(v))
		mid, density, _, _ := m.at(v, 0.3)
		above, _, _, _ := m.at(v+h, 0.3)
		below, _, _, _ := m.at(v-h, 0.3)
		if central := (above - below) / (2 * h); math.Abs(central-density) > 1e-4*(1e-3+density) {
			t.Errorf("%+v: density %v, central difference %v", m, density, central)
		}
		if left, right := m.Tails([]float64{v}); math.Abs(left[0]-mid) > 1e-14 || math.Abs(left[0]+right[0]-1) > 1e-14 {
			t.Errorf("%+v: tails %v and %v, distribution %v", m, left, right, mid)
		}
	}
}

// BenchmarkMixtureQuantile is of 30 parts, as of three models with ten draws of their parameters.
func BenchmarkMixtureQuantile(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	m := new(Mixture)
	for i := range 30 {
		m.add(1.0/30, logIf(i < 10), 2+0.1*r.NormFloat64(), 0.3+0.1*r.Float64())
	}
	for b.Loop() {
		if _, err := m.Quantile(b.Context(), 0.975); err != nil {
			b.Fatal(err)
		}
	}
}
