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
