package gppl

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// compiledAt is a model with a total noise variance, as engines are given it.
func compiledAt(k Kernel, noise float64) *compiled {
	m := new(compiled)
	if err := m.compile(k, append(Values(k.Params()), noise-capability.Nugget(k))); err != nil {
		panic(err)
	}
	return m
}

// nllBy evaluates the NLL of the first column by one engine, and its derivatives in
// logs unless grad is nil; visit, unless nil, sees the factor.
func nllBy(e exactEngine, grad []float64, k Kernel, noise float64, n int, visit func(f exactFactor)) (value float64, err error) {
	m := compiledAt(k, noise)
	e.estimate(m)
	f, err := e.factor(m)
	if err != nil {
		return 0, err
	}
	defer f.release()
	g := dense.New(1, 1)
	f.gram(g)
	value = 0.5 * (g.Data[0] + f.logDet() + float64(n)*log2Pi)
	if grad != nil {
		err = f.gradient(grad, blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}})
	}
	if visit != nil {
		visit(f)
	}
	return value, err
}
