package statespace

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// A Filter computes columns beside the first in the loop of the first one, which mostly waits for its covariance: they fill
// the gaps. Operations that are linear in whole columns run for a chunk of inputs at a time, in the nearest cache: the
// products e_aᵀS⁻¹e_b, and the combinations CR of errors and means for the way back.

// chunk is the number of inputs processed at a time.
const chunk = 256

// MeansKept returns for how many of the columns a Filter keeps the means, n·D numbers each. Beyond panelWidth it keeps the
// first column's only: the others follow from their errors, see replay.
func MeansKept(columns int) int {
	if columns > panelWidth {
		return 1
	}
	return columns
}

// means returns the number of rows of n means, and the distance in mean between the rows of the columns after the first: 0 if
// they are not kept, so that all write to one row.
func (f *Filter) means() (rows, step int) {
	if MeansKept(f.cols) < f.cols {
		return 2, 0
	}
	return max(1, f.cols), len(f.t)
}

// mark stores the state of all columns before a chunk of inputs, if their means are not kept. first is the state of the first
// column.
func (f *Filter) mark(from int, first ...float64) {
	if len(f.marks) > 0 {
		to := f.marks[from/chunk*f.cols*f.dim:][:f.cols*f.dim]
		copy(to, first)
		copy(to[f.dim:], f.after)
	}
}

// observed returns the mean and the error of column c at observation i, after recall.
func (f *Filter) observed(c, i int) (mean []float64, e float64) {
	n := len(f.t)
	e = f.errs[c*n+i]
	if len(f.marks) > 0 {
		return f.mixedMean[(c*chunk+i%chunk)*f.dim:][:f.dim], e
	}
	return f.mean[(c*n+i)*f.dim:][:f.dim], e
}

// recall computes the means of all columns at observation i for seen. It uses the memory of a sweep.
func (f *Filter) recall(i int) {
	if len(f.marks) == 0 || f.recalled == i/chunk+1 {
		return
	}
	f.recalled = i/chunk + 1
	from, n, d := i-i%chunk, len(f.t), f.dim
	to := min(from+chunk, n)
	f.roomToReplay(f.cols)
	copy(f.replayed, f.marks[from/chunk*f.cols*d:])
	for c := range f.cols {
		copy(f.mixedErrs[c*chunk:], f.errs[c*n+from:c*n+to])
	}
	f.replay(0, f.cols, from, to)
}

// replay sets mixedMean of cols columns from j on, at inputs from … to−1, from mixedErrs and from the previous states in
// replayed:
//
//	m_i = Φ_i·x_{i−1},  x_i = m_i + k_i·e_i.
//
// With one component it only reads what the columns share, and may run for several ranges of columns at the same time.
func (f *Filter) replay(j, cols, from, to int) {
	d, blocks := f.dim, len(f.system.blocks) > 0
	if f.single() {
		for c := j; c < j+cols; c++ {
			x := f.replayed[c*d:][:d]
			errs, means := f.mixedErrs[c*chunk:][:to-from], f.mixedMean[c*chunk*d:][:(to-from)*d]
			switch d {
			case 1:
				f.replay1(x, means, errs, from, to)
			case 2:
				f.replay2(x, means, errs, from, to)
			default:
				f.replay3(x, means, errs, from, to)
			}
		}
		return
	}
	for i := from; i < to; i++ {
		if blocks {
			f.gainBlocks(i)
		} else {
			f.transitions(i)
			f.gain(i)
		}
		for c := j; c < j+cols; c++ {
			at, x := c*chunk+i-from, f.replayed[c*d:][:d]
			mean := f.mixedMean[at*d:][:d]
			if blocks {
				f.turn(mean, x, i)
			} else {
				f.forth(mean, x)
			}
			f.move(x, mean, f.mixedErrs[at])
		}
	}
}

// single reports whether there is one component.
func (f *Filter) single() bool { return len(f.cs) == 1 && len(f.system.blocks) == 0 }

// panelWidth is the number of columns in a matrix product. Fewer are multiplied one after another.
const panelWidth = 32

// productRows is the number of rows of CᵀA⁻¹C computed at a time: larger numbers compute more above the diagonal.
const productRows = 16

// From fewAside columns on, their products take longer than another processor needs to start. Above manyAside they take so
// much longer than the rest that running them beside it gains nothing, and they leave the caches.
const fewAside, manyAside = 12, 128

// scaledIn returns the memory for e/s of the columns after the first at a chunk of inputs. There are two, since the products
// of the previous chunk may still read the other.
func (f *Filter) scaledIn(from int) []float64 {
	size := len(f.scaled) / 2
	return f.scaled[from/chunk%2*size:][:size]
}

// addProducts adds the contribution of inputs from … to−1 to the lower triangle of CᵀA⁻¹C, except the first column's own
// entry, possibly in another goroutine until f waits for it. scaledIn holds e/s of the columns after the first.
func (f *Filter) addProducts(from, to int) {
	f.beside.Wait()
	if p := f.panelsOf(from, to); f.cols < fewAside {
		p.add(0)
	} else {
		f.beside.Start(f.Ctx, (f.cols-2+productRows)/productRows, p.add)
	}
	if f.cols > manyAside {
		f.beside.Wait()
	}
}

// panelsOf returns the panels for inputs from … to−1.
func (f *Filter) panelsOf(from, to int) *panels {
	p := &f.panels
	p.from, p.to = from, to
	if p.add == nil {
		p.add, p.mix = f.addPanel, func(k int) {
			f.mixPanel(p.r, k*panelWidth, min(panelWidth, p.r.Cols-k*panelWidth), p.from, p.to)
		}
	}
	return p
}

// addPanel adds productRows rows of products, the longest first.
func (f *Filter) addPanel(k int) {
	n, from, w := len(f.t), f.panels.from, f.panels.to-f.panels.from
	of := f.scaledIn(from)
	a := 1 + ((f.cols-2)/productRows-k)*productRows
	rows := min(productRows, f.cols-a)
	if f.cols <= panelWidth {
		for row := a; row < a+rows; row++ {
			errs := blas64.General{Rows: row + 1, Cols: w, Stride: n, Data: f.errs[from:]}
			blas64.Gemv(blas.NoTrans, 1, errs, dense.Vec(of[(row-1)*chunk:][:w]), 1, dense.Vec(f.gram[row*f.cols:][:row+1]))
		}
		return
	}
	scaled := blas64.General{Rows: rows, Cols: w, Stride: chunk, Data: of[(a-1)*chunk:]}
	for b := 0; b < a+rows; b += panelWidth {
		cols := min(panelWidth, f.cols-b, a+rows-b)
		errs := blas64.General{Rows: cols, Cols: w, Stride: n, Data: f.errs[b*n+from:]}
		gram := blas64.General{Rows: rows, Cols: cols, Stride: f.cols, Data: f.gram[a*f.cols+b:]}
		dense.Gemm(blas.NoTrans, blas.Trans, 1, scaled, errs, 1, gram)
	}
}

// mix returns the means and errors of the first column of CR at some inputs, and sets mixedMean and mixedErrs for all columns,
// column j from j·chunk on. They are zeros if R has no column.
func (f *Filter) mix(r blas64.General, from, to int) (mean, errs []float64) {
	d, w := f.dim, to-from
	if f.cols == 1 && r.Cols == 1 && r.Data[0] == 1 {
		return f.mean[from*d : to*d], f.errs[from:to]
	}
	if r.Cols <= panelWidth {
		for j := range max(1, r.Cols) {
			f.mixPanel(r, j, 1, from, to)
		}
	} else {
		p := f.panelsOf(from, to)
		p.r = r
		parallel.Within(f.Ctx, (r.Cols+panelWidth-1)/panelWidth, p.mix)
	}
	if len(f.marks) > 0 && !f.single() {
		f.replay(0, max(1, r.Cols), from, to)
	}
	return f.mixedMean[:w*d], f.mixedErrs[:w]
}

// Residuals sets alpha to A⁻¹Cv for v, c×1, in O(nD) for one component and O(nD²) for more: the backward sweep without
// derivatives.
func (f *Filter) Residuals(alpha []float64, v blas64.General) {
	if v.Rows != f.cols || v.Cols != 1 || len(alpha) != len(f.t) {
		panic(fmt.Sprintf("statespace: Residuals: %d×%d weights of %d columns, for %d of %d inputs",
			v.Rows, v.Cols, f.cols, len(alpha), len(f.t)))
	}
	n, blocks := len(f.t), len(f.system.blocks) > 0
	clear(f.r)
	errs := blas64.General{Rows: f.cols, Cols: n, Stride: n, Data: f.errs}
	product(v, errs, blas64.General{Rows: 1, Cols: n, Stride: n, Data: alpha})
	var r1, r2, r3 float64 // for one component
	single := -1
	if len(f.cs) == 1 && !blocks {
		single = f.cs[0].Order
	}
	for to := n; to > 0; {
		parallel.Look(f.Ctx)
		from := (to - 1) / chunk * chunk
		for i := to - 1; i >= from; i-- {
			e, is := alpha[i], f.inv[i]
			switch {
			case single == 0:
				e = (e - f.cov[i]*r1) * is
				r1 = f.steps[0].e[i] * (r1 + e)
			case single == 1:
				s, p := &f.steps[0], f.cov[4*i:4*i+2:4*i+2]
				e = (e - p[0]*r1 - p[1]*r2) * is
				r1 += e
				r1, r2 = s.e[i]*r1, s.e[i]*(r2+s.a[i]*r1)
			case single == 2:
				s, p := &f.steps[0], f.cov[9*i:9*i+3:9*i+3]
				e = (e - p[0]*r1 - p[1]*r2 - p[2]*r3) * is
				r1 += e
				a := s.a[i]
				r1, r2, r3 = s.e[i]*r1, s.e[i]*(r2+a*r1), s.e[i]*(r3+a*r2+0.5*a*a*r1)
			case blocks:
				f.gainBlocks(i)
				e = f.informBlocks(f.r, e, i)
				f.turnBack(f.w, f.r, i)
				copy(f.r, f.w)
			default:
				f.gain(i)
				e = f.inform(f.r, e, i)
				f.transitions(i)
				f.back(f.w, f.r)
				copy(f.r, f.w)
			}
			alpha[i] = e
		}
		to = from
	}
}

// mixPanel is mix for cols columns from j on.
func (f *Filter) mixPanel(r blas64.General, j, cols, from, to int) {
	n, d, w := len(f.t), f.dim, to-from
	mixed := blas64.General{Rows: cols, Cols: w, Stride: chunk, Data: f.mixedErrs[j*chunk:]}
	mixedMean := blas64.General{Rows: cols, Cols: w * d, Stride: chunk * d, Data: f.mixedMean[j*chunk*d:]}
	first, last := f.extent(r, j, cols)
	if first == last {
		for i := range cols {
			clear(mixed.Data[i*chunk:][:w])
			clear(mixedMean.Data[i*chunk*d:][:w*d])
		}
		if len(f.marks) > 0 {
			clear(f.replayed[j*d:][:cols*d])
		}
		return
	}
	of := blas64.General{Rows: last - first, Cols: cols, Stride: r.Stride, Data: r.Data[first*r.Stride+j:]}
	errs := blas64.General{Rows: of.Rows, Cols: w, Stride: n, Data: f.errs[first*n+from:]}
	product(of, errs, mixed)
	if len(f.marks) > 0 {
		marks := blas64.General{Rows: of.Rows, Cols: d, Stride: d, Data: f.marks[(from/chunk*f.cols+first)*d:]}
		product(of, marks, blas64.General{Rows: cols, Cols: d, Stride: d, Data: f.replayed[j*d:]})
		if f.single() {
			f.replay(j, cols, from, to)
		}
		return
	}
	means := blas64.General{Rows: of.Rows, Cols: w * d, Stride: n * d, Data: f.mean[(first*n+from)*d:]}
	product(of, means, mixedMean)
}

// product sets c to aᵀb.
func product(a, b, c blas64.General) {
	if c.Rows == 1 {
		blas64.Gemv(blas.Trans, 1, b, blas64.Vector{N: a.Rows, Inc: a.Stride, Data: a.Data}, 0, dense.Vec(c.Data[:c.Cols]))
		return
	}
	dense.Gemm(blas.Trans, blas.NoTrans, 1, a, b, 0, c)
}

// extent returns the range of nonzero rows in some columns of R, which is mostly triangular.
func (f *Filter) extent(r blas64.General, from, cols int) (first, last int) {
	if r.Cols == 0 {
		return 0, 0
	}
	for c := range f.cols {
		for _, v := range r.Data[c*r.Stride+from:][:cols] {
			if v != 0 {
				if last == 0 {
					first = c
				}
				last = c + 1
				break
			}
		}
	}
	return first, last
}

// roomToMix allocates the memory of mix, and returns the number of columns of CR after the first.
func (f *Filter) roomToMix(r blas64.General) (others int) {
	cols := max(1, r.Cols)
	f.roomToReplay(cols)
	f.recalled = 0
	f.after = dense.Resize(f.after, (cols-1)*f.dim)
	clear(f.after)
	return cols - 1
}

// roomToReplay allocates memory for means and errors of cols columns at a chunk of inputs.
func (f *Filter) roomToReplay(cols int) {
	f.mixedErrs, f.mixedMean = dense.Resize(f.mixedErrs, cols*chunk), dense.Resize(f.mixedMean, cols*chunk*f.dim)
	if len(f.marks) > 0 {
		f.replayed = dense.Resize(f.replayed, cols*f.dim)
	}
}

// replay1 is replay of one column, for one component of order 0. x is the previous state.
func (f *Filter) replay1(x, means, errs []float64, from, to int) {
	_, es, _, cov, inv := f.part(from, to)
	m := x[0]
	for i, e := range es {
		m *= e
		means[i] = m
		m += cov[i] * inv[i] * errs[i]
	}
}

// replay2 is replay1 for order 1.
func (f *Filter) replay2(x, means, errs []float64, from, to int) {
	as, es, _, cov, inv := f.part(from, to)
	m1, m2 := x[0], x[1]
	for i, a := range as {
		e, mi, p := es[i], means[2*i:2*i+2:2*i+2], cov[4*i:4*i+2:4*i+2]
		m1, m2 = e*(m1+a*m2), e*m2
		mi[0], mi[1] = m1, m2
		scaled := inv[i] * errs[i]
		m1, m2 = m1+p[0]*scaled, m2+p[1]*scaled
	}
}

// replay3 is replay1 for order 2.
func (f *Filter) replay3(x, means, errs []float64, from, to int) {
	as, es, _, cov, inv := f.part(from, to)
	m1, m2, m3 := x[0], x[1], x[2]
	for i, a := range as {
		e, mi, p := es[i], means[3*i:3*i+3:3*i+3], cov[9*i:9*i+3:9*i+3]
		m1, m2, m3 = e*(m1+a*m2+0.5*a*a*m3), e*(m2+a*m3), e*m3
		mi[0], mi[1], mi[2] = m1, m2, m3
		scaled := inv[i] * errs[i]
		m1, m2, m3 = m1+p[0]*scaled, m2+p[1]*scaled, m3+p[2]*scaled
	}
}

// part returns the transitions into inputs from … to−1, with P and 1/s.
func (f *Filter) part(from, to int) (a, e, g, cov, inv []float64) {
	st, dd := &f.steps[0], f.dim*f.dim
	return st.a[from:to], st.e[from:to], st.g[from:to], f.cov[dd*from : dd*to], f.inv[from:to]
}
