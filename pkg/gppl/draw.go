package gppl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
)

// A Draw is one function drawn from a prior (Model.Sample) or from a posterior (Posterior.Sample), jointly over the inputs.
type Draw struct {
	F []float64 // f at the inputs
	Y []float64 // F and noise of the variance σ² that is drawn beside it; nil with channels
	// Engine names what made it, as WithEngine does: EngineStateSpace for a walk along the inputs in O(n), EngineToeplitz for a
	// circulant matrix on a grid, EngineSpectral for a sum of waves, EngineDense for a Cholesky factor of the covariance. Each term
	// of a sum is drawn by the cheapest, and the names are joined by " + ". It is empty for white noise alone.
	Engine string
	// Bound bounds the error of the covariance of any two values of F, relative to k(0). It is due to waves that are left out,
	// inputs that lie beside their places on a grid, and rounding.
	Bound float64
	// Jitter is the number that was added to the diagonal of a covariance before its factorisation, usually 0: it acts as noise
	// in F.
	Jitter float64
}

// Sample draws one function f from the prior at the inputs x, and noisy observations y = f + ε of it, from the given seed. If the
// model has a mean, f includes it, its coefficients drawn from their priors: it is an error if one of them is flat.
//
// It chooses for each term of the kernel the cheapest of the ways that Draw.Engine names. One-dimensional inputs, in any order
// and repeated or not, take O(n) for a Markovian kernel (capability.Markovian). Smooth kernels take O(n log n), by waves; the
// waves left out sum to 1e-13 of the variance. Any kernel on a grid takes O(n log n) if its circulant matrix is positive (Wood
// and Chan 1994). Everything else, and WithEngine(EngineDense), takes n³/3 flops and memory for n²/2 numbers; if that is more
// than WithMemory allows, by default 12 GB, the error is a MemoryError. Smooth kernels on close inputs then need some jitter on
// the diagonal.
//
// The same seed gives the same draw on any number of processors; another Engine gives another draw.
func (m Model) Sample(ctx context.Context, x Inputs, seed uint64, opts ...Option) (d Draw, err error) {
	defer parallel.Stopped(&err)
	s, err := m.newSampler(ctx, x, opts)
	if err != nil {
		return d, err
	}
	return s.draw(seed)
}

// sampler is the common part of all draws from a prior at the same inputs.
type sampler struct {
	m     Model
	x     Inputs
	prior *priorDraws
}

// newSampler prepares Sample, and returns its errors.
func (m Model) newSampler(ctx context.Context, x Inputs, opts []Option) (*sampler, error) {
	o, err := optionsOf(opts)
	if err != nil {
		return nil, err
	}
	checked := m
	if m.Noise == 0 { // y is f
		checked.Noise = 1
	}
	if err := cmp.Or(checked.Check(), x.check("x"), m.CheckAxes(x)); err != nil {
		return nil, err
	}
	if len(m.Channels) > 0 {
		return nil, errors.New("gppl: Model.Sample draws observations of f itself, and the model has channels")
	}
	nugget := capability.Nugget(m.Kernel)
	if err := checkVariance(m.Kernel, variance(m.Kernel)+nugget); err != nil {
		return nil, err
	}
	var line *drawnLine
	if o.Engine != EngineDense {
		line = newDrawnLine(m.Kernel, x)
	}
	p, err := newPriorDraws(ctx, m.Kernel, nugget, x, line, o.Limits)
	if err != nil {
		return nil, err
	}
	return &sampler{m, x, p}, nil
}

// draw returns the draw of a seed.
func (s *sampler) draw(seed uint64) (Draw, error) {
	d := s.prior.draw(seed, 0)
	if s.m.Mean != nil {
		if err := s.m.drawMean(d.F, s.x, stream(seed, meanStream, 0).NormFloat64); err != nil {
			return Draw{}, err
		}
	}
	d.Y = withNoise(d.F, s.m.Noise, seed, 0)
	return d, nil
}

// The streams of random numbers of a seed. Those of the first draw are as old as stored results: do not change them.
const (
	functionStream = 2
	noiseStream    = 3
	meanStream     = 6
	nuggetStream   = 7
	otherStream    = 8 // stream of the prior noise in posterior draws
)

// stream returns a stream of a seed for a draw.
func stream(seed uint64, of, draw int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(of)|uint64(draw)<<8))
}

// withNoise returns f and noise of the given variance.
func withNoise(f []float64, noise float64, seed uint64, draw int) []float64 {
	rnd, sigma := stream(seed, noiseStream, draw), math.Sqrt(noise)
	y := make([]float64, len(f))
	for i := range y {
		y[i] = f[i] + sigma*rnd.NormFloat64()
	}
	return y
}

// priorDraws draws f without its mean at some inputs, by what was prepared for each term.
type priorDraws struct {
	ctx    context.Context
	n      int
	made   Draw // the engines and bounds of the draws, without values
	line   *drawnLine
	terms  []func(dst []float64, rnd *rand.Rand) // add a draw at the inputs of the line
	rest   *dense.Lower                          // factor of the terms that are drawn densely; nil if there are none
	nugget float64                               // variance of white noise, which rest leaves out
}

// newPriorDraws chooses how the terms of a kernel are drawn at x, and prepares it. nugget is the variance of white noise in f,
// and line the distinct inputs if x is on a line, else nil.
func newPriorDraws(ctx context.Context, k Kernel, nugget float64, x Inputs, line *drawnLine,
	o choice.Limits) (*priorDraws, error) {
	p := &priorDraws{ctx: ctx, n: x.Len(), nugget: nugget, line: line}
	var terms split
	terms.set(k)
	var rest []Kernel
	var names []string
	note := func(name string) {
		for _, n := range names {
			if n == name {
				return
			}
		}
		names = append(names, name)
	}
	for _, term := range terms.signal {
		add, name, bound, err := p.prepare(term, x, o)
		if err != nil {
			return nil, err
		}
		if add == nil {
			rest = append(rest, term)
			continue
		}
		note(name)
		p.terms, p.made.Bound = append(p.terms, add), max(p.made.Bound, bound)
	}
	if len(rest) > 0 || len(terms.signal) == 0 && o.Engine == EngineDense {
		note(EngineDense)
		if err := p.factorise(k, rest, len(rest) == len(terms.signal), x); err != nil {
			return nil, err
		}
	}
	for i, name := range names {
		if i > 0 {
			p.made.Engine += " + "
		}
		p.made.Engine += name
	}
	p.made.Bound = max(p.made.Bound, drawRounding)
	return p, nil
}

// prepare returns what adds a draw of a term; nil if it is to be drawn densely, with others.
func (p *priorDraws) prepare(term Kernel, x Inputs, o choice.Limits) (add func([]float64, *rand.Rand), name string, bound float64,
	err error) {
	names := []string{EngineDense}
	if p.line != nil {
		for _, w := range drawers {
			names = append(names, w.name)
		}
	}
	c := choice.New(o, drawTolerance, names)
	var s choice.Selection
	c.Begin(&s)
	s.Candidates[0] = c.Limited(denseDraws(x.Len()))
	for i := range names[1:] {
		s.Candidates[i+1] = c.Limited(drawers[i].estimate(term, p.line))
	}
	err = c.Evaluate(&s, func(i int) (choice.Outcome, error) {
		o := choice.Outcome{Terms: 1, Form: 1, Size: 1}
		if name = names[i]; i == 0 {
			add, bound = nil, 0
			return o, nil
		}
		add, bound, err = drawers[i-1].prepare(p.ctx, term, p.line)
		o.Extra = bound
		return o, err
	})
	if err != nil {
		err = asRefusal(err)
		if r := (*Refusal)(nil); errors.As(err, &r) && r.Memory != nil && r.Engine == "" {
			return nil, "", 0, &MemoryError{What: fmt.Sprintf("drawing from the prior at n = %d inputs", x.Len()),
				Needed: r.Memory.Needed, Limit: r.Memory.Limit}
		}
	}
	return add, name, bound, err
}

// denseDraws is the estimate of a Cholesky factor.
func denseDraws(n int) choice.Estimate {
	size := float64(n)
	return choice.Estimate{Seconds: 1e-5 + size*size*size/(3*choice.FlopRate) + size*size*0.5*pairSeconds, Bytes: 8 * triangle(n)}
}

// factorise prepares dense draws of the terms of rest, or of the whole kernel.
func (p *priorDraws) factorise(k Kernel, rest []Kernel, whole bool, x Inputs) (err error) {
	if !whole {
		if k = rest[0]; len(rest) > 1 {
			k = Add(rest...)
		}
	}
	nugget := p.nugget // better conditioned
	p.nugget = 0
	p.rest = dense.NewLower(x.Len())
	p.rest.Ctx = p.ctx
	p.made.Jitter, err = p.rest.CholeskyWithJitter(variance(k)+nugget, func() { fillGram(p.rest, x, k, nugget) })
	if err != nil {
		return notFactorised(k, 0, err, "gppl: the prior covariance at %d inputs cannot be factorised: %v", x.Len(), err)
	}
	return nil
}

// draw returns the draw of a seed with the given number, without mean and noise.
func (p *priorDraws) draw(seed uint64, number int) Draw {
	d, rnd := p.made, stream(seed, functionStream, number)
	d.F = make([]float64, p.n)
	if p.rest != nil {
		for i := range d.F {
			d.F[i] = rnd.NormFloat64()
		}
		p.rest.MulL(dense.AsColumn(d.F))
	}
	if len(p.terms) > 0 {
		sum := make([]float64, len(p.line.t))
		for _, add := range p.terms {
			parallel.Look(p.ctx)
			add(sum, rnd)
		}
		p.line.addTo(d.F, sum)
	}
	if p.nugget > 0 {
		white, sd := stream(seed, nuggetStream, number), math.Sqrt(p.nugget)
		for i := range d.F {
			d.F[i] += sd * white.NormFloat64()
		}
	}
	return d
}
