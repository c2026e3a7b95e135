package gppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/projected-likelihood/gppl/internal/parallel"
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
	_ Prior = prior.LogNormal{}
	_ Prior = prior.HalfNormal{}
	_ Prior = prior.Gamma{}
	_ Prior = prior.InverseGamma{}
	_ Prior = prior.Uniform{}
)

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
	return nil, errors.New("gppl: JSON does not record the type of a prior: write a store.Prior")
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
// For inputs of several dimensions, the range is the longest side of their bounding box, the spacing range/n^(1/d). If the
// model has a mean, y means its residuals after a least-squares fit of the mean. Parameters without a known role get no prior.
// State your knowledge about a parameter by a prior with its name.
func (m Model) DefaultPriors(ctx context.Context, d Data) (priors []ParamPrior, err error) {
	defer parallel.Stopped(&err)
	const wide, narrow = 2, 1 // standard deviations of the log
	if d.sums != nil {
		return nil, m.CheckPlain("DefaultPriors", d)
	}
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
	if !(extent > 0) || n < 5 { // keeps the bounds below apart
		extent, spacing = max(extent, 1), max(extent, 1)/5
	}
	terms := m.Amplitudes()
	for i, p := range m.Params() {
		if p.IsFixed() || !p.IsScale() {
			continue
		}
		var own Prior
		switch p.Role {
		case RoleVariance:
			median := 1.0
			if slices.Contains(terms, i) {
				median = variance / float64(len(terms))
			}
			own = prior.LogNormal{Mu: math.Log(median), Sigma: wide}
		case RoleNoise:
			own = prior.LogNormal{Mu: math.Log(0.1 * variance), Sigma: wide}
		case RoleLengthscale:
			own = prior.LogNormalWithin(spacing, extent)
		case RolePeriod:
			own = prior.LogNormalWithin(2*spacing, max(extent/2, 2.5*spacing))
		case RoleShape:
			own = prior.LogNormal{Sigma: narrow}
		default:
			continue
		}
		priors = append(priors, ParamPrior{p.Name, p.Role, own})
	}
	return priors, nil
}
