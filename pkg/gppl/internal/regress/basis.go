// Package regress is the algebra of a linear regression under correlated errors:
//
//	y = Hβ + e,  e ~ N(0, A),  β_j ~ N(0, b_j) or flat,
//
// after A has been factorised. It knows A only through G = CᵀA⁻¹C, C = [y, Q], a matrix
// of the size of the basis, so that it is the same for every factorisation that can
// solve. It knows nothing of Gaussian processes.
//
// Sources: Rasmussen and Williams 2006, section 2.7; Harville 1974 for the restricted
// likelihood.
package regress

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A Basis is H in the coordinates in which the algebra is well conditioned: Q = HT,
// β = Tγ. The flat columns of Q are orthonormal, and γ has the prior N(0, 1) where β has
// a Gaussian one. It does not change.
type Basis struct {
	Q     *mat.Dense // n×h, in the order of H
	T     *mat.Dense // h×h
	flat  []bool
	count int // of the flat columns
}

// RankError says that a flat column of H is a linear combination of the flat columns
// before it, as far as its rows tell.
type RankError struct {
	Column int
	Zero   bool  // the column is zero
	With   []int // the columns that make it up
}

func (e *RankError) Error() string {
	if e.Zero {
		return fmt.Sprintf("column %d is zero", e.Column)
	}
	return fmt.Sprintf("column %d is a linear combination of columns %v", e.Column, e.With)
}

// dependent is the share of a column's length that the columns before it must leave:
// below it, rounding of the column itself (1e-16) leaves fewer than six digits.
const dependent = 1e-10

// NewBasis prepares H (n×h), or the projections of its columns that a likelihood sees.
// variance[j] is the prior variance of β_j, +Inf for a flat prior. The error is a
// *RankError where the flat columns are linearly dependent. Entries of H must be finite.
// It takes 2nh² flops.
func NewBasis(h *mat.Dense, variance []float64) (*Basis, error) {
	n, cols := h.Dims()
	if len(variance) != cols {
		panic(fmt.Sprintf("regress: NewBasis: len(variance) = %d, want %d", len(variance), cols))
	}
	b := &Basis{Q: mat.NewDense(n, cols, nil), T: mat.NewDense(cols, cols, nil), flat: make([]bool, cols)}
	var done []int        // flat columns so far
	var basis [][]float64 // their orthonormal columns
	for j, v := range variance {
		q := mat.Col(nil, j, h)
		if !math.IsInf(v, 1) {
			sd := math.Sqrt(v)
			floats.Scale(sd, q)
			b.Q.SetCol(j, q)
			b.T.Set(j, j, sd)
			continue
		}
		b.flat[j] = true
		b.count++
		length := floats.Norm(q, 2)
		if length == 0 {
			return nil, &RankError{Column: j, Zero: true}
		}
		floats.Scale(1/length, q)
		r := make([]float64, len(done)) // what q has of the columns before
		for range 2 {                   // again, against rounding
			for i, p := range basis {
				c := floats.Dot(p, q)
				floats.AddScaled(q, -c, p)
				r[i] += c
			}
		}
		rest := floats.Norm(q, 2)
		if !(rest > dependent) {
			e := &RankError{Column: j}
			for i, c := range combination(b.T, done, r) {
				if math.Abs(c)*columnNorm(h, done[i]) > 1e-6*length {
					e.With = append(e.With, done[i])
				}
			}
			return nil, e
		}
		floats.Scale(1/rest, q)
		b.Q.SetCol(j, q)
		// q = (h_j/length − Σ r_i q_i)/rest, and q_i = HT_i.
		b.T.Set(j, j, 1/(length*rest))
		for i, c := range combination(b.T, done, r) {
			b.T.Set(done[i], j, -c/rest)
		}
		done, basis = append(done, j), append(basis, q)
	}
	return b, nil
}

// combination returns the coefficients of Σ r_i q_i in the columns of H.
func combination(t *mat.Dense, done []int, r []float64) []float64 {
	c := make([]float64, len(done))
	for i, ri := range r {
		for k, j := range done {
			c[k] += t.At(j, done[i]) * ri
		}
	}
	return c
}

func columnNorm(h *mat.Dense, j int) float64 { return floats.Norm(mat.Col(nil, j, h), 2) }

// Len returns h, the number of columns, and Flat how many of them have a flat prior.
func (b *Basis) Len() int  { return len(b.flat) }
func (b *Basis) Flat() int { return b.count }

// IsFlat reports whether column j has a flat prior.
func (b *Basis) IsFlat(j int) bool { return b.flat[j] }

// Apply returns h*T: rows of H at other inputs in the coordinates of Q.
func (b *Basis) Apply(h mat.Matrix) *mat.Dense {
	var q mat.Dense
	q.Mul(h, b.T)
	return &q
}

// missing is the share of the squared length of a flat column of Q below which rows count as
// saying nothing of it: rounding of Q leaves 1e-16 where there is nothing.
const missing = 1e-12

// Lost returns a flat column that the rows of H do not determine without those left out, and
// whether there is one. These have the Gram matrix I − Q_BᵀQ_B, Q_B the rows left out: the
// column is where elimination finds nothing left of its diagonal. It takes O(bh² + h³).
func (b *Basis) Lost(rows []int) (column int, lost bool) {
	var flat []int
	for j, is := range b.flat {
		if is {
			flat = append(flat, j)
		}
	}
	l := make([][]float64, len(flat)) // the Cholesky factor
	for p, i := range flat {
		l[p] = make([]float64, p+1)
		for q, j := range flat[:p+1] {
			var v float64
			if p == q {
				v = 1
			}
			for _, r := range rows {
				v -= b.Q.At(r, i) * b.Q.At(r, j)
			}
			for k := range q {
				v -= l[p][k] * l[q][k]
			}
			switch {
			case p > q:
				l[p][q] = v / l[q][q]
			case !(v > missing):
				return i, true
			default:
				l[p][p] = math.Sqrt(v)
			}
		}
	}
	return 0, false
}
