package psis

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// A Proposal is the distribution of draws c + L·t, with the scale matrix LLᵀ and t multivariate Student-t with studentDegrees
// degrees of freedom.
type Proposal struct {
	Centre []float64
	Lower  *mat.TriDense // L
}

const (
	// studentDegrees gives the proposal a variance, and tails that cover most densities. Normal draws do not: they miss the
	// region where a skewed density is far wider than its curvature indicates, and k̂, which depends on the draws alone, then
	// calls wrong averages reliable.
	studentDegrees = 4
	// MinDraws is the least number of draws for which k̂ shows whether weights are reliable.
	MinDraws = 25
)

// Draw returns draws, and the logs of the ratios of a density to the proposal's, up to a constant, until ctx ends. failed is
// the number of draws where the density is NaN or 0, whose ratio is 0.
func (p *Proposal) Draw(ctx context.Context, rnd *rand.Rand, count int,
	density func(u []float64) (log float64)) (draws [][]float64, ratios []float64, failed int) {
	n := len(p.Centre)
	z, step := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for range count {
		if ctx.Err() != nil {
			return nil, nil, 0
		}
		var square float64
		for j := range n {
			v := rnd.NormFloat64()
			z.SetVec(j, v)
			square += v * v
		}
		var chi float64
		for range studentDegrees {
			v := rnd.NormFloat64()
			chi += v * v
		}
		z.ScaleVec(math.Sqrt(studentDegrees/chi), z)
		log := -0.5 * float64(studentDegrees+n) * math.Log1p(square/chi) // log density of the proposal
		step.MulVec(p.Lower, z)
		u := make([]float64, n)
		for j := range u {
			u[j] = p.Centre[j] + step.AtVec(j)
		}
		ratio := density(u) - log
		if !numeric.IsFinite(ratio) {
			ratio = math.Inf(-1)
			failed++
		}
		draws, ratios = append(draws, u), append(ratios, ratio)
	}
	return draws, ratios, failed
}

// Adapt moves the proposal to the mean and the covariance of weighted draws, mixed with its previous covariance; the fewer
// effective draws, the more of it.
func (p *Proposal) Adapt(draws [][]float64, w *Smoothed) {
	n := len(p.Centre)
	mean := make([]float64, n)
	for i, u := range draws {
		floats.AddScaled(mean, w.Weights[i], u)
	}
	var old mat.Dense
	old.Mul(p.Lower, p.Lower.T())
	share := w.ESS / (w.ESS + float64(n) + 1)
	scale := mat.NewSymDense(n, nil)
	for a := range n {
		for b := a; b < n; b++ {
			var c float64
			for i, u := range draws {
				c += w.Weights[i] * (u[a] - mean[a]) * (u[b] - mean[b])
			}
			scale.SetSym(a, b, share*c+(1-share)*old.At(a, b))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(scale) { // the draws differ by more than float64 resolves
		return
	}
	p.Centre, p.Lower = mean, new(mat.TriDense)
	chol.LTo(p.Lower)
}

// Resample returns count indices, ascending, each as often as its weight requires to within one: systematic resampling, from a
// start in [0, 1).
func Resample(w []float64, count int, start float64) (index []int) {
	var sum float64
	last := 0
	for i, v := range w {
		if v > 0 {
			last = i
		}
		sum += v
		for len(index) < count && (float64(len(index))+start)/float64(count) < sum {
			index = append(index, i)
		}
	}
	for len(index) < count { // rounding of the sum may leave one out
		index = append(index, last)
	}
	return index
}
