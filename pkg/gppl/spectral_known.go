package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// Known errors beside a noise variance that is learnt change the weights of the sums over
// the data with σ²: at one σ² they are w_i = σ²/λ_i, λ_i = σ²e_i² + s_i², and A = K + σ²W⁻¹
// is a case that spectralExact knows. Sums are computed anew for each evaluation, O(n + M log M), and
// twice for a gradient, since with V = diag(v)
//
//	Σ_i σ²v_i·(A⁻¹ − UUᵀ)_ii/w_i² = Σ v_i/w_i − σ⁻²·tr T⁻¹DΦᵀVΦD − σ⁻²·|V^½(C − ΦDh/σ²)R|²
//
// takes the sums with the weights v: those of the derivative in log σ² are v_i = e_i²w_i². Those
// of the derivative in the scale of the known errors are s_i²w_i²/σ² = w_i − v_i, and their sums
// the difference of the two.

// reweighted is the data at one σ².
type reweighted struct {
	engine spectralExact // reads line
	line   line
}

// weigh takes the data of l with the noise variance σ².
func (v *reweighted) weigh(l *line, o options, noise float64) {
	v.line = *l
	v.line.noise = rowNoise{}
	v.line.weights = make([]float64, len(l.t)) // a posterior may keep it
	for i := range v.line.weights {
		v.line.weights[i] = noise / (noise*l.noise.weight(i) + l.noise.known[i])
	}
	v.engine = spectralExact{tolerance: o.tolerance, tight: o.posterior, yy: v.line.squares()}
	v.engine.read(&v.line)
}

// withKnown returns the line of the data if its observations have known errors.
func (d *summed) withKnown() (*line, bool) {
	l, ok := d.observed.(*line)
	return l, ok && l.noise.known != nil
}

// averagedKnown is averaged with known errors: n/Σ(1/λ).
func (l *line) averagedKnown(noise float64) float64 {
	var precision float64
	for i, s := range l.noise.known {
		precision += 1 / (noise*l.noise.weight(i) + s)
	}
	return float64(len(l.t)) / precision
}

// noiseSlope returns the derivative in log σ² of value and trace, as gradient does for even
// noise, whose result total is: that in the scale of all λ. It is an error if what σ² and what
// the known errors have of it do not add up to it, or if what is computed for σ² is wrong at one
// frequency or feature. Neither takes sums over the data.
func (f *spectralFactor) noiseSlope(l *line, r blas64.General, total float64) (slope float64, err error) {
	own := f.partOfNoise(l)
	if err := f.verifySums(own); err != nil {
		return 0, err
	}
	f.fit(own)
	if err := f.verifyFit(own); err != nil {
		return 0, err
	}
	rest := f.without(own)
	slope, known := f.shareOf(own, r), f.shareOf(rest, r)
	size := math.Abs(slope) + math.Abs(known) + float64(len(own.v))
	return slope, verify("the derivative in the noise variance", slope+known, total, gradientTrust*size)
}

// noisePart holds the sums with weights v and the quantities that follow from them.
type noisePart struct {
	v        []float64
	diagonal float64         // Σ v_i/w_i
	squares  blas64.General  // CᵀVC
	moments  fourier.Moments // sums of v
	columns  blas64.General  // ΦᵀVC
	fitted   blas64.General  // DΦᵀVΦDh
	traces   []float64       // they add up to tr T⁻¹DΦᵀVΦD
}

// partOfNoise returns the part of σ² with its sums over the data.
func (f *spectralFactor) partOfNoise(l *line) *noisePart {
	line := f.view.line
	own := &noisePart{v: make([]float64, len(line.weights))}
	for i, w := range line.weights {
		share := l.noise.weight(i) * w
		own.v[i] = share * w
		own.diagonal += share
	}
	line.weights = own.v
	own.squares = line.squares()
	highest := 0
	for _, feature := range f.Features {
		highest = max(highest, feature.Frequency())
	}
	own.moments, own.columns = line.sums(f.sums.origin, f.sums.period, highest)
	tampered("spectral part", own.moments)
	return own
}

// without returns the part of the known errors: what the weights w have, for which
// DΦᵀWΦD = σ²(T − J), less that of σ².
func (f *spectralFactor) without(own *noisePart) *noisePart {
	p, c := f.h.Rows, f.h.Cols
	rest := &noisePart{
		squares: dense.Difference(f.engine.yy, own.squares), columns: dense.Difference(dense.Rows(f.sums.columns, 0, own.columns.Rows), own.columns),
		fitted: dense.New(p, c), traces: make([]float64, p), diagonal: float64(len(own.v)) - own.diagonal,
	}
	for i := range p {
		for j := range c {
			rest.fitted.Data[i*c+j] = f.noise*(f.b.Data[i*f.b.Stride+j]-f.Sign(i)*f.h.Data[i*f.h.Stride+j]) - own.fitted.Data[i*c+j]
		}
		rest.traces[i] = f.noise*(1-f.Sign(i)*f.diag[i]) - own.traces[i]
	}
	return rest
}

// sumsTrust is the relative error beyond which a sum over the data counts as wrong. What it is
// compared with errs by the rounding of phases, some thousands of turns.
const sumsTrust = 1e-9

// verifySums compares the sums of a part at one frequency, all columns together, with what
// they are term by term.
func (f *spectralFactor) verifySums(part *noisePart) error {
	line, c := &f.view.line, f.h.Cols
	along := make([]float64, c)
	for j := range along {
		along[j] = direction(j + 1)
	}
	combine := func(columns []float64) (sum float64) {
		for j, v := range columns[:len(along)] {
			sum += along[j] * v
		}
		return sum
	}
	m := pick(part.columns.Rows/2, f.noise, f.Root[0], f.g.Data[0])
	turn := 2 * math.Pi * float64(m) / f.sums.period
	var cosines, sines, squares, size float64
	for i, v := range part.v {
		y := combine(line.columns.Data[i*line.columns.Stride:])
		sin, cos := math.Sincos(turn * (line.t[i] - f.sums.origin))
		cosines += v * (1 + y) * cos
		sines += v * (1 + y) * sin
		squares += v * y * y
		size += v * math.Abs(1+y)
	}
	for _, sum := range []struct {
		feature fourier.Feature
		want    float64
	}{{fourier.Cos(m), cosines}, {fourier.Sin(m), sines}} {
		got := part.moments[sum.feature] + combine(part.columns.Data[int(sum.feature)*part.columns.Stride:])
		if err := verify("a sum over the data with the weights of the noise", got, sum.want, sumsTrust*size); err != nil {
			return err
		}
	}
	var got float64
	for i := range c {
		got += along[i] * combine(part.squares.Data[i*part.squares.Stride:])
	}
	return verify("the squares of the data with the weights of the noise", got, squares, sumsTrust*squares)
}

// fit sets the contributions of T⁻¹ and h to a part. In the trace, products of a feature with
// those before its block count twice, and products with those after it are left out.
func (f *spectralFactor) fit(part *noisePart) {
	p, c := f.h.Rows, f.h.Cols
	nb := dense.Blocks(p)
	part.fitted, part.traces = dense.New(p, c), make([]float64, p)
	parallel.Within(f.ctx, nb, func(k int) {
		i := nb - 1 - k // the longest row first
		rows := dense.Width(p, i)
		inverse, gram := dense.New(rows, dense.Tile), dense.New(rows, p)
		f.scaledGram(gram, part.moments, i*dense.Tile)
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, gram, f.h, 0, dense.Rows(part.fitted, i*dense.Tile, rows))
		for j := range i + 1 {
			tile := blas64.General{Rows: rows, Cols: dense.Width(p, j), Stride: dense.Width(p, j), Data: inverse.Data}
			f.inverse.InverseTile(tile, i, j)
			times := 1.0
			if j < i {
				times = 2
			}
			for a := range rows {
				part.traces[i*dense.Tile+a] += times * blas64.Dot(dense.Row(tile, a), dense.Vec(gram.Data[a*gram.Stride+j*dense.Tile:][:tile.Cols]))
			}
		}
	})
	tampered("spectral traces", part.traces)
	tampered("spectral fitted", part.fitted.Data)
}

// verifyFit compares a part's value for the feature that verifyInverse checks with the
// result of substitutions.
func (f *spectralFactor) verifyFit(part *noisePart) error {
	p, c := f.h.Rows, f.h.Cols
	if p == 0 {
		return nil
	}
	i := f.picked()
	gram := dense.New(1, p)
	f.scaledGram(gram, part.moments, i)
	f.completeColumn()
	block := i / dense.Tile
	first, end := block*dense.Tile, block*dense.Tile+dense.Width(p, block)
	var trace, size float64
	for j, g := range gram.Data[:end] {
		term := g * f.z[j]
		if j < first {
			term *= 2
		}
		trace += term
		size += math.Abs(term)
	}
	if err := verify("a part of a trace", part.traces[i], trace, gradientTrust*size); err != nil {
		return err
	}
	for j := range c {
		h := dense.Column(f.h, j)
		var size float64
		for a, g := range gram.Data {
			size += math.Abs(g * h.Data[a*h.Inc])
		}
		if err := verify("a row of a product", part.fitted.Data[i*c+j], blas64.Dot(dense.Vec(gram.Data), h), sumsTrust*size); err != nil {
			return err
		}
	}
	return nil
}

// shareOf returns ½Σ_i σ²v_i·(A⁻¹ − UUᵀ)_ii/w_i². With B = DΦᵀVΦD the last sum of a part is
// Rᵀ(CᵀVC − hᵀDΦᵀVC/σ² − its transpose + hᵀBh/σ⁴)R.
func (f *spectralFactor) shareOf(part *noisePart, r blas64.General) float64 {
	var trace float64
	for _, t := range part.traces {
		trace += t
	}
	c, squares := f.h.Cols, part.squares
	for i, feature := range f.Features {
		h, cross := f.h.Data[i*f.h.Stride:][:c], part.columns.Data[int(feature)*part.columns.Stride:][:c]
		for a := range c {
			for b := range c {
				of := h[a]*(part.fitted.Data[i*c+b]/f.noise-f.Root[i]*cross[b]) - h[b]*f.Root[i]*cross[a]
				squares.Data[a*squares.Stride+b] += of / f.noise
			}
		}
	}
	return 0.5 * (part.diagonal - (trace+dense.Form(squares, r))/f.noise)
}

// scaledGram sets rows of DΦᵀVΦD, from the given one on.
func (f *spectralFactor) scaledGram(dst blas64.General, moments fourier.Moments, from int) {
	moments.Gram(dst, f.Features[from:from+dst.Rows], f.Features)
	for a := range dst.Rows {
		row := dst.Data[a*dst.Stride:][:dst.Cols]
		for b := range row {
			row[b] *= f.Root[from+a] * f.Root[b]
		}
	}
}
