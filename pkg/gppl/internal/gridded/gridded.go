// Package gridded does the linear algebra of A = K + σ²I over n scalars t_i, where
//
//	K_ij = k(t_i − t_j),   k(τ) = Σ_m c_m cos(2πmτ/P),   c_m ≥ 0, m = 0 … M,
//
// for functions k that are smooth and decay, such as v·exp(−τ²/2l²): log|A|, yᵀA⁻¹y, their derivatives, and the factors of
// predictions at new points. The t_i may lie anywhere, in any order, close together or equal. They enter through sums alone,
//
//	E_j = Σ_i exp(2πij·t_i/P), j ≤ 2M,   F_j = Σ_i y_i·exp(2πij·t_i/P), j ≤ M,   Σ_i y_i²,
//
// which package fourier computes once. From then on, a factorisation takes time and memory proportional to T/l, the range over
// the scale of k, whatever n is. Nothing is approximated beyond the rounding error.
//
// # A local basis
//
// Let s_0 = √c_0, s_m = s_(−m) = √(c_m/2), and let a grid on the period have p ≥ 2M + 1 points x_g = gP/p. The function
//
//	r(τ) = p^(−½)·Σ_(|m|≤M) s_m·exp(2πimτ/P)
//
// is a convolution root of k on that grid: since Σ_g exp(2πi(m−m′)g/p) = p·δ_mm′ for |m|, |m′| ≤ M,
//
//	Σ_g r(t − x_g)·r(t′ − x_g) = Σ_m s_m²·exp(2πim(t−t′)/P) = k(t − t′).
//
// So K = BBᵀ with B_ig = r(t_i − x_g). By Sylvester's identity and the matrix inversion lemma
//
//	H = I + σ⁻²BᵀB (p×p),  β = Bᵀy,  h = H⁻¹β
//	log|A| = n·log σ² + log|H|,   yᵀA⁻¹y = σ⁻²(yᵀy − σ⁻²βᵀh).
//
// This holds for any k. What matters is that r dies out: for k = v·exp(−τ²/2l²), r is
// a Gaussian of scale l/√2, which falls below 1e-15 of r(0) at 5.9l. So
//
//	(BᵀB)_gg′ = Σ_i r(t_i − x_g)·r(t_i − x_g′)
//
// is banded: r·r is below 1e-15 of its peak where |x_g − x_g′| > 8.3l. With coefficients down to 1e-30 of the largest, p =
// 3.74·P/l, the band has 31 entries on either side of the diagonal, and its Cholesky factorisation takes O(31²·p). H ≥ I, so the
// factorisation can fail only where σ² is lost in rounding.
//
// The grid is a circle, but the band must not wrap around it. So all t_i must keep a distance from both ends of the period that
// is at least the reach of r. Then no entry of BᵀB joins one end of the grid to the other.
//
// # H from the sums
//
// The function r(t − x_g)·r(t − x_g′) has frequencies up to 2M. The sum of any such
// function q over the points follows from the E_j, on any grid of N > 4M points:
//
//	Σ_i q(t_i) = (1/N)·Σ_a q(aP/N)·ρ_a,   ρ_a = E_0 + 2·Re Σ_(1≤j≤2M) conj(E_j)·exp(2πija/N).
//
// The finer grid N = 2p has the x_g at its even places, and the midpoint of any two of them at a place too. Let r_a be the values
// of r on it, Z the last place where r_a exceeds the tolerance, d = g′ − g, and f = g + g′ the place of the midpoint. Then
//
//	(BᵀB)_gg′ = (1/N)·Σ_(|z|≤Z−d) w_d(z)·ρ_(f+z),   w_d(z) = r_(d+z)·r_(d−z).
//
// For even f, and for odd f, this is a product of a matrix whose rows are windows of ρ with a small matrix w. β takes one FFT.
//
// # Derivatives
//
// With G = H⁻¹ within the band,
//
//	d(½log|A| + ½yᵀA⁻¹y) = Σ_gg′ ½σ⁻²(G + σ⁻⁴hhᵀ)_gg′·d(BᵀB)_gg′ − σ⁻⁴hᵀdβ   (σ fixed).
//
// The chain runs backwards: windows of ρ times the bands of G + σ⁻⁴hhᵀ give the derivatives with respect to w. From these follow
// the derivatives with respect to r_a and, by an FFT, with respect to s_m and c_m. They hold for changes of c that leave r short,
// as a change of v or l does, not for a change of a single c_m. Last, since Bσ⁻²h = y − σ²A⁻¹y,
//
//	tr A⁻¹ = σ⁻²(n − p + tr G),   |A⁻¹y|² = σ⁻⁴(yᵀy − σ⁻²βᵀh − σ⁻²hᵀh).
//
// # Prediction
//
// Let b(t) be the vector with entries r(t − x_g), and k(t) that with entries
// k(t − t_i). Then k(t)ᵀA⁻¹y = σ⁻²b(t)ᵀh and k(0) − k(t)ᵀA⁻¹k(t) = b(t)ᵀG·b(t), see
// [Predictor]. At the points of the data this gives A⁻¹ itself:
//
//	(A⁻¹y)_i = σ⁻²(y_i − σ⁻²b(t_i)ᵀh),   (A⁻¹)_ii = σ⁻²(1 − σ⁻²b(t_i)ᵀG·b(t_i)).
//
// # Weights
//
// With weights w_i in all sums, E_j, F_j and Σ w_i·y_i², everything holds for
// A = K + σ²·diag(1/w), except that log|A| lacks −Σ log w_i.
//
// # Accuracy
//
// What is left out of s, r and H is below tol of the largest entry. The effect on log|A| grows like tol·n·k(0)/σ², and so does
// rounding: see [Bound]. The c_m must be accurate to their own last digits, not only to the largest one's, since their
// roots enter: they must come from a formula, not from an FFT of k.
//
// How short r is depends on where √c, as a function of frequency, stops being analytic. The root of a Gaussian is a Gaussian. The
// root of a sum of two has branch points, and r dies out only exponentially: for scales 6 and 2 it reaches 125, where 36 suffice
// for the longer scale alone. For nearly periodic k it reaches further still.
//
// We know of no publication of this method. Related are equispaced Fourier features, O(M³) (Greengard, arXiv 2109.14081), and
// bases of compact support for Matérn kernels (Chen, Ding and Tuo 2022; Bolin et al., arXiv 2410.13000).
package gridded

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/banded"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Floor is the smallest useful tolerance: rounding of r reaches it.
const Floor = 1e-15

const (
	// RootReach is the ratio of the reach of the convolution root to the reach of a kernel with a Gaussian spectrum, with a
	// margin for a growing lengthscale.
	RootReach = 0.8
	// Spare is the number of frequencies beyond the bandwidth.
	Spare = 2
)

// Points holds the data of the t_i that Factorise needs.
type Points struct {
	N           int
	First, Last float64         // the smallest and the largest t_i/P, in [0, 1)
	Moments     fourier.Moments // Re E_j and Im E_j by turns
}

// Factor is a factorisation of A. It holds about 100p numbers for a Gaussian k. Methods other than Factorise leave it
// unchanged and may run at the same time, each with a Workspace of its own. The zero value is empty.
type Factor struct {
	points Points
	noise  float64
	count  int       // len(c)
	s      []float64 // s_0 … s_M
	p      int       // grid points
	reach  int       // Z: the last place of the finer grid with r_a ≠ 0
	band   int       // largest d with w_d ≠ 0
	r      []float64 // r_0 … r_Z
	bands  [2]blas64.General
	first  []int
	h      banded.Matrix
}

// Unresolved is the error of Factorise if the roots of the coefficients have not fallen below the tolerance at the last one.
// Tail is the last root relative to the largest.
type Unresolved struct{ Tail float64 }

func (e Unresolved) Error() string {
	return fmt.Sprintf("the roots of the coefficients end at %.2g of the largest: more frequencies are needed", e.Tail)
}

// Gap is the error of Factorise if points lie too close to an end of the period: Have is their distance from it, Need the reach
// of r, in periods. Need is infinite if r does not die out within the period.
type Gap struct{ Have, Need float64 }

func (e Gap) Error() string {
	return fmt.Sprintf("points lie within %.3g periods of an end of the period, but the convolution root reaches %.3g: a longer"+
		" period is needed", e.Have, e.Need)
}

// Negative is the error of Factorise for a coefficient below zero, or not finite.
type Negative struct {
	Frequency int
	Value     float64
}

func (e Negative) Error() string {
	return fmt.Sprintf("coefficient %d is %v, not positive", e.Frequency, e.Value)
}

// Factorise sets f to the factor of A with the coefficients c and the noise variance σ². It drops frequencies whose root is
// below tol ≥ Floor of the largest, and chooses the grid for the others. The errors are Negative, Unresolved, Gap, and
// banded.NotPositive if σ² is lost in rounding. It panics if there are fewer moments than 2M + 1, where M is the highest
// frequency kept. It takes about p·60² flops for a Gaussian k.
func (f *Factor) Factorise(c []float64, points Points, noise, tol float64, w *Workspace) error {
	if len(c) == 0 || points.N < 1 || !(noise > 0) || !(tol >= Floor) {
		panic(fmt.Sprintf("gridded: %d coefficients, %d points, noise %v, tolerance %v", len(c), points.N, noise, tol))
	}
	f.points, f.noise = points, noise
	if err := f.roots(c, tol); err != nil {
		return err
	}
	m := len(f.s) - 1
	if len(points.Moments) < 2*(2*m+1) {
		panic(fmt.Sprintf("gridded: %d moments for frequencies up to %d", len(points.Moments), 2*m))
	}
	f.p = fourier.Smooth(2*m + 1)
	w.reset(f.p)
	if err := f.root(tol, w); err != nil {
		return err
	}
	f.narrow(tol)
	f.form(w)
	f.first = profile(f.first, f.p, f.band)
	f.fill(&f.h, f.first, w)
	return f.h.Cholesky()
}

// roots sets s.
func (f *Factor) roots(c []float64, tol float64) error {
	f.count = len(c)
	var largest float64
	for m, v := range c {
		if !(v >= 0) || math.IsInf(v, 0) {
			return Negative{m, v}
		}
		if m > 0 {
			v *= 0.5
		}
		largest = max(largest, v)
	}
	if largest == 0 {
		return Negative{}
	}
	largest = math.Sqrt(largest)
	f.s = f.s[:0]
	last := 0
	for m, v := range c {
		if m > 0 {
			v *= 0.5
		}
		v = math.Sqrt(v)
		if v > tol*largest {
			last = m
		}
		f.s = append(f.s, v)
	}
	if last == len(c)-1 {
		return Unresolved{f.s[last] / largest}
	}
	f.s = f.s[:last+1]
	return nil
}

// root sets r and its reach.
func (f *Factor) root(tol float64, w *Workspace) error {
	scale := 1 / math.Sqrt(float64(f.p))
	clear(w.fineHat)
	for m, v := range f.s {
		w.fineHat[m] = complex(scale*v, 0)
	}
	w.fineFFT.Sequence(w.fine, w.fineHat)
	f.reach = f.p
	for f.reach > 0 && !(math.Abs(w.fine[f.reach]) > tol*w.fine[0]) {
		f.reach--
	}
	f.r = append(f.r[:0], w.fine[:f.reach+1]...)
	have := min(f.points.First, 1-f.points.Last)
	if need := float64(f.reach) / float64(2*f.p); !(have >= need) {
		if f.reach > f.p/2 {
			need = math.Inf(1)
		}
		return Gap{have, need}
	}
	return nil
}

// narrow sets band.
func (f *Factor) narrow(tol float64) {
	least := tol * f.r[0] * f.r[0]
	for f.band = min(f.reach, f.p-1); f.band > 0; f.band-- {
		for z := range f.reach - f.band + 1 {
			if math.Abs(f.r[f.band+z]*f.r[abs(f.band-z)]) > least {
				return
			}
		}
	}
}

// weights sets row z of dst to w_d(z) times scale, d = odd, odd + 2, …
func (f *Factor) weights(dst blas64.General, odd int, scale float64) {
	for z := range dst.Rows {
		row := dst.Data[z*dst.Stride:][:dst.Cols]
		for e := range row {
			row[e] = 0
			if d := 2*e + odd; d+z <= f.reach {
				row[e] = scale * f.r[d+z] * f.r[abs(d-z)]
			}
		}
	}
}

// diagonals returns the number of d ≤ band with the parity odd.
func (f *Factor) diagonals(odd int) int { return (f.band-odd)/2 + 1 }

// form sets bands[odd][q][e] to σ⁻²(BᵀB)_gg′, d = g′−g = 2e + odd, g + g′ = 2q + odd.
func (f *Factor) form(w *Workspace) {
	w.density(f)
	w.f = f
	for odd := range 2 {
		w.weights[odd] = dense.Reshape(w.weights[odd], f.reach+1, f.diagonals(odd))
		f.weights(w.weights[odd], odd, 1/(f.noise*float64(2*f.p)))
		f.bands[odd] = dense.Reshape(f.bands[odd], f.p, f.diagonals(odd))
	}
	parallel.Within(w.Ctx, chunks, w.formShare)
	w.f = nil
}

// profile returns the first column of each of p rows that reach columns to the left.
func profile(first []int, p, reach int) []int {
	first = dense.Resize(first, p)
	for g := range first {
		first[g] = max(0, g-reach)
	}
	return first
}

// fill sets h to H with the given profile.
func (f *Factor) fill(h *banded.Matrix, first []int, w *Workspace) {
	h.Reset(first)
	h.Ctx = w.Ctx
	w.f, w.matrix = f, h
	parallel.Within(w.Ctx, h.Blocks(), w.fillBlock)
	w.f, w.matrix = nil, nil
}

// tile fills a tile of H.
func (f *Factor) tile(row, col int, t blas64.General) {
	for i := range t.Rows {
		for j, out := 0, t.Data[i*t.Stride:][:t.Cols]; j < len(out); j++ {
			at, d := row+i, col+j-row-i
			if d < 0 {
				at, d = col+j, -d
			}
			if d > f.band {
				out[j] = 0
				continue
			}
			b := &f.bands[d&1]
			out[j] = b.Data[(at+d>>1)*b.Stride+d>>1]
			if d == 0 {
				out[j]++
			}
		}
	}
}

// Size returns p, the number of grid points.
func (f *Factor) Size() int { return f.p }

// LogDet returns log|A|.
func (f *Factor) LogDet() float64 {
	return float64(f.points.N)*math.Log(f.noise) + f.h.LogDet()
}

// Project sets beta (p×c) to BᵀC for c columns C of the data, such as β = Bᵀy. Column j of sums (at least 2(M+1)×c) has the F_m
// of column j, real and imaginary parts by turns, as package fourier orders them.
func (f *Factor) Project(beta, sums blas64.General, w *Workspace) {
	f.check(beta, sums)
	w.reset(f.p)
	scale := 1 / math.Sqrt(float64(f.p))
	for j := range beta.Cols {
		clear(w.coarseHat)
		for m, s := range f.s {
			at := 2*m*sums.Stride + j
			w.coarseHat[m] = complex(scale*s*sums.Data[at], -scale*s*sums.Data[at+sums.Stride])
		}
		w.coarseFFT.Sequence(w.column, w.coarseHat)
		blas64.Copy(dense.Vec(w.column), dense.Column(beta, j))
	}
}

func (f *Factor) check(beta, sums blas64.General) {
	if beta.Rows != f.p || sums.Rows < 2*len(f.s) || beta.Cols != sums.Cols {
		panic(fmt.Sprintf("gridded: %d×%d entries for a grid of %d, %d×%d sums for %d frequencies",
			beta.Rows, beta.Cols, f.p, sums.Rows, sums.Cols, len(f.s)))
	}
}

// Solve replaces b (p×k) by H⁻¹b.
func (f *Factor) Solve(b blas64.General) {
	f.h.SolveL(b)
	f.h.SolveLT(b)
}

// SolveL replaces b (p×k) by L⁻¹b, where LLᵀ = H: |L⁻¹b|² = bᵀH⁻¹b.
func (f *Factor) SolveL(b blas64.General) { f.h.SolveL(b) }

// Gradient sets dst[m] to the derivative of ½log|A| + ½Σ_j y_jᵀA⁻¹y_j with respect to c_m, zero for frequencies that were
// dropped, and returns the derivative with respect to σ². The y_j, one or several, enter by their sums F_m and h = H⁻¹β, a column
// each, and by form = Σ_j y_jᵀA⁻¹y_j; if all are zero, the derivatives are of ½log|A|. It takes about twice the
// time of Factorise.
//
// A is linear in c and σ², so Σ_m c_m·dst[m] + σ²·noise = ½(n − form): a check that a caller can make at run time.
func (f *Factor) Gradient(dst []float64, sums, h blas64.General, form float64, w *Workspace) (noise float64) {
	f.check(h, sums)
	if len(dst) != f.count {
		panic(fmt.Sprintf("gridded: %d derivatives for %d coefficients", len(dst), f.count))
	}
	w.reset(f.p)
	w.inverse.Reset(f.first)
	f.h.Inverse(&w.inverse)
	trace := w.adjoint(f, h)
	clear(dst)
	f.backward(dst, sums, h, w)

	var hh float64
	for j := range h.Cols {
		hh += blas64.Dot(dense.Column(h, j), dense.Column(h, j))
	}
	n := float64(f.points.N)
	return 0.5 * (n - float64(f.p) + trace - (form - hh/(f.noise*f.noise))) / f.noise
}

// backward converts the derivatives with respect to w_d(z) to derivatives with respect to c.
func (f *Factor) backward(dst []float64, sums, h blas64.General, w *Workspace) {
	clear(w.fine)
	for odd := range 2 {
		by := w.slopes[odd]
		for z := range by.Cols {
			for e := range by.Rows {
				d := 2*e + odd
				if d+z > f.reach {
					break
				}
				v := by.Data[e*by.Stride+z]
				w.fine[d+z] += v * f.r[abs(d-z)]
				w.fine[abs(d-z)] += v * f.r[d+z]
			}
		}
	}
	w.fineFFT.Coefficients(w.fineHat, w.fine)
	scale := 1 / math.Sqrt(float64(f.p))
	for m, s := range f.s {
		if s != 0 {
			dst[m] = real(w.fineHat[m]) * scale / (2 * s) // ds/dc = 1/2s, and 1/4s for the pair ±m
		}
	}
	for j := range h.Cols {
		blas64.Copy(dense.Column(h, j), dense.Vec(w.column))
		w.coarseFFT.Coefficients(w.coarseHat, w.column)
		for m, s := range f.s {
			if s != 0 {
				at := 2*m*sums.Stride + j
				v := real(w.coarseHat[m])*sums.Data[at] - imag(w.coarseHat[m])*sums.Data[at+sums.Stride]
				dst[m] -= v / (f.noise * f.noise) * scale / (2 * s)
			}
		}
	}
}

// Bound returns a bound on the error of ½log|A| + ½yᵀA⁻¹y, and of its derivatives with respect to log σ² and log v, for n
// points. Derivatives with respect to log l may err by 32 times as much: the omitted part of r and H is small, but its
// derivative is larger by τ²/l², up to 70. The bound is empirical: see TestDense, TestRandom and TestMixture, where values
// stay below a sixth of it.
func Bound(n int, k0, noise, tol float64) float64 {
	return 4 * float64(n) * k0 / noise * max(tol, Floor)
}

func abs(i int) int { return max(i, -i) }

// multiply sets c = op(a)·b + beta·c.
func multiply(t blas.Transpose, a, b blas64.General, beta float64, c blas64.General) {
	if c.Rows > 0 && c.Cols > 0 {
		dense.Gemm(t, blas.NoTrans, 1, a, b, beta, c)
	}
}
