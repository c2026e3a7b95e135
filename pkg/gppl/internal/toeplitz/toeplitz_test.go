package toeplitz

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const eps = 0x1p-53

// columns are first columns without noise, of variance 1.
var columns = map[string]func(d float64) float64{
	"SE":      func(d float64) float64 { return math.Exp(-d * d / 200) },
	"RQ":      func(d float64) float64 { return math.Pow(1+d*d/100, -0.7) },
	"Laplace": func(d float64) float64 { return math.Exp(-d / 8) },
	"LocPer": func(d float64) float64 {
		s := math.Sin(math.Pi * d / 12)
		return math.Exp(-d*d/5000 - 2*s*s)
	},
	"alternating": func(d float64) float64 { return math.Pow(-0.9, d) },
	"white":       func(d float64) float64 { return max(0, 1-d) },
}

func column(n int, k func(float64) float64, noise float64) []float64 {
	c := make([]float64, n)
	for i := range c {
		c[i] = k(float64(i))
	}
	c[0] += noise
	return c
}

// want is A without the missing rows, densely, in as many digits as Cholesky has.
type want struct {
	observed []int
	a        *mat.SymDense
	inverse  mat.SymDense
	chol     mat.Cholesky
}

func densely(t *testing.T, c []float64, missing []int) *want {
	t.Helper()
	w := &want{}
	for i := range c {
		if !slices.Contains(missing, i) {
			w.observed = append(w.observed, i)
		}
	}
	w.a = mat.NewSymDense(len(w.observed), nil)
	for i, p := range w.observed {
		for j, q := range w.observed[:i+1] {
			w.a.SetSym(i, j, c[p-q])
		}
	}
	if !w.chol.Factorize(w.a) {
		t.Fatal("the dense matrix is not positive definite")
	}
	if err := w.chol.InverseTo(&w.inverse); err != nil {
		if _, ok := err.(mat.Condition); !ok {
			t.Fatal(err)
		}
	}
	return w
}

// norm returns max Σ_j|A_ij|, no less than ‖A‖.
func (w *want) norm() float64 { return mat.Norm(w.a, math.Inf(1)) }

func (w *want) trace() float64 { return mat.Trace(&w.inverse) }

func noisy(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	y := make([]float64, n)
	for i := range y {
		y[i] = r.NormFloat64()
	}
	return y
}

// drop returns m distinct rows of n in ascending order.
func drop(n, m int, seed uint64) []int {
	at := rand.New(rand.NewPCG(seed, 3)).Perm(n)[:m]
	slices.Sort(at)
	return at
}

// TestDense compares everything with dense code, in units of the change that
// rounding A alone can make: ε(‖A‖·tr A⁻¹ + n) of log|A|, and of the rest in
// proportion, ‖A⁻¹‖ ≤ tr A⁻¹. Both sides err by a small multiple of it.
func TestDense(t *testing.T) {
	var w Workspace
	var f Factor
	worst := map[string]float64{}
	for _, n := range []int{1, 2, 3, 4, 7, 31, 64, 65, 66, 131, 211, 601} { // around and beyond depth and width
		for name, k := range columns {
			for _, noise := range []float64{1, 0.1, 1e-4, 1e-8} {
				for _, m := range []int{0, 1, 5, 70} {
					if m > 0 && n <= 2*m || n > 500 && (noise == 1 || m == 1 || testkit.Quick()) {
						continue
					}
					c, missing := column(n, k, noise), drop(n, m, uint64(n))
					label := fmt.Sprintf("n=%d/%s/noise=%g/missing=%d", n, name, noise, m)
					if err := f.Factorise(c, missing, &w); err != nil {
						t.Errorf("%s: %v", label, err)
						continue
					}
					d := densely(t, c, missing)
					unit := eps * (d.norm()*d.trace() + float64(n))
					check := func(what string, got, want, unit, bound float64) {
						t.Helper()
						e := math.Abs(got-want) / unit
						if !(e <= bound) {
							t.Errorf("%s: %s: %v, densely %v: %.1f times rounding", label, what, got, want, e)
						}
						worst[what] = max(worst[what], e)
					}
					check("log det", f.LogDet(), d.chol.LogDet(), unit, 16) // of white noise the dense one errs, by the logarithms it adds up

					y := noisy(n, 1)
					alpha, rest := make([]float64, n), make([]float64, n)
					f.Solve(alpha, y, &w)
					var alphaWant mat.VecDense
					yo := mat.NewVecDense(len(d.observed), nil)
					for i, p := range d.observed {
						yo.SetVec(i, y[p])
					}
					if err := d.chol.SolveVecTo(&alphaWant, yo); err != nil {
						if _, ok := err.(mat.Condition); !ok {
							t.Fatal(err)
						}
					}
					size := mat.Norm(&alphaWant, 2)
					distance := func() float64 {
						var off float64
						for i, p := range d.observed {
							off = math.Hypot(off, alpha[p]-alphaWant.AtVec(i))
						}
						return off
					}
					check("solve", distance(), 0, unit*size, 8)
					f.Residual(rest, y, alpha, &w)
					quad, quadWant := floats.Dot(alpha, y)+floats.Dot(alpha, rest), mat.Dot(yo, &alphaWant)
					check("quadratic form", quad, quadWant, eps*(d.norm()*size*size+float64(n)*quadWant), 4)
					check("form", f.Form(y, &w), quadWant, unit*size*mat.Norm(yo, 2), 8)
					f.Refine(alpha, y, &w)
					check("refined solve", distance(), 0, unit*size, 4)
					for _, p := range missing {
						if alpha[p] != 0 || rest[p] != 0 {
							t.Errorf("%s: missing entry %d: solution %v, residual %v", label, p, alpha[p], rest[p])
						}
					}

					diagonal := make([]float64, n)
					f.Diagonal(diagonal)
					for i, p := range d.observed {
						check("diagonal", diagonal[p], d.inverse.At(i, i), unit*d.trace(), 16)
					}

					sums, withAlpha := make([]float64, n), make([]float64, n)
					f.sumsOf(sums, nil, &w)
					f.sumsOf(withAlpha, alpha, &w)
					sumsWant, outer := make([]float64, n), make([]float64, n)
					for i, p := range d.observed {
						for j, q := range d.observed[:i+1] {
							sumsWant[p-q] += d.inverse.At(i, j)
							outer[p-q] += alphaWant.AtVec(i) * alphaWant.AtVec(j)
						}
					}
					for i := range sums {
						check("sums", sums[i], sumsWant[i], unit*d.trace(), 16)
						check("sums with alpha", withAlpha[i], sumsWant[i]-outer[i], unit*(d.trace()+size*size), 16)
					}
				}
			}
		}
	}
	for what, e := range worst {
		t.Logf("%s: %.2g times rounding at worst", what, e)
	}
}

// TestGradient compares the sums along diagonals with central differences of the
// likelihood with respect to the first column.
func TestGradient(t *testing.T) {
	const n = 40
	missing := []int{3, 4, 19}
	y := noisy(n, 2)
	for _, at := range missing {
		y[at] = math.NaN() // never read
	}
	c := column(n, columns["RQ"], 0.1)
	var w Workspace
	var f Factor
	value := func(c []float64) float64 {
		if err := f.Factorise(c, missing, &w); err != nil {
			t.Fatal(err)
		}
		alpha := make([]float64, n)
		f.Solve(alpha, y, &w)
		v := 0.5 * f.LogDet()
		for i, a := range alpha {
			if a != 0 {
				v += 0.5 * a * y[i]
			}
		}
		return v
	}
	value(c)
	alpha, got := make([]float64, n), make([]float64, n)
	f.Solve(alpha, y, &w)
	f.sumsOf(got, alpha, &w)
	got[0] *= 0.5
	for d := range n {
		const h = 1e-5
		up, down := slices.Clone(c), slices.Clone(c)
		up[d] += h
		down[d] -= h
		want := (value(up) - value(down)) / (2 * h)
		if math.Abs(got[d]-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("lag %d: %v, by differences %v", d, got[d], want)
		}
	}
}

// TestFormOfCovariances: at an input between two places, the form of its covariances is what the data explain of the variance. It
// is as exact as by a solve, also where A is nearly singular.
func TestFormOfCovariances(t *testing.T) {
	var w Workspace
	var f Factor
	const n = 300
	for name, k := range columns {
		for _, noise := range []float64{0.1, 1e-4, 1e-8} {
			c, missing := column(n, k, noise), drop(n, 5, 9)
			if err := f.Factorise(c, missing, &w); err != nil {
				t.Fatal(name, noise, err)
			}
			d := densely(t, c, missing)
			cross, solved := make([]float64, n), make([]float64, n)
			for _, at := range []float64{-3.5, 10.25, 150.5, 301} {
				b := mat.NewVecDense(len(d.observed), nil)
				for i, p := range d.observed {
					cross[p] = k(math.Abs(float64(p) - at))
					b.SetVec(i, cross[p])
				}
				var want mat.VecDense
				if err := d.chol.SolveVecTo(&want, b); err != nil {
					if _, ok := err.(mat.Condition); !ok {
						t.Fatal(err)
					}
				}
				exact := mat.Dot(b, &want)
				f.Solve(solved, cross, &w)
				bySolve := math.Abs(floats.Dot(cross, solved) - exact)
				rounding := eps * (d.norm()*d.trace() + n) * mat.Norm(b, 2) * mat.Norm(&want, 2)
				if off := math.Abs(f.Form(cross, &w) - exact); off > 4*bySolve+0.1*rounding {
					t.Errorf("%s, noise %g, at %v: form off by %.2g, by a solve %.2g, rounding of A %.2g",
						name, noise, at, off, bySolve, rounding)
				}
			}
		}
	}
}

// TestDiagonalSum compares single sums with those by transforms.
func TestDiagonalSum(t *testing.T) {
	var w Workspace
	var f Factor
	for name, k := range columns {
		for _, n := range []int{1, 2, 7, 64, 131, short + 1} {
			for _, m := range []int{0, 1, 5} {
				if m > 0 && n <= 2*m {
					continue
				}
				missing := drop(n, m, 5)
				if err := f.Factorise(column(n, k, 0.1), missing, &w); err != nil {
					t.Fatal(name, n, m, err)
				}
				alpha := append(noisy(n, 1), noisy(n, 2)...)
				for _, i := range missing {
					alpha[i], alpha[n+i] = 0, 0
				}
				sums := make([]float64, n)
				f.sumsOf(sums, alpha, &w)
				_, most := f.DiagonalSum(0, alpha)
				for d, want := range sums {
					if got, _ := f.DiagonalSum(d, alpha); math.Abs(got-want) > 1e-12*most {
						t.Errorf("%s, n = %d, %d missing, lag %d: %v, by transforms %v", name, n, m, d, got, want)
					}
				}
			}
		}
	}
}

// TestBackward holds the measured backward error to its word: it bounds the error
// of log|A|, and where a result is spoilt it says so.
func TestBackward(t *testing.T) {
	for _, n := range []int{130, short + 20} {
		for name, k := range columns {
			for _, noise := range []float64{1, 1e-3, 1e-8} {
				checkBackward(t, n, name, k, noise)
			}
		}
	}
}

func checkBackward(t *testing.T, n int, name string, k func(float64) float64, noise float64) {
	t.Helper()
	var w Workspace
	var f Factor
	c := column(n, k, noise)
	if err := f.Factorise(c, nil, &w); err != nil {
		t.Fatal(name, noise, err)
	}
	d := densely(t, c, nil)
	if e, most := f.Backward(), 8*eps*d.norm(); !(e <= most) {
		t.Errorf("%s, noise %g: backward error %.2g, want at most %.2g", name, noise, e, most)
	}
	if e, most := math.Abs(f.LogDet()-d.chol.LogDet()), f.Backward()*d.trace()+16*eps*(d.norm()*d.trace()+float64(n)); !(e <= most) {
		t.Errorf("%s, noise %g: log det errs by %.2g, at most %.2g by the backward error", name, noise, e, most)
	}
	f.x[n/2] *= 1 + 1e-9
	f.prepare(c, &w)
	if spoilt := f.Backward(); noise == 1 && !(spoilt > 1e-13) && math.Abs(f.x[n/2]) > 1e-3 {
		t.Errorf("%s: a wrong column has backward error %.2g", name, spoilt)
	}
}

func TestNotPositive(t *testing.T) {
	c := column(200, columns["SE"], 0.1)
	c[150] = 3
	spoilt := func(c []float64, want int) {
		t.Helper()
		var f Factor
		var w Workspace
		err := f.Factorise(c, nil, &w)
		var bad dense.NotPositive
		if !errors.As(err, &bad) || bad.Row != want {
			t.Errorf("error %v, want row %d", err, want)
		}
	}
	spoilt(c, 150)
	c = column(200, columns["SE"], 0.1)
	c[70] = math.NaN()
	spoilt(c, 70)
	spoilt([]float64{0, 0}, 0)
	spoilt([]float64{math.Inf(1)}, 0)
	spoilt([]float64{1, 1}, 1)
	spoilt([]float64{-1, 0}, 0)
}

// TestReuse wants the same digits from used memory on all processors as from new
// memory on one.
func TestReuse(t *testing.T) {
	var w Workspace
	var f Factor
	type result struct {
		logDet          float64
		x, sums, solved []float64
	}
	run := func(n, m int, f *Factor, w *Workspace) result {
		c := column(n, columns["RQ"], 0.01)
		if err := f.Factorise(c, drop(n, m, 5), w); err != nil {
			t.Fatal(err)
		}
		r := result{f.LogDet(), slices.Clone(f.FirstColumn()), make([]float64, n), make([]float64, n)}
		f.Solve(r.solved, noisy(n, 3), w)
		f.sumsOf(r.sums, r.solved, w)
		return r
	}
	for _, c := range [][2]int{{1500, 0}, {40, 3}, {1100, 9}, {3, 0}, {1500, 70}, {1, 0}} {
		var w1 Workspace
		var f1 Factor
		got := run(c[0], c[1], &f, &w)
		procs := runtime.GOMAXPROCS(1)
		want := run(c[0], c[1], &f1, &w1)
		runtime.GOMAXPROCS(procs)
		if got.logDet != want.logDet || !slices.Equal(got.x, want.x) || !slices.Equal(got.sums, want.sums) ||
			!slices.Equal(got.solved, want.solved) {
			t.Errorf("n=%d, %d missing: other digits from new memory on one processor", c[0], c[1])
		}
	}
}

// TestConcurrent uses one factor from two goroutines, for the race detector.
func TestConcurrent(t *testing.T) {
	const n = 500
	var w Workspace
	var f Factor
	if err := f.Factorise(column(n, columns["RQ"], 0.1), []int{7, 80}, &w); err != nil {
		t.Fatal(err)
	}
	y, want := noisy(n, 4), make([]float64, n)
	f.Solve(want, y, &w)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			var w Workspace
			for range 20 {
				x, s := make([]float64, n), make([]float64, n)
				f.Solve(x, y, &w)
				f.sumsOf(s, x, &w)
				if !slices.Equal(x, want) {
					t.Error("another solution")
				}
			}
		})
	}
	group.Wait()
}

func TestNoAllocation(t *testing.T) {
	const n = 1500
	c, y, x, s := column(n, columns["RQ"], 0.1), noisy(n, 4), make([]float64, n), make([]float64, n)
	missing := []int{3, 700}
	var w Workspace
	var f Factor
	all := func() {
		if err := f.Factorise(c, missing, &w); err != nil {
			t.Fatal(err)
		}
		f.Solve(x, y, &w)
		f.Residual(s, y, x, &w)
		f.Refine(x, y, &w)
		f.Diagonal(s)
		f.sumsOf(s, x, &w)
	}
	all()
	if a := testing.AllocsPerRun(5, all); a > 0 {
		t.Errorf("%v allocations", a)
	}
}

func BenchmarkFactorise(b *testing.B) {
	for _, c := range [][2]int{{1000, 0}, {3319, 0}, {3319, 33}, {20000, 0}} {
		n, m := c[0], c[1]
		b.Run(fmt.Sprintf("n=%d/missing=%d", n, m), func(b *testing.B) {
			c, missing := column(n, columns["RQ"], 0.1), drop(n, m, 1)
			var w Workspace
			var f Factor
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Factorise(c, missing, &w); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(4*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GF/s")
		})
	}
}

// BenchmarkLikelihood is all of a value and its derivatives.
func BenchmarkLikelihood(b *testing.B) {
	for _, n := range []int{60, 130, 400, 1000, 3319, 20000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			c, y := column(n, columns["RQ"], 0.1), noisy(n, 1)
			x, s := make([]float64, n), make([]float64, n)
			var w Workspace
			var f Factor
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Factorise(c, nil, &w); err != nil {
					b.Fatal(err)
				}
				f.Solve(x, y, &w)
				f.Residual(s, y, x, &w)
				f.sumsOf(s, x, &w)
			}
		})
	}
}

// Residual sets dst to b − Ax in the observed rows, and to zero in the missing
// ones, by two transforms. Then bᵀA⁻¹b = xᵀ(b + dst) − dstᵀA⁻¹dst for any x whose
// missing entries are zero: with x = A⁻¹b but for rounding the last term is of
// second order.
func (f *Factor) Residual(dst, b, x []float64, w *Workspace) {
	f.check("dst", dst)
	f.check("b", b)
	f.check("x", x)
	w.reset(f.size)
	f.multiply(dst, x, w, b)
	f.mask(dst)
}

// Diagonal sets dst to the diagonal of A⁻¹, zero in missing rows, in O(nm) time.
func (f *Factor) Diagonal(dst []float64) {
	f.check("dst", dst)
	// A⁻¹ is symmetric about its other diagonal too: sums of half the length.
	n := f.n
	var sum float64
	for i := range (n + 1) / 2 {
		sum += f.x[i] * f.x[i]
		if i > 0 {
			sum -= f.x[n-i] * f.x[n-i]
		}
		dst[i] = sum / f.x[0]
		dst[n-1-i] = dst[i]
	}
	for k := range f.missing {
		for i, v := range f.b.Data[k*n:][:n] {
			dst[i] -= v * v
		}
	}
	f.mask(dst)
}

// FirstColumn returns the first column of the inverse of the whole matrix, no row
// missing. The caller must not change it.
func (f *Factor) FirstColumn() []float64 { return f.x }

// TestRows reads rows one after another, alone, and backwards, and compares them with solutions: as accurate relative to A.
func TestRows(t *testing.T) {
	long := testkit.Size(560, 700, 700) // beyond the short ones
	for _, n := range []int{1, 2, 40, long} {
		for name, k := range columns {
			for at, noise := range []float64{1, 1e-3, 1e-8} {
				for _, m := range []int{0, 5} {
					if n <= 2*m || testkit.Quick() && n == long && (m == 0) != (at%2 == 0) { // half of the pairs, with each of both
						continue
					}
					c, missing := column(n, k, noise), drop(n, m, uint64(n))
					var w Workspace
					var f Factor
					if err := f.Factorise(c, missing, &w); err != nil {
						t.Fatal(name, noise, err)
					}
					all := make([]int, 0, 2*n)
					for i := range n {
						all = append(all, i)
					}
					for i := n - 1; i >= 0; i -= 97 {
						all = append(all, i)
					}
					norm := 0.
					for _, v := range c {
						norm += 2 * math.Abs(v)
					}
					rows := f.NewRows(&w)
					got := make([]float64, n)
					followed := 0
					for _, i := range all {
						if slices.Contains(missing, i) {
							continue
						}
						said := rows.Read(got, i, false) * c[0]
						if said > 0 {
							followed++
						}
						if off := rows.residual(got, i) / blas64.Nrm2(dense.Vec(got)); !(off <= 16*said+64*eps*norm) {
							t.Fatalf("n=%d/%s/noise=%g/missing=%d: row %d: |e − A·row| is %.2g of |row|, said were %.2g",
								n, name, noise, m, i, off, said)
						}
						for _, j := range missing {
							if got[j] != 0 {
								t.Fatalf("row %d has %v in the missing row %d", i, got[j], j)
							}
						}
					}
					if n == long && noise == 1 && followed < n/2 {
						t.Errorf("n=%d/%s/noise=%g/missing=%d: only %d rows followed", n, name, noise, m, followed)
					}
					t.Logf("n=%d/%s/noise=%g/missing=%d: %d of %d followed", n, name, noise, m, followed, n)
				}
			}
		}
	}
}

// sumsOf is CombinedSums for any α_k, one after the other in alpha, whose missing entries are zero.
func (f *Factor) sumsOf(dst, alpha []float64, w *Workspace) {
	if f.short() {
		f.sumsShort(dst, alpha, w)
		return
	}
	w.reset(f.size)
	f.diagonalSums(dst, alpha, nil, w)
}
