package search

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// scaledLog is the transform θ = exp(s·u). If s is the standard error of log θ, a step of one in u changes the loss about equally
// for every parameter, and L-BFGS needs a fraction of the evaluations. A gradient g in u means that the loss can fall by about
// g²/2 nats. θ is at least the field least, such as leastNoise for the noise, 0 for other parameters.
type scaledLog struct{ s, least float64 }

var _ transform.Transform = scaledLog{}

func (t scaledLog) Natural(u float64) float64 { return max(math.Exp(t.s*u), t.least) }
func (t scaledLog) Raw(theta float64) float64 { return math.Log(theta) / t.s }
func (t scaledLog) String() string            { return fmt.Sprintf("log/%.3g", t.s) }

func (t scaledLog) Slope(u float64) float64 {
	if theta := math.Exp(t.s * u); theta > t.least {
		return t.s * theta
	}
	return 0
}

// guess is the standard error of log θ that is assumed before training.
const guess = 0.3

// scaled returns m with transforms scaledLog. The standard errors are guesses: at most a fifth of a cycle over the span for a
// period, guess for any other parameter. The noise variance is at least noise.
func scaled(m gppl.Model, span, noise float64) gppl.Model {
	for _, p := range m.Params() {
		if p.IsFixed() || p.Role == gppl.RoleLocation { // a location has any sign
			continue
		}
		s := guess
		if p.Role == gppl.RolePeriod {
			s = min(s, 0.2*p.Value/span)
		}
		least := 0.0
		if p.Role == gppl.RoleNoise {
			least = noise
		}
		m = m.WithTransform(p.Name, scaledLog{s, least})
	}
	return m
}

// plain returns the result with the parameters' default transforms, which can be saved.
func plain(r *gppl.Result) *gppl.Result {
	out := *r
	out.Model = gppl.Model{Kernel: r.Model.Kernel, Noise: r.Model.Noise, Mean: r.Model.Mean}
	out.Params = nil
	for i, p := range out.Model.Params() {
		fitted := r.Params[i]
		if fitted.Param.IsFixed() {
			out.Model = out.Model.Fix(p.Name)
			p.Transform = transform.Fixed{}
		}
		fitted.Param = p
		out.Params = append(out.Params, fitted)
	}
	return &out
}
