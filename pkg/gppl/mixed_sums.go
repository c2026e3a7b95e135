package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// Where B is even noise, all terms take their waves from one circle: EᵀE and Eᵀz then follow from sums
// over the data that are computed once, as in the spectral engine, and an evaluation does not depend on n.

// maxSummed bounds the frequencies of the sums: 50 MB.
const maxSummed = 1 << 20

// circled returns the period of a circle that is long enough for the given one: of a few, so that sums are computed seldom.
func (e *mixedExact) circled(period float64) float64 {
	const each = 4 // to a factor of two
	return e.line.span * math.Exp2(math.Ceil(each*math.Log2(period/e.line.span)-1e-9)/each)
}

// circleFor returns the period of the circle for a division, and the highest frequency on it.
func (e *mixedExact) circleFor(d *division) (period, highest float64) {
	period = d.period
	if d.grid >= 0 {
		period = max(period, e.line.span+2*rootGap(d.rest[0].kernel))
	}
	if d.moving > 0 {
		period = max(period, 2*e.line.span)
	}
	period = e.circled(period)
	highest = d.highest * period
	if d.moving > 0 {
		highest += float64(lineReach(e.line.span / period))
	}
	return period, highest
}

// summed reports whether sums over the data are faster than the data themselves.
func (e *mixedExact) summed(d *division) bool {
	if len(d.rest) > 0 || !e.line.noise.even() {
		return false
	}
	// A wide band could not be packed there, and took more columns on a longer period.
	if period, highest := e.circleFor(d); !(highest < maxSummed) || d.widest*period > widestPacket {
		return false
	}
	direct, sums := e.costs(d)
	return sums < e.favour*direct
}

// costs predicts the seconds that EᵀE takes from the data, and from sums.
func (e *mixedExact) costs(d *division) (direct, sums float64) {
	n, passes := float64(len(e.line.t)), 1.0
	if !e.line.noise.even() {
		passes = 2
	}
	direct = passes*n*d.p*(d.p+2*d.moving)/(2*flopRate) + passes*n*(d.whole+d.moving)*4e-9
	period, _ := e.circleFor(d)
	whole, lines := e.onCircle(d, period)
	return direct, (whole+2*lines)*whole*2e-9 + whole*d.p*packetWidth/flopRate
}

// onCircle returns how many features the columns take on a circle, and how many of them those that move.
func (e *mixedExact) onCircle(d *division, period float64) (whole, lines float64) {
	if d.moving > 0 {
		lines = d.moving * float64(2*lineReach(e.line.span/period)+1)
	}
	return period/d.period*(d.whole-d.moving) + lines, lines
}

// packetWidth is about how many columns a packet has.
const packetWidth = 24

// setCircle puts the waves of all terms on one circle, with sums over the data. Terms whose frequencies move keep theirs.
func (f *mixedFactor) setCircle() error {
	e := f.engine
	period, most := e.circleFor(&f.division)
	for i := range f.terms {
		if w := &f.terms[i]; w.param < 0 && w.period > period { // for a posterior
			period = e.circled(w.period)
		}
	}
	highest := int(most) + 1
	if f.division.grid >= 0 {
		highest = max(highest, int(rootFrequencies(f.division.rest[0].kernel, period)))
	}
	for i := range f.terms {
		w := &f.terms[i]
		if w.param >= 0 {
			continue
		}
		for j, b := range w.bands {
			w.bands[j] = Band{int(math.Floor(float64(b.From) / w.period * period)), int(math.Ceil(float64(b.To) / w.period * period))}
			highest = max(highest, w.bands[j].To)
		}
		w.period = period
	}
	c := e.sums.circles.begin(func(c *circleSums) bool { return c.period == period }, circleSums{origin: e.line.middle(), period: period})
	if highest > c.m {
		var err error
		if c, err = e.sums.circles.grow(c, highest, highest+highest/8+8); err != nil {
			return err
		}
	}
	f.circle = c
	return nil
}

// waveColumns are columns of E as features times a matrix, c^½ or a packet's.
type waveColumns struct {
	features    []fourier.Feature
	first, rank int
	root        []float64 // of single features
	z           blas64.General
	scale       float64 // of z
}

// times sets dst to a, whose columns are the features, times the part's matrix.
func (p *waveColumns) times(dst, a blas64.General) {
	switch {
	case p.root == nil && p.rank == 1: // of which a product of matrices makes steps of one number
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
func (p *waveColumns) adjoint(dst blas64.General, scale float64, a blas64.General) {
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

// setParts lists the parts of all columns.
func (f *mixedFactor) setParts() {
	f.parts, f.movedParts = f.parts[:0], f.movedParts[:0]
	for i := range f.terms {
		w := &f.terms[i]
		if w.moving >= 0 {
			f.addLines(w)
			continue
		}
		for from := 0; from < len(w.features); from += dense.Tile {
			to := min(len(w.features), from+dense.Tile)
			f.parts = append(f.parts, waveColumns{features: w.features[from:to], first: w.first + from, rank: to - from, root: w.root[from:to]})
		}
		for j := range w.packets {
			p := &w.packets[j]
			if p.rank() > 0 {
				f.parts = append(f.parts, waveColumns{features: p.features, first: w.first + p.first, rank: p.rank(), z: p.z, scale: 1})
			}
		}
	}
}

// partRoom is the working memory of the products of a part with those before it.
type partRoom struct{ gram, half, whole blas64.General }

// fillSums sets EᵀE and what there is of the columns of the data, from sums over the data.
func (f *mixedFactor) fillSums() {
	f.room()
	f.setParts()
	if f.fillPart == nil {
		f.fillPart, f.fillMoved = f.productsOfPart, f.productsOfMoved
	}
	parallel.Within(f.ctx, len(f.parts), f.fillPart)
	parallel.Within(f.ctx, len(f.movedParts), f.fillMoved)
	f.size = f.size[:0]
	for b := range dense.Blocks(f.features()) { // tiles on the diagonal are whole
		t := f.t.At(b, b)
		for i := range t.Rows {
			f.size = append(f.size, math.Sqrt(f.noise*max(0, t.Data[i*t.Stride+i])))
			for j := range i {
				t.Data[j*t.Stride+i] = t.Data[i*t.Stride+j]
			}
		}
		tampered("mixed sums", t.Data)
	}
	yy := f.engine.grid.yy
	for i := range f.zz.Data {
		f.zz.Data[i] = yy.Data[i] / f.noise
	}
}

// productsOfPart sets the rows of a part of EᵀE and Eᵀz, those of the last first.
func (f *mixedFactor) productsOfPart(k int) {
	own := &f.parts[len(f.parts)-1-k]
	room := f.engine.products.Get()
	count, cols := len(own.features), own.first+own.rank
	room.half = dense.Reshape(room.half, count, cols)
	for i := range len(f.parts) - k {
		p := &f.parts[i]
		room.gram = dense.Reshape(room.gram, count, len(p.features))
		f.circle.moments.Gram(room.gram, own.features, p.features)
		dst := room.half
		dst.Cols, dst.Data = p.rank, dst.Data[p.first:]
		p.times(dst, room.gram)
	}
	room.whole = dense.Reshape(room.whole, own.rank, cols)
	own.adjoint(room.whole, 1/f.noise, room.half)
	for a := range own.rank {
		values := dense.Row(room.whole, a).Data
		i := (own.first + a) / dense.Tile
		for j := 0; j*dense.Tile < cols && j <= i; j++ {
			t := f.t.At(i, j)
			copy(t.Data[(own.first+a-i*dense.Tile)*t.Stride:][:min(t.Cols, cols-j*dense.Tile)], values[j*dense.Tile:])
		}
	}
	room.gram = f.columnsAt(room.gram, own.features)
	own.adjoint(dense.Rows(f.b, own.first, own.rank), 1/f.noise, room.gram)
	f.engine.products.Put(room)
}

// someColumn picks a column of E that the data determine, its length at least that of the prior: a row of T without one hardly has EᵀE.
func (f *mixedFactor) someColumn() (of *waveColumns, at int) {
	strong := 0
	for _, length := range f.length {
		if length >= 1 {
			strong++
		}
	}
	which := pick(max(1, strong), f.noise, f.terms[0].coef[0], f.g.Data[0])
	for i := range f.parts {
		p := &f.parts[i]
		for at := range p.rank {
			if strong > 0 && f.length[p.first+at] < 1 {
				continue
			}
			if which--; which < 0 {
				return p, at
			}
		}
	}
	return &f.parts[0], 0
}

// again is what a column of E has with the others and with the data, made again from the sums.
type again struct {
	fitted float64 // a row of σ²EᵀE times h
	data   float64 // its product with a column of the data
	limit  float64 // of rounding
}

// rowAgain returns that of column at of a part, and column k of the data.
func (f *mixedFactor) rowAgain(own *waveColumns, at, k int) (a again) {
	weights := f.weightsOf(own, at)
	var weight, fitted float64
	for i, feature := range own.features {
		weight += math.Abs(weights[i])
		a.data += weights[i] * f.circle.columns.Data[int(feature)*f.circle.columns.Stride+k]
	}
	for i := range f.parts {
		p := &f.parts[i]
		f.strip = dense.Reshape(f.strip, len(own.features), len(p.features))
		f.circle.moments.Gram(f.strip, own.features, p.features)
		f.along = dense.Reshape(f.along, len(own.features), p.rank)
		p.times(f.along, f.strip)
		for b := range p.rank {
			h := f.h.Data[(p.first+b)*f.h.Stride+k]
			var v float64
			for j, w := range weights {
				v += w * f.along.Data[j*p.rank+b]
			}
			a.fitted += v * h
			fitted += math.Abs(h) * f.size[p.first+b]
		}
	}
	yy := f.engine.grid.yy
	a.limit = backward * weight * math.Sqrt(float64(len(f.lambda))) * (fitted + math.Sqrt(yy.Data[k*(yy.Stride+1)]))
	return a
}

// verifyRow compares a row of T, made again from the sums, times h with the sums over the data.
func (f *mixedFactor) verifyRow() error {
	own, at := f.someColumn()
	for k := range f.h.Cols {
		a := f.rowAgain(own, at, k)
		if err := verify("a row of a linear system", a.fitted+f.noise*f.h.Data[(own.first+at)*f.h.Stride+k], a.data, a.limit); err != nil {
			return err
		}
	}
	return nil
}

// weightsOf returns what the features of a part have in one of its columns.
func (f *mixedFactor) weightsOf(p *waveColumns, at int) []float64 {
	f.z = dense.Resize(f.z, len(p.features))
	for i := range f.z {
		switch {
		case p.root == nil:
			f.z[i] = p.scale * p.z.Data[i*p.z.Stride+at]
		case i == at:
			f.z[i] = p.root[i]
		default:
			f.z[i] = 0
		}
	}
	return f.z
}

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
		f.parts = append(f.parts, waveColumns{features: own, first: w.first + a, rank: 1, z: dense.AsColumn(l.waves[kind]), scale: root[0]})
		f.movedParts = append(f.movedParts, waveColumns{features: other, first: w.moving + a, rank: 1, z: dense.AsColumn(l.moved[kind]), scale: root[0]})
	}
}

// verifyLines compares the lines of one frequency and those of its derivative with the wave near the end of the data.
func (f *mixedFactor) verifyLines(w *waveTerm) error {
	i := min(1+pick(max(1, len(w.lines)-1), f.noise, w.coef[0], w.period), len(w.lines)-1) // not frequency 0, whose sine tells nothing
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
	room := f.engine.products.Get()
	dst := dense.Rows(f.moved, own.first, 1)
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
	own.adjoint(dense.Rows(f.movedB, own.first, 1), 1/f.noise, room.gram)
	f.engine.products.Put(room)
}

// columnsAt returns the sums of the columns of the data with features, in the memory of dst.
func (f *mixedFactor) columnsAt(dst blas64.General, features []fourier.Feature) blas64.General {
	dst = dense.Reshape(dst, len(features), f.b.Cols)
	for i, feature := range features {
		copy(dense.Row(dst, i).Data, dense.Row(f.circle.columns, int(feature)).Data)
	}
	return dst
}
