// Package mixed represents ΦCΦᵀ, a covariance of few waves, by columns: Φ are their cosines and sines at times t_i, C ≥ 0
// their coefficients. Combinations of the waves of a band that differ on the range of the times replace them (packets).
// Products of columns come from sums over the times that are computed once, also for waves whose frequencies are parameters
// (lines).
//
// # Packets
//
// The waves of a band are nearly dependent on the stretch of time T of the data within their period P: of q neighbouring
// frequencies about qT/P + 7 combinations matter (Landau and Widom 1980). With φ(t) the waves at t, relative to the middle of the
// stretch and of the band, and U orthonormal, the combinations UᵀC^½φ omit
//
//	k(t, t′) − φ(t)ᵀC^½UUᵀC^½φ(t′),  at most max_t |(I − UUᵀ)C^½φ(t)|²,
//
// a covariance, for all pairs within the stretch. U spans C^½φ(t) at selected t; each is the t at which the remainder is largest.
// This is a Cholesky factorisation of the kernel with pivots, so its residual is known. It is the same for the cosines and the
// sines of a band, except for one that begins at 0, where the pairs ±m are one frequency.
//
// # Lines
//
// A wave of any frequency f is a sum of waves of a circle of period P on a stretch T of it: with d = m − fP, for |t| ≤ T/2,
//
//	exp(2πift) = Σ_m a(d)·exp(2πimt/P),  a(d) = sinc(πd)·exp(−(πds/P)²)
//
// the transform of a window that is 1 on the stretch and falls like erfc, with the scale s, to 0 at P − T/2. The derivative in
// f multiplies the wave by 2πit. So the products of waves whose frequencies are parameters follow from the sums of the circle
// as well.
package mixed

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/waves"
)

// Term represents Σ_m c_m·cos(2πm(t − t′)/P) by columns of C^½Φ, in working memory.
type Term struct {
	Period   float64           // P
	Bands    []waves.Band      // bands of the m, ascending and disjoint
	Coef     []float64         // c_m ≥ 0 for the m of all bands, in order
	Features []fourier.Feature // columns without packets
	Packets  []Packet          // columns in place of the waves, if there are fewer
	Lines    []Lines           // lines of each moving frequency, on the circle of SetLines
	First    int               // index of its first column among all
	Size     int               // the number of its columns
	Moving   int               // index of its first feature among the moving ones; −1 if none moves

	points  fourier.Points    // times of the factor that the term belongs to
	root    []float64         // c^½ of each feature
	packed  []fourier.Feature // features of all packets
	work    []spanning
	starts  []int // starts of the bands among the coefficients
	scratch rows
	pair    blas64.General
}

// Reset sets the waves of the term; their coefficients follow. It has no columns yet, and no moving ones.
func (w *Term) Reset(period float64, bands []waves.Band, first int) {
	w.Period, w.Bands, w.First, w.Moving, w.Size = period, append(w.Bands[:0], bands...), first, -1, 0
	w.Coef = dense.Resize(w.Coef, waves.Count(bands))
	w.Features, w.root, w.Packets, w.packed = w.Features[:0], w.root[:0], w.Packets[:0], w.packed[:0]
}

// TakeAll sets the columns to the features of all frequencies.
func (w *Term) TakeAll() {
	at := 0
	for _, b := range w.Bands {
		for m := b.From; m <= b.To; m++ {
			root := math.Sqrt(max(0, w.Coef[at]))
			for s := range min(2, m+1) {
				w.Features, w.root = append(w.Features, fourier.Cos(m)+fourier.Feature(s)), append(w.root, root)
			}
			at++
		}
	}
	w.Size = len(w.Features)
}

// Angle returns 2πm/P of a feature.
func (w *Term) Angle(a int) float64 {
	return 2 * math.Pi * float64(w.Features[a].Frequency()) / w.Period
}

// Partner returns the feature whose rows, times t − t₀ and the angle, are the derivative of feature a in −log P, and the sign.
func (w *Term) Partner(a int) (partner int, sign float64) {
	switch f := w.Features[a]; {
	case f.Frequency() == 0:
		return a, 0
	case f.IsSin():
		return a - 1, -1
	}
	return a + 1, 1
}

// At returns Σ_m c_m·cos(2πmr/P) and its derivative in log P, and sets slope to the derivatives in c_m.
func (w *Term) At(r float64, slope []float64) (sum, moved float64) {
	turn, at := 2*math.Pi*r/w.Period, 0
	for _, b := range w.Bands {
		for m := b.From; m <= b.To; m++ {
			sin, cos := math.Sincos(turn * float64(m))
			sum += w.Coef[at] * cos
			moved += w.Coef[at] * turn * float64(m) * sin
			slope[at] = cos
			at++
		}
	}
	return sum, moved
}

// Between returns the product of the columns at two times, relative to an origin.
func (w *Term) Between(s, t, origin float64) float64 {
	at := [2]float64{s, t}
	w.scratch.points.Set(at[:], origin, w.Period)
	w.pair = dense.Reshape(w.pair, w.Size, len(at))
	w.fillAt(w.pair, &w.scratch.points, 0, &w.scratch)
	return blas64.Dot(dense.Column(w.pair, 0), dense.Column(w.pair, 1))
}

// rows is the working memory for the waves of a term at some times.
type rows struct {
	columns blas64.General // memory for the caller
	points  fourier.Points // memory for the caller
	waves   blas64.General // cosines, then sines
	work    []float64
}

// fill sets dst to the columns of C^½Φ, one row each, at the times from, from+1, … of the term's factor.
func (w *Term) fill(dst blas64.General, from int, scratch *rows) {
	w.fillAt(dst, &w.points, from, scratch)
}

// fillAt is fill at other times.
func (w *Term) fillAt(dst blas64.General, points *fourier.Points, from int, scratch *rows) {
	if len(w.Packets) == 0 {
		points.FeatureRows(dst, from, w.Features)
		for a, root := range w.root {
			blas64.Scal(root, dense.Row(dst, a))
		}
		return
	}
	at := 0
	next := 0
	for _, b := range w.Bands {
		count := b.Count()
		scratch.waves = dense.Reshape(scratch.waves, 2*count, dst.Cols)
		cos, sin := dense.Rows(scratch.waves, 0, count), dense.Rows(scratch.waves, count, count)
		scratch.work = points.Run(cos, sin, from, b.From, scratch.work)
		for ; next < len(w.Packets) && w.Packets[next].At < at+count; next++ {
			p := &w.Packets[next]
			waves := cos
			if p.sin {
				waves = sin
			}
			if p.Rank() > 0 {
				dense.Gemm(blas.Trans, blas.NoTrans, 1, p.Z, dense.Rows(waves, p.At-at, p.Count), 0, dense.Rows(dst, p.First, p.Rank()))
			}
		}
		at += count
	}
}
