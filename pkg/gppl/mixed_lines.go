package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// A wave of any frequency is a sum of waves of a circle of the period P on a stretch T of it: with d = m − fP, for |t| ≤ T/2,
//
//	exp(2πift) = Σ_m a(d)·exp(2πimt/P),  a(d) = sinc(πd)·exp(−(πds/P)²)
//
// the transform of a window that is 1 on the stretch and falls like erfc, of the scale s, to 0 at P − T/2. Its derivative in f
// multiplies the wave by 2πit. So waves whose frequencies are parameters have their products from the sums of the circle, too.

// lineFall is (P − T)/s: erfc and the weights then end within rounding.
const lineFall = 11.8

// lineReach returns how many frequencies of the circle on either side a wave takes, given T/P.
func lineReach(share float64) int { return 2 + int(6.3*lineFall/(math.Pi*(1-share))) }

// movingLines are the weights of one frequency that moves, for |m| from first on.
type movingLines struct {
	first          int
	waves, moved   [2][]float64 // of the cosine and of the sine, and of both times t − t₀
	cosines, sines []fourier.Feature
}

// set sets the weights of harmonic j of a period p.
func (l *movingLines) set(j int, p, period, share float64) {
	ratio := period / p
	rest := math.FMA(-ratio, p, period) / p
	hi := float64(j) * ratio
	lo := math.FMA(float64(j), ratio, -hi) + float64(j)*rest
	middle := math.Round(hi)
	off, reach := hi-middle+lo, lineReach(share)
	l.first = max(0, int(middle)-reach)
	count := int(middle) + reach - l.first + 1
	for i := range 2 {
		l.waves[i], l.moved[i] = dense.Resize(l.waves[i], count), dense.Resize(l.moved[i], count)
		clear(l.waves[i])
		clear(l.moved[i])
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
		l.waves[0][at] += a            // cos: Σ a·cos
		l.waves[1][at] += sign * a     // sin: Σ a·sin
		l.moved[0][at] += sign * slope // t·cos: Σ a′·sin
		l.moved[1][at] -= slope        // t·sin: −Σ a′·cos
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
	sin = -sin // of πd
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

// addLines adds the parts of a term whose frequencies move.
func (f *mixedFactor) addLines(w *waveTerm) {
	count := len(w.coef)
	w.lines = dense.Resize(w.lines, count)
	share := f.engine.line.span / f.circle.period
	for j := range count {
		w.lines[j].set(j, w.period, f.circle.period, share)
		tampered("mixed lines", w.lines[j].waves[1])
		tampered("mixed lines", w.lines[j].moved[1])
	}
	for a, feature := range w.features {
		l := &w.lines[feature.Frequency()]
		kind, own, other := 0, l.cosines, l.sines
		if feature.IsSin() {
			kind, own, other = 1, l.sines, l.cosines
		}
		root := w.root[a : a+1]
		f.parts = append(f.parts, waveColumns{features: own, first: w.first + a, rank: 1, z: columnOf(l.waves[kind]), scale: root[0]})
		f.movedParts = append(f.movedParts, waveColumns{features: other, first: w.moving + a, rank: 1, z: columnOf(l.moved[kind]), scale: root[0]})
	}
}

// verifyLines compares the lines of one frequency and those of its derivative with the wave near the end of the data.
func (f *mixedFactor) verifyLines(w *waveTerm) error {
	i := pick(len(w.lines), f.noise, w.coef[0], w.period)
	l, t := &w.lines[i], 0.49*f.engine.line.span
	_, turns := math.Modf(float64(i) * (t / w.period))
	want, _ := math.Sincos(2 * math.Pi * turns)
	var sum, moved float64
	for k := range l.cosines {
		_, turns := math.Modf(float64(l.first+k) * (t / f.circle.period))
		sin, cos := math.Sincos(2 * math.Pi * turns)
		sum += l.waves[1][k] * sin
		moved += l.moved[1][k] * cos
	}
	rounding := 1e-12 * (1 + float64(i)*t/w.period)
	if err := verify("a wave as waves of a circle", sum, want, rounding); err != nil {
		return err
	}
	return verify("the derivative of a wave as waves of a circle", moved, t*want, t*100*rounding)
}

// productsOfMoved sets a row of E′ᵀE and of E′ᵀz.
func (f *mixedFactor) productsOfMoved(k int) {
	own := &f.movedParts[k]
	room := f.engine.products.get()
	dst := rowsFrom(f.moved, own.first, 1)
	for i := range f.parts {
		p := &f.parts[i]
		room.gram = dense.Reshape(room.gram, len(own.features), len(p.features))
		f.circle.moments.Gram(room.gram, own.features, p.features)
		room.half = dense.Reshape(room.half, len(own.features), p.rank)
		p.times(room.half, room.gram)
		part := dst
		part.Cols, part.Data = p.rank, dst.Data[p.first:]
		own.adjoint(part, 1/f.noise, room.half)
	}
	room.gram = f.columnsAt(room.gram, own.features)
	own.adjoint(rowsFrom(f.movedB, own.first, 1), 1/f.noise, room.gram)
	f.engine.products.put(room)
}

// columnsAt returns the sums of the columns of the data with features, in the memory of dst.
func (f *mixedFactor) columnsAt(dst blas64.General, features []fourier.Feature) blas64.General {
	dst = dense.Reshape(dst, len(features), f.b.Cols)
	for i, feature := range features {
		copy(row(dst, i).Data, row(f.circle.columns, int(feature)).Data)
	}
	return dst
}
