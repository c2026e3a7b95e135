package gppl

import (
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/finite"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
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
	r, o, err := newSumsReading(m, s, centre, opts)
	if err != nil {
		return nil, err
	}
	var mean *regress.Regression
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

// MaxSumsProjections is the largest number of projections of Sums, and of features that are kept for a dense
// matrix: an evaluation takes some seconds.
const MaxSumsProjections = 4000

// checkSumsModel returns an error if m is not valid, or has a kernel or a mean that
// sums cannot represent.
func checkSumsModel(m Model) error {
	if err := m.Check(); err != nil {
		return err
	}
	if err := needsDistances("the likelihood of sums", m.Kernel); err != nil {
		return err
	}
	if m.Mean != nil && m.Mean != (Intercept{}) {
		return fmt.Errorf("gppl: Sums hold no basis of a mean, and the model has the mean %v: only an Intercept, or a known constant as centre, can be taken out", m.Mean)
	}
	return nil
}

// sumsReading is Sums as the engines read them.
type sumsReading struct {
	header  SumsHeader
	fixed   observed.Circle
	n       int
	logW    float64
	moment  fourier.Moments
	columns blas64.General // sums of the columns, 2(M+1)×c
	yy      blas64.General // Σ w·c_i·c_iᵀ, c×c
}

var _ observed.Source = (*sumsReading)(nil)

// newSumsReading returns s, less the constant centre, for a loss with the model and options, which it checks.
func newSumsReading(m Model, s *Sums, centre float64, opts []Option) (*sumsReading, options, error) {
	if err := checkSumsModel(m); err != nil {
		return nil, options{}, err
	}
	o, err := optionsOf(opts)
	switch {
	case err != nil:
		return nil, o, err
	case s.Len() == 0:
		return nil, o, errors.New("gppl: Sums: no observations")
	case !finite.Is(centre):
		return nil, o, fmt.Errorf("gppl: Sums: centre = %v is not finite", centre)
	}
	r := &sumsReading{
		header: s.header, fixed: s.header.circle(), n: s.Len(), logW: s.plan.LogWeights(s.sum),
		moment: s.plan.Moments(s.sum), columns: dense.AsColumn(s.plan.Values(s.sum)), yy: dense.AsColumn([]float64{s.plan.Squares(s.sum)}),
	}
	r.shift(centre - s.header.Centre)
	return r, o, nil
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
func (r *sumsReading) setIntercept(m Mean) (*regress.Regression, error) {
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
	return &regress.Regression{Names: columnNames(m), Basis: basis, Gamma0: []float64{level * root}}, nil
}

func (r *sumsReading) Count() int                 { return r.n }
func (r *sumsReading) LogWeights() float64        { return r.logW }
func (r *sumsReading) Precision() float64         { return r.moment[0] }
func (r *sumsReading) Squares() blas64.General    { return r.yy }
func (r *sumsReading) Extent() (lo, span float64) { return r.header.Lo, r.header.Hi - r.header.Lo }

func (r *sumsReading) Circle() (observed.Circle, bool) { return r.fixed, true }

func (h SumsHeader) circle() observed.Circle {
	shortest, longest := h.Lengthscales()
	resolves := fmt.Sprintf("these sums resolve frequencies up to %.4g per unit of t, SE lengthscales from %.3g", float64(h.Highest)/h.Period, shortest)
	if h.Period >= (2+2*observed.WindowRoom)*(h.Hi-h.Lo) { // there is room for kernels that do not decay to zero
		resolves += ", and kernels of any reach"
	} else {
		resolves += fmt.Sprintf(" to %.3g, and kernels that die out within %.3g", longest, h.Period-(h.Hi-h.Lo))
	}
	return observed.Circle{
		Origin: h.Origin, Period: h.Period, Highest: h.Highest, Most: MaxSumsProjections,
		Resolves: resolves + "; this kernel reaches further", Beyond: resolves + "; this kernel has frequencies up to %.4g",
	}
}

func (r *sumsReading) Sums(_, _ float64, _ int) (fourier.Moments, blas64.General) {
	return r.moment, r.columns
}

// NewSumsResidual returns the projected likelihood with the residual energy (NewResidual) of the observations in s,
// less the constant centre, on k waves of the circle of s: 1 and then cosine and sine at
// ascending frequencies, those of Spectral on the extent of the observations rounded to
// multiples of 1/Period, orthonormalised. Ω is never formed: ΩᵀΩ, ΩᵀKΩ and the energy |y − Ωz|² follow from
// the sums, in O(k³) once and O(Mk²) an evaluation with M frequencies of the kernel,
// whatever n is. With weights w, z = ΩᵀW^½y for an orthonormal Ω, and the value includes −½Σ log w, like that of NewSumsExact.
//
// It takes kernels that the exact likelihood of NewSumsExact refuses because a matrix of all
// their features would be too large, as long as their frequencies are among those of s. A
// Model.Mean may be an Intercept. There are fewer than k projections if the observations do
// not distinguish k waves (see String). It is an error if k is not in 1, …, n, or above
// 4000.
func NewSumsResidual(m Model, s *Sums, centre float64, k int, opts ...Option) (*Projected, error) {
	start := time.Now()
	r, o, err := newSumsReading(m, s, centre, opts)
	if err != nil {
		return nil, err
	}
	if k < 1 || k > min(r.n, MaxSumsProjections) {
		return nil, fmt.Errorf("gppl: k = %d projections of n = %d observations in sums: want 1 ≤ k ≤ %d", k, r.n, min(r.n, MaxSumsProjections))
	}
	w := r.waves(k, s)
	p := &Projection{Orthonormal: true, Design: "Spectral of sums", n: r.n, k: w.Len(), waves: w}
	l := &Projected{
		model: m, proj: p, directions: directions{n: r.n, k: p.k, mass: r.moment[0], waves: w, proj: p},
		params: m.Params(), scale: scalingOf(m.Kernel),
		tally: new(tally), used: new(lastUse), calls: new(parallel.Pool[projectedCall]),
	}
	l.least, l.cond = dense.LeastEigenvalue(nil, k)
	if m.Mean != nil {
		if l.mean, err = r.setIntercept(m.Mean); err != nil {
			return nil, err
		}
	}
	l.z, l.sizes = r.project(w), r.lengths()
	var parts split
	if !parts.of(m.Kernel) {
		return nil, &Refusal{Reason: noSignal}
	}
	f := newFeatures(Inputs{}, r.header.Lo, r.header.Hi-r.header.Lo, l.directions, &r.fixed)
	ends := Scalars([]float64{r.header.Lo, r.header.Hi})
	l.planTerms(parts.signal, ends, o, []projectedEngine{newSpectralProjected(f, o.tolerance)})
	if p.n > p.k {
		l.residual = r.residual(l)
	}
	l.tally.report = LossReport{Likelihood: true, Setup: time.Since(start)}
	return l, nil
}

// sumsConditionLimit bounds the coefficients of each direction in waves of length one. What
// that loses, some 1e-15 times its square for each, is then far below the tolerance. It drops
// waves of which others span all but about a hundredth, and only some log k are of that kind.
const sumsConditionLimit = 100

// waves returns at most k directions, from the moments alone.
func (r *sumsReading) waves(k int, s *Sums) *fourier.Waves {
	lo, hi := s.Extent()
	perCycle := r.fixed.Period / (hi - lo)
	features := []fourier.Feature{fourier.Cos(0)}
	for j, last := 1, 0; len(features) < k; j++ {
		m := math.Round(perCycle * Spectral{}.cycles(float64(j)))
		if m > float64(r.fixed.Highest) {
			break
		}
		if int(m) > last { // a short period has fewer frequencies than Spectral
			last = int(m)
			features = append(features, fourier.Cos(last), fourier.Sin(last))
		}
	}
	features = features[:min(k, len(features))]
	return &fourier.Waves{Moments: r.moment, Basis: r.moment.Basis(features, sumsConditionLimit)}
}

// project returns the projections of the columns, k×c.
func (r *sumsReading) project(w *fourier.Waves) blas64.General {
	z := dense.New(w.Len(), r.columns.Cols)
	for j := range z.Cols {
		of := make([]float64, z.Rows)
		w.Basis.Project(of, dense.Slice(dense.Column(r.columns, j)))
		blas64.Copy(dense.Vec(of), dense.Column(z, j))
	}
	return z
}

// lengths returns those of the columns.
func (r *sumsReading) lengths() (all []float64) {
	for j := range r.yy.Cols {
		all = append(all, math.Sqrt(r.yy.Data[j*r.yy.Stride+j]))
	}
	return all
}

// residual returns what the projections of l leave of the columns. They span the
// constants, so that nothing is left of an Intercept.
func (r *sumsReading) residual(l *Projected) *residual {
	cols := l.z.Cols
	rest := &residual{
		n: l.directions.mass, dof: float64(l.proj.n - l.proj.k), share: 1, energy: dense.New(cols, cols), logWeights: r.logW,
	}
	z := dense.Column(l.z, 0)
	yy := r.yy.Data[0]
	rest.energy.Data[0] = max(0, yy-blas64.Dot(z, z))
	fitted := blas64.Asum(dense.Vec(l.directions.waves.Basis.Coefficients(dense.Slice(z)))) * math.Sqrt(l.directions.mass)
	rest.rounding = fourier.RoundedForm(yy, fitted, 1)
	return rest
}
