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

// division says how the mixed engine takes the terms of a kernel.
type division struct {
	waves, rest []int   // terms
	p, moving   float64 // columns, and those whose frequencies are parameters
	whole       float64 // columns without packets
	period      float64 // on which all waves can be
	highest     float64 // frequency, in cycles per unit
	widest      float64 // band that stays, in cycles per unit
}

// circled returns the period of a circle that is long enough for the given one: of a few, so that sums are computed seldom.
func (e *mixedExact) circled(period float64) float64 {
	const each = 4 // to a factor of two
	return e.line.span * math.Exp2(math.Ceil(each*math.Log2(period/e.line.span)-1e-9)/each)
}

// circleFor returns the period of the circle for a division, and the highest frequency on it.
func (e *mixedExact) circleFor(d *division) (period, highest float64) {
	period = d.period
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
	whole, lines := period/d.period*(d.whole-d.moving), 0.0
	if d.moving > 0 {
		lines = d.moving * float64(2*lineReach(e.line.span/period)+1)
		whole += lines
	}
	return direct, (whole+2*lines)*whole*2e-9 + whole*d.p*packetWidth/flopRate
}

// packetWidth is about how many columns a packet has.
const packetWidth = 24

// setCircle puts the waves of all terms on one circle, with sums over the data. Terms whose frequencies move keep theirs.
func (f *mixedFactor) setCircle() error {
	e := f.engine
	period, most := e.circleFor(&f.division)
	highest := int(most) + 1
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
	c := e.sums.kept.begin(func(c *circleSums) bool { return c.period == period }, circleSums{origin: e.line.middle(), period: period})
	if highest > c.m {
		var err error
		if c, err = e.sums.kept.grow(c, highest, highest+highest/8+8); err != nil {
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
	if p.root == nil {
		dense.Gemm(blas.NoTrans, blas.NoTrans, p.scale, a, p.z, 0, dst)
		return
	}
	for i := range a.Rows {
		for j, v := range row(a, i).Data {
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
		for j, v := range row(a, i).Data {
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
	for b := range dense.Blocks(f.features()) { // tiles on the diagonal are whole
		t := f.t.At(b, b)
		for i := range t.Rows {
			for j := range i {
				t.Data[j*t.Stride+i] = t.Data[i*t.Stride+j]
			}
		}
		tampered("mixed sums", t.Data)
	}
	yy := f.engine.sums.squares()
	for i := range f.zz.Data {
		f.zz.Data[i] = yy.Data[i] / f.noise
	}
}

// productsOfPart sets the rows of a part of EᵀE and Eᵀz, those of the last first.
func (f *mixedFactor) productsOfPart(k int) {
	own := &f.parts[len(f.parts)-1-k]
	room := f.engine.products.get()
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
		values := row(room.whole, a).Data
		i := (own.first + a) / dense.Tile
		for j := 0; j*dense.Tile < cols && j <= i; j++ {
			t := f.t.At(i, j)
			copy(t.Data[(own.first+a-i*dense.Tile)*t.Stride:][:min(t.Cols, cols-j*dense.Tile)], values[j*dense.Tile:])
		}
	}
	room.gram = f.columnsAt(room.gram, own.features)
	own.adjoint(rowsFrom(f.b, own.first, own.rank), 1/f.noise, room.gram)
	f.engine.products.put(room)
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

// verifyRow compares a row of T, made again from the sums, times h with the sums over the data.
func (f *mixedFactor) verifyRow() error {
	own, at := f.someColumn()
	weights := f.weightsOf(own, at)
	for k := range f.h.Cols {
		var sum, want, weight, fitted float64
		for i, feature := range own.features {
			weight += math.Abs(weights[i])
			want += weights[i] * f.circle.columns.Data[int(feature)*f.circle.columns.Stride+k]
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
				sum += v * h
				fitted += math.Abs(h) * math.Sqrt(f.length[p.first+b]*f.noise)
			}
		}
		sum += f.noise * f.h.Data[(own.first+at)*f.h.Stride+k]
		size := math.Sqrt(float64(len(f.lambda))) * (fitted + math.Sqrt(f.zz.Data[k*(f.zz.Stride+1)]*f.noise))
		if err := verify("a row of a linear system", sum, want, backward*weight*size); err != nil {
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
