package statespace

import (
	"fmt"
	"math"
)

// A Filter factorises A = K + σ²I for one set of inputs. It is the Kalman
// filter, which is A = LDLᵀ with unit lower triangular L, row by row, in O(nD³):
// with m and P the mean and covariance of the state before y_i is seen, given
// all before it,
//
//	e = y_i − hᵀm    s = hᵀPh + σ²    k = Ph/s          D_ii = s, (L⁻¹y)_i = e
//	m ← Φ(m + k·e)   P ← Φ(P − s·k·kᵀ)Φᵀ + Q
//
// and back, r and N summing up what the later observations say of the state, so
// that its mean and covariance given all are m + Pr and P − PNP (the smoother of
// Bryson and Frazier and of de Jong; Durbin and Koopman 2012, section 4.4),
//
//	α_i = e/s − kᵀr              (A⁻¹)_ii = 1/s + kᵀNk
//	r ← Φᵀ(r + h·α_i)            N ← Φᵀ((I − hkᵀ)N(I − khᵀ) + hhᵀ/s)Φ
//
// Working memory, D² + D + 2 numbers per input and 3 per component, is kept
// from call to call: calls allocate only when they need more than any before.
// A Filter is not safe for concurrent use.
type Filter struct {
	t     []float64
	cs    []Component
	noise float64
	dim   int       // D
	first []int     // the place of h's 1 for each component
	steps []steps   // for each component
	mean  []float64 // n×D: m
	cov   []float64 // n×D×D: P
	inv   []float64 // 1/s
	alpha []float64 // e on the way forward, α on the way back
	logS  float64   // Σ log s
	quad  float64   // yᵀA⁻¹y

	// The state's basis is the sum hᵀx in the first place and all of x but its
	// own first place after it, so that h = (1, 0, …) for sums as well: what an
	// observation fixes is a number of its own, not a difference of large ones.
	work                []float64
	phi, phiT           []float64   // Φ in that basis, D×D
	block, q            [][]float64 // Φ and Q of each component, d×d
	drift               [][]entry   // F of each component in that basis
	r, k, w, p, n, m, x []float64   // D or D×D each
}

// NewFilter returns a filter for inputs t, ascending. It keeps t.
func NewFilter(t []float64) *Filter {
	checkSorted(t)
	return &Filter{t: t}
}

// NotPositive is the error for a matrix A whose leading minor that ends in Row
// is not positive definite to working precision.
type NotPositive struct{ Row int }

func (e NotPositive) Error() string {
	return fmt.Sprintf("statespace: the leading minor of order %d is not positive definite", e.Row+1)
}

// NLL returns the negative log likelihood of y ~ N(0, A),
//
//	½yᵀA⁻¹y + ½log|A| + (n/2)·log 2π,
//
// and, unless grad is nil, sets grad to its gradient ½tr((A⁻¹ − ααᵀ)∂A) with
// respect to log v, log l of each component in turn and, last, log σ². Rounding
// costs no more than
//
//	|ΔNLL| ≤ 2.2e-16·((n + q)·√(1 + v/σ²) + √n·(q + |log|A||)),  q = yᵀA⁻¹y, v = Σ v_c
//
// and four times that for a derivative, as far as tested (v/σ² up to 1e12): dense
// algebra loses v/σ², not its root.
func (f *Filter) NLL(grad, y []float64, cs []Component, noise float64) (float64, error) {
	if len(y) != len(f.t) {
		panic(fmt.Sprintf("statespace: %d observations at %d inputs", len(y), len(f.t)))
	}
	if grad != nil && len(grad) != 2*len(cs)+1 {
		panic(fmt.Sprintf("statespace: room for %d derivatives, want %d", len(grad), 2*len(cs)+1))
	}
	if err := f.prepare(cs, noise); err != nil {
		return 0, err
	}
	quad, err := f.forward(y)
	if err != nil {
		return 0, err
	}
	f.quad = quad
	if grad != nil {
		f.backward(grad)
	}
	return 0.5 * (quad + f.logS + float64(len(y))*math.Log(2*math.Pi)), nil
}

// Factorise prepares Solve and LogDet.
func (f *Filter) Factorise(cs []Component, noise float64) error {
	if err := f.prepare(cs, noise); err != nil {
		return err
	}
	clear(f.alpha)
	_, err := f.forward(f.alpha)
	return err
}

// LogDet returns log|A| of the last matrix that was factorised, by Factorise,
// NLL or Posterior.
func (f *Filter) LogDet() float64 { return f.logS }

// Quad returns yᵀA⁻¹y of the last call to NLL.
func (f *Filter) Quad() float64 { return f.quad }

// Alpha sets dst = A⁻¹y after a call to NLL with a gradient.
func (f *Filter) Alpha(dst []float64) { copy(dst, f.alpha) }

// prepare sets up the transitions and the memory.
func (f *Filter) prepare(cs []Component, noise float64) error {
	if err := check(cs); err != nil {
		return err
	}
	if !(noise >= 0 && noise <= math.MaxFloat64) {
		return fmt.Errorf("statespace: noise variance %v must be finite and not negative", noise)
	}
	n := len(f.t)
	f.noise = noise
	f.cs = append(f.cs[:0], cs...)
	f.first = f.first[:0]
	f.dim = 0
	for c, comp := range cs {
		f.first = append(f.first, f.dim)
		f.dim += comp.dim()
		if c == len(f.steps) {
			f.steps = append(f.steps, steps{})
		}
		f.steps[c].set(f.t, comp, true)
	}
	d := f.dim
	f.mean, f.cov = resize(f.mean, n*d), resize(f.cov, n*d*d)
	f.inv, f.alpha = resize(f.inv, n), resize(f.alpha, n)

	f.work = resize(f.work, 3*d+6*d*d+2*9*len(cs))
	free := f.work
	take := func(size int) (x []float64) {
		x, free = free[:size:size], free[size:]
		clear(x)
		return x
	}
	f.r, f.k, f.w = take(d), take(d), take(d)
	f.p, f.n, f.m, f.x = take(d*d), take(d*d), take(d*d), take(d*d)
	f.phi, f.phiT = take(d*d), take(d*d)
	f.block, f.q = f.block[:0], f.q[:0]
	for c, comp := range cs {
		dd := comp.dim() * comp.dim()
		f.block, f.q = append(f.block, take(dd)), append(f.q, take(dd))
		if c == len(f.drift) {
			f.drift = append(f.drift, nil)
		}
		f.drift[c] = f.embed(f.drift[c][:0], c, drift[comp.Order])
	}
	return nil
}

// An entry of a sparse matrix.
type entry struct {
	row, col int
	v        float64
}

// embed appends the entries of T·B·T⁻¹, where B has block b for component c and
// is zero elsewhere, and T takes x to the basis with the sum in the first place.
func (f *Filter) embed(dst []entry, c int, b []float64) []entry {
	o, n := f.first[c], f.cs[c].dim()
	for i := range n {
		for j := range n {
			v := b[i*n+j]
			if v == 0 {
				continue
			}
			rows := [2]int{o + i, 0}
			nr := 1
			if i == 0 && c > 0 {
				nr = 2 // the value adds to the sum
			}
			for _, row := range rows[:nr] {
				dst = append(dst, entry{row, o + j, v})
				if j == 0 && c == 0 { // the first value is the sum less the others
					for _, other := range f.first[1:] {
						dst = append(dst, entry{row, other, -v})
					}
				}
			}
		}
	}
	return dst
}

// logSum adds up logarithms of numbers in (0, 1] by multiplying them.
type logSum struct{ sum, prod float64 }

const tiny = 1e-100 // its square is far from underflow

func (l *logSum) add(x float64) {
	l.prod *= x
	if l.prod < tiny {
		l.sum += math.Log(l.prod)
		l.prod = 1
	}
}

// scale returns Σv + σ², which no s exceeds.
func (f *Filter) scale() float64 {
	s := f.noise
	for _, c := range f.cs {
		s += c.Variance
	}
	return s
}

// forward sweeps from the first input to the last and returns yᵀA⁻¹y. y may be
// alpha.
func (f *Filter) forward(y []float64) (quad float64, err error) {
	if len(f.cs) == 1 {
		switch f.cs[0].Order {
		case 0:
			return f.forward1(y)
		case 1:
			return f.forward2(y)
		case 2:
			return f.forward3(y)
		}
	}
	d, scale := f.dim, f.scale()
	logs := logSum{prod: 1}
	clear(f.w) // the mean after the observation
	clear(f.p) // its covariance
	for i := range f.t {
		f.transitions(i)
		mean, cov := f.mean[i*d:][:d], f.cov[i*d*d:][:d*d]
		f.predict(mean, cov, f.w, f.p)

		s := cov[0] + f.noise
		if !(s > tiny*scale) {
			return 0, NotPositive{i}
		}
		logs.add(s / scale)
		f.inv[i] = 1 / s
		e := y[i] - mean[0]
		f.alpha[i] = e
		quad += e * e / s
		f.update(f.w, f.p, i, e)
	}
	f.logS = logs.sum + math.Log(logs.prod) + float64(len(f.t))*math.Log(scale)
	return quad, nil
}

// gain sets k = Ph/s for input i.
func (f *Filter) gain(i int) {
	d := f.dim
	cov := f.cov[i*d*d:][:d*d]
	for a := range d {
		f.k[a] = cov[a*d] * f.inv[i]
	}
}

// update sets mean = m + k·e and cov = P − s·k·kᵀ, those after observation i,
// which is σ²k in the first row and column.
func (f *Filter) update(mean, cov []float64, i int, e float64) {
	d := f.dim
	m, p := f.mean[i*d:][:d], f.cov[i*d*d:][:d*d]
	f.gain(i)
	for a, k := range f.k {
		mean[a] = m[a] + k*e
		row, h := cov[a*d:][:d], p[:d]
		for b, v := range p[a*d:][:d] {
			row[b] = v - k*h[b]
		}
		row[0] = f.noise * k
	}
	for a, k := range f.k {
		cov[a] = f.noise * k
	}
}

// transitions sets block, q, phi and phiT to those of step i.
func (f *Filter) transitions(i int) {
	for c, comp := range f.cs {
		s := &f.steps[c]
		comp.transition(f.block[c], f.q[c], s.a[i], s.e[i], s.g[i])
	}
	f.assemble()
}

// assemble sets phi and phiT from block, see embed. Differences are between
// propagators here, before they multiply anything large.
func (f *Filter) assemble() {
	d := f.dim
	for c, o := range f.first {
		n, b := f.cs[c].dim(), f.block[c]
		for i := range n {
			copy(f.phi[(o+i)*d+o:][:n], b[i*n:][:n])
		}
		if c > 0 {
			copy(f.phi[o:][:n], b[:n])
			f.phi[o] -= f.block[0][0]
			for i := 1; i < f.cs[0].dim(); i++ {
				f.phi[i*d+o] = -f.phi[i*d]
			}
		}
	}
	for i := range d {
		for j := range d {
			f.phiT[j*d+i] = f.phi[i*d+j]
		}
	}
}

// predict sets mean = Φ·m and cov = ΦPΦᵀ + Q. It uses x.
func (f *Filter) predict(mean, cov, m, p []float64) {
	apply(mean, f.phi, m)
	f.sandwich(cov, f.phi, p)
	d := f.dim
	for c, o := range f.first {
		n, q := f.cs[c].dim(), f.q[c]
		for i := range n {
			for j := range n {
				cov[(o+i)*d+o+j] += q[i*n+j]
			}
			if c > 0 {
				cov[o+i] += q[i]
				cov[(o+i)*d] += q[i]
			}
		}
		if c > 0 {
			cov[0] += q[0]
		}
	}
}

// apply sets dst = B·x.
func apply(dst, b, x []float64) {
	d := len(x)
	for i := range dst {
		var v float64
		for j, w := range b[i*d:][:d] {
			v += w * x[j]
		}
		dst[i] = v
	}
}

// sandwich sets dst = B·s·Bᵀ for symmetric s. It uses x; dst may be s.
func (f *Filter) sandwich(dst, b, s []float64) {
	d := f.dim
	for i := range d { // x = s·Bᵀ, row by row
		apply(f.x[i*d:][:d], b, s[i*d:][:d])
	}
	for i := range d { // B·x, the lower triangle
		row := dst[i*d:][:i+1]
		clear(row)
		for j, w := range b[i*d:][:d] {
			if w == 0 {
				continue
			}
			for l, v := range f.x[j*d:][:len(row)] {
				row[l] += w * v
			}
		}
		for l, v := range row {
			dst[l*d+i] = v
		}
	}
}

// observe takes r and N from after observation i to before it, and returns α_i
// and (A⁻¹)_ii.
func (f *Filter) observe(i int) (alpha, diag float64) {
	d := f.dim
	f.gain(i)
	is := f.inv[i]
	c := f.noise * is // 1 − k₁
	alpha = f.alpha[i] * is
	for a, k := range f.k {
		alpha -= k * f.r[a]
	}
	f.r[0] += alpha

	// u = N·k without N's first column; its own first entry is not used.
	head, first := f.n[:d], f.n[0]
	var cross, quad float64 // Σ k_a·N₁ₐ and Σ k_a·u_a over a > 1
	for a := 1; a < d; a++ {
		var u float64
		row := f.n[a*d:][:d]
		for b := 1; b < d; b++ {
			u += row[b] * f.k[b]
		}
		cross += f.k[a] * row[0]
		quad += f.k[a] * u
		f.w[a] = u
	}
	k := f.k[0]
	diag = is + k*(k*first+2*cross) + quad
	head[0] = is + c*(c*first-2*cross) + quad
	for a := 1; a < d; a++ {
		v := c*head[a] - f.w[a]
		head[a], f.n[a*d] = v, v
	}
	return alpha, diag
}

// backward sweeps from the last input to the first and sets alpha to A⁻¹y and
// grad to the gradient. With M = N − rrᵀ, NLL has the derivatives ½M in Q, −r in
// m and ½M in P (Koopman and Shephard 1992), and over a gap m and P follow
// dm/da = Fm, dP/da = FP + PFᵀ + q·v·e_d·e_dᵀ, hence
//
//	∂NLL/∂log v = Σ ½tr(MQ)
//	∂NLL/∂log l = −Σ a·(tr(MFP) − rᵀFm + ½q·v·M_dd)
func (f *Filter) backward(grad []float64) {
	if len(f.cs) == 1 {
		switch f.cs[0].Order {
		case 0:
			f.backward1(grad)
		case 1:
			f.backward2(grad)
		case 2:
			f.backward3(grad)
		}
		return
	}
	clear(grad)
	clear(f.r)
	clear(f.n)
	d, last := f.dim, len(grad)-1
	for i := len(f.t) - 1; i >= 0; i-- {
		alpha, diag := f.observe(i)
		f.alpha[i] = alpha
		grad[last] += 0.5 * f.noise * (diag - alpha*alpha)

		for a, ra := range f.r {
			row := f.m[a*d:][:d]
			for b, v := range f.n[a*d:][:d] {
				row[b] = v - ra*f.r[b]
			}
		}
		f.transitions(i)
		mean, cov := f.mean[i*d:][:d], f.cov[i*d*d:][:d*d]
		for k := range d { // x = M·P
			apply(f.x[k*d:][:d], cov, f.m[k*d:][:d])
		}
		for c, comp := range f.cs {
			o, n := f.first[c], comp.dim()
			// M in the component's own state: its value is in the sum as well.
			at := func(i, j int) float64 {
				v := f.m[(o+i)*d+o+j]
				if c > 0 && i == 0 {
					v += f.m[o+j]
				}
				if c > 0 && j == 0 {
					v += f.m[o+i]
				}
				if c > 0 && i == 0 && j == 0 {
					v += f.m[0]
				}
				return v
			}
			var gv float64
			for i := range n {
				for j := range i {
					gv += 2 * f.q[c][i*n+j] * at(i, j)
				}
				gv += f.q[c][i*n+i] * at(i, i)
			}
			slope := 0.5 * intensity[comp.Order] * comp.Variance * at(n-1, n-1)
			for _, w := range f.drift[c] {
				slope += w.v * (f.x[w.row*d+w.col] - f.r[w.row]*mean[w.col])
			}
			grad[2*c] += 0.5 * gv
			grad[2*c+1] -= f.steps[c].a[i] * slope
		}
		apply(f.w, f.phiT, f.r)
		copy(f.r, f.w)
		f.sandwich(f.n, f.phiT, f.n)
	}
}

// Solve sets dst = A⁻¹b for the last matrix that was factorised, in O(nD·d).
// dst may be b.
func (f *Filter) Solve(dst, b []float64) {
	if len(b) != len(f.t) || len(dst) != len(f.t) {
		panic(fmt.Sprintf("statespace: solving for %d of %d with %d inputs", len(dst), len(b), len(f.t)))
	}
	mean, after := f.w, f.r
	clear(after)
	for i, v := range b {
		f.transitions(i)
		apply(mean, f.phi, after)
		v -= mean[0]
		f.gain(i)
		for a, k := range f.k {
			after[a] = mean[a] + k*v
		}
		dst[i] = v
	}
	clear(f.r)
	for i := len(dst) - 1; i >= 0; i-- {
		f.gain(i)
		v := dst[i] * f.inv[i]
		for a, k := range f.k {
			v -= k * f.r[a]
		}
		dst[i] = v
		f.r[0] += v
		f.transitions(i)
		apply(f.w, f.phiT, f.r)
		copy(f.r, f.w)
	}
}
