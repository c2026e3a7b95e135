package gppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/psis"
)

// UncertainSettings says how parameters are drawn. The zero value is what is recommended.
type UncertainSettings struct {
	// Draws is the number of evaluations of the loss; 0 means 256.
	Draws int
	// Models is the number of models that forecasts average over, resampled from the
	// draws; 0 means 64.
	Models int
	Seed   uint64
}

// Uncertain is the posterior distribution of the parameters of a model, as weighted draws
// around an optimum. Forecasts from it (Predict) average over the parameters rather than
// take the learnt ones as known, and so have wider bands where there are few data.
type Uncertain struct {
	// Models are what forecasts average over, alike; a draw of a large weight is there
	// more than once.
	Models []Model
	// K is the diagnostic k̂ of the importance weights: up to 0.7 the average can be
	// trusted (Vehtari et al. 2024). It is NaN if there are no weights.
	K float64
	// ESS is the effective number of draws.
	ESS float64
	// Proposal says what the draws are from.
	Proposal string
	// Fallback says why the learnt parameters stand alone; "" if they do not. Models
	// has one entry then.
	Fallback string
	// Failed is the number of draws where the loss could not be evaluated; their weight
	// is 0.
	Failed int
}

// studentDegrees are those of the proposal that is tried where N(û, H⁻¹) fails: a tail that
// covers those of most posteriors, with a variance.
const studentDegrees = 4

// NewUncertain draws parameters around the best point of a training r of loss: in the raw
// space u that training moves in, from N(û, H⁻¹), H the curvature of the loss at û,
// weighted by importance,
//
//	w ∝ exp(−L(θ(u)))·|dθ/du| / q(u),
//
// and smoothed (PSIS). The factor dθ/du is that of parameters with a prior (NewMAP), whose
// density is in θ; a parameter without one is uniform in u, which is log θ for most. For
// the weights to be those of a posterior, the loss must be a likelihood, with priors or
// without; of VFE, a bound, they are those of the bound. Inducing inputs stay as they were
// learnt.
//
// If k̂ is above 0.7, draws from a multivariate Student-t with 4 degrees of freedom replace
// them; if it still is, or if the curvature is not positive, Models is the learnt model
// alone, and Fallback says so. It takes two evaluations with gradient per trained
// parameter, and one of the value for each draw, up to twice as many with the second
// proposal.
//
// The error is that of ctx, or that r does not belong to loss.
func NewUncertain(ctx context.Context, loss Loss, r *Result, s UncertainSettings) (*Uncertain, error) {
	if r == nil || len(r.Starts) <= r.Best {
		return nil, errors.New("gppl: uncertain parameters need a result of Fit")
	}
	t, err := newTarget(loss, r.Starts[r.Best].Theta)
	if err != nil {
		return nil, err
	}
	if s.Draws == 0 {
		s.Draws = 256
	}
	if s.Models == 0 {
		s.Models = 64
	}
	if s.Draws < 1 || s.Models < 1 {
		return nil, fmt.Errorf("gppl: %d draws and %d models: want at least 1", s.Draws, s.Models)
	}
	u := &Uncertain{K: math.NaN(), ESS: math.NaN()}
	alone := func(why string, args ...any) (*Uncertain, error) {
		u.Models, u.Fallback = []Model{r.Model}, fmt.Sprintf(why, args...)+": the learnt parameters stand alone"
		return u, nil
	}
	if len(t.free) == 0 {
		return alone("no parameter was trained")
	}
	factor, ok := t.factor(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !ok {
		return alone("the curvature of the loss at the optimum is not positive")
	}
	var tried []string
	for _, proposal := range []struct {
		name    string
		degrees float64
	}{
		{"normal, by the curvature", math.Inf(1)},
		{fmt.Sprintf("Student-t with %d degrees of freedom, by the curvature", studentDegrees), studentDegrees},
	} {
		theta, ratios, failed := t.draw(ctx, factor, s, proposal.degrees)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		u.Proposal, u.Failed = proposal.name, failed
		w, err := psis.Smooth(ratios)
		if err != nil { // no draw, or none that could be evaluated
			tried = append(tried, "no draw can be evaluated")
			continue
		}
		u.K, u.ESS = w.K, w.ESS
		if !(w.K > psis.Reliable) {
			for _, i := range resample(w.Weights, s.Models, s.Seed) {
				u.Models = append(u.Models, loss.Model(theta[i]))
			}
			return u, nil
		}
		tried = append(tried, fmt.Sprintf("k̂ = %.2f", w.K))
	}
	return alone("importance weights cannot be trusted (%s, above %.1f)", strings.Join(tried, ", then "), psis.Reliable)
}

// String says in a sentence what the draws are worth.
func (u *Uncertain) String() string {
	if u.Fallback != "" {
		return u.Fallback
	}
	text := fmt.Sprintf("%d models, k̂ = %.2f, effective number of draws %.0f, proposal %s", len(u.Models), u.K, u.ESS, u.Proposal)
	if u.Failed > 0 {
		text += fmt.Sprintf(", %d draws could not be evaluated", u.Failed)
	}
	return text
}

// Predict returns the forecast of new observations at x, noise included, averaged over the
// parameters: condition returns the posterior of a model given the data, such as
//
//	func(m Model) (*Posterior, error) { return NewPosterior(m, data) }
//
// It is asked once for each different model, and nothing is kept. Errors are those of
// condition and of Posterior.NoisyContext, with the model.
func (u *Uncertain) Predict(ctx context.Context, x Inputs, condition func(Model) (*Posterior, error)) (*Mixture, error) {
	m := &Mixture{}
	for i := 0; i < len(u.Models); {
		same := 1 // resampled draws stand next to each other
		theta := values(u.Models[i].Params())
		for i+same < len(u.Models) && slices.Equal(values(u.Models[i+same].Params()), theta) {
			same++
		}
		p, err := condition(u.Models[i])
		if err != nil {
			return nil, fmt.Errorf("gppl: the forecast of %v: %w", u.Models[i], err)
		}
		mean, variances, err := p.NoisyContext(ctx, x)
		if err != nil {
			return nil, err
		}
		m.Weights = append(m.Weights, float64(same)/float64(len(u.Models)))
		m.Means, m.Variances = append(m.Means, mean), append(m.Variances, variances)
		i += same
	}
	return m, nil
}

// target is the log posterior density in the raw values of the trained parameters.
type target struct {
	loss     Loss
	params   []Param
	free     []int     // indices of the parameters that are drawn
	best     []float64 // natural values of all
	raw      []float64 // of those that are drawn
	jacobian []bool    // whether dθ/du counts
}

func newTarget(loss Loss, theta []float64) (*target, error) {
	t := &target{loss: loss, params: loss.Params(), best: theta}
	if len(t.params) != len(theta) {
		return nil, fmt.Errorf("gppl: the result has %d parameters, %v has %d", len(theta), loss, len(t.params))
	}
	_, priors := priorsAt(loss, theta)
	for i, p := range t.params {
		if isFixed(p) || p.Role == RoleInput {
			continue
		}
		t.free = append(t.free, i)
		t.raw = append(t.raw, transformOf(p).Raw(theta[i]))
		t.jacobian = append(t.jacobian, slices.ContainsFunc(priors, func(q ParamPrior) bool { return q.Name == p.Name }))
	}
	return t, nil
}

// at returns the natural values at u, and the log of the factors dθ/du that count.
func (t *target) at(u []float64) (theta []float64, log float64) {
	theta = slices.Clone(t.best)
	for j, i := range t.free {
		transform := transformOf(t.params[i])
		theta[i] = transform.Natural(u[j])
		if t.jacobian[j] {
			log += math.Log(math.Abs(transform.Slope(u[j])))
		}
	}
	return theta, log
}

// factor returns the Cholesky factor of the curvature of the loss in u, by central
// differences of its gradient; ok is false where it is not positive.
func (t *target) factor(ctx context.Context) (c *mat.Cholesky, ok bool) {
	p := len(t.free)
	h := mat.NewSymDense(p, nil)
	u, grad := slices.Clone(t.raw), make([]float64, len(t.params))
	for a := range p {
		row := make([]float64, p)
		for _, step := range [...]float64{curvatureStep, -curvatureStep} {
			if ctx.Err() != nil {
				return nil, false
			}
			u[a] = t.raw[a] + step
			theta, _ := t.at(u)
			if _, err := t.loss.ValueGrad(grad, theta); err != nil {
				return nil, false
			}
			for b, i := range t.free {
				row[b] += grad[i] * transformOf(t.params[i]).Slope(u[b]) / (2 * step)
			}
		}
		u[a] = t.raw[a]
		for b, d := range row {
			if b < a {
				d = 0.5 * (d + h.At(a, b))
			}
			h.SetSym(a, b, d)
		}
	}
	c = new(mat.Cholesky)
	return c, c.Factorize(h)
}

// draw returns draws û + s·L⁻ᵀz, H = LLᵀ, z standard normal, s = 1 or √(ν/χ²_ν), and their
// log importance ratios up to a constant.
func (t *target) draw(ctx context.Context, h *mat.Cholesky, s UncertainSettings, degrees float64) (theta [][]float64, ratios []float64, failed int) {
	rnd := rand.New(rand.NewPCG(s.Seed, 4))
	p := len(t.free)
	var upper mat.TriDense
	h.UTo(&upper) // H = UᵀU
	z, step, u := mat.NewVecDense(p, nil), mat.NewVecDense(p, nil), make([]float64, p)
	for range s.Draws {
		if ctx.Err() != nil {
			return nil, nil, 0
		}
		var square float64
		for j := range p {
			v := rnd.NormFloat64()
			z.SetVec(j, v)
			square += v * v
		}
		log := -0.5 * square // of the proposal
		if !math.IsInf(degrees, 1) {
			var chi float64
			for range int(degrees) {
				v := rnd.NormFloat64()
				chi += v * v
			}
			scale := math.Sqrt(degrees / chi)
			z.ScaleVec(scale, z)
			log = -0.5 * (degrees + float64(p)) * math.Log1p(square*scale*scale/degrees)
		}
		ratio := math.Inf(-1)
		var at []float64
		if err := step.SolveVec(&upper, z); err == nil {
			for j := range u {
				u[j] = t.raw[j] + step.AtVec(j)
			}
			var jacobian float64
			at, jacobian = t.at(u)
			if value, err := t.loss.ValueGrad(nil, at); err == nil && !math.IsNaN(value) && !math.IsInf(value, 0) {
				ratio = jacobian - value - log
			}
		}
		if math.IsInf(ratio, -1) || math.IsNaN(ratio) {
			ratio = math.Inf(-1)
			failed++
		}
		theta, ratios = append(theta, at), append(ratios, ratio)
	}
	return theta, ratios, failed
}

// resample returns count indices, ascending, each as often as its weight says to within
// one: systematic resampling.
func resample(w []float64, count int, seed uint64) (index []int) {
	start := rand.New(rand.NewPCG(seed, 5)).Float64()
	var sum float64
	last := 0
	for i, v := range w {
		if v > 0 {
			last = i
		}
		sum += v
		for len(index) < count && (float64(len(index))+start)/float64(count) < sum {
			index = append(index, i)
		}
	}
	for len(index) < count { // rounding of the sum
		index = append(index, last)
	}
	return index
}
