package mixed

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Columns holds columns of C^½Φ as features times a matrix: c^½, a packet's matrix, or the matrix of a wave on a circle.
type Columns struct {
	Features    []fourier.Feature
	First, Rank int       // index of the first column among all, and number of columns
	root        []float64 // c^½ of single features
	z           blas64.General
	scale       float64 // scale of z
	isLine      bool    // one column, of consecutive frequencies
}

// times sets dst to a, whose columns are the features, times the part's matrix.
func (p *Columns) times(dst, a blas64.General) {
	switch {
	case p.root == nil && p.Rank == 1: // Gemm would work in steps of one number
		blas64.Gemv(blas.NoTrans, p.scale, a, dense.Column(p.z, 0), 0, dense.Column(dst, 0))
		return
	case p.root == nil:
		dense.Gemm(blas.NoTrans, blas.NoTrans, p.scale, a, p.z, 0, dst)
		return
	}
	for i := range a.Rows {
		for j, v := range dense.Row(a, i).Data {
			dst.Data[i*dst.Stride+j] = p.root[j] * v
		}
	}
}

// adjoint sets dst to scale times the transpose of the part's matrix times a.
func (p *Columns) adjoint(dst blas64.General, scale float64, a blas64.General) {
	if p.root == nil {
		dense.Gemm(blas.Trans, blas.NoTrans, scale*p.scale, p.z, a, 0, dst)
		return
	}
	for i, root := range p.root {
		for j, v := range dense.Row(a, i).Data {
			dst.Data[i*dst.Stride+j] = scale * root * v
		}
	}
}

// weights sets dst to the weights of the features in one of the columns.
func (p *Columns) weights(dst []float64, at int) {
	for i := range dst {
		switch {
		case p.root == nil:
			dst[i] = p.scale * p.z.Data[i*p.z.Stride+at]
		case i == at:
			dst[i] = p.root[i]
		default:
			dst[i] = 0
		}
	}
}

// appendColumns appends the columns of a term and, from Moving on, the columns of its derivative in −log P: without the
// angles, times the times. Waves that move are on the circle of SetLines.
func (w *Term) appendColumns(still, moved []Columns) (columns, derivative []Columns) {
	if w.Moving >= 0 {
		return w.appendLines(still, moved)
	}
	for from := 0; from < len(w.Features); from += dense.Tile {
		to := min(len(w.Features), from+dense.Tile)
		still = append(still, Columns{Features: w.Features[from:to], First: w.First + from, Rank: to - from, root: w.root[from:to]})
	}
	for j := range w.Packets {
		if p := &w.Packets[j]; p.Rank() > 0 {
			still = append(still, Columns{Features: p.Features, First: w.First + p.First, Rank: p.Rank(), z: p.Z, scale: 1})
		}
	}
	return still, moved
}

// appendLines is appendColumns for waves that move.
func (w *Term) appendLines(still, moved []Columns) (columns, derivative []Columns) {
	for a, feature := range w.Features {
		l := &w.Lines[feature.Frequency()]
		kind, own, other := 0, l.cosines, l.sines
		if feature.IsSin() {
			kind, own, other = 1, l.sines, l.cosines
		}
		still = append(still, Columns{Features: own, First: w.First + a, Rank: 1,
			z: dense.AsColumn(l.Waves[kind]), scale: w.root[a], isLine: true})
		moved = append(moved, Columns{Features: other, First: w.Moving + a, Rank: 1,
			z: dense.AsColumn(l.Moved[kind]), scale: w.root[a], isLine: true})
	}
	return still, moved
}

// lineFall is (P − T)/s, at which erfc and the weights end within rounding.
const lineFall = 11.8

// LineReach returns the number of frequencies of the circle on either side of a wave, given T/P.
func LineReach(share float64) int { return 2 + int(6.3*lineFall/(math.Pi*(1-share))) }

// Lines holds the weights of one moving frequency, for |m| from first on.
type Lines struct {
	first          int
	Waves, Moved   [2][]float64 // for the cosine and the sine; Moved is for both times t − t₀
	cosines, sines []fourier.Feature
}

// set sets the weights of harmonic j of a period p.
func (l *Lines) set(j int, p, period, share float64) {
	ratio := period / p
	rest := math.FMA(-ratio, p, period) / p
	hi := float64(j) * ratio
	lo := math.FMA(float64(j), ratio, -hi) + float64(j)*rest
	middle := math.Round(hi)
	off, reach := hi-middle+lo, LineReach(share)
	l.first = max(0, int(middle)-reach)
	count := int(middle) + reach - l.first + 1
	for i := range 2 {
		l.Waves[i], l.Moved[i] = dense.Resize(l.Waves[i], count), dense.Resize(l.Moved[i], count)
		clear(l.Waves[i])
		clear(l.Moved[i])
	}
	scale := (1 - share) / lineFall * math.Pi
	sin, cos := math.Sincos(math.Pi * off)
	for k := -reach; k <= reach; k++ {
		a, slope := lineWeight(k, off, sin, cos, scale)
		slope *= -period / (2 * math.Pi)
		m, sign := int(middle)+k, 1.0
		if m < 0 {
			m, sign = -m, -1
		}
		at := m - l.first
		l.Waves[0][at] += a            // cos: Σ a·cos
		l.Waves[1][at] += sign * a     // sin: Σ a·sin
		l.Moved[0][at] += sign * slope // t·cos: Σ a′·sin
		l.Moved[1][at] -= slope        // t·sin: −Σ a′·cos
	}
	l.cosines, l.sines = l.cosines[:0], l.sines[:0]
	for m := range count {
		l.cosines, l.sines = append(l.cosines, fourier.Cos(l.first+m)), append(l.sines, fourier.Sin(l.first+m))
	}
}

// lineWeight returns a(d) and a′(d) at d = k − off, given sine and cosine of π·off.
func lineWeight(k int, off, sin, cos, scale float64) (a, slope float64) {
	d := float64(k) - off
	if k&1 != 0 {
		sin, cos = -sin, -cos
	}
	sin = -sin // becomes the sine of πd
	var sinc, rate float64
	if q := math.Pi * d; math.Abs(d) < 0.1 {
		q2 := q * q
		sinc = 1 - q2/6*(1-q2/20*(1-q2/42*(1-q2/72*(1-q2/110*(1-q2/156)))))
		rate = -math.Pi * q * (1./3 - q2*(1./30-q2*(1./840-q2*(1./45360-q2*(1./3991680-q2/518918400)))))
	} else {
		sinc = sin / q
		rate = cos/d - sinc/d
	}
	fall := math.Exp(-scale * scale * d * d)
	return sinc * fall, fall * (rate - 2*scale*scale*d*sinc)
}

// SetLines sets the lines of all harmonics on a circle, for times within a share of it about the middle.
func (w *Term) SetLines(period, share float64) {
	w.Lines = dense.Resize(w.Lines, w.Bands[len(w.Bands)-1].To+1)
	for j := range w.Lines {
		w.Lines[j].set(j, w.Period, period, share)
	}
}

// lineAt returns the sine of harmonic j at a time from the middle, by its lines on a circle, and t·sin by the lines of the
// derivative.
func (w *Term) lineAt(j int, t, period float64) (wave, moved float64) {
	l := &w.Lines[j]
	for k := range l.cosines {
		_, turns := math.Modf(float64(l.first+k) * (t / period))
		sin, cos := math.Sincos(2 * math.Pi * turns)
		wave += l.Waves[1][k] * sin
		moved += l.Moved[1][k] * cos
	}
	return wave, moved
}
