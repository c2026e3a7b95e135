package gppl

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/mixed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// What the mixed engine computes where B is the noise and other terms of the kernel: another engine factorises it, and is
// given the columns of Φ beside those of the data.

// mixedBase is B = K + noise for the terms that are no waves.
type mixedBase struct {
	of     []basePart // none: there is no base
	family Kernel
	theta  []float64
	model  compiled

	engine exactEngine    // of line
	made   int            // which of the engines it is, and −1 before there is one; gridBase: it has no line
	line   *observed.Line // the data with the columns (Y, E, E′), E and E′ not whitened
	grid   gridObserved   // what the engine on a grid reads
	factor exactFactor
	g      blas64.General // (Y, E, E′)ᵀB⁻¹(Y, E, E′)
	r      blas64.General // see spread
	grad   []float64
}

// bases make the engines that may factorise B.
var bases = [...]func(l *observed.Line) exactEngine{
	func(l *observed.Line) exactEngine { return newStateSpaceExact(l) },
	func(l *observed.Line) exactEngine { return newBandedExact(l) },
}

// compile sets the base to the given terms of a model.
func (b *mixedBase) compile(m *compiled, of []basePart) error {
	if !slices.EqualFunc(b.of, of, basePart.sameFamily) {
		*b = mixedBase{of: slices.Clone(of), made: -1}
		if len(of) == 0 {
			return nil
		}
		var terms []Kernel
		for _, part := range of {
			terms = append(terms, part.kernel)
		}
		if b.family = terms[0]; len(terms) > 1 {
			b.family = Add(terms...)
		}
	}
	if len(of) == 0 {
		return nil
	}
	b.theta = b.theta[:0]
	for _, part := range of {
		b.theta = append(b.theta, m.theta[m.split.offset[part.index]:m.split.end[part.index]]...)
	}
	b.theta = append(b.theta, m.noise)
	err := b.model.compile(b.family, b.theta)
	b.model.noise, b.model.ctx = m.noise, m.ctx // a nugget is in it already
	return err
}

// spanOf is the distance up to which waves are to represent a kernel: for a posterior with a base, as far from the data as
// they reach.
func (e *mixedExact) spanOf(rest []basePart) float64 {
	if e.tight && len(rest) > 0 {
		return 2 * e.line.Span
	}
	return e.line.Span
}

// baseForecast returns which engine is to factorise the base, and what it takes with the columns of a division beside.
func (e *mixedExact) baseForecast(b *mixedBase, d *division) (which int, f choice.Forecast) {
	which, f = gridBase, e.gridForecast(b, d)
	p, n, c := d.p, float64(len(e.line.T)), d.p+d.moving+float64(e.line.Columns.Cols)
	for i, probe := range e.probes {
		g := probe.forecast(&b.model)
		if g.Reason.Given() {
			continue
		}
		if d := float64(stateDim(b.model.markov.components)); probe.name() == EngineStateSpace {
			kept := float64(statespace.MeansKept(int(c)))
			g.Seconds += n*c*(2+d*d)*2e-9 + (n*c*c+(1+d*kept/c)*n*p*p)/flopRate + n*p*1.5e-8 + n*(c-kept)*d*replaySeconds
			g.Bytes += 8 * n * (2*c + d*kept)
		} else { // from the time the width of the band follows
			width := math.Sqrt(g.Seconds * 1.5 * flopRate / (3 * n))
			g.Seconds += n*c*(4*width+2*c)/flopRate + n*p*1.5e-8
			g.Bytes += 8 * n * 3 * c
		}
		if f.Reason.Given() || e.favour*g.Seconds < f.Seconds {
			which, f = i, g
		}
	}
	return which, f
}

// replaySeconds is the time for each number of the mean of a column that a state space does not keep.
const replaySeconds = 3e-9

// fillLine sets the engine of the base, which reads the columns.
func (f *mixedFactor) fillLine() {
	b, own := &f.base, f.engine.line
	wide := f.Columns() + f.Shift + own.Columns.Cols
	if b.made != f.which {
		b.made, b.line = f.which, new(observed.Line)
		*b.line = *own
		b.line.Columns, b.line.Y = blas64.General{}, nil
		b.engine = bases[f.which](b.line)
	}
	// Another number of harmonics is no reason for new memory.
	b.line.Columns, b.line.Unread = dense.Reshape(b.line.Columns, len(own.T), wide), f.Shift
	f.FillColumns(b.line.Columns)
}

// fillBase sets EᵀB⁻¹E and what there is of the columns, by the engine of the base.
func (f *mixedFactor) fillBase() error {
	b := &f.base
	p, c := f.Columns(), f.engine.line.Columns.Cols
	wide := p + f.Shift + c
	if f.which == gridBase {
		f.fillGrid()
	} else {
		f.fillLine()
	}
	var err error
	if b.factor, err = b.engine.factor(&b.model); err != nil {
		return err
	}
	b.g = dense.Reshape(b.g, wide, wide)
	b.factor.gram(b.g)
	block := func(dst blas64.General, i, j int) {
		for a := range dst.Rows {
			copy(dst.Data[a*dst.Stride:][:dst.Cols], b.g.Data[(i+a)*b.g.Stride+j:])
		}
	}
	f.Room()
	f.T.EachTile(func(i, j int, t blas64.General) { block(t, c+i*dense.Tile, c+j*dense.Tile) })
	block(f.ZZ, 0, 0)
	block(f.B, c, 0)
	block(f.Moved, c+p, c)
	block(f.MovedB, c+p, 0)
	return nil
}

// baseGradient adds the derivatives in the parameters of the base and in σ²: with U = A⁻¹YR = B⁻¹(YR − EhR) and
// A⁻¹ = B⁻¹ − B⁻¹E·L⁻ᵀL⁻¹·EᵀB⁻¹ they are those of B for the columns (Y, E) times (R, 0; −hR, L⁻ᵀ).
func (f *mixedFactor) baseGradient(grad []float64, r blas64.General) error {
	b := &f.base
	p, c := f.Columns(), f.B.Cols
	b.r = dense.Reshape(b.r, b.g.Rows, r.Cols+p)
	clear(b.r.Data)
	for i := range c {
		copy(b.r.Data[i*b.r.Stride:][:r.Cols], r.Data[i*r.Stride:])
	}
	for i := range p {
		row := b.r.Data[(c+i)*b.r.Stride:]
		for k, u := range f.U.Data[i*f.U.Stride:][:r.Cols] {
			row[k] = -u
		}
	}
	f.Inverse.EachTile(func(i, j int, t blas64.General) {
		for a := range t.Rows {
			for d, v := range t.Data[a*t.Stride:][:t.Cols] {
				if row, col := i*dense.Tile+a, j*dense.Tile+d; col <= row {
					b.r.Data[(c+col)*b.r.Stride+r.Cols+row] = v
				}
			}
		}
	})
	b.grad = dense.Resize(b.grad, len(b.theta))
	if err := b.factor.gradient(b.grad, b.r); err != nil {
		return err
	}
	at, split := 0, &f.model.split
	for _, part := range b.of {
		own := split.own(grad[:len(grad)-1], part.index)
		dense.Add(own, b.grad[at:][:len(own)])
		at += len(own)
	}
	grad[len(grad)-1] = b.grad[at]
	return nil
}

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
		if _, ok := k.(Spectrum); !ok || !e.line.Noise.Even() || len(m.split.signal) < 2 || !(reach(k, 1e-16) < 0.1*e.line.Span) ||
			m.variance > griddedContrast*m.noise {
			continue
		}
		if columns := 2 * bandwidth(k, 1e-14) * e.line.Span; columns > most {
			term, most = i, columns
		}
	}
	return term
}

// gridForecast is the forecast for a base on a grid.
func (e *mixedExact) gridForecast(b *mixedBase, d *division) choice.Forecast {
	if d.grid < 0 {
		return choice.Cannot(noWaves)
	}
	k := d.rest[0].kernel
	f := e.grid.forecast(&b.model)
	if f.Reason.Given() {
		return f
	}
	period, highest := e.circleFor(d)
	frequencies := rootFrequencies(k, period)
	if most := max(frequencies, highest); !(most < maxSummed) || d.widest*period > mixed.WidestPacket {
		return tooMany(most)
	}
	whole, _ := e.onCircle(d, period)
	columns := d.p + d.moving + float64(e.line.Columns.Cols)
	f.Seconds = 2*frequencies*griddedSeconds + 2e-4 + (whole+4*frequencies)*whole*2e-9 + columns*frequencies*(100e-9+columns*4e-9)
	f.Bytes = 2*frequencies*(griddedBytes+24*columns) + 16*highest
	f.Setup = e.sums.Pass(300e-9) + max(highest, frequencies)*sumSeconds
	return f
}

// gridObserved is the data with the columns (Y, E, E′), by sums on the circle, in working memory.
type gridObserved struct {
	*observed.Line
	f        *mixedFactor
	highest  int
	products blas64.General // see squares
	features []fourier.Feature
	moments  fourier.Moments
	columns  blas64.General // sums of the columns
}

// circle begins half of a period before the middle of the data.
func (o *gridObserved) Circle() (observed.Circle, bool) {
	c := o.f.circle
	return observed.Circle{Origin: o.Middle() - 0.5*c.Period, Period: c.Period, Highest: o.highest, Resolves: noWaves, Beyond: "%v"}, true
}

// squares returns CᵀC but for E′ᵀE′, which nothing needs, given what fillSums has set.
func (o *gridObserved) Squares() blas64.General {
	f := o.f
	p, s, c := f.Columns(), f.Shift, f.B.Cols
	o.products = dense.Reshape(o.products, c+p+s, c+p+s)
	clear(o.products.Data)
	g := o.products
	place := func(i, j int, m blas64.General) {
		for a := range m.Rows {
			for b, v := range dense.Row(m, a).Data {
				v *= f.Noise
				g.Data[(i+a)*g.Stride+j+b], g.Data[(j+b)*g.Stride+i+a] = v, v
			}
		}
	}
	f.T.EachTile(func(i, j int, t blas64.General) { place(c+i*dense.Tile, c+j*dense.Tile, t) })
	place(0, 0, f.ZZ)
	place(c, 0, f.B)
	place(c+p, c, f.Moved)
	place(c+p, 0, f.MovedB)
	return g
}

// sums returns the moments and the sums of the columns: with the origin half of a period away, odd waves change their sign.
func (o *gridObserved) Sums(_, _ float64, m int) (fourier.Moments, blas64.General) {
	f := o.f
	o.moments = append(o.moments[:0], f.Circle.Moments[:2*(2*m+1)]...)
	for j := 2; j < len(o.moments); j += 4 {
		o.moments[j], o.moments[j+1] = -o.moments[j], -o.moments[j+1]
	}
	o.columns = dense.Reshape(o.columns, 2*(m+1), f.B.Cols+f.Columns()+f.Shift)
	o.features = dense.Resize(o.features, o.columns.Rows)
	for i := range o.features {
		o.features[i] = fourier.Feature(i)
	}
	f.Sums(o.columns, o.features)
	for i := 2; i < o.columns.Rows; i += 4 {
		for j := i; j < min(i+2, o.columns.Rows); j++ {
			blas64.Scal(-1, dense.Row(o.columns, j))
		}
	}
	verify.Tampered("mixed grid", o.columns.Data)
	return o.moments, o.columns
}

// fillGrid sets the engine of the base, which reads sums.
func (f *mixedFactor) fillGrid() {
	f.fillSums()
	b := &f.base
	b.made = gridBase
	b.grid.Line, b.grid.f, b.grid.highest = f.engine.line, f, int(rootFrequencies(f.division.rest[0].kernel, f.Circle.Period))
	e, ok := b.engine.(*griddedExact)
	if !ok {
		e = new(griddedExact)
		b.engine = e
	}
	e.Read(&b.grid)
	e.Circles.Forget()
	e.yy = b.grid.Squares()
}

// verifyGrid compares products with a column of E, made again, with those that were used: a row of EᵀE times h, those with the data,
// and with one wave of the grid.
func (f *mixedFactor) verifyGrid(a *mixed.Again) error {
	grid, c := &f.base.grid, f.B.Cols
	products := dense.Row(grid.products, c+a.Column).Data
	for k := range c {
		fitted, data, size := a.Row(k)
		used := blas64.Dot(dense.Vec(products[c:][:f.Columns()]), dense.Column(f.H, k))
		if err := verify.Near("a row of products of columns", used, fitted, verify.Backward*size); err != nil {
			return err
		}
		if err := verify.Near("a product with the data", products[k], data, verify.Backward*size); err != nil {
			return err
		}
	}
	feature := fourier.Feature(2 + verify.Pick(grid.columns.Rows-2, f.Noise, f.g.Data[0], f.terms[0].Coef[0]))
	used := dense.Row(grid.columns, int(feature)).Data
	want, size := a.Wave(feature)
	if feature.Frequency()%2 == 1 {
		want = -want
	}
	if err := verify.Near("a sum over the grid", used[c+a.Column], want, verify.Backward*size); err != nil {
		return err
	}
	data := math.Abs(dense.Row(f.Circle.Columns, int(feature)).Data[0])
	return verify.Near("a sum of the data over the grid", math.Abs(used[0]), data, verify.Backward*data)
}
