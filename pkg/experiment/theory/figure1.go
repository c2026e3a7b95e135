package theory

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// FigureRank is the rank of the second eigenvalue of Figure 1 that is compared; the first is the largest.
const FigureRank = 10

// FigureOne returns the mean and the standard deviation, over draws of the times and of the projections, of two eigenvalues of
// each curve of Figure 1: the largest and the one of rank FigureRank. The paper shows one draw. It also returns the trace of Σ
// for k = 200 Sphere projections, with and without the authors' addition to the diagonal. Names begin with "figure1".
func FigureOne(scale scales.Scale) (Results, error) {
	seeds := make([]uint64, scales.Pick(scale, 20, 3))
	for i := range seeds {
		seeds[i] = uint64(i + 1)
	}
	return figureOne(scales.Pick(scale, 2000, 200), seeds)
}

// figureOne computes FigureOne for n observations over the draws of the seeds.
func figureOne(n int, seeds []uint64) (Results, error) {
	c := Case{N: n, Span: float64(n) / 2, Variance: 5, Lengthscale: 10}
	found := map[string][]float64{}
	keep := func(name string, values []float64) {
		found[name] = append(found[name], values[0])
		tenth := fmt.Sprintf("%s.%d", name, FigureRank)
		found[tenth] = append(found[tenth], values[FigureRank-1])
	}
	var with, without []float64
	for _, seed := range seeds {
		d := &draw{seed: seed, x: Times(n, c.Span, seed)}
		var err error
		if d.gram, err = newLowRank(gppl.SE{Variance: c.Variance, Lengthscale: c.Lengthscale}, d.x); err != nil {
			return nil, err
		}
		keep("k", d.gram.eigenvalues())
		for i, k := range []int{n / 40, n / 20, n / 10} {
			for _, design := range []gppl.Design{gppl.Sphere{}, unsorted{}, gppl.OneHot{}} {
				p, err := gppl.NewProjection(context.Background(), design, d.x, k, d.seed)
				if err != nil {
					return nil, err
				}
				mean, err := d.gram.meanProjected(p)
				if err != nil {
					return nil, err
				}
				jitter := figureJitter(i == 2) * mean
				values, err := d.gram.conditionalEigenvalues(p, jitter)
				if err != nil {
					return nil, err
				}
				keep(key(design.String(), fmt.Sprintf("k%d", k)), values)
				if i < 2 || design != (gppl.Sphere{}) {
					continue
				}
				for _, t := range []struct {
					to    *[]float64
					share float64
				}{{&with, 1}, {&without, 1e-9}} {
					trace, err := d.gram.conditionalTrace(p, t.share*jitter)
					if err != nil {
						return nil, err
					}
					*t.to = append(*t.to, trace)
				}
			}
		}
	}
	r := Results{"figure1.draws": float64(len(seeds)), "figure1.trace.with": stat.Mean(with, nil),
		"figure1.trace.without": stat.Mean(without, nil)}
	for name, v := range found {
		r["figure1."+name+".mean"], r["figure1."+name+".sd"] = stat.MeanStdDev(v, nil)
	}
	return r, nil
}
