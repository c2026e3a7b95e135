package fourier

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// A Feature is a function on the circle: number 2m is cos 2πmφ, number 2m+1 is sin 2πmφ. (Number 1, sin 0, is zero.)
type Feature int

// Cos returns the feature cos 2πmφ.
func Cos(m int) Feature { return Feature(2 * m) }

// Sin returns the feature sin 2πmφ.
func Sin(m int) Feature { return Feature(2*m + 1) }

// Frequency returns m.
func (f Feature) Frequency() int { return int(f) / 2 }

// IsSin reports whether f is a sine.
func (f Feature) IsSin() bool { return f&1 == 1 }

// Moments holds the sums t_m = Σ_i w_i cos 2πmφ_i, u_m = Σ_i w_i sin 2πmφ_i for m = 0, 1, …, by turns (entry f belongs to
// Feature f), as Sums returns them for one column of weights. All products of features up to frequency M follow from the
// moments up to 2M.
type Moments []float64

// Moments returns the moments of the points, all weights 1, at the frequencies 0 … m, each within tol·n.
func (p *Points) Moments(m int, tol float64) Moments {
	ones := dense.AsColumn(slices.Repeat([]float64{1}, p.N()))
	t := dense.New(2*(m+1), 1)
	p.Sums(t, ones, 0, tol)
	return t.Data
}

// Gram sets dst[a][b] = Σ_i w_i rows[a](φ_i)·cols[b](φ_i), by
//
//	Σ w cos m cos m′ = ½(t_{m−m′} + t_{m+m′})
//	Σ w sin m sin m′ = ½(t_{m−m′} − t_{m+m′})
//	Σ w sin m cos m′ = ½(u_{m+m′} + u_{m−m′})
//
// where t is even and u odd: one block of the Toeplitz-plus-Hankel Gram matrix. The features may be any, in any order.
func (t Moments) Gram(dst blas64.General, rows, cols []Feature) {
	if dst.Rows != len(rows) || dst.Cols != len(cols) {
		panic(fmt.Sprintf("fourier: a %d×%d block for %d×%d features", dst.Rows, dst.Cols, len(rows), len(cols)))
	}
	for i, a := range rows {
		d := dst.Data[i*dst.Stride:][:len(cols)]
		for j, b := range cols {
			m, n, u := int(a&^1), int(b&^1), int((a^b)&1) // 2m, 2m′, and 1 for an entry of u
			plus, minus := t[m+n+u], 0.0
			if m >= n {
				minus = t[m-n+u]
			} else if minus = t[n-m+u]; u == 1 {
				minus = -minus
			}
			switch {
			case !b.IsSin():
				d[j] = 0.5 * (plus + minus)
			case a.IsSin():
				d[j] = 0.5 * (minus - plus)
			default:
				d[j] = 0.5 * (plus - minus)
			}
		}
	}
}

// Mirrored holds moments at the frequencies −m … m, with t even and u odd in them: products of a feature with a run of
// features become products of vectors.
type Mirrored struct {
	t, u   []float64
	middle int // the place of frequency 0
}

// Set sets the moments.
func (s *Mirrored) Set(of Moments) {
	s.middle = len(of)/2 - 1
	s.t, s.u = dense.Resize(s.t, 2*s.middle+1), dense.Resize(s.u, 2*s.middle+1)
	for m := 0; m <= s.middle; m++ {
		t, u := of[2*m], of[2*m+1]
		s.t[s.middle+m], s.t[s.middle-m] = t, t
		s.u[s.middle+m], s.u[s.middle-m] = u, -u
	}
	s.u[s.middle] = 0
}

// Along sets dst, a column, to scale times the sums Σ_i w_i·row(φ_i)·Σ_k weights_k·cols_k(φ_i) for each of the rows, as
// Moments.Gram does. The columns are the run that begins with first: cosines, or sines, of consecutive frequencies.
func (s *Mirrored) Along(dst blas64.Vector, rows []Feature, first Feature, weights []float64, scale float64) {
	from := s.middle + first.Frequency()
	for i, a := range rows {
		of, n := s.t, a.Frequency()
		if a.IsSin() != first.IsSin() {
			of = s.u
		}
		plus, minus := floats.Dot(weights, of[from+n:][:len(weights)]), floats.Dot(weights, of[from-n:][:len(weights)])
		switch { // minus is the frequency of the column minus the row's
		case !a.IsSin():
			plus += minus
		case first.IsSin():
			plus = minus - plus
		default:
			plus -= minus
		}
		dst.Data[i*dst.Inc] = 0.5 * scale * plus
	}
}
