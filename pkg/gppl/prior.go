package gppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/gammas"
)

// A Prior is a probability density of one positive parameter θ, with respect to θ
// itself, not to its logarithm. It is an immutable value.
type Prior interface {
	// LogDensity returns log p(θ), in nats, and d log p/dθ. Outside the support it
	// returns −Inf and 0.
	LogDensity(theta float64) (value, slope float64)
	// Check returns an error if a field is out of range.
	Check() error
	// String names the density with its parameters.
	fmt.Stringer
}

var (
	_ Prior = LogNormal{}
	_ Prior = HalfNormal{}
	_ Prior = Gamma{}
	_ Prior = InverseGamma{}
	_ Prior = Uniform{}
)

// positive returns an error that names the first field which is not a positive number.
func positive(of string, fields ...any) error {
	for i := 0; i < len(fields); i += 2 {
		if v := fields[i+1].(float64); !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("gppl: the %v of the %s prior is %v: want a positive number", fields[i], of, v)
		}
	}
	return nil
}

// LogNormal says that log θ ~ N(Mu, Sigma²):
//
//	log p = −log θ − log Sigma − ½log 2π − (log θ − Mu)²/2Sigma².
//
// Its median is exp(Mu), its mode exp(Mu − Sigma²). Use it for a parameter that is
// known up to a factor.
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
// Its mode is 0. Use it for what may be absent, such as the variance of a
// component.
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

// InverseGamma is the density of 1/g, g of Gamma{Shape, Rate: Scale}:
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

// Uniform is 1/(Hi − Lo) between Lo and Hi, and 0 elsewhere. Training stalls at such
// an edge, so prefer a prior that falls smoothly.
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

const log2Pi = 1.8378770664093454835606594728112352797

// A ParamPrior is the prior of the parameter with the given name or, if the name is
// empty, of all parameters with the given role.
type ParamPrior struct {
	Name  string
	Role  Role
	Prior Prior
}

func (p ParamPrior) String() string {
	if p.Name == "" {
		return fmt.Sprintf("every %v ~ %v", p.Role, p.Prior)
	}
	return fmt.Sprintf("%s ~ %v", p.Name, p.Prior)
}

// MarshalJSON is an error: a prior is written with its type, as store.Prior does.
func (p ParamPrior) MarshalJSON() ([]byte, error) {
	return nil, errors.New("gppl: JSON cannot tell the type of a prior: write a store.Prior")
}

// DefaultPriors returns weak priors on the trained parameters of m, derived from the
// scale of the data. All are log-normal, and so wide that a few dozen informative
// observations override them:
//
//   - a variance: the median is the variance of y divided by the number of the kernel's
//     terms, or 1 for a further factor of a product; one standard deviation is a factor
//     of e² either way;
//   - noise: the same, with a median of a tenth of the variance of y;
//   - a lengthscale: 98 % between the mean spacing of x and its range;
//   - a period: 98 % between two mean spacings and half the range;
//   - a shape: the median is 1; one standard deviation is a factor of e either way.
//
// For inputs of several dimensions, the range is the longest side of their bounding box,
// the spacing range/n^(1/d). If the model has a mean, y stands for its residuals after a
// least-squares fit of the mean. Parameters without a known role get no prior. State
// what you know about a parameter by a prior with its name.
func DefaultPriors(ctx context.Context, m Model, d Data) (priors []ParamPrior, err error) {
	defer parallel.Stopped(&err)
	const wide, narrow = 2, 1 // standard deviations of the log
	d = m.subtractMean(ctx, d)
	var mean, variance, extent float64
	n := float64(d.Len())
	for _, y := range d.Y {
		mean += y / n
	}
	for _, y := range d.Y {
		variance += (y - mean) * (y - mean) / n
	}
	for j := range d.X.Dim() {
		lo, hi := d.X.Range(j)
		extent = max(extent, hi-lo)
	}
	spacing := extent / math.Pow(n, 1/float64(max(1, d.X.Dim())))
	if !(variance > 0) {
		variance = 1
	}
	if !(extent > 0) || n < 5 { // the bounds below must be apart
		extent, spacing = max(extent, 1), max(extent, 1)/5
	}
	terms := Amplitudes(m.Kernel)
	for i, p := range m.Params() {
		if p.IsFixed() || !p.IsScale() {
			continue
		}
		var prior Prior
		switch p.Role {
		case RoleVariance:
			median := 1.0
			if slices.Contains(terms, i) {
				median = variance / float64(len(terms))
			}
			prior = LogNormal{math.Log(median), wide}
		case RoleNoise:
			prior = LogNormal{math.Log(0.1 * variance), wide}
		case RoleLengthscale:
			prior = LogNormalWithin(spacing, extent)
		case RolePeriod:
			prior = LogNormalWithin(2*spacing, max(extent/2, 2.5*spacing))
		case RoleShape:
			prior = LogNormal{0, narrow}
		default:
			continue
		}
		priors = append(priors, ParamPrior{p.Name, p.Role, prior})
	}
	return priors, nil
}
