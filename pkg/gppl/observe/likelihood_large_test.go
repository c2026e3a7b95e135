package observe

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestLargeShape compares log densities of a negative binomial distribution with log Γ(r + y)/Γ(r)rʸ as a product of exact
// numbers and a series in 1/r, and its derivatives in the shape with the expansion about Poisson's distribution, ((y − μ)² − y)/2r²
// and so on. It is Poisson's at 1e300 and at infinity.
func TestLargeShape(t *testing.T) {
	rnd := rand.New(rand.NewPCG(61, 4))
	for range testkit.Size(300, 1000, 5000) {
		mu := math.Exp(7 * rnd.Float64())
		y := math.Floor(mu + 3*math.Sqrt(mu)*rnd.NormFloat64())
		if y < 0 {
			y = 0
		}
		g, size := math.Log(mu), 1.0
		poisson := (Poisson{}).LogDensity(y, size, g)
		for _, r := range []float64{1e6, 1e9, 1e12, 1e15, 1e18, 1e300, math.Inf(1)} {
			l := NegBinomial{Shape: r}
			got := l.LogDensity(y, size, g)
			// Σ_k log(1 + k/r) over k < y, and −y·log(1 + μ/r) − r·log(1 + μ/r) + μ
			product := big.NewFloat(1).SetPrec(200)
			for k := range int(y) {
				term := new(big.Float).SetPrec(200).SetFloat64(float64(k))
				if !math.IsInf(r, 1) {
					term.Quo(term, big.NewFloat(r)).Add(term, big.NewFloat(1))
					product.Mul(product, term)
				}
			}
			product.Sub(product, big.NewFloat(1))
			rising, _ := product.Float64()
			q := mu / r
			excess := q * mu * (0.5 - q/3 + q*q/4) // μ − r·log(1 + q)
			want := poisson.Value + math.Log1p(rising) - y*math.Log1p(q) + excess
			if !(math.Abs(got.Value-want) < 2e-12*(1+mu)) {
				t.Errorf("shape %v, μ = %v, y = %v: %v, want %v", r, mu, y, got.Value, want)
			}
			slope := l.Slopes(0, y, size, g)
			first := ((y-mu)*(y-mu) - y) / 2
			if got, off := slope.Value*r*r, 1e-10*(1+mu*mu)+20*(mu+y)*(mu+y)*(mu+y)/r; r < 1e100 &&
				!(math.Abs(got+first) < off) {
				t.Errorf("shape %v, μ = %v, y = %v: r²·∂log p/∂r = %v, want %v within %v", r, mu, y, got, -first, off)
			}
			if got, want := slope.D1*r*r, mu*(y-mu); r < 1e100 && !(math.Abs(got-want) < 1e-8*(1+mu*mu)+10*(mu+y)*(mu+y)*(mu+y)/r) {
				t.Errorf("shape %v, μ = %v, y = %v: r²·∂²log p/∂r∂g = %v, want %v", r, mu, y, got, want)
			}
			if r >= 1e18 && !(math.Abs(got.D1-poisson.D1)+math.Abs(got.D2-poisson.D2)+math.Abs(got.D3-poisson.D3) < 1e-12*(1+mu)) {
				t.Errorf("shape %v, μ = %v, y = %v: derivatives %v, of Poisson's %v", r, mu, y, got, poisson)
			}
			if got, want := l.CDF(y, size, g), (Poisson{}).CDF(y, size, g); r >= 1e18 && !(math.Abs(got-want) < 1e-12) {
				t.Errorf("shape %v, μ = %v: P(Y ≤ %v) = %v, of Poisson's %v", r, mu, y, got, want)
			}
		}
	}
}

// TestPoissonLimit: a negative binomial distribution learnt from Poisson counts ends no worse than Poisson's.
func TestPoissonLimit(t *testing.T) {
	for seed := range uint64(testkit.Size(3, 10, 40)) {
		m := gppl.Model{Kernel: gppl.Matern32{Variance: 0.3, Lengthscale: 5}, Noise: 1e-4, Mean: nil}.Fix(gppl.NoiseName)
		d, sizes := drawn(t, m, Poisson{}, 60, seed+1)
		poisson := testkit.Must(FitLaplace(t.Context(), m, d, Poisson{}, sizes, gppl.Settings{NoStandardErrors: true}))(t)
		for _, shape := range []float64{3, 1e6, 1e13} {
			fit := testkit.Must(FitLaplace(t.Context(), m, d, NegBinomial{Shape: shape}, sizes, gppl.Settings{NoStandardErrors: true}))(t)
			if !(fit.Value < poisson.Value+1e-4) {
				t.Errorf("seed %d, from %v: %v ends at %v, Poisson's at %v", seed, shape, fit.Likelihood, fit.Value, poisson.Value)
			}
		}
	}
}

// TestLargeCounts: the first derivative keeps its digits where it is a small difference of large counts: r(y − μ)/(r + μ) for a
// negative binomial distribution, and N·e⁻ᵍ/(1 + e⁻ᵍ) where all N trials succeed.
func TestLargeCounts(t *testing.T) {
	for _, g := range []float64{10, 20, 30, 34} {
		mu := math.Exp(g)
		for _, by := range []float64{0.5, 2} {
			y := math.Floor(by * mu)
			if got, want := (NegBinomial{Shape: 3}).LogDensity(y, 1, g).D1, 3*(y-mu)/(3+mu); !(math.Abs(got-want) < 1e-12*math.Abs(want)) {
				t.Errorf("negative binomial, y = %v, μ = %v: ∂log p = %v, want %v", y, mu, got, want)
			}
		}
		if got, want := (Binomial{}).LogDensity(1e15, 1e15, g).D1, 1e15*math.Exp(-g)/(1+math.Exp(-g)); !(math.Abs(got-want) < 1e-12*want) {
			t.Errorf("binomial, g = %v: ∂log p = %v, want %v", g, got, want)
		}
	}
}
