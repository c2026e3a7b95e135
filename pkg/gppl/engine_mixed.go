package gppl

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

var (
	_ exactEngine = (*mixedExact)(nil)
	_ exactFactor = (*mixedFactor)(nil)
)

// mixedExact is the exact likelihood of A = B + ΦCΦᵀ, with Φ the cosines and sines at the few frequencies where the terms
// of a kernel have weight (Waver), C > 0 their coefficients, and B the noise, with those terms of the kernel that are none or too
// many waves, as the state space or the banded engine factorises it. With the whitened columns E = B^−½ΦC^½ and
// z = B^−½Y for the columns Y of the data,
//
//	T = I + EᵀE,  h = T⁻¹Eᵀz,  log|A| = log|B| + log|T|,  YᵀA⁻¹Y = zᵀz − (Eᵀz)ᵀh
//	½(φ_fᵀA⁻¹φ_f − |φ_fᵀU|²)·c_f = ½(1 − (T⁻¹)_ff − |(hR)_f|²),  U = A⁻¹YR
//
// (Rasmussen and Williams 2006, eq. A.9 and A.10). Frequencies that move with the period of a kernel add the derivatives of
// Φ: with E′ those of E, ½⟨A⁻¹ − UUᵀ, ∂ΦCΦᵀ + ΦC∂Φᵀ⟩ = tr(E′ᵀE·T⁻¹) − ⟨(E′ᵀz − E′ᵀEh)R, hR⟩. The time is O(n·p² + p³) for
// p columns, O(p³) where B is even noise (mixed_sums.go). Of the waves near a harmonic the columns are those combinations that
// differ on the range of the data (mixed_packets.go).
type mixedExact struct {
	line      *line
	tolerance float64       // nats per observation
	tight     bool          // for a posterior
	probes    []exactEngine // that may factorise B, for their forecasts
	grid      *griddedExact // likewise
	factors   parallel.Pool[mixedFactor]
	rests     parallel.Pool[mixedBase]
	rooms     parallel.Pool[[]Band]
	waves     parallel.Pool[waveRows]
	products  parallel.Pool[partRoom]
	divisions parallel.Pool[division]
	sums      summed
	favour    float64 // how many times longer sums may take than the data themselves; 1 but in tests
}

func newMixedExact(l *line, o options) *mixedExact {
	e := &mixedExact{line: l, tolerance: o.tolerance, tight: o.posterior, favour: 1}
	e.sums.read(l)
	e.grid = newGriddedExact(l)
	for _, base := range bases {
		e.probes = append(e.probes, base(l))
	}
	return e
}

func (e *mixedExact) name() string { return EngineMixed }

// eps is what the coefficients that are left out may sum to, relative to the variance: even if all observations had the
// phase of one such frequency, the value would err by less than a fortieth of the tolerance. There are hardly fewer columns for more.
func (e *mixedExact) eps(m *compiled) float64 {
	n := float64(len(e.line.t))
	return min(1e-6, max(1e-20, 0.05*e.tolerance*e.line.noise.least(m.noise)/(m.variance*n)))
}

// left is what a value may err by for the coefficients that are left out, at most ‖ΔK‖ ≤ n·eps·v: ½·tr(A⁻¹ΔK) in log|A|, as much again in a
// form of one for each observation, and ½·‖ΔK‖/σ² in log|HᵀA⁻¹H| for each column of a mean.
func (e *mixedExact) left(m *compiled) float64 {
	means := float64(max(0, e.line.columns.Cols-1))
	return float64(len(e.line.t)) * e.eps(m) * m.variance / e.line.noise.least(m.noise) * (1 + 0.5*means)
}

// mixedContrast is the largest n·v/σ², about the condition of T, at which T is sure to be positive definite.
const mixedContrast = 1e14

const noWaves = "a term of the kernel is no sum of few waves"

func (e *mixedExact) forecast(m *compiled) forecast {
	if !m.hasSignal() {
		return cannot(noSignal)
	}
	if e.line.span == 0 {
		return cannot("all inputs coincide")
	}
	if contrast := m.variance / e.line.noise.least(m.noise); contrast*float64(len(e.line.t)) > mixedContrast {
		return forecast{reason: reason{tooSteep, contrast}}
	}
	d := e.divisions.Get()
	e.divide(d, m, e.eps(m), 0)
	f := e.predictDivided(m, d)
	if d.layered >= 0 {
		f.err += float64(len(e.line.t)) * layerRounding * m.variance / e.line.noise.least(m.noise)
	}
	e.divisions.Put(d)
	return f
}

// predictDivided is the forecast for a division of the terms.
func (e *mixedExact) predictDivided(m *compiled, d *division) forecast {
	if d.p == 0 {
		return cannot(noWaves)
	}
	if d.p+d.moving > maxDenseFeatures {
		return tooMany(d.p / 2)
	}
	if len(d.rest) == 0 {
		return e.predict(m, d)
	}
	return e.predictBased(m, d)
}

// predictBased is the forecast with a base of other terms.
func (e *mixedExact) predictBased(m *compiled, d *division) forecast {
	f := cannot(noWaves)
	b := e.rests.Get()
	if err := b.compile(m, d.rest); err == nil {
		_, f = e.baseForecast(b, d)
	}
	e.rests.Put(b)
	if f.reason != (reason{}) {
		return f
	}
	n, least, p := float64(len(e.line.t)), e.line.noise.least(m.noise), d.p
	f.err += n*rounding(m.variance, least) + e.left(m)
	f.bytes += 16 * triangle(int(p))
	f.seconds += p*p*p*(1+d.moving/(3*p))/(2*flopRate) + 1e-4
	return f
}

// predict is the forecast where B is the noise alone.
func (e *mixedExact) predict(m *compiled, d *division) forecast {
	n, least, p := float64(len(e.line.t)), e.line.noise.least(m.noise), d.p
	direct, sums := e.costs(d)
	f := forecast{
		bytes:   16*triangle(int(p)) + 8*(p+d.moving)*(mixedChunk+2*n/max(1, n/mixedChunk)),
		seconds: direct,
		err:     n*rounding(m.variance, least) + e.left(m),
	}
	if e.summed(d) {
		f.seconds = sums
		if period, highest := e.circleFor(d); !e.knows(period, highest) {
			f.setup = e.sums.pass(300e-9) + highest*1e-6
		}
	}
	f.seconds += p*p*p*(1+d.moving/(3*max(1, p)))/(2*flopRate) + p*p*6e-9 + 1.5e-4 // more than the spectral engine's, which takes what both can
	return f
}

// knows reports whether the sums on a circle are there.
func (e *mixedExact) knows(period, highest float64) bool {
	c := e.sums.circles.find(func(c *circleSums) bool { return c.period == period })
	return c != nil && highest <= float64(c.m)
}

// mixedChunk is how many observations are computed with at a time.
const mixedChunk = 2048

// mixedFactor is T = LLᵀ of one model.
type mixedFactor struct {
	engine *mixedExact
	model  *compiled
	ctx    context.Context
	kernel Kernel
	noise  float64
	eps    float64
	span   float64 // the waves represent the kernel up to this distance

	terms             []waveTerm
	base              mixedBase
	which             int // of the engines that may factorise it
	division          division
	columns           int           // p
	circle            *circleSums   // that all waves are on; nil: EᵀE is added up over the data
	parts, movedParts []waveColumns // of the columns of E and of E′, with circle
	angle             []float64     // 2πm/P of the features that move
	shift             int           // how many move
	lambda            []float64     // of each observation's noise

	rows                blas64.General // Eᵀ, then the rows that move, then zᵀ: for one chunk
	from                int            // the first observation of the chunk, −1: none
	t                   *dense.Lower
	inverse             *dense.Lower
	length              []float64      // squares of the lengths of the columns of E
	size                []float64      // of the columns of ΦC^½, with circle
	b                   blas64.General // Eᵀz
	h                   blas64.General // T⁻¹Eᵀz
	back                blas64.General // Th, for the check
	zz                  blas64.General // zᵀz
	moved               blas64.General // E′ᵀE, without the angles
	movedB              blas64.General // E′ᵀz, likewise
	g                   blas64.General // YᵀA⁻¹Y
	errors              []float64
	u                   blas64.General // hR
	diag                []float64      // of T⁻¹
	z                   []float64      // L⁻¹e_i
	tile                []float64      // of T⁻¹
	probe               [2][]float64
	block, along, strip blas64.General // see packetSlopes

	fillRows, addTiles, fillPart, fillMoved func(int)
}

func (e *mixedExact) factor(m *compiled) (exactFactor, error) {
	f, err := e.factorOver(m, 0)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// factorOver factorises A with waves that represent the kernel up to the given distance, 0: as far as the data need.
func (e *mixedExact) factorOver(m *compiled, span float64) (*mixedFactor, error) {
	f := e.factors.Get()
	f.span = span
	f.engine, f.model, f.ctx, f.kernel, f.noise, f.eps = e, m, m.ctx, m.kernel, m.noise, e.eps(m)
	if f.fillRows == nil {
		f.fillRows, f.addTiles = f.fillRowsOfBlock, f.addRowOfTiles
	}
	if err := f.expand(); err != nil {
		f.release()
		return nil, err
	}
	if err := f.fill(); err != nil {
		f.release()
		return nil, err
	}
	f.t.AddDiagonal(1)
	if err := f.t.Cholesky(); err != nil {
		f.release()
		return nil, notFactorised(m.kernel, m.noise, err, "gppl: mixed engine: %v", err)
	}
	return f, nil
}

func (f *mixedFactor) release() {
	if f.base.factor != nil {
		f.base.factor.release()
		f.base.factor = nil
	}
	f.engine.factors.Put(f)
}

func (f *mixedFactor) jitter() float64 { return 0 }

// features returns p.
func (f *mixedFactor) features() int { return f.columns }

// fill sets EᵀE and what there is of the columns of the data.
func (f *mixedFactor) fill() error {
	switch {
	case len(f.base.of) > 0:
		if err := f.fillBase(); err != nil {
			return err
		}
	case f.circle != nil:
		f.fillSums()
	default:
		f.fillWhite()
	}
	p := f.features()
	f.length = dense.Resize(f.length, p)
	for b := range dense.Blocks(p) {
		t := f.t.At(b, b)
		for i := range t.Rows {
			f.length[b*dense.Tile+i] = max(0, t.Data[i*t.Stride+i]) // from sums, a column of almost no weight is rounding
		}
	}
	return nil
}

// room makes room for what fill sets.
func (f *mixedFactor) room() {
	p, c, s := f.features(), f.engine.line.columns.Cols, f.shift
	if f.t == nil || f.t.N() != p {
		f.t, f.inverse = dense.NewLower(p), nil
	}
	f.t.Ctx = f.ctx
	f.b, f.zz = dense.Reshape(f.b, p, c), dense.Reshape(f.zz, c, c)
	f.moved, f.movedB = dense.Reshape(f.moved, s, p), dense.Reshape(f.movedB, s, c)
}

func (f *mixedFactor) logDet() float64 {
	sum := f.t.LogDet()
	if f.base.factor != nil {
		return sum + f.base.factor.logDet()
	}
	for _, v := range f.lambda {
		sum += math.Log(v)
	}
	return sum
}

func (f *mixedFactor) gram(g blas64.General) {
	f.h = dense.Reshape(f.h, f.b.Rows, f.b.Cols)
	dense.Copy(f.h, f.b)
	f.t.SolveL(f.h)
	f.t.SolveLT(f.h)
	tampered("mixed h", f.h.Data)
	f.g = dense.Reshape(f.g, f.b.Cols, f.b.Cols)
	dense.LowRankForms(f.g, f.zz, f.b, f.h, 1)
	dense.Copy(g, f.g)
	f.bound()
}

// bound sets errors to bounds on the error of the forms, as spectralFactor.bound does: the rounding of the sums over the
// data, and what the series leaves out, at most eps·v·n·|A⁻¹y|².
func (f *mixedFactor) bound() {
	c := f.b.Cols
	f.errors = dense.Resize(f.errors, c)
	least, scale := f.engine.line.noise.least(f.noise), 1.0
	if len(f.base.of) > 0 { // B⁻¹ itself is rounded
		scale += math.Sqrt(f.base.model.variance / least)
	}
	for j := range f.errors {
		var fitted float64
		for i, length := range f.length {
			fitted += math.Abs(f.h.Data[i*c+j]) * math.Sqrt(length)
		}
		left := f.eps * f.model.variance * float64(len(f.lambda)) * f.g.Data[j*c+j] / least
		f.errors[j] = scale*roundedForm(f.zz.Data[j*c+j], fitted, 1) + max(0, left)
	}
}

func (f *mixedFactor) uncertainty(r blas64.General) float64 {
	return dense.Spread(dense.Vec(f.errors), r)
}

func (f *mixedFactor) gradient(grad []float64, r blas64.General) error {
	f.invert()
	f.u = dense.Combine(f.u, f.h, r)
	if err := f.verifyInverse(); err != nil {
		return err
	}
	clear(grad)
	last := len(grad) - 1
	for i := range f.terms {
		w := &f.terms[i]
		if err := f.slopes(w); err != nil {
			return err
		}
		own := f.model.split.own(grad[:last], w.index)
		w.kernel.ContractCoefficients(own, w.slope, w.period, w.bands)
		if w.param >= 0 {
			own[w.param] += f.movedSlope(w, r)
		}
	}
	if f.base.factor != nil {
		return f.baseGradient(grad, r)
	}
	grad[last] = f.noiseSlope(r)
	return nil
}

// slopes sets the derivatives in the coefficients of a term.
func (f *mixedFactor) slopes(w *waveTerm) error {
	w.slope = dense.Resize(w.slope, len(w.coef))
	clear(w.slope)
	if len(w.packets) > 0 {
		return f.packetSlopes(w)
	}
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
	return nil
}

// invert sets inverse to L⁻¹ and diag to the diagonal of T⁻¹.
func (f *mixedFactor) invert() {
	p := f.features()
	if f.inverse == nil {
		f.inverse = dense.NewLower(p)
	}
	f.t.InvertL(f.inverse)
	f.diag = dense.Resize(f.diag, p)
	clear(f.diag)
	for j := range dense.Blocks(p) {
		d := f.diag[j*dense.Tile:][:dense.Width(p, j)]
		for i := j; i < dense.Blocks(p); i++ {
			dense.AddSquares(d, 1, f.inverse.At(i, j))
		}
	}
	tampered("mixed diag", f.diag)
}

// verifyInverse compares L(Lᵀh) with Eᵀz, and one entry of the diagonal of T⁻¹ with |L⁻¹e_i|² by a substitution.
func (f *mixedFactor) verifyInverse() error {
	f.back = dense.Reshape(f.back, f.h.Rows, f.h.Cols)
	dense.Copy(f.back, f.h)
	f.t.MulLT(f.back)
	f.t.MulL(f.back)
	for j := range f.h.Cols {
		var off, size float64
		for i, length := range f.length {
			b := f.b.Data[i*f.b.Stride+j]
			off = max(off, math.Abs(f.back.Data[i*f.back.Stride+j]-b))
			size = max(size, math.Abs(b), math.Abs(f.h.Data[i*f.h.Stride+j])*(1+length))
		}
		if err := verify("the solution of a linear system", off, 0, 1e-9*size); err != nil {
			return err
		}
	}
	if f.circle != nil {
		verify := f.verifyRow
		if len(f.base.of) > 0 {
			verify = f.verifyGrid
		}
		if err := verify(); err != nil {
			return err
		}
		for k := range f.terms {
			if w := &f.terms[k]; w.moving >= 0 {
				if err := f.verifyLines(w); err != nil {
					return err
				}
			}
		}
	}
	i := pick(len(f.diag), f.noise, f.terms[0].coef[0], f.g.Data[0])
	f.z = dense.Resize(f.z, len(f.diag))
	clear(f.z)
	f.z[i] = 1
	f.t.SolveL(dense.AsColumn(f.z))
	return verify("an entry of an inverse", f.diag[i], blas64.Dot(dense.Vec(f.z), dense.Vec(f.z)), gradientTrust*math.Abs(f.diag[i]))
}

// movedSlope returns the derivative in the log of the period of a term whose frequencies move with it: of the cosine at
// the angle a = 2πm(t − t₀)/P it is a·sin a, of the sine −a·cos a.
func (f *mixedFactor) movedSlope(w *waveTerm, r blas64.General) (slope float64) {
	p := f.features()
	f.tile = dense.Resize(f.tile, dense.Tile*dense.Tile)
	// tr(E′ᵀE·T⁻¹), for the blocks of T⁻¹ that have rows or columns of the term.
	first, end := w.first, w.first+len(w.features)
	for i := range dense.Blocks(p) {
		for j := range i + 1 {
			r0, c0 := i*dense.Tile, j*dense.Tile
			rows, cols := dense.Width(p, i), dense.Width(p, j)
			if !(r0 < end && r0+rows > first || c0 < end && c0+cols > first) {
				continue
			}
			t := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: f.tile}
			f.inverse.InverseTile(t, i, j)
			for a := max(0, first-r0); a < min(rows, end-r0); a++ {
				slope += f.movedDot(w, r0+a-first, c0, dense.Row(t, a))
			}
			if i == j {
				continue
			}
			for b := max(0, first-c0); b < min(cols, end-c0); b++ {
				slope += f.movedDot(w, c0+b-first, r0, dense.Column(t, b))
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

// movedDot returns a part of row a of E′ᵀE·T⁻¹, times the angle: with columns of E from the given one on.
func (f *mixedFactor) movedDot(w *waveTerm, a, from int, inverse blas64.Vector) float64 {
	partner, sign := w.partner(a)
	if sign == 0 {
		return 0
	}
	own := f.moved.Data[(w.moving+partner)*f.moved.Stride+from:][:inverse.N]
	return sign * f.angle[w.moving+a] * blas64.Dot(dense.Vec(own), inverse)
}

// movedFit returns entry k of a row of E′ᵀEhR, without the angle.
func (f *mixedFactor) movedFit(at, k int) float64 {
	return blas64.Dot(dense.Row(f.moved, at), dense.Column(f.u, k))
}

func (f *mixedFactor) posterior() predictor { return newMixedPosterior(f) }
