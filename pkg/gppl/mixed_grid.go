package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// What the mixed engine computes where B is even noise and one kernel that the gridded engine takes, such as SE: the products of the
// grid's waves with the columns of E follow from the sums over the data on one circle, too, so that an evaluation does not depend on n.

// gridBase is the place of the gridded engine among the bases.
const gridBase = len(bases)

// gridColumns is how many columns a kernel is worth a grid for: p³ operations take as long then.
const gridColumns = 300

// gridTerm returns the term that is to be on a grid, −1 if there is none.
func (e *mixedExact) gridTerm(m *compiled) (term int) {
	term = -1
	most := float64(gridColumns)
	for i, k := range m.split.signal {
		if _, ok := k.(Spectrum); !ok || !e.line.noise.even() || len(m.split.signal) < 2 || !(reach(k, 1e-16) < 0.1*e.line.span) ||
			m.variance > griddedContrast*m.noise {
			continue
		}
		if columns := 2 * bandwidth(k, 1e-14) * e.line.span; columns > most {
			term, most = i, columns
		}
	}
	return term
}

// gridForecast is the forecast for a base on a grid.
func (e *mixedExact) gridForecast(b *mixedBase, d *division) forecast {
	if d.grid < 0 {
		return cannot(noWaves)
	}
	k := d.rest[0].kernel
	f := e.grid.forecast(&b.model)
	if f.reason != (reason{}) {
		return f
	}
	period, highest := e.circleFor(d)
	frequencies := rootFrequencies(k, period)
	if most := max(frequencies, highest); !(most < maxSummed) || d.widest*period > widestPacket {
		return tooMany(most)
	}
	whole, _ := e.onCircle(d, period)
	columns := d.p + d.moving + float64(e.line.columns.Cols)
	f.seconds = 2*frequencies*griddedSeconds + 2e-4 + (whole+4*frequencies)*whole*2e-9 + columns*frequencies*(100e-9+columns*4e-9)
	f.bytes = 2*frequencies*(griddedBytes+24*columns) + 16*highest
	f.setup = 0
	if !e.knows(period, max(highest, frequencies)) {
		f.setup = e.sums.pass(300e-9) + max(highest, frequencies)*1e-6
	}
	return f
}

// gridObserved is the data with the columns (Y, E, E′), by sums on the circle, in working memory.
type gridObserved struct {
	*line
	f        *mixedFactor
	highest  int
	products blas64.General // see squares
	features []fourier.Feature
	moments  fourier.Moments
	columns  blas64.General // sums of the columns

	fillStill, fillMoving func(int)
}

// circle begins half of a period before the middle of the data.
func (o *gridObserved) circle() (circle, bool) {
	c := o.f.circle
	return circle{origin: c.origin - 0.5*c.period, period: c.period, highest: o.highest, resolves: noWaves, beyond: "%v"}, true
}

// squares returns CᵀC but for E′ᵀE′, which nothing needs, given what fillSums has set.
func (o *gridObserved) squares() blas64.General {
	f := o.f
	p, s, c := f.features(), f.shift, f.b.Cols
	o.products = dense.Reshape(o.products, c+p+s, c+p+s)
	clear(o.products.Data)
	g := o.products
	place := func(i, j int, m blas64.General) {
		for a := range m.Rows {
			for b, v := range dense.Row(m, a).Data {
				v *= f.noise
				g.Data[(i+a)*g.Stride+j+b], g.Data[(j+b)*g.Stride+i+a] = v, v
			}
		}
	}
	f.t.EachTile(func(i, j int, t blas64.General) { place(c+i*dense.Tile, c+j*dense.Tile, t) })
	place(0, 0, f.zz)
	place(c, 0, f.b)
	place(c+p, c, f.moved)
	place(c+p, 0, f.movedB)
	return g
}

// sums returns the moments and the sums of the columns: with the origin half of a period away, odd waves change their sign.
func (o *gridObserved) sums(_, _ float64, m int) (fourier.Moments, blas64.General) {
	f := o.f
	o.moments = append(o.moments[:0], f.circle.moments[:2*(2*m+1)]...)
	for j := 2; j < len(o.moments); j += 4 {
		o.moments[j], o.moments[j+1] = -o.moments[j], -o.moments[j+1]
	}
	o.columns = dense.Reshape(o.columns, 2*(m+1), f.b.Cols+f.features()+f.shift)
	o.features = dense.Resize(o.features, o.columns.Rows)
	for i := range o.features {
		o.features[i] = fourier.Feature(i)
		copy(dense.Row(o.columns, i).Data, dense.Row(f.circle.columns, i).Data)
	}
	if o.fillStill == nil {
		o.fillStill = func(i int) { o.fill(&o.f.parts[i], o.f.b.Cols) }
		o.fillMoving = func(i int) { o.fill(&o.f.movedParts[i], o.f.b.Cols+o.f.features()) }
	}
	parallel.Within(f.ctx, len(f.parts), o.fillStill)
	parallel.Within(f.ctx, len(f.movedParts), o.fillMoving)
	for i := 2; i < o.columns.Rows; i += 4 {
		for j := i; j < min(i+2, o.columns.Rows); j++ {
			blas64.Scal(-1, dense.Row(o.columns, j))
		}
	}
	tampered("mixed grid", o.columns.Data)
	return o.moments, o.columns
}

// fill sets the sums of the columns of a part, given the first of its kind.
func (o *gridObserved) fill(part *waveColumns, first int) {
	const rows = 1024 // at a time
	room := o.f.engine.products.Get()
	for from := 0; from < o.columns.Rows; from += rows {
		own := o.features[from:min(from+rows, o.columns.Rows)]
		room.gram = dense.Reshape(room.gram, len(own), len(part.features))
		o.f.circle.moments.Gram(room.gram, own, part.features)
		into := dense.Rows(o.columns, from, len(own))
		into.Cols, into.Data = part.rank, into.Data[first+part.first:]
		part.times(into, room.gram)
	}
	o.f.engine.products.Put(room)
}

// fillGrid sets the engine of the base, which reads sums.
func (f *mixedFactor) fillGrid() {
	f.fillSums()
	b := &f.base
	b.made = gridBase
	b.grid.line, b.grid.f, b.grid.highest = f.engine.line, f, int(rootFrequencies(f.division.rest[0].kernel, f.circle.period))
	e, ok := b.engine.(*griddedExact)
	if !ok {
		e = new(griddedExact)
		b.engine = e
	}
	e.read(&b.grid)
	e.circles.known.Store(nil)
	e.yy = b.grid.squares()
}

// verifyGrid compares products with a column of E, made again, with those that were used: a row of EᵀE times h, those with the data,
// and with one wave of the grid.
func (f *mixedFactor) verifyGrid() error {
	grid, c, p := &f.base.grid, f.b.Cols, f.features()
	own, at := f.someColumn()
	products := dense.Row(grid.products, c+own.first+at)
	for k := range c {
		a := f.rowAgain(own, at, k)
		used := blas64.Dot(dense.Vec(products.Data[c:][:p]), dense.Column(f.h, k))
		if err := verify("a row of products of columns", used, a.fitted, a.limit); err != nil {
			return err
		}
		if err := verify("a product with the data", products.Data[k], a.data, a.limit); err != nil {
			return err
		}
	}
	feature := fourier.Feature(2 + pick(grid.columns.Rows-2, f.noise, f.g.Data[0], own.scale))
	f.strip = dense.Reshape(f.strip, len(own.features), 1)
	f.circle.moments.Gram(f.strip, own.features, []fourier.Feature{feature})
	var want, size float64
	for i, w := range f.weightsOf(own, at) {
		want += w * f.strip.Data[i]
		size += math.Abs(w)
	}
	if feature.Frequency()%2 == 1 {
		want = -want
	}
	used := dense.Row(grid.columns, int(feature)).Data
	if err := verify("a sum over the grid", used[c+own.first+at], want, backward*float64(len(f.lambda))*size); err != nil {
		return err
	}
	data := math.Abs(f.circle.columns.Data[int(feature)*f.circle.columns.Stride])
	return verify("a sum of the data over the grid", math.Abs(used[0]), data, backward*data)
}
