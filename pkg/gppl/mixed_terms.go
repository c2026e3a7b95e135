package gppl

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// waveTerm is a term of the kernel as waves, in working memory.
type waveTerm struct {
	kernel   Waver
	index    int // among the terms of the kernel
	period   float64
	bands    []Band
	features []fourier.Feature // without packets
	root     []float64         // c^½ of each
	packets  []packet          // that stand for the waves, if they are fewer
	points   fourier.Points
	coef     []float64 // c_m
	slope    []float64 // derivatives in them
	first    int       // of its columns among all
	size     int       // the number of its columns
	moving   int       // of its features among those that move; −1: none do
	param    int       // of the period, −1

	work   []spanning
	packed []fourier.Feature // of all packets
	lines  []movingLines     // on the circle, of each frequency that moves
	starts []int             // of the bands among the coefficients
	pair   waveRows
	few    fourier.Points
	three  blas64.General // its columns at three times
}

// expand sets the waves of all terms.
func (f *mixedFactor) expand() error {
	l := f.engine.line
	e := f.engine
	e.divide(&f.division, f.model, f.eps, f.span)
	if err := f.verifyLayers(); err != nil {
		return err
	}
	if err := f.base.compile(f.model, f.division.rest); err != nil {
		return err
	}
	f.span = max(f.span, e.spanOf(f.division.rest))
	f.terms = slices.Grow(f.terms[:0], len(f.division.waves))[:len(f.division.waves)]
	f.columns, f.angle = 0, f.angle[:0]
	for i, of := range f.division.waves {
		w := &f.terms[i]
		w.kernel, w.index, w.moving, w.param = of.kernel, of.index, -1, of.kernel.PeriodParam()
		w.period, w.bands = w.kernel.Bands(w.bands[:0], f.span, 0.5*f.eps)
	}
	f.circle = nil
	if len(f.division.rest) > 0 {
		f.which, _ = e.baseForecast(&f.base, &f.division)
	}
	if grid := len(f.division.rest) > 0 && f.which == gridBase; grid || f.span == l.span && e.summed(&f.division) {
		if err := f.setCircle(); err != nil {
			return err
		}
	}
	for i := range f.terms {
		if err := f.setColumns(&f.terms[i]); err != nil {
			return err
		}
	}
	f.shift = len(f.angle)
	f.lambda = l.noise.set(f.lambda, len(l.t), f.noise)
	f.from = -1
	return nil
}

// setColumns sets the columns of a term, and checks them.
func (f *mixedFactor) setColumns(w *waveTerm) error {
	l, count := f.engine.line, countWaves(w.bands)
	w.first = f.columns
	w.coef, w.size, w.packets, w.features, w.root = dense.Resize(w.coef, count), 0, w.packets[:0], w.features[:0], w.root[:0]
	w.kernel.Coefficients(w.coef, w.period, w.bands)
	tampered("mixed coefficients", w.coef)
	if w.param >= 0 {
		w.moving = len(f.angle)
	}
	length := 2*f.span - l.span // of the times whose covariances are represented
	if _, worth := packed(w.bands, length/w.period, slopeShare*f.eps); worth && w.param < 0 {
		w.pack(f, length, slopeShare*f.eps)
	} else {
		w.takeAll(f)
	}
	f.columns += w.size
	w.points.Set(l.t, l.middle(), w.period)
	return f.verifyTerm(w)
}

// takeAll adds the features of all frequencies.
func (w *waveTerm) takeAll(f *mixedFactor) {
	at := 0
	for _, b := range w.bands {
		for m := b.From; m <= b.To; m++ {
			w.take(f, m, w.coef[at])
			at++
		}
	}
	w.size = len(w.features)
}

// take adds the features of a frequency.
func (w *waveTerm) take(f *mixedFactor, m int, c float64) {
	root, angle := math.Sqrt(max(0, c)), 2*math.Pi*float64(m)/w.period
	for s := range min(2, m+1) {
		w.features = append(w.features, fourier.Cos(m)+fourier.Feature(s))
		w.root = append(w.root, root)
		if w.param >= 0 {
			f.angle = append(f.angle, angle)
		}
	}
}

// verifyTerm compares the sum of waves and its derivatives at one distance with the kernel's.
func (f *mixedFactor) verifyTerm(w *waveTerm) error {
	// A distance at which a short period and a long lengthscale show.
	r := [1]float64{f.engine.line.span * (0.25 + 0.5*float64(pick(1<<20, f.noise, w.period, w.coef[0]))/(1<<20)) / float64(1+len(w.coef))}
	v := variance(w.kernel)
	turn := 2 * math.Pi * r[0] / w.period
	w.slope = dense.Resize(w.slope, len(w.coef))
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
	count := f.model.split.end[w.index] - f.model.split.offset[w.index]
	f.probe[0], f.probe[1] = dense.Resize(f.probe[0], count), dense.Resize(f.probe[1], count)
	clear(f.probe[0])
	clear(f.probe[1])
	one := [1]float64{1}
	w.kernel.Contract(f.probe[0], one[:], r[:])
	w.kernel.ContractCoefficients(f.probe[1], w.slope, w.period, w.bands)
	if w.param >= 0 {
		f.probe[1][w.param] += moved
	}
	steep := 1 + steepness(f.model.split.signal[w.index], f.engine.line.span)
	var want [1]float64
	w.kernel.Cov(want[:], r[:])
	if err := verify("a sum of waves", sum, want[0], v*(1e-12+2*f.eps+0x1p-50*steep)); err != nil {
		return err
	}
	if err := f.verifyPacked(w, r[0], v*(1e-12+2*f.eps+0x1p-50*steep)); err != nil {
		return err
	}
	for p, want := range f.probe[0] {
		if err := verify("the derivative of a sum of waves", f.probe[1][p], want, v*steep*(1e-9+100*f.eps)); err != nil {
			return err
		}
	}
	return nil
}

// verifyPacked compares the products of columns at the start of the data and at the given distance from it, and at their
// end, with the kernel.
func (f *mixedFactor) verifyPacked(w *waveTerm, r, limit float64) error {
	if len(w.packets) == 0 {
		return nil
	}
	l := f.engine.line
	at := [3]float64{l.lo, l.lo + r, l.lo + l.span}
	w.few.Set(at[:], l.middle(), w.period)
	w.three = dense.Reshape(w.three, w.size, len(at))
	w.fill(w.three, &w.few, 0, &w.pair)
	for i := 1; i < len(at); i++ {
		var sum float64
		for a := range w.size {
			sum += dense.Row(w.three, a).Data[0] * dense.Row(w.three, a).Data[i]
		}
		far := [1]float64{at[i] - at[0]}
		w.kernel.Cov(far[:], far[:])
		if err := verify("a product of packets of waves", sum, far[0], limit); err != nil {
			return err
		}
	}
	return nil
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

// What the mixed engine computes where B is the noise alone: sums over the data, a chunk of observations at a time.

// fillWhite sets EᵀE, and what there is of z and of the features that move, a chunk of observations after another.
func (f *mixedFactor) fillWhite() {
	p, c, s := f.features(), f.engine.line.columns.Cols, f.shift
	f.room()
	f.t.EachTile(func(_, _ int, t blas64.General) { clear(t.Data) })
	clear(f.b.Data)
	clear(f.zz.Data)
	clear(f.moved.Data)
	clear(f.movedB.Data)
	f.eachChunk(func() {
		parallel.Within(f.ctx, dense.Blocks(p), f.addTiles)
		z := dense.Rows(f.rows, p+s, c)
		dense.Gemm(blas.NoTrans, blas.Trans, 1, z, z, 1, f.zz)
		if s > 0 {
			dense.Gemm(blas.NoTrans, blas.Trans, 1, dense.Rows(f.rows, p, s), z, 1, f.movedB)
		}
	})
}

// eachChunk calls visit with the rows of every chunk of the observations.
func (f *mixedFactor) eachChunk(visit func()) {
	n, height := len(f.lambda), f.features()+f.shift+f.engine.line.columns.Cols
	for from := 0; from < n; from += mixedChunk {
		count := min(mixedChunk, n-from)
		if f.from != from || n > mixedChunk {
			f.rows = dense.Reshape(f.rows, height, count)
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
	f.whitened(dense.Rows(part, 0, p), from)
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
	room := f.engine.waves.Get()
	for i := range f.terms {
		w := &f.terms[i]
		w.fill(dense.Rows(dst, w.first, w.size), &w.points, from, room)
	}
	f.engine.waves.Put(room)
	for a := range dst.Rows {
		row := dst.Data[a*dst.Stride:][:dst.Cols]
		for j := range row {
			row[j] *= scale[j]
		}
	}
}

// addRowOfTiles adds a chunk to a row of tiles of EᵀE, to rows of Eᵀz and to columns of E′ᵀE, the longest row first.
func (f *mixedFactor) addRowOfTiles(k int) {
	p, s := f.features(), f.shift
	i := dense.Blocks(p) - 1 - k
	from, rows := i*dense.Tile, dense.Width(p, i)
	own := dense.Rows(f.rows, from, rows)
	for j := range i + 1 {
		t := f.t.At(i, j)
		dense.Gemm(blas.NoTrans, blas.Trans, 1, own, dense.Rows(f.rows, j*dense.Tile, t.Cols), 1, t)
	}
	dense.Gemm(blas.NoTrans, blas.Trans, 1, own, dense.Rows(f.rows, p+s, f.b.Cols), 1, dense.Rows(f.b, from, rows))
	if s > 0 {
		moved := f.moved
		moved.Cols, moved.Data = rows, moved.Data[from:]
		dense.Gemm(blas.NoTrans, blas.Trans, 1, dense.Rows(f.rows, p, s), own, 1, moved)
	}
}

// noiseSlope returns the derivative in log σ², ½Σ_i σ²e_i²·(A⁻¹ − UUᵀ)_ii.
func (f *mixedFactor) noiseSlope(r blas64.General) float64 {
	p := f.features()
	if f.engine.line.noise.known == nil { // all λ scale with σ²: λ_i(A⁻¹)_ii sums to n − tr(I − T⁻¹)
		var trace float64
		for _, d := range f.diag {
			trace += d
		}
		uu := dense.Form(f.g, r) - blas64.Dot(dense.Vec(f.u.Data), dense.Vec(f.u.Data))
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
	solved := dense.New(p, count)
	dense.Copy(solved, dense.Rows(f.rows, 0, p))
	parallel.Within(f.ctx, (count+mixedBlock-1)/mixedBlock, func(k int) {
		part := solved
		part.Data, part.Cols = part.Data[k*mixedBlock:], min(mixedBlock, count-k*mixedBlock)
		f.t.SolveL(part)
	})
	rest := dense.New(r.Cols, count) // Rᵀ(z − Eh)ᵀ
	dense.Gemm(blas.Trans, blas.NoTrans, 1, r, dense.Rows(f.rows, p+s, c), 0, rest)
	dense.Gemm(blas.Trans, blas.NoTrans, -1, f.u, dense.Rows(f.rows, 0, p), 1, rest)
	left := make([]float64, count)
	for i := range left {
		left[i] = 1
	}
	dense.AddSquares(left, -1, solved)
	dense.AddSquares(left, -1, rest)
	for i, v := range left {
		sum += f.noise * noise.weight(f.from+i) / f.lambda[f.from+i] * v
	}
	return sum
}
