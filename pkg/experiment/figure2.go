package experiment

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// inFigure2 reports whether a trial has the settings of the authors' notebook of E1, from which their Figure 2 comes.
func (t Trial) inFigure2() bool {
	return t.Source.Name == "draw" && t.Source.Lengthscale == 20 &&
		(t.Optimiser.Method == TorchAdam || t.Optimiser.Method == TorchLBFGS)
}

// figure2Variances returns two means over the range of the variance of a noisy observation: by the exact posterior at the learnt
// parameters, and as the code of the authors' Figure 2 predicts it. For ML and PL they are equal.
func figure2Variances(r *gppl.Result, s Sample) (exact, figure float64, err error) {
	p, err := gppl.NewPosterior(context.Background(), r.Model, s.Train)
	if err != nil {
		return 0, 0, err
	}
	lo, hi := s.Train.X.Range(0)
	x := Grid(lo, hi, 200)
	_, noisy, _ := p.Noisy(context.Background(), gppl.Scalars(x))
	exact = stat.Mean(noisy, nil)
	if len(r.Inducing) == 0 {
		return exact, exact, nil
	}
	v, err := ForwardVFE(r.Model, r.Inducing, s, x)
	return exact, stat.Mean(v, nil), err
}

// Variances holds, for a loss, the ratios of its mean variances to ML's: one for each draw of E1, with the settings of the
// authors' notebook, on which neither run diverged.
type Variances struct {
	// Ratios for noisy observations: predicted by the authors' code, by the loss's own posterior, and by the exact posterior.
	Theirs, Sparse, Exact []float64
	Latent                []float64 // ratio for the function alone, by the loss's own posterior (for VFE the sparse one)
	Seeds                 []uint64  // seeds of the draws
	Diverged              int
}

// Figure2Ratios returns the ratios for a loss and an optimiser, "BFGS" or "Adam".
func Figure2Ratios(all []Outcome, loss, optimiser string) (v Variances) {
	of := func(loss string) []Outcome { return Where(all, notebookSettings(optimiser, loss)) }
	ours, ml := Pairs(of(loss), SameSeeds(of(ML)))
	for i, o := range ours {
		m := ml[i]
		if o.Failed() || m.Failed() {
			v.Diverged++
			continue
		}
		sparse := (o.Variance + o.Theta[2]) / (m.Variance + m.Theta[2])
		v.Theirs, v.Exact = append(v.Theirs, o.Figure2/m.Figure2), append(v.Exact, o.Exact/m.Exact)
		v.Sparse, v.Latent = append(v.Sparse, sparse), append(v.Latent, o.Variance/m.Variance)
		v.Seeds = append(v.Seeds, o.Trial.Source.Seed)
	}
	return v
}

// ForwardVFE returns the predictive variances of noisy observations at x by the authors' forward_VFE (gp.py, lines 398 to 438):
//
//	v + σ² − k_xuᵀ(U⁻¹ − A⁻¹U⁻¹)k_ux,  U = K_uu + σ²I,  A = U + K_uf K_fu/σ²
//
// The sparse posterior has K_uu in place of U, and A⁻¹ in place of A⁻¹U⁻¹. The first error leaves part of the function
// unexplained at the inducing inputs themselves. With what their notebook learns in E1 and 40 inducing inputs, the first alone
// multiplies the variance of the sparse posterior by 1.6, the second alone by 1.4, both by 1.6.
func ForwardVFE(m gppl.Model, inducing []float64, s Sample, x []float64) ([]float64, error) {
	train := s.Train.X.Coordinate(0)
	u := gram(m.Kernel, inducing, inducing)
	for i := range inducing {
		u.Set(i, i, u.At(i, i)+m.Noise)
	}
	uf, ux := gram(m.Kernel, inducing, train), gram(m.Kernel, inducing, x)
	var a mat.Dense
	a.Mul(uf, uf.T())
	a.Scale(1/m.Noise, &a)
	a.Add(&a, u)
	var fu, fa mat.Cholesky
	if !fu.Factorize(symmetric(u)) || !fa.Factorize(symmetric(&a)) {
		return nil, fmt.Errorf("experiment: K_uu + σ²I of %d inducing inputs cannot be factorised", len(inducing))
	}
	var v, w mat.Dense
	if err := fu.SolveTo(&v, ux); err != nil {
		return nil, err
	}
	if err := fa.SolveTo(&w, &v); err != nil {
		return nil, err
	}
	prior := gram(m.Kernel, x[:1], x[:1]).At(0, 0) + m.Noise
	variances := make([]float64, len(x))
	for j := range x {
		variances[j] = prior
		for i := range inducing {
			variances[j] -= ux.At(i, j) * (v.At(i, j) - w.At(i, j))
		}
	}
	return variances, nil
}

// gram returns the covariance matrix between the function at a and at b.
func gram(k gppl.Kernel, a, b []float64) *mat.Dense {
	cov := make([]float64, len(a)*len(b))
	gppl.Covariance(context.Background(), cov, k, gppl.Scalars(a), gppl.Scalars(b))
	return mat.NewDense(len(a), len(b), cov)
}
