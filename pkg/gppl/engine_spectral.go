package gppl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// featureTolerance is that of the one-time sums over the data, relative to the
// sum of the absolute values of their terms.
const featureTolerance = 1e-15

// maxFeatures bounds the number of frequencies.
const maxFeatures = 1 << 15

// forecastSpectral returns the number of frequencies to expect, or why there
// are too many.
func forecastSpectral(k Kernel, span, eps float64, images bool) (frequencies float64, windowed bool, why reason) {
	b := bandwidth(k, eps)
	if math.IsInf(b, 0) {
		return 0, false, reason{format: "its spectrum does not fall, or not in a way that is known"}
	}
	period, windowed, err := seriesPeriod(span, k, eps, images)
	if err != nil {
		return 0, false, reason{format: "all inputs coincide"}
	}
	if windowed {
		b += 30 / (period - 2*span) // what the window spreads
	}
	m := math.Ceil(b*period) + 1
	if m > maxFeatures {
		return m, windowed, reason{"it would take about %.2g frequencies", m}
	}
	return m, windowed, reason{}
}

func resizeGeneral(a blas64.General, r, c int) blas64.General {
	if cap(a.Data) < r*c {
		return newGeneral(r, c)
	}
	return blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: a.Data[:r*c]}
}

// spectralExact is the exact NLL by the matrix determinant and inversion
// lemmas: with p features Φ (n×p) and weights C, A = ΦCΦᵀ + σ²I and
//
//	T = J + σ⁻²·DΦᵀΦD,  b = DΦᵀy,  h = T⁻¹b,  C = DJD,  J = ±1
//	yᵀA⁻¹y = σ⁻²(yᵀy − σ⁻²bᵀh),  log|A| = n·log σ² + log|det T|
//
// (Weights are negative only where a window cuts a kernel that does not die
// out.) ΦᵀΦ is Toeplitz plus Hankel, from sums over the data computed once.
// An evaluation takes 2p³/3 flops, half of them for the gradient, whatever n.
type spectralExact struct {
	line      *line
	tolerance float64 // nats per observation
	tight     bool    // for a posterior: as exact as a few frequencies more make it

	split  split
	series *cosineSeries
	points *fourier.Points
	m      int             // frequencies that are computed
	moment fourier.Moments // up to 2m
	phiY   []float64       // Φᵀy: cos, sin by turns
	yy     float64

	features   []fourier.Feature
	root       []float64 // C^½ of each
	leading    []int     // the frequencies that are kept, ascending
	probed     int       // of those left out, the last that uncertainty looks at
	coef, row  []float64
	z          []float64 // L⁻¹e_i
	t, inverse *dense.Lower
	b, h, diag []float64
	q          []float64
	negative   int // features from here on have negative weights
	kernel     Kernel
	noise      float64
	form       float64 // yᵀA⁻¹y
	extra      float64 // see uncertainty
}

func newSpectralExact(l *line, o options) *spectralExact {
	return &spectralExact{line: l, tolerance: o.tolerance, tight: o.posterior, yy: blas64.Dot(vec(l.y), vec(l.y))}
}

func (e *spectralExact) name() string { return EngineSpectral }

// eps is what the coefficients that are left out may sum to, relative to the
// variance: 0.3·σ²/v times the tolerance keeps the value within it, and far within
// in practice. Where less takes few frequencies, as for a Gaussian spectrum, the
// gradient near an optimum is worth them, and a posterior the more.
func (e *spectralExact) eps(k Kernel, noise float64) float64 {
	const least = 1e-14
	if e.tight && bandwidth(k, least)*e.line.span < 600 {
		return least
	}
	loose := 0.3 * e.tolerance * noise / variance(k)
	if tight := loose / 150; bandwidth(k, tight)*e.line.span < 300 {
		loose = tight
	}
	return min(0.01*e.tolerance, max(least, loose))
}

func (e *spectralExact) forecast(k Kernel, noise float64) forecast {
	if !e.split.of(k) {
		return cannot(noSignal)
	}
	n, v := float64(len(e.line.t)), variance(k)
	eps := e.eps(k, noise)
	m, windowed, why := forecastSpectral(k, e.line.span, eps, true)
	if why != (reason{}) {
		return forecast{reason: why}
	}
	p := 2*m - 1
	if p > 12000 {
		return forecast{reason: reason{"it would take about %.2g frequencies", m}}
	}
	f := forecast{
		seconds: (2*p*p*p/3)/(2*flopRate) + p*p*6e-9 + 1e-4,
		err:     3*n*eps*v/noise + n*rounding(v, noise),
	}
	if windowed { // weights of both signs cancel
		f.err += n * n * rounding(v, noise) * v / noise
	}
	if int(m) > e.m {
		f.setup = n*300e-9 + m*1e-6
	}
	return f
}

func (e *spectralExact) nll(grad []float64, k Kernel, noise float64) (value, jitter float64, err error) {
	e.split.of(k)
	e.kernel, e.noise = k, noise
	eps := e.eps(k, noise)
	if err := e.prepare(k, eps); err != nil {
		return 0, 0, err
	}
	n, p := float64(len(e.line.t)), len(e.features)
	e.fill(noise)
	if err := e.t.CholeskySigned(dense.Blocks(e.negative)); err != nil {
		return 0, 0, fmt.Errorf("gppl: spectral engine: %w (kernel %v, noise variance %.4g)", err, k, noise)
	}
	copy(e.h, e.b)
	e.t.SolveL(columnOf(e.h))
	blas64.Scal(-1, vec(e.h[e.negative:]))
	e.t.SolveLT(columnOf(e.h))
	tampered("spectral h", e.h)
	bh := blas64.Dot(vec(e.b), vec(e.h))
	e.form = (e.yy - bh/noise) / noise
	e.extra = e.uncertainty(noise)
	value = 0.5 * (e.form + n*(math.Log(noise)+log2Pi) + e.t.LogDet())
	if grad == nil {
		return value, 0, nil
	}

	// With w_f = ½[1 − J_f(T⁻¹)_ff − σ⁻⁴J_f h_f²]/c_f the gradient is Σ_f w_f ∂c_f.
	e.diagonalOfInverse()
	tampered("spectral diag", e.diag)
	e.q = resize(e.q, len(e.series.c))
	clear(e.q)
	var trace, hh float64
	for i, f := range e.features {
		j := 1.0
		if i >= e.negative {
			j = -1
		}
		trace += j * e.diag[i]
		hh += j * e.h[i] * e.h[i]
		if c := j * e.root[i] * e.root[i]; c != 0 {
			e.q[f.Frequency()] += 0.5 * (1 - j*(e.diag[i]+e.h[i]*e.h[i]/(noise*noise))) / c
		}
	}
	tampered("spectral q", e.q)
	if err := e.verifyInverse(noise); err != nil {
		return 0, 0, err
	}
	clear(grad)
	e.series.contract(grad[:len(grad)-1], e.q, k)
	if err := e.series.verified(); err != nil {
		return 0, 0, err
	}
	trA := n - float64(p) + trace                  // σ²·tr A⁻¹
	alpha2 := (e.yy - bh/noise - hh/noise) / noise // σ²·|A⁻¹y|²
	grad[len(grad)-1] = 0.5 * (trA - alpha2)
	return value, 0, nil
}

// verifyInverse compares one entry of the diagonal of T⁻¹, which came from all of
// L⁻¹, with |L⁻¹e_i|² by a substitution, in p²/3 flops; and h with a row of T made
// again from the moments.
func (e *spectralExact) verifyInverse(noise float64) error {
	p := len(e.features)
	if p == 0 {
		return nil
	}
	i := pick(p, noise, e.root[0], e.form)
	trust := gradientTrust * math.Abs(e.diag[i])
	if e.negative < p { // squares of both signs have been added
		trust = gradientTrust
	}
	if err := verify("an entry of an inverse", e.diag[i], e.diagonalEntry(i), trust); err != nil {
		return err
	}
	e.row = resize(e.row, p)
	e.moment.Gram(blas64.General{Rows: 1, Cols: p, Stride: p, Data: e.row}, e.features[i:i+1], e.features)
	n := float64(len(e.line.t))
	b := e.h[i]
	if i >= e.negative {
		b = -b
	}
	var scale float64
	own := math.Sqrt(1 + e.root[i]*e.root[i]*n/noise)
	for j, g := range e.row {
		b += g * e.root[i] * e.root[j] / noise * e.h[j]
		scale += (1 + e.root[j]*math.Sqrt(n/noise)) * math.Abs(e.h[j]) // at least |T_ij|·|h_j|, over own
	}
	return verify("a row of a linear system", b, e.b[i], backward*(own*scale+math.Abs(e.b[i])))
}

// diagonalEntry returns (T⁻¹)_ii = Σ_k J_k y_k², Ly = e_i.
func (e *spectralExact) diagonalEntry(i int) (d float64) {
	p := len(e.features)
	e.z = resize(e.z, p)
	clear(e.z)
	e.z[i] = 1
	first := i / dense.Tile
	for r := first; r < dense.Blocks(p); r++ {
		y := e.z[r*dense.Tile:][:dense.Width(p, r)]
		for c := first; c < r; c++ {
			blas64.Gemv(blas.NoTrans, -1, e.t.At(r, c), vec(e.z[c*dense.Tile:][:dense.Tile]), 1, vec(y))
		}
		blas64.Trsv(blas.NoTrans, lowerOf(e.t.At(r, r)), vec(y))
		part := blas64.Dot(vec(y), vec(y))
		if r*dense.Tile >= e.negative {
			part = -part
		}
		d += part
	}
	return d
}

// backward is the relative residual that a factorisation may leave, with a margin
// over the rounding of some thousands of operations.
const backward = 1e-11

func (e *spectralExact) measure() (form, extra float64) { return e.form, e.extra }

// sumRounding is what sums over the data err by, relative to the root of the sum
// of the squares of their terms, and measured: featureTolerance is never used up.
const sumRounding = 4e-16

// uncertainty bounds what yᵀA⁻¹y errs by beyond a relative error of A. With
// a = σ⁻²Dh, the coefficients of the posterior mean,
//
//	yᵀA⁻¹y = σ⁻²(yᵀy − 2aᵀΦᵀy + aᵀ(ΦᵀΦ + σ²C⁻¹)a)
//
// is stationary in a: what counts is the rounding of yᵀy, Φᵀy and ΦᵀΦ. What the
// series leaves out, ΔK, changes it by αᵀΔKα, α = A⁻¹y: with the features beyond
// those kept, where Φᵀα = σ⁻²(Φᵀy − ΦᵀΦa) is known, Σ c_m·|α̂_m|². The value errs by
// half of that; the other half is for the derivatives, which err by more.
func (e *spectralExact) uncertainty(noise float64) float64 {
	n := float64(len(e.line.t))
	var sum float64
	e.coef = resize(e.coef, len(e.features))
	for i, root := range e.root {
		e.coef[i] = root * e.h[i] / noise
		sum += math.Abs(e.coef[i])
	}
	fitted := sum * math.Sqrt(n)
	size := math.Sqrt(e.yy) + fitted
	rounded := (8*0x1p-53*e.yy + sumRounding*size*size) / noise

	// The frequencies that are left out, one after another as far as there are
	// moments; the tail of the series beyond them at the most that any of these has.
	var left, most, tail float64
	kept := 0
	e.row = resize(e.row, len(e.features))
	row := blas64.General{Rows: 1, Cols: len(e.row), Stride: len(e.row), Data: e.row}
	for m, c := range e.series.c {
		if c == 0 {
			continue
		}
		if kept < len(e.leading) && e.leading[kept] == m {
			kept++
			continue
		}
		if m > e.m || m > e.probed {
			tail += math.Abs(c)
			continue
		}
		var power float64
		for _, f := range [...]fourier.Feature{fourier.Cos(m), fourier.Sin(m)} {
			e.moment.Gram(row, []fourier.Feature{f}, e.features)
			a := (e.phiY[f] - blas64.Dot(vec(e.row), vec(e.coef))) / noise
			power += a * a
		}
		left += math.Abs(c) * power
		most = max(most, power)
	}
	return rounded + left + tail*most
}

// prepare expands the kernel and makes sure of the sums that it needs.
func (e *spectralExact) prepare(k Kernel, eps float64) error {
	if e.series == nil || !e.series.covers(k, eps, true) {
		series, err := newCosineSeries(e.line.span, k, eps, true)
		if err != nil {
			return err
		}
		e.series, e.m = series, 0
		e.points = fourier.NewPoints(e.line.t, e.line.lo, series.period)
	}
	m, err := e.series.expand(k, eps)
	if err != nil {
		return err
	}
	if m > maxFeatures {
		return fmt.Errorf("gppl: %d frequencies for %v", m, k)
	}
	if m > e.m {
		e.m = m + m/8 + 8
		e.moment = e.points.Moments(2*e.m, featureTolerance)
		sums := newGeneral(2*(e.m+1), 1)
		e.points.Sums(sums, blas64.General{Rows: len(e.line.y), Cols: 1, Stride: 1, Data: e.line.y}, 0, featureTolerance)
		e.phiY = sums.Data
	}
	threshold := eps * variance(k) / float64(2*m+1)
	e.features, e.root, e.leading = e.features[:0], e.root[:0], e.leading[:0]
	e.probed = min(e.m, m+m/64+2)
	for j, c := range e.series.c[:m] {
		if math.Abs(c) > threshold {
			e.leading = append(e.leading, j)
		}
		if c > threshold {
			e.take(j, c)
		}
	}
	// The negative ones begin a block of their own, after features of weight
	// zero that fill the last.
	e.negative = dense.Tile * dense.Blocks(len(e.features))
	end := len(e.features)
	for j, c := range e.series.c[:m] {
		if c < -threshold {
			for len(e.features) < e.negative {
				e.features, e.root = append(e.features, fourier.Cos(0)), append(e.root, 0)
			}
			e.take(j, -c)
		}
	}
	if e.negative = min(e.negative, len(e.features)); len(e.features) == end {
		e.negative = end
	}
	return nil
}

// take adds the features of a frequency.
func (e *spectralExact) take(m int, weight float64) {
	root := math.Sqrt(weight)
	e.features, e.root = append(e.features, fourier.Cos(m)), append(e.root, root)
	if m > 0 {
		e.features, e.root = append(e.features, fourier.Sin(m)), append(e.root, root)
	}
}

// fill sets T and b.
func (e *spectralExact) fill(noise float64) {
	p := len(e.features)
	if e.t == nil || e.t.N() != p {
		e.t, e.inverse = dense.NewLower(p), nil
		e.b, e.h, e.diag = make([]float64, p), make([]float64, p), make([]float64, p)
	}
	e.t.EachTile(func(i, j int, t blas64.General) {
		r0, c0 := i*dense.Tile, j*dense.Tile
		e.moment.Gram(t, e.features[r0:r0+t.Rows], e.features[c0:c0+t.Cols])
		for a := range t.Rows {
			scale := e.root[r0+a] / noise
			row := t.Data[a*t.Stride:][:t.Cols]
			for b := range row {
				row[b] *= scale * e.root[c0+b]
			}
		}
	})
	for b := range dense.Blocks(p) {
		t, j := e.t.At(b, b), 1.0
		if b*dense.Tile >= e.negative {
			j = -1
		}
		for i := range t.Rows {
			t.Data[i*t.Stride+i] += j
		}
	}
	for i, f := range e.features {
		e.b[i] = e.root[i] * e.phiY[f]
	}
}

// diagonalOfInverse sets diag to that of T⁻¹ = L⁻ᵀJL⁻¹.
func (e *spectralExact) diagonalOfInverse() {
	if e.inverse == nil {
		e.inverse = dense.NewLower(e.t.N())
	}
	e.t.InvertL(e.inverse)
	clear(e.diag)
	nb := dense.Blocks(e.t.N())
	parallel.For(nb, func(j int) {
		d := e.diag[j*dense.Tile:][:dense.Width(e.t.N(), j)]
		for i := j; i < nb; i++ {
			sign := 1.0
			if i*dense.Tile >= e.negative {
				sign = -1
			}
			addSquares(d, sign, e.inverse.At(i, j))
		}
	})
}
