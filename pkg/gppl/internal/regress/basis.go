// Package regress is the algebra of a linear regression under correlated errors:
//
//	y = Hβ + e,  e ~ N(0, A),  β_j ~ N(0, b_j) or flat,
//
// after A has been factorised. It uses A only through G = CᵀA⁻¹C, C = [y, Q], a matrix of the size of the basis, so every
// factorisation with a solve can use it. It is independent of Gaussian processes.
// Sources: Rasmussen and Williams 2006, section 2.7; Harville 1974 for the restricted
// likelihood; Demmel and Veselić 1992 for Jacobi's method, which keeps small singular values.
package regress

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// A Basis is H in coordinates in which the algebra is well conditioned: Q = HT, β = Tγ, up to flat columns. The columns of Q
// are orthogonal. Flat ones are orthonormal, and γ has the prior N(0, 1) for the others, for any condition of H: T is
// computed, and applied, in double-double. A Basis is immutable.
type Basis struct {
	Q     *mat.Dense // n×h; the flat columns are where H has them
	T     *mat.Dense // h×h, rounded
	wide  [][]doubled.Float
	flat  []bool
	count int // number of flat columns

	// Sparse is Q as a product with columns that are nearly all zero, such as indicators of single days; nil if too few are.
	Sparse *Sparse
}

// RankError says that a flat column of H is, on these rows, a linear combination of the flat columns before it.
type RankError struct {
	Column int
	Zero   bool  // the column is zero
	With   []int // the columns of the combination
}

func (e *RankError) Error() string {
	if e.Zero {
		return fmt.Sprintf("column %d is zero", e.Column)
	}
	return fmt.Sprintf("column %d is a linear combination of columns %v", e.Column, e.With)
}

const (
	// dependent is the least share of a flat column's length that must remain after projecting out the columns before it:
	// below it, rounding of the column itself (1e-16) leaves fewer than six digits.
	dependent = 1e-10
	// nothing is the share of the length of a column with a Gaussian prior that counts as rounding of double-double: there is
	// no such direction.
	nothing = 1e-28
)

// NewBasis prepares H (n×h), or the projections of its columns. variance[j] is the prior variance of β_j, +Inf for a flat
// prior. NewBasis returns a *RankError if the flat columns are linearly dependent. Entries of H must be finite.
//
// With the flat columns F = Q_FR_F and the others, times their standard deviations, GS = Q_FR_FG +
// Q_GR_G, R_FG only adds to flat coefficients, and the singular values R_G = UΣVᵀ make the priors
// independent: Q = [Q_F, Q_GUΣ]. It takes 2nh² multiply-adds of double-double. Once ctx has ended, the error wraps ctx's.
func NewBasis(ctx context.Context, h *mat.Dense, variance []float64) (b *Basis, err error) {
	defer parallel.Stopped(&err)
	n, cols := h.Dims()
	if len(variance) != cols {
		panic(fmt.Sprintf("regress: NewBasis: len(variance) = %d, want %d", len(variance), cols))
	}
	b = &Basis{Q: mat.NewDense(n, cols, nil), T: mat.NewDense(cols, cols, nil), wide: newWide(cols, cols), flat: make([]bool, cols)}
	var flat, normal []int
	for j, v := range variance {
		if b.flat[j] = math.IsInf(v, 1); b.flat[j] {
			flat = append(flat, j)
		} else {
			normal = append(normal, j)
		}
	}
	b.count = len(flat)
	var basis [][]doubled.Float // the orthonormal columns of F
	for _, j := range flat {
		q, unit := wideColumn(h, j)
		length := norm(q)
		if length.Hi == 0 {
			return nil, &RankError{Column: j, Zero: true}
		}
		r := orthogonalise(ctx, q, basis)
		rest := norm(q)
		if !(rest.Hi > dependent*length.Hi) {
			e := &RankError{Column: j}
			for i, c := range b.combination(flat[:len(basis)], r) {
				if math.Abs(c.Hi)*columnNorm(h, flat[i]) > 1e-6*length.Hi {
					e.With = append(e.With, flat[i])
				}
			}
			return nil, e
		}
		// q = (h_j/unit − Σ r_i q_i)/rest, and q_i = HT_i.
		inverse := doubled.Of(1).Div(rest)
		scale(q, inverse)
		b.wide[j][j] = inverse.Scale(1 / unit)
		for i, c := range b.combination(flat[:len(basis)], r) {
			b.wide[j][flat[i]] = c.Mul(inverse).Neg()
		}
		setColumn(b.Q, j, q)
		basis = append(basis, q)
	}
	b.normal(ctx, h, variance, flat, normal, basis)
	for j := range cols {
		for i := range cols {
			b.T.Set(i, j, b.wide[j][i].Hi)
		}
	}
	b.Sparse = b.sparse(ctx, h, variance)
	return b, nil
}

// normal sets the columns of Q and T that have Gaussian priors.
func (b *Basis) normal(ctx context.Context, h *mat.Dense, variance []float64, flat, normal []int, basis [][]doubled.Float) {
	k := len(normal)
	r, v := newWide(k, k), newWide(k, k) // R_G, then UΣ; V
	shared := make([][]doubled.Float, k) // R_FG
	var own [][]doubled.Float            // Q_G
	var most float64                     // unit of R, against overflow of squares
	for _, j := range normal {
		most = max(most, math.Sqrt(variance[j])*columnNorm(h, j))
	}
	whole := math.Ldexp(1, math.Ilogb(max(most, math.SmallestNonzeroFloat64)))
	for p, j := range normal {
		v[p][p] = doubled.Of(1)
		q, unit := wideColumn(h, j)
		weight := doubled.Of(math.Sqrt(variance[j])).Scale(unit / whole)
		length := norm(q)
		shared[p] = orthogonalise(ctx, q, basis)
		copy(r[p], orthogonalise(ctx, q, own))
		rest := norm(q)
		if rest.Hi > nothing*length.Hi {
			r[p][p] = rest
			scale(q, doubled.Of(1).Div(rest))
		} else {
			clear(q)
		}
		own = append(own, q)
		scale(r[p], weight)
		scale(shared[p], weight)
	}
	jacobi(ctx, r, v)
	n, _ := h.Dims()
	q := make([]doubled.Float, n)
	for p, j := range normal {
		clear(q)
		for i, column := range own {
			parallel.Look(ctx)
			addScaled(q, r[p][i].Scale(whole), column)
		}
		setColumn(b.Q, j, q)
		back := make([]doubled.Float, len(flat)) // R_FG V
		for i, of := range normal {
			b.wide[j][of] = v[p][i].Times(math.Sqrt(variance[of]))
			addScaled(back, v[p][i].Scale(whole), shared[i])
		}
		for i, c := range b.combination(flat, back) {
			b.wide[j][flat[i]] = c.Neg()
		}
	}
}

// jacobi rotates the columns of r until they are orthogonal, and the columns of v with them. It panics with a parallel.Stop once
// ctx has ended.
func jacobi(ctx context.Context, r, v [][]doubled.Float) {
	const (
		sweeps     = 40    // limit; convergence is quadratic after some six
		orthogonal = 1e-18 // exceeds the digits of Q in float64
	)
	for range sweeps {
		done := true
		for q := range r {
			parallel.Look(ctx)
			for p := range q {
				a, b, c := doubled.Dot(r[p], r[p]).Hi, doubled.Dot(r[q], r[q]).Hi, doubled.Dot(r[p], r[q]).Hi
				if !(math.Abs(c) > orthogonal*math.Sqrt(a)*math.Sqrt(b)) {
					continue
				}
				done = false
				zeta := (b - a) / (2 * c)
				tangent := math.Copysign(1/(math.Abs(zeta)+math.Hypot(1, zeta)), zeta)
				t := doubled.Of(tangent)
				cos := doubled.Of(1).Div(doubled.Of(1).Add(t.Mul(t)).Sqrt())
				rotatePair(r[p], r[q], cos, cos.Mul(t))
				rotatePair(v[p], v[q], cos, cos.Mul(t))
			}
		}
		if done {
			return
		}
	}
}

// rotatePair replaces p and q by cos·p − sin·q and sin·p + cos·q.
func rotatePair(p, q []doubled.Float, cos, sin doubled.Float) {
	for i := range p {
		a, b := p[i], q[i]
		p[i] = cos.Mul(a).Sub(sin.Mul(b))
		q[i] = sin.Mul(a).Add(cos.Mul(b))
	}
}

// orthogonalise subtracts from q its projection on the columns of basis, and returns the coefficients. It panics with a
// parallel.Stop once ctx has ended.
func orthogonalise(ctx context.Context, q []doubled.Float, basis [][]doubled.Float) []doubled.Float {
	r := make([]doubled.Float, len(basis))
	for i, p := range basis {
		parallel.Look(ctx)
		r[i] = doubled.Dot(p, q)
		addScaled(q, r[i].Neg(), p)
	}
	return r
}

// combination returns the coefficients of Σ r_i q_i in the flat columns of H.
func (b *Basis) combination(flat []int, r []doubled.Float) []doubled.Float {
	c := make([]doubled.Float, len(flat))
	for i, ri := range r {
		for k, j := range flat {
			c[k] = c[k].Add(b.wide[flat[i]][j].Mul(ri))
		}
	}
	return c
}

// newWide returns columns of zeros.
func newWide(rows, cols int) [][]doubled.Float {
	columns := make([][]doubled.Float, cols)
	for j := range columns {
		columns[j] = make([]doubled.Float, rows)
	}
	return columns
}

// wideColumn returns a column of H with a power of two as unit, so its entries are at most 2.
func wideColumn(h *mat.Dense, j int) (q []doubled.Float, unit float64) {
	n, _ := h.Dims()
	var most float64
	for i := range n {
		most = max(most, math.Abs(h.At(i, j)))
	}
	unit = 1
	if most > 0 {
		unit = math.Ldexp(1, max(-1000, math.Ilogb(most))) // 1/unit is finite
	}
	q = make([]doubled.Float, n)
	for i := range q {
		q[i] = doubled.Of(h.At(i, j) / unit)
	}
	return q, unit
}

func setColumn(q *mat.Dense, j int, column []doubled.Float) {
	for i, v := range column {
		q.Set(i, j, v.Hi)
	}
}

func addScaled(dst []doubled.Float, c doubled.Float, x []doubled.Float) {
	for i, v := range x {
		dst[i] = dst[i].Add(c.Mul(v))
	}
}

func scale(x []doubled.Float, by doubled.Float) {
	for i, v := range x {
		x[i] = v.Mul(by)
	}
}

func norm(x []doubled.Float) doubled.Float { return doubled.Dot(x, x).Sqrt() }

func columnNorm(h *mat.Dense, j int) float64 { return floats.Norm(mat.Col(nil, j, h), 2) }

// Len returns h, the number of columns.
func (b *Basis) Len() int { return len(b.flat) }

// IsFlat reports whether column j has a flat prior.
func (b *Basis) IsFlat(j int) bool { return b.flat[j] }

// Apply returns h*T: rows of H at other inputs in the coordinates of Q.
func (b *Basis) Apply(h mat.Matrix) *mat.Dense {
	n, cols := h.Dims()
	q, row := mat.NewDense(n, cols, nil), make([]doubled.Float, cols)
	for i := range n {
		for j := range row {
			row[j] = doubled.Of(h.At(i, j))
		}
		for j := range cols {
			q.Set(i, j, doubled.Dot(row, b.wide[j]).Hi)
		}
	}
	return q
}

// After returns b, a basis of the columns of first.Q in another likelihood, in terms of the columns of H: T = T_first·T_b.
func (b *Basis) After(first *Basis) *Basis {
	c, cols := *b, b.Len()
	c.T, c.wide = mat.NewDense(cols, cols, nil), newWide(cols, cols)
	for j := range cols {
		for i, w := range b.wide[j] {
			addScaled(c.wide[j], w, first.wide[i])
		}
		setColumn(c.T, j, c.wide[j])
	}
	return &c
}

// Shift returns γ₀, the least-squares fit of the columns to y, and the remainder of y. Likelihoods do not change by the shift
// (NewFit receives γ₀), and the part that the mean explains does not cancel in them. h is the H of the basis. Coefficients
// above √n of their prior standard deviations are left out: there the prior explains y. Shift panics with a parallel.Stop once
// ctx has ended.
func (b *Basis) Shift(ctx context.Context, h mat.Matrix, y []float64) (gamma0, rest []float64) {
	n, cols := b.Q.Dims()
	gamma0, rest = make([]float64, cols), slices.Clone(y)
	lengths := make([]float64, cols)
	for j := range lengths {
		parallel.Look(ctx)
		lengths[j] = columnNorm(b.Q, j)
	}
	beta := make([]doubled.Float, cols)
	for range 2 { // again, against rounding
		for j, length := range lengths {
			parallel.Look(ctx)
			if length == 0 {
				continue
			}
			var g float64
			for i, v := range rest {
				g += b.Q.At(i, j) / length * v
			}
			if g /= length; b.flat[j] || math.Abs(gamma0[j]+g) <= math.Sqrt(float64(n)) {
				gamma0[j] += g
			}
		}
		clear(beta)
		for j, g := range gamma0 {
			addScaled(beta, doubled.Of(g), b.wide[j])
		}
		for i := range rest {
			if i%lookRows == 0 {
				parallel.Look(ctx)
			}
			v := doubled.Of(y[i])
			for j, c := range beta {
				v = v.Sub(c.Times(h.At(i, j)))
			}
			rest[i] = v.Hi
		}
	}
	return gamma0, rest
}

// lookRows rows of a thousand columns take some 10 ms.
const lookRows = 1024

// ShiftRounded is Shift with Q as rounded, in float64: y − Qγ₀ has the error of y itself, if the columns of H are no worse
// conditioned than Q.
func (b *Basis) ShiftRounded(y []float64) (gamma0, rest []float64) {
	q := b.Q.RawMatrix()
	gamma0, rest = make([]float64, q.Cols), slices.Clone(y)
	for j := range gamma0 {
		var sum, squares float64
		for i, v := range rest {
			w := q.Data[i*q.Stride+j]
			sum, squares = sum+w*v, squares+w*w
		}
		if squares == 0 {
			continue
		}
		if g := sum / squares; b.flat[j] || math.Abs(g) <= math.Sqrt(float64(len(y))) {
			gamma0[j] = g
			for i := range rest {
				rest[i] -= q.Data[i*q.Stride+j] * g
			}
		}
	}
	return gamma0, rest
}

// missing is the share of the squared length of a flat column of Q below which rows count as carrying no information on it:
// rounding of Q leaves 1e-16.
const missing = 1e-12

// Lost returns a flat column that the rows of H do not determine without those left out, and whether there is one. The
// remaining rows have the Gram matrix I − Q_BᵀQ_B, Q_B the rows left out: elimination leaves nothing of the column's diagonal
// entry. Lost takes O(bh² + h³).
func (b *Basis) Lost(rows []int) (column int, lost bool) {
	var flat []int
	for i, is := range b.flat {
		if is {
			flat = append(flat, i)
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
