package theory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// TheoremResults holds what Theorem computes about sections 3.2 and 4 of the paper. Most of it concerns one model, an SE
// kernel with noise. Vectors and matrices over its parameters are in the order of Params, in the logs of the parameters.
type TheoremResults struct {
	N, K   int
	Model  string
	Params []string

	Steps     Steps
	Routes    []Route
	Identical []Identical
	White     WhiteNoise
	ToN       Vanishing // Σ shrinks as k → n
	Noisy     Vanishing // Σ shrinks with the noise of noisy observations of all of y
	Bounds    []Bound
	Lines     []Bound // the bounds on tr Σ for every k: no design, and so no Trace
	Definite  []Definite
	Choices   []Choice
}

// Theorem computes everything that notebook 03 shows, in about 20 s at full scale. It returns an error if a covariance cannot
// be factorised.
func Theorem(scale scales.Scale) (*TheoremResults, error) {
	n := scales.Pick(scale, 150, 60)
	k := n / 5
	x := Times(n, float64(n)/2, 1)
	m := gppl.Model{Kernel: gppl.SE{Variance: 5, Lengthscale: 10}, Noise: 0.1}
	info, err := fisher.New(context.Background(), m, x)
	if err != nil {
		return nil, err
	}
	r := &TheoremResults{N: n, K: k, Model: m.String(), Params: names(info.Params())}
	s := study{info: info, x: x, n: n, k: k}
	r.Steps, err = s.steps(scales.Pick(scale, 20000, 2000))
	errs := []error{err}
	r.Routes, err = routes(x, k)
	errs = append(errs, err)
	r.Identical, err = s.identical()
	errs = append(errs, err)
	r.White, err = whiteNoise(scales.Pick(scale, 200, 50), scales.Pick(scale, 20000, 2000))
	errs = append(errs, err)
	r.ToN, err = s.toN(scales.Pick(scale, 6, 2))
	errs = append(errs, err)
	r.Noisy, err = s.noisy()
	errs = append(errs, err)
	r.Bounds, r.Lines, err = s.bounds()
	errs = append(errs, err)
	r.Definite, err = s.definite()
	errs = append(errs, err)
	r.Choices, err = s.choices()
	return r, errors.Join(append(errs, err)...)
}

// Times returns n times, uniform on [0, span] and in ascending order.
func Times(n int, span float64, seed uint64) gppl.Inputs {
	rnd := rand.New(rand.NewPCG(seed, 11))
	x := make([]float64, n)
	sum := 0.0
	for i := range x { // the spacings of a Poisson process are spacings of sorted uniform variables
		sum += rnd.ExpFloat64()
		x[i] = sum
	}
	sum += rnd.ExpFloat64()
	floats.Scale(span/sum, x)
	return gppl.Scalars(x)
}

func names(params []gppl.Param) (all []string) {
	for _, p := range params {
		all = append(all, p.Name)
	}
	return all
}

// study is the model that most parts use.
type study struct {
	info *fisher.Information
	x    gppl.Inputs
	n, k int
}

func (s study) params() int { return len(s.info.Params()) }

// measured holds the Fisher information of one projection and the two terms of the loss ΔI.
type measured struct {
	iz   *mat.SymDense
	loss fisher.Loss
}

func measure(info *fisher.Information, p *gppl.Projection) (m measured, err error) {
	if m.iz, err = info.Projected(context.Background(), p); err != nil {
		return m, err
	}
	m.loss, err = info.Loss(context.Background(), p)
	return m, err
}

func (s study) measure(d gppl.Design, k int, seed uint64) (m measured, err error) {
	p, err := gppl.NewProjection(context.Background(), d, s.x, k, seed)
	if err != nil {
		return m, err
	}
	return measure(s.info, p)
}

// Steps is the theorem step by step, for one Sphere projection: the information by its formula and as the variance of simulated
// scores, and the terms of ΔI.
type Steps struct {
	Data, Projected, Quadratic, Cross [][]float64
	ScoreY, ScoreZ, ScoreYZ           [][]float64 // covariances of the scores of y, of z, and between the two
	Draws                             int
	WorstDeviation                    float64 // largest difference between a simulated entry and the formula, in standard errors
	LeastEigenvalue                   float64 // least eigenvalue of ΔI, scaled by I_Y to a unit diagonal
}

func (s study) steps(draws int) (r Steps, err error) {
	p, err := gppl.NewProjection(context.Background(), gppl.Sphere{}, s.x, s.k, 1)
	if err != nil {
		return r, err
	}
	m, err := measure(s.info, p)
	if err != nil {
		return r, err
	}
	iy := s.info.Data()
	r = Steps{Data: rowsOf(iy), Projected: rowsOf(m.iz), Quadratic: rowsOf(m.loss.Quadratic),
		Cross: rowsOf(m.loss.Cross), Draws: draws}
	r.LeastEigenvalue = leastEigenvalue(m.loss.Total(), iy)

	a := s.info.Covariance()
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		return r, fmt.Errorf("theory: the covariance of %d observations cannot be factorised", s.n)
	}
	omega, err := p.Omega(context.Background())
	if err != nil {
		return r, err
	}
	q := s.params()
	scores := make([]func([]float64) float64, 2*q)
	for b := range q {
		var sz, dz mat.Dense
		sz.Product(omega.T(), a, omega)
		dz.Product(omega.T(), s.info.Derivative(b), omega)
		if scores[b], err = score(a, s.info.Derivative(b)); err != nil {
			return r, err
		}
		if scores[q+b], err = score(&sz, &dz); err != nil {
			return r, err
		}
	}
	rnd := rand.New(rand.NewPCG(1, 12))
	lower := chol.RawU().T()
	drawn := make([][]float64, 2*q)
	white, y := mat.NewVecDense(s.n, nil), mat.NewVecDense(s.n, nil)
	for range draws {
		for i := range s.n {
			white.SetVec(i, rnd.NormFloat64())
		}
		y.MulVec(lower, white)
		z := p.Project(y.RawVector().Data)
		for b := range q {
			drawn[b] = append(drawn[b], scores[b](y.RawVector().Data))
			drawn[q+b] = append(drawn[q+b], scores[q+b](z))
		}
	}
	products := make([]float64, draws)
	simulated := func(from, to int, want *mat.SymDense) [][]float64 {
		c := mat.NewDense(q, q, nil)
		for b := range q {
			for d := range q {
				for j := range products { // scores have mean zero
					products[j] = drawn[from+b][j] * drawn[to+d][j]
				}
				mean, sd := stat.MeanStdDev(products, nil)
				c.Set(b, d, mean)
				r.WorstDeviation = max(r.WorstDeviation, math.Abs(mean-want.At(b, d))/(sd/math.Sqrt(float64(draws))))
			}
		}
		return rowsOf(c)
	}
	r.ScoreY, r.ScoreZ, r.ScoreYZ = simulated(0, 0, iy), simulated(q, q, m.iz), simulated(0, q, m.iz)
	return r, nil
}

// score returns ∂ log N(v | 0, a) in the direction dot: ½(vᵀa⁻¹·dot·a⁻¹v − tr(a⁻¹·dot)), the paper's eq. (score_Y).
func score(a, dot mat.Matrix) (func(v []float64) float64, error) {
	var solved, bar mat.Dense
	if err := errors.Join(solved.Solve(a, dot), bar.Solve(a, solved.T())); err != nil {
		return nil, err
	}
	trace := mat.Trace(&solved)
	return func(v []float64) float64 {
		w := mat.NewVecDense(len(v), v)
		return 0.5 * (mat.Inner(w, &bar, w) - trace)
	}, nil
}

// Route compares ΔI by the theorem with the difference I_Y − I_Z, for one kernel and design.
type Route struct {
	Kernel, Design string
	Worst          float64   // largest difference over the parameters, divided by I_Y
	Lost           []float64 // ΔI/I_Y of each parameter
	Params         []string
}

func routes(x gppl.Inputs, k int) (all []Route, err error) {
	se := gppl.SE{Variance: 5, Lengthscale: 10}
	periodic := gppl.Periodic{Variance: 2, Lengthscale: 1, Period: 12}
	for _, kernel := range []gppl.Kernel{
		se,
		gppl.Laplace{Variance: 5, Lengthscale: 10},
		gppl.Matern32{Variance: 5, Lengthscale: 10},
		gppl.Matern52{Variance: 5, Lengthscale: 10},
		gppl.RQ{Variance: 5, Lengthscale: 10, Alpha: 0.8},
		periodic,
		gppl.LocPer{Variance: 5, Lengthscale: 30, Period: 12, PeriodicLengthscale: 1},
		gppl.Add(se, periodic),
		gppl.Mul(se, gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 12}),
	} {
		info, err := fisher.New(context.Background(), gppl.Model{Kernel: kernel, Noise: 0.1}, x)
		if err != nil {
			return nil, err
		}
		iy := info.Data()
		for _, design := range []gppl.Design{gppl.Sphere{}, gppl.Repulsive{}, gppl.Localised{}, gppl.OneHot{}, gppl.Spectral{},
			gppl.Raw{Design: gppl.Sphere{}}} {
			p, err := gppl.NewProjection(context.Background(), design, x, k, 1)
			if err != nil {
				return nil, err
			}
			m, err := measure(info, p)
			if err != nil {
				return nil, err
			}
			r := Route{Kernel: kernel.String(), Design: design.String(), Params: names(info.Params())}
			total := m.loss.Total()
			for a := range r.Params {
				r.Lost = append(r.Lost, total.At(a, a)/iy.At(a, a))
				for b := range r.Params {
					off := math.Abs(total.At(a, b)-(iy.At(a, b)-m.iz.At(a, b))) / math.Sqrt(iy.At(a, a)*iy.At(b, b))
					r.Worst = max(r.Worst, off)
				}
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// Identical is corollary 1: k = n independent projections lose no information.
type Identical struct {
	Design string
	Lost   float64 // largest ΔI/I_Y over the parameters, by the theorem
	Off    float64 // largest |I_Y − I_Z|/I_Y
}

func (s study) identical() (all []Identical, err error) {
	iy := s.info.Data()
	for _, design := range []gppl.Design{gppl.Identity{}, gppl.Sphere{}, gppl.Raw{Design: gppl.Sphere{}}} {
		m, err := s.measure(design, s.n, 1)
		if err != nil {
			return nil, err
		}
		r := Identical{Design: design.String()}
		total := m.loss.Total()
		for a := range s.params() {
			r.Lost = max(r.Lost, total.At(a, a)/iy.At(a, a))
			r.Off = max(r.Off, math.Abs(m.iz.At(a, a)/iy.At(a, a)-1))
		}
		all = append(all, r)
	}
	return all, nil
}

// rowsOf copies a matrix into rows.
func rowsOf(m mat.Matrix) (rows [][]float64) {
	r, c := m.Dims()
	rows = make([][]float64, r)
	for i := range rows {
		rows[i] = make([]float64, c)
		for j := range rows[i] {
			rows[i][j] = m.At(i, j)
		}
	}
	return rows
}

// leastEigenvalue returns the smallest eigenvalue of a, with the parameters scaled so that scale has a unit diagonal.
func leastEigenvalue(a, scale mat.Symmetric) float64 {
	n := a.SymmetricDim()
	scaled := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range n {
			scaled.SetSym(i, j, a.At(i, j)/math.Sqrt(scale.At(i, i)*scale.At(j, j)))
		}
	}
	return eigenvalues(scaled)[0]
}

// eigenvalues returns the eigenvalues of a in ascending order.
func eigenvalues(a mat.Symmetric) []float64 {
	var e mat.EigenSym
	if !e.Factorize(a, false) {
		panic("theory: the eigenvalues of a symmetric matrix did not converge")
	}
	return e.Values(nil)
}
