package gppl

import (
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// NewSumsExact returns the exact negative log likelihood of the observations in s minus the
// constant centre (Header().Centre, or Mean()), to be trained from the parameters of m.
// Value and gradient are those of NewExact on the data themselves. A Model.Mean may be an
// Intercept, for the restricted likelihood, whatever the centre. With weights, the noise
// variance of an observation is σ²/w. Later changes of s have no effect.
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
	if err := checkSumsModel(m); err != nil {
		return nil, err
	}
	o, err := optionsOf(opts)
	if err != nil {
		return nil, err
	}
	r, err := newSumsReading(s, centre)
	if err != nil {
		return nil, err
	}
	var mean *regression
	if m.Mean != nil {
		if mean, err = r.setIntercept(m.Mean); err != nil {
			return nil, err
		}
	}
	l := newExact(m, r.n, []exactEngine{newGriddedExact(r), newSpectralExact(r, o)}, o, s.header.Hi-s.header.Lo)
	l.mean, l.columns = mean, r.columns.Cols
	l.tally.setUp(time.Since(start))
	return l, nil
}

// checkSumsModel returns an error if m has a kernel or a mean that sums cannot
// represent.
func checkSumsModel(m Model) error {
	if err := needsDistances("the likelihood of sums", m.Kernel); err != nil {
		return err
	}
	if m.Mean != nil && m.Mean != (Intercept{}) {
		return fmt.Errorf("gppl: Sums hold no basis of a mean, and the model has the mean %v: only an Intercept, or a known constant as centre, can be taken out", m.Mean)
	}
	return nil
}

// NewSumsPosterior conditions m on the observations in s minus the constant centre, as
// NewPosterior does; add centre to the means that it returns. It answers at inputs
// within the range of the header. For kernels that decay to zero it also answers
// outside: as far as the period has room, and where the answer is the prior. Any other
// input is an error that names the range; mean and variance are then NaN at all inputs
// of the call.
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
	header  SumsHeader
	fixed   circle
	n       int
	logW    float64
	moment  fourier.Moments
	columns blas64.General // sums of the columns, 2(M+1)×c
	yy      blas64.General // Σ w·c_i·c_iᵀ, c×c
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
		header: s.header, fixed: s.header.circle(), n: s.Len(), logW: s.plan.LogWeights(s.sum),
		moment: s.plan.Moments(s.sum), columns: columnOf(s.plan.Values(s.sum)), yy: columnOf([]float64{s.plan.Squares(s.sum)}),
	}
	r.shift(centre - s.header.Centre)
	return r, nil
}

// shift subtracts d from every observation: Σ w(v−d)² and Σ w(v−d)·exp(…).
func (r *sumsReading) shift(d float64) {
	if d == 0 {
		return
	}
	values := r.columns.Data
	r.yy.Data[0] = max(0, r.yy.Data[0]-d*(2*values[0]-d*r.moment[0]))
	blas64.Axpy(-d, dense.Vec(r.moment[:len(values)]), dense.Vec(values))
}

// setIntercept sets the columns to [y − Qγ₀, Q], Q a column of 1/√n, whose sums are among
// the moments. γ₀ takes out the weighted mean.
func (r *sumsReading) setIntercept(m Mean) (*regression, error) {
	root := math.Sqrt(float64(r.n))
	// A column of the same length has the coordinates of all n. Two rows stand for many.
	basis, err := regressionOn(m, mat.NewDense(min(r.n, 2), 1, []float64{root, 0}[:min(r.n, 2)]))
	if err != nil {
		return nil, err
	}
	level := r.columns.Data[0] / r.moment[0]
	r.shift(level)
	y, yy := r.columns, r.yy.Data[0]
	r.columns = dense.New(y.Rows, 2)
	for i, v := range y.Data {
		r.columns.Data[2*i], r.columns.Data[2*i+1] = v, r.moment[i]/root
	}
	cross := y.Data[0] / root
	r.yy = blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{yy, cross, cross, r.moment[0] / float64(r.n)}}
	return &regression{mean: m, basis: basis, gamma0: []float64{level * root}}, nil
}

func (r *sumsReading) count() int                 { return r.n }
func (r *sumsReading) logWeights() float64        { return r.logW }
func (r *sumsReading) precision() float64         { return r.moment[0] }
func (r *sumsReading) squares() blas64.General    { return r.yy }
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
	return r.moment, r.columns
}

// windowed reports whether the period has room for kernels that do not decay to zero.
func (h SumsHeader) windowed() bool { return h.Period >= (2+2*windowRoom)*(h.Hi-h.Lo) }
