package gppl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/projected"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// SumsData returns the observations in s, minus the constant centre (Header().Centre, or Mean()), as data for NewExact,
// NewResidual, NewPosterior, Periodogram and SpectralColumns, whose time then does not depend on the number of observations.
// With weights, the noise variance of an observation is σ²/w. A Model.Mean may be an Intercept, for the restricted likelihood,
// whatever the centre. Later changes of s have no effect on a loss.
//
// For the exact likelihood, the gridded engine supports SE and its like, in a time that grows with the ratio of range to
// lengthscale. The spectral engine supports other kernels whose spectrum falls within the frequencies of s, by a dense matrix
// of up to 4000 features, two for each frequency. Any other model is refused, with the range that s resolves; NewResidual
// supports some of these.
//
// A posterior predicts at inputs within the range of the header; add centre to the means that it returns. For kernels that
// decay to zero it also predicts outside: as far as the period extends, and where the prediction is the prior. Any other input
// gives an error that names the range; mean and variance are then NaN at all inputs of the call.
func SumsData(s *sums.Sums, centre float64) Data {
	notNil("SumsData", "the sums s", s)
	return Data{sums: s, centre: centre}
}

// newSumsExact is NewExact for sums.
func newSumsExact(m Model, d Data, opts []Option) (*Exact, error) {
	start := time.Now()
	r, o, err := readSums(m, d, opts)
	if err != nil {
		return nil, err
	}
	mean, err := takeIntercept(r, m.Mean)
	if err != nil {
		return nil, err
	}
	l := newExact(m, r.N, o, r.Span)
	lo, hi := d.sums.Extent()
	l.known, l.extent, l.mean, l.columns = r, Scalars([]float64{lo, hi}), mean, r.Columns.Cols
	l.prepare()
	l.tally.setUp(time.Since(start))
	return l, nil
}

// checkSumsModel returns an error if m is not valid, or has a kernel or a mean that sums cannot represent.
func checkSumsModel(m Model) error {
	if err := m.Check(); err != nil {
		return err
	}
	if err := needsDistances("the likelihood of sums", m.Kernel); err != nil {
		return err
	}
	if m.Mean != nil && m.Mean != (Intercept{}) {
		return fmt.Errorf("gppl: Sums hold no basis of a mean, and the model has the mean %v: only an Intercept, or a known"+
			" constant as centre, can be taken out", m.Mean)
	}
	return nil
}

// readSums checks the sums of d for a loss with the model and options, and returns them in the form for engines.
func readSums(m Model, d Data, opts []Option) (*observed.Known, options, error) {
	if err := cmp.Or(m.checkViewless("the likelihood of sums", d), checkSumsModel(m)); err != nil {
		return nil, options{}, err
	}
	o, err := optionsOf(opts)
	if err != nil {
		return nil, o, err
	}
	r, err := knownOf(d)
	return r, o, err
}

// knownOf returns the sums of d in the form for engines.
func knownOf(d Data) (*observed.Known, error) {
	s := d.sums
	switch {
	case s.Len() == 0:
		return nil, errors.New("gppl: Sums: no observations")
	case !numeric.IsFinite(d.centre):
		return nil, fmt.Errorf("gppl: Sums: centre = %v is not finite", d.centre)
	}
	h := s.Header()
	r := &observed.Known{
		On: circleOf(h), N: s.Len(), Lo: h.Lo, Span: h.Hi - h.Lo, LogW: s.LogWeights(),
		Moments: s.Moments(), Columns: dense.AsColumn(s.Values()), Products: dense.AsColumn([]float64{s.Squares()}),
	}
	r.Shift(d.centre - h.Centre)
	return r, nil
}

// takeIntercept puts the sums of an Intercept, a column of 1/√n, beside y's, unless the mean is nil.
func takeIntercept(r *observed.Known, m Mean) (*regress.Regression, error) {
	if m == nil {
		return nil, nil
	}
	// A column of the same length has the coordinates of all n. Two rows represent many.
	rows := min(r.N, 2)
	basis, err := regressionOn(context.Background(), m, mat.NewDense(rows, 1, []float64{math.Sqrt(float64(r.N)), 0}[:rows]))
	if err != nil {
		return nil, err
	}
	return &regress.Regression{Names: columnNames(m), Basis: basis, Gamma0: []float64{r.AddLevel()}}, nil
}

func circleOf(h sums.Header) observed.Circle {
	shortest, longest := h.Lengthscales()
	resolves := fmt.Sprintf("these sums resolve frequencies up to %.4g per unit of t, SE lengthscales from %.3g",
		float64(h.Highest)/h.Period, shortest)
	if h.Period >= (2+2*observed.WindowRoom)*(h.Hi-h.Lo) { // the period suits kernels that do not decay to zero
		resolves += ", and kernels of any reach"
	} else {
		resolves += fmt.Sprintf(" to %.3g, and kernels that die out within %.3g", longest, h.Period-(h.Hi-h.Lo))
	}
	return observed.Circle{
		Origin: h.Origin, Period: h.Period, Highest: h.Highest, Most: sums.MaxProjections,
		Resolves: resolves + "; this kernel reaches further", Beyond: resolves + "; this kernel has frequencies up to %.4g",
	}
}

// Projection returns the projection of the observations in sums (SumsData) on k orthonormalised waves: 1, then cosine and sine at
// ascending frequencies. These are the frequencies of Spectral on the extent of the observations, rounded to multiples of
// 1/Period (sums.Header). There are fewer than k columns if the observations do not distinguish k waves. It takes O(k³); Ω is
// never formed. It returns an error if d has no sums, or if k is not in 1, …, n, or above 4000.
func (d Data) Projection(ctx context.Context, k int) (p *Projection, err error) {
	defer parallel.Stopped(&err)
	if d.sums == nil {
		return nil, errors.New("gppl: Data.Projection needs SumsData: use NewProjection or SpectralProjection for observations")
	}
	r, err := knownOf(d)
	if err != nil {
		return nil, err
	}
	if k < 1 || k > min(r.N, sums.MaxProjections) {
		return nil, fmt.Errorf("gppl: k = %d projections of n = %d observations in sums: want 1 ≤ k ≤ %d",
			k, r.N, min(r.N, sums.MaxProjections))
	}
	parallel.Look(ctx)
	w := wavesOfSums(ctx, r, k, d.sums)
	return &Projection{Orthonormal: true, Design: "Spectral of sums", n: r.N, k: w.Len(), waves: w, ofSums: true}, nil
}

// newSumsResidual is NewResidual for sums, under a projection from Data.Projection. ΩᵀΩ, ΩᵀKΩ and the energy |y − Ωz|² follow
// from the sums, in O(k³) once and O(Mk²) an evaluation with M frequencies of the kernel, for any n. With weights w, z =
// ΩᵀW^½y for an orthonormal Ω, and the value includes −½Σ log w, as in NewExact.
//
// It supports kernels that the exact likelihood refuses because a matrix of all their features would be too large, as long as
// the sums have their frequencies.
func newSumsResidual(m Model, d Data, p *Projection, opts []Option) (l *Projected, err error) {
	start := time.Now()
	r, o, err := readSums(m, d, opts)
	if err != nil {
		return nil, err
	}
	if !p.ofSums || p.n != r.N {
		return nil, fmt.Errorf("gppl: the projection %v is not of these sums: use Data.Projection", p)
	}
	w := p.waves
	of := projected.Data{Directions: projected.Directions{N: r.N, K: p.k, Mass: r.Moments[0], Waves: w}}
	of.Least, of.Cond = dense.LeastEigenvalue(context.Background(), nil, p.k)
	l = newProjected(m, p, of)
	l.conditioned, l.memory = d.clone(), o.Memory
	if l.mean, err = takeIntercept(r, m.Mean); err != nil {
		return nil, err
	}
	l.data.Z, l.data.Sizes = r.Project(w), r.Lengths()
	var parts split
	if !parts.set(m.Kernel) {
		return nil, &Refusal{Reason: noSignal}
	}
	f := projected.NewFeatures(nil, r.Lo, r.Span, of.Directions, &r.On)
	ends := Scalars([]float64{r.Lo, r.Lo + r.Span})
	l.planTerms(parts.signal, ends, o, []projectedEngine{newSpectralProjected(of.Directions, f, o.tolerance)})
	if p.n > p.k {
		l.data.Residual = residualOfSums(r, &l.data)
	}
	l.tally.report = LossReport{Likelihood: true, Setup: time.Since(start)}
	return l, nil
}

// sumsConditionLimit bounds the coefficients of each direction in waves of length one. The loss of digits, some 1e-15 times
// its square for each, is then far below the tolerance. It drops waves that depend on others up to about a hundredth; there
// are only some log k of them.
const sumsConditionLimit = 100

// wavesOfSums returns at most k directions, from the moments alone.
func wavesOfSums(ctx context.Context, r *observed.Known, k int, s *sums.Sums) *fourier.Waves {
	lo, hi := s.Extent()
	perCycle := r.On.Period / (hi - lo)
	features := []fourier.Feature{fourier.Cos(0)}
	for j, last := 1, 0; len(features) < k; j++ {
		m := math.Round(perCycle * Spectral{}.cycles(float64(j)))
		if m > float64(r.On.Highest) {
			break
		}
		if int(m) > last { // a short period has fewer frequencies than Spectral
			last = int(m)
			features = append(features, fourier.Cos(last), fourier.Sin(last))
		}
	}
	features = features[:min(k, len(features))]
	return &fourier.Waves{Moments: r.Moments, Basis: r.Moments.Basis(ctx, features, sumsConditionLimit)}
}

// residualOfSums returns the remainder of the columns outside the projections. These span the constants, so an Intercept has
// no remainder.
func residualOfSums(r *observed.Known, of *projected.Data) *projected.Residual {
	z := dense.Column(of.Z, 0)
	yy := r.Products.Data[0]
	fitted := blas64.Asum(dense.Vec(of.Waves.Basis.Coefficients(dense.Slice(z)))) * math.Sqrt(of.Mass)
	rest := &projected.Residual{
		N: of.Mass, DoF: float64(of.N - of.K), Share: 1, Energy: dense.New(of.Z.Cols, of.Z.Cols),
		LogWeights: r.LogW, Rounding: fourier.RoundedForm(yy, fitted, 1),
	}
	rest.Energy.Data[0] = max(0, yy-blas64.Dot(z, z))
	return rest
}
