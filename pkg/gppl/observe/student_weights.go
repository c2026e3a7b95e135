package observe

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/gammas"
)

// Student-t noise of ν degrees of freedom and scale σ is a scale mixture of Gaussians,
//
//	ε | λ ~ N(0, σ²/λ),  λ ~ Gamma(ν/2, ν/2),
//
// whose λ, given that ε² is r² in the mean, is Gamma((ν+1)/2, (ν + r²/σ²)/2): of the mean
//
//	w(r²) = (ν + 1)/(ν + r²/σ²),
//
// the weight of an observation, below 1 for one far off (Lange, Little and Taylor 1989).
type student struct {
	nu, scale2 float64 // ν and σ²
}

// Degrees of freedom are learnt between leastNu, where the tails are Cauchy's, and mostNu, where 1000 observations cannot
// distinguish the noise from Gaussian.
const leastNu, mostNu = 1, 200

// nuTolerance is the absolute error of log ν.
const nuTolerance = 1e-6

func (s student) weight(r2 float64) float64 { return (s.nu + 1) / (s.nu + r2/s.scale2) }

// most returns the largest weight.
func (s student) most() float64 { return (s.nu + 1) / s.nu }

// logDensity returns the log density of ε at ε² = r².
func (s student) logDensity(r2 float64) float64 {
	return s.logConstant() - 0.5*(s.nu+1)*math.Log1p(r2/(s.nu*s.scale2))
}

func (s student) logConstant() float64 {
	return gammas.HalfStep(0.5*s.nu) - 0.5*math.Log(2*math.Pi*s.scale2)
}

// slack returns (E log λ − log E λ)/2 minus the Kullback–Leibler divergence of q(λ) from its prior, where r² determines the
// parameters of q: the difference between the evidence bound of an observation and the Gaussian likelihood of variance σ²/w.
func (s student) slack(r2 float64) float64 {
	a, b := 0.5*(s.nu+1), 0.5*(s.nu+r2/s.scale2)
	a0 := 0.5 * s.nu
	// The divergence is ½ψ(a) − log Γ(a)/Γ(a0) + a0·log(b/a0) + a·(a0 − b)/b; for a large ν its terms are large and cancel.
	return gammas.HalfStep(a0) + 0.5*math.Log(a0/a) - a0*math.Log1p(r2/(s.nu*s.scale2)) + a*(0.5*r2/s.scale2)/b
}

// scaledStudent returns the σ² of the largest likelihood at a ν, by its fixed point σ² = Σ w_i r_i²/n, and the likelihood. It
// panics with a parallel.Stop once ctx has ended.
func scaledStudent(ctx context.Context, r2 []float64, nu, from float64) (student, float64) {
	s := student{nu, from}
	for range 500 {
		parallel.Look(ctx)
		var sum float64
		for _, r := range r2 {
			sum += s.weight(r) * r
		}
		sum /= float64(len(r2))
		done := math.Abs(sum-s.scale2) <= 1e-12*sum
		if s.scale2 = sum; done {
			break
		}
	}
	log := s.logConstant() * float64(len(r2))
	for _, r := range r2 {
		log -= 0.5 * (s.nu + 1) * math.Log1p(r/(s.nu*s.scale2))
	}
	return s, log
}

// studentOf returns the ν within bounds and the σ² that have the largest likelihood Σ log p(r_i²): σ² by its fixed point σ² =
// Σ w_i r_i²/n, starting at from, and ν by a golden section of its logarithm, to within 1e-6. The r² must not all be 0.
func studentOf(ctx context.Context, r2 []float64, from float64) (best student, logDensity float64) {
	scale2 := from
	profile := func(logNu float64) (student, float64) {
		s, log := scaledStudent(ctx, r2, math.Exp(logNu), scale2)
		scale2 = s.scale2
		return s, log
	}
	lo, hi := math.Log(leastNu), math.Log(mostNu)
	best, logDensity = profile(hi) // the likelihood rises towards Gaussian noise, if it rises at all
	numeric.Minimum(func(logNu float64) float64 {
		s, log := profile(logNu)
		if log > logDensity {
			best, logDensity = s, log
		}
		return -log
	}, lo, hi, nuTolerance)
	return best, logDensity
}

// StudentNoise is Student-t noise of Nu degrees of freedom and squared scale Scale2.
type StudentNoise struct{ Nu, Scale2 float64 }

// Mixture returns the variances and weights of a mixture of components Gaussians for the noise (draws.Mixture); the weights
// add up to 1. The precisions λ are the quantiles in the middle of unequal steps, which are finer in both tails.
func (s StudentNoise) Mixture(components int) (variances, weights []float64) {
	step := func(u float64) float64 { return u * u * u * (10 - 15*u + 6*u*u) }
	for c := range components {
		lo, hi := step(float64(c)/float64(components)), step(float64(c+1)/float64(components))
		q := mathext.GammaIncRegInv(0.5*s.Nu, 0.5*(lo+hi))
		variances, weights = append(variances, s.Scale2/(q/(0.5*s.Nu))), append(weights, hi-lo)
	}
	return variances, weights
}

// HeaviestNoise returns the noise with the heaviest tails that is compatible with residuals, not all 0: the fewest degrees of
// freedom, between 1 and 200, whose likelihood is at most the given nats below the largest, each with its best scale.
func HeaviestNoise(residuals []float64, nats float64) StudentNoise {
	r2, square := make([]float64, len(residuals)), 0.0
	for i, r := range residuals {
		r2[i] = r * r
		square += r2[i] / float64(len(r2))
	}
	best, most := studentOf(context.Background(), r2, square)
	const rounds = 30
	lo, hi := math.Log(leastNu), math.Log(best.nu)
	for range rounds {
		middle := 0.5 * (lo + hi)
		if s, log := scaledStudent(context.Background(), r2, math.Exp(middle), best.scale2); log >= most-nats {
			best, hi = s, middle
		} else {
			lo = middle
		}
	}
	return StudentNoise{best.nu, best.scale2}
}
