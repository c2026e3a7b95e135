// Package toeplitz does the linear algebra of symmetric positive definite Toeplitz matrices, A_ij = c_|i−j|, and of such matrices
// without a few of their rows and columns: log|A|, A⁻¹b, the diagonal of A⁻¹, and the sums along all diagonals of A⁻¹. It takes
// O(n²) time, nearly all of it in one filter, and O(n) memory.
//
// # Factorisation
//
// The Cholesky factor of A has a recursion from column to column (Schur 1917;
// Bareiss 1969). From u = v = c, stage m = 1 … n−1 does
//
//	κ_m = u_m/v_(m−1),   u_i ← u_i − κ_m·v_(i−1),   v_i ← v_(i−1) − κ_m·u_i   (i ≥ m),
//
// which makes u_m zero. Then v_i, i ≥ m, is column m of LD in A = LDLᵀ, and D_m = v_m is the variance of the error of predicting
// one entry of a series of covariance A from the m entries before it. So log|A| = Σ log D_m, and A is positive definite if and
// only if all D_m > 0, D_0 = c_0.
//
// The coefficients of that prediction follow from the κ_m (Durbin 1960; Levinson
// 1947), by the same filter from p = r = (1, 0, …),
//
//	p_j ← p_j − κ_m·r_(j−1),   r_j ← r_(j−1) − κ_m·p_j,
//
// and in the end x = p/D_(n−1) is the first column of A⁻¹. Durbin and Levinson find κ_m from p, by an inner product. Here it
// comes from u and v: that is stable for every positive definite A, like Cholesky (Bojanczyk, Brent, de Hoog and Sweet 1995), and
// leaves no sums, on which processors would have to wait for each other. The two filters together work on n + 1 entries in every
// stage.
//
// # Inverse
//
// The first column x determines A⁻¹ (Gohberg and Semencul 1972),
//
//	x_0·A⁻¹ = L(x)L(x)ᵀ − L(x̃)L(x̃)ᵀ,   x̃ = (0, x_(n−1), …, x_1),
//
// where L(x) is the lower triangular Toeplitz matrix with first column x. So A⁻¹b is four convolutions, by FFT or, of few rows,
// by inner products. An entry differs from the one above it on its diagonal by
//
//	(A⁻¹)_(i+1,j+1) − (A⁻¹)_ij = (x_(i+1)x_(j+1) − x_(n−1−i)x_(n−1−j))/x_0,
//
// which gives the main diagonal in n steps. In the sum of diagonal d, the product
// x_j·x_(j+d) occurs n − d − j times with a plus and j times with a minus, so that
//
//	s_d = Σ_i (A⁻¹)_(i,i+d) = (1/x_0)·Σ_j (n−d−2j)·x_j·x_(j+d).
//
// With n−d−2j = (n/2−j) + (n/2−j−d) this is the correlation of x with (n/2−j)x_j, in both directions: the transform of s is
// 2·Re(conj(x̂)·ŵ)/x_0, where ŵ is the transform of (n/2−j)x_j. The sums along the diagonals of ααᵀ, Σ_i α_i·α_(i+d), have the
// transform |α̂|².
//
// # Missing rows
//
// Let A be Toeplitz over all rows, the observed o and the m missing ones, and
//
//	A⁻¹ = [P Q; Qᵀ R],   R = (A⁻¹)_mm = (A_mm − A_mo·A_oo⁻¹·A_om)⁻¹.
//
// R⁻¹ is the Schur complement of A_oo in A, whence |A| = |A_oo|/|R|, and from the inverse of a block matrix
//
//	log|A_oo| = log|A| + log|R|,   A_oo⁻¹ = P − QR⁻¹Qᵀ.
//
// Let E be the m columns of the identity of the missing rows, R = FFᵀ and B = A⁻¹E·F⁻ᵀ (n×m). Then BBᵀ = [QR⁻¹Qᵀ Q; Qᵀ R] and
//
//	A⁻¹ − BBᵀ = [A_oo⁻¹ 0; 0 0]
//
// is A_oo⁻¹ with zeros in the missing rows and columns. So sums over all entries are sums over the observed ones: the diagonal
// is A⁻¹'s minus Σ_k B_ik², and the sums along diagonals, over pairs of observed rows, are s_d − Σ_k Σ_i B_ik·B_(i+d,k), with
// m more autocorrelations. The columns A⁻¹E take O(m·n log n) time, B takes O(m²n) time and nm numbers of memory.
//
// # Accuracy
//
// Rounding of A alone, a relative change ε = 2⁻⁵³ of it, moves log|A| by up to ε·‖A‖·tr A⁻¹, at most ε·n·‖A‖/σ² for A = K +
// σ²I. The errors of the results are a small multiple of this effect (TestDense, for ‖A‖·‖A⁻¹‖ up to 1e10). The computed x is
// nearly the first column of the inverse of another Toeplitz matrix A + ΔA, the one with the computed κ, and the computed
// log|A| belongs to the same matrix. [Factor.Backward] measures it with one product: ‖Ax − e_1‖/‖x‖ = ‖ΔA·x‖/‖x‖.
package toeplitz

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Factor is a factorisation of A. It holds about 6n numbers, and nm + m²/2 more for m missing rows. Methods other than Factorise
// do not change it and may run at the same time, each with a Workspace of its own. The zero value is empty.
type Factor struct {
	n        int
	x        []float64
	logDet   float64
	backward float64
	diagonal float64 // A₀₀

	direct                      // replaces the transforms of a short factor
	size           int          // size of the transforms, at least 2n−1
	eigen          []float64    // eigenvalues of a circulant with A as a corner
	hat, tilde     []complex128 // transforms of x and x̃
	missing        []int
	b              blas64.General // m×n: Bᵀ
	r              *dense.Lower   // m×m: F
	logDetObserved float64
}

// Factorise sets f to the factor of the A with first column c, without the rows and columns in missing, which must ascend. It
// takes about 4n² flops, on all processors, and returns dense.NotPositive if A is not positive definite to rounding.
func (f *Factor) Factorise(c []float64, missing []int, w *Workspace) error {
	n := len(c)
	if n == 0 {
		panic("toeplitz: no rows")
	}
	for i, at := range missing {
		if at < 0 || at >= n || i > 0 && at <= missing[i-1] {
			panic(fmt.Sprintf("toeplitz: missing rows must ascend within 0 … %d: entry %d is %d", n-1, i, at))
		}
	}
	f.n, f.missing, f.diagonal = n, f.missing[:0], c[0]
	f.x = dense.Resize(f.x, n)
	var err error
	w.lattice.ctx = w.Ctx
	if f.logDet, err = w.lattice.factorise(f.x, c); err != nil {
		return err
	}
	f.prepare(c, w)
	f.logDetObserved = f.logDet
	if len(missing) == 0 {
		return nil
	}
	f.missing = append(f.missing, missing...)
	return f.remove(w)
}

// prepare sets the operands of convolutions with x and the first column of A, and backward.
func (f *Factor) prepare(c []float64, w *Workspace) {
	if f.short() {
		f.arrange(c, w)
		return
	}
	f.size = fourier.Smooth(2*f.n - 1)
	w.reset(f.size)
	f.transform(c, w)
	f.measure(w)
}

// transform sets eigen, hat and tilde.
func (f *Factor) transform(c []float64, w *Workspace) {
	l := &w.lanes[0]
	half := f.size/2 + 1
	f.eigen = dense.Resize(f.eigen, half)
	f.hat, f.tilde = dense.Resize(f.hat, half), dense.Resize(f.tilde, half)
	clear(l.seq)
	copy(l.seq, c)
	for i := 1; i < f.n; i++ {
		l.seq[f.size-i] = c[i]
	}
	l.fft.Coefficients(l.hat, l.seq)
	for i, v := range l.hat {
		f.eigen[i] = real(v)
	}
	l.forward(f.hat, f.x)
	clear(l.seq)
	for i := 1; i < f.n; i++ {
		l.seq[i] = f.x[f.n-i]
	}
	l.fft.Coefficients(f.tilde, l.seq)
}

// measure sets backward.
func (f *Factor) measure(w *Workspace) {
	l := &w.lanes[0]
	for i, v := range f.hat {
		l.hat[i] = complex(f.eigen[i]/float64(f.size), 0) * v
	}
	l.fft.Sequence(l.seq, l.hat)
	l.seq[0]--
	f.backward = blas64.Nrm2(dense.Vec(l.seq[:f.n])) / blas64.Nrm2(dense.Vec(f.x))
}

// LogDet returns log|A| of the observed rows and columns.
func (f *Factor) LogDet() float64 { return f.logDetObserved }

// Backward returns ‖Ax − e_1‖/‖x‖, where x is the computed first column of A⁻¹: an estimate of the change of A for which the
// results are exact. The error of log|A| is then about Backward·tr A⁻¹, and of bᵀA⁻¹b Backward·‖A⁻¹b‖². It is below 8·2⁻⁵³·‖A‖
// unless something went wrong (TestBackward). It does not include the computations for missing rows.
func (f *Factor) Backward() float64 { return f.backward }

// remove sets r and b for the missing rows.
func (f *Factor) remove(w *Workspace) error {
	m := len(f.missing)
	f.b = blas64.General{Rows: m, Cols: f.n, Stride: f.n, Data: dense.Resize(f.b.Data, m*f.n)}
	if f.short() {
		f.columnsShort(w)
	} else {
		w.f = f
		parallel.Within(w.Ctx, lanes, w.columns)
		w.f = nil
	}
	if f.r == nil || f.r.N() != m {
		f.r = dense.NewLower(m)
	}
	for i := range dense.Blocks(m) {
		for j := range i + 1 {
			t := f.r.At(i, j)
			for a := range t.Rows {
				for b := range t.Cols {
					t.Data[a*t.Stride+b] = f.b.Data[(i*dense.Tile+a)*f.n+f.missing[j*dense.Tile+b]]
				}
			}
		}
	}
	f.r.Ctx = w.Ctx
	if err := f.r.Cholesky(); err != nil {
		if bad, ok := err.(dense.NotPositive); ok {
			return dense.NotPositive{Row: f.missing[bad.Row]}
		}
		return err
	}
	f.r.SolveL(f.b)
	f.r.Ctx = nil
	f.logDetObserved = f.logDet + f.r.LogDet()
	return nil
}
