// Package prior provides densities of positive parameters; each implements gppl.Prior.
package prior

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/gammas"
)

const log2Pi = 1.8378770664093454835606594728112352797

// positive returns an error that names the first field which is not a positive number.
func positive(of string, fields ...any) error {
	for i := 0; i < len(fields); i += 2 {
		if v := fields[i+1].(float64); !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("gppl: the %v of the %s prior is %v: want a positive number", fields[i], of, v)
		}
	}
	return nil
}

// LogNormal is the density of θ with log θ ~ N(Mu, Sigma²):
//
//	log p = −log θ − log Sigma − ½log 2π − (log θ − Mu)²/2Sigma².
//
// Its median is exp(Mu), its mode exp(Mu − Sigma²). Use it for a parameter known up to a factor.
type LogNormal struct{ Mu, Sigma float64 }

// LogNormalWithin returns the log-normal prior with 98 % of its mass between lo and hi,
// 1 % on either side. It panics unless 0 < lo < hi.
func LogNormalWithin(lo, hi float64) LogNormal {
	if !(lo > 0) || !(lo < hi) || math.IsInf(hi, 1) {
		panic(fmt.Sprintf("gppl: LogNormalWithin: lo = %v and hi = %v, want 0 < lo < hi < ∞", lo, hi))
	}
	const normal99 = 2.3263478740408408 // the 99 % quantile of N(0, 1)
	a, b := math.Log(lo), math.Log(hi)
	return LogNormal{Mu: 0.5 * (a + b), Sigma: 0.5 * (b - a) / normal99}
}

func (p LogNormal) LogDensity(theta float64) (value, slope float64) {
	if !(theta > 0) || math.IsInf(theta, 1) {
		return math.Inf(-1), 0
	}
	u := math.Log(theta)
	z := (u - p.Mu) / p.Sigma
	return -u - math.Log(p.Sigma) - 0.5*log2Pi - 0.5*z*z, -(1 + z/p.Sigma) / theta
}

func (p LogNormal) Check() error {
	if !numeric.IsFinite(p.Mu) {
		return fmt.Errorf("gppl: the mu of the log-normal prior is %v: want a number", p.Mu)
	}
	return positive("log-normal", "sigma", p.Sigma)
}
func (p LogNormal) String() string { return fmt.Sprintf("LogNormal(%.4g, %.4g)", p.Mu, p.Sigma) }

// HalfNormal is |N(0, Scale²)|:
//
//	log p = ½log(2/π) − log Scale − θ²/2Scale².
//
// Its mode is 0. Use it for a component that may be absent, such as its variance.
type HalfNormal struct{ Scale float64 }

func (p HalfNormal) LogDensity(theta float64) (value, slope float64) {
	if !(theta >= 0) || math.IsInf(theta, 1) {
		return math.Inf(-1), 0
	}
	z := theta / p.Scale
	return 0.5*math.Log(2/math.Pi) - math.Log(p.Scale) - 0.5*z*z, -z / p.Scale
}

func (p HalfNormal) Check() error   { return positive("half-normal", "scale", p.Scale) }
func (p HalfNormal) String() string { return fmt.Sprintf("HalfNormal(%.4g)", p.Scale) }

// Gamma has the mean Shape/Rate and the variance Shape/Rate²:
//
//	log p = Shape·log Rate − log Γ(Shape) + (Shape − 1)·log θ − Rate·θ.
type Gamma struct{ Shape, Rate float64 }

func (p Gamma) LogDensity(theta float64) (value, slope float64) {
	if !(theta > 0) || math.IsInf(theta, 1) {
		return math.Inf(-1), 0
	}
	log := math.Log(theta)
	return gammas.LogGamma(p.Shape, math.Log(p.Rate/p.Shape)+log) - log, (p.Shape-1)/theta - p.Rate
}

func (p Gamma) Check() error   { return positive("gamma", "shape", p.Shape, "rate", p.Rate) }
func (p Gamma) String() string { return fmt.Sprintf("Gamma(%.4g, %.4g)", p.Shape, p.Rate) }

// InverseGamma is the density of 1/g, where g has the density Gamma{Shape, Rate: Scale}:
//
//	log p = Shape·log Scale − log Γ(Shape) − (Shape + 1)·log θ − Scale/θ.
//
// Its mode is Scale/(Shape + 1). It has almost no mass near 0. Use it for lengthscales,
// which the data cannot determine below their spacing.
type InverseGamma struct{ Shape, Scale float64 }

func (p InverseGamma) LogDensity(theta float64) (value, slope float64) {
	if !(theta > 0) || math.IsInf(theta, 1) {
		return math.Inf(-1), 0
	}
	log := math.Log(theta)
	return gammas.LogGamma(p.Shape, math.Log(p.Scale/p.Shape)-log) - log, (p.Scale/theta - p.Shape - 1) / theta
}

func (p InverseGamma) Check() error {
	return positive("inverse gamma", "shape", p.Shape, "scale", p.Scale)
}
func (p InverseGamma) String() string {
	return fmt.Sprintf("InverseGamma(%.4g, %.4g)", p.Shape, p.Scale)
}

// Uniform is 1/(Hi − Lo) between Lo and Hi, and 0 elsewhere. Training stalls at such an edge, so prefer a prior that falls
// smoothly.
type Uniform struct{ Lo, Hi float64 }

func (p Uniform) LogDensity(theta float64) (value, slope float64) {
	if !(theta >= p.Lo) || !(theta <= p.Hi) {
		return math.Inf(-1), 0
	}
	return -math.Log(p.Hi - p.Lo), 0
}

func (p Uniform) Check() error {
	if !(p.Lo >= 0) || !(p.Lo < p.Hi) || math.IsInf(p.Hi, 1) {
		return fmt.Errorf("gppl: a uniform prior from %v to %v: want 0 ≤ lo < hi", p.Lo, p.Hi)
	}
	return nil
}
func (p Uniform) String() string { return fmt.Sprintf("Uniform(%.4g, %.4g)", p.Lo, p.Hi) }
