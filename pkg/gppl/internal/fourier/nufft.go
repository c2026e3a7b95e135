package fourier

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

// floor is the smallest tolerance of NUFFT.
const floor = 1e-14

// NUFFT sets dst (2M×k) to the sums of w (n×k) at the frequencies m0 … m0+M−1, within tol·Σ_i|W_ij|. It takes 2nk flops for each
// grid point under a window, 12 to 16 points at tol = 1e-13, and k real FFTs of 4 to 16 times m0+M. Beside its operands it holds
// a grid for a panel of columns and 4 bytes a point.
//
// It is the type 1 transform of Barnett, Magland and af Klinteberg (2019): the weights are spread over a fine grid by a window
// ψ, and the transform of the grid is divided by ψ's; the error falls exponentially with the width of ψ. Nearly all of the
// cost is spreading, which does not depend on the frequencies. Weights stay real only on a grid that includes frequency 0, so
// further frequencies, from m0, cost as much as all of them anew.
func (p *Points) NUFFT(dst, w blas64.General, m0 int, tol float64) {
	p.check(dst, w, m0)
	k := w.Cols
	if w.Rows == 0 || k == 0 || dst.Rows == 0 {
		dense.Zero(dst)
		return
	}
	if inBands(p.N(), dst.Rows/2, tol) {
		p.bands(dst, w, m0, tol)
		return
	}
	g := newGrid(p.N(), k, m0+dst.Rows/2, tol)
	g.ctx = p.Ctx
	gain := g.gains(m0, m0+dst.Rows/2)
	order := g.sort(p)
	panels := (k + maxPanel - 1) / maxPanel
	panels = max(panels, min((k+7)/8, 1+g.size*k/maxGrid))
	width := ((k+panels-1)/panels + 7) &^ 7 // whole cache lines
	for j := 0; j < k; j += width {
		j1 := min(k, j+width)
		strips := g.spread(p, order, dense.Sub(w, 0, w.Rows, j, j1))
		g.transform(dense.Sub(dst, 0, dst.Rows, j, j1), strips, gain, m0)
	}
}

const (
	maxPanel = 192     // columns: the grid points of one point stay in cache
	maxGrid  = 1 << 23 // numbers in a panel's grid
)

// grid is a fine grid of size points on the circle, with a window over width of them: ψ(t) = exp(β(√(1−(2t/width)²) − 1)), |t|
// ≤ width/2.
type grid struct {
	ctx         context.Context
	size, width int
	beta        float64
	cost        float64 // estimated ns on one processor
}

// newGrid returns the cheapest grid for n points, k columns and the frequencies below m1. Finer grids need narrower windows,
// and larger FFTs.
func newGrid(n, k, m1 int, tol float64) grid {
	if !(tol >= floor) {
		panic(fmt.Sprintf("fourier: tolerance %v below %v", tol, floor))
	}
	best := grid{cost: math.Inf(1)}
	for over := 2; over <= 8; over++ {
		g := gridOf(m1, over, tol)
		g.cost = spreadCost(n, k, g.width) + fftCost(k, g.size)
		if g.cost < best.cost {
			best = g
		}
	}
	return best
}

// gridOf returns a grid with at least over points per half of the shortest wave, below frequency m1; σ is the actual number.
// The aliases that the window lets through were measured at random points: less than 6w·exp(−πw√(1−1/σ)) for w ≥ 4.
func gridOf(m1, over int, tol float64) grid {
	g := grid{size: Smooth(max(2*over*m1, 32))}
	sigma := float64(g.size) / float64(2*m1)
	rate := math.Pi * math.Sqrt(1-1/sigma)
	for g.width = 4; 6*float64(g.width)*math.Exp(-rate*float64(g.width)) > tol; {
		g.width++
	}
	g.beta = 0.97 * math.Pi * float64(g.width) * (1 - 1/(2*sigma))
	return g
}

// Smooth returns the least even 2^a·3^b·5^c ≥ n that gonum's FFT supports: a fast size.
func Smooth(n int) int {
	for n += n % 2; ; n += 2 {
		if count := factors(n); count > 0 && count <= mostFactors {
			return n
		}
	}
}

// mostFactors is one less than gonum's fftpack can store, so that twice the size fits too. One too many is an index out of
// range.
const mostFactors = 12

// factors returns the number of factors of 4, 2, 3 and 5, in this order, into which fftpack splits a size, 0 if there are
// others.
func factors(n int) (count int) {
	for _, f := range []int{4, 2, 3, 5} {
		for n%f == 0 {
			n /= f
			count++
		}
	}
	if n > 1 {
		return 0
	}
	return count
}

// locate returns the first of the grid points under the window around point i, and its distance from the start of the window,
// in (0, 1] up to rounding.
func (g *grid) locate(p *Points, i int) (first int, ahead float64) {
	return g.place(p.hi[i], p.lo[i])
}

// place is locate for the phase hi + lo. No product is fused with an addition, so every processor gives the same bits.
func (g *grid) place(hi, lo float64) (first int, ahead float64) {
	size := float64(g.size)
	a := float64(hi * size)
	rest := math.FMA(hi, size, -a) + float64(lo*size)
	c := math.Floor(a)
	u := a - c + rest
	if g.width%2 == 1 {
		if u -= 0.5; u < 0 {
			u++
			c--
		}
	}
	first = int(c) + 1 - g.width/2
	if first < 0 {
		first += g.size
	} else if first >= g.size {
		first -= g.size
	}
	return first, 1 - u
}

// sort returns the points in the order of their first grid points, stably.
func (g *grid) sort(p *Points) []int32 {
	n := p.N()
	order := make([]int32, n)
	if n < g.size/sparse {
		firsts := make([]int32, n)
		for i := range order {
			first, _ := g.locate(p, i)
			order[i], firsts[i] = int32(i), int32(first)
		}
		slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(firsts[i], firsts[j]) })
		return order
	}
	shares := max(1, min(lanes, n/4096, n/g.size))
	next := make([][]int32, shares)
	parallel.Within(g.ctx, shares, func(s int) {
		count := make([]int32, g.size)
		for i := n * s / shares; i < n*(s+1)/shares; i++ {
			first, _ := g.locate(p, i)
			count[first]++
		}
		next[s] = count
	})
	var at int32
	for cell := range g.size {
		for _, count := range next {
			at, count[cell] = at+count[cell], at
		}
	}
	parallel.Within(g.ctx, shares, func(s int) {
		for i := n * s / shares; i < n*(s+1)/shares; i++ {
			first, _ := g.locate(p, i)
			order[next[s][first]] = int32(i)
			next[s][first]++
		}
	})
	return order
}

// sparse is the number of grid points per point above which counting takes longer than sorting points.
const sparse = 64

// strip is the part of the grid that one run of sorted points touches, from grid point base on, possibly beyond the last one
// into the next round. It has its own memory, so runs do not interfere.
type strip struct {
	base int
	rows blas64.General
}

// spread adds W_i·ψ to the grid points around each point i. All strips together are a grid and width rows a run. Runs are short
// not only for balance: the rounding of a long sum of equal terms grows with its length.
func (g *grid) spread(p *Points, order []int32, w blas64.General) []strip {
	n := len(order)
	strips := make([]strip, max(1, min(lanes, n/128), n/1024))
	parallel.Within(g.ctx, len(strips), func(s int) {
		mine := order[n*s/len(strips) : n*(s+1)/len(strips)]
		base, _ := g.locate(p, int(mine[0]))
		last, _ := g.locate(p, int(mine[len(mine)-1]))
		rows := dense.New(last-base+g.width, w.Cols)
		strips[s] = strip{base, rows}

		const block = 16
		first, taps := make([]int, block), make([]float64, block*g.width)
		near := make([]float64, block*w.Cols)
		for len(mine) > 0 {
			points := mine[:min(block, len(mine))]
			mine = mine[len(points):]
			g.window(first, taps, p, points)
			// Copies of rows that lie apart wait for memory all at once. Ger depends on the previous one, and would wait for
			// each: this takes half the time at unsorted points.
			for q, i := range points {
				copy(near[q*w.Cols:][:w.Cols], w.Data[int(i)*w.Stride:])
			}
			for q := range points {
				tap, wi := taps[q*g.width:][:g.width], near[q*w.Cols:][:w.Cols]
				blas64.Ger(1, dense.Vec(tap), dense.Vec(wi), dense.Sub(rows, first[q]-base, first[q]-base+g.width, 0, w.Cols))
			}
		}
	})
	return strips
}

// window sets first[q] and taps[q·width:] to the grid points under the window around points[q] and its values there.
func (g *grid) window(first []int, taps []float64, p *Points, points []int32) {
	for q, i := range points {
		var ahead float64
		first[q], ahead = g.locate(p, int(i))
		g.exponents(taps[q*g.width:][:g.width], ahead)
	}
	taps = taps[:len(points)*g.width]
	vexp.Exp(taps, taps)
}

// exponents sets tap to log ψ at the grid points under a window that begins ahead of the first of them. No product is fused
// with an addition: see place.
func (g *grid) exponents(tap []float64, ahead float64) {
	t := -0.5 * float64(g.width)
	scale := 2 / float64(g.width)
	for c := range tap {
		z := (t + ahead) * scale
		z = float64(z * z)
		tap[c] = -g.beta * z / (1 + math.Sqrt(max(0, 1-z))) // β(√(1−z²) − 1)
		t++
	}
}

// gains returns 1/ψ̂(m) for m in [m0, m1), ψ̂(m) = ∫ψ(t)cos(2πmt/size)dt. With t = ½width·sin θ the integrand is analytic, and
// nearly zero at θ = ±π/2, so that the trapezoidal rule converges exponentially.
func (g *grid) gains(m0, m1 int) []float64 {
	nodes := 8 + g.width
	t, weight := make([]float64, nodes+1), make([]float64, nodes+1) // one more without weight, for an even count
	half := 0.5 * float64(g.width)
	step := 0.5 * math.Pi / float64(nodes)
	for q := range nodes {
		sin, cos := math.Sincos(step * float64(q))
		weight[q] = 2 * step * half * cos * math.Exp(g.beta*(cos-1))
		t[q] = 2 * math.Pi / float64(g.size) * half * sin
	}
	weight[0] *= 0.5
	gain := make([]float64, m1-m0)
	const block = anchorEvery
	parallel.Within(g.ctx, (len(gain)+block-1)/block, func(b int) {
		part := gain[b*block : min(len(gain), (b+1)*block)]
		for q := 0; q < nodes; q += 2 { // two chains of turns at once, since each waits for itself
			sin, cos := math.Sincos(float64(m0+b*block) * t[q])
			turnSin, turnCos := math.Sincos(t[q])
			sin2, cos2 := math.Sincos(float64(m0+b*block) * t[q+1])
			turnSin2, turnCos2 := math.Sincos(t[q+1])
			for m := range part {
				part[m] = part[m] + weight[q]*cos + weight[q+1]*cos2
				cos, sin = cos*turnCos-sin*turnSin, sin*turnCos+cos*turnSin
				cos2, sin2 = cos2*turnCos2-sin2*turnSin2, sin2*turnCos2+cos2*turnSin2
			}
		}
		for m, sum := range part {
			part[m] = 1 / sum
		}
	})
	return gain
}

// transform sets dst to the Fourier transform of the grid that strips make up, times gain, column by column.
func (g *grid) transform(dst blas64.General, strips []strip, gain []float64, m0 int) {
	line := 8 // columns that share cache lines
	if dst.Cols < 2*line {
		line = 1 // processors busy are worth more
	}
	parallel.Within(g.ctx, (dst.Cols+line-1)/line, func(b int) {
		t := transforms.Get().(*transformed)
		t.reset(g.size)
		for j := b * line; j < min(dst.Cols, (b+1)*line); j++ {
			clear(t.column)
			for _, s := range strips {
				at := s.base
				for r := range s.rows.Rows {
					t.column[at] += s.rows.Data[r*s.rows.Stride+j]
					if at++; at == g.size {
						at = 0
					}
				}
			}
			for i := range gain {
				dst.Data[2*i*dst.Stride+j], dst.Data[(2*i+1)*dst.Stride+j] = 0, 0
			}
			t.each(m0, m0+len(gain), func(m int, re, im float64) {
				i := m - m0
				if i%4096 == 0 {
					parallel.Look(g.ctx)
				}
				dst.Data[2*i*dst.Stride+j] += gain[i] * re
				dst.Data[(2*i+1)*dst.Stride+j] -= gain[i] * im
			})
		}
		transforms.Put(t)
	})
}

// transforms are kept for the next transform, which often has the same size: the tables of a large one take as long as the
// transform.
var transforms = sync.Pool{New: func() any { return new(transformed) }}

// transformed is the working memory of the transform of a column. A long column is transformed in parts; part r has every
// parts-th point from point r on. Parts fit into the caches, and take half the memory.
type transformed struct {
	parts        int
	fft          *fourier.FFT // transform of a part
	column, part []float64    // the same memory if there is one part
	coef         []complex128
}

// Columns of longColumn points or more are transformed in fewParts parts.
const longColumn, fewParts = 1 << 20, 4

// reset prepares t for a transform of size points.
func (t *transformed) reset(size int) {
	if len(t.column) == size {
		return
	}
	*t = transformed{parts: 1, column: make([]float64, size)}
	t.part = t.column
	if size >= longColumn && size%(2*fewParts) == 0 {
		t.parts, t.part = fewParts, make([]float64, size/fewParts)
	}
	t.fft, t.coef = fourier.NewFFT(len(t.part)), make([]complex128, len(t.part)/2+1)
}

// each calls add with the contribution of each part to the transform of the column at the frequencies from … to−1:
// exp(−2πi·rm/N)·Y_r(m mod N/R), where Y_r is the transform of part r, of N/R points.
func (t *transformed) each(from, to int, add func(m int, re, im float64)) {
	size, length := len(t.column), len(t.part)
	for r := range t.parts {
		if t.parts > 1 {
			for i := range t.part {
				t.part[i] = t.column[i*t.parts+r]
			}
		}
		t.fft.Coefficients(t.coef, t.part)
		turnSin, turnCos := math.Sincos(2 * math.Pi * float64(r) / float64(size))
		var sin, cos float64
		for m := from; m < to; m++ {
			if (m-from)%anchorEvery == 0 {
				sin, cos = math.Sincos(2 * math.Pi * float64(r*m%size) / float64(size))
			}
			at := m % length
			v := t.coef[min(at, length-at)]
			if 2*at > length {
				v = complex(real(v), -imag(v))
			}
			add(m, real(v)*cos+imag(v)*sin, imag(v)*cos-real(v)*sin)
			cos, sin = cos*turnCos-sin*turnSin, sin*turnCos+cos*turnSin
		}
	}
}

// Spread is NUFFT for points that come in parts, and whose weights the caller adds up on the fine grid itself: Taps returns
// the places and the values of the window, Sums transforms the resulting grid. Taps for a point depends on that point alone,
// and is the same on every processor. A Spread is immutable.
type Spread struct {
	grid
	origin, period float64
}

// spreadTolerance is below floor, because the caller may add without rounding.
const spreadTolerance = 1e-15

// NewSpread returns the plan for sums at frequencies below m1 of the circle that begins
// at origin, with over grid points to the shortest half wave.
func NewSpread(origin, period float64, m1, over int) *Spread {
	if !(period > 0) || m1 < 1 || over < 2 {
		panic(fmt.Sprintf("fourier: period %v, %d frequencies, %d points to half a wave", period, m1, over))
	}
	return &Spread{gridOf(m1, over, spreadTolerance), origin, period}
}

// Size returns the number of grid points on the circle.
func (s *Spread) Size() int { return s.size }

// Width returns the number of grid points under the window of a point.
func (s *Spread) Width() int { return s.width }

// First returns the first of the grid points under the window of x, in [0, Size).
func (s *Spread) First(x float64) int {
	first, _ := s.place(phase(x, s.origin, s.period))
	return first
}

// Taps sets first[i] to First(x[i]), and taps[i·Width:] to the values of the window, in
// (0, 1], at that grid point and at those after it.
func (s *Spread) Taps(first []int, taps, x []float64) {
	first, taps = first[:len(x)], taps[:len(x)*s.width]
	for i, v := range x {
		at, ahead := s.place(phase(v, s.origin, s.period))
		first[i] = at
		s.exponents(taps[i*s.width:][:s.width], ahead)
	}
	vexp.Exp(taps, taps)
}

// Sums sets dst (2M) to the sums at the frequencies 0 … M−1, as Points.Sums orders them, of the weights on the grid: values[i]
// is Σ W_i·ψ at the grid point from + i, modulo Size. It takes an FFT.
func (s *Spread) Sums(dst []float64, from int, values []float64) {
	if len(dst)%2 != 0 || len(values) > s.size || len(dst) > s.size {
		panic(fmt.Sprintf("fourier: %d sums of %d values on a grid of %d", len(dst), len(values), s.size))
	}
	m := len(dst) / 2
	rows := blas64.General{Rows: len(values), Cols: 1, Stride: 1, Data: values}
	s.transform(blas64.General{Rows: len(dst), Cols: 1, Stride: 1, Data: dst}, []strip{{from, rows}}, s.gains(0, m), 0)
}

// Gain returns the factor from the sum of the values on the grid to the sum at frequency 0, without an FFT.
func (s *Spread) Gain() float64 { return s.gains(0, 1)[0] }
