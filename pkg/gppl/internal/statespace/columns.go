package statespace

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// What a Filter does with columns beside the first: sweeps of means and adjoints
// alone, with the covariances that the first one had.

// follow sweeps from the first input to the last with all columns but the first.
func (f *Filter) follow(columns blas64.General) {
	n, d := len(f.t), f.dim
	f.mixedMean = resize(f.mixedMean, f.cols*d)
	after := f.mixedMean // the means after the observation
	clear(after)
	for i := range n {
		f.transitions(i)
		f.gain(i)
		for j, y := range columns.Data[i*columns.Stride:][:f.cols] {
			if j == 0 {
				continue
			}
			mean := f.mean[(j*n+i)*d:][:d]
			apply(mean, f.phi, after[j*d:][:d])
			e := y - mean[0]
			f.errs[j*n+i] = e
			f.move(after[j*d:][:d], mean, e)
		}
	}
}

// mix returns the means and errors of C·r_j, or those of zeros where R has no
// column j.
func (f *Filter) mix(r blas64.General, j int) (mean, errs []float64) {
	n, d := len(f.t), f.dim
	f.mixedMean, f.mixedErrs = resize(f.mixedMean, n*d), resize(f.mixedErrs, n)
	clear(f.mixedMean)
	clear(f.mixedErrs)
	if j < r.Cols {
		for c := range f.cols {
			w := r.Data[c*r.Stride+j]
			floats.AddScaled(f.mixedMean, w, f.mean[c*n*d:][:n*d])
			floats.AddScaled(f.mixedErrs, w, f.errs[c*n:][:n])
		}
	}
	return f.mixedMean, f.mixedErrs
}

// addOuter adds −½uᵀ∂A u for u = A⁻¹y, y the column of the given means and errors, to
// the gradient, and returns that in the direction of the known errors: backward
// with M = −rrᵀ, which takes no matrix,
//
//	½tr(MQ) = −½rᵀQr,   tr(MFP) − rᵀFm = −rᵀF(Pr + m).
func (f *Filter) addOuter(grad, means, errs []float64) (known float64) {
	d, last := f.dim, len(grad)-1
	clear(f.r)
	for i := len(f.t) - 1; i >= 0; i-- {
		f.gain(i)
		alpha := f.inform(f.r, errs[i], i)
		grad[last] -= 0.5 * f.noise * alpha * alpha
		if f.known != nil {
			known -= 0.5 * f.known[i] * alpha * alpha
		}
		f.transitions(i)
		smooth := f.x[:d] // Pr + m
		apply(smooth, f.cov[i*d*d:][:d*d], f.r)
		floats.Add(smooth, means[i*d:][:d])
		for c, comp := range f.cs {
			o, n := f.first[c], comp.dim()
			own := f.w[:n] // r in the component's own state: its value is in the sum as well
			copy(own, f.r[o:])
			if c > 0 {
				own[0] += f.r[0]
			}
			var quad float64
			for a, ra := range own {
				for b, rb := range own {
					quad += ra * f.q[c][a*n+b] * rb
				}
			}
			slope := -0.5 * intensity[comp.Order] * comp.Variance * own[n-1] * own[n-1]
			for _, w := range f.drift[c] {
				slope -= w.v * f.r[w.row] * smooth[w.col]
			}
			grad[2*c] -= 0.5 * quad
			grad[2*c+1] -= f.steps[c].a[i] * slope
		}
		apply(f.w, f.phiT, f.r)
		copy(f.r, f.w)
	}
	return known
}
