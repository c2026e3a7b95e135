package fourier

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

// Many frequencies of few points to few digits are computed one band at a time: with weights turned to its middle c,
//
//	Σ_i W_i·exp(−2πi(c + f)φ_i) = Σ_i (W_i·exp(−2πi·cφ_i))·exp(−2πi·fφ_i),  −F ≤ f < F,
//
// so that one small grid and window serve all bands and their FFTs stay in the nearest caches. Powers of four can be transformed
// in place by gonum's radix-4 algorithm, in a third of the time of its FFT of any size; its turns are products of turns, which
// lose some digits.

const (
	// roughTolerance is the least tolerance for which bands suffice: with an exact window they erred by up to 4e-13 Σ_i|W_ij|,
	// for few points.
	roughTolerance = 1e-10
	// sparsely is the least number of frequencies per point for bands, because the points are spread anew for each band.
	sparsely = 8
	// leastBand and mostBand are the fewest and the most grid points of a band, powers of four. The most are a megabyte.
	leastBand, mostBand = 1 << 12, 1 << 16
)

// inBands reports whether the sums of n points at m frequencies are computed in bands.
func inBands(n, m int, tol float64) bool {
	return tol >= roughTolerance && m >= sparsely*n && m >= leastBand
}

// bandGrid returns the grid of bands, with two points per half of the shortest wave.
func bandGrid(n, m int, tol float64) (best grid) {
	const spread, level = 1.2, 1.5 // ns: per point and grid point under its window; per level of the FFT and grid point
	best.cost = math.Inf(1)
	for size := leastBand; size <= mostBand; size *= 4 {
		g := gridOf(size/4, 2, tol)
		bands := float64((m + size/2 - 1) / (size / 2))
		g.cost = bands * (float64(n*g.width)*spread + float64(size)*math.Log2(float64(size))*level)
		if g.cost < best.cost {
			best = g
		}
	}
	return best
}

// bands is NUFFT by bands: 4·nk·width operations and k complex FFTs for each.
func (p *Points) bands(dst, w blas64.General, m0 int, tol float64) {
	n, m, k := p.N(), dst.Rows/2, w.Cols
	g := bandGrid(n, m, tol)
	half := g.size / 4 // F
	gain := g.gains(0, half+1)
	first, taps := make([]int, n), make([]float64, n*g.width)
	for i := range first {
		var ahead float64
		first[i], ahead = g.locate(p, i)
		g.exponents(taps[i*g.width:][:g.width], ahead)
	}
	vexp.Exp(taps, taps)
	var buffers parallel.Pool[bandBuffer]
	parallel.Within(p.Ctx, (m+2*half-1)/(2*half), func(b int) {
		r := buffers.Get()
		r.values, r.sin, r.cos = dense.Resize(r.values, g.size), dense.Resize(r.sin, n), dense.Resize(r.cos, n)
		from := 2 * half * b // first frequency in dst
		p.sincosOf(r.sin, r.cos, 0, float64(m0+from+half))
		for j := range k {
			parallel.Look(p.Ctx)
			clear(r.values)
			for i, at := range first {
				v := w.Data[i*w.Stride+j]
				re, im := v*r.cos[i], -v*r.sin[i]
				for _, tap := range taps[i*g.width:][:g.width] {
					r.values[at] += complex(tap*re, tap*im)
					if at++; at == g.size {
						at = 0
					}
				}
			}
			fourier.CoefficientsRadix4(r.values)
			for i := from; i < min(from+2*half, m); i++ {
				f := i - from - half
				v, scale := r.values[(f+g.size)%g.size], gain[max(f, -f)]
				dst.Data[2*i*dst.Stride+j], dst.Data[(2*i+1)*dst.Stride+j] = scale*real(v), -scale*imag(v)
			}
		}
		buffers.Put(r)
	})
}

// bandBuffer is the working memory of a band.
type bandBuffer struct {
	values   []complex128
	sin, cos []float64
}
