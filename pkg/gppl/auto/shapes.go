package auto

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// regular compares models by the debiased Whittle likelihood of a regular series.
type regular struct {
	*gppl.Whittle
	scaled      []int // indices of the parameters that scale the covariance as a whole, noise included
	n           float64
	evaluations atomic.Int64
}

// longestRegular is the number of observations, from the middle of a series, used for comparisons: an evaluation takes O(n log
// n).
const longestRegular = 1 << 14

// newRegular returns the likelihood of d, or of its middle, nil if it has no constant step.
func newRegular(ctx context.Context, m gppl.Model, d gppl.Data) *regular {
	if d.X.Dim() != 1 {
		return nil
	}
	if n := d.Len(); n > longestRegular {
		d = d.Pick(timeline.Ascending(d.X.Coordinate(0))[(n-longestRegular)/2:][:longestRegular])
	}
	// A taper keeps strong low frequencies from covering the high ones, where kernels of different shapes differ.
	w, err := gppl.NewWhittle(ctx, m, d, gppl.WhittleOptions{Taper: 4})
	if err != nil {
		return nil
	}
	last := len(m.Params()) - 1
	return &regular{Whittle: w, scaled: append(append(m.Amplitudes(), m.NoiseTerms()...), last), n: float64(d.Len())}
}

// NLL implements comparer. The derivative of W in the common factor is ½(n − Q), where Q = Σ I/S̄ over all frequencies, so the
// least value is W − ½Q + ½n + ½n·log(Q/n).
func (r *regular) NLL(ctx context.Context, nll, factors []float64, m gppl.Model, noises []float64, free bool) error {
	grad := make([]float64, len(m.Params()))
	for i, noise := range noises {
		theta := m.Values()
		theta[len(theta)-1] = noise
		nll[i], factors[i] = math.Inf(1), 1
		r.evaluations.Add(1)
		value, err := r.ValueGrad(ctx, grad, theta)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
		case free:
			q := r.n
			for _, p := range r.scaled {
				q -= 2 * grad[p] * theta[p]
			}
			if q > 0 {
				factors[i] = q / r.n
				nll[i] = value - 0.5*q + 0.5*r.n*(1+math.Log(factors[i]))
			}
		default:
			nll[i] = value
		}
	}
	return nil
}

// Evaluations implements comparer.
func (r *regular) Evaluations() int { return int(r.evaluations.Load()) }

// shapedStarts puts the optima of the Whittle likelihood of all data before the starts, if the series is regular and a pure
// number shapes its kernel, and makes this likelihood the guide of the training. Parts of the data, which s searched, do not
// show the shape: RQ's depends on how the spectrum falls over many octaves. On the sunspots they lead to alpha = 8e5, 25 nats
// above the best, which is at 0.004. Starts from the part stay if they are not much worse.
func (a *fitting) shapedStarts(s *searcher, d gppl.Data) {
	const close, much = 10, 30 // nats
	if d.Errors != nil || d.Relative != nil || !s.shaped() || a.ctx.Err() != nil {
		return
	}
	loss := newRegular(a.ctx, s.model, d)
	if loss == nil {
		return
	}
	posterior, err := a.posterior(loss)
	if err != nil {
		return // the search of the part has reported the error
	}
	all := *s
	all.loss, all.compared, all.optima, all.search = posterior, loss, nil, &Search{}
	all.anew = func() (gppl.Loss, error) { return posterior, nil }
	known := append(slices.Clone(a.starts), a.given...)
	all.run(known)
	a.result.Search.Spectral += all.search.Screened + all.search.Moved
	a.result.Search.Evaluations += all.search.Evaluations + loss.Evaluations()
	if len(all.optima) == 0 {
		return
	}
	worse := func(m gppl.Model) bool {
		v, err := posterior.ValueGrad(a.ctx, nil, m.Values())
		return err != nil || v > all.optima[0].value+much
	}
	a.guide = posterior
	a.given = slices.DeleteFunc(a.given, worse)
	a.starts = slices.DeleteFunc(a.starts, worse)
	for i, p := range all.distinct(all.optima, 2, 0.2) {
		if p.value < all.optima[0].value+close {
			a.starts = slices.Insert(a.starts, i, s.scales.inside(s.model.WithParams(p.u)))
		}
	}
}

// shapes reports whether parameter i is a pure number that shapes the kernel over all lags, as the exponent of RQ does: one
// beside a period does not.
func (s *searcher) shapes(i int) bool {
	if p := s.params[i]; p.Role != gppl.RoleShape || p.IsFixed() {
		return false
	}
	return !slices.ContainsFunc(timeline.Range(0, len(s.params)), func(j int) bool {
		return isPeriod(s.params[j]) && shapeOf(s.params, j) == i
	})
}

// shaped reports whether any parameter shapes the kernel over all lags.
func (s *searcher) shaped() bool {
	return slices.ContainsFunc(timeline.Range(0, len(s.params)), s.shapes)
}
