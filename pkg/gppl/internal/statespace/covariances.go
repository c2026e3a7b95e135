package statespace

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Covariances adds K_*α to dst, m×c: the covariances of the blocks' process between the ascending inputs at and the ascending
// inputs t, times α, n×c. It runs along the inputs once in either direction, with
//
//	a(s) = Σ_{t_i ≤ s} Φ(s − t_i)·P∞hᵀ·α_i,  K_*α = h·a(s) + h·b(s),
//
// where b sums over the later t: O((n + m)·d²) for each process of d numbers and each column.
func Covariances(ctx context.Context, dst blas64.General, at, t []float64, blocks []Block, alpha blas64.General) error {
	if err := checkBlocks(blocks); err != nil {
		return err
	}
	if dst.Rows != len(at) || alpha.Rows != len(t) || dst.Cols != alpha.Cols {
		panic(fmt.Sprintf("statespace: Covariances: %d×%d from %d×%d, at %d and %d inputs", dst.Rows, dst.Cols, alpha.Rows, alpha.Cols,
			len(at), len(t)))
	}
	checkSorted(at)
	checkSorted(t)
	for i := range blocks {
		blocks[i].covariances(ctx, dst, at, t, alpha, 1)
		blocks[i].covariances(ctx, dst, at, t, alpha, -1)
	}
	return nil
}

// covariances adds the contribution of the inputs t at or before each of at, or, in the direction −1, of the inputs after them.
func (b *Block) covariances(ctx context.Context, dst blas64.General, at, t []float64, alpha blas64.General, direction int) {
	d, c := b.Process.Dim(), dst.Cols
	waves, scale := b.amplitudes()
	phi, noise, all := make([]float64, d*d), make([]float64, d*d), make([]float64, d*d)
	b.Process.Transition(phi, all, math.Inf(1))
	state, next := make([]float64, len(waves)*c*d), make([]float64, d)
	angles := make([][2]float64, len(waves))
	turn := func(s float64) {
		for j, m := range waves {
			if m < 0 {
				angles[j] = [2]float64{1, 0}
				continue
			}
			sin, cos := math.Sincos(2 * math.Pi * math.Mod(float64(m)*math.Mod((s-t[0])/b.Period, 1), 1))
			angles[j] = [2]float64{cos, sin}
		}
	}
	weight := func(j int) float64 { // the wave of process j at the last turn: cosines before sines
		if waves[j] >= 0 && j > 0 && waves[j-1] == waves[j] {
			return scale[j] * angles[j][1]
		}
		return scale[j] * angles[j][0]
	}
	known, here := math.NaN(), math.Inf(-direction)
	move := func(s float64) {
		gap := math.Abs(s - here)
		if here = s; gap == 0 {
			return
		}
		if gap != known {
			b.Process.Transition(phi, noise, gap)
			known = gap
		}
		for k := 0; k < len(state); k += d {
			for i := range d {
				next[i] = dot(phi[i*d:][:d], state[k:][:d])
			}
			copy(state[k:], next)
		}
	}
	i, j := 0, 0
	for step := 0; j < len(at); step++ {
		if step%64 == 0 {
			parallel.Look(ctx)
		}
		target, source := at[j], 0.0
		row := j
		if direction < 0 {
			row = len(at) - 1 - j
			target = at[row]
		}
		from := i
		if direction < 0 {
			from = len(t) - 1 - i
		}
		if i < len(t) {
			source = t[from]
		}
		// Coinciding inputs count in the direction 1 only.
		if i < len(t) && (direction > 0 && source <= target || direction < 0 && source > target) {
			move(source)
			turn(source)
			for w := range waves {
				by := weight(w)
				for col := range c {
					v := by * alpha.Data[from*alpha.Stride+col]
					s := state[(w*c+col)*d:][:d]
					for a := range s {
						s[a] += v * all[a*d]
					}
				}
			}
			i++
			continue
		}
		move(target)
		turn(target)
		for w := range waves {
			by := weight(w)
			for col := range c {
				dst.Data[row*dst.Stride+col] += by * state[(w*c+col)*d]
			}
		}
		j++
	}
}
