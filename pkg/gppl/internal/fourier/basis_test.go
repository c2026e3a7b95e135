package fourier

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// ladder is k features at the frequencies of gppl's Spectral design, j − 2·log(1 + δj/2)
// cycles per range, δ = 1 − 1/1.08, rounded to parts of a cycle.
func ladder(k, parts int) []Feature {
	features := []Feature{Cos(0)}
	for j := 1; len(features) < k; j++ {
		m := int(math.Round(float64(parts) * (float64(j) - 2*math.Log1p((1-1/1.08)*float64(j)/2))))
		features = append(features, Cos(m), Sin(m))
	}
	return features[:k]
}

const parts = 16 // parts of a cycle per range

// basisPoints returns points in [0, 1] of a circle of 16.
func basisPoints(n int) *Points {
	rnd := rand.New(rand.NewPCG(uint64(n), 2))
	return NewPoints(fill(n, func(int) float64 { return rnd.Float64() }), 0, parts)
}

// featureMatrix returns the features at the points.
func featureMatrix(p *Points, features []Feature) blas64.General {
	w := dense.New(p.N(), len(features))
	for i := range w.Rows {
		for j, f := range features {
			sin, cos := p.sincos(i, float64(f.Frequency()))
			if w.Data[i*w.Stride+j] = cos; f.IsSin() {
				w.Data[i*w.Stride+j] = sin
			}
		}
	}
	return w
}

func highest(features []Feature) int {
	return slices.Max(features).Frequency()
}

// TestBasis forms Q after all: it is orthonormal, spans the features in their order, and
// products with it are what Product and Project say.
func TestBasis(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {30, 7}, {500, 20}, {3000, 100}} {
		n, k := c[0], c[1]
		t.Run(fmt.Sprintf("n=%d/k=%d", n, k), func(t *testing.T) {
			features := ladder(k, parts)
			p := basisPoints(n)
			far := parts * k // exceeds the resolution of the design
			m := p.Moments(max(2*highest(features), far+highest(features)), 1e-15)
			b := m.Basis(t.Context(), features, 1e4)
			if len(b.Features()) != k {
				t.Fatalf("%d of %d features are kept", len(b.Features()), k)
			}
			tol := 4e-15 * b.Condition() * b.Condition()

			q := dense.New(n, k)
			b.At(q, p)
			gram := dense.New(k, k)
			blas64.Gemm(blas.Trans, blas.NoTrans, 1, q, q, 0, gram)
			for i := range k {
				for j := range k {
					want := 0.0
					if i == j {
						want = 1
					}
					if e := math.Abs(gram.Data[i*k+j] - want); !(e <= tol) {
						t.Fatalf("QᵀQ[%d][%d] = %v: off by %.2g, want %.2g", i, j, gram.Data[i*k+j], e, tol)
					}
				}
			}
			// Column j of W has no part along columns of Q beyond j.
			w := featureMatrix(p, features)
			along := dense.New(k, k)
			blas64.Gemm(blas.Trans, blas.NoTrans, 1, q, w, 0, along)
			for i := range k {
				for j := range i {
					if e := math.Abs(along.Data[i*k+j]); !(e <= tol*math.Sqrt(float64(n))) {
						t.Fatalf("feature %d has %.2g of column %d", j, e, i)
					}
				}
			}

			rows := []Feature{Cos(0), Cos(3), Sin(3), Cos(far), Sin(far)}
			got, want := dense.New(len(rows), k), dense.New(len(rows), k)
			b.Product(got, m, rows)
			blas64.Gemm(blas.Trans, blas.NoTrans, 1, featureMatrix(p, rows), q, 0, want)
			for i, v := range got.Data {
				if e := math.Abs(v - want.Data[i]); !(e <= tol*math.Sqrt(float64(n))) {
					t.Fatalf("product %d: %v, want %v", i, v, want.Data[i])
				}
			}

			y := dense.New(n, 1)
			for i := range y.Data {
				y.Data[i] = math.Cos(float64(i * i))
			}
			sums := dense.New(2*(highest(features)+1), 1)
			p.Sums(sums, y, 0, 1e-15)
			z, direct := make([]float64, k), make([]float64, k)
			b.Project(z, sums.Data)
			blas64.Gemv(blas.Trans, 1, q, dense.Vec(y.Data), 0, dense.Vec(direct))
			for i, v := range z {
				if e := math.Abs(v - direct[i]); !(e <= tol*math.Sqrt(float64(n))) {
					t.Fatalf("Qᵀy[%d] = %v, want %v", i, v, direct[i])
				}
			}
		})
	}
}

// TestBasisDependent: features are left out if they depend on others in many digits, even
// if all pivots are large, and if they exceed the number of points.
func TestBasisDependent(t *testing.T) {
	check := func(n, k, least, most int) {
		t.Helper()
		features := ladder(k, parts)
		p := basisPoints(n)
		b := p.Moments(2*highest(features), 1e-15).Basis(t.Context(), features, 1e3)
		kept := len(b.Features())
		if kept < least || kept > most {
			t.Errorf("n=%d: %d of %d features are kept, want %d to %d", n, kept, k, least, most)
		}
		q, gram := dense.New(n, kept), dense.New(kept, kept)
		b.At(q, p)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, q, q, 0, gram)
		for i := range kept {
			gram.Data[i*kept+i]--
		}
		if e, most := blas64.Nrm2(dense.Vec(gram.Data)), 1e-14*b.Condition()*b.Condition(); !(e <= most) {
			t.Errorf("n=%d: ‖QᵀQ − I‖ = %.2g, want %.2g", n, e, most)
		}
		t.Logf("n=%d: %d of %d features, condition %.2g", n, kept, k, b.Condition())
	}
	check(5000, 460, 440, 459)
	check(20, 60, 12, 20)
	features := []Feature{Cos(0), Sin(0), Cos(5), Cos(5), Sin(5)}
	b := basisPoints(100).Moments(10, 1e-15).Basis(t.Context(), features, 1e4)
	if want := []Feature{Cos(0), Cos(5), Sin(5)}; !slices.Equal(b.Features(), want) {
		t.Errorf("kept %v, want %v", b.Features(), want)
	}
}

// TestBasisNested: the basis of the first features is the first part of the basis of more
// features, to the last digit.
func TestBasisNested(t *testing.T) {
	features := ladder(90, parts)
	p := basisPoints(400)
	m := p.Moments(2*highest(features), 1e-15)
	few, more := m.Basis(t.Context(), features[:60], 1e4), m.Basis(t.Context(), features, 1e4)
	rows := []Feature{Cos(7), Sin(100)}
	a, b := dense.New(2, 60), dense.New(2, len(more.Features()))
	few.Product(a, m, rows)
	more.Product(b, m, rows)
	for i := range rows {
		if !slices.Equal(a.Data[i*60:][:60], b.Data[i*b.Stride:][:60]) {
			t.Errorf("row %d differs", i)
		}
	}
}

// BenchmarkBasis is all that PL needs of n points: moments, basis, Qᵀy, and products with
// the features of a kernel.
func BenchmarkBasis(b *testing.B) {
	for _, c := range [][3]int{{10000, 100, 500}, {1000000, 100, 500}, {1000000, 400, 2000}} {
		n, k, waves := c[0], c[1], c[2]
		b.Run(fmt.Sprintf("n=%d/k=%d/M=%d", n, k, waves), func(b *testing.B) {
			p := basisPoints(n)
			y := dense.New(n, 1)
			for i := range y.Data {
				y.Data[i] = float64(i%17) - 8
			}
			features := ladder(k, parts)
			var rows []Feature
			for m := range waves {
				rows = append(rows, Cos(8*m), Sin(8*m)) // waves of a period of twice the range
			}
			b.ReportAllocs()
			for b.Loop() {
				m := p.Moments(8*waves+highest(features), 1e-15)
				q := m.Basis(b.Context(), features, 1e4)
				kept := len(q.Features())
				sums, z := dense.New(2*(highest(features)+1), 1), make([]float64, kept)
				p.Sums(sums, y, 0, 1e-15)
				q.Project(z, sums.Data)
				q.Product(dense.New(len(rows), kept), m, rows)
			}
		})
	}
}
