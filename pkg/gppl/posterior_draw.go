package gppl

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
)

// Sample draws count functions f from the posterior at the inputs x, each jointly over x, with noisy observations of them. It
// takes the cheaper of two ways.
//
// The first draws from the prior at the data and at x, as Model.Sample does, and corrects the draw by the engine (Matheron's
// rule; Wilson et al. 2021),
//
//	f(x) = μ(x) + f₀(x) − k(x, X)A⁻¹(f₀(X) + ε₀),
//
// which has the mean and the covariance of the posterior: O(n + len(x)) for a draw of a Markovian kernel, for any n and len(x),
// O(n log n) and a solve for smooth ones. Draw.Engine is then the posterior's. The second factorises the joint covariance, in
// O(len(x)³) and memory for len(x)² numbers, which is cheaper for few inputs; Draw.Engine is EngineDense. Draw.Bound and
// Draw.Jitter describe the draw itself, in addition to the errors of the posterior.
//
// The same seed gives the same draws on any number of processors. Sample returns the errors of Latent, an error if the
// covariance cannot be factorised, or a MemoryError if it would exceed WithMemory, by default 12 GB.
func (p *Posterior) Sample(ctx context.Context, x Inputs, count int, seed uint64) (draws []Draw, err error) {
	if err := p.checkPlain("Posterior.Sample"); err != nil {
		return nil, err
	}
	defer parallel.Stopped(&err)
	p.checkDim(x)
	if count < 0 {
		panic(fmt.Sprintf("gppl: Posterior.Sample: count = %d", count))
	}
	if err := x.check("x"); err != nil {
		return nil, err
	}
	if _, _, err := p.horizon.divide(x); err != nil {
		return nil, err
	}
	o := choice.Limits{Memory: p.memory, Seconds: math.Inf(1)}
	c := choice.New(o, drawTolerance, []string{p.engine, EngineDense})
	var s choice.Selection
	c.Begin(&s)
	by, estimate := p.corrected(ctx, x, count)
	s.Candidates[0], s.Candidates[1] = c.Limited(estimate), c.Limited(p.jointDraws(x.Len(), count, by))
	err = c.Evaluate(&s, func(i int) (choice.Outcome, error) {
		var err error
		if i == 0 {
			draws, err = by.draw(ctx, count, seed)
		} else {
			draws, err = p.drawJointly(ctx, x, count, seed)
		}
		return choice.Outcome{Terms: 1, Form: 1, Size: 1}, err
	})
	if r := (*choice.Refused)(nil); errors.As(err, &r) && r.Memory != nil {
		return nil, &MemoryError{What: fmt.Sprintf("drawing from the posterior at n = %d inputs jointly", x.Len()),
			Needed: s.Candidates[1].Bytes, Limit: p.memory}
	}
	if err != nil {
		return nil, err
	}
	for i := range draws {
		if len(p.model.Channels) == 0 {
			draws[i].Y = withNoise(draws[i].F, p.model.Noise, seed, i)
		}
	}
	return draws, nil
}

// jointDraws returns the estimate for a joint covariance and its factor.
func (p *Posterior) jointDraws(n, count int, by *correction) choice.Estimate {
	f := denseDraws(n)
	size := float64(n)
	f.Bytes += 8*size*float64(p.held) + 8*float64(count)*size
	f.Seconds += float64(count)*size*size/choice.FlopRate + size*size*float64(p.held)/choice.FlopRate
	if by != nil {
		f.Seconds += size * by.data.seconds
	}
	return f
}

// drawJointly draws by the joint covariance.
func (p *Posterior) drawJointly(ctx context.Context, x Inputs, count int, seed uint64) ([]Draw, error) {
	n := x.Len()
	mean, cov, err := p.joint(ctx, x)
	if err != nil {
		return nil, err
	}
	factor := dense.NewLower(n)
	factor.Ctx = ctx
	jitter, err := factor.CholeskyWithJitter(variance(p.model.Kernel)+p.nugget, func() {
		factor.EachTile(func(i, j int, t blas64.General) { copy(t.Data, cov.At(i, j).Data) })
		factor.AddDiagonal(p.nugget)
	})
	if err != nil {
		return nil, notFactorised(p.model.Kernel, p.model.Noise, err,
			"gppl: the posterior covariance at %d inputs cannot be factorised: %v", n, err)
	}
	rnd := stream(seed, functionStream, 0)
	draws := make([]Draw, count)
	for i := range draws {
		f := make([]float64, n)
		parallel.Look(ctx)
		for j := range f {
			f[j] = rnd.NormFloat64()
		}
		factor.MulL(dense.AsColumn(f))
		dense.Add(f, mean)
		draws[i] = Draw{F: f, Engine: EngineDense, Bound: drawRounding, Jitter: jitter}
	}
	return draws, nil
}

// correction draws from a posterior by draws from the prior.
type correction struct {
	of   *Posterior
	x    Inputs
	data *conditions
	both Inputs // the observations and x
	line *drawnLine
}

// corrected returns the correction for x, and the estimate for count draws by it; nil if there is none.
func (p *Posterior) corrected(ctx context.Context, x Inputs, count int) (*correction, choice.Estimate) {
	data := noConditions(x.Dim())
	if p.predictor != nil {
		of, is := p.predictor.(solver)
		if !is {
			return nil, choice.Cannot("the engine does not solve for other observations")
		}
		var err error
		if data, err = of.observations(ctx); err != nil {
			return nil, choice.Cannot("the engine does not solve for other observations")
		}
	}
	n := data.x.Len() + x.Len()
	both := make([]float64, 0, n*x.Dim())
	by := &correction{of: p, x: x, data: data, both: Inputs{d: x.Dim(), at: append(append(both, data.x.at...), x.at...)}}
	by.line = newDrawnLine(p.model.Kernel, by.both)
	seconds, bytes := priorEstimate(p.model.Kernel, by.both, by.line, float64(count))
	if p.part != nil && p.part.rest != nil {
		more, moreBytes := priorEstimate(p.part.rest, data.x, newDrawnLine(p.part.rest, data.x), float64(count))
		seconds, bytes = seconds+more, bytes+moreBytes
	}
	columns := float64(count + p.columns())
	return by, choice.Estimate{Seconds: seconds + columns*data.seconds + columns*float64(n)*50e-9,
		Bytes: bytes + 24*float64(min(count, by.batch()))*float64(n) + 8*float64(count)*float64(x.Len())}
}

// priorEstimate estimates count draws from a prior.
func priorEstimate(k Kernel, x Inputs, line *drawnLine, count float64) (seconds, bytes float64) {
	var terms split
	terms.set(k)
	whole := denseDraws(x.Len())
	n := float64(x.Len())
	whole.Seconds += count * n * n / choice.FlopRate
	if line == nil {
		return whole.Seconds, whole.Bytes
	}
	for _, term := range terms.signal {
		best := whole
		for _, w := range drawers {
			if f := w.estimate(term, line); !f.Reason.Given() && f.Err <= drawTolerance && count*f.Seconds < best.Seconds {
				best = f
				best.Seconds *= count
			}
		}
		seconds, bytes = seconds+best.Seconds, bytes+best.Bytes
	}
	return seconds, bytes
}

// batch returns the number of draws made at a time.
func (c *correction) batch() int { return max(1, min(64, (1<<21)/c.both.Len())) }

// draw makes the draws, in batches that share the common parts of solves and products.
func (c *correction) draw(ctx context.Context, count int, seed uint64) ([]Draw, error) {
	p, n, m, cols := c.of, c.data.x.Len(), c.x.Len(), c.of.columns()
	limits := choice.Limits{Memory: p.memory, Seconds: math.Inf(1)}
	prior, err := newPriorDraws(ctx, p.model.Kernel, 0, c.both, c.line, limits)
	if err != nil {
		return nil, err
	}
	var others *priorDraws // draws of the other terms
	if p.part != nil && p.part.rest != nil {
		rest := p.part.rest
		if others, err = newPriorDraws(ctx, rest, 0, c.data.x, newDrawnLine(rest, c.data.x), limits); err != nil {
			return nil, err
		}
	}
	known := dense.New(n, cols)
	dense.Copy(known, c.data.columns)
	if err := c.data.solve(ctx, known); err != nil {
		return nil, err
	}
	means, err := covarianceProduct(ctx, p.model.Kernel, c.x, c.data.x, known)
	if err != nil {
		return nil, err
	}
	mean, spread, err := p.meanAndSpread(c.x, means)
	if err != nil {
		return nil, err
	}
	draws := make([]Draw, count)
	for from := 0; from < count; from += c.batch() {
		size := min(c.batch(), count-from)
		u := dense.New(n, size)
		parallel.Within(ctx, size, func(j int) {
			d := prior.draw(seed, from+j)
			noise := stream(seed, otherStream, from+j)
			if others != nil {
				dense.Add(d.F[:n], others.draw(restSeed^seed, from+j).F)
			}
			for i := range n {
				u.Data[i*u.Stride+j] = d.F[i] + math.Sqrt(c.data.lambda[i])*noise.NormFloat64()
			}
			if d.F = d.F[n:]; p.predictor != nil {
				d.Engine = p.engine
			}
			draws[from+j] = d
		})
		if err := c.data.solve(ctx, u); err != nil {
			return nil, err
		}
		back, err := covarianceProduct(ctx, p.model.Kernel, c.x, c.data.x, u)
		if err != nil {
			return nil, err
		}
		for j := range size {
			d := &draws[from+j]
			uncertain, white := stream(seed, meanStream, from+j), stream(seed, nuggetStream, from+j)
			for i := range m {
				d.F[i] += mean[i] - back.Data[i*back.Stride+j]
			}
			for i := range spread.Rows {
				blas64.Axpy(uncertain.NormFloat64(), dense.Row(spread, i), dense.Vec(d.F))
			}
			if p.nugget > 0 {
				for i := range d.F {
					d.F[i] += math.Sqrt(p.nugget) * white.NormFloat64()
				}
			}
		}
	}
	return draws, nil
}

// restSeed makes the draws of the other terms independent of the draws of the terms in the correction.
const restSeed = 0x9e3779b97f4a7c15

// meanAndSpread returns the mean at x and S, such that the covariance grows by SᵀS for the uncertainty of the coefficients,
// given the predictions from each column of C.
func (p *Posterior) meanAndSpread(x Inputs, means blas64.General) (mean []float64, spread blas64.General, err error) {
	if p.model.Mean == nil {
		return means.Data, spread, nil
	}
	h, err := p.part.basis(p.model.Mean, x)
	if err != nil {
		return nil, spread, err
	}
	mean, spread = p.predictMean(h, means)
	return mean, spread, nil
}

// predictMean is meanAndSpread for rows of the basis.
func (p *Posterior) predictMean(h *mat.Dense, means blas64.General) (mean []float64, spread blas64.General) {
	mean = make([]float64, means.Rows)
	if p.mean == nil { // p is a prior
		blas64.Copy(dense.Column(means, 0), dense.Vec(mean))
		return mean, p.priorSpread(h)
	}
	q := p.mean.Basis.Apply(h)
	for i := range mean {
		mean[i], _ = p.mean.Predict(q.RawRowView(i), means.Data[i*means.Stride:][:means.Cols])
	}
	return mean, p.mean.Spread(q, means)
}
