package auto

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// profile is the exact likelihood of independent parts of the data, maximised over one common factor c of all variances. With
// A = cB and Q = yᵀB⁻¹y,
//
//	NLL = Q/2c + ½log|B| + (n/2)·log 2πc,  least at c = Q/n.
//
// It ignores means, and is safe for concurrent use.
type profile struct {
	parts       []*gppl.Exact
	n           float64 // number of observations of all parts
	evaluations atomic.Int64
}

// NLL implements comparer. free requires a kernel that is linear in its variances and no known errors: otherwise no common
// factor scales A. A likelihood that cannot be computed is +Inf.
func (p *profile) NLL(ctx context.Context, nll, factors []float64, m gppl.Model, noises []float64, free bool) error {
	count := len(noises)
	sums := make([]float64, 2*count)
	each := make([][]float64, len(p.parts))
	counts, errs := make([]int, len(p.parts)), make([]error, len(p.parts))
	parallel.For(len(p.parts), func(i int) {
		each[i] = make([]float64, 2*count)
		counts[i], errs[i] = p.parts[i].QuadLogDet(ctx, each[i][:count], each[i][count:], m, noises, free)
	})
	for i, part := range each {
		if errs[i] != nil {
			return errs[i]
		}
		dense.Add(sums, part)
	}
	p.evaluations.Add(int64(counts[0]))
	for i, quad := range sums[:count] {
		factors[i] = 1
		if free {
			factors[i] = quad / p.n
		}
		nll[i] = 0.5 * (quad/factors[i] + sums[count+i] + p.n*math.Log(factors[i]) + p.n*math.Log(2*math.Pi))
		if !(factors[i] > 0) || math.IsNaN(nll[i]) {
			nll[i] = math.Inf(1)
		}
	}
	return nil
}

// Evaluations implements comparer. It counts one likelihood for all parts together.
func (p *profile) Evaluations() int { return int(p.evaluations.Load()) }
