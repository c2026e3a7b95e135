package gppl

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// NewSumsProjected returns the projected likelihood (Projected) of the observations in s,
// less the constant centre, on k waves of the circle of s: 1 and then cosine and sine at
// ascending frequencies, those of Spectral on the extent of the observations rounded to
// multiples of 1/Period, orthonormalised. Ω is never formed: ΩᵀΩ and ΩᵀKΩ follow from
// the sums, in O(k³) once and O(Mk²) an evaluation with M frequencies of the kernel,
// whatever n is. With weights w, z = ΩᵀW^½y for an orthonormal Ω.
//
// It takes kernels that the exact likelihood of NewSumsExact refuses because a matrix of all
// their features would be too large, as long as their frequencies are among those of s. A
// Model.Mean may be an Intercept. There are fewer than k projections if the observations do
// not distinguish k waves (see String). It is an error if k is not in 1, …, n, or above
// 4000.
func NewSumsProjected(m Model, s *Sums, centre float64, k int, opts ...Option) (*Projected, error) {
	start := time.Now()
	l, _, err := newSumsProjected(m, s, centre, k, false, opts)
	if err != nil {
		return nil, err
	}
	l.tally.report = LossReport{Likelihood: true, Setup: time.Since(start)}
	return l, nil
}

// NewSumsResidual is NewSumsProjected with the residual energy |y − Ωz|² (see NewResidual),
// which follows from the sums. With weights the value includes −½Σ log w, like that of
// NewSumsExact.
func NewSumsResidual(m Model, s *Sums, centre float64, k int, opts ...Option) (*Projected, error) {
	start := time.Now()
	l, r, err := newSumsProjected(m, s, centre, k, true, opts)
	if err != nil {
		return nil, err
	}
	if l.proj.n > l.proj.k {
		l.residual = r.residual(l)
	}
	l.tally.report = LossReport{Likelihood: true, Setup: time.Since(start)}
	return l, nil
}

// newSumsProjected returns the loss without a residual and what it has read. With whole,
// its columns are in coordinates in which the basis of the mean is orthonormal on the
// observations, or else on their projections.
func newSumsProjected(m Model, s *Sums, centre float64, k int, whole bool, opts []Option) (*Projected, *sumsReading, error) {
	if err := m.Check(); err != nil {
		return nil, nil, err
	}
	if err := checkSumsModel(m); err != nil {
		return nil, nil, err
	}
	o, err := optionsOf(opts)
	if err != nil {
		return nil, nil, err
	}
	r, err := newSumsReading(s, centre)
	if err != nil {
		return nil, nil, err
	}
	if k < 1 || k > min(r.n, MaxSumsProjections) {
		return nil, nil, fmt.Errorf("gppl: k = %d projections of n = %d observations in sums: want 1 ≤ k ≤ %d", k, r.n, min(r.n, MaxSumsProjections))
	}
	w := r.waves(k, s)
	p := &Projection{Orthonormal: true, Design: "Spectral of sums", n: r.n, k: w.k(), waves: w}
	l := &Projected{
		model: m, proj: p, directions: directions{n: r.n, k: p.k, mass: r.moment[0], waves: w, proj: p},
		params: m.Params(), scale: scalingOf(m.Kernel),
		tally: new(tally), used: new(lastUse), calls: new(pool[projectedCall]),
	}
	l.least, l.cond = eigenvalues(nil, k)
	switch {
	case m.Mean == nil:
		l.z, l.sizes = r.project(w), r.lengths()
	case whole:
		if l.mean, err = r.setIntercept(m.Mean); err != nil {
			return nil, nil, err
		}
		l.z, l.sizes = r.project(w), r.lengths()
	default:
		ones := sumsReading{columns: columnOf(r.moment[:len(r.columns.Data)])}
		h := ones.project(w)
		z := r.project(w)
		if l.mean, l.z, err = newRegression(m.Mean, mat.NewDense(h.Rows, 1, h.Data), z.Data); err != nil {
			return nil, nil, fmt.Errorf("gppl: of the observations, the likelihood sees %d projections: %w", p.k, err)
		}
		length := math.Sqrt(r.moment[0]) * math.Abs(l.mean.basis.T.At(0, 0))
		l.sizes = []float64{r.lengths()[0] + length*math.Abs(l.mean.gamma0[0]), length}
	}
	var parts split
	if !parts.of(m.Kernel) {
		return nil, nil, &Refusal{Reason: noSignal}
	}
	f := &features{lo: r.header.Lo, span: r.header.Hi - r.header.Lo, dirs: l.directions, moments: &waveMoments{waves: w}, fixed: &r.fixed}
	ends := Scalars([]float64{r.header.Lo, r.header.Hi})
	l.planTerms(parts.signal, ends, o, []projectedEngine{newSpectralProjected(f, o.tolerance)})
	return l, r, nil
}

// sumsConditionLimit bounds the coefficients of each direction in waves of length one. What
// that loses, some 1e-15 times its square for each, is then far below the tolerance. It drops
// waves of which others span all but about a hundredth, and only some log k are of that kind.
const sumsConditionLimit = 100

// waves returns at most k directions, from the moments alone.
func (r *sumsReading) waves(k int, s *Sums) *waveBasis {
	lo, hi := s.Extent()
	perCycle := r.fixed.period / (hi - lo)
	features := []fourier.Feature{fourier.Cos(0)}
	for j, last := 1, 0; len(features) < k; j++ {
		m := math.Round(perCycle * Spectral{}.cycles(float64(j)))
		if m > float64(r.fixed.highest) {
			break
		}
		if int(m) > last { // a short period has fewer frequencies than Spectral
			last = int(m)
			features = append(features, fourier.Cos(last), fourier.Sin(last))
		}
	}
	features = features[:min(k, len(features))]
	return &waveBasis{lo: r.header.Lo, span: hi - lo, moment: r.moment, basis: r.moment.Basis(features, sumsConditionLimit)}
}

// project returns the projections of the columns, k×c.
func (r *sumsReading) project(w *waveBasis) blas64.General {
	z := dense.New(w.k(), r.columns.Cols)
	for j := range z.Cols {
		of := make([]float64, z.Rows)
		w.basis.Project(of, sliceOf(dense.Column(r.columns, j)))
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
	fitted := blas64.Asum(dense.Vec(l.directions.waves.basis.Coefficients(sliceOf(z)))) * math.Sqrt(l.directions.mass)
	rest.rounding = roundedForm(yy, fitted, 1)
	return rest
}
