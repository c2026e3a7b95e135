package gppl

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// What the mixed engine computes where B is the noise and other terms of the kernel: another engine factorises it, and is
// given the columns of Φ beside those of the data.

// mixedBase is B = K + noise for the terms that are no waves.
type mixedBase struct {
	of     []basePart // none: there is no base
	family Kernel
	theta  []float64
	model  compiled

	engine exactEngine  // of line
	made   int          // which of the engines it is, and −1 before there is one; gridBase: it has no line
	line   *line        // the data with the columns (Y, E, E′), E and E′ not whitened
	grid   gridObserved // what the engine on a grid reads
	factor exactFactor
	g      blas64.General // (Y, E, E′)ᵀB⁻¹(Y, E, E′)
	r      blas64.General // see spread
	grad   []float64
}

// bases make the engines that may factorise B.
var bases = [...]func(l *line) exactEngine{
	func(l *line) exactEngine { return newStateSpaceExact(l) },
	func(l *line) exactEngine { return newBandedExact(l) },
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
		return 2 * e.line.span
	}
	return e.line.span
}

// baseForecast returns which engine is to factorise the base, and what it takes with the columns of a division beside.
func (e *mixedExact) baseForecast(b *mixedBase, d *division) (which int, f forecast) {
	which, f = gridBase, e.gridForecast(b, d)
	p, n, c := d.p, float64(len(e.line.t)), d.p+d.moving+float64(e.line.columns.Cols)
	for i, probe := range e.probes {
		g := probe.forecast(&b.model)
		if g.reason != (reason{}) {
			continue
		}
		if d := float64(stateDim(b.model.markov.components)); probe.name() == EngineStateSpace {
			g.seconds += n*c*(2+d*d)*2e-9 + (n*c*c+(1+d)*n*p*p)/flopRate + n*p*1.5e-8
			g.bytes += 8 * n * c * (d + 2)
		} else { // from the time the width of the band follows
			width := math.Sqrt(g.seconds * 1.5 * flopRate / (3 * n))
			g.seconds += n*c*(4*width+2*c)/flopRate + n*p*1.5e-8
			g.bytes += 8 * n * 3 * c
		}
		if f.reason != (reason{}) || e.favour*g.seconds < f.seconds {
			which, f = i, g
		}
	}
	return which, f
}

// fillLine sets the engine of the base, which reads the columns.
func (f *mixedFactor) fillLine() {
	b, own := &f.base, f.engine.line
	wide := f.features() + f.shift + own.columns.Cols
	if b.made != f.which || b.line.columns.Cols != wide {
		b.made, b.line = f.which, new(line)
		*b.line = *own
		b.line.columns, b.line.y = dense.New(len(own.t), wide), nil
		b.engine = bases[f.which](b.line)
	}
	f.fillColumns(b.line.columns)
}

// fillBase sets EᵀB⁻¹E and what there is of the columns, by the engine of the base.
func (f *mixedFactor) fillBase() error {
	b := &f.base
	p, c := f.features(), f.engine.line.columns.Cols
	wide := p + f.shift + c
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
	f.room()
	f.t.EachTile(func(i, j int, t blas64.General) { block(t, c+i*dense.Tile, c+j*dense.Tile) })
	block(f.zz, 0, 0)
	block(f.b, c, 0)
	block(f.moved, c+p, c)
	block(f.movedB, c+p, 0)
	return nil
}

// fillColumns sets dst to (Y, E, E′).
func (f *mixedFactor) fillColumns(dst blas64.General) {
	own := f.engine.line
	p, c, n := f.features(), own.columns.Cols, len(own.t)
	parallel.Within(f.ctx, (n+mixedBlock-1)/mixedBlock, func(k int) {
		from := k * mixedBlock
		rows := dense.Rows(dst, from, min(mixedBlock, n-from))
		dense.Copy(blas64.General{Rows: rows.Rows, Cols: c, Stride: rows.Stride, Data: rows.Data}, dense.Rows(own.columns, from, rows.Rows))
		room := f.engine.waves.Get()
		for i := range f.terms {
			w := &f.terms[i]
			room.rows = dense.Reshape(room.rows, w.size, rows.Rows)
			w.fill(room.rows, &w.points, from, room)
			for j := range rows.Rows {
				row := rows.Data[j*rows.Stride:]
				for a := range w.size {
					row[c+w.first+a] = room.rows.Data[a*rows.Rows+j]
				}
				if w.moving < 0 {
					continue
				}
				away := own.t[from+j] - own.middle()
				for a, v := range row[c+w.first:][:len(w.features)] {
					row[c+p+w.moving+a] = away * v
				}
			}
		}
		f.engine.waves.Put(room)
	})
}

// baseGradient adds the derivatives in the parameters of the base and in σ²: with U = A⁻¹YR = B⁻¹(YR − EhR) and
// A⁻¹ = B⁻¹ − B⁻¹E·L⁻ᵀL⁻¹·EᵀB⁻¹ they are those of B for the columns (Y, E) times (R, 0; −hR, L⁻ᵀ).
func (f *mixedFactor) baseGradient(grad []float64, r blas64.General) error {
	b := &f.base
	p, c := f.features(), f.b.Cols
	b.r = dense.Reshape(b.r, b.g.Rows, r.Cols+p)
	clear(b.r.Data)
	for i := range c {
		copy(b.r.Data[i*b.r.Stride:][:r.Cols], r.Data[i*r.Stride:])
	}
	for i := range p {
		row := b.r.Data[(c+i)*b.r.Stride:]
		for k, u := range f.u.Data[i*f.u.Stride:][:r.Cols] {
			row[k] = -u
		}
	}
	f.inverse.EachTile(func(i, j int, t blas64.General) {
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
