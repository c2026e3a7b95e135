package gppl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/projected"
)

// Spectral has the columns 1, then cos(2πν_j(x−x₀)), sin(2πν_j(x−x₀)) at ascending frequencies, where x₀ is the start of the
// range of x. They are the first k of a list that does not depend on k, so columns can be added later (SpectralProjection,
// Extend). It needs d = 1.
//
// If Stretch is set, the frequencies belong to a Fourier basis on an interval longer than the range by this factor, ν_j =
// j/(Stretch·range). Such a basis has k·(1−1/Stretch) more columns than the dimension of the band-limited functions on the
// range, and its condition number grows exponentially with this excess: for 1.08 it is 1e10 at k = 200, beyond rounding at k =
// 300. Some excess columns are needed, because the signal is not periodic over the range. Without Stretch their number grows
// like log k, as for prolate functions (Landau and Widom 1980):
//
//	ν_j·range = j − 2·log(1 + δj/2),  δ = 1 − 1/1.08
//
// rounded to a multiple of 1/16. The frequencies are then a sub-grid of the frequencies of a kernel's series, and losses need
// not form the directions.
type Spectral struct {
	Stretch float64 // factor of the interval of a Fourier basis; 0 means the list that suits any k
}

func (d Spectral) String() string { return "Spectral" }

// excess is the factor of the log by which the list of frequencies falls behind the multiples of 1/range.
const excess = 2

// frequency returns ν_j in cycles per range of x.
func (d Spectral) frequency(j float64) float64 {
	if d.Stretch != 0 {
		return j / d.Stretch
	}
	return math.Round(projected.Lattice*d.cycles(j)) / projected.Lattice
}

// cycles returns ν_j in cycles per range of x before it is rounded, without Stretch.
func (Spectral) cycles(j float64) float64 { return j - excess*math.Log1p((1-1/1.08)*j/excess) }

// columns returns the number of columns up to the given frequency, in cycles per range, plus the sine and the cosine beyond
// it.
func (d Spectral) columns(frequency float64) int {
	j := math.Ceil(frequency)
	for d.frequency(j) < frequency {
		j++
	}
	return 2*int(j) + 1
}

func (d Spectral) Directions(ctx context.Context, omega *mat.Dense, x Inputs, _ *rand.Rand) (err error) {
	defer parallel.Stopped(&err)
	return d.directions(ctx, omega, x, 0)
}

// directions sets omega to the columns from the given one on, until ctx ends (parallel.Look).
func (d Spectral) directions(ctx context.Context, omega *mat.Dense, x Inputs, from int) error {
	lo, span, err := rangeOf(x, "Spectral")
	if err != nil {
		return err
	}
	_, k := omega.Dims()
	turn := make([]float64, k)
	for j := range turn {
		turn[j] = 2 * math.Pi * d.frequency(float64((from+j+1)/2))
	}
	for i, xi := range x.at {
		parallel.Look(ctx)
		u := (xi - lo) / span
		row := omega.RawRowView(i)
		for j := range row {
			switch c := from + j; {
			case c%2 == 1 && j+1 < k:
				row[j+1], row[j] = math.Sincos(turn[j] * u)
			case c%2 == 1:
				row[j] = math.Cos(turn[j] * u)
			case c == 0:
				row[j] = 1
			case j == 0:
				row[j] = math.Sin(turn[j] * u)
			}
		}
	}
	return nil
}

// SpectralProjection returns the projection on the first count columns of Spectral that are independent of their predecessors:
// fewer where gaps or duplicates in x make some dependent. It takes O(n·count²), or O(n + count³) where sums over the data
// suffice (see NewProjection). It returns an error if count < 1 or x is no time series with distinct ends, and a MemoryError
// if Ω has to be formed and exceeds WithMemory.
func SpectralProjection(ctx context.Context, x Inputs, count int, opts ...Option) (*Projection, error) {
	if err := x.check("x"); err != nil {
		return nil, err
	}
	if count < 1 {
		return nil, fmt.Errorf("gppl: %d columns: at least one is needed", count)
	}
	p := &Projection{Orthonormal: true, Design: Spectral{}.String(), n: x.Len()}
	return p.Extend(ctx, x, count, opts...)
}

// Extend returns p, made by SpectralProjection or Extend for the same x, with the columns of the design added up to count. The
// columns of p do not change: only the new ones are orthonormalised, against p's and among themselves, in O(n·k·new) if Ω is
// formed. Extend panics if another design made p or p has another number of observations.
func (p *Projection) Extend(ctx context.Context, x Inputs, count int, opts ...Option) (extended *Projection, err error) {
	defer parallel.Stopped(&err)
	o, err := optionsOf(opts)
	if err != nil {
		return nil, err
	}
	n := x.Len()
	if p.n != n || p.k > 0 && p.drawn == 0 {
		panic(fmt.Sprintf("gppl: Extend: p has %d columns of SpectralProjection for %d observations, x has %d", p.drawn, p.n, n))
	}
	if count <= p.drawn || p.k >= n {
		return p, nil
	}
	if p.k == 0 || p.moment != nil {
		if waves := newWaves(ctx, x, count, p.moment); waves != nil {
			q := ofWaves(waves, p.Design, p.Seed)
			if q.drawn = count; p.k > 0 {
				q.from = p
			}
			return q, nil
		}
	}
	if bytes := formingBytes(n, min(n, p.k+count-p.drawn)); bytes > o.Memory {
		return nil, &MemoryError{What: fmt.Sprintf("%d projections of n = %d", count, n), Needed: bytes, Limit: o.Memory}
	}
	var old blas64.General
	if p.k > 0 {
		old = p.formed(ctx).RawMatrix()
	}
	q := dense.New(n, min(n, old.Cols+count-p.drawn)) // all columns so far; k are in use
	k := 0
	appendColumns := func(w blas64.General) {
		for i := range n {
			copy(q.Data[i*q.Stride+k:], w.Data[i*w.Stride:][:w.Cols])
		}
		k += w.Cols
	}
	appendColumns(old)
	const block = 256
	for drawn := p.drawn; drawn < count && k < n; {
		w := mat.NewDense(n, min(block, count-drawn, n-k), nil)
		if err := (Spectral{}).directions(ctx, w, x, drawn); err != nil {
			return nil, err
		}
		drawn += w.RawMatrix().Cols
		before := q
		before.Cols = k
		appendColumns(dense.Complement(ctx, w.RawMatrix(), before))
	}
	omega := mat.NewDense(n, k, nil)
	for i := range n {
		copy(omega.RawRowView(i), q.Data[i*q.Stride:][:k])
	}
	return &Projection{Orthonormal: true, Design: p.Design, Seed: p.Seed, n: n, k: k, drawn: count, omega: omega}, nil
}

// formingBytes returns the memory, in bytes, for making an n×k Ω orthonormal: Ω and the columns so far.
func formingBytes(n, k int) float64 { return 2 * 8 * float64(n) * float64(k) }
