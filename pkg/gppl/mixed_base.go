package gppl

import (
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/costs"
	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/mixed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// The mixed engine with a base: B is the noise plus other terms of the kernel. Another engine factorises B, and gets the
// columns of Φ beside the data's.

// mixedBase is B = K + noise for the terms that are no waves.
type mixedBase struct {
	of     []basePart // terms of the base; empty without a base
	family Kernel
	theta  []float64
	model  compiled

	engine exactEngine    // engine for line
	made   int            // index of the engine, −1 before there is one; gridBase has no line
	line   *observed.Line // the data with the columns (Y, E, E′), E and E′ not whitened
	grid   mixed.Grid     // data of the engine on a grid
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
	b.model.noise, b.model.ctx = m.noise, m.ctx // noise includes the nugget
	return err
}

// baseEstimate returns the index of the cheapest engine for the base, and its estimate with the columns of a division.
func (e *mixedExact) baseEstimate(b *mixedBase, d *division) (which int, f choice.Estimate) {
	which, f = gridBase, e.gridEstimate(b, d)
	p, n, c := d.p, float64(len(e.line.T)), d.p+d.moving+float64(e.line.Columns.Cols)
	for i, probe := range e.probes {
		g := probe.estimate(&b.model)
		if g.Reason.Given() {
			continue
		}
		if probe.name() == EngineStateSpace {
			d := 0.0
			if m := &b.model; m.hasState && m.state.summable() {
				d, _ = m.state.size()
			}
			kept := float64(statespace.MeansKept(int(c)))
			g.Seconds += n*c*(2+d*d)*2e-9 + costs.Of(costs.MixedBaseProduct, n*c*c+(1+d*kept/c)*n*p*p) +
				n*p*1.5e-8 + n*(c-kept)*d*replaySeconds
			g.Bytes += 8 * n * (2*c + d*kept)
		} else {
			width := g.Bytes / (8 * n)
			g.Seconds += costs.Of(costs.MixedBaseProduct, n*c*(4*width+2*c)) + n*p*1.5e-8
			g.Bytes += 8 * n * 3 * c
		}
		if f.Reason.Given() || e.favour*g.Seconds < f.Seconds {
			which, f = i, g
		}
	}
	return which, f
}

// replaySeconds is the time per number of a column's mean that a state space does not keep.
const replaySeconds = 3e-9

// fillLine sets the engine of the base for the columns.
func (f *mixedFactor) fillLine() {
	b, own := &f.base, f.engine.line
	wide := f.Columns() + f.Shift + own.Columns.Cols
	if b.made != f.which {
		b.made, b.line = f.which, new(observed.Line)
		*b.line = *own
		b.line.Columns, b.line.Y = blas64.General{}, nil
		b.engine = bases[f.which](b.line)
	}
	// A different number of harmonics needs no new memory.
	b.line.Columns, b.line.Unread = dense.Reshape(b.line.Columns, len(own.T), wide), f.Shift
	f.FillColumns(b.line.Columns)
}

// fillBase sets EᵀB⁻¹E and the products with the columns, by the engine of the base.
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
	f.Allocate()
	f.T.EachTile(func(i, j int, t blas64.General) { block(t, c+i*dense.Tile, c+j*dense.Tile) })
	block(f.ZZ, 0, 0)
	block(f.B, c, 0)
	block(f.Moved, c+p, c)
	block(f.MovedB, c+p, 0)
	return nil
}

// spread sets b.r to (R; −hR), with room for a number of further columns, zeros: A⁻¹YR = B⁻¹(Y, E)·(R; −hR). It needs hR.
func (f *mixedFactor) spread(r blas64.General, further int) {
	b, c := &f.base, f.B.Cols
	b.r = dense.Reshape(b.r, b.g.Rows, r.Cols+further)
	clear(b.r.Data)
	for i := range c {
		copy(b.r.Data[i*b.r.Stride:][:r.Cols], r.Data[i*r.Stride:])
	}
	for i := range f.Columns() {
		row := b.r.Data[(c+i)*b.r.Stride:]
		for k, u := range f.U.Data[i*f.U.Stride:][:r.Cols] {
			row[k] = -u
		}
	}
}

// baseGradient adds the derivatives in the parameters of the base and in σ²: with U = A⁻¹YR = B⁻¹(YR − EhR) and A⁻¹ = B⁻¹ −
// B⁻¹E·L⁻ᵀL⁻¹·EᵀB⁻¹ they are B's derivatives for the columns (Y, E) times (R, 0; −hR, L⁻ᵀ).
func (f *mixedFactor) baseGradient(grad []float64, r blas64.General) error {
	b := &f.base
	p, c := f.Columns(), f.B.Cols
	f.spread(r, p)
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

// The mixed engine on a grid: B is even noise plus one kernel that the gridded engine supports, such as SE. The products of
// the grid's waves with the columns of E follow from the sums over the data on one circle, so an evaluation does not depend on
// n.

// gridBase is the index of the gridded engine among the bases.
const gridBase = len(bases)

// gridColumns is the number of columns from which a kernel is put on a grid: p³ operations then take as long.
const gridColumns = 300

// gridTerm returns the index of the term to put on a grid, −1 if there is none.
func (e *mixedExact) gridTerm(m *compiled) (term int) {
	term = -1
	most := float64(gridColumns)
	if !e.line.Noise.Even() || len(m.split.signal) < 2 || m.variance > griddedContrast*m.noise {
		return term
	}
	for i, k := range m.split.signal {
		if _, ok := k.(capability.Spectrum); !ok {
			continue
		}
		if columns := 2 * bandwidth(k, 1e-14) * e.line.Span; columns > most && reach(k, 1e-16) < 0.1*e.line.Span {
			term, most = i, columns
		}
	}
	return term
}

// gridEstimate returns the estimate for a base on a grid.
func (e *mixedExact) gridEstimate(b *mixedBase, d *division) choice.Estimate {
	if d.grid < 0 {
		return choice.Cannot(noWaves)
	}
	k := d.rest[0].kernel
	f := e.grid.estimate(&b.model)
	if f.Reason.Given() {
		return f
	}
	period, highest := e.circleFor(d)
	frequencies := rootFrequencies(k, period)
	if most := max(frequencies, highest); !(most < maxSummed) || d.widest*period > mixed.WidestPacket {
		return spectral.TooMany(most)
	}
	whole, _ := e.onCircle(d, period)
	columns := d.p + d.moving + float64(e.line.Columns.Cols)
	f.Seconds = costs.Of(costs.GriddedPoint, 2*frequencies) + costs.Of(costs.GriddedOnce, 1) +
		(whole+4*frequencies)*whole*2e-9 + columns*frequencies*(100e-9+columns*4e-9)
	f.Bytes = 2*frequencies*(griddedBytes+24*columns) + 16*highest
	f.Setup = e.sums.Pass(300e-9) + max(highest, frequencies)*sumSeconds
	return f
}

// fillGrid sets the engine of the base from sums.
func (f *mixedFactor) fillGrid() {
	f.FillSums()
	b := &f.base
	b.made = gridBase
	b.grid.Line, b.grid.Factor, b.grid.Highest = f.engine.line, &f.Factor,
		int(rootFrequencies(f.division.rest[0].kernel, f.Circle.Period))
	e, ok := b.engine.(*griddedExact)
	if !ok {
		e = new(griddedExact)
		b.engine = e
	}
	e.Read(&b.grid)
	e.Forget()
	e.yy = b.grid.Squares()
}
