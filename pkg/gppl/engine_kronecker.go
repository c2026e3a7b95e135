package gppl

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

var (
	_ exactEngine = (*kroneckerExact)(nil)
	_ exactFactor = (*kroneckerFactor)(nil)
	_ triangular  = (*kroneckerRoot)(nil)
)

// kroneckerExact takes a product of kernels on different axes where the inputs are a full grid: every combination of n_1 points
// on the first axes, n_2 on the second, …, once, with white noise. With the eigendecompositions K_g = Q_gΛ_gQ_gᵀ,
//
//	A = K_1⊗K_2⊗… + σ²I = QDQᵀ,  Q = Q_1⊗Q_2⊗…,  D = Λ_1⊗Λ_2⊗… + σ²I
//
// (Saatçi 2012, chapter 5). It takes O(Σn_g³ + n·Σn_g), in memory for O(n + Σn_g²) numbers.
type kroneckerExact struct {
	x       Inputs
	columns blas64.General // C, n×c
	rows    observed.Noise
	axes    []gridAxes
	place   []int         // place of each observation on the grid, the last axes fastest
	why     choice.Reason // the reason why there is no grid
	factors parallel.Pool[kroneckerFactor]
}

// gridAxes are some of the axes, with the points of the grid on them.
type gridAxes struct {
	axes   []int
	at     Inputs // n_g points of all axes; the coordinates on the other axes may be anything
	number []int  // index in at of the point of each observation
}

// piece is a factor of a product over axes.
type piece struct {
	kernel Kernel
	axes   []int
	params []int // place of each parameter of kernel among all parameters; −1 for none
}

// separate splits a kernel of the given axes into factors, as far as it is a product over axes. params are the places of its
// parameters.
func separate(dst []piece, k Kernel, axes, params []int) []piece {
	switch k := k.(type) {
	case Product:
		for i, p := range k.parts {
			dst = separate(dst, p, axes, params[k.offset[i]:k.offset[i+1]])
		}
		return dst
	case Axes:
		return separate(dst, k.kernel, timeline.Pick(axes, k.axes), params)
	case SE:
		for i := range axes {
			one := piece{SE{1, k.Lengthscale}, axes[i : i+1], []int{-1, params[1]}}
			if i == 0 {
				one.kernel, one.params[0] = k, params[0]
			}
			dst = append(dst, one)
		}
		return dst
	case Anisotropic:
		if se, is := k.kernel.(SE); is { // the variance, and a lengthscale for each axis
			for i, l := range k.lengthscales {
				one := piece{SE{1, l}, axes[i : i+1], []int{-1, params[1+i]}}
				if i == 0 {
					one.kernel, one.params[0] = SE{se.Variance, l}, params[0]
				}
				dst = append(dst, one)
			}
			return dst
		}
	}
	return append(dst, piece{k, axes, params})
}

// piecesOf returns the pieces of the whole kernel at one θ, if it is one product and no sum, white noise apart.
func piecesOf(s *split, d int) ([]piece, bool) {
	if len(s.signal) != 1 {
		return nil, false
	}
	return separate(nil, s.signal[0], timeline.Range(0, d), timeline.Range(s.offset[0], s.end[0])), true
}

func newKroneckerExact(x Inputs, columns blas64.General, rows observed.Noise, family Kernel) *kroneckerExact {
	e := &kroneckerExact{x: x, columns: columns, rows: rows}
	var s split
	s.set(family)
	of, product := piecesOf(&s, x.d)
	if !product {
		e.why = choice.Cannot("the kernel is a sum, or white noise alone").Reason
		return e
	}
	groups := make([][]int, x.d)
	for a := range groups {
		groups[a] = []int{a}
	}
	for _, p := range of { // axes that occur in one factor belong together
		groups = together(groups, p.axes)
	}
	if len(groups) == 1 {
		e.why = choice.Cannot("the kernel is no product over axes").Reason
		return e
	}
	if e.findGrid(groups); e.place == nil {
		e.why = choice.Cannot("the inputs are no full grid of the axes that the kernel separates").Reason
	}
	return e
}

// together returns the groups with those that have one of the axes as one group.
func together(groups [][]int, axes []int) [][]int {
	var joint []int
	groups = slices.DeleteFunc(slices.Clone(groups), func(g []int) bool {
		touched := slices.ContainsFunc(g, func(a int) bool { return slices.Contains(axes, a) })
		if touched {
			joint = append(joint, g...)
		}
		return touched
	})
	slices.Sort(joint)
	return append(groups, joint)
}

// findGrid sets the finest grid whose axes are the groups or several of them, if the inputs are one: two groups are one if the
// inputs do not combine each of the points of one with each of the other.
func (e *kroneckerExact) findGrid(groups [][]int) {
	n := e.x.Len()
	var axes []gridAxes
	for _, g := range groups {
		axes = append(axes, newGridAxes(e.x, g))
	}
	for i := 0; i < len(axes); i++ {
		for j := i + 1; j < len(axes); j++ {
			if axes[i].combined(&axes[j], n) {
				continue
			}
			axes[i] = newGridAxes(e.x, append(axes[i].axes, axes[j].axes...))
			axes = slices.Delete(axes, j, j+1)
			i, j = 0, 0 // start again: the merged set may meet others
		}
	}
	if len(axes) == 1 {
		return
	}
	slices.SortFunc(axes, func(a, b gridAxes) int { return slices.Compare(a.axes, b.axes) })
	place, size := make([]int, n), 1
	for _, g := range axes {
		if size *= g.at.Len(); size > n {
			return
		}
		for i := range place {
			place[i] = place[i]*g.at.Len() + g.number[i]
		}
	}
	taken := make([]bool, n)
	for _, p := range place {
		if size != n || taken[p] {
			return
		}
		taken[p] = true
	}
	e.axes, e.place = axes, place
}

// newGridAxes numbers the points of x by their coordinates on some axes.
func newGridAxes(x Inputs, axes []int) gridAxes {
	slices.Sort(axes)
	compare := func(i, j int) int {
		for _, a := range axes {
			if c := cmp.Compare(x.at[i*x.d+a], x.at[j*x.d+a]); c != 0 {
				return c
			}
		}
		return 0
	}
	order := timeline.Range(0, x.Len())
	slices.SortFunc(order, compare)
	g := gridAxes{axes: axes, number: make([]int, x.Len())}
	var first []int
	for k, i := range order {
		if k == 0 || compare(order[k-1], i) != 0 {
			first = append(first, i)
		}
		g.number[i] = len(first) - 1
	}
	g.at = x.Pick(first)
	return g
}

// combined reports whether n inputs have each point of g with each of h.
func (g *gridAxes) combined(h *gridAxes, n int) bool {
	all := g.at.Len() * h.at.Len()
	if all > n {
		return false
	}
	there := make([]bool, all)
	for i, p := range g.number {
		if at := p*h.at.Len() + h.number[i]; !there[at] {
			there[at] = true
			all--
		}
	}
	return all == 0
}

func (e *kroneckerExact) name() string { return EngineKronecker }
func (*kroneckerExact) takesPlaced()   {}

// eigenBlock is the number of rows of working memory of an eigendecomposition: enough for its blocks.
const eigenBlock = 66

// eigenSeconds is the time of an eigendecomposition of an n×n matrix, divided by n³.
const eigenSeconds = 5e-9

func (e *kroneckerExact) estimate(m *compiled) choice.Estimate {
	switch {
	case e.why.Given():
		return choice.Estimate{Reason: e.why}
	case !e.rows.Even():
		return choice.Cannot("observations have errors of their own")
	}
	n, c := float64(e.x.Len()), float64(e.columns.Cols)
	f := choice.Estimate{Seconds: 20e-9 * n * (1 + c), Bytes: 8 * n * (4*c + 4), Err: n * rounding(m.variance, m.noise)}
	for _, g := range e.axes {
		size := float64(g.at.Len())
		f.Seconds += eigenSeconds*size*size*size + 10*c*n*size/choice.FlopRate + 4*size*size*pairSeconds
		f.Bytes += 8 * 6 * size * size
	}
	return f
}

// kroneckerFactor is A = QDQᵀ. Vectors on the grid are rows.
type kroneckerFactor struct {
	engine  *kroneckerExact
	ctx     context.Context
	kernel  Kernel
	pieces  []piece
	noise   float64
	axes    []eigenAxes
	eigen   []float64      // D, in the order of the places
	half    blas64.General // D^−½QᵀC, a row for each column of C
	u       blas64.General // QᵀU, a row for each column
	scratch [2][]float64
}

// eigenAxes is K_g = QΛQᵀ.
type eigenAxes struct {
	k, q   blas64.General
	values []float64 // Λ
	weight blas64.General
	work   [2][]float64
	space  []float64 // working memory of the eigendecomposition
}

func (e *kroneckerExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.Get()
	n, c := e.x.Len(), e.columns.Cols
	if f.engine == nil {
		f.engine, f.axes, f.eigen = e, make([]eigenAxes, len(e.axes)), make([]float64, n)
		f.scratch = [2][]float64{make([]float64, n), make([]float64, n)}
		for i, g := range e.axes {
			size := g.at.Len()
			f.axes[i] = eigenAxes{k: dense.New(size, size), q: dense.New(size, size), weight: dense.New(size, size)}
			f.axes[i].work = [2][]float64{make([]float64, size*size), make([]float64, size*size)}
			f.axes[i].values, f.axes[i].space = make([]float64, size), make([]float64, eigenBlock*size)
		}
	}
	f.ctx, f.kernel, f.noise = m.ctx, m.kernel, m.noise
	f.pieces, _ = piecesOf(&m.split, e.x.d)
	for i := range f.axes {
		parallel.Look(f.ctx)
		if err := f.decompose(i); err != nil {
			f.release()
			return nil, notFactorised(m.kernel, m.noise, err, "gppl: kronecker engine: %v", err)
		}
	}
	f.products(f.eigen, -1)
	floats.AddConst(f.noise, f.eigen)
	f.half = dense.Reshape(f.half, c, n)
	for j := range c {
		f.toGrid(dense.Row(f.half, j).Data, dense.Column(e.columns, j))
		f.whiten(dense.Row(f.half, j).Data, f.scratch)
	}
	return f, nil
}

// decompose sets K_g and its eigenvectors. Eigenvalues that rounding made negative are 0.
func (f *kroneckerFactor) decompose(i int) error {
	g, own := &f.axes[i], &f.engine.axes[i]
	constant(g.k.Data, 1)
	f.eachPiece(i, func(p piece) {
		covariances(g.work[0], p.on(), own.at, own.at)
		floats.Mul(g.k.Data, g.work[0])
	})
	copy(g.q.Data, g.k.Data)
	of := blas64.Symmetric{N: g.k.Rows, Stride: g.k.Rows, Data: g.q.Data, Uplo: blas.Upper}
	var converged bool
	parallel.Apart(f.ctx, func() { converged = lapack64.Syev(lapack.EVCompute, of, g.values, g.space, len(g.space)) })
	if !converged {
		return errors.New("the eigenvalues of a factor did not converge")
	}
	for j, v := range g.values {
		g.values[j] = max(v, 0)
	}
	return nil
}

// on returns the kernel of the piece as one of all axes.
func (p piece) on() Kernel { return Axes{p.kernel, p.axes} }

// eachPiece calls visit for the factors on axes i.
func (f *kroneckerFactor) eachPiece(i int, visit func(p piece)) {
	for _, p := range f.pieces {
		if slices.Contains(f.engine.axes[i].axes, p.axes[0]) {
			visit(p)
		}
	}
}

// products sets dst to the products of the eigenvalues of all axes but skip.
func (f *kroneckerFactor) products(dst []float64, skip int) {
	dst[0] = 1
	size := 1
	for i := range f.axes {
		values := f.axes[i].values
		for at := size - 1; at >= 0; at-- { // backwards, so that unread values are not overwritten
			v := dst[at]
			for j := len(values) - 1; j >= 0; j-- {
				if dst[at*len(values)+j] = v; i != skip {
					dst[at*len(values)+j] *= values[j]
				}
			}
		}
		size *= len(values)
	}
}

// toGrid sets dst to v by places.
func (f *kroneckerFactor) toGrid(dst []float64, v blas64.Vector) {
	for i, p := range f.engine.place {
		dst[p] = v.Data[i*v.Inc]
	}
}

// fromGrid sets dst to v, which is by places.
func (f *kroneckerFactor) fromGrid(dst blas64.Vector, v []float64) {
	for i, p := range f.engine.place {
		dst.Data[i*dst.Inc] = v[p]
	}
}

// multiply sets v to the product of a matrix of each axes, or of its transpose, with v, in scratch.
func (f *kroneckerFactor) multiply(v []float64, trans blas.Transpose, of func(g *eigenAxes) blas64.General, scratch []float64) {
	after := len(v)
	for i := range f.axes {
		parallel.Look(f.ctx)
		m := of(&f.axes[i])
		size := m.Rows
		before := len(v) / after
		if after /= size; after == 1 { // vectors of these axes are rows
			side := blas.Trans
			if trans == blas.Trans {
				side = blas.NoTrans
			}
			rows := func(x []float64) blas64.General {
				return blas64.General{Rows: before, Cols: size, Stride: size, Data: x}
			}
			dense.Gemm(blas.NoTrans, side, 1, rows(v), m, 0, rows(scratch))
		} else {
			for l := range before {
				block := func(x []float64) blas64.General {
					return blas64.General{Rows: size, Cols: after, Stride: after, Data: x[l*size*after:][:size*after]}
				}
				dense.Gemm(trans, blas.NoTrans, 1, m, block(v), 0, block(scratch))
			}
		}
		copy(v, scratch)
	}
}

func vectors(g *eigenAxes) blas64.General { return g.q }

// whiten replaces v by D^−½Qᵀv.
func (f *kroneckerFactor) whiten(v []float64, scratch [2][]float64) {
	f.multiply(v, blas.Trans, vectors, scratch[0])
	for i, d := range f.eigen {
		v[i] /= math.Sqrt(d)
	}
}

// colour replaces v by QD^−½v.
func (f *kroneckerFactor) colour(v []float64, scratch [2][]float64) {
	for i, d := range f.eigen {
		v[i] /= math.Sqrt(d)
	}
	f.multiply(v, blas.NoTrans, vectors, scratch[0])
}

func (f *kroneckerFactor) release()        { f.engine.factors.Put(f) }
func (f *kroneckerFactor) jitter() float64 { return 0 }

func (f *kroneckerFactor) logDet() (sum float64) {
	for _, d := range f.eigen {
		sum += math.Log(d)
	}
	return sum
}

func (f *kroneckerFactor) gram(g blas64.General) {
	for i := range f.half.Rows {
		for j := range f.half.Rows {
			g.Data[i*g.Stride+j] = blas64.Dot(dense.Row(f.half, i), dense.Row(f.half, j))
		}
	}
}

// kroneckerRounding is the error of the eigenvalues, relative to the largest one and 2⁻⁵³ (TestKroneckerRandom).
const kroneckerRounding = 4

// norm returns the largest entry of D.
func (f *kroneckerFactor) norm() float64 { return slices.Max(f.eigen) }

// uncertainty is the error of the value, to first order, due to errors ΔA of the eigenvalues: ½‖ΔA‖·√n·(mean of 1/D + mean of
// u²), since they are independent.
func (f *kroneckerFactor) uncertainty(r blas64.General) float64 {
	f.solved(r)
	var inverse float64
	for _, d := range f.eigen {
		inverse += 1 / d
	}
	form := blas64.Dot(dense.Vec(f.u.Data), dense.Vec(f.u.Data))
	return 0.5 * kroneckerRounding * 0x1p-53 * f.norm() * (inverse + form) / math.Sqrt(float64(len(f.eigen)))
}

// solved sets u to QᵀU = D^−½·half·R.
func (f *kroneckerFactor) solved(r blas64.General) {
	f.u = dense.Reshape(f.u, r.Cols, len(f.eigen))
	dense.Gemm(blas.Trans, blas.NoTrans, 1, r, f.half, 0, f.u)
	for j := range f.u.Rows {
		row := dense.Row(f.u, j).Data
		for i, d := range f.eigen {
			row[i] /= math.Sqrt(d)
		}
	}
}

// gradient is ½⟨A⁻¹ − UUᵀ, ∂A⟩: for parameters on axes g, ½⟨Q_g(T − M)Q_gᵀ, ∂K_g⟩, where T is diagonal, with the sums of the
// other axes' eigenvalues over D, and M = ŨΛ_otherŨᵀ, Ũ = QᵀU as a matrix with a row for each point of g.
func (f *kroneckerFactor) gradient(grad []float64, r blas64.General) error {
	f.solved(r)
	clear(grad)
	last := len(grad) - 1
	for _, d := range f.eigen {
		grad[last] += 0.5 * f.noise / d
	}
	all := dense.Vec(f.u.Data)
	grad[last] -= 0.5 * f.noise * blas64.Dot(all, all)
	for i := range f.axes {
		f.weigh(i)
		f.contract(grad, i)
	}
	return f.check(r)
}

// weigh sets the weight of axes i to ½Q_g(T − M)Q_gᵀ.
func (f *kroneckerFactor) weigh(i int) {
	g, other, scaled := &f.axes[i], f.scratch[0], f.scratch[1]
	f.products(other, i)
	size := g.k.Rows
	after := 1
	for _, later := range f.axes[i+1:] {
		after *= later.k.Rows
	}
	before := len(other) / (size * after)
	m := blas64.General{Rows: size, Cols: size, Stride: size, Data: g.work[0]}
	clear(m.Data)
	for j := range f.u.Rows {
		parallel.Look(f.ctx)
		for at, v := range dense.Row(f.u, j).Data {
			scaled[at] = v * math.Sqrt(other[at])
		}
		if after == 1 {
			rows := blas64.General{Rows: before, Cols: size, Stride: size, Data: scaled}
			dense.Gemm(blas.Trans, blas.NoTrans, -1, rows, rows, 1, m)
			continue
		}
		for l := range before {
			block := blas64.General{Rows: size, Cols: after, Stride: after, Data: scaled[l*size*after:][:size*after]}
			dense.Gemm(blas.NoTrans, blas.Trans, -1, block, block, 1, m)
		}
	}
	for at, v := range other {
		j := at / after % size
		m.Data[j*size+j] += v / f.eigen[at]
	}
	half := blas64.General{Rows: size, Cols: size, Stride: size, Data: g.work[1]}
	dense.Gemm(blas.NoTrans, blas.NoTrans, 0.5, g.q, m, 0, half)
	dense.Gemm(blas.NoTrans, blas.Trans, 1, half, g.q, 0, g.weight)
}

// contract adds ⟨weight, ∂K_g⟩ to the gradient.
func (f *kroneckerFactor) contract(grad []float64, i int) {
	g, own := &f.axes[i], &f.engine.axes[i]
	f.eachPiece(i, func(p piece) {
		copy(g.work[0], g.weight.Data)
		f.eachPiece(i, func(q piece) {
			if &q.params[0] != &p.params[0] {
				covariances(g.work[1], q.on(), own.at, own.at)
				floats.Mul(g.work[0], g.work[1])
			}
		})
		some := borrow(len(p.params))
		clear(*some)
		contractions(*some, p.on(), g.work[0], own.at, own.at, g.work[1])
		for k, v := range *some {
			if at := p.params[k]; at >= 0 {
				grad[at] += v
			}
		}
		giveBack(some)
	})
}

// check compares A·U by the factors of K themselves with CR, which the eigenvectors share nothing with.
func (f *kroneckerFactor) check(r blas64.General) error {
	e := f.engine
	n := len(f.eigen)
	work := borrow(3 * n)
	defer giveBack(work)
	u, product, want := (*work)[:n], (*work)[n:2*n], (*work)[2*n:]
	var off, size float64
	for j := range f.u.Rows {
		copy(u, dense.Row(f.u, j).Data)
		f.multiply(u, blas.NoTrans, vectors, f.scratch[0])
		copy(product, u)
		f.multiply(product, blas.NoTrans, func(g *eigenAxes) blas64.General { return g.k }, f.scratch[0])
		floats.AddScaled(product, f.noise, u)
		clear(want)
		for c := range e.columns.Cols {
			f.toGrid(f.scratch[0], dense.Column(e.columns, c))
			floats.AddScaled(want, r.Data[c*r.Stride+j], f.scratch[0])
		}
		floats.Sub(product, want)
		off = max(off, floats.Norm(product, 2))
		size = max(size, f.norm()*floats.Norm(u, 2)+floats.Norm(want, 2))
	}
	return verify.Near("A·U by the factors of a Kronecker product", off, 0, verify.Backward*size)
}

func (f *kroneckerFactor) posterior() predictor {
	e := f.engine
	f.ctx = context.Background() // the context of the evaluation may have ended
	root := &kroneckerRoot{of: f, ctx: f.ctx}
	alpha := dense.New(e.columns.Rows, e.columns.Cols)
	dense.Copy(alpha, e.columns)
	root.SolveL(alpha)
	root.SolveLT(alpha)
	return newExactPosterior(f.kernel, &exactFactors{x: e.x, factor: root, alpha: alpha, columns: e.columns,
		lambda: e.rows.Set(nil, e.x.Len(), f.noise)}, timeline.Range(0, e.x.Len()))
}

// kroneckerRoot is QD^½. Its inverse and transpose take the place of a triangular factor's.
type kroneckerRoot struct {
	of  *kroneckerFactor
	ctx context.Context
}

// SolveL replaces b by D^−½Qᵀb.
func (r *kroneckerRoot) SolveL(b blas64.General) {
	r.each(b, func(v []float64, column blas64.Vector, scratch [2][]float64) {
		r.of.toGrid(v, column)
		r.of.whiten(v, scratch)
		blas64.Copy(dense.Vec(v), column)
	})
}

// SolveLT replaces b by QD^−½b.
func (r *kroneckerRoot) SolveLT(b blas64.General) {
	r.each(b, func(v []float64, column blas64.Vector, scratch [2][]float64) {
		blas64.Copy(column, dense.Vec(v))
		r.of.colour(v, scratch)
		r.of.fromGrid(column, v)
	})
}

func (r *kroneckerRoot) each(b blas64.General, f func(v []float64, column blas64.Vector, scratch [2][]float64)) {
	n := b.Rows
	work := borrow(2 * n)
	defer giveBack(work)
	for j := range b.Cols {
		parallel.Look(r.ctx)
		f((*work)[:n], dense.Column(b, j), [2][]float64{(*work)[n:], nil})
	}
}
