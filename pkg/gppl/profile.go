package gppl

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// Profile is the exact likelihood of data, maximised over one common factor c of all variances: what a search compares starts by. With
// A = cB and Q = yᵀB⁻¹y,
//
//	NLL = Q/2c + ½log|B| + (n/2)·log 2πc,  least at c = Q/n.
//
// It takes several noise variances at the price of one covariance matrix. It is not safe for concurrent use.
type Profile struct {
	exact       []*Exact
	parts       []profiled
	n           float64
	evaluations int
}

// profiled is one part of the data, with working memory.
type profiled struct {
	data      Data
	cov, work *dense.Lower
	white     []float64
	rows      rowNoise
	diagonal  []float64
}

// NewProfile returns the profile of one likelihood, or of the sum of several of one family of models on parts of the data. It leaves out
// their means. It panics if there is none.
func NewProfile(exact ...*Exact) *Profile {
	if len(exact) == 0 {
		panic("gppl: NewProfile of no likelihoods")
	}
	p := &Profile{exact: exact}
	for _, l := range exact {
		n := l.data.Len()
		p.n += float64(n)
		p.parts = append(p.parts, profiled{l.data, dense.NewLower(n), dense.NewLower(n), make([]float64, n), l.data.rowNoise(), nil})
	}
	return p
}

// linear reports whether the exact likelihood of a kernel takes O(n).
func (p *Profile) linear(k Kernel) bool {
	var m markov
	return p.parts[0].data.X.Dim() == 1 && m.of(k)
}

// NLL sets nll to the negative log likelihoods, in nats, with the kernel of m and each of the noise variances, and factors to the factor
// of all variances, that of the noise included, that each is at: Q/n if free is true, 1 if it is false. A likelihood that cannot be
// computed is +Inf. All variances scale the kernel only if it is linear in them, and the noise only if there are no known errors: else
// free must be false. It panics if lengths differ. It takes O(n) for a Markov kernel, and otherwise n² covariances and, for
// each noise variance, n³/3 flops.
func (p *Profile) NLL(nll, factors []float64, m Model, noises []float64, free bool) {
	if len(nll) != len(noises) || len(factors) != len(noises) {
		panic(fmt.Sprintf("gppl: Profile.NLL: len(nll) = %d, len(factors) = %d, want len(noises) = %d", len(nll), len(factors), len(noises)))
	}
	p.evaluations += len(noises)
	quad, logdet := make([]float64, len(noises)), make([]float64, len(noises))
	if theta := m.Values(); p.linear(m.Kernel) {
		p.evaluations += len(noises)
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

// Evaluations returns how many likelihoods were computed so far.
func (p *Profile) Evaluations() int { return p.evaluations }

// value returns the sum of the likelihoods at theta.
func (p *Profile) value(theta []float64) (sum float64, err error) {
	for _, l := range p.exact {
		v, err := l.ValueGrad(nil, theta)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

// filter returns Q and log|B| from the likelihoods at one and at four times the variances or, where these are not free,
// twice what they add to the likelihood in one.
func (p *Profile) filter(theta []float64, noise float64, free bool) (quad, logdet float64) {
	last := len(theta) - 1
	theta[last] = noise
	once, err := p.value(theta)
	if err != nil {
		return math.Inf(1), math.Inf(1)
	}
	if !free {
		return 2*once - p.n*log2Pi, 0
	}
	const factor = 4
	four := slices.Clone(theta)
	params := p.exact[0].Params()
	for i := range four {
		if params[i].Unit == UnitY2 {
			four[i] *= factor
		}
	}
	other, err := p.value(four)
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
		noise += Nugget(k)
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
