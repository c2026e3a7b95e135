package spectral

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// part is the contribution of a part of the noise to the derivative in the scale of all noise. The noise of observation i is
// σ²/w_i, and the part σ²v_i/w_i². With V = diag(v), U = A⁻¹YR,
//
//	Σ_i σ²v_i·(A⁻¹ − UUᵀ)_ii/w_i² = Σ v_i/w_i − σ⁻²·tr T⁻¹DΦᵀVΦD − σ⁻²·|V^½(Y − ΦDH/σ²)R|²
//
// needs the sums with the weights v instead of w.
type part struct {
	diagonal float64         // Σ v_i/w_i
	squares  blas64.General  // YᵀVY
	moments  fourier.Moments // sums of v
	columns  blas64.General  // ΦᵀVY
	fitted   blas64.General  // DΦᵀVΦDH, p×c
	traces   []float64       // they add up to tr T⁻¹DΦᵀVΦD
}

// fit sets fitted and traces of a part whose sums are set, after Invert, in 2p³/3 flops. In the trace, products of a feature
// with those before its block count twice, and products with those after it are left out.
func (f *Factor) fit(part *part) {
	p, c := f.H.Rows, f.H.Cols
	nb := dense.Blocks(p)
	part.fitted, part.traces = dense.New(p, c), make([]float64, p)
	parallel.Within(f.Ctx, nb, func(k int) {
		i := nb - 1 - k // the longest row first
		rows := dense.Width(p, i)
		inverse, gram := dense.New(rows, dense.Tile), dense.New(rows, p)
		f.scaledGram(gram, part.moments, i*dense.Tile, 0, 1)
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, gram, f.H, 0, dense.Rows(part.fitted, i*dense.Tile, rows))
		for j := range i + 1 {
			tile := blas64.General{Rows: rows, Cols: dense.Width(p, j), Stride: dense.Width(p, j), Data: inverse.Data}
			f.inverse.InverseTile(tile, i, j)
			times := 1.0
			if j < i {
				times = 2
			}
			for a := range rows {
				part.traces[i*dense.Tile+a] += times * blas64.Dot(dense.Row(tile, a),
					dense.Vec(gram.Data[a*gram.Stride+j*dense.Tile:][:tile.Cols]))
			}
		}
	})
}

// rest returns the remaining part of the weights w, for which DΦᵀWΦD = σ²(T − J), minus a fitted part.
func (f *Factor) rest(of *part) *part {
	p, c := f.H.Rows, f.H.Cols
	rest := &part{
		squares: dense.Difference(f.Sums.Squares, of.squares),
		columns: dense.Difference(dense.Rows(f.Sums.Columns, 0, of.columns.Rows), of.columns),
		fitted:  dense.New(p, c), traces: make([]float64, p), diagonal: float64(f.Sums.N) - of.diagonal,
	}
	for i := range p {
		for j := range c {
			rest.fitted.Data[i*c+j] = f.Noise*(f.B.Data[i*f.B.Stride+j]-f.Sign(i)*f.H.Data[i*f.H.Stride+j]) - of.fitted.Data[i*c+j]
		}
		rest.traces[i] = f.Noise*(1-f.Sign(i)*f.Diag[i]) - of.traces[i]
	}
	return rest
}

// share returns half of a part's derivative, for the R of Slopes. It overwrites squares. With B = DΦᵀVΦD the last sum of a
// part is Rᵀ(YᵀVY − HᵀDΦᵀVY/σ² − its transpose + HᵀBH/σ⁴)R.
func (f *Factor) share(part *part, r blas64.General) float64 {
	var trace float64
	for _, t := range part.traces {
		trace += t
	}
	c, squares := f.H.Cols, part.squares
	for i, feature := range f.Features {
		h, cross := f.H.Data[i*f.H.Stride:][:c], part.columns.Data[int(feature)*part.columns.Stride:][:c]
		for a := range c {
			for b := range c {
				of := h[a]*(part.fitted.Data[i*c+b]/f.Noise-f.Root[i]*cross[b]) - h[b]*f.Root[i]*cross[a]
				squares.Data[a*squares.Stride+b] += of / f.Noise
			}
		}
	}
	return 0.5 * (part.diagonal - (trace+dense.Form(squares, r))/f.Noise)
}

// again recomputes a part's contribution of feature i by substitutions: its trace, with the size of the terms, and the row of
// DΦᵀVΦD. entry(i) must be the previous call.
func (f *Factor) again(part *part, i int) (trace, size float64, gram []float64) {
	p := f.H.Rows
	row := dense.New(1, p)
	f.scaledGram(row, part.moments, i, 0, 1)
	blas64.Scal(-1, dense.Vec(f.z[min(f.Negative, p):])) // from L⁻¹e_i to T⁻¹e_i = L⁻ᵀJL⁻¹e_i
	f.T.SolveLT(dense.AsColumn(f.z))
	block := i / dense.Tile
	first, end := block*dense.Tile, block*dense.Tile+dense.Width(p, block)
	for j, g := range row.Data[:end] {
		term := g * f.z[j]
		if j < first {
			term *= 2
		}
		trace += term
		size += math.Abs(term)
	}
	return trace, size, row.Data
}

// NoiseSlope returns the derivative of Slopes in log σ² where known errors s_i² change the weights: w_i = σ²/λ_i, λ_i = σ²e_i²
// + s_i². total is the derivative in the scale of all λ. line has the weights w, and noise has e² and s². NoiseSlope returns
// an error if the parts of σ² and of the known errors do not add up to total, or if the numbers for σ² are wrong at one
// frequency or feature. Neither check takes sums over the data.
func (f *Factor) NoiseSlope(line *observed.Line, noise *observed.Noise, circle *fourier.CircleSums, r blas64.General,
	total float64) (slope float64, err error) {
	own, v := f.partOf(line, noise, circle)
	if err := f.verifySums(own, line, v, circle); err != nil {
		return 0, err
	}
	f.fit(own)
	verify.Tampered("spectral traces", own.traces)
	verify.Tampered("spectral fitted", own.fitted.Data)
	if err := f.verifyFit(own); err != nil {
		return 0, err
	}
	rest := f.rest(own)
	slope, known := f.share(own, r), f.share(rest, r)
	size := math.Abs(slope) + math.Abs(known) + float64(len(v))
	return slope, verify.Near("the derivative in the noise variance", slope+known, total, verify.GradientTrust*size)
}

// partOf returns the part of σ² with its sums over the data, and their weights v_i = e_i²w_i².
func (f *Factor) partOf(of *observed.Line, noise *observed.Noise, circle *fourier.CircleSums) (own *part, v []float64) {
	line := *of
	own, v = new(part), make([]float64, len(line.Weights))
	for i, w := range line.Weights {
		share := noise.Weight(i) * w
		v[i] = share * w
		own.diagonal += share
	}
	line.Weights = v
	own.squares = line.Squares()
	own.moments, own.columns = line.Sums(circle.Origin, circle.Period, f.Highest())
	verify.Tampered("spectral part", own.moments)
	return own, v
}

// sumsTrust is the relative error beyond which a sum over the data counts as wrong. The reference has the rounding of phases,
// some thousands of turns.
const sumsTrust = 1e-9

// verifySums compares the sums of a part, with the given weights, at one frequency, all columns together, with sums term by
// term.
func (f *Factor) verifySums(part *part, line *observed.Line, weights []float64, circle *fourier.CircleSums) error {
	c := f.H.Cols
	along := make([]float64, c)
	for j := range along {
		along[j] = verify.Direction(j + 1)
	}
	combine := func(columns []float64) (sum float64) {
		for j, v := range columns[:len(along)] {
			sum += along[j] * v
		}
		return sum
	}
	m := verify.Pick(part.columns.Rows/2, f.Noise, f.Root[0], f.G.Data[0])
	turn := 2 * math.Pi * float64(m) / circle.Period
	var cosines, sines, squares, size float64
	for i, v := range weights {
		y := combine(line.Columns.Data[i*line.Columns.Stride:])
		sin, cos := math.Sincos(turn * (line.T[i] - circle.Origin))
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
		if err := verify.Near("a sum over the data with the weights of the noise", got, sum.want, sumsTrust*size); err != nil {
			return err
		}
	}
	var got float64
	for i := range c {
		got += along[i] * combine(part.squares.Data[i*part.squares.Stride:])
	}
	return verify.Near("the squares of the data with the weights of the noise", got, squares, sumsTrust*squares)
}

// verifyFit compares a part's value for the feature that Verify checks with the result of substitutions.
func (f *Factor) verifyFit(part *part) error {
	if len(f.Features) == 0 {
		return nil
	}
	i := f.picked()
	trace, size, gram := f.again(part, i)
	if err := verify.Near("a part of a trace", part.traces[i], trace, verify.GradientTrust*size); err != nil {
		return err
	}
	for j := range f.H.Cols {
		h := dense.Column(f.H, j)
		var size float64
		for a, g := range gram {
			size += math.Abs(g * h.Data[a*h.Inc])
		}
		if err := verify.Near("a row of a product", dense.Row(part.fitted, i).Data[j], blas64.Dot(dense.Vec(gram), h),
			sumsTrust*size); err != nil {
			return err
		}
	}
	return nil
}
