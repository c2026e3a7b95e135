package fourier

import (
	"fmt"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

// Synthesise adds the waves of the coefficients to dst,
//
//	dst[i] += Σ_m cos[m]·cos 2πmφ_i + sin[m]·sin 2πmφ_i,  m = 0 … M−1,
//
// within tol·Σ_m(|cos[m]| + |sin[m]|): the transpose of NUFFT, with an FFT of some 4M to 16M numbers and 2·12 to 2·16 flops
// for each point. The result does not depend on the number of processors.
func (p *Points) Synthesise(dst, cos, sin []float64, tol float64) {
	if len(dst) != p.N() || len(cos) != len(sin) {
		panic(fmt.Sprintf("fourier: %d values of %d points, %d cosines and %d sines", len(dst), p.N(), len(cos), len(sin)))
	}
	if len(dst) == 0 || len(cos) == 0 {
		return
	}
	g := newGrid(p.N(), 1, len(cos), tol)
	g.ctx = p.Ctx
	gain := g.gains(0, len(cos))
	coef := make([]complex128, g.size/2+1)
	for m, v := range gain {
		coef[m] = complex(0.5*v*cos[m], -0.5*v*sin[m])
	}
	coef[0] *= 2
	parallel.Look(p.Ctx)
	values := fourier.NewFFT(g.size).Sequence(nil, coef)
	const batch = 256
	parallel.Within(p.Ctx, (len(dst)+batch-1)/batch, func(b int) {
		from, to := b*batch, min(len(dst), (b+1)*batch)
		taps := make([]float64, (to-from)*g.width)
		first := make([]int, to-from)
		for i := range first {
			at, ahead := g.locate(p, from+i)
			first[i] = at
			g.exponents(taps[i*g.width:][:g.width], ahead)
		}
		vexp.Exp(taps, taps)
		for i, at := range first {
			own := taps[i*g.width:][:g.width]
			if at+g.width <= g.size {
				dst[from+i] += floats.Dot(own, values[at:][:g.width])
				continue
			}
			var sum float64
			for j, w := range own {
				sum += w * values[(at+j)%g.size]
			}
			dst[from+i] += sum
		}
	})
}

// SynthesisSeconds estimates the time of Synthesise for m frequencies at n points, with twice the least grid, on one
// processor.
func SynthesisSeconds(n int, m, tol float64) float64 {
	g := gridOf(int(m), 2, tol)
	return 1e-9 * (spreadCost(n, 1, g.width) + fftCost(1, g.size))
}
