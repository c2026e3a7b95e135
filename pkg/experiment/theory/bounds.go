package theory

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// columns is a design of consecutive columns of a given matrix.
type columns struct {
	name string
	of   mat.Matrix
	from int
}

func (d columns) String() string { return d.name }

func (d columns) Directions(_ context.Context, omega *mat.Dense, _ gppl.Inputs, _ *rand.Rand) error {
	n, k := omega.Dims()
	if r, c := d.of.Dims(); r != n || d.from+k > c {
		return fmt.Errorf("theory: %s has %d×%d entries, too few for %d columns from %d of %d "+
			"observations", d.name, r, c, k, d.from, n)
	}
	for i := range n {
		for j := range k {
			omega.Set(i, j, d.of.At(i, d.from+j))
		}
	}
	return nil
}

// eigenvectors returns the eigenvalues of a in ascending order, and the eigenvectors in the same order.
func eigenvectors(a mat.Symmetric) ([]float64, *mat.Dense, error) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil, nil, fmt.Errorf("theory: the eigenvalues of a matrix of size %d did not converge", a.SymmetricDim())
	}
	var u mat.Dense
	e.VectorsTo(&u)
	return e.Values(nil), &u, nil
}

// Bound is the paper's bound on tr Σ, with the trace for one projection. It sums the |A| smallest and the |A| largest
// eigenvalues, with |A| = k as printed and with |A| = n − k, which is correct.
type Bound struct {
	Design                   string
	K                        int
	Trace                    float64
	PrintedLo, PrintedHi     float64
	CorrectedLo, CorrectedHi float64
}

// boundSlack is the rounding error that a bound is allowed, relative to tr A, because some designs attain it.
const boundSlack = 1e-12

// within reports whether lo ≤ trace ≤ hi.
func (b Bound) within(lo, hi float64) bool {
	slack := boundSlack * b.CorrectedHi
	return lo-slack <= b.Trace && b.Trace <= hi+slack
}

// Printed reports whether the bound as printed holds.
func (b Bound) Printed() bool { return b.within(b.PrintedLo, b.PrintedHi) }

// Corrected reports whether the corrected bound holds.
func (b Bound) Corrected() bool { return b.within(b.CorrectedLo, b.CorrectedHi) }

// bounds returns the traces of several projections with their bounds, and the bounds alone for every k.
func (s study) bounds() (all, lines []Bound, err error) {
	lambda, u, err := eigenvectors(s.info.Covariance())
	if err != nil {
		return nil, nil, err
	}
	n := s.n
	smallest := func(count int) float64 { return floats.Sum(lambda[:count]) }
	largest := func(count int) float64 { return floats.Sum(lambda[n-count:]) }
	for k := 1; k < n; k++ {
		lines = append(lines, Bound{K: k, PrintedLo: smallest(k), PrintedHi: largest(k),
			CorrectedLo: smallest(n - k), CorrectedHi: largest(n - k)})
	}
	for _, k := range []int{1, n / 30, n / 10, n / 5, n / 3, n / 2, n * 2 / 3, n * 9 / 10, n - 1} {
		designs := []gppl.Design{gppl.Sphere{}, gppl.OneHot{}, columns{"top eigenvectors", u, n - k},
			columns{"bottom eigenvectors", u, 0}}
		if k > 1 && k <= n/3 { // for larger k the directions depend on one another
			designs = append(designs, gppl.Localised{}, gppl.Spectral{})
		}
		for _, design := range designs {
			p, err := gppl.NewProjection(context.Background(), design, s.x, k, 1)
			if err != nil {
				return nil, nil, err
			}
			trace, _, err := s.info.ConditionalTrace(context.Background(), p)
			if err != nil {
				return nil, nil, err
			}
			b := lines[k-1]
			b.Design, b.Trace = design.String(), trace
			all = append(all, b)
		}
	}
	return all, lines, nil
}

// Definite examines, for one parameter, the two n×n matrices whose traces are the terms of ΔI. The paper calls them positive
// definite.
type Definite struct {
	Param            string
	Trace            [2]float64 // traces of ½(K̄Σ)² and K̄ΣK̄(A − Σ)
	Asymmetry        [2]float64 // ‖T − Tᵀ‖/‖T‖ in the Frobenius norm
	LeastOverLargest [2]float64 // eigenvalues of the symmetric part
	Matrix           [2]float64 // least eigenvalue of the term as a matrix over the parameters, scaled by I_Y to a unit diagonal
}

func (s study) definite() (all []Definite, err error) {
	p, err := gppl.NewProjection(context.Background(), gppl.Sphere{}, s.x, s.k, 1)
	if err != nil {
		return nil, err
	}
	sigma, err := s.info.Conditional(context.Background(), p)
	if err != nil {
		return nil, err
	}
	loss, err := s.info.Loss(context.Background(), p)
	if err != nil {
		return nil, err
	}
	a, iy := s.info.Covariance(), s.info.Data()
	var explained mat.SymDense
	explained.ScaleSym(-1, sigma)
	explained.AddSym(&explained, a)
	for b, param := range s.info.Params() {
		var solved, bar mat.Dense
		if err := solved.Solve(a, s.info.Derivative(b)); err != nil {
			return nil, err
		}
		if err := bar.Solve(a, solved.T()); err != nil {
			return nil, err
		}
		d := Definite{Param: param.Name, Matrix: [2]float64{leastEigenvalue(loss.Quadratic, iy), leastEigenvalue(loss.Cross, iy)}}
		for term, last := range []mat.Matrix{sigma, &explained} {
			var t, skew mat.Dense
			t.Product(&bar, sigma, &bar, last)
			if term == 0 {
				t.Scale(0.5, &t)
			}
			skew.Sub(&t, t.T())
			d.Trace[term], d.Asymmetry[term] = mat.Trace(&t), mat.Norm(&skew, 2)/mat.Norm(&t, 2)
			symmetric := mat.NewSymDense(s.n, nil)
			for i := range s.n {
				for j := range i + 1 {
					symmetric.SetSym(i, j, 0.5*(t.At(i, j)+t.At(j, i)))
				}
			}
			e := eigenvalues(symmetric)
			d.LeastOverLargest[term] = e[0] / e[s.n-1]
		}
		all = append(all, d)
	}
	return all, nil
}

// Choice compares the trace that a design leaves, which the paper minimises, with the information that it loses.
type Choice struct {
	Design    string
	Trace     float64   // tr Σ
	Lost      []float64 // ΔI/I_Y for each parameter
	StdErrLog []float64 // Cramér–Rao bound for each parameter
	// Commutator is ‖ΣA − AΣ‖/‖ΣA‖. It is 0 if Ω spans eigenvectors of A; the paper reduces every projection to this case.
	Commutator float64
}

// choices compares designs at the same k. The first entry has no projection.
func (s study) choices() (all []Choice, err error) {
	a, iy := s.info.Covariance(), s.info.Data()
	_, u, err := eigenvectors(a)
	if err != nil {
		return nil, err
	}
	se, err := fisher.StdErrLog(iy, s.info.Params())
	if err != nil {
		return nil, err
	}
	all = append(all, Choice{Design: "all data", Lost: make([]float64, s.params()), StdErrLog: se})
	k := s.k / 3 // smaller than the dimension of the signal
	for _, design := range []gppl.Design{columns{"Eigen", u, s.n - k}, gppl.Spectral{},
		gppl.Localised{}, gppl.Sphere{}, gppl.OneHot{}} {
		p, err := gppl.NewProjection(context.Background(), design, s.x, k, 1)
		if err != nil {
			return nil, err
		}
		m, err := measure(s.info, p)
		if err != nil {
			return nil, err
		}
		sigma, err := s.info.Conditional(context.Background(), p)
		if err != nil {
			return nil, err
		}
		c := Choice{Design: design.String(), Trace: mat.Trace(sigma)}
		for b := range s.params() {
			c.Lost = append(c.Lost, m.loss.Total().At(b, b)/iy.At(b, b))
		}
		if c.StdErrLog, err = fisher.StdErrLog(m.iz, s.info.Params()); err != nil {
			return nil, err
		}
		var product, commutator mat.Dense
		product.Mul(sigma, a)
		commutator.Sub(&product, product.T())
		c.Commutator = mat.Norm(&commutator, 2) / mat.Norm(&product, 2)
		if math.IsNaN(c.Commutator) {
			return nil, fmt.Errorf("theory: %s leaves no covariance", c.Design)
		}
		all = append(all, c)
	}
	return all, nil
}
