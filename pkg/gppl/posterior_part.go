package gppl

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Term returns the posterior of one term of a Sum, in the order of Sum.Terms, given all of the data: for term j
//
//	mean = k_j(x, X)A⁻¹(y − Hβ̂),  covariance = k_j(x, x′) − k_j(x, X)A⁻¹k_j(X, x′)
//
// plus, in the covariance, what the uncertainty of β adds (Duvenaud 2014, section 2.4.5). The means of all terms and of the mean
// function (Part) add up to the mean of p; the variances do not, since the data correlate the terms. It panics if there is no
// such term.
func (p *Posterior) Term(j int) (*Posterior, error) { return p.Part([]int{j}, nil) }

// Part returns the posterior of a sum of terms of the kernel, in the order of Sum.Terms, and of columns of the mean, in the
// order of Mean.Columns: Σ_j f_j(x) + Σ_c h_c(x)β_c. A kernel that is no Sum is one term. Latent, Joint, Sample and Gradient of
// it work as p's own and cost O(n) to O(n²) for each input, depending on the engine; Update and OneStep refuse. It is an
// error for a posterior of channels or exposures, and for one of sums over the data. It panics if there is no such term or
// column, or if both lists are empty.
func (p *Posterior) Part(terms, columns []int) (*Posterior, error) {
	if err := p.checkPlain("Posterior.Part"); err != nil {
		return nil, err
	}
	all := []Kernel{p.model.Kernel}
	if sum, is := p.model.Kernel.(Sum); is {
		all = sum.parts
	}
	var count int
	if p.model.Mean != nil {
		count = len(p.model.Mean.Columns())
	}
	if len(terms)+len(columns) == 0 {
		panic("gppl: Posterior.Part: neither a term nor a column")
	}
	var of, rest []Kernel
	for _, j := range terms {
		if j < 0 || j >= len(all) {
			panic(fmt.Sprintf("gppl: Posterior.Part: term %d, and there are %d", j, len(all)))
		}
	}
	for j, k := range all {
		if slices.Contains(terms, j) {
			of = append(of, k)
		} else {
			rest = append(rest, k)
		}
	}
	part := &ofTerms{columns: make([]bool, count)}
	for _, c := range columns {
		if c < 0 || c >= count {
			panic(fmt.Sprintf("gppl: Posterior.Part: column %d, and there are %d", c, count))
		}
		part.columns[c] = true
	}
	if p.part != nil && p.part.rest != nil { // p is a part itself
		rest = append(rest, p.part.rest)
	}
	if part.rest = added(rest); p.predictor == nil { // a prior
		part.rest = nil
	}
	q := *p
	q.model.Kernel, q.part, q.inOrder = added(of), part, nil
	q.model.transforms, q.model.unknown = nil, nil
	if q.model.Kernel == nil {
		q.model.Kernel = nothing{}
	}
	q.nugget = capability.Nugget(q.model.Kernel)
	q.horizon.kernel, q.horizon.variance = q.model.Kernel, variance(q.model.Kernel)
	if p.predictor != nil {
		q.predictor = &partPredictor{p.predictor, q.model.Kernel}
	}
	return &q, nil
}

// ofTerms holds the parts of the whole model that a posterior of some terms needs.
type ofTerms struct {
	columns []bool // columns of the mean that it has
	rest    Kernel // the other terms; nil: none
}

// added returns the sum of kernels, nil of none.
func added(terms []Kernel) Kernel {
	switch len(terms) {
	case 0:
		return nil
	case 1:
		return terms[0]
	}
	return Add(terms...)
}

// nothing is the kernel of a part that has columns of the mean alone.
type nothing struct{}

func (nothing) Params() []Param                   { return nil }
func (nothing) WithParams(theta []float64) Kernel { want(theta, 0, "nothing"); return nothing{} }
func (nothing) Cov(dst, _ []float64)              { clear(dst) }
func (nothing) Contract(_, _, _ []float64)        {}
func (nothing) Slope(dst, _ []float64)            { clear(dst) }
func (nothing) Reach(float64) float64             { return 0 }
func (nothing) String() string                    { return "nothing" }

// partPredictor predicts terms of a kernel by the predictor of all.
type partPredictor struct {
	predictor
	kernel Kernel
}

// partBatch is how many inputs are predicted at a time.
const partBatch = dense.Tile

func (p *partPredictor) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	for from := 0; from < x.Len(); from += partBatch {
		to := min(from+partBatch, x.Len())
		cov := dense.NewLower(to - from)
		if err := p.joint(ctx, dense.Rows(means, from, to-from), cov, x.Slice(from, to)); err != nil {
			return err
		}
		for i := from; i < to && variances != nil; i++ {
			variances[i] = cov.Entry(i-from, i-from)
		}
	}
	return nil
}

func (p *partPredictor) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	fillGram(cov, x, p.kernel, 0)
	return p.given(ctx, means, cov, valuesOf(p.kernel, x))
}

func (p *partPredictor) observations(ctx context.Context) (*conditions, error) {
	of, is := p.predictor.(solver)
	if !is {
		return nil, errNoObservations
	}
	return of.observations(ctx)
}

// Mean returns the mean of Latent at each x without the variances, which for parts and many inputs take far longer. The time is
// O(n + len(x)) in all for a Markovian kernel, O(n log n) for smooth ones, and O(n) for each input otherwise. It returns the
// errors of Latent, and an error for a posterior of channels or exposures.
func (p *Posterior) Mean(ctx context.Context, x Inputs) (mean []float64, err error) {
	if err := p.checkPlain("Posterior.Mean"); err != nil {
		return nil, err
	}
	defer parallel.Stopped(&err)
	p.checkDim(x)
	if err := x.check("x"); err != nil {
		return nil, err
	}
	of, is := p.predictor.(solver)
	if !is {
		mean, _, err = p.Latent(ctx, x)
		return mean, err
	}
	if _, _, err := p.horizon.divide(x); err != nil {
		return nil, err
	}
	data, err := of.observations(ctx)
	if err != nil {
		mean, _, err = p.Latent(ctx, x)
		return mean, err
	}
	solved := dense.New(data.x.Len(), p.columns())
	dense.Copy(solved, data.columns)
	if err := data.solve(ctx, solved); err != nil {
		return nil, err
	}
	means, err := covarianceProduct(ctx, p.model.Kernel, x, data.x, solved)
	if err != nil {
		return nil, err
	}
	mean, _, err = p.meanAndSpread(x, means)
	return mean, err
}

// Joint returns the posterior mean and covariance of f at the inputs x, jointly and as exactly as Latent. The diagonal has the
// variances of Latent, white noise of the kernel included. Joint takes memory for len(x)² numbers. It takes as much time as
// Latent for each input and, with an engine that keeps all observations, O(len(x)²·n) more for products. It returns the errors of
// Latent, a MemoryError if WithMemory does not allow the memory, and an error if p is of channels or exposures.
func (p *Posterior) Joint(ctx context.Context, x Inputs) (mean []float64, cov *mat.SymDense, err error) {
	if err := p.checkPlain("Posterior.Joint"); err != nil {
		return nil, nil, err
	}
	defer parallel.Stopped(&err)
	p.checkDim(x)
	if err := x.check("x"); err != nil {
		return nil, nil, err
	}
	n := x.Len()
	if err := p.roomFor(n, 8*float64(n)*float64(n), "predicting"); err != nil {
		return nil, nil, err
	}
	mean, lower, err := p.joint(ctx, x)
	if err != nil {
		return nil, nil, err
	}
	lower.AddDiagonal(p.nugget)
	cov = mat.NewSymDense(n, nil)
	for i := range n {
		parallel.Look(ctx)
		for j := range i + 1 {
			cov.SetSym(i, j, lower.Entry(i, j))
		}
		cov.SetSym(i, i, max(0, cov.At(i, i))) // rounding, where the data determine f
	}
	return mean, cov, nil
}

// Gradient returns the derivatives, along each axis of x, of the mean and of the variance that Latent returns: entry i·d + a is
// that along axis a at x[i], in the unit of y and of y² per unit of x. With κ = k(x, X) they are
//
//	∂mean = ∂κᵀA⁻¹(y − Hβ̂) + ∂hᵀβ̂,  ∂variance = ∂k(x, x) − 2κᵀA⁻¹∂κ + 2rᵀM⁻¹∂r,  r = h − HᵀA⁻¹κ.
//
// Where f has no derivative, as with a Laplace at an observation, they are the means of the derivatives on either side.
// The basis of a Mean of one's own is differentiated by differences, with a relative error of about 1e-9. It takes as long as a
// joint prediction of 1 + d values for each input. Errors are as in Joint.
func (p *Posterior) Gradient(ctx context.Context, x Inputs) (mean, variances []float64, err error) {
	if err := p.checkPlain("Posterior.Gradient"); err != nil {
		return nil, nil, err
	}
	defer parallel.Stopped(&err)
	p.checkDim(x)
	if err := x.check("x"); err != nil {
		return nil, nil, err
	}
	if _, _, err := p.horizon.divide(x); err != nil {
		return nil, nil, err
	}
	n, d := x.Len(), x.Dim()
	mean, variances = make([]float64, n*d), make([]float64, n*d)
	at := max(1, partBatch/(1+d)) // inputs at a time
	for from := 0; from < n; from += at {
		parallel.Look(ctx)
		part := x.Slice(from, min(n, from+at))
		m, v := mean[from*d:][:part.Len()*d], variances[from*d:][:part.Len()*d]
		if err := p.gradientOf(ctx, m, v, part); err != nil {
			return nil, nil, err
		}
	}
	return mean, variances, nil
}

// gradientOf sets the derivatives at a few inputs.
func (p *Posterior) gradientOf(ctx context.Context, mean, variances []float64, x Inputs) error {
	n, d := x.Len(), x.Dim()
	means, cov := dense.New(n*(1+d), p.columns()), dense.NewLower(n*(1+d))
	if p.predictor != nil {
		if err := p.predictor.given(ctx, means, cov, slopesOf(p.model.Kernel, x)); err != nil {
			return err
		}
	}
	prior := make([]float64, d) // covariances of f(x) and its slopes
	stationary := isStationary(p.model.Kernel)
	for i := range n {
		if !stationary {
			slopePair(prior, p.model.Kernel, x.At(i), x.At(i))
		}
		for a := range d {
			at := i*(1+d) + 1 + a
			mean[i*d+a] = means.Data[at*means.Stride]
			variances[i*d+a] = 2 * (prior[a] + cov.Entry(at, i*(1+d)))
		}
	}
	if p.model.Mean == nil {
		return nil
	}
	// The basis and its slopes, in the rows of the values and slopes.
	q := mat.NewDense(n*(1+d), len(p.model.Mean.Columns()), nil)
	for a := range d {
		h, slopes, err := p.part.slopes(p.model.Mean, x, a, p.horizon)
		if err != nil {
			return err
		}
		for i := range n {
			q.SetRow(i*(1+d), h.RawRowView(i))
			q.SetRow(i*(1+d)+1+a, slopes.RawRowView(i))
		}
	}
	at, spread := p.predictMean(q, means)
	for i := range n {
		for a := range d {
			row := i*(1+d) + 1 + a
			mean[i*d+a] = at[row]
			variances[i*d+a] += 2 * blas64.Dot(dense.Column(spread, i*(1+d)), dense.Column(spread, row))
		}
	}
	return nil
}

// slopesOf is f(x) and its derivatives along the axes, of each x in turn.
func slopesOf(k Kernel, x Inputs) functionals {
	d := x.Dim()
	return func(of Inputs, from, to int) blas64.General {
		all := dense.New(of.Len(), to-from)
		value, slope := make([]float64, of.Len()), make([]float64, of.Len()*d)
		known := -1
		for j := from; j < to; j++ {
			i, a := j/(1+d), j%(1+d)-1
			if i != known {
				covariances(value, k, of, x.Slice(i, i+1))
				slopes(slope, k, of, x.Slice(i, i+1))
				known = i
			}
			for row, v := range value {
				if a >= 0 {
					v = slope[row*d+a]
				}
				all.Data[row*all.Stride+j-from] = v
			}
		}
		return all
	}
}

// slopes returns the basis at x and its derivatives along an axis, with zeros in the columns that the part lacks; a nil part has
// all. Where differences are needed, they are on the scale of the inputs and of the data.
func (p *ofTerms) slopes(m Mean, x Inputs, axis int, data horizon) (h, slopes *mat.Dense, err error) {
	if h, err = p.basis(m, x); err != nil {
		return nil, nil, err
	}
	n, cols := h.Dims()
	if p != nil && !slices.Contains(p.columns, true) {
		return h, mat.NewDense(n, cols, nil), nil
	}
	lo, hi := x.Range(axis)
	if data.lo != nil {
		lo, hi = min(lo, data.lo[axis]), max(hi, data.hi[axis])
	}
	if slopes, err = basisSlopes(m, x, axis, lo, hi); err != nil || p == nil {
		return h, slopes, err
	}
	for j, has := range p.columns {
		for i := 0; i < n && !has; i++ {
			slopes.Set(i, j, 0)
		}
	}
	return h, slopes, nil
}
