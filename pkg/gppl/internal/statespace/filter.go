package statespace

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

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

// Factorise factorises A, where K has the given blocks, and solves for the columns C, n×c; c may be 0. Gradient then returns
// the derivatives of each block in turn: in log v, in the log of each parameter of the process and, where there are weights,
// in log p and in each c_m. ByPairs keeps the blocks and takes O(n·D²) operations for each number of a process, and D(D+1)/2 +
// 2D numbers per input.
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
// for R, c×r, with respect to log v, log l of each component in turn and, last, log σ². It returns the derivative in the
// direction ∂A = diag(s) of the known errors, 0 if there are none. With C = y and R = 1 they are the derivatives of the
// negative log likelihood.
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

// Derivatives returns the number of derivatives that Gradient sets.
func (f *Filter) Derivatives() int {
	n := 2*len(f.cs) + 1
	for i := range f.system.blocks {
		n += f.system.blocks[i].derivatives()
	}
	return n
}

// Reader returns a filter that shares the factorisation and has working memory of its own, so that it may be used at the same
// time, as long as f does not factorise anew. It must not factorise.
func (f *Filter) Reader() *Filter {
	r := *f
	r.scratch = scratch{}
	r.allocate()
	return &r
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
			at.set(f.t, comp, true) // independent of the variance
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
				if j == 0 && c == 0 { // the first value is the sum minus the others
					for _, other := range f.first[1:] {
						dst = append(dst, entry{row, other, -v})
					}
				}
			}
		}
	}
	return dst
}

// forward sweeps from the first input to the last with the columns C, at least one, and returns yᵀA⁻¹y of the first. C may be
// errs if it is a single column.
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
	clear(f.w) // state after the observation
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

// backward sweeps from the last input to the first with the columns CR; r_j belongs to column j. It sets grad to the gradient,
// and diag to the diagonal of A⁻¹ − UUᵀ where noise variances differ. With M = N − Σ_j r_j r_jᵀ the value has the derivatives
// ½M in Q, −r_j in m_j and ½M in P (Koopman and Shephard 1992), and over a gap m and P follow dm/da = Fm, dP/da = FP + PFᵀ +
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

// contract adds the contribution of step i to the gradient, given M and X.
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

// GradientDoubled is Gradient after FactoriseDoubled, for an R in twice the digits, by rows.
func (f *Filter) GradientDoubled(grad []float64, r [][]doubled.Float) (known float64) {
	c := len(r)
	high, low := dense.New(c, c), dense.New(c, c)
	for i, row := range r {
		for j, x := range row {
			high.Data[i*c+j], low.Data[i*c+j] = x.Hi, x.Lo
		}
	}
	f.system.doubled.low = low
	known = f.Gradient(grad, high)
	f.system.doubled.low = blas64.General{}
	return known
}
