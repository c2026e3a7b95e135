package gppl

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// spectralExact is the exact likelihood by the matrix determinant and inversion
// lemmas: with p features Φ (n×p) and weights C, A = ΦCΦᵀ + σ²I and
//
//	T = J + σ⁻²·DΦᵀΦD,  b = DΦᵀy,  h = T⁻¹b,  C = DJD,  J = ±1
//	yᵀA⁻¹y = σ⁻²(yᵀy − σ⁻²bᵀh),  log|A| = n·log σ² + log|det T|
//
// and the same for other columns beside y. (Weights are negative only where a
// window cuts a kernel that does not die out.) ΦᵀΦ is Toeplitz plus Hankel, from
// sums over the data computed once. Value and gradient take 2p³/3 flops, half of
// them for the gradient, whatever n. With weights w of the data, ΦᵀΦ and all inner
// products are weighted, and log|A| lacks Σ log w.
type spectralExact struct {
	spectralData
	tolerance float64        // nats per observation
	tight     bool           // for a posterior: as exact as a few frequencies more make it
	yy        blas64.General // CᵀC of the columns
	factors   parallel.Pool[spectralFactor]
}

func newSpectralExact(d observed, o options) *spectralExact {
	e := &spectralExact{tolerance: o.tolerance, tight: o.posterior, yy: d.squares()}
	e.read(d)
	return e
}

func (e *spectralExact) name() string { return EngineSpectral }

// eps is what the coefficients that are left out may sum to, relative to the
// variance: 0.3·σ²/v times the tolerance keeps the value within it, and far within
// in practice. Where less takes few frequencies, as for a Gaussian spectrum, the
// gradient near an optimum is worth them, and a posterior the more.
func (e *spectralExact) eps(k Kernel, noise float64) float64 {
	least := 1e-14
	if c, ok := e.circle(); ok {
		least = c.least(e.span, k)
	}
	if e.tight && bandwidth(k, least)*e.span < 600 {
		return least
	}
	loose := 0.3 * e.tolerance * e.averaged(noise) / variance(k)
	if tight := loose / 150; bandwidth(k, tight)*e.span < 300 {
		loose = tight
	}
	return min(0.01*e.tolerance, max(least, loose))
}

func (e *spectralExact) forecast(m *compiled) forecast {
	if !m.hasSignal() {
		return cannot(noSignal)
	}
	l, known := e.withKnown()
	if !known {
		return e.predict(m.kernel, m.variance, m.noise)
	}
	if math.IsInf(bandwidth(m.kernel, 0.5), 0) {
		return cannot(noSpectrum) // before a sum over the data
	}
	f := e.predict(m.kernel, m.variance, l.averagedKnown(m.noise))
	if f.reason != (reason{}) {
		return f
	}
	if f.windowed {
		return cannot("observations have errors of their own, and the kernel does not die out")
	}
	f.setup = 0
	f.seconds += 1.5*f.seconds + 2*e.pass(300e-9)
	return f
}

// predict is the forecast for a kernel of variance v that has a signal.
func (e *spectralExact) predict(k Kernel, v, noise float64) forecast {
	n := float64(e.n)
	eps := e.eps(k, noise)
	noise = e.averaged(noise)
	m, windowed, why := e.frequencies(k, eps)
	if why != (reason{}) {
		return forecast{reason: why}
	}
	p := 2*m - 1
	if p > maxDenseFeatures {
		return tooMany(m)
	}
	f := forecast{
		bytes:   16 * triangle(int(p)),
		seconds: (2*p*p*p/3)/(2*flopRate) + p*p*6e-9 + 1e-4,
		setup:   e.pass(300e-9) + m*1e-6,
		err:     3*n*eps*v/noise + n*rounding(v, noise),
	}
	if f.windowed = windowed; windowed { // weights of both signs cancel
		f.err += n * n * rounding(v, noise) * v / noise
	}
	return f
}

// spectralFactor is T = LJLᵀ of one model.
type spectralFactor struct {
	spectralBasis
	engine     *spectralExact // of the data with their weights
	home       *spectralExact // whose pool the factor is from
	view       reweighted     // the data, where the weights change with the noise variance
	kernel     Kernel
	noise      float64
	t, inverse *dense.Lower   // L; L⁻¹, made when a gradient is first asked for
	b, h       blas64.General // DΦᵀC and T⁻¹DΦᵀC, p×c
	g          blas64.General // CᵀA⁻¹C
	errors     []float64      // see bound
	u          blas64.General // hR
	diag       []float64      // of T⁻¹
	q          []float64      // derivatives in the coefficients of the series
	row, z     []float64      // of ΦᵀΦ; L⁻¹e_i
	coef       []float64      // σ⁻²Dh
	missed     []leftOut

	ctx                 context.Context
	fillRow, diagonalOf func(int) // the loops that run in parallel, made once
}

// leftOut describes the content of a column at the frequencies that are left out.
type leftOut struct{ sum, most float64 }

func (e *spectralExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.Get()
	f.engine, f.home, f.kernel, f.noise = e, e, m.kernel, m.noise
	f.ctx = m.ctx
	l, known := e.withKnown()
	if known {
		f.view.weigh(l, options{tolerance: e.tolerance, posterior: e.tight}, m.noise)
		f.engine, f.Series = &f.view.engine, nil
	}
	if f.fillRow == nil {
		f.fillRow, f.diagonalOf = f.fillRowOfTiles, f.diagonalOfBlock
	}
	if err := f.engine.expand(&f.spectralBasis, m.kernel, f.engine.eps(m.kernel, m.noise)); err != nil {
		f.release()
		return nil, err
	}
	if err := f.affordable(); err != nil {
		f.release()
		return nil, err
	}
	f.fill()
	if err := f.t.CholeskySigned(dense.Blocks(f.Negative)); err != nil {
		f.release()
		return nil, notFactorised(m.kernel, m.noise, err, "gppl: spectral engine: %v", err)
	}
	return f, nil
}

// surplus is how many times the predicted features there may be where a dense matrix of the data is smaller: the
// time grows with their cube. A bandwidth only estimates a spectrum that falls slowly, or to rounding.
const surplus = 2

// affordable returns a Refusal if there are many more features than were predicted, and than observations, so that
// other engines are faster by far.
func (f *spectralFactor) affordable() error {
	p, e := float64(len(f.Features)), f.engine
	if _, ok := e.observed.(*line); !ok || p <= 4*float64(e.n) || p <= leastFeatures {
		return nil
	}
	m, _, _ := e.frequencies(f.kernel, e.eps(f.kernel, f.noise))
	if predicted := 2*m - 1; p > surplus*predicted {
		return &Refusal{Engine: EngineSpectral, Reason: fmt.Sprintf("it takes %.0f features for %d observations, where %.0f were predicted", p, e.n, predicted)}
	}
	return nil
}

// leastFeatures take some hundredths of a second, whatever was predicted.
const leastFeatures = 1000

func (f *spectralFactor) release()        { f.home.factors.Put(f) }
func (f *spectralFactor) jitter() float64 { return 0 }

func (f *spectralFactor) logDet() float64 {
	return float64(f.engine.n)*math.Log(f.noise) + f.t.LogDet() - f.engine.logWeights()
}

// fill sets T and b.
func (f *spectralFactor) fill() {
	p, columns := len(f.Features), f.sums.columns
	if f.t == nil || f.t.N() != p {
		f.t, f.inverse = dense.NewLower(p), nil
	}
	f.t.Ctx = f.ctx
	parallel.Within(f.ctx, dense.Blocks(p), f.fillRow)
	for b := range dense.Blocks(p) {
		t, j := f.t.At(b, b), f.Sign(b*dense.Tile)
		for i := range t.Rows {
			t.Data[i*t.Stride+i] += j
		}
	}
	f.b = dense.Reshape(f.b, p, columns.Cols)
	for i, feature := range f.Features {
		row := f.b.Data[i*f.b.Stride:]
		for j, v := range columns.Data[int(feature)*columns.Stride:][:columns.Cols] {
			row[j] = f.Root[i] * v
		}
	}
}

// fillRowOfTiles sets a row of tiles of T − J, the longest row first.
func (f *spectralFactor) fillRowOfTiles(k int) {
	i := dense.Blocks(f.t.N()) - 1 - k
	for j := range i + 1 {
		t := f.t.At(i, j)
		r0, c0 := i*dense.Tile, j*dense.Tile
		f.sums.moments.Gram(t, f.Features[r0:r0+t.Rows], f.Features[c0:c0+t.Cols])
		for a := range t.Rows {
			scale := f.Root[r0+a] / f.noise
			row := t.Data[a*t.Stride:][:t.Cols]
			for b := range row {
				row[b] *= scale * f.Root[c0+b]
			}
		}
	}
}

func (f *spectralFactor) gram(g blas64.General) {
	f.h = dense.Reshape(f.h, f.b.Rows, f.b.Cols)
	dense.Copy(f.h, f.b)
	f.t.SolveL(f.h)
	blas64.Scal(-1, dense.Vec(f.h.Data[min(f.Negative, f.h.Rows)*f.h.Stride:]))
	f.t.SolveLT(f.h)
	tampered("spectral h", f.h.Data)
	f.g = dense.Reshape(f.g, f.b.Cols, f.b.Cols)
	dense.LowRankForms(f.g, f.engine.yy, f.b, f.h, f.noise)
	dense.Copy(g, f.g)
	f.bound()
}

func (f *spectralFactor) uncertainty(r blas64.General) float64 {
	return dense.Spread(dense.Vec(f.errors), r)
}

// gradient is Σ_f w_f ∂c_f with w_f = ½[1 − J_f(T⁻¹)_ff − σ⁻⁴J_f·|(hR)_f|²]/c_f: the
// derivative of log|A| has the first two terms, and ΦᵀU = σ⁻²D⁻¹JhR the last.
func (f *spectralFactor) gradient(grad []float64, r blas64.General) error {
	f.diagonalOfInverse()
	tampered("spectral diag", f.diag)
	f.u = dense.Combine(f.u, f.h, r)
	f.q = dense.Resize(f.q, len(f.Series.C))
	clear(f.q)
	var trace, hh float64
	for i, feature := range f.Features {
		j := f.Sign(i)
		var square float64
		for _, u := range f.u.Data[i*f.u.Stride:][:f.u.Cols] {
			square += u * u
		}
		trace += j * f.diag[i]
		hh += j * square
		if c := j * f.Root[i] * f.Root[i]; c != 0 {
			f.q[feature.Frequency()] += 0.5 * (1 - j*(f.diag[i]+square/(f.noise*f.noise))) / c
		}
	}
	f.slopeAtZeros(r)
	tampered("spectral q", f.q)
	if err := f.verifyInverse(); err != nil {
		return err
	}
	clear(grad)
	last := len(grad) - 1
	if err := contractSeries(f.Series, grad[:last], f.q, f.kernel); err != nil {
		return err
	}
	trA := float64(f.engine.n-len(f.Features)) + trace // σ²·tr A⁻¹
	uu := dense.Form(f.g, r) - hh/(f.noise*f.noise)    // σ²·|U|²
	grad[last] = 0.5 * (trA - uu)
	if l, known := f.home.withKnown(); known {
		var err error
		grad[last], err = f.noiseSlope(l, r, grad[last])
		return err
	}
	return nil
}

// slopeAtZeros sets the derivatives in the coefficients that cross zero, where 1 − J_f(T⁻¹)_ff has lost its digits
// when it is divided by them: with s = DΦᵀφ_f,
//
//	w_f = ½(φ_fᵀA⁻¹φ_f − |φ_fᵀU|²),  φ_fᵀA⁻¹φ_f = σ⁻²(φ_fᵀφ_f − σ⁻²sᵀT⁻¹s)
//
// without a division, in p² flops for each of these few.
func (f *spectralFactor) slopeAtZeros(r blas64.General) {
	for _, m := range f.Leading {
		if !f.Series.Crosses(m) {
			continue
		}
		f.q[m] = f.slopeOf(fourier.Cos(m), r)
		if m > 0 {
			f.q[m] += f.slopeOf(fourier.Sin(m), r)
		}
	}
}

// slopeOf returns ½(φᵀA⁻¹φ − |φᵀU|²) of a feature.
func (f *spectralFactor) slopeOf(feature fourier.Feature, r blas64.General) float64 {
	f.row = f.gramRow(f.row, feature)
	var own [1]float64
	one := [1]fourier.Feature{feature}
	f.sums.moments.Gram(dense.AsColumn(own[:]), one[:], one[:])
	columns := f.sums.columns
	var uu float64
	for k := range r.Cols { // φᵀA⁻¹CR = σ⁻²(φᵀC − σ⁻²sᵀh)R
		var u float64
		for j := range r.Rows {
			u += columns.Data[int(feature)*columns.Stride+j] * r.Data[j*r.Stride+k]
		}
		for i, g := range f.row {
			u -= g * f.Root[i] * f.u.Data[i*f.u.Stride+k] / f.noise
		}
		uu += u * u / (f.noise * f.noise)
	}
	for i, root := range f.Root {
		f.row[i] *= root
	}
	f.t.SolveL(dense.AsColumn(f.row))
	kept := min(f.Negative, len(f.row))
	plus, minus := dense.Vec(f.row[:kept]), dense.Vec(f.row[kept:])
	form := (own[0] - (blas64.Dot(plus, plus)-blas64.Dot(minus, minus))/f.noise) / f.noise
	return 0.5 * (form - uu)
}

// diagonalOfInverse sets diag to that of T⁻¹ = L⁻ᵀJL⁻¹.
func (f *spectralFactor) diagonalOfInverse() {
	p := f.t.N()
	if f.inverse == nil {
		f.inverse = dense.NewLower(p)
	}
	f.t.InvertL(f.inverse)
	f.diag = dense.Resize(f.diag, p)
	clear(f.diag)
	parallel.Within(f.ctx, dense.Blocks(p), f.diagonalOf)
}

// diagonalOfBlock adds a column of tiles of L⁻¹.
func (f *spectralFactor) diagonalOfBlock(j int) {
	p := f.t.N()
	d := f.diag[j*dense.Tile:][:dense.Width(p, j)]
	for i := j; i < dense.Blocks(p); i++ {
		dense.AddSquares(d, f.Sign(i*dense.Tile), f.inverse.At(i, j))
	}
}

// verifyInverse compares one entry of the diagonal of T⁻¹, which came from all of
// L⁻¹, with |L⁻¹e_i|² by a substitution, in p²/3 flops; and h with a row of T made
// again from the moments.
func (f *spectralFactor) verifyInverse() error {
	p := len(f.Features)
	if p == 0 {
		return nil
	}
	i := f.picked()
	trust := gradientTrust * math.Abs(f.diag[i])
	if f.Negative < p { // squares of both signs have been added
		trust = gradientTrust
	}
	if err := verify("an entry of an inverse", f.diag[i], f.diagonalEntry(i), trust); err != nil {
		return err
	}
	f.row = f.gramRow(f.row, f.Features[i])
	n := f.sums.moments[0] // or the sum of weights
	own := math.Sqrt(1 + f.Root[i]*f.Root[i]*n/f.noise)
	for c := range f.h.Cols {
		b, want := f.Sign(i)*f.h.Data[i*f.h.Stride+c], f.b.Data[i*f.b.Stride+c]
		var scale float64
		for j, g := range f.row {
			h := f.h.Data[j*f.h.Stride+c]
			b += g * f.Root[i] * f.Root[j] / f.noise * h
			scale += (1 + f.Root[j]*math.Sqrt(n/f.noise)) * math.Abs(h) // at least |T_ij|·|h_j|, over own
		}
		if err := verify("a row of a linear system", b, want, backward*(own*scale+math.Abs(want))); err != nil {
			return err
		}
	}
	return nil
}

// picked returns the feature that checks look at.
func (f *spectralFactor) picked() int {
	return pick(len(f.Features), f.noise, f.Root[0], f.g.Data[0])
}

// gramRow returns the products of a feature with those that are kept, in the memory of
// dst where it does.
func (f *spectralFactor) gramRow(dst []float64, feature fourier.Feature) []float64 {
	p := len(f.Features)
	dst = dense.Resize(dst, p)
	one := [1]fourier.Feature{feature}
	f.sums.moments.Gram(blas64.General{Rows: 1, Cols: p, Stride: max(1, p), Data: dst}, one[:], f.Features)
	return dst
}

// diagonalEntry returns (T⁻¹)_ii = Σ_k J_k z_k², and sets z to L⁻¹e_i.
func (f *spectralFactor) diagonalEntry(i int) float64 {
	f.z = dense.Resize(f.z, len(f.Features))
	f.t.SolveUnit(f.z, i)
	kept := min(f.Negative, len(f.z))
	plus, minus := dense.Vec(f.z[:kept]), dense.Vec(f.z[kept:])
	return blas64.Dot(plus, plus) - blas64.Dot(minus, minus)
}

// completeColumn takes z from L⁻¹e_i, as diagonalEntry left it, to T⁻¹e_i = L⁻ᵀJL⁻¹e_i.
func (f *spectralFactor) completeColumn() {
	blas64.Scal(-1, dense.Vec(f.z[min(f.Negative, len(f.z)):]))
	f.t.SolveLT(dense.AsColumn(f.z))
}

// backward is the relative residual that a factorisation may leave, with a margin
// over the rounding of some thousands of operations.
const backward = 1e-11

// bound sets errors to a bound on the error of yᵀA⁻¹y beyond the effect of a relative error of
// A, and of the forms of the columns beside y. With a = σ⁻²Dh, the coefficients of the posterior mean,
//
//	yᵀA⁻¹y = σ⁻²(yᵀy − 2aᵀΦᵀy + aᵀ(ΦᵀΦ + σ²C⁻¹)a)
//
// is stationary in a: what counts is the rounding of yᵀy, Φᵀy and ΦᵀΦ. What the
// series leaves out, ΔK, changes it by αᵀΔKα, α = A⁻¹y: with the features beyond
// those kept, where Φᵀα = σ⁻²(Φᵀy − ΦᵀΦa) is known, Σ c_m·|α̂_m|². The value errs by
// half of that; the other half is for the derivatives, which err by more.
func (f *spectralFactor) bound() {
	p, c := f.h.Rows, f.h.Cols
	f.coef = dense.Resize(f.coef, p*c)
	for i, root := range f.Root {
		for j := range c {
			f.coef[i*c+j] = root * f.h.Data[i*f.h.Stride+j] / f.noise
		}
	}
	tail := f.leftOut()
	n := f.sums.moments[0] // or the sum of weights
	f.errors = dense.Resize(f.errors, c)
	for j, missed := range f.missed {
		var sum float64
		for i := range p {
			sum += math.Abs(f.coef[i*c+j])
		}
		yy := f.engine.yy.Data[j*f.engine.yy.Stride+j]
		f.errors[j] = roundedForm(yy, sum*math.Sqrt(n), f.noise) + missed.sum + tail*missed.most
	}
}

// roundedForm bounds the effect of the rounding of sums over the data on yᵀA⁻¹y, given
// yᵀy and the size of the fit to y.
func roundedForm(yy, fitted, noise float64) float64 {
	size := math.Sqrt(yy) + fitted
	return (8*0x1p-53*yy + sumRounding*size*size) / noise
}

// leftOut sets missed to Σ c_m·|α̂_m|² and the largest |α̂_m|² of each column over the
// frequencies that are left out, one after another as far as there are moments. It
// returns Σ c_m over the tail of the series beyond them, where |α̂_m|² is not known and
// the largest one stands in for it.
func (f *spectralFactor) leftOut() (tail float64) {
	columns := f.sums.columns.Cols
	if cap(f.missed) < columns {
		f.missed = make([]leftOut, columns)
	}
	f.missed = f.missed[:columns]
	clear(f.missed)
	kept := 0
	for m, c := range f.Series.C {
		parallel.Look(f.ctx)
		if c == 0 {
			continue
		}
		if kept < len(f.Leading) && f.Leading[kept] == m {
			kept++
			continue
		}
		if m > f.Probed {
			tail += math.Abs(c)
			continue
		}
		f.row, f.z = f.gramRow(f.row, fourier.Cos(m)), f.gramRow(f.z, fourier.Sin(m))
		for j := range f.missed {
			power := f.hat(fourier.Cos(m), f.row, j) + f.hat(fourier.Sin(m), f.z, j)
			f.missed[j].sum += math.Abs(c) * power
			f.missed[j].most = max(f.missed[j].most, power)
		}
	}
	return tail
}

// hat returns the square of α̂ of a column at a feature, given a row of ΦᵀΦ.
func (f *spectralFactor) hat(feature fourier.Feature, row []float64, j int) float64 {
	columns := f.sums.columns
	coef := blas64.Vector{N: len(row), Inc: columns.Cols}
	if len(row) > 0 {
		coef.Data = f.coef[j:]
	}
	a := (columns.Data[int(feature)*columns.Stride+j] - blas64.Dot(dense.Vec(row), coef)) / f.noise
	return a * a
}
