// Package fourier computes trigonometric sums over scalar points, the one-time
// work of the spectral engine, and cosine series of even periodic functions.
//
// The sums of an n×k matrix W over points x of a circle of circumference P,
//
//	C[m][j] = Σ_i W[i][j]·cos 2πm(x_i−x₀)/P,   S[m][j] = Σ_i W[i][j]·sin 2πm(x_i−x₀)/P,
//
// are rows of one row-major matrix: for the frequencies m₀ ≤ m < m₁ it is 2(m₁−m₀)×k, with C[m] in row 2(m−m₀) and S[m] in the
// row after it. So row f belongs to [Feature] f + 2m₀, and higher frequencies are rows to append.
//
// No result depends on the number of processors.
package fourier

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

// lanes is the number of fixed shares of a loop over points, each with its own accumulators, added up in order.
const lanes = 16

// Points are n scalars as phases φ = (x−x₀)/P modulo 1.
type Points struct {
	// Ctx, unless nil, is checked in sums and transforms: once it has ended, they panic with a parallel.Stop.
	Ctx context.Context

	// φ = hi + lo, |hi| ≤ 1/2, to about twice the digits of a float64: the phase
	// at frequency m is mφ modulo 1, so that an error in φ counts m times.
	hi, lo []float64
}

// NewPoints returns the phases of the finite numbers x, in any order. x, origin and period are taken as exact.
func NewPoints(x []float64, origin, period float64) *Points {
	p := new(Points)
	p.Set(x, origin, period)
	return p
}

// Set makes p the points of NewPoints, and reuses the memory of p.
func (p *Points) Set(x []float64, origin, period float64) {
	if !(period > 0) || math.IsInf(period, 0) {
		panic(fmt.Sprintf("fourier: period %v", period))
	}
	p.hi, p.lo = slices.Grow(p.hi[:0], len(x))[:len(x)], slices.Grow(p.lo[:0], len(x))[:len(x)]
	for i, v := range x {
		p.hi[i], p.lo[i] = phase(v, origin, period)
	}
}

// phase returns (x − origin)/period modulo 1 as hi + lo.
func phase(x, origin, period float64) (hi, lo float64) {
	d := x - origin
	back := x - d
	rest := back - origin + (x - (d + back)) // x − origin = d + rest, exactly (Knuth)
	q := d / period
	return q - math.RoundToEven(q), (math.FMA(-q, period, d) + rest) / period
}

// N returns the number of points.
func (p *Points) N() int { return len(p.hi) }

// fused says whether the processor multiplies and adds in one instruction. WebAssembly does not: there math.FMA takes about fifty
// operations on integers, which was a third of the time of a page that computes with a quasi-periodic kernel.
const fused = runtime.GOARCH != "wasm"

// roundedOff returns m·x − a exactly, where a is m·x as rounded and m an integer below 2^25 (Veltkamp's division of x into
// halves).
func roundedOff(m, x, a float64) float64 {
	c := float64(x * (1<<27 + 1))
	hi := c - (c - x)
	return (float64(m*hi) - a) + float64(m*(x-hi))
}

// sincos returns sin and cos of 2πmφ_i within about 4e-16. m and the number of periods from the origin to x_i must be less than
// 2^25.
func (p *Points) sincos(i int, m float64) (sin, cos float64) {
	return math.Sincos(math.Pi * p.halfTurns(i, m))
}

// sincosOf sets sin and cos to the values of sincos for the points from, from+1, ….
func (p *Points) sincosOf(sin, cos []float64, from int, m float64) {
	for i := range sin {
		sin[i] = p.halfTurns(from+i, m)
	}
	vexp.SincosPi(sin, cos, sin)
}

// halfTurns returns 2mφ_i without whole turns.
func (p *Points) halfTurns(i int, m float64) float64 {
	a := float64(m * p.hi[i])
	var rest float64
	if fused {
		rest = math.FMA(m, p.hi[i], -a)
	} else {
		rest = roundedOff(m, p.hi[i], a)
	}
	rest += m * p.lo[i]
	const shift = 3 << 51 // a + shift is rounded to an integer
	a -= a + shift - shift
	return 2 * (a + rest)
}

// check panics unless w has a row per point and dst the shape 2M×k, M ≥ 0.
func (p *Points) check(dst, w blas64.General, m0 int) {
	if w.Rows != p.N() || dst.Cols != w.Cols || dst.Rows%2 != 0 || m0 < 0 {
		panic(fmt.Sprintf("fourier: %d points, %d×%d weights, %d×%d sums from frequency %d",
			p.N(), w.Rows, w.Cols, dst.Rows, dst.Cols, m0))
	}
}

// addTo adds src to dst.
func addTo(dst, src blas64.General) {
	for i := range dst.Rows {
		dense.Add(dst.Data[i*dst.Stride:][:dst.Cols], src.Data[i*src.Stride:][:dst.Cols])
	}
}

// anchorEvery is how many neighbouring frequencies share a sine and cosine: the others are one rotation away.
const anchorEvery = 8

// Run sets row a of cos to cos 2π(m₀+a)φ at the points from, from+1, …, and row a of sin to the sine of the same angles. Rows 0,
// anchorEvery, … are computed by sincos; each entry of the other rows is a complex product. Run returns its working memory of
// 2·anchorEvery·cos.Cols numbers: work, if that is large enough.
func (p *Points) Run(cos, sin blas64.General, from, m0 int, work []float64) []float64 {
	if cos.Rows != sin.Rows || cos.Cols != sin.Cols || m0 < 0 || from < 0 || from+cos.Cols > p.N() {
		panic(fmt.Sprintf("fourier: a run of %d and %d frequencies from %d, %d and %d of %d points from %d",
			cos.Rows, sin.Rows, m0, cos.Cols, sin.Cols, p.N(), from))
	}
	n := cos.Cols
	if len(work) < 2*anchorEvery*n {
		work = make([]float64, 2*anchorEvery*n)
	}
	for b := 1; b < min(anchorEvery, cos.Rows); b++ {
		c, s := work[2*b*n:][:n], work[(2*b+1)*n:][:n]
		p.sincosOf(s, c, from, float64(b))
	}
	for a := range cos.Rows {
		first, b := a-a%anchorEvery, a%anchorEvery
		c, s := cos.Data[a*cos.Stride:][:n], sin.Data[a*sin.Stride:][:n]
		if b == 0 {
			p.sincosOf(s, c, from, float64(m0+a))
			continue
		}
		c0, s0 := cos.Data[first*cos.Stride:][:n], sin.Data[first*sin.Stride:][:n]
		turnC, turnS := work[2*b*n:][:n], work[(2*b+1)*n:][:n]
		if !fused {
			for i, tc := range turnC {
				ts := turnS[i]
				c[i] = c0[i]*tc - s0[i]*ts
				s[i] = s0[i]*tc + c0[i]*ts
			}
			continue
		}
		for i, tc := range turnC {
			ts := turnS[i]
			c[i] = math.FMA(c0[i], tc, -(s0[i] * ts))
			s[i] = math.FMA(s0[i], tc, c0[i]*ts)
		}
	}
	return work
}
