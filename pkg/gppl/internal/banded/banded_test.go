package banded

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"
)

// fill sets a to a positive definite matrix and returns it in full. It visits
// the tiles one by one, for the entries are random.
func fill(a *Matrix, seed uint64) *mat.SymDense {
	n := a.N()
	rnd := rand.New(rand.NewPCG(seed, uint64(n)))
	full := mat.NewSymDense(max(n, 1), nil)
	sum := make([]float64, n)
	for j := range a.Blocks() {
		a.Block(j, func(row, col int, t blas64.General) {
			for r := range t.Rows {
				for c := range t.Cols {
					i, k := row+r, col+c
					if i == k {
						continue
					}
					v := rnd.NormFloat64()
					if row == col && c < r {
						v = full.At(i, k)
					} else {
						full.SetSym(i, k, v)
						sum[i] += math.Abs(v)
						sum[k] += math.Abs(v)
					}
					t.Data[r*t.Stride+c] = v
				}
			}
		})
	}
	for i := range n { // diagonally dominant, but not by much
		full.SetSym(i, i, 0.1+1.02*sum[i])
	}
	a.EachTile(func(row, col int, t blas64.General) {
		if row == col {
			for r := range t.Rows {
				t.Data[r*t.Stride+r] = full.At(row+r, row+r)
			}
		}
	})
	return full
}

// band is the profile of n rows that reach w to the left.
func band(n, w int) []int {
	first := make([]int, n)
	for i := range first {
		first[i] = max(0, i-w)
	}
	return first
}

// profiles draws a profile: full, diagonal, of constant width, or irregular.
func profiles(t *rapid.T) []int {
	n := rapid.OneOf(rapid.IntRange(1, 400), rapid.SampledFrom([]int{1, 31, 32, 33, 64, 96, 129})).Draw(t, "n")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return band(n, 0)
	case 1:
		return band(n, rapid.IntRange(0, n).Draw(t, "width"))
	default: // a walk, with long steps now and then, as where there is a gap in the inputs
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "walk"), 1))
		p := rapid.Float64Range(0, 1).Draw(t, "stay")
		first := make([]int, n)
		for i := 1; i < n; i++ {
			step := 0
			if rnd.Float64() > p {
				step = rnd.IntN(4)
			}
			if rnd.Float64() < 0.01 {
				step = i
			}
			first[i] = min(i, first[i-1]+step)
		}
		return first
	}
}

// split sets a's cut as if it were large, when the profile has room for one.
func split(a *Matrix, first []int) {
	small := tooSmall
	defer func() { tooSmall = small }()
	tooSmall = 0
	a.Reset(first)
}

func general(r, c int, rnd *rand.Rand) blas64.General {
	g := blas64.General{Rows: r, Cols: c, Stride: c, Data: make([]float64, r*c)}
	for i := range g.Data {
		g.Data[i] = rnd.NormFloat64()
	}
	return g
}

func clone(g blas64.General) blas64.General {
	g.Data = slices.Clone(g.Data)
	return g
}

func asDense(g blas64.General) *mat.Dense { return mat.NewDense(g.Rows, g.Cols, g.Data) }

// TestMatrix compares everything with gonum's dense algebra, whole and in
// halves, in one matrix reused for every profile.
func TestMatrix(t *testing.T) {
	var a, inverse Matrix
	compare(t, &a, &inverse, band(300, 20), true, 1, 5)
	if a.m == 0 {
		t.Error("a band of 20 in 300 rows is not cut in halves")
	}
	rapid.Check(t, func(t *rapid.T) {
		first := profiles(t)
		halves := rapid.Bool().Draw(t, "halves")
		seed := rapid.Uint64().Draw(t, "seed")
		compare(t, &a, &inverse, first, halves, seed, rapid.SampledFrom([]int{1, 2, 5, 70, 200}).Draw(t, "columns"))
	})
}

// compare fills a, of the profile first, with random entries, multiplies and
// solves random columns, and compares all that it gets with gonum's.
func compare(t rapid.TB, a, inverse *Matrix, first []int, halves bool, seed uint64, columns int) {
	t.Helper()
	n := len(first)
	if halves {
		split(a, first)
		split(inverse, first)
	} else {
		a.Reset(first)
		inverse.Reset(first)
	}
	full := fill(a, seed)
	seen := mat.NewDense(n, n, nil)
	a.EachTile(func(row, col int, t blas64.General) {
		for r := range t.Rows {
			for c := range t.Cols {
				i, k := row+r, col+c
				seen.Set(i, k, seen.At(i, k)+1)
				if row != col {
					seen.Set(k, i, seen.At(k, i)+1)
				}
			}
		}
		if t.Rows*t.Cols > a.MaxTile() || t.Stride != t.Cols {
			panic("MaxTile or Stride")
		}
	})
	for i := range n {
		for k := range n {
			if s := seen.At(i, k); s > 1 || s == 0 && k >= first[i] && k <= i {
				t.Fatalf("entry (%d, %d) is in %v tiles", i, k, s)
			}
		}
	}
	near := func(what string, got, want mat.Matrix) {
		t.Helper()
		var d mat.Dense
		d.Sub(got, want)
		if e := mat.Norm(&d, 2) / mat.Norm(want, 2); !(e < 1e-12) {
			t.Fatalf("%s: n = %d, relative error %.2g", what, n, e)
		}
	}
	rnd := rand.New(rand.NewPCG(seed, 3))
	b := general(n, columns, rnd)
	var want mat.Dense
	got := general(n, b.Cols, rnd)
	a.Mul(got, b)
	want.Mul(full, asDense(b))
	near("A·b", asDense(got), &want)

	var chol mat.Cholesky
	if !chol.Factorize(full) {
		t.Fatal("not positive definite")
	}
	if err := a.Cholesky(); err != nil {
		t.Fatal(err)
	}
	if w := chol.LogDet(); math.Abs(a.LogDet()-w) > 1e-12*(math.Abs(w)+float64(n)) {
		t.Fatalf("log det %v, want %v", a.LogDet(), w)
	}
	x := clone(b)
	a.SolveL(x)
	var norm mat.Dense
	norm.Mul(asDense(x).T(), asDense(x))
	a.SolveLT(x)
	if err := chol.SolveTo(&want, asDense(b)); err != nil {
		t.Fatal(err)
	}
	near("A⁻¹b", asDense(x), &want)
	var wantNorm mat.Dense
	wantNorm.Mul(asDense(b).T(), asDense(x))
	near("bᵀA⁻¹b", &norm, &wantNorm)
	lo, hi := rnd.IntN(n), 0
	hi = lo + 1 + rnd.IntN(n-lo)
	part := clone(b)
	dense.Zero(rowRange(part, 0, n)) // rows within [lo, hi) stay
	copy(rowRange(part, lo, hi).Data, rowRange(b, lo, hi).Data)
	if err := chol.SolveTo(&want, asDense(part)); err != nil {
		t.Fatal(err)
	}
	wantNorm.Mul(asDense(part).T(), &want)
	for _, rest := range []float64{0, 1e-17 * mat.Norm(&wantNorm, 2), 1e-2 * wantNorm.At(0, 0)} {
		within := clone(part)
		squares := make([]float64, b.Cols)
		a.Squares(squares, within, lo, hi, least(full), rest)
		for c, s := range squares {
			if w := wantNorm.At(c, c); !(s <= w*(1+1e-12) && s >= w*(1-1e-12)-rest) {
				t.Fatalf("n = %d, rows %d to %d: |F⁻¹b|² = %v of column %d, want %v less at most %v", n, lo, hi, s, c, w, rest)
			}
		}
		if i := slices.IndexFunc(within.Data, func(v float64) bool { return v != 0 }); i >= 0 {
			t.Fatalf("n = %d, rows %d to %d: entry %d is %v after Squares", n, lo, hi, i, within.Data[i])
		}
	}

	var inv mat.SymDense
	if err := chol.InverseTo(&inv); err != nil {
		t.Fatal(err)
	}
	tiles := func(what string, z *Matrix) {
		t.Helper()
		z.EachTile(func(row, col int, tile blas64.General) {
			whole := mat.DenseCopyOf(&inv)
			near(what, asDense(tile), whole.Slice(row, row+tile.Rows, col, col+tile.Cols))
		})
	}
	a.Inverse(inverse)
	tiles("A⁻¹", inverse)
	a.SolveL(got) // the factor is still there
	a.Inverse(a)
	tiles("A⁻¹ in place", a)
}

// least returns a number that no eigenvalue of a is below: its least one.
func least(a *mat.SymDense) float64 {
	var e mat.EigenSym
	if !e.Factorize(a, false) {
		panic("no eigenvalues")
	}
	return 0.999 * e.Values(nil)[0]
}

// TestWide has a band wide enough for every block's work to be spread over the
// processors, and a profile that changes its reach on the way.
func TestWide(t *testing.T) {
	n := testkit.Size(1000, 2000, 2000)
	for _, wide := range []int{n * 7 / 20, n * 3 / 4} {
		first := band(n, wide)
		for i := range first[:n/3] {
			first[i] = max(0, i-40)
		}
		for i := n / 3; i < n; i++ {
			first[i] = max(first[i], first[n/3-1])
		}
		a := New(first)
		full := fill(a, 1)
		var chol mat.Cholesky
		if err := a.Cholesky(); err != nil || !chol.Factorize(full) {
			t.Fatal(err)
		}
		if math.Abs(a.LogDet()-chol.LogDet()) > 1e-12*math.Abs(chol.LogDet()) {
			t.Errorf("log det %v, want %v", a.LogDet(), chol.LogDet())
		}
		var inv mat.SymDense
		if err := chol.InverseTo(&inv); err != nil {
			t.Fatal(err)
		}
		a.Inverse(a)
		for j := range a.Blocks() {
			a.Block(j, func(row, col int, tile blas64.General) {
				for r := range tile.Rows {
					for c := range tile.Cols {
						if got, want := tile.Data[r*tile.Stride+c], inv.At(row+r, col+c); math.Abs(got-want) > 1e-15 {
							t.Fatalf("inverse (%d, %d): %v, want %v", row+r, col+c, got, want)
						}
					}
				}
			})
		}
	}
}

func TestNotPositive(t *testing.T) {
	first := band(400, 20)
	var a Matrix
	for _, reset := range []func(){func() { a.Reset(first) }, func() { split(&a, first) }} {
		for _, bad := range []int{0, 3, 199, 210, 350, 399} {
			for _, v := range []float64{-1, 0, math.NaN(), math.Inf(1)} {
				reset()
				fill(&a, 1)
				b := &a.blocks[bad/side]
				b.diag.Data[bad%side*(b.diag.Stride+1)] = v
				var e NotPositive
				if err := a.Cholesky(); !errors.As(err, &e) || e.Row != bad {
					t.Errorf("%v at row %d: got %v", v, bad, err)
				}
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a profile that moves back")
		}
	}()
	a.Reset([]int{0, 1, 0})
}

// TestProcessors: results are the same to the last bit on one and on several.
func TestProcessors(t *testing.T) {
	result := func(width int) []float64 {
		a := New(band(2500, width))
		fill(a, 1)
		if err := a.Cholesky(); err != nil {
			t.Fatal(err)
		}
		x := general(a.N(), 70, rand.New(rand.NewPCG(1, 1)))
		a.SolveL(x)
		a.SolveLT(x)
		a.Inverse(a)
		return append(x.Data, a.data...)
	}
	for _, width := range []int{100, testkit.Size(500, 900, 900)} {
		several := result(width)
		procs := runtime.GOMAXPROCS(1)
		one := result(width)
		runtime.GOMAXPROCS(procs)
		if !slices.Equal(one, several) {
			t.Errorf("width %d: results differ", width)
		}
	}
}

func TestEmpty(t *testing.T) {
	var a Matrix
	a.Reset(nil)
	if err := a.Cholesky(); err != nil || a.LogDet() != 0 {
		t.Error("the empty matrix")
	}
	a.Inverse(&a)
}

// TestAllocations: nothing for a matrix that is not cut in halves; for one that
// is, one closure (AllocsPerRun has one processor; on two, parallel.For adds
// four small allocations for its goroutine).
func TestAllocations(t *testing.T) {
	for _, c := range []struct {
		n, width int
		most     float64
	}{{500, 30, 0}, {3000, 150, 1}} {
		first, other := band(c.n, c.width), band(c.n, c.width/2)
		a, z := New(first), New(first)
		saved := general(1, len(a.data), rand.New(rand.NewPCG(1, 1)))
		fill(a, 1)
		copy(saved.Data, a.data)
		x, y := general(c.n, 1, rand.New(rand.NewPCG(1, 1))), general(c.n, 1, rand.New(rand.NewPCG(1, 1)))
		var check Check
		for what, f := range map[string]func(){
			"Reset":       func() { a.Reset(other); a.Reset(first) },
			"AddDiagonal": func() { a.AddDiagonal(0) },
			"Cholesky":    func() { copy(a.data, saved.Data); a.Cholesky() },
			"LogDet":      func() { a.LogDet() },
			"SolveL":      func() { a.SolveL(x) },
			"SolveLT":     func() { a.SolveLT(x) },
			"Inverse":     func() { a.Inverse(z) },
			"Mul":         func() { a.Mul(y, x) },
			"Check":       func() { check.Solve(a); check.Discrepancy(z) },
		} {
			copy(a.data, saved.Data)
			a.Cholesky()
			if what == "Check" && c.most > 0 {
				c.most = 2 // Solve goes there and back
			}
			if got := testing.AllocsPerRun(5, f); got > c.most {
				t.Errorf("%s, n = %d: %v allocations", what, c.n, got)
			}
		}
	}
}

func rate(b *testing.B, flops float64) {
	b.ReportMetric(flops*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GF/s")
}

// BenchmarkGemm is the yardstick: gonum's Gemm on all processors, of one large
// matrix and of as many tiles as there are processors.
func BenchmarkGemm(b *testing.B) {
	multiply := func(n int) func() {
		rnd := rand.New(rand.NewPCG(1, 1))
		x, y, z := general(n, n, rnd), general(n, n, rnd), general(n, n, rnd)
		return func() { blas64.Gemm(blas.NoTrans, blas.NoTrans, 1e-9, x, y, 1, z) }
	}
	b.Run("n=1024", func(b *testing.B) {
		f := multiply(1024)
		for b.Loop() {
			f()
		}
		rate(b, 2*1024*1024*1024)
	})
	b.Run("n=64", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for f := multiply(64); pb.Next(); {
				f()
			}
		})
		rate(b, 2*64*64*64)
	})
}

// Flops count a band factorised entry by entry: the waste of blocks counts
// as time.
func BenchmarkBanded(b *testing.B) {
	for _, c := range []struct{ n, width int }{{3319, 150}, {100000, 150}, {3319, 1000}} {
		n, w := float64(c.n), float64(c.width)
		first := band(c.n, c.width)
		a, z := New(first), New(first)
		refill := func() {
			a.EachTile(func(row, col int, t blas64.General) {
				for r := range t.Rows {
					for k := range t.Cols {
						d := math.Abs(float64(row+r-col-k)) / w
						t.Data[r*t.Stride+k] = max(0, 1-d)
					}
				}
			})
			a.AddDiagonal(0.1)
		}
		run := func(name string, flops float64, before, f func()) {
			b.Run(fmt.Sprintf("%s/n=%d/width=%d", name, c.n, c.width), func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					b.StopTimer()
					before()
					b.StartTimer()
					f()
				}
				rate(b, flops)
			})
		}
		none := func() {}
		chol := func() {
			if err := a.Cholesky(); err != nil {
				b.Fatal(err)
			}
		}
		x, y := general(c.n, 1, rand.New(rand.NewPCG(1, 1))), general(c.n, 100, rand.New(rand.NewPCG(1, 1)))
		dst := clone(y)
		run("Reset", 0, none, func() { a.Reset(first) })
		run("Fill", 0, none, refill)
		run("Cholesky", n*w*w, refill, chol)
		refill()
		chol()
		run("Inverse", 2*n*w*w, none, func() { a.Inverse(z) })
		var check Check
		run("Check", 4*n*w, none, func() { check.Solve(a); check.Discrepancy(z) })
		run("Solve,columns=1", 4*n*w, none, func() { a.SolveL(x); a.SolveLT(x) })
		run("Solve,columns=100", 400*n*w, none, func() { a.SolveL(y); a.SolveLT(y) })
		refill()
		run("Mul,columns=100", 400*n*w, none, func() { a.Mul(dst, y) })
	}
}

// New returns a matrix of n = len(first) rows, where row i has no entries left
// of column first[i] ≤ i. Nothing can be said of its contents: fill it.
func New(first []int) *Matrix {
	a := new(Matrix)
	a.Reset(first)
	return a
}

// N returns the size of the matrix.
func (a *Matrix) N() int { return a.n }
