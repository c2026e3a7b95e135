package gppl

import (
	"fmt"
	"math"
	"math/rand/v2"

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

// spectralProjected computes S₀ = Σ_m c_m(b_m b_mᵀ + s_m s_mᵀ), where b_m = Ωᵀcos
// and s_m = Ωᵀsin of the mth frequency are computed once: by sums over the data, or
// from moments where the directions are waves. With M frequencies an
// evaluation takes 8Mk² flops, whatever n is, half of them for the gradient.
type spectralProjected struct {
	x      Inputs
	span   float64
	lo     float64
	n, k   int
	dirs   directions
	waves  *waveMoments // with directions by waves
	step   int          // frequency 1 of the series, in waves of the circle of waves
	nats   float64      // the tolerance, for all projections together
	split  split
	series *cosineSeries
	points *fourier.Points
	m      int            // frequencies that are computed
	feat   blas64.General // 2m×k: b_0, s_0, b_1, s_1, …

	kept []int // frequencies with weight
	a, b blas64.General
	part []blas64.General // per share of the rows: k×k
	q    []float64
	u    blas64.General
	v    blas64.General
	last int // frequencies up to the last that is kept

	probe  []float64
	probed int // of the frequencies left out, those below are what leftOut looks at

	product, quadratic func(int) // the loops that run in parallel, made once
}

func newSpectralProjected(x Inputs, l *line, d directions, w *waveMoments, tolerance float64) *spectralProjected {
	e := &spectralProjected{x: x, lo: l.lo, span: l.span, n: d.n, k: d.k, dirs: d, waves: w, nats: tolerance * float64(d.k)}
	e.product, e.quadratic = e.productShare, e.quadraticShare
	for range shares {
		e.part = append(e.part, newGeneral(d.k, d.k))
	}
	return e
}

func (e *spectralProjected) name() string { return EngineSpectral }

// spectralEps is what the coefficients that are left out may sum to, relative
// to the variance: their part of S₀ has a trace of at most n·eps·v, which
// changes PL by at most that over σ².
func spectralEps(nats, n, v, noise float64) float64 {
	return min(1e-11, max(2e-15, 0.3*nats*noise/(n*v)))
}

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

func (e *spectralProjected) forecast(k Kernel, noise float64) forecast {
	if !e.split.of(k) {
		return cannot(noSignal)
	}
	n, kk := float64(e.x.Len()), float64(e.k)
	v := variance(k)
	eps := spectralEps(e.nats, n, v, noise)
	m, _, why := forecastSpectral(k, e.span, eps, false)
	if why != (reason{}) {
		return forecast{reason: why}
	}
	if bytes := 16 * 3 * m * kk; bytes > maxMemory {
		return tooLarge(bytes)
	}
	f := forecast{
		seconds: 8*m*kk*kk/(2*flopRate) + m*100e-9,
		err:     n*eps*v/noise + kk*gramRounding(v*n, noise),
	}
	if int(m) > e.m || e.series == nil {
		f.setup = e.forecastFeatures(k, eps, m)
	}
	return f
}

func (e *spectralProjected) gram(s []float64, k Kernel, noise float64, derivatives bool) error {
	v := variance(k)
	eps := spectralEps(e.nats, float64(e.x.Len()), v, noise)
	if e.series == nil || !e.series.covers(k, eps, false) {
		if err := e.newSeries(k, eps); err != nil {
			return err
		}
	}
	m, err := e.series.expand(k, eps)
	if err != nil {
		return err
	}
	if m > maxFeatures {
		return fmt.Errorf("gppl: %d frequencies for %v", m, k)
	}
	e.grow(m)
	e.probed = min(e.m, m+m/64+2)
	e.keep(m, eps*v/float64(2*m+1))
	e.weigh()
	e.multiply(s)
	tampered("projected gram", s)
	if derivatives {
		return e.verifyGram(s)
	}
	return nil
}

// newSeries begins a series, on the circle of the waves if there are any.
func (e *spectralProjected) newSeries(k Kernel, eps float64) (err error) {
	e.m = 0
	if e.dirs.waves == nil {
		if e.series, err = newCosineSeries(e.span, k, eps, false); err == nil {
			e.points = fourier.NewPoints(e.x.at, e.lo, e.series.period)
		}
		return err
	}
	step, period, windowed, err := wavePeriod(e.span, k, eps)
	if err == nil {
		e.series, e.step = newCosineSeriesOf(e.span, period, windowed, k, eps), step
	}
	return err
}

// forecastFeatures returns the seconds that the features up to frequency m of the
// series for k may take.
func (e *spectralProjected) forecastFeatures(k Kernel, eps, m float64) float64 {
	kk := float64(e.k)
	if e.dirs.waves == nil {
		return fourier.Predict(e.n, e.k, e.m, int(m)+1, featureTolerance).Seconds / 2
	}
	step, _, _, err := wavePeriod(e.span, k, eps)
	if err != nil {
		return 0
	}
	return e.waves.seconds(step*int(m)) + m*kk*(kk/flopRate+2e-9)
}

// verifyGram compares zᵀS₀z with Σ_m c_m((b_mᵀz)² + (s_mᵀz)²) for one z of ±1.
func (e *spectralProjected) verifyGram(s []float64) error {
	k := e.k
	if e.probe == nil {
		e.probe = make([]float64, k)
		rnd := rand.New(rand.NewPCG(uint64(k), 4))
		for i := range e.probe {
			e.probe[i] = float64(2*rnd.IntN(2) - 1)
		}
	}
	var got, want, scale float64
	for i, z := range e.probe {
		got += z * blas64.Dot(vec(s[i*k:][:k]), vec(e.probe))
	}
	for _, m := range e.kept {
		b := blas64.Dot(vec(e.feat.Data[2*m*k:][:k]), vec(e.probe))
		sine := blas64.Dot(vec(e.feat.Data[(2*m+1)*k:][:k]), vec(e.probe))
		part := e.series.c[m] * (b*b + sine*sine)
		want += part
		scale += math.Abs(part)
	}
	for i := range e.probe {
		scale += float64(k) * math.Abs(s[i*(k+1)])
	}
	return verify("a projected covariance", got, want, backward*scale)
}

// grow computes features up to frequency m, and some more to spare.
func (e *spectralProjected) grow(m int) {
	if m <= e.m {
		return
	}
	m += m/8 + 8
	k := e.k
	feat := newGeneral(2*m, k)
	copy(feat.Data, e.feat.Data[:2*e.m*k])
	more := feat
	more.Rows, more.Data = 2*(m-e.m), feat.Data[2*e.m*k:]
	if e.dirs.waves != nil {
		e.waves.product(more, e.step, e.m)
	} else {
		e.points.Sums(more, e.dirs.matrix(), e.m, featureTolerance)
	}
	e.m, e.feat = m, feat
}

// keep lists the frequencies whose weight is above the threshold: few of them
// for a periodic kernel.
func (e *spectralProjected) keep(m int, threshold float64) {
	e.kept = e.kept[:0]
	for j, c := range e.series.c[:m] {
		if math.Abs(c) > threshold {
			e.kept = append(e.kept, j)
		}
	}
}

// weigh sets a to the kept features, each times the root of its weight, and b
// to the same with the sign of the weight.
func (e *spectralProjected) weigh() {
	k := e.k
	rows := 2 * len(e.kept)
	e.a = resizeGeneral(e.a, rows, k)
	negative := false
	for i, m := range e.kept {
		c := e.series.c[m]
		negative = negative || c < 0
		root := math.Sqrt(math.Abs(c))
		src, dst := e.feat.Data[2*m*k:2*(m+1)*k], e.a.Data[2*i*k:2*(i+1)*k]
		for j, f := range src {
			dst[j] = root * f
		}
	}
	e.b.Rows, e.b.Cols, e.b.Stride = e.a.Rows, e.a.Cols, e.a.Stride
	if !negative {
		e.b = e.a
		return
	}
	b := newGeneral(rows, k) // rare: a window on a kernel that does not die out
	copy(b.Data, e.a.Data)
	for i, m := range e.kept {
		if e.series.c[m] < 0 {
			blas64.Scal(-1, vec(b.Data[2*i*k:2*(i+1)*k]))
		}
	}
	e.b = b
}

// leftOut returns βᵀΔS₀β = Σ c_m((b_mᵀβ)² + (s_mᵀβ)²) over the frequencies that
// are left out, those whose features are not computed at the most that any has.
func (e *spectralProjected) leftOut(beta []float64) float64 {
	k := e.k
	var left, most, tail float64
	kept := 0
	for m, c := range e.series.c {
		switch {
		case kept < len(e.kept) && e.kept[kept] == m:
			kept++
		case m >= e.probed:
			tail += math.Abs(c)
		case c != 0:
			b := blas64.Dot(vec(e.feat.Data[2*m*k:][:k]), vec(beta))
			s := blas64.Dot(vec(e.feat.Data[(2*m+1)*k:][:k]), vec(beta))
			left += math.Abs(c) * (b*b + s*s)
			most = max(most, b*b+s*s)
		}
	}
	return left + tail*most
}

func resizeGeneral(a blas64.General, r, c int) blas64.General {
	if cap(a.Data) < r*c {
		return newGeneral(r, c)
	}
	return blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: a.Data[:r*c]}
}

// shares is the number of parts that the rows of features are cut into.
const shares = 4

func share(rows, c int) (from, to int) { return rows * c / shares, rows * (c + 1) / shares }

// multiply sets s = aᵀb, symmetric, in 2·rows·k² flops, a half of which is
// saved by symmetry but for the tiles on the diagonal.
func (e *spectralProjected) multiply(s []float64) {
	k := e.k
	parallel.For(shares, e.product)
	for i := range k {
		for j := range i + 1 {
			var v float64
			for _, p := range e.part {
				v += p.Data[i*k+j]
			}
			s[i*k+j], s[j*k+i] = v, v
		}
	}
}

// productShare multiplies a share of the rows.
func (e *spectralProjected) productShare(c int) {
	k := e.k
	from, to := share(e.a.Rows, c)
	part := e.part[c]
	if from == to {
		clear(part.Data)
		return
	}
	for i := range dense.Blocks(k) {
		for j := range i + 1 {
			a, b, t := between(e.a, from, to, i), between(e.b, from, to, j), part
			t.Rows, t.Cols = a.Cols, b.Cols
			t.Data = t.Data[i*dense.Tile*k+j*dense.Tile:]
			blas64.Gemm(blas.Trans, blas.NoTrans, 1, a, b, 0, t)
		}
	}
}

// between returns block b of the columns of a, in rows from … to−1.
func between(a blas64.General, from, to, b int) blas64.General {
	a.Rows = to - from
	a.Data = a.Data[from*a.Stride+b*dense.Tile:]
	a.Cols = dense.Width(a.Cols, b)
	return a
}

// contract uses ∂S₀ = Σ_m ∂c_m(…): with q_m = b_mᵀVb_m + s_mᵀVs_m the gradient is
// Σ_m q_m ∂c_m.
func (e *spectralProjected) contract(grad, v []float64, kernel Kernel) {
	k := e.k
	e.q = resize(e.q, len(e.series.c))
	clear(e.q)
	e.u = resizeGeneral(e.u, 2*e.m, k)
	e.v = blas64.General{Rows: k, Cols: k, Stride: k, Data: v}
	e.last = 0
	if len(e.kept) > 0 {
		e.last = e.kept[len(e.kept)-1] + 1
	}
	parallel.For(shares, e.quadratic)
	tampered("projected q", e.q[:e.last])
	e.series.contract(grad, e.q[:e.last], kernel)
}

// verified checks the last contract.
func (e *spectralProjected) verified() error { return e.series.verified() }

// quadraticShare computes q for a share of the frequencies: all up to the last
// where most are kept, else one by one.
func (e *spectralProjected) quadraticShare(c int) {
	if 2*len(e.kept) > e.last {
		e.quadraticForms(share(e.last, c))
		return
	}
	from, to := share(len(e.kept), c)
	for _, m := range e.kept[from:to] {
		e.quadraticForms(m, m+1)
	}
}

// quadraticForms sets q_m for m0 ≤ m < m1.
func (e *spectralProjected) quadraticForms(m0, m1 int) {
	if m0 == m1 {
		return
	}
	k := e.k
	f, u := e.feat, e.u
	f.Rows, f.Data = 2*(m1-m0), f.Data[2*m0*k:]
	u.Rows, u.Data = f.Rows, u.Data[2*m0*k:]
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, f, e.v, 0, u)
	for m := m0; m < m1; m++ {
		r := 2 * (m - m0) * k
		e.q[m] = blas64.Dot(vec(f.Data[r:r+2*k]), vec(u.Data[r:r+2*k]))
	}
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
	data      observed
	line      *line // of the data, nil if only sums are known
	n         int
	lo, span  float64
	origin    float64 // of the circle
	tolerance float64 // nats per observation
	tight     bool    // for a posterior: as exact as a few frequencies more make it

	split  split
	series *cosineSeries
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

func newSpectralExact(d observed, o options) *spectralExact {
	e := &spectralExact{data: d, n: d.count(), tolerance: o.tolerance, tight: o.posterior, yy: d.squares()}
	e.lo, e.span = d.extent()
	e.line, _ = d.(*line)
	return e
}

func (e *spectralExact) name() string { return EngineSpectral }

// eps is what the coefficients that are left out may sum to, relative to the
// variance: 0.3·σ²/v times the tolerance keeps the value within it, and far within
// in practice. Where less takes few frequencies, as for a Gaussian spectrum, the
// gradient near an optimum is worth them, and a posterior the more.
func (e *spectralExact) eps(k Kernel, noise float64) float64 {
	least := 1e-14
	if c, ok := e.data.circle(); ok {
		least = c.least(e.span, k)
	}
	if e.tight && bandwidth(k, least)*e.span < 600 {
		return least
	}
	loose := 0.3 * e.tolerance * noise / variance(k)
	if tight := loose / 150; bandwidth(k, tight)*e.span < 300 {
		loose = tight
	}
	return min(0.01*e.tolerance, max(least, loose))
}

func (e *spectralExact) forecast(k Kernel, noise float64) forecast {
	if !e.split.of(k) {
		return cannot(noSignal)
	}
	n, v := float64(e.n), variance(k)
	eps := e.eps(k, noise)
	m, windowed, why := e.frequencies(k, eps)
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
	n, p := float64(e.n), len(e.features)
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
	value = 0.5 * (e.form + n*(math.Log(noise)+log2Pi) + e.t.LogDet() - e.data.logWeights())
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
	n := e.moment[0] // or the sum of weights
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
	n := e.moment[0] // or the sum of weights
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

// frequencies returns the number to expect, or why there are too many.
func (e *spectralExact) frequencies(k Kernel, eps float64) (m float64, windowed bool, why reason) {
	if c, ok := e.data.circle(); ok {
		return c.frequencies(e.span, k, eps)
	}
	return forecastSpectral(k, e.span, eps, true)
}

// newSeries makes sure of a series that suits k.
func (e *spectralExact) newSeries(k Kernel, eps float64) (err error) {
	if c, ok := e.data.circle(); ok {
		_, windowed, _ := c.frequencies(e.span, k, eps)
		if e.series == nil || windowed != (e.series.window != nil) {
			e.series, e.origin = newCosineSeriesOf(e.span, c.period, windowed, k, eps), c.origin
		}
		return nil
	}
	if e.series == nil || !e.series.covers(k, eps, true) {
		e.origin, e.m = e.lo, 0
		e.series, err = newCosineSeries(e.span, k, eps, true)
	}
	return err
}

// prepare expands the kernel and makes sure of the sums that it needs.
func (e *spectralExact) prepare(k Kernel, eps float64) error {
	if err := e.newSeries(k, eps); err != nil {
		return err
	}
	m, err := e.series.expand(k, eps)
	if err != nil {
		return err
	}
	if m > maxFeatures {
		return fmt.Errorf("gppl: %d frequencies for %v", m, k)
	}
	if m > e.m {
		if e.m = m + m/8 + 8; e.line == nil {
			c, _ := e.data.circle()
			if e.m = c.highest; m > e.m {
				return &Refusal{EngineSpectral, reason{c.beyond, float64(m) / c.period}.String()}
			}
		}
		e.moment, e.phiY = e.data.sums(e.origin, e.series.period, e.m)
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
