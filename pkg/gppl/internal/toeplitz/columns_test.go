package toeplitz

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"
)

// indicators are two full columns of n entries and some of three entries each, all zero in the missing rows.
func indicators(n, sparse int, missing []int) blas64.General {
	rnd := rand.New(rand.NewPCG(uint64(n), 9))
	c := dense.New(2+sparse, n)
	for i := range n {
		c.Data[i], c.Data[n+i] = rnd.NormFloat64(), 1
	}
	for j := range sparse {
		for range 3 {
			c.Data[(2+j)*n+rnd.IntN(n)] = 0.5
		}
	}
	c.Data[2*n], c.Data[3*n-1] = 1, 2 // the ends
	for _, i := range missing {
		for j := range c.Rows {
			c.Data[j*n+i] = 0
		}
	}
	return c
}

// TestSparseColumns: solutions, products and sums of sparse columns equal those for full ones, up to the effect of rounding A.
func TestSparseColumns(t *testing.T) {
	var w Workspace
	for _, n := range []int{7, 40, 301, testkit.Size(560, 700, 1500)} {
		for name, k := range columns {
			for _, noise := range []float64{1, 1e-3, 1e-8} {
				for _, m := range []int{0, min(5, n/4)} {
					missing := drop(n, m, uint64(n))
					c, a := indicators(n, 6, missing), column(n, k, noise)
					var f Factor
					if err := f.Factorise(a, missing, &w); err != nil {
						t.Fatal(name, noise, err)
					}
					norm := -a[0]
					for _, v := range a {
						norm += 2 * math.Abs(v)
					}
					r := dense.New(c.Rows, c.Rows)
					for i := range r.Rows {
						for j := range r.Cols {
							r.Data[i*r.Stride+j] = math.Cos(float64(1 + i + 3*j))
						}
					}
					var full, sparse Solutions
					g, gs := dense.New(c.Rows, c.Rows), dense.New(c.Rows, c.Rows)
					sums, sumsSparse := make([]float64, n), make([]float64, n)
					f.SolveColumns(&full, NewColumns(c), &w)
					full.Gram(g)
					f.CombinedSums(sums, &full, r, &w)
					f.SolveColumns(&sparse, NewSparseColumns(c, 2), &w)
					sparse.Gram(gs)
					f.CombinedSums(sumsSparse, &sparse, r, &w)
					if err := f.Verify(&sparse, a); err != nil {
						t.Error(name, noise, err)
					}
					at := fmt.Sprintf("n=%d/%s/noise=%g/missing=%d", n, name, noise, m)
					// A change of A by ΔA changes products of columns by |A⁻¹c|·|ΔA|·|A⁻¹c′|.
					moved := 64 * eps * norm
					var worst, size float64
					for i := range c.Rows {
						ai := blas64.Nrm2(dense.Row(full.Alpha, i))
						size += ai * ai
						for j := range c.Rows {
							off := math.Abs(gs.Data[i*gs.Stride+j] - g.Data[i*g.Stride+j])
							worst = max(worst, off/(moved*ai*blas64.Nrm2(dense.Row(full.Alpha, j))))
						}
					}
					if worst > 1 {
						t.Errorf("%s: products are off by %.2g of what a rounding of A changes", at, worst)
					}
					var most float64
					for d := range sums {
						most = max(most, math.Abs(sums[d]-sumsSparse[d]))
					}
					if limit := 64 * moved * size * float64(c.Rows) / noise; most > limit {
						t.Errorf("%s: sums are off by %.2g, more than %.2g", at, most, limit)
					}
				}
			}
		}
	}
}

// TestSparseVerify: a sparse solution that is off is seen.
func TestSparseVerify(t *testing.T) {
	var w Workspace
	var f Factor
	var s Solutions
	a := column(600, columns["RQ"], 0.1)
	if err := f.Factorise(a, nil, &w); err != nil {
		t.Fatal(err)
	}
	f.x[300] += 1e-4 * f.x[0]
	f.SolveColumns(&s, NewSparseColumns(indicators(600, 6, nil), 2), &w)
	s.Rest = dense.New(0, 600) // the full columns are checked too
	if err := f.Verify(&s, a); err == nil {
		t.Error("rows of A⁻¹ are wrong, and nobody noticed")
	}
}

// BenchmarkColumns is a value and its derivatives with 40 columns of three entries each, by their entries and by transforms.
func BenchmarkColumns(b *testing.B) {
	for _, n := range []int{400, 1000, 3319} {
		a, c := column(n, columns["RQ"], 0.1), indicators(n, 40, nil)
		r := dense.New(c.Rows, c.Rows)
		dense.AddDiagonal(r, 1)
		for _, rhs := range []struct {
			name string
			*Columns
		}{{"full", NewColumns(c)}, {"sparse", NewSparseColumns(c, 2)}} {
			b.Run(fmt.Sprintf("n=%d/%s", n, rhs.name), func(b *testing.B) {
				var w Workspace
				var f Factor
				var s Solutions
				g, sums := dense.New(c.Rows, c.Rows), make([]float64, n)
				b.ReportAllocs()
				for b.Loop() {
					if err := f.Factorise(a, nil, &w); err != nil {
						b.Fatal(err)
					}
					f.SolveColumns(&s, rhs.Columns, &w)
					s.Gram(g)
					f.CombinedSums(sums, &s, r, &w)
				}
			})
		}
	}
}
