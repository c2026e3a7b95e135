package gppl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

var (
	_ exactEngine = (*mixedExact)(nil)
	_ exactFactor = (*mixedFactor)(nil)
)

// mixedExact is the exact likelihood of A = B + ΦCΦᵀ, with Φ the cosines and sines at the few frequencies where the terms
// of a kernel have weight (Waver), C > 0 their coefficients, and B the noise. With the whitened columns E = B^−½ΦC^½ and
// z = B^−½Y for the columns Y of the data,
//
//	T = I + EᵀE,  h = T⁻¹Eᵀz,  log|A| = log|B| + log|T|,  YᵀA⁻¹Y = zᵀz − (Eᵀz)ᵀh
//	½(φ_fᵀA⁻¹φ_f − |φ_fᵀU|²)·c_f = ½(1 − (T⁻¹)_ff − |(hR)_f|²),  U = A⁻¹YR
//
// (Rasmussen and Williams 2006, eq. A.9 and A.10). Frequencies that move with the period of a kernel add the derivatives of
// Φ: with E′ those of E, ½⟨A⁻¹ − UUᵀ, ∂ΦCΦᵀ + ΦC∂Φᵀ⟩ = tr(E′ᵀE·T⁻¹) − ⟨(E′ᵀz − E′ᵀEh)R, hR⟩. The time is O(n·p² + p³) for
// p columns.
type mixedExact struct {
	line      *line
	tolerance float64 // nats per observation
	factors   pool[mixedFactor]
}

func newMixedExact(l *line, o options) *mixedExact {
	return &mixedExact{line: l, tolerance: o.tolerance}
}

func (e *mixedExact) name() string { return EngineMixed }

// eps is what the coefficients that are left out may sum to, relative to the variance: even if all observations had the
// phase of one such frequency, the value would err by a third of the tolerance. Rounding is about the least that counts.
func (e *mixedExact) eps(m *compiled) float64 {
	n := float64(len(e.line.t))
	return min(1e-6, max(1e-20, 0.3*e.tolerance*e.line.noise.least(m.noise)/(m.variance*n)))
}

const noWaves = "a term of the kernel is no sum of few waves"

func (e *mixedExact) forecast(m *compiled) forecast {
	if !m.hasSignal() {
		return cannot(noSignal)
	}
	if e.line.span == 0 {
		return cannot("all inputs coincide")
	}
	eps := e.eps(m)
	var p, moving float64
	var room [64]Band
	for _, k := range m.split.signal {
		w, ok := k.(Waver)
		if !ok {
			return cannot(noWaves)
		}
		_, bands := w.Bands(room[:0], e.line.span, eps)
		if bands == nil {
			return cannot(noWaves)
		}
		count := 2 * float64(countWaves(bands))
		p += count
		if w.PeriodParam() >= 0 {
			moving += count
		}
	}
	if p > maxDenseFeatures {
		return tooMany(p / 2)
	}
	n, least := float64(len(e.line.t)), e.line.noise.least(m.noise)
	passes := 1.0
	if !e.line.noise.even() {
		passes = 2
	}
	work := passes*n*p*(p+2*moving) + p*p*p
	if moving > 0 {
		work += p * p * p / 3
	}
	return forecast{
		bytes:   16*triangle(int(p)) + 8*(p+moving)*(mixedChunk+2*n/max(1, n/mixedChunk)),
		seconds: work/(2*flopRate) + passes*n*(p+moving)*8e-9 + p*p*6e-9 + 1e-4,
		err:     n*rounding(m.variance, least) + n*eps*m.variance/least,
	}
}

// mixedChunk is how many observations are computed with at a time.
const mixedChunk = 2048

// waveTerm is a term of the kernel as waves, in working memory.
type waveTerm struct {
	kernel   Waver
	period   float64
	bands    []Band
	features []fourier.Feature
	points   fourier.Points
	coef     []float64 // c_m
	slope    []float64 // derivatives in them
	first    int       // of its features among all
	moving   int       // of its features among those that move; −1: none do
	param    int       // of the period, −1
}

// mixedFactor is T = LLᵀ of one model.
type mixedFactor struct {
	engine *mixedExact
	model  *compiled
	ctx    context.Context
	kernel Kernel
	noise  float64
	eps    float64

	terms  []waveTerm
	root   []float64 // c^½ of every feature
	angle  []float64 // 2πm/P of the features that move
	shift  int       // how many move
	lambda []float64 // of each observation's noise

	rows    blas64.General // Eᵀ, then the rows that move, then zᵀ: for one chunk
	from    int            // the first observation of the chunk, −1: none
	t       *dense.Lower
	inverse *dense.Lower
	length  []float64      // squares of the lengths of the columns of E
	b       blas64.General // Eᵀz
	h       blas64.General // T⁻¹Eᵀz
	zz      blas64.General // zᵀz
	moved   blas64.General // E′ᵀE, without the angles
	movedB  blas64.General // E′ᵀz, likewise
	g       blas64.General // YᵀA⁻¹Y
	errors  []float64
	u       blas64.General // hR
	diag    []float64      // of T⁻¹
	z       []float64      // L⁻¹e_i
	probe   [2][]float64

	fillRows, addTiles func(int)
}

func (e *mixedExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.get()
	f.engine, f.model, f.ctx, f.kernel, f.noise, f.eps = e, m, m.ctx, m.kernel, m.noise, e.eps(m)
	if f.fillRows == nil {
		f.fillRows, f.addTiles = f.fillRowsOfBlock, f.addRowOfTiles
	}
	if err := f.expand(); err != nil {
		f.release()
		return nil, err
	}
	f.fill()
	f.t.AddDiagonal(1)
	if err := f.t.Cholesky(); err != nil {
		f.release()
		return nil, fmt.Errorf("gppl: mixed engine: %w (kernel %v, noise variance %.4g)", err, m.kernel, m.noise)
	}
	return f, nil
}

func (f *mixedFactor) release()        { f.engine.factors.put(f) }
func (f *mixedFactor) jitter() float64 { return 0 }

// features returns p.
func (f *mixedFactor) features() int { return len(f.root) }

// expand sets the waves of all terms.
func (f *mixedFactor) expand() error {
	l, signal := f.engine.line, f.model.split.signal
	f.terms = slices.Grow(f.terms[:0], len(signal))[:len(signal)]
	f.root, f.angle = f.root[:0], f.angle[:0]
	for i, k := range signal {
		w := &f.terms[i]
		w.kernel, w.first, w.moving, w.param = k.(Waver), len(f.root), -1, k.(Waver).PeriodParam()
		w.period, w.bands = w.kernel.Bands(w.bands[:0], l.span, f.eps)
		count := countWaves(w.bands)
		w.coef, w.features = resize(w.coef, count), w.features[:0]
		w.kernel.Coefficients(w.coef, w.period, w.bands)
		tampered("mixed coefficients", w.coef)
		if w.param >= 0 {
			w.moving = len(f.angle)
		}
		at := 0
		for _, b := range w.bands {
			for m := b.From; m <= b.To; m++ {
				w.take(f, m, w.coef[at])
				at++
			}
		}
		w.points.Set(l.t, l.middle(), w.period)
		if err := f.verifyTerm(w, i); err != nil {
			return err
		}
	}
	f.shift = len(f.angle)
	f.lambda = l.noise.set(f.lambda, len(l.t), f.noise)
	f.from = -1
	return nil
}

// take adds the features of a frequency.
func (w *waveTerm) take(f *mixedFactor, m int, c float64) {
	root, angle := math.Sqrt(max(0, c)), 2*math.Pi*float64(m)/w.period
	for s := range min(2, m+1) {
		w.features = append(w.features, fourier.Cos(m)+fourier.Feature(s))
		f.root = append(f.root, root)
		if w.param >= 0 {
			f.angle = append(f.angle, angle)
		}
	}
}

// verifyTerm compares the sum of waves and its derivatives at one distance with the kernel's.
func (f *mixedFactor) verifyTerm(w *waveTerm, i int) error {
	// A distance at which a short period and a long lengthscale show.
	r := [1]float64{f.engine.line.span * (0.25 + 0.5*float64(pick(1<<20, f.noise, w.period, w.coef[0]))/(1<<20)) / float64(1+len(w.coef))}
	v := variance(w.kernel)
	turn := 2 * math.Pi * r[0] / w.period
	w.slope = resize(w.slope, len(w.coef))
	var sum, moved float64
	at := 0
	for _, b := range w.bands {
		for m := b.From; m <= b.To; m++ {
			sin, cos := math.Sincos(turn * float64(m))
			sum += w.coef[at] * cos
			moved += w.coef[at] * turn * float64(m) * sin
			w.slope[at] = cos
			at++
		}
	}
	count := f.model.split.end[i] - f.model.split.offset[i]
	f.probe[0], f.probe[1] = resize(f.probe[0], count), resize(f.probe[1], count)
	clear(f.probe[0])
	clear(f.probe[1])
	one := [1]float64{1}
	w.kernel.Contract(f.probe[0], one[:], r[:])
	w.kernel.ContractCoefficients(f.probe[1], w.slope, w.period, w.bands)
	if w.param >= 0 {
		f.probe[1][w.param] += moved
	}
	steep := 1 + steepness(w.kernel, f.engine.line.span)
	var want [1]float64
	w.kernel.Cov(want[:], r[:])
	if err := verify("a sum of waves", sum, want[0], v*(1e-12+2*f.eps+0x1p-50*steep)); err != nil {
		return err
	}
	for p, want := range f.probe[0] {
		if err := verify("the derivative of a sum of waves", f.probe[1][p], want, v*steep*(1e-9+100*f.eps)); err != nil {
			return err
		}
	}
	return nil
}

// fill sets EᵀE, and what there is of z and of the features that move, a chunk of observations after another.
func (f *mixedFactor) fill() {
	p, c, s := f.features(), f.engine.line.columns.Cols, f.shift
	if f.t == nil || f.t.N() != p {
		f.t, f.inverse = dense.NewLower(p), nil
	}
	f.t.Ctx = f.ctx
	f.t.EachTile(func(_, _ int, t blas64.General) { clear(t.Data) })
	f.b, f.zz = resizeGeneral(f.b, p, c), resizeGeneral(f.zz, c, c)
	f.moved, f.movedB = resizeGeneral(f.moved, s, p), resizeGeneral(f.movedB, s, c)
	clear(f.b.Data)
	clear(f.zz.Data)
	clear(f.moved.Data)
	clear(f.movedB.Data)
	f.eachChunk(func() {
		parallel.Within(f.ctx, dense.Blocks(p), f.addTiles)
		z := rowsFrom(f.rows, p+s, c)
		dense.Gemm(blas.NoTrans, blas.Trans, 1, z, z, 1, f.zz)
		if s > 0 {
			dense.Gemm(blas.NoTrans, blas.Trans, 1, rowsFrom(f.rows, p, s), z, 1, f.movedB)
		}
	})
	f.length = resize(f.length, p)
	for b := range dense.Blocks(p) {
		t := f.t.At(b, b)
		for i := range t.Rows {
			f.length[b*dense.Tile+i] = t.Data[i*t.Stride+i]
		}
	}
}

// eachChunk calls visit with the rows of every chunk of the observations.
func (f *mixedFactor) eachChunk(visit func()) {
	n, height := len(f.lambda), f.features()+f.shift+f.engine.line.columns.Cols
	for from := 0; from < n; from += mixedChunk {
		count := min(mixedChunk, n-from)
		if f.from != from || n > mixedChunk {
			f.rows = resizeGeneral(f.rows, height, count)
			f.from = from
			parallel.Within(f.ctx, (count+mixedBlock-1)/mixedBlock, f.fillRows)
		}
		visit()
	}
}

// mixedBlock is how many columns of the rows are filled at a time.
const mixedBlock = 64

// fillRowsOfBlock sets a block of columns of the rows of a chunk.
func (f *mixedFactor) fillRowsOfBlock(k int) {
	l, p := f.engine.line, f.features()
	part := f.rows
	part.Data, part.Cols = part.Data[k*mixedBlock:], min(mixedBlock, f.rows.Cols-k*mixedBlock)
	from := f.from + k*mixedBlock
	f.whitened(rowsFrom(part, 0, p), from)
	middle := l.middle()
	for i := range f.terms {
		w := &f.terms[i]
		if w.moving < 0 {
			continue
		}
		for a := range w.features {
			still := part.Data[(w.first+a)*part.Stride:][:part.Cols]
			for j, v := range still {
				part.Data[(p+w.moving+a)*part.Stride+j] = v * (l.t[from+j] - middle)
			}
		}
	}
	for c := range l.columns.Cols {
		row := part.Data[(p+f.shift+c)*part.Stride:][:part.Cols]
		for j := range row {
			row[j] = l.columns.Data[(from+j)*l.columns.Stride+c] / math.Sqrt(f.lambda[from+j])
		}
	}
}

// whitened sets dst to columns of Eᵀ, from the given observation on, at most mixedBlock of them.
func (f *mixedFactor) whitened(dst blas64.General, from int) {
	var scale [mixedBlock]float64
	for j := range dst.Cols {
		scale[j] = 1 / math.Sqrt(f.lambda[from+j])
	}
	for i := range f.terms {
		w := &f.terms[i]
		w.points.FeatureRows(rowsFrom(dst, w.first, len(w.features)), from, w.features)
	}
	for a, root := range f.root {
		row := dst.Data[a*dst.Stride:][:dst.Cols]
		for j := range row {
			row[j] *= root * scale[j]
		}
	}
}

// addRowOfTiles adds a chunk to a row of tiles of EᵀE, to rows of Eᵀz and to columns of E′ᵀE, the longest row first.
func (f *mixedFactor) addRowOfTiles(k int) {
	p, s := f.features(), f.shift
	i := dense.Blocks(p) - 1 - k
	from, rows := i*dense.Tile, dense.Width(p, i)
	own := rowsFrom(f.rows, from, rows)
	for j := range i + 1 {
		t := f.t.At(i, j)
		dense.Gemm(blas.NoTrans, blas.Trans, 1, own, rowsFrom(f.rows, j*dense.Tile, t.Cols), 1, t)
	}
	dense.Gemm(blas.NoTrans, blas.Trans, 1, own, rowsFrom(f.rows, p+s, f.b.Cols), 1, rowsFrom(f.b, from, rows))
	if s > 0 {
		moved := f.moved
		moved.Cols, moved.Data = rows, moved.Data[from:]
		dense.Gemm(blas.NoTrans, blas.Trans, 1, rowsFrom(f.rows, p, s), own, 1, moved)
	}
}

func (f *mixedFactor) logDet() float64 {
	sum := f.t.LogDet()
	for _, v := range f.lambda {
		sum += math.Log(v)
	}
	return sum
}

func (f *mixedFactor) gram(g blas64.General) {
	f.h = resizeGeneral(f.h, f.b.Rows, f.b.Cols)
	copyGeneral(f.h, f.b)
	f.t.SolveL(f.h)
	f.t.SolveLT(f.h)
	tampered("mixed h", f.h.Data)
	f.g = resizeGeneral(f.g, f.b.Cols, f.b.Cols)
	quadraticForms(f.g, f.zz, f.b, f.h, 1)
	copyGeneral(g, f.g)
	f.bound()
}

// bound sets errors to bounds on the error of the forms, as spectralFactor.bound does: the rounding of the sums over the
// data, and what the series leaves out, at most eps·v·n·|A⁻¹y|².
func (f *mixedFactor) bound() {
	c := f.b.Cols
	f.errors = resize(f.errors, c)
	least := f.engine.line.noise.least(f.noise)
	for j := range f.errors {
		var fitted float64
		for i, length := range f.length {
			fitted += math.Abs(f.h.Data[i*c+j]) * math.Sqrt(length)
		}
		left := f.eps * f.model.variance * float64(len(f.lambda)) * f.g.Data[j*c+j] / least
		f.errors[j] = roundedForm(f.zz.Data[j*c+j], fitted, 1) + max(0, left)
	}
}

func (f *mixedFactor) uncertainty(r blas64.General) float64 { return spread(vec(f.errors), r) }

func (f *mixedFactor) gradient(grad []float64, r blas64.General) error {
	f.invert()
	f.u = combine(f.u, f.h, r)
	if err := f.verifyInverse(); err != nil {
		return err
	}
	clear(grad)
	last := len(grad) - 1
	for i := range f.terms {
		w := &f.terms[i]
		f.slopes(w)
		own := f.model.split.own(grad[:last], i)
		w.kernel.ContractCoefficients(own, w.slope, w.period, w.bands)
		if w.param >= 0 {
			own[w.param] += f.movedSlope(w, r)
		}
	}
	grad[last] = f.noiseSlope(r)
	return nil
}

// slopes sets the derivatives in the coefficients of a term.
func (f *mixedFactor) slopes(w *waveTerm) {
	w.slope = resize(w.slope, len(w.coef))
	clear(w.slope)
	at := -1
	for a, feature := range w.features {
		if !feature.IsSin() {
			at++
		}
		i := w.first + a
		square := 1 - f.diag[i]
		for _, u := range f.u.Data[i*f.u.Stride:][:f.u.Cols] {
			square -= u * u
		}
		if c := w.coef[at]; c > 0 {
			w.slope[at] += 0.5 * square / c
		}
	}
}

// invert sets inverse to L⁻¹ and diag to the diagonal of T⁻¹.
func (f *mixedFactor) invert() {
	p := f.features()
	if f.inverse == nil {
		f.inverse = dense.NewLower(p)
	}
	f.t.InvertL(f.inverse)
	f.diag = resize(f.diag, p)
	clear(f.diag)
	for j := range dense.Blocks(p) {
		d := f.diag[j*dense.Tile:][:dense.Width(p, j)]
		for i := j; i < dense.Blocks(p); i++ {
			addSquares(d, 1, f.inverse.At(i, j))
		}
	}
	tampered("mixed diag", f.diag)
}

// verifyInverse compares one entry of the diagonal of T⁻¹ with |L⁻¹e_i|² by a substitution.
func (f *mixedFactor) verifyInverse() error {
	i := pick(len(f.diag), f.noise, f.root[0], f.g.Data[0])
	f.z = resize(f.z, len(f.diag))
	clear(f.z)
	f.z[i] = 1
	f.t.SolveL(columnOf(f.z))
	return verify("an entry of an inverse", f.diag[i], blas64.Dot(vec(f.z), vec(f.z)), gradientTrust*math.Abs(f.diag[i]))
}

// movedSlope returns the derivative in the log of the period of a term whose frequencies move with it: of the cosine at
// the angle a = 2πm(t − t₀)/P it is a·sin a, of the sine −a·cos a.
func (f *mixedFactor) movedSlope(w *waveTerm, r blas64.General) (slope float64) {
	p := f.features()
	tile := newGeneral(dense.Tile, dense.Tile)
	// tr(E′ᵀE·T⁻¹), for the blocks of T⁻¹ that have rows or columns of the term.
	first, end := w.first, w.first+len(w.features)
	for i := range dense.Blocks(p) {
		for j := range i + 1 {
			r0, c0 := i*dense.Tile, j*dense.Tile
			rows, cols := dense.Width(p, i), dense.Width(p, j)
			if !(r0 < end && r0+rows > first || c0 < end && c0+cols > first) {
				continue
			}
			t := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: tile.Data}
			f.inverse.InverseTile(t, i, j)
			for a := max(0, first-r0); a < min(rows, end-r0); a++ {
				slope += f.movedDot(w, r0+a-first, c0, row(t, a))
			}
			if i == j {
				continue
			}
			for b := max(0, first-c0); b < min(cols, end-c0); b++ {
				slope += f.movedDot(w, c0+b-first, r0, columnAt(t, b))
			}
		}
	}
	for a := range w.features {
		partner, sign := w.partner(a)
		if sign == 0 {
			continue
		}
		at := w.moving + partner
		for k := range r.Cols {
			var v float64
			for j := range r.Rows {
				rest := f.movedB.Data[at*f.movedB.Stride+j]
				v += rest * r.Data[j*r.Stride+k]
			}
			v -= f.movedFit(at, k)
			slope -= sign * f.angle[w.moving+a] * v * f.u.Data[(w.first+a)*f.u.Stride+k]
		}
	}
	return slope
}

// partner returns the feature whose rows, times t − t₀ and the angle's rate, are the derivative of feature a, and the sign.
func (w *waveTerm) partner(a int) (partner int, sign float64) {
	switch f := w.features[a]; {
	case f.Frequency() == 0:
		return a, 0
	case f.IsSin():
		return a - 1, -1
	}
	return a + 1, 1
}

// movedDot returns a part of row a of E′ᵀE·T⁻¹, times the angle: with columns of E from the given one on.
func (f *mixedFactor) movedDot(w *waveTerm, a, from int, inverse blas64.Vector) float64 {
	partner, sign := w.partner(a)
	if sign == 0 {
		return 0
	}
	own := f.moved.Data[(w.moving+partner)*f.moved.Stride+from:][:inverse.N]
	return sign * f.angle[w.moving+a] * blas64.Dot(vec(own), inverse)
}

// movedFit returns entry k of a row of E′ᵀEhR, without the angle.
func (f *mixedFactor) movedFit(at, k int) float64 {
	return blas64.Dot(row(f.moved, at), columnAt(f.u, k))
}

// noiseSlope returns the derivative in log σ², ½Σ_i σ²e_i²·(A⁻¹ − UUᵀ)_ii.
func (f *mixedFactor) noiseSlope(r blas64.General) float64 {
	p := f.features()
	if f.engine.line.noise.known == nil { // all λ scale with σ²: λ_i(A⁻¹)_ii sums to n − tr(I − T⁻¹)
		var trace float64
		for _, d := range f.diag {
			trace += d
		}
		uu := formOf(f.g, r) - blas64.Dot(vec(f.u.Data), vec(f.u.Data))
		return 0.5 * (float64(len(f.lambda)-p) + trace - uu)
	}
	var sum float64
	f.eachChunk(func() { sum += f.noiseSlopeOfChunk(r) })
	return 0.5 * sum
}

// noiseSlopeOfChunk returns Σ_i σ²e_i²/λ_i·(1 − |L⁻¹E_i|² − |((z_i − E_ih)R)|²) over a chunk.
func (f *mixedFactor) noiseSlopeOfChunk(r blas64.General) (sum float64) {
	p, s, c, count := f.features(), f.shift, f.b.Cols, f.rows.Cols
	noise := &f.engine.line.noise
	solved := newGeneral(p, count)
	copyGeneral(solved, rowsFrom(f.rows, 0, p))
	parallel.Within(f.ctx, (count+mixedBlock-1)/mixedBlock, func(k int) {
		part := solved
		part.Data, part.Cols = part.Data[k*mixedBlock:], min(mixedBlock, count-k*mixedBlock)
		f.t.SolveL(part)
	})
	rest := newGeneral(r.Cols, count) // Rᵀ(z − Eh)ᵀ
	dense.Gemm(blas.Trans, blas.NoTrans, 1, r, rowsFrom(f.rows, p+s, c), 0, rest)
	dense.Gemm(blas.Trans, blas.NoTrans, -1, f.u, rowsFrom(f.rows, 0, p), 1, rest)
	left := make([]float64, count)
	for i := range left {
		left[i] = 1
	}
	addSquares(left, -1, solved)
	addSquares(left, -1, rest)
	for i, v := range left {
		sum += f.noise * noise.weight(f.from+i) / f.lambda[f.from+i] * v
	}
	return sum
}

func (f *mixedFactor) posterior() predictor { return newMixedPosterior(f) }
