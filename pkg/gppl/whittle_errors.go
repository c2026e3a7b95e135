package gppl

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Information returns the expected curvature H of the loss at theta, in the logs of all parameters, noise last:
//
//	H_ab = (n/N)·½Σ_j ∂_a log S̄_j·∂_b log S̄_j
//
// over the Fourier frequencies of both signs. It is the Fisher information if the ordinates of the periodogram are
// independent; the information of the estimates is the inverse of the sandwich H⁻¹JH⁻¹ (ScoreCovariance). It takes p
// transforms, and n derivatives of the kernel.
func (l *Whittle) Information(ctx context.Context, theta []float64) (info *mat.SymDense, err error) {
	defer parallel.Stopped(&err)
	c := l.calls.Get()
	defer l.calls.Put(c)
	slopes, err := l.logSlopes(ctx, c, theta)
	if err != nil {
		return nil, err
	}
	info = mat.NewSymDense(len(theta), nil)
	for a := range theta {
		for b := a; b < len(theta); b++ {
			var sum float64
			for j, w := range l.weights {
				sum += w * slopes[a][j] * slopes[b][j]
			}
			info.SetSym(a, b, sum)
		}
	}
	return info, nil
}

// ScoreCovariance returns J, the covariance of the gradient of the loss in the logs of all parameters, noise last, if the data
// are Gaussian and have the model at theta: the ordinates have the correlations from A, gaps, taper and mean,
//
//	J_ab = 2·Σ_jk b_aj·b_bk·|u_jᴴMAMu_k|²,  b_aj = ½(n/N)·∂_a S̄_j/S̄_j²,  u_jt = h_t·exp(2πi·jt/N).
//
// It is exact for N ≤ 256; for longer series differences j − k above 128 are sampled, which moves no entry by more than about
// 3 %. Cost: O(N log N) without gaps and taper (BenchmarkWhittle), O(N log² N) with them.
func (l *Whittle) ScoreCovariance(ctx context.Context, theta []float64) (j *mat.SymDense, err error) {
	defer parallel.Stopped(&err)
	c := l.calls.Get()
	defer l.calls.Put(c)
	b, err := l.logSlopes(ctx, c, theta)
	if err != nil {
		return nil, err
	}
	for a := range b {
		for j, w := range l.weights {
			if b[a][j] *= w; w > 0 {
				b[a][j] /= c.expected[j]
			}
		}
	}
	covariances := append([]float64(nil), c.covariances[:len(l.lags)]...)
	covariances[0] += c.noise
	return l.even.Variance(ctx, covariances, b), nil
}

// logSlopes sets S̄ of c at theta and returns ∂log S̄_j in the log of each parameter, 0 where the weight is 0.
func (l *Whittle) logSlopes(ctx context.Context, c *whittleCall, theta []float64) (slopes [][]float64, err error) {
	if err := checkParams(l.params, theta); err != nil {
		return nil, err
	}
	c.ctx = ctx
	if err := l.expect(c, theta); err != nil {
		return nil, err
	}
	if err := l.checked(c, floats.Sum(c.expected), nil, theta); err != nil {
		return nil, err
	}
	last, lags := len(theta)-1, l.lags
	if l.options.Density {
		lags = c.lags
	}
	moved := make([][]float64, last) // ∂k by lag
	for p := range moved {
		moved[p] = make([]float64, len(lags))
	}
	l.inParts(c, lags, func(from, to, _ int) {
		grad, one := make([]float64, last), []float64{1}
		for d := from; d < to; d++ {
			clear(grad)
			c.kernel.Contract(grad, one, lags[d:d+1])
			for p, v := range grad {
				moved[p][d] = v
			}
		}
	})
	for p := range theta {
		parallel.Look(ctx)
		slopes = append(slopes, make([]float64, len(l.weights)))
		if p < last && l.options.Density {
			c.Wrapped(slopes[p], moved[p], l.even)
		} else if p < last {
			l.even.Expected(slopes[p], moved[p], &c.Work)
		}
		noise := c.noiseSlope(p, last)
		for j, w := range l.weights {
			if slopes[p][j] += noise * l.white(j); w > 0 {
				slopes[p][j] /= c.expected[j]
			} else {
				slopes[p][j] = 0
			}
		}
	}
	return slopes, nil
}

// scoring is a loss whose gradient has another covariance than its curvature, since it is not a likelihood, such as Whittle.
type scoring interface {
	// ScoreCovariance returns the covariance of the gradient in the logs of all parameters under the model at theta.
	ScoreCovariance(ctx context.Context, theta []float64) (*mat.SymDense, error)
}

var _ scoring = (*Whittle)(nil)

// scoreCovariance returns the covariance of the gradient of a loss, or of the loss that it wraps, in the logs of its
// parameters; nil if it equals the curvature. A prior adds its curvature, as a likelihood of its own would.
func scoreCovariance(ctx context.Context, l Loss, theta []float64) (*mat.SymDense, error) {
	switch l := l.(type) {
	case scoring:
		return l.ScoreCovariance(ctx, theta)
	case *Panel:
		return l.scoreCovariance(ctx, theta)
	case *MAP:
		j, err := scoreCovariance(ctx, l.loss, theta)
		if j == nil || err != nil {
			return nil, err
		}
		l.addCurvature(j, theta)
		return j, nil
	case *Tied:
		inner, at := l.within(theta)
		j, err := scoreCovariance(ctx, inner, at)
		if j == nil || err != nil {
			return nil, err
		}
		tied := mat.NewSymDense(len(theta), nil)
		for a, to := range l.leader {
			for b, other := range l.leader {
				if to <= other {
					tied.SetSym(to, other, tied.At(to, other)+j.At(a, b))
				}
			}
		}
		return tied, nil
	}
	return nil, nil
}

// scoreCovariance returns the sum of the covariances of the series. It returns an error if only some have one.
func (p *Panel) scoreCovariance(ctx context.Context, theta []float64) (sum *mat.SymDense, err error) {
	for s, l := range p.losses {
		j, err := scoreCovariance(ctx, l, theta)
		switch {
		case err != nil:
			return nil, fmt.Errorf("gppl: series %d of the panel: %w", s, err)
		case s > 0 && (j == nil) != (sum == nil):
			return nil, fmt.Errorf("gppl: series %d of the panel cannot join the others: some losses are likelihoods, some are not", s)
		case sum == nil:
			sum = j
		default:
			sum.AddSym(sum, j)
		}
	}
	return sum, nil
}
