package gppl

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// profiler compares starts: it computes the exact likelihood of parts of the data, summed, for several noise variances at
// the price of one covariance matrix, each at the best common factor c of all variances. With A = cB and Q = yᵀB⁻¹y,
//
//	NLL = Q/2c + ½log|B| + (n/2)·log 2πc,  least at c = Q/n.
type profiler struct {
	parts []profiled
	exact *blocks // for kernels that an engine takes in O(n)
	n     float64
	count int // likelihoods that were computed
}

type profiled struct {
	data      Data
	cov, work *dense.Lower
	white     []float64
	rows      rowNoise
	diagonal  []float64
}

func newProfiler(b *blocks) *profiler {
	p := &profiler{exact: b, n: float64(b.n)}
	for _, part := range b.parts {
		n := part.data.Len()
		p.parts = append(p.parts, profiled{part.data, dense.NewLower(n), dense.NewLower(n), make([]float64, n), part.data.rowNoise(), nil})
	}
	return p
}

// linear reports whether the exact likelihood of a kernel takes O(n).
func (p *profiler) linear(k Kernel) bool {
	var m markov
	return p.exact.parts[0].data.X.Dim() == 1 && m.of(k)
}

// profile sets nll to the negative log likelihoods with the kernel of m and each of the noise variances, and factors
// to the factors of all variances that it has them at: 1 if free is false.
func (p *profiler) profile(nll, factors []float64, m Model, noises []float64, free bool) {
	p.count += len(noises)
	quad, logdet := make([]float64, len(noises)), make([]float64, len(noises))
	if theta := m.Values(); p.linear(m.Kernel) {
		p.count += len(noises)
		for i, noise := range noises {
			quad[i], logdet[i] = p.filter(theta, noise, free)
		}
	} else {
		for i := range p.parts {
			p.parts[i].add(quad, logdet, m.Kernel, noises)
		}
	}
	for i := range noises {
		factors[i] = 1
		if free {
			factors[i] = quad[i] / p.n
		}
		nll[i] = 0.5 * (quad[i]/factors[i] + logdet[i] + p.n*math.Log(factors[i]) + p.n*log2Pi)
		if !(factors[i] > 0) || math.IsNaN(nll[i]) {
			nll[i] = math.Inf(1)
		}
	}
}

func (p *profiler) evaluations() int { return p.count }

// filter returns Q and log|B| from the likelihoods at one and at four times the variances or, where these are not free,
// twice what they add to the likelihood in one.
func (p *profiler) filter(theta []float64, noise float64, free bool) (quad, logdet float64) {
	last := len(theta) - 1
	theta[last] = noise
	once, err := p.exact.ValueGrad(nil, theta)
	if err != nil {
		return math.Inf(1), math.Inf(1)
	}
	if !free {
		return 2*once - p.n*log2Pi, 0
	}
	const factor = 4
	four := slices.Clone(theta)
	params := p.exact.Params()
	for i := range four {
		if params[i].Unit == unitY2 {
			four[i] *= factor
		}
	}
	other, err := p.exact.ValueGrad(nil, four)
	if err != nil {
		return math.Inf(1), math.Inf(1)
	}
	quad = 2 * (once - other + 0.5*p.n*math.Log(factor)) / (1 - 1.0/factor)
	return quad, 2*once - p.n*log2Pi - quad
}

// add adds Q and log|B| of one part of the data for each noise variance.
func (p *profiled) add(quad, logdet []float64, k Kernel, noises []float64) {
	fillGram(p.cov, p.data.X, k, 0)
	for i, noise := range noises {
		p.cov.EachTile(func(r, c int, tile blas64.General) { copy(p.work.At(r, c).Data, tile.Data) })
		p.work.AddDiagonal(p.rows.matrixNoise(noise))
		p.diagonal = p.rows.add(p.work, p.diagonal, p.data.Len(), noise)
		if p.work.Cholesky() != nil {
			quad[i], logdet[i] = math.Inf(1), math.Inf(1)
			continue
		}
		copy(p.white, p.data.Y)
		p.work.SolveL(columnOf(p.white))
		quad[i] += blas64.Dot(dense.Vec(p.white), dense.Vec(p.white))
		logdet[i] += p.work.LogDet()
	}
}
