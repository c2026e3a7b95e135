package statespace

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Draw adds a draw of hᵀx, the process of the blocks, at the ascending inputs t to dst. The state goes from input to input,
//
//	x(t_i) = Φ·x(t_{i−1}) + L·ξ_i,  LLᵀ = Q,  ξ_i ~ N(0, I),
//
// so the covariance is the blocks' up to rounding, however near or far the inputs are; coinciding inputs have the same value.
// It takes O(n·d²) for each process of d numbers, and O(n·d³) where the gaps differ.
func Draw(ctx context.Context, dst, t []float64, blocks []Block, rnd *rand.Rand) error {
	if err := checkBlocks(blocks); err != nil {
		return err
	}
	checkSorted(t)
	for i := range blocks {
		b := &blocks[i]
		switch p, is := b.Process.(*Matern); {
		case is && b.Weights == nil:
			p.draw(ctx, dst, t, math.Sqrt(b.Variance), rnd)
		default:
			b.draw(ctx, dst, t, rnd)
		}
	}
	return nil
}

// draw is Draw for one process without waves, from transitions computed for all inputs at once.
func (p *Matern) draw(ctx context.Context, dst, t []float64, scale float64, rnd *rand.Rand) {
	var s steps
	s.set(t, p.unit(), true)
	switch p.Order {
	case 0:
		var x float64
		for i, e := range s.e {
			if i%drawLook == 0 {
				parallel.Look(ctx)
			}
			x = e*x + math.Sqrt(s.g[i])*rnd.NormFloat64()
			dst[i] += scale * x
		}
	case 1:
		var x, y float64 // the value, and its driving component
		for i, e := range s.e {
			if i%drawLook == 0 {
				parallel.Look(ctx)
			}
			a, g := s.a[i], s.g[i]
			x, y = e*(x+a*y), e*y
			if g > 0 {
				g1, g0 := noise2(a, e*e, g)
				root := math.Sqrt(g)
				cross := g1 / root
				u := rnd.NormFloat64()
				x += root * u
				y += cross*u + math.Sqrt(max(0, 2*g0-cross*cross))*rnd.NormFloat64()
			}
			dst[i] += scale * x
		}
	default:
		var x, next, l [9]float64
		var phi, q [9]float64
		for i, e := range s.e {
			if i%drawLook == 0 {
				parallel.Look(ctx)
			}
			p.unit().transition(phi[:], q[:], s.a[i], e, s.g[i])
			choleskyRoot(l[:], q[:], 3)
			u, v, w := rnd.NormFloat64(), rnd.NormFloat64(), rnd.NormFloat64()
			next[0] = phi[0]*x[0] + phi[1]*x[1] + phi[2]*x[2] + l[0]*u
			next[1] = phi[4]*x[1] + phi[5]*x[2] + l[3]*u + l[4]*v
			next[2] = phi[8]*x[2] + l[6]*u + l[7]*v + l[8]*w
			x = next
			dst[i] += scale * x[0]
		}
	}
}

// drawLook is the number of inputs drawn between two checks of the context, some 0.1 ms.
const drawLook = 1024

// draw is Draw for one block.
func (b *Block) draw(ctx context.Context, dst, t []float64, rnd *rand.Rand) {
	d := b.Process.Dim()
	waves, amplitude := b.amplitudes()
	buffer := make([]float64, 3*d*d+(len(waves)+1)*d)
	phi, noise, l := buffer[:d*d], buffer[d*d:2*d*d], buffer[2*d*d:3*d*d]
	next, x := buffer[3*d*d:][:d], buffer[3*d*d+d:]
	known, before := math.NaN(), math.Inf(-1)
	for i, at := range t {
		if i%16 == 0 {
			parallel.Look(ctx)
		}
		if gap := at - before; gap != known {
			b.Process.Transition(phi, noise, gap)
			choleskyRoot(l, noise, d)
			known = gap
		}
		before = at
		sin, cos := 0.0, 1.0
		for j, m := range waves {
			s := x[j*d:][:d]
			advanceDraw(next, s, phi, l, d, rnd)
			copy(s, next)
			switch {
			case m < 0:
				dst[i] += amplitude[j] * s[0]
			case j == 0 || waves[j-1] != m:
				sin, cos = math.Sincos(2 * math.Pi * math.Mod(float64(m)*math.Mod((at-t[0])/b.Period, 1), 1))
				dst[i] += amplitude[j] * cos * s[0]
			default:
				dst[i] += amplitude[j] * sin * s[0]
			}
		}
	}
}

// amplitudes returns a state for each process of the block, with its scale and its wave m, −1 for none, cosines before sines.
func (b *Block) amplitudes() (waves []int, scale []float64) {
	if b.Weights == nil {
		return []int{-1}, []float64{math.Sqrt(b.Variance)}
	}
	for j, c := range b.Weights {
		m, of := b.First+j, math.Sqrt(b.Variance*c)
		if of == 0 {
			continue
		}
		waves, scale = append(waves, m), append(scale, of)
		if m > 0 {
			waves, scale = append(waves, m), append(scale, of)
		}
	}
	return waves, scale
}

// advanceDraw sets next to Φx + Lξ.
func advanceDraw(next, x, phi, l []float64, d int, rnd *rand.Rand) {
	for a := range d {
		next[a] = dot(phi[a*d:][:d], x)
	}
	for a := range d {
		if l[a*d+a] == 0 { // its column is zero
			continue
		}
		u := rnd.NormFloat64()
		for c := a; c < d; c++ {
			next[c] += l[c*d+a] * u
		}
	}
}
