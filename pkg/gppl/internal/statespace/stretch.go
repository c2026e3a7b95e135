package statespace

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// A series that is too long for memory is filtered in stretches, in order. What a
// stretch y says of the state x before it, and where it leaves the state, is an
// Element: with x₀ the state right after the observation before the stretch, and x₁ the
// one right after its last,
//
//	p(x₁ | x₀, y) = N(A·x₀ + b, C),   −2·log p(y | x₀) = |R·x₀ − d|² + form + logdet
//
// (the constant n·log 2π apart). Elements of neighbouring stretches combine into that of
// both, and the operation is associative, so that elements can be made at the same time,
// anywhere. This is the filtering element (A, b, C, η, J) of Särkkä and García-Fernández
// (2021, "Temporal parallelization of Bayesian smoothers", eq. 10 to 12), with J = RᵀR and
// η = Rᵀd by their root, so that rounding costs √(v/σ²) and not v/σ², and with the constant
// of the likelihood.

// An Element is what a stretch of a series comes down to at one θ.
type Element struct {
	Form, LogDet float64 // what the value has beside |R·x₀ − d|²
	dim          int
	a, c, r      []float64 // D×D
	b, d         []float64 // D
}

func (e *Element) fit(dim int) {
	e.dim = dim
	for _, m := range []*[]float64{&e.a, &e.c, &e.r} {
		*m = dense.Resize(*m, dim*dim)
	}
	e.b, e.d = dense.Resize(e.b, dim), dense.Resize(e.d, dim)
}

// Nothing returns the element of no observations at no time, A = I, which changes none
// that it is merged with.
func Nothing(dim int) *Element {
	e := new(Element)
	e.fit(dim)
	for i := range dim {
		e.a[i*dim+i] = 1
	}
	return e
}

// A State is what the observations up to a time say of x right after them: mean and
// covariance, in the basis of a Filter.
type State struct {
	At        float64   // −Inf where there are none
	Mean, Cov []float64 // D, D×D
}

// fit brings a state of nothing to the size.
func (s *State) fit(dim int) {
	if !math.IsInf(s.At, -1) {
		checkSize("state", s.Mean, s.Cov, dim)
		return
	}
	s.Mean, s.Cov = dense.Resize(s.Mean, dim), dense.Resize(s.Cov, dim*dim)
	clear(s.Mean)
	clear(s.Cov)
}

// An Adjoint is what the observations after a time say of x right after the one at it: its
// mean and covariance given all are m + PR and P − PNP.
type Adjoint struct {
	Known bool
	R, N  []float64 // D, D×D
}

func (a *Adjoint) fit(dim int) {
	if a.Known {
		checkSize("adjoint", a.R, a.N, dim)
		return
	}
	a.R, a.N = dense.Resize(a.R, dim), dense.Resize(a.N, dim*dim)
	clear(a.R)
	clear(a.N)
}

func checkSize(what string, x, m []float64, dim int) {
	if len(x) != dim || len(m) != dim*dim {
		panic(fmt.Sprintf("statespace: %s of %d and %d numbers, want %d and %d", what, len(x), len(m), dim, dim*dim))
	}
}

// Reset gives the filter other inputs, ascending, which it keeps, without known errors and
// without what lies around them.
func (f *Filter) Reset(t []float64) {
	checkSorted(t)
	f.t, f.known, f.share = t, nil, nil
	f.start, f.end = State{At: math.Inf(-1)}, Adjoint{}
}

// Between says what was known before the first input and what is after the last one. The
// next Factorise and the Gradient and Posterior after it then are those of a series of
// which the inputs are a stretch, of one column: Gram and LogDet have the parts that the
// stretch adds. Both are kept.
func (f *Filter) Between(start State, end Adjoint) {
	if len(f.t) > 0 && f.t[0] < start.At {
		panic(fmt.Sprintf("statespace: the stretch begins at %v, before %v", f.t[0], start.At))
	}
	f.start, f.end = start, end
}

// forgotten is the size of A, relative to the standard deviations of the state, from which
// a stretch knows nothing of what was before it: the likelihood feels A·√(v/σ²).
const forgotten = 1e-30

// Reduce sets dst to the element of the stretch at the inputs, whose observations are y,
// after an input at before, −Inf if the stretch is the first. It filters from a state that
// is known to be 0, and follows A until it is forgotten.
func (f *Filter) Reduce(dst *Element, before float64, y []float64, cs []Component, noise float64) error {
	dim := stateDim(cs)
	f.Between(State{At: before, Mean: make([]float64, dim), Cov: make([]float64, dim*dim)}, Adjoint{})
	if err := f.Factorise(blas64.General{Rows: len(y), Cols: 1, Stride: 1, Data: y}, cs, noise); err != nil {
		return err
	}
	d, last := f.dim, len(f.t)-1
	dst.fit(d)
	dst.LogDet, dst.Form = f.logS, 0
	clear(dst.r)
	clear(dst.d)
	psi := dst.a
	clear(psi)
	for a := range d {
		psi[a*d+a] = 1
	}
	sizes := f.deviations()
	rest := 0 // the first observation that knows nothing of the state before
	if !math.IsInf(before, -1) {
		row := make([]float64, d+1)
		for ; rest <= last && !isForgotten(psi, sizes); rest++ {
			f.carry(psi, row, rest)
			dst.observe(row)
		}
	}
	if rest <= last {
		clear(psi)
	}
	for i := rest; i <= last; i++ {
		dst.Form += f.errs[i] * f.errs[i] * f.inv[i]
	}
	f.update(dst.c, last)
	f.move(dst.b, f.mean[last*d:][:d], f.errs[last])
	return nil
}

func stateDim(cs []Component) (d int) {
	for _, c := range cs {
		d += c.dim()
	}
	return d
}

// deviations returns the prior standard deviation of each number of the state, within a
// factor of two.
func (f *Filter) deviations() []float64 {
	sizes := make([]float64, 0, f.dim)
	var sum float64
	for _, c := range f.cs {
		for range c.dim() {
			sizes = append(sizes, math.Sqrt(c.Variance))
		}
		sum += c.Variance
	}
	sizes[0] = math.Sqrt(sum)
	return sizes
}

func isForgotten(psi, sizes []float64) bool {
	d := len(sizes)
	for a, s := range sizes {
		for b, p := range psi[a*d:][:d] {
			if math.Abs(p)*sizes[b] > forgotten*s {
				return false
			}
		}
	}
	return true
}

// carry takes psi, the derivative of the filtered mean in x₀, over observation i, and sets
// row to (hᵀ∂m, e)/√s: an observation of x₀ with unit variance.
func (f *Filter) carry(psi, row []float64, i int) {
	d := f.dim
	f.transitions(i)
	next := f.x[:d*d]
	clear(next)
	for a := range d {
		to := next[a*d:][:d]
		for k, w := range f.phi[a*d:][:d] {
			for b, p := range psi[k*d:][:d] {
				to[b] += w * p
			}
		}
	}
	f.gain(i)
	root := math.Sqrt(f.inv[i])
	head := next[:d]
	for b, p := range head {
		row[b] = p * root
	}
	row[d] = f.errs[i] * root
	for a := d - 1; a > 0; a-- {
		for b, p := range head {
			psi[a*d+b] = next[a*d+b] - f.k[a]*p
		}
	}
	left := f.noiseAt(i) * f.inv[i] // 1 − k₁
	for b, p := range head {
		psi[b] = left * p
	}
}

// observe adds an observation of x₀ with unit variance, which row holds with its value
// last, to R and d by rotations, and what no x₀ explains to Form. It spoils row.
func (e *Element) observe(row []float64) {
	d := e.dim
	for j := range d {
		if row[j] == 0 {
			continue
		}
		r := e.r[j*d:][:d]
		h := math.Hypot(r[j], row[j])
		c, s := r[j]/h, row[j]/h
		r[j], row[j] = h, 0
		for b := j + 1; b < d; b++ {
			r[b], row[b] = c*r[b]+s*row[b], c*row[b]-s*r[b]
		}
		e.d[j], row[d] = c*e.d[j]+s*row[d], c*row[d]-s*e.d[j]
	}
	e.Form += row[d] * row[d]
}

// A Merger combines elements. It is working memory, for one goroutine.
type Merger struct {
	rows, root, x, y []float64
	mean             []float64
	out              Element
}

// Merge sets dst, which may be a or b, to the element of the stretch of a and then that of
// b. With C = LLᵀ of a, x₁ = Ax₀ + b + Lz for z ~ N(0, I), what b says of x₁ is about z and
// x₀; z is eliminated by the QR factorisation of
//
//	( I       0        0          )
//	( R_b·L   R_b·A_a  d_b − R_b·b_a )
//	( 0       R_a      d_a        )
//
// whose first rows, (T U δ), give z given x₀, whose next ones are R and d, and whose rest
// is what neither explains; log|I + LᵀJ_bL| = 2·Σ log|T_ii|. O(D³).
func (m *Merger) Merge(dst, a, b *Element) {
	if a.dim != b.dim {
		panic(fmt.Sprintf("statespace: elements of %d and %d numbers", a.dim, b.dim))
	}
	d := a.dim
	cols := 2*d + 1
	m.root, m.rows = dense.Resize(m.root, d*d), dense.Resize(m.rows, 3*d*cols)
	m.x, m.y, m.mean = dense.Resize(m.x, d*d), dense.Resize(m.y, d*d), dense.Resize(m.mean, d)
	choleskyRoot(m.root, a.c, d)
	clear(m.rows)
	multiply(m.x, b.r, m.root, d)
	multiply(m.y, b.r, a.a, d)
	apply(m.mean, b.r, a.b)
	for i := range d {
		m.rows[i*cols+i] = 1
		row := m.rows[(d+i)*cols:][:cols]
		copy(row, m.x[i*d:][:d])
		copy(row[d:], m.y[i*d:][:d])
		row[2*d] = b.d[i] - m.mean[i]
		row = m.rows[(2*d+i)*cols:][:cols]
		copy(row[d:], a.r[i*d:][:d])
		row[2*d] = a.d[i]
	}
	triangularise(m.rows, 3*d, cols, 2*d)

	out := &m.out
	out.fit(d)
	out.Form, out.LogDet = a.Form+b.Form, a.LogDet+b.LogDet
	for i := range d {
		out.LogDet += 2 * math.Log(math.Abs(m.rows[i*cols+i]))
		row := m.rows[(d+i)*cols:][:cols]
		copy(out.r[i*d:][:d], row[d:])
		out.d[i] = row[2*d]
		if isZero(out.r[i*d:][:d]) { // as where the stretch begins the series
			out.Form += out.d[i] * out.d[i]
			out.d[i] = 0
		}
		left := m.rows[(2*d+i)*cols+2*d]
		out.Form += left * left
	}
	// x₁ = (A − XU)x₀ + b + Xδ + noise of XXᵀ for X = LT⁻¹.
	copy(m.x, m.root)
	solveRight(m.x, m.rows, d, cols)
	copy(m.y, a.a)
	copy(m.mean, a.b)
	for i := range d {
		for j, x := range m.x[i*d:][:d] {
			row := m.rows[j*cols:][:cols]
			for k, u := range row[d : 2*d] {
				m.y[i*d+k] -= x * u
			}
			m.mean[i] += x * row[2*d]
		}
	}
	multiply(out.a, b.a, m.y, d)
	apply(out.b, b.a, m.mean)
	for i, v := range b.b {
		out.b[i] += v
	}
	multiply(m.y, b.a, m.x, d)
	for i := range d {
		for j := range i + 1 {
			v := b.c[i*d+j]
			for k, p := range m.y[i*d:][:d] {
				v += p * m.y[j*d+k]
			}
			out.c[i*d+j], out.c[j*d+i] = v, v
		}
	}
	*dst, m.out = m.out, *dst // dst's memory serves the next
}

// Left returns where the stretch, which must begin the series, leaves the state, at its
// last input.
func (e *Element) Left(at float64) State {
	return State{At: at, Mean: append([]float64(nil), e.b...), Cov: append([]float64(nil), e.c...)}
}

// Adjoint returns what a stretch says of the state before it, with e its element: with P =
// LLᵀ, W = RL and TᵀT = I + WWᵀ,
//
//	N = XᵀX, r = XᵀT⁻ᵀ(d − Rm),  X = T⁻ᵀR.
func (m *Merger) Adjoint(s State, e *Element) Adjoint {
	d := e.dim
	m.root, m.x, m.rows, m.mean = dense.Resize(m.root, d*d), dense.Resize(m.x, d*d), dense.Resize(m.rows, 2*d*d), dense.Resize(m.mean, d)
	choleskyRoot(m.root, s.Cov, d)
	multiply(m.x, e.r, m.root, d)
	clear(m.rows)
	for i := range d {
		m.rows[i*d+i] = 1
		for j := range d {
			m.rows[(d+i)*d+j] = m.x[j*d+i]
		}
	}
	triangularise(m.rows, 2*d, d, d)
	apply(m.mean, e.r, s.Mean)
	x := m.x
	copy(x, e.r)
	for i := range d { // T⁻ᵀ(R | d − Rm), by rows
		m.mean[i] = e.d[i] - m.mean[i]
		for k := range i {
			w := m.rows[k*d+i]
			for j, v := range x[k*d:][:d] {
				x[i*d+j] -= w * v
			}
			m.mean[i] -= w * m.mean[k]
		}
		t := m.rows[i*d+i]
		for j := range d {
			x[i*d+j] /= t
		}
		m.mean[i] /= t
	}
	a := Adjoint{Known: true, R: make([]float64, d), N: make([]float64, d*d)}
	for k := range d {
		row := x[k*d:][:d]
		for i, v := range row {
			a.R[i] += v * m.mean[k]
			for j, w := range row {
				a.N[i*d+j] += v * w
			}
		}
	}
	return a
}

func isZero(x []float64) bool { return !slices.ContainsFunc(x, func(v float64) bool { return v != 0 }) }

// multiply sets dst = a·b, d×d.
func multiply(dst, a, b []float64, d int) {
	clear(dst)
	for i := range d {
		to := dst[i*d:][:d]
		for k, w := range a[i*d:][:d] {
			for j, v := range b[k*d:][:d] {
				to[j] += w * v
			}
		}
	}
}

// choleskyRoot sets l, lower triangular, to a root of c, which may be singular: a pivot
// that is no more than rounding has a column of zeros.
func choleskyRoot(l, c []float64, d int) {
	clear(l)
	for j := range d {
		pivot := c[j*d+j]
		for _, v := range l[j*d:][:j] {
			pivot -= v * v
		}
		if !(pivot > 4*0x1p-52*c[j*d+j]) {
			continue
		}
		pivot = math.Sqrt(pivot)
		l[j*d+j] = pivot
		for i := j + 1; i < d; i++ {
			v := c[i*d+j]
			for k, w := range l[j*d:][:j] {
				v -= l[i*d+k] * w
			}
			l[i*d+j] = v / pivot
		}
	}
}

// solveRight sets x, d×d, to x·T⁻¹ for the upper triangle T at the head of rows.
func solveRight(x, rows []float64, d, cols int) {
	for i := range d {
		row := x[i*d:][:d]
		for j := range d {
			for k := range j {
				row[j] -= row[k] * rows[k*cols+j]
			}
			row[j] /= rows[j*cols+j]
		}
	}
}

// triangularise makes the first so many columns of a, rows×cols, upper triangular by
// reflections.
func triangularise(a []float64, rows, cols, first int) {
	for j := range first {
		var largest float64
		for i := j; i < rows; i++ {
			largest = max(largest, math.Abs(a[i*cols+j]))
		}
		if largest == 0 {
			continue
		}
		var square float64
		for i := j; i < rows; i++ {
			v := a[i*cols+j] / largest
			square += v * v
		}
		norm := math.Sqrt(square)
		head := a[j*cols+j] / largest
		scale := norm * (norm + math.Abs(head)) // ½|v|², v the column less its image, over largest²
		image := -math.Copysign(norm, head)
		a[j*cols+j] = (head - image) * largest
		for k := j + 1; k < cols; k++ {
			var dot float64
			for i := j; i < rows; i++ {
				dot += a[i*cols+j] / largest * a[i*cols+k]
			}
			dot /= scale
			for i := j; i < rows; i++ {
				a[i*cols+k] -= dot * (a[i*cols+j] / largest)
			}
		}
		a[j*cols+j] = image * largest
		for i := j + 1; i < rows; i++ {
			a[i*cols+j] = 0
		}
	}
}
