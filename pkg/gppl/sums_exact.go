package gppl

import (
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// NewSumsExact returns the exact negative log likelihood of the observations in s, less
// the constant centre (Header().Centre, or Mean()), to be trained from the parameters of m:
// value and gradient are those of NewExact on the data themselves. With weights, the noise
// variance of an observation is σ²/w. Changes of s later on are not seen.
//
// The gridded engine takes SE and its like, in a time that grows with the range over the
// lengthscale. The spectral engine takes other kernels whose spectrum falls within the
// frequencies of s, by a dense matrix of up to 4000 features, two for each frequency. Any
// other model is refused, with the range that s resolves.
func NewSumsExact(m Model, s *Sums, centre float64, opts ...Option) (*Exact, error) {
	start := time.Now()
	if err := m.Check(); err != nil {
		return nil, err
	}
	if m.Mean != nil {
		return nil, fmt.Errorf("gppl: Sums hold no basis of a mean, and the model has the mean %v: only a constant can be taken out, by centre", m.Mean)
	}
	o, err := optionsOf(opts)
	if err != nil {
		return nil, err
	}
	r, err := newSumsReading(s, centre)
	if err != nil {
		return nil, err
	}
	l := newExact(m, r.n, []exactEngine{newGriddedExact(r), newSpectralExact(r, o)}, o, s.header.Hi-s.header.Lo)
	l.tally.setUp(time.Since(start))
	return l, nil
}

// NewSumsPosterior conditions m on the observations in s less the constant centre, as
// NewPosterior does; its means lack centre. It answers at inputs within the range of the
// header and, for kernels that die out, as far beyond as the period has room, and again
// where the prior holds. Any other input is an error that names the range; mean and
// variance are then NaN at all inputs that the error's call asked for.
func NewSumsPosterior(m Model, s *Sums, centre float64, opts ...Option) (*Posterior, error) {
	l, err := NewSumsExact(m, s, centre, append(opts[:len(opts):len(opts)], forPosterior)...)
	if err != nil {
		return nil, err
	}
	lo, hi := s.Extent()
	return l.posterior(Scalars([]float64{lo, hi}))
}

// sumsReading is Sums as the engines read them.
type sumsReading struct {
	header   SumsHeader
	fixed    circle
	n        int
	yy, logW float64
	moment   fourier.Moments
	values   []float64
}

var _ observed = (*sumsReading)(nil)

func newSumsReading(s *Sums, centre float64) (*sumsReading, error) {
	switch {
	case s.Len() == 0:
		return nil, errors.New("gppl: Sums: no observations")
	case math.IsNaN(centre) || math.IsInf(centre, 0):
		return nil, fmt.Errorf("gppl: Sums: centre = %v is not finite", centre)
	}
	r := &sumsReading{
		header: s.header, fixed: s.header.circle(), n: s.Len(), yy: s.plan.Squares(s.sum), logW: s.plan.LogWeights(s.sum),
		moment: s.plan.Moments(s.sum), values: s.plan.Values(s.sum),
	}
	// Σ w(v−d)² and Σ w(v−d)·exp(…) for another centre.
	if d := centre - s.header.Centre; d != 0 {
		r.yy = max(0, r.yy-d*(2*r.values[0]-d*r.moment[0]))
		blas64.Axpy(-d, vec(r.moment[:len(r.values)]), vec(r.values))
	}
	return r, nil
}

func (r *sumsReading) count() int                 { return r.n }
func (r *sumsReading) logWeights() float64        { return r.logW }
func (r *sumsReading) squares() blas64.General    { return columnOf([]float64{r.yy}) }
func (r *sumsReading) extent() (lo, span float64) { return r.header.Lo, r.header.Hi - r.header.Lo }

func (r *sumsReading) circle() (circle, bool) { return r.fixed, true }

func (h SumsHeader) circle() circle {
	shortest, longest := h.Lengthscales()
	resolves := fmt.Sprintf("these sums resolve frequencies up to %.4g per unit of t, SE lengthscales from %.3g", float64(h.Highest)/h.Period, shortest)
	if h.windowed() {
		resolves += ", kernels of any reach"
	} else {
		resolves += fmt.Sprintf(" to %.3g, kernels that die out within %.3g", longest, h.Period-(h.Hi-h.Lo))
	}
	return circle{h.Origin, h.Period, h.Highest, resolves, resolves + "; this kernel has frequencies up to %.4g"}
}

func (r *sumsReading) sums(_, _ float64, _ int) (fourier.Moments, blas64.General) {
	return r.moment, columnOf(r.values)
}

// windowed reports whether the period has room for kernels that do not die out.
func (h SumsHeader) windowed() bool { return h.Period >= (2+2*windowRoom)*(h.Hi-h.Lo) }
