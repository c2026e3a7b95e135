package draws

import (
	"context"
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// Mixture is a forecast at several inputs, at each of them a mixture of Gaussians:
// Σ_c Weights[c]·N(Means[c][i], Variances[c][i]).
type Mixture struct {
	Weights          []float64   // of the components, of sum 1
	Means, Variances [][]float64 // component by component, one value per input
}

// Len returns the number of inputs.
func (m *Mixture) Len() int {
	if len(m.Means) == 0 {
		return 0
	}
	return len(m.Means[0])
}

// each returns a number for each input from its components' means and standard deviations.
func (m *Mixture) each(f func(i int, mu, sd []float64) float64) []float64 {
	out, _ := m.within(context.Background(), f)
	return out
}

// within is each until ctx ends.
func (m *Mixture) within(ctx context.Context, f func(i int, mu, sd []float64) float64) ([]float64, error) {
	out := make([]float64, m.Len())
	mu, sd := make([]float64, len(m.Weights)), make([]float64, len(m.Weights))
	for i := range out {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("gppl: interrupted: %w", err)
		}
		for c := range m.Weights {
			mu[c], sd[c] = m.Means[c][i], math.Sqrt(m.Variances[c][i])
		}
		out[i] = f(i, mu, sd)
	}
	return out, nil
}

func (m *Mixture) average(f func(c int) float64) (sum float64) {
	for c, w := range m.Weights {
		sum += w * f(c)
	}
	return sum
}

// Mean returns the means Σ w_c·μ_c.
func (m *Mixture) Mean() []float64 {
	return m.each(func(_ int, mu, _ []float64) float64 {
		return m.average(func(c int) float64 { return mu[c] })
	})
}

// Variance returns Σ w_c·(σ_c² + (μ_c − μ)²): the variance within components plus that between them.
func (m *Mixture) Variance() []float64 {
	return m.each(func(_ int, mu, sd []float64) float64 {
		mean := m.average(func(c int) float64 { return mu[c] })
		return m.average(func(c int) float64 { return sd[c]*sd[c] + (mu[c]-mean)*(mu[c]-mean) })
	})
}

const log2Pi = 1.8378770664093454835606594728112352797

// normalCDF is Φ, with the digits of both tails.
func normalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// Quantile returns the quantiles at level p, to a relative 1e-12 of the width of the distribution. It panics unless 0 < p < 1.
func (m *Mixture) Quantile(ctx context.Context, p float64) ([]float64, error) {
	if !(p > 0 && p < 1) {
		panic(fmt.Sprintf("draws: Mixture.Quantile: p = %v, want 0 < p < 1", p))
	}
	z := numeric.NormalQuantile(p)
	return m.within(ctx, func(_ int, mu, sd []float64) float64 {
		// The quantile is between those of the components.
		lo, hi := math.Inf(1), math.Inf(-1)
		for c := range mu {
			q := mu[c] + z*sd[c]
			if math.IsNaN(q) {
				return math.NaN()
			}
			lo, hi = min(lo, q), max(hi, q)
		}
		return numeric.Quantile(p, lo, hi, func(v float64) (below, density float64) {
			for c, w := range m.Weights {
				switch u := (v - mu[c]) / sd[c]; {
				case sd[c] > 0:
					below += w * normalCDF(u)
					density += w * math.Exp(-0.5*u*u) / (sd[c] * math.Sqrt(2*math.Pi))
				case mu[c] <= v:
					below += w
				}
			}
			return below, density
		})
	})
}

// LogDensity returns the log densities at y, in nats. A component of variance 0 is all at its mean: its log density is +Inf
// there, the limit of small variances, and −Inf elsewhere. It panics unless y has a value for each input.
func (m *Mixture) LogDensity(ctx context.Context, y []float64) ([]float64, error) {
	m.checkLen(y)
	log := make([]float64, len(m.Weights))
	return m.within(ctx, func(i int, mu, sd []float64) float64 {
		most := math.Inf(-1)
		for c, w := range m.Weights {
			z := (y[i] - mu[c]) / sd[c]
			log[c] = math.Log(w) - 0.5*log2Pi - math.Log(sd[c]) - 0.5*z*z
			switch {
			case w == 0 || sd[c] == 0 && (y[i] < mu[c] || y[i] > mu[c]):
				log[c] = math.Inf(-1)
			case sd[c] == 0 && y[i] == mu[c]:
				log[c] = math.Inf(1)
			}
			most = max(most, log[c])
		}
		if math.IsInf(most, 0) {
			return most
		}
		var sum float64
		for _, l := range log {
			sum += math.Exp(l - most)
		}
		return most + math.Log(sum)
	})
}

// CRPS returns the continuous ranked probability scores at y, in the unit of y,
//
//	Σ_c w_c·A(y − μ_c, σ_c²) − ½Σ_cd w_c·w_d·A(μ_c − μ_d, σ_c² + σ_d²),
//
// A(μ, σ²) = E|N(μ, σ²)| (Grimit et al. 2006). It takes the square of the number of
// components for each input. It panics unless y has a value for each.
func (m *Mixture) CRPS(ctx context.Context, y []float64) ([]float64, error) {
	m.checkLen(y)
	return m.within(ctx, func(i int, mu, sd []float64) float64 {
		return m.average(func(c int) float64 {
			return meanAbs(y[i]-mu[c], sd[c]) -
				0.5*m.average(func(d int) float64 { return meanAbs(mu[c]-mu[d], math.Hypot(sd[c], sd[d])) })
		})
	})
}

// meanAbs is E|N(μ, σ²)|.
func meanAbs(mu, sd float64) float64 {
	if sd == 0 {
		return math.Abs(mu)
	}
	z := mu / sd
	return sd*math.Sqrt(2/math.Pi)*math.Exp(-0.5*z*z) + mu*math.Erf(z/math.Sqrt2)
}

func (m *Mixture) checkLen(y []float64) {
	if len(y) != m.Len() {
		panic(fmt.Sprintf("draws: Mixture: len(y) = %d for %d inputs", len(y), m.Len()))
	}
}
