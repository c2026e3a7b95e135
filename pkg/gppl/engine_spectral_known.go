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
// three times for a gradient, since with V = diag(v)
//
//	Σ_i σ²v_i·(A⁻¹ − UUᵀ)_ii/w_i² = Σ v_i/w_i − σ⁻²·tr T⁻¹DΦᵀVΦD − σ⁻²·|V^½(C − ΦDh/σ²)R|²
//
// takes the sums with the weights v: those of the derivative in log σ² are v_i = e_i²w_i².

// spectralView is the data at one σ².
type spectralView struct {
	engine spectralExact // reads line
	line   line
}

// at sets the view to the data of l with the noise variance σ².
func (v *spectralView) at(l *line, o options, noise float64) {
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
// noise, whose result total is: that in the scale of all λ. It is an error unless what σ²
// and what the known errors have of it add up to it.
func (f *spectralFactor) noiseSlope(l *line, r blas64.General, total float64) (slope float64, err error) {
	weights := f.view.line.weights
	v := make([]float64, len(weights))
	for i, w := range weights {
		v[i] = l.noise.weight(i) * w * w
	}
	slope = f.shareOf(v, r)
	for i, w := range weights {
		v[i] = l.noise.known[i] / f.noise * w * w
	}
	known := f.shareOf(v, r)
	size := math.Abs(slope) + math.Abs(known) + float64(len(v))
	return slope, verify("the derivative in the noise variance", slope+known, total, gradientTrust*size)
}

// shareOf returns ½Σ_i σ²v_i·(A⁻¹ − UUᵀ)_ii/w_i².
func (f *spectralFactor) shareOf(v []float64, r blas64.General) float64 {
	line := f.view.line
	var diagonal float64
	for i, w := range line.weights {
		if w > 0 {
			diagonal += v[i] / w
		}
	}
	line.weights = v
	highest := 0
	for _, feature := range f.features {
		highest = max(highest, feature.Frequency())
	}
	moments, columns := line.sums(f.sums.origin, f.sums.period, highest)
	// With B = DΦᵀVΦD and DΦᵀVC: Σ v|C − Φa|² for a = Dh/σ², D taken into the features.
	p, c := f.h.Rows, f.h.Cols
	fitted, cross := newGeneral(p, c), newGeneral(p, c) // Bh and DΦᵀVC
	for i, feature := range f.features {
		copy(cross.Data[i*c:][:c], columns.Data[int(feature)*columns.Stride:][:c])
		blas64.Scal(f.root[i], vec(cross.Data[i*c:][:c]))
	}
	nb := dense.Blocks(p)
	traces := make([]float64, nb)
	parallel.For(nb, func(k int) {
		i := nb - 1 - k // the longest row first
		rows := dense.Width(p, i)
		inverse, gram := newGeneral(rows, dense.Tile), newGeneral(rows, p)
		f.scaledGram(gram, moments, i*dense.Tile)
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, gram, f.h, 0, rowsFrom(fitted, i*dense.Tile, rows))
		for j := range i + 1 {
			tile := blas64.General{Rows: rows, Cols: dense.Width(p, j), Stride: dense.Width(p, j), Data: inverse.Data}
			f.inverse.InverseTile(tile, i, j)
			var sum float64
			for a := range rows {
				sum += blas64.Dot(vec(tile.Data[a*tile.Stride:][:tile.Cols]), vec(gram.Data[a*gram.Stride+j*dense.Tile:][:tile.Cols]))
			}
			if j < i {
				sum *= 2
			}
			traces[i] += sum
		}
	})
	tampered("spectral traces", traces)
	var trace float64
	for _, t := range traces {
		trace += t
	}
	// CᵀVC − hᵀ·DΦᵀVC/σ² − its transpose + hᵀBh/σ⁴
	squares := line.squares()
	for a := range c {
		for b := range c {
			for i := range p {
				h, hb := f.h.Data[i*f.h.Stride+a], f.h.Data[i*f.h.Stride+b]
				squares.Data[a*squares.Stride+b] += h*(fitted.Data[i*c+b]/f.noise-cross.Data[i*c+b])/f.noise - hb*cross.Data[i*c+a]/f.noise
			}
		}
	}
	return 0.5 * (diagonal - (trace+formOf(squares, r))/f.noise)
}

// scaledGram sets rows of DΦᵀVΦD, from the given one on.
func (f *spectralFactor) scaledGram(dst blas64.General, moments fourier.Moments, from int) {
	moments.Gram(dst, f.features[from:from+dst.Rows], f.features)
	for a := range dst.Rows {
		row := dst.Data[a*dst.Stride:][:dst.Cols]
		for b := range row {
			row[b] *= f.root[from+a] * f.root[b]
		}
	}
}
