package statespace

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// A Filter factorises A = K + σ²diag(w) + diag(s) for one set of inputs, w being the noise variances relative to one another, 1
// unless SetScale was called, and s known variances of the observations' errors. It knows CᵀA⁻¹C for some columns C. It is the
// Kalman filter, which is A = LDLᵀ with unit lower triangular L, row by row, in O(nD³): with m and P the mean and covariance of
// the state before y_i is seen, given all before it,
//
//	e = y_i − hᵀm    s = hᵀPh + σ²w_i + s_i    k = Ph/s     D_ii = s, (L⁻¹y)_i = e
//	m ← Φ(m + k·e)   P ← Φ(P − s·k·kᵀ)Φᵀ + Q
//
// and back, r and N summing up what the later observations say of the state, so that its mean and covariance given all are m + Pr
// and P − PNP (the smoother of Bryson and Frazier and of de Jong; Durbin and Koopman 2012, section 4.4),
//
//	α_i = e/s − kᵀr              (A⁻¹)_ii = 1/s + kᵀNk
//	r ← Φᵀ(r + h·α_i)            N ← Φᵀ((I − hkᵀ)N(I − khᵀ) + hhᵀ/s)Φ
//
// P, k, N and s are the same for all columns y of C; m, e, r and α are each column's
// own, in O(nD²) more. What rounding costs ½yᵀA⁻¹y + ½log|A| is no more than
//
//	2.2e-16·((n + q)·√(1 + v/σ²) + √n·(q + |log|A||)),  q = yᵀA⁻¹y, v = Σ v_c
//
// and four times that for a derivative, as far as tested (v/σ² up to 1e12): dense algebra loses v/σ², not its root.
//
// Memory, D² + 2 numbers per input, 3 per component and D + 1 per column, is kept from call to call: calls allocate only when
// they need more than any before. Methods other than Factorise leave the factorisation as it is, but work in memory of the
// Filter: it is not safe for concurrent use. See Reader.
type Filter struct {
	// Ctx, unless nil, is looked at every few inputs of a sweep: once it has ended, methods panic with a parallel.Stop.
	Ctx context.Context

	t     []float64
	known []float64                      // s, or nil
	share []float64                      // w, or nil
	most  struct{ known, share float64 } // the largest of each
	own   []float64                      // σ²w + s, or nil where all have σ²
	cs    []component
	given []component // what Factorise has of its blocks
	noise float64     // σ²
	dim   int         // D
	first []int       // the place of h's 1 for each component
	until []int       // where each row of Φ ends, which begins on the diagonal
	steps []steps     // for each component
	cov   []float64   // n×D×D: P
	inv   []float64   // 1/s
	cols  int         // of C
	mean  []float64   // m, n×D for each column, or for the first alone, see means; of a column of zeros if there is none
	marks []float64   // where they are for the first alone: of each chunk and column, D numbers, see mark
	errs  []float64   // e, n for each column
	logS  float64     // Σ log s
	quad  float64     // yᵀA⁻¹y of the first column
	gram  []float64   // CᵀA⁻¹C of all columns: the lower triangle, c×c, but for quad

	// The state's basis is the sum hᵀx in the first place and all of x but its own first place after it, so that h = (1, 0, …) for
	// sums as well: what an observation fixes is a number of its own, not a difference of large ones.
	drift [][]entry // F of each component in that basis

	system system        // instead of components, if there are blocks
	twice  *doubledState // that of the last doubled factorisation, for its memory

	scratch
}

// scratch is what the methods of a Filter work in.
type scratch struct {
	panels              panels
	beside              parallel.Aside // the products of the chunk before
	work                []float64
	phi                 []float64   // Φ in that basis, D×D, upper triangular
	block, q            [][]float64 // Φ and Q of each component, d×d
	r, k, w, p, n, m, x []float64   // D or D×D each
	diag                []float64   // of A⁻¹ − UUᵀ, where noise variances differ
	after               []float64   // the state of each column after the first
	replayed            []float64   // that of each column of CR at a chunk of inputs, see replay
	recalled            int         // the chunk, from one on, whose means of all columns are in mixedMean, see recall
	scaled              []float64   // e/s of these at a chunk of inputs and the one before, see scaledIn
	mixedMean           []float64   // m and e of CR at a chunk of inputs
	mixedErrs           []float64
	room                room      // for blocks
	tailErrs            []float64 // of each column at an input after the last
	sums                []float64 // what a chunk of inputs has of M, −rᵀFm and the diagonal of A⁻¹ − UUᵀ, see backward3
}

// NewFilter returns a filter for inputs t, ascending, and known error variances, which may be nil. It keeps both.
func NewFilter(t, errors []float64) *Filter {
	checkSorted(t)
	f := &Filter{t: t}
	f.most.share = 1
	f.SetErrors(errors)
	return f
}

// SetErrors sets s, the known error variances; nil stands for none. The filter keeps it.
func (f *Filter) SetErrors(s []float64) {
	if s != nil && len(s) != len(f.t) {
		panic(fmt.Sprintf("statespace: %d errors at %d inputs", len(s), len(f.t)))
	}
	f.known, f.most.known = s, 0
	for i, v := range s {
		if !(v >= 0 && v <= math.MaxFloat64) {
			panic(fmt.Sprintf("statespace: error variance %d is %v, want a finite number, not negative", i, v))
		}
		f.most.known = max(f.most.known, v)
	}
}

// SetScale sets w, positive and finite, one for each input; nil stands for ones. The filter keeps it.
func (f *Filter) SetScale(w []float64) {
	if w != nil && len(w) != len(f.t) {
		panic(fmt.Sprintf("statespace: %d scales at %d inputs", len(w), len(f.t)))
	}
	f.share, f.most.share = w, 1
	if len(w) > 0 {
		f.most.share = slices.Max(w)
	}
}

// NotPositive is the error for a matrix A whose leading minor that ends in Row is not positive definite to working precision.
type NotPositive struct{ Row int }

func (e NotPositive) Error() string {
	return fmt.Sprintf("statespace: the leading minor of order %d is not positive definite", e.Row+1)
}

// Factorise factorises A, where K has the given blocks, and solves for the columns C, n×c, of which there may be none. Gradient
// then has the derivatives of each block in turn: in log v, in the log of each parameter of the process and, where there are
// weights, in log p and in each c_m. ByPairs keeps the blocks and takes O(n·D²) operations for each number of a process, and
// D(D+1)/2 + 2D numbers per input.
func (f *Filter) Factorise(columns blas64.General, blocks []Block, noise float64, by Sweep) error {
	if by == ByPairs {
		return f.factorisePairs(columns, blocks, noise)
	}
	f.given = components(f.given, blocks)
	return f.factoriseSum(columns, f.given, noise)
}

// factoriseSum is Factorise BySum.
func (f *Filter) factoriseSum(columns blas64.General, cs []component, noise float64) error {
	n := len(f.t)
	if columns.Cols > 0 && columns.Rows != n {
		panic(fmt.Sprintf("statespace: %d observations at %d inputs", columns.Rows, n))
	}
	if err := check(cs); err != nil {
		return err
	}
	if err := f.begin(columns.Cols, noise); err != nil {
		return err
	}
	f.system.blocks, f.system.doubled = f.system.blocks[:0], nil
	f.setComponents(cs)
	f.makeRoom(columns.Cols)
	if columns.Cols == 0 {
		columns = blas64.General{Rows: n, Cols: 1, Stride: 1, Data: f.errs[:n]}
		clear(columns.Data)
	}
	defer f.beside.Wait()
	var err error
	f.quad, err = f.forward(columns)
	return err
}

// LogDet returns log|A|.
func (f *Filter) LogDet() float64 { return f.logS }

// Gram sets g, c×c, to CᵀA⁻¹C.
func (f *Filter) Gram(g blas64.General) {
	for a := range f.cols {
		for b := range a + 1 {
			v := f.quad
			if a > 0 {
				v = f.gram[a*f.cols+b]
			}
			g.Data[a*g.Stride+b], g.Data[b*g.Stride+a] = v, v
		}
	}
}

// Gradient sets grad to the derivatives
//
//	½tr(A⁻¹∂A) − ½Σ_j u_jᵀ∂A u_j,  U = A⁻¹CR,
//
// for R, c×r, with respect to log v, log l of each component in turn and, last, log σ², and returns that in the direction ∂A =
// diag(s) of the known errors, 0 if there are none. With C = y and R = 1 they are those of the negative log likelihood.
func (f *Filter) Gradient(grad []float64, r blas64.General) (known float64) {
	if size := f.Derivatives(); len(grad) != size {
		panic(fmt.Sprintf("statespace: room for %d derivatives, want %d", len(grad), size))
	}
	if r.Cols > 0 && r.Rows != f.cols {
		panic(fmt.Sprintf("statespace: R has %d rows for %d columns", r.Rows, f.cols))
	}
	if r.Cols > 1 && f.cols == 1 {
		panic(fmt.Sprintf("statespace: R has %d columns for one column", r.Cols))
	}
	f.diag = dense.Resize(f.diag, len(f.own))
	f.backward(grad, r)
	if f.own == nil {
		return 0
	}
	var noise float64
	for i, d := range f.diag {
		noise += f.shareAt(i) * d
		if f.known != nil {
			known += 0.5 * f.known[i] * d
		}
	}
	grad[len(grad)-1] = 0.5 * f.noise * noise
	return known
}

// OwnSlopes returns the diagonal of A⁻¹ − UUᵀ that the last Gradient computed, twice its derivatives in the noise variances of
// the inputs; nil if these are all σ². The next call overwrites it.
func (f *Filter) OwnSlopes() []float64 {
	if f.own == nil {
		return nil
	}
	return f.diag
}

// Derivatives returns how many Gradient sets.
func (f *Filter) Derivatives() int {
	n := 2*len(f.cs) + 1
	for i := range f.system.blocks {
		n += f.system.blocks[i].derivatives()
	}
	return n
}

func (f *Filter) shareAt(i int) float64 {
	if f.share == nil {
		return 1
	}
	return f.share[i]
}

// lookAt looks at the context at every sixteenth step of what takes O(D³) or more for each, which may be a millisecond.
func (f *Filter) lookAt(step int) {
	if step%16 == 0 {
		parallel.Look(f.Ctx)
	}
}

// Reader returns a filter that shares the factorisation and has working memory of its own, so that it may be used at the same
// time, as long as f does not factorise anew. It must not factorise.
func (f *Filter) Reader() *Filter {
	r := *f
	r.scratch = scratch{}
	r.allocate()
	return &r
}

// begin sets the noise and the number of columns.
func (f *Filter) begin(cols int, noise float64) error {
	if !(noise >= 0 && noise <= math.MaxFloat64) {
		return fmt.Errorf("statespace: noise variance %v must be finite and not negative", noise)
	}
	f.noise, f.cols = noise, cols
	f.setOwn()
	return nil
}

// makeRoom makes room for the factorisation.
func (f *Filter) makeRoom(cols int) {
	n, d := len(f.t), f.dim
	size := d * d
	if len(f.system.blocks) > 0 {
		size = f.system.rows[len(f.system.units)]
		f.system.gain = dense.Resize(f.system.gain, n*d)
	}
	rows, _ := f.means()
	f.mean, f.errs = dense.Resize(f.mean, rows*n*d), dense.Resize(f.errs, max(1, cols)*n)
	f.marks, f.recalled = f.marks[:0], 0
	if rows < cols {
		f.marks = dense.Resize(f.marks, (n+chunk-1)/chunk*cols*d)
	}
	f.gram = dense.Resize(f.gram, cols*cols)
	clear(f.gram)
	f.after, f.scaled = dense.Resize(f.after, cols*d), dense.Resize(f.scaled, 2*cols*chunk)
	clear(f.after)
	f.cov, f.inv = dense.Resize(f.cov, n*size), dense.Resize(f.inv, n)
	f.allocate()
}

// setComponents sets the transitions into each input.
func (f *Filter) setComponents(cs []component) {
	f.cs = append(f.cs[:0], cs...)
	f.first = f.first[:0]
	f.dim = 0
	for c, comp := range cs {
		f.first = append(f.first, f.dim)
		f.dim += comp.dim()
		if c == len(f.steps) {
			f.steps = append(f.steps, steps{})
		}
		if at := &f.steps[c]; len(at.a) != len(f.t) || at.of.Order != comp.Order || at.of.Lengthscale != comp.Lengthscale {
			at.set(f.t, comp, true) // they know nothing of the variance
		}
	}
	f.until = f.until[:0]
	for c, comp := range cs {
		for range comp.dim() {
			f.until = append(f.until, f.first[c]+comp.dim())
		}
	}
	f.until[0] = f.dim // the sum has a part of every component
	for c, comp := range cs {
		if c == len(f.drift) {
			f.drift = append(f.drift, nil)
		}
		f.drift[c] = f.embed(f.drift[c][:0], c, drift[comp.Order])
	}
}

// setOwn sets the noise variance of each input, where they differ.
func (f *Filter) setOwn() {
	if f.known == nil && f.share == nil {
		f.own = nil
		return
	}
	f.own = dense.Resize(f.own, len(f.t))
	for i := range f.own {
		f.own[i] = f.noise * f.shareAt(i)
		if f.known != nil {
			f.own[i] += f.known[i]
		}
	}
}

// allocate makes room to work in, for the components at hand.
func (f *Filter) allocate() {
	if len(f.system.blocks) > 0 {
		f.allocateBlocks()
		return
	}
	d := f.dim
	f.work = dense.Resize(f.work, 3*d+5*d*d+2*9*len(f.cs))
	free := f.work
	take := func(size int) (x []float64) {
		x, free = free[:size:size], free[size:]
		clear(x)
		return x
	}
	f.r, f.k, f.w = take(d), take(d), take(d)
	f.p, f.n, f.m, f.x = take(d*d), take(d*d), take(d*d), take(d*d)
	f.phi = take(d * d)
	f.block, f.q = f.block[:0], f.q[:0]
	for _, comp := range f.cs {
		dd := comp.dim() * comp.dim()
		f.block, f.q = append(f.block, take(dd)), append(f.q, take(dd))
	}
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

// noiseAt returns the noise variance of input i.
func (f *Filter) noiseAt(i int) float64 {
	if f.own == nil {
		return f.noise
	}
	return f.own[i]
}

// scale returns Σv and more than any noise variance, which no s exceeds.
func (f *Filter) scale() float64 {
	s := f.noise*f.most.share + f.most.known
	for _, c := range f.cs {
		s += c.Variance
	}
	return s
}

// forward sweeps from the first input to the last with the columns C, of which there is at
// least one, and returns yᵀA⁻¹y of the first. C may be errs if it is a single one.
func (f *Filter) forward(columns blas64.General) (quad float64, err error) {
	if len(f.cs) == 1 {
		switch f.cs[0].Order {
		case 0:
			return f.forward1(columns)
		case 1:
			return f.forward2(columns)
		case 2:
			return f.forward3(columns)
		}
	}
	n, d, scale := len(f.t), f.dim, f.scale()
	_, step := f.means()
	logs := logSum{prod: 1}
	clear(f.w) // after the observation
	clear(f.p)
	for from := 0; from < n; from += chunk {
		parallel.Look(f.Ctx)
		f.mark(from, f.w...)
		scaled, to := f.scaledIn(from), min(from+chunk, n)
		for i := from; i < to; i++ {
			f.transitions(i)
			mean, cov := f.mean[i*d:][:d], f.cov[i*d*d:][:d*d]
			f.forth(mean, f.w)
			f.spread(cov, f.p)

			s := cov[0] + f.noiseAt(i)
			if !(s > tiny*scale) {
				return 0, NotPositive{i}
			}
			logs.add(s / scale)
			f.inv[i] = 1 / s
			y := columns.Data[i*columns.Stride:][:columns.Cols]
			e := y[0] - mean[0]
			f.errs[i] = e
			quad += e * e / s
			f.update(f.p, i)
			f.move(f.w, mean, e)
			for j, yj := range y[1:] {
				at, after := (j+1)*n+i, f.after[j*d:][:d]
				mean := f.mean[(n+j*step+i)*d:][:d]
				f.forth(mean, after)
				e := yj - mean[0]
				f.errs[at], scaled[j*chunk+i-from] = e, e*f.inv[i]
				f.move(after, mean, e)
			}
		}
		f.addProducts(from, to)
	}
	f.logS = logs.sum + math.Log(logs.prod) + float64(n)*math.Log(scale)
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

// update sets k, and cov = P − s·k·kᵀ, that after observation i.
func (f *Filter) update(cov []float64, i int) {
	f.gain(i)
	f.condition(cov, f.cov[i*f.dim*f.dim:], f.noiseAt(i))
}

// condition sets cov = P − s·k·kᵀ, where P is the covariance before an observation with this noise variance. Its first row and
// column are the noise variance times k. k must be set.
func (f *Filter) condition(cov, p []float64, noise float64) {
	d := f.dim
	for a, k := range f.k {
		row, h := cov[a*d:][:d], p[:d]
		for b, v := range p[a*d:][:d] {
			row[b] = v - k*h[b]
		}
		row[0] = noise * k
	}
	for a, k := range f.k {
		cov[a] = noise * k
	}
}

// move sets after = m + k·e: a mean after an observation. k must be set.
func (f *Filter) move(after, m []float64, e float64) {
	for a, k := range f.k {
		after[a] = m[a] + k*e
	}
}

// transitions sets block, q and phi to those of step i.
func (f *Filter) transitions(i int) {
	for c, comp := range f.cs {
		s := &f.steps[c]
		comp.transition(f.block[c], f.q[c], s.a[i], s.e[i], s.g[i])
	}
	f.assemble()
}

// assemble sets phi from block, see embed. Differences are between propagators here, before they multiply anything large.
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
		}
	}
}

// forth sets dst = Φx.
func (f *Filter) forth(dst, x []float64) {
	for i, end := range f.until {
		var v float64
		row := f.phi[i*f.dim:][:end]
		for j := i; j < end; j++ {
			v += row[j] * x[j]
		}
		dst[i] = v
	}
}

// back sets dst = Φᵀx.
func (f *Filter) back(dst, x []float64) {
	clear(dst)
	for i, end := range f.until {
		row, v := f.phi[i*f.dim:][:end], x[i]
		for j := i; j < end; j++ {
			dst[j] += row[j] * v
		}
	}
}

// spread sets cov = ΦPΦᵀ + Q. It uses x.
func (f *Filter) spread(cov, p []float64) {
	d := f.dim
	for i := range d { // x = PΦᵀ, row by row
		f.forth(f.x[i*d:][:d], p[i*d:][:d])
	}
	for i, end := range f.until { // Φx, the lower triangle
		row := cov[i*d:][:i+1]
		clear(row)
		for j := i; j < end; j++ {
			addScaled(row, f.phi[i*d+j], f.x[j*d:])
		}
	}
	mirror(cov, d)
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

// gather sets dst = ΦᵀNΦ; dst may be n. It uses x.
func (f *Filter) gather(dst, n []float64) {
	d := f.dim
	for i := range d { // x = NΦ, row by row
		f.back(f.x[i*d:][:d], n[i*d:][:d])
	}
	clear(dst)
	for j, end := range f.until { // Φᵀx, the lower triangle
		for i := j; i < end; i++ {
			addScaled(dst[i*d:][:i+1], f.phi[j*d+i], f.x[j*d:])
		}
	}
	mirror(dst, d)
}

// addScaled adds w·x to dst, which may be shorter.
func addScaled(dst []float64, w float64, x []float64) {
	for i, v := range x[:len(dst)] {
		dst[i] += w * v
	}
}

// mirror copies the lower triangle to the upper one.
func mirror(m []float64, d int) {
	for i := range d {
		for j, v := range m[i*d:][:i] {
			m[j*d+i] = v
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

// inform takes r from after observation i, of error e, to before it, and returns α_i. k must be set.
func (f *Filter) inform(r []float64, e float64, i int) (alpha float64) {
	alpha = e * f.inv[i]
	for a, k := range f.k {
		alpha -= k * r[a]
	}
	r[0] += alpha
	return alpha
}

// observe sets k, takes N from after observation i to before it and returns (A⁻¹)_ii.
func (f *Filter) observe(i int) (diag float64) {
	d := f.dim
	f.gain(i)
	is := f.inv[i]
	c := f.noiseAt(i) * is // 1 − k₁

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
	return diag
}

// backward sweeps from the last input to the first with the columns CR, r_j being that of each. It sets grad to the gradient, and
// diag to the diagonal of A⁻¹ − UUᵀ where noise variances differ. With M = N − Σ_j r_j r_jᵀ the value has the derivatives ½M in
// Q, −r_j in m_j and ½M in P (Koopman and Shephard 1992), and over a gap m and P follow dm/da = Fm, dP/da = FP + PFᵀ +
// q·v·e_d·e_dᵀ, hence
//
//	∂/∂log v = Σ ½tr(MQ)
//	∂/∂log l = −Σ a·(tr(FᵀX) + ½q·v·M_dd),  X = MP − Σ_j r_j m_jᵀ
func (f *Filter) backward(grad []float64, r blas64.General) {
	if f.system.doubled != nil {
		f.backwardDoubled(grad, r)
		return
	}
	others := f.roomToMix(r)
	if len(f.system.blocks) > 0 {
		f.backwardBlocks(grad, r, others)
		return
	}
	if len(f.cs) == 1 {
		switch f.cs[0].Order {
		case 0:
			f.backward1(grad, r)
			return
		case 1:
			f.backward2(grad, r)
			return
		case 2:
			f.backward3(grad, r)
			return
		}
	}
	clear(grad)
	clear(f.r)
	clear(f.n)
	d, last := f.dim, len(grad)-1
	for to := len(f.t); to > 0; {
		parallel.Look(f.Ctx)
		from := (to - 1) / chunk * chunk
		means, errs := f.mix(r, from, to)
		for i := to - 1; i >= from; i-- {
			b := i - from
			diag := f.observe(i)
			f.transitions(i)
			copy(f.m, f.n)
			alpha := f.inform(f.r, errs[b], i)
			diag -= alpha * alpha
			subtractOuter(f.m, f.r, f.r)
			for j := range others {
				rj := f.after[j*d:][:d]
				alpha := f.inform(rj, f.mixedErrs[(j+1)*chunk+b], i)
				diag -= alpha * alpha
				subtractOuter(f.m, rj, rj)
			}
			grad[last] += 0.5 * f.noise * diag
			if f.own != nil {
				f.diag[i] = diag
			}

			cov := f.cov[i*d*d:][:d*d]
			for k := range d { // x = M·P − Σ_j r_j m_jᵀ
				apply(f.x[k*d:][:d], cov, f.m[k*d:][:d])
			}
			subtractOuter(f.x, f.r, means[b*d:][:d])
			f.back(f.w, f.r)
			copy(f.r, f.w)
			for j := range others {
				rj := f.after[j*d:][:d]
				subtractOuter(f.x, rj, f.mixedMean[((j+1)*chunk+b)*d:][:d])
				f.back(f.w, rj)
				copy(rj, f.w)
			}
			f.contract(grad, i)
			f.gather(f.n, f.n)
		}
		to = from
	}
}

// contract adds to the gradient what step i has of it, given M and X.
func (f *Filter) contract(grad []float64, i int) {
	d := f.dim
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
			slope += w.v * f.x[w.row*d+w.col]
		}
		grad[2*c] += 0.5 * gv
		grad[2*c+1] -= f.steps[c].a[i] * slope
	}
}

// subtractOuter subtracts a·bᵀ from m.
func subtractOuter(m, a, b []float64) {
	for i, v := range a {
		row := m[i*len(b):][:len(b)]
		for j, w := range b {
			row[j] -= v * w
		}
	}
}

// Solve sets dst = A⁻¹b, in O(nD·d). dst may be b.
func (f *Filter) Solve(dst, b []float64) {
	if len(b) != len(f.t) || len(dst) != len(f.t) {
		panic(fmt.Sprintf("statespace: solving for %d of %d with %d inputs", len(dst), len(b), len(f.t)))
	}
	if len(f.system.blocks) > 0 {
		f.solveBlocks(dst, b)
		return
	}
	mean, after := f.w, f.r
	clear(after)
	for i, v := range b {
		f.lookAt(i)
		f.transitions(i)
		f.forth(mean, after)
		v -= mean[0]
		f.gain(i)
		f.move(after, mean, v)
		dst[i] = v
	}
	clear(f.r)
	for i := len(dst) - 1; i >= 0; i-- {
		f.lookAt(i)
		f.gain(i)
		dst[i] = f.inform(f.r, dst[i], i)
		f.transitions(i)
		f.back(f.w, f.r)
		copy(f.r, f.w)
	}
}
