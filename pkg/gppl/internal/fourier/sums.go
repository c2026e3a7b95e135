package fourier

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Sums sets dst (2M×k) to the sums of w (n×k) at the frequencies m0 … m0+M−1, within tol·Σ_i|W_ij|, by the one of Direct and
// NUFFT with the lower estimate. The least tolerance is 1e-14; a smaller tol means 1e-14.
func (p *Points) Sums(dst, w blas64.General, m0 int, tol float64) {
	p.check(dst, w, m0)
	if tol = max(tol, floor); Predict(p.N(), w.Cols, m0, m0+dst.Rows/2, tol).NUFFT {
		p.NUFFT(dst, w, m0, tol)
	} else {
		p.Direct(dst, w, m0)
	}
}

// Prediction is the estimated cost of the sums of n points and k columns.
type Prediction struct {
	NUFFT   bool    // computed by NUFFT, otherwise by Direct
	Seconds float64 // seconds on one processor
}

// Predict estimates what Sums would take at the frequencies m0 ≤ m < m1.
func Predict(n, k, m0, m1 int, tol float64) Prediction {
	direct := directCost(n, k, m1-m0)
	if n == 0 || k == 0 || m1 <= m0 {
		return Prediction{}
	}
	if g := newGrid(n, k, m1, max(tol, floor)); g.cost < direct {
		return Prediction{true, 1e-9 * g.cost}
	}
	return Prediction{false, 1e-9 * direct}
}

// Costs in ns on one processor, measured on a 2.6 GHz Xeon (BenchmarkSums). They
// leave out how many processors there are, which must not change a result.
func directCost(n, k, m int) float64 {
	table, multiply := 3.5, 0.36
	if dense.Tile > 64 { // OpenBLAS
		multiply /= 4
	}
	return float64(n) * float64(m) * (table + multiply*float64(k))
}

func spreadCost(n, k, width int) float64 {
	const sort, call, window, multiply = 10, 25, 5, 0.14
	return float64(n) * (sort + call + float64(width)*(window+multiply*float64(k)))
}

func fftCost(k, size int) float64 {
	const plan, column, level = 40, 5, 1
	return float64(size) * (plan + (column+level*math.Log2(float64(size)))*float64(k))
}

// Features sets row i of dst to the given features at point from+i: a block of rows of Φ. It takes a sine and cosine per
// frequency; a sine next to the cosine of its frequency shares them.
func (p *Points) Features(dst blas64.General, from int, features []Feature) {
	if dst.Cols != len(features) || from < 0 || from+dst.Rows > p.N() {
		panic(fmt.Sprintf("fourier: a %d×%d block from %d for %d features of %d points",
			dst.Rows, dst.Cols, from, len(features), p.N()))
	}
	for i := range dst.Rows {
		p.features(dst.Data[i*dst.Stride:][:dst.Cols], from+i, features)
	}
}

// features sets row to the given features at point i.
func (p *Points) features(row []float64, i int, features []Feature) {
	last, sin, cos := -1, 0.0, 0.0
	for j, f := range features {
		if m := f.Frequency(); m != last {
			sin, cos = p.sincos(i, float64(m))
			last = m
		}
		if row[j] = cos; f.IsSin() {
			row[j] = sin
		}
	}
}

// FeatureRows sets row a of dst to feature a at the points from, from+1, …: a block of columns of Φᵀ. A sine next to the
// cosine of its frequency shares its work.
func (p *Points) FeatureRows(dst blas64.General, from int, features []Feature) {
	if dst.Rows != len(features) || from < 0 || from+dst.Cols > p.N() {
		panic(fmt.Sprintf("fourier: a %d×%d block from %d for %d features of %d points",
			dst.Rows, dst.Cols, from, len(features), p.N()))
	}
	for a := 0; a < len(features); a++ {
		f, row := features[a], dst.Data[a*dst.Stride:][:dst.Cols]
		m := float64(f.Frequency())
		if !f.IsSin() && a+1 < len(features) && features[a+1] == f+1 {
			a++
			next := dst.Data[a*dst.Stride:][:dst.Cols]
			p.sincosOf(next, row, from, m)
			continue
		}
		for i := range row {
			sin, cos := p.sincos(from+i, m)
			if row[i] = cos; f.IsSin() {
				row[i] = sin
			}
		}
	}
}

const (
	freqs  = dense.Tile / 2  // frequencies of a block: a tile of features
	points = dense.Tile      // points of a block
	chain  = 64 * dense.Tile // points added up before their sum joins the others
)

// Direct sets dst (2M×k) to the sums of w (n×k) at the frequencies m0 … m0+M−1, in 4nMk flops of matrix products and O(k)
// memory beside its operands. The error is at most 1e-14·Σ_i|W_ij|.
func (p *Points) Direct(dst, w blas64.General, m0 int) {
	p.check(dst, w, m0)
	n, k, m := w.Rows, w.Cols, dst.Rows/2
	dense.Zero(dst)
	if n == 0 || k == 0 || m == 0 {
		return
	}
	// A block of frequencies is a task. Where they are few, the points are cut into shares as well.
	blocks, chains := (m+freqs-1)/freqs, (n+chain-1)/chain
	shares := min(chains, (lanes+blocks-1)/blocks)
	others := dense.New((shares-1)*dst.Rows, k)
	parallel.Within(p.Ctx, blocks*shares, func(task int) {
		b, s := task%blocks, task/blocks
		first, last := b*freqs, min(m, (b+1)*freqs)
		sum := dense.Sub(dst, 2*first, 2*last, 0, k)
		if s > 0 {
			sum = dense.Sub(others, (s-1)*dst.Rows+2*first, (s-1)*dst.Rows+2*last, 0, k)
		}
		t := newTable(last-first, k)
		for c := chains * s / shares; c < chains*(s+1)/shares; c++ {
			t.accumulate(sum, p, w, c*chain, min(n, (c+1)*chain), m0+first)
		}
	})
	for s := range shares - 1 {
		addTo(dst, dense.Sub(others, s*dst.Rows, (s+1)*dst.Rows, 0, k))
	}
}

// table is the working memory of a task: the features of a block of frequencies at a block of points.
type table struct {
	features blas64.General // 2·freqs×points, cos and sin by turns
	cos, sin []float64      // for the step between frequencies
	sum      blas64.General // 2·freqs×k
	wt       blas64.General // k×points: Wᵀ, for few columns
}

// fewColumns is the largest number of columns for which transposing W pays: Gemm then takes dot products along the points
// instead of adding up rows of W.
const fewColumns = 64

func newTable(m, k int) *table {
	t := &table{
		features: dense.New(2*m, points),
		cos:      make([]float64, points), sin: make([]float64, points),
		sum: dense.New(2*m, k),
	}
	if k <= fewColumns {
		t.wt = dense.New(k, points)
	}
	return t
}

// accumulate adds to dst the sums over points [from, to) at frequencies from m.
func (t *table) accumulate(dst blas64.General, p *Points, w blas64.General, from, to, m int) {
	clear(t.sum.Data)
	k := w.Cols
	for ; from < to; from += points {
		n := min(points, to-from)
		t.fill(p, from, n, m)
		features, wb := dense.Sub(t.features, 0, t.features.Rows, 0, n), dense.Sub(w, from, from+n, 0, k)
		if k > fewColumns {
			dense.Gemm(blas.NoTrans, blas.NoTrans, 1, features, wb, 1, t.sum)
			continue
		}
		wt := dense.Sub(t.wt, 0, k, 0, n)
		for i := range n {
			for j, v := range wb.Data[i*wb.Stride:][:k] {
				wt.Data[j*wt.Stride+i] = v
			}
		}
		dense.Gemm(blas.NoTrans, blas.Trans, 1, features, wt, 1, t.sum)
	}
	addTo(dst, t.sum)
}

// fill sets the features of points [from, from+n) at frequencies m, m+1, …: e^{i(f+s)φ} = e^{ifφ}·e^{isφ}, s = 1, 2, 4, …, so
// that no entry is more than log₂ freqs products away from math.Sincos.
func (t *table) fill(p *Points, from, n, m int) {
	row := func(r int) []float64 { return t.features.Data[r*points:][:n] }
	c0, s0 := row(0), row(1)
	p.sincosOf(s0, c0, from, float64(m))
	cos, sin := t.cos[:n], t.sin[:n]
	rows := t.features.Rows
	for step := 2; step < rows; step *= 2 { // step is in rows
		p.sincosOf(sin, cos, from, float64(step/2))
		for r := step; r < min(2*step, rows); r += 2 {
			turnBy(row(r), row(r+1), row(r-step), row(r-step+1), cos, sin)
		}
	}
}

// turnBy sets c + is = (a + ib)(cos + i·sin).
func turnBy(c, s, a, b, cos, sin []float64) {
	s, a, b, cos, sin = s[:len(c)], a[:len(c)], b[:len(c)], cos[:len(c)], sin[:len(c)]
	for i := range c {
		c[i] = a[i]*cos[i] - b[i]*sin[i]
		s[i] = b[i]*cos[i] + a[i]*sin[i]
	}
}

// Rounding is the measured error of sums over points at a tolerance of 1e-15, relative to the root of the sum of the squares
// of their terms.
const Rounding = 4e-16

// RoundedForm bounds the effect of the rounding of sums over points on yᵀA⁻¹y, A ≥ σ²I, given yᵀy and the size of the fit to y.
func RoundedForm(yy, fitted, noise float64) float64 {
	size := math.Sqrt(yy) + fitted
	return (8*0x1p-53*yy + Rounding*size*size) / noise
}

// Tolerance is the tolerance of the one-time sums over the data, relative to the sum of the absolute values of their terms.
// The actual error is smaller (Rounding).
const Tolerance = 1e-15
