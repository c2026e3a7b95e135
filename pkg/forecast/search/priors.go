package search

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// distributions are the priors that ParsePrior reads, by name, with the names of their arguments.
var distributions = map[string]struct {
	args  []string
	prior func(v []float64) gppl.Prior
}{
	"lognormal":  {[]string{"mu", "sigma"}, func(v []float64) gppl.Prior { return prior.LogNormal{Mu: v[0], Sigma: v[1]} }},
	"halfnormal": {[]string{"scale"}, func(v []float64) gppl.Prior { return prior.HalfNormal{Scale: v[0]} }},
	"gamma":      {[]string{"shape", "rate"}, func(v []float64) gppl.Prior { return prior.Gamma{Shape: v[0], Rate: v[1]} }},
	"inversegamma": {[]string{"shape", "scale"}, func(v []float64) gppl.Prior {
		return prior.InverseGamma{Shape: v[0], Scale: v[1]}
	}},
	"uniform": {[]string{"lo", "hi"}, func(v []float64) gppl.Prior { return prior.Uniform{Lo: v[0], Hi: v[1]} }},
	"within":  {[]string{"lo", "hi"}, nil}, // log-normal, 98 % of it between the arguments
}

// Distributions are the priors that ParsePrior reads.
const Distributions = "lognormal(mu, sigma), halfnormal(scale), gamma(shape, rate), inversegamma(shape, scale), " +
	"uniform(lo, hi), or within(lo, hi), which is log-normal with 98 % between lo and hi"

var priorRoles = map[string]gppl.Role{
	"variance": gppl.RoleVariance, "lengthscale": gppl.RoleLengthscale, "period": gppl.RolePeriod, "shape": gppl.RoleShape,
	"noise": gppl.RoleNoise, gppl.NoiseName: gppl.RoleNoise,
}

// ParsePrior reads NAME=DISTRIBUTION, as in lengthscale=within(1, 10). The name is a parameter, such as SE.lengthscale, or a role
// (variance, lengthscale, period, shape or noise), which stands for all parameters with it. Variances have the unit of y squared
// (of log y if that is modelled), lengthscales and periods the unit of x, as in a table of parameters.
func ParsePrior(text string) (gppl.ParamPrior, error) {
	name, of, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return gppl.ParamPrior{}, fmt.Errorf("the prior %q: write it as NAME=DISTRIBUTION, such as lengthscale=within(1, 10)",
			text)
	}
	prior, err := parseDistribution(strings.TrimSpace(of))
	if err != nil {
		return gppl.ParamPrior{}, fmt.Errorf("the prior %q: %w", text, err)
	}
	if role, ok := priorRoles[strings.ToLower(name)]; ok {
		return gppl.ParamPrior{Role: role, Prior: prior}, nil
	}
	return gppl.ParamPrior{Name: name, Prior: prior}, nil
}

func parseDistribution(text string) (gppl.Prior, error) {
	name, rest, _ := strings.Cut(text, "(")
	name = strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	d, ok := distributions[name]
	inside, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed {
		return nil, fmt.Errorf("%q is not a distribution: there are %s", text, Distributions)
	}
	parts := strings.Split(inside, ",")
	if len(parts) != len(d.args) {
		return nil, fmt.Errorf("%s has %d numbers, not %d: %s", name, len(d.args), len(parts), strings.Join(d.args, ", "))
	}
	v := make([]float64, len(parts))
	for i, part := range parts {
		var err error
		if v[i], err = strconv.ParseFloat(strings.TrimSpace(part), 64); err != nil {
			return nil, fmt.Errorf("%s of %s is %q: want a number", d.args[i], name, strings.TrimSpace(part))
		}
	}
	if d.prior == nil {
		if !(v[0] > 0 && v[0] < v[1]) || math.IsInf(v[1], 1) {
			return nil, fmt.Errorf("within(%v, %v): want 0 < lo < hi", v[0], v[1])
		}
		return prior.LogNormalWithin(v[0], v[1]), nil
	}
	prior := d.prior(v)
	return prior, prior.Check()
}

// timesPrior returns the prior of cθ if θ has the prior p.
func timesPrior(p gppl.Prior, c float64) gppl.Prior {
	switch p := p.(type) {
	case prior.LogNormal:
		return prior.LogNormal{Mu: p.Mu + math.Log(c), Sigma: p.Sigma}
	case prior.HalfNormal:
		return prior.HalfNormal{Scale: p.Scale * c}
	case prior.Gamma:
		return prior.Gamma{Shape: p.Shape, Rate: p.Rate / c}
	case prior.InverseGamma:
		return prior.InverseGamma{Shape: p.Shape, Scale: p.Scale * c}
	case prior.Uniform:
		return prior.Uniform{Lo: p.Lo * c, Hi: p.Hi * c}
	}
	panic(fmt.Sprintf("search: no prior of a multiple of %T", p))
}

// StandardisedPrior returns the prior p of a parameter in the given unit for a series that was divided by scale.
func StandardisedPrior(p gppl.Prior, unit string, scale float64) gppl.Prior {
	if unit == gppl.UnitY2 {
		return timesPrior(p, 1/(scale*scale))
	}
	return p
}

// PriorsOf returns the given priors that apply to a model of a series that was divided by scale, by the names of its parameters.
func PriorsOf(m gppl.Model, given []gppl.ParamPrior, scale float64) (out []gppl.ParamPrior) {
	for _, q := range m.Params() {
		if q.IsFixed() {
			continue
		}
		byName := func(p gppl.ParamPrior) bool { // parameters of a single term have no prefix, but the prior's name may have one
			return strings.EqualFold(p.Name, q.Name) || strings.EqualFold(p.Name, KernelName(m.Kernel)+"."+q.Name)
		}
		byRole := func(p gppl.ParamPrior) bool { return p.Name == "" && p.Role == q.Role }
		i := slices.IndexFunc(given, byName)
		if i < 0 {
			i = slices.IndexFunc(given, byRole)
		}
		if i >= 0 {
			out = append(out, gppl.ParamPrior{Name: q.Name, Role: q.Role, Prior: StandardisedPrior(given[i].Prior, q.Unit, scale)})
		}
	}
	return out
}

// ofVariance reports whether a prior is about a variance of the signal or of the noise, which has the unit y².
func ofVariance(p gppl.ParamPrior) bool {
	if p.Name == "" {
		return p.Role == gppl.RoleVariance || p.Role == gppl.RoleNoise
	}
	return strings.HasSuffix(strings.ToLower(p.Name), "variance")
}

// checkPriors returns an error if a prior applies to no learnt parameter of any model, or if one parameter has two priors.
func checkPriors(models []gppl.Model, given []gppl.ParamPrior) error {
	for i, p := range given {
		for _, o := range given[:i] {
			if strings.EqualFold(o.Name, p.Name) && (p.Name != "" || o.Role == p.Role) {
				return fmt.Errorf("%v and %v are priors of the same parameter: one prior is enough", o, p)
			}
		}
		var names []string
		found := false
		for _, m := range models {
			found = found || len(PriorsOf(m, []gppl.ParamPrior{p}, 1)) > 0
			for _, q := range m.Params() {
				if !q.IsFixed() && !slices.Contains(names, q.Name) {
					names = append(names, q.Name)
				}
			}
		}
		if !found {
			return fmt.Errorf("the prior %v applies to no parameter that is learnt: there are %s, "+
				"and the roles variance, lengthscale, period, shape and noise", p, strings.Join(names, ", "))
		}
	}
	return nil
}

// DescribePrior returns the text of a prior. A log-normal one, whose mu is a logarithm, is described by its median and range.
func DescribePrior(p gppl.Prior) string {
	l, ok := p.(prior.LogNormal)
	if !ok {
		return p.String()
	}
	unit := prior.LogNormalWithin(math.Exp(-1), math.E).Sigma // Sigma of a prior with 98 % within a factor of e of the median
	half := l.Sigma / unit
	return fmt.Sprintf("%v (median %.4g, 98 %% between %.4g and %.4g)", l, math.Exp(l.Mu), math.Exp(l.Mu-half), math.Exp(l.Mu+half))
}
