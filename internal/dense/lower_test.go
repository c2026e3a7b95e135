package dense

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// random returns a positive definite matrix, whole and in tiles.
func random(n int, seed uint64) (*mat.SymDense, *Lower) {
	rnd := rand.New(rand.NewPCG(seed, uint64(n)))
	a := mat.NewDense(n, n+3, nil)
	for i := range n {
		for j := range n + 3 {
			a.Set(i, j, rnd.NormFloat64())
		}
	}
	var s mat.SymDense
	s.SymOuterK(1/float64(n), a)
	l := NewLower(n)
	l.EachTile(func(i, j int, t blas64.General) {
		for r := range t.Rows {
			for c := range t.Cols {
				t.Data[r*t.Stride+c] = s.At(i*Tile+r, j*Tile+c)
			}
		}
	})
	l.AddDiagonal(0.1)
	for i := range n {
		s.SetSym(i, i, s.At(i, i)+0.1)
	}
	return &s, l
}

func general(r, c int, rnd *rand.Rand) blas64.General {
	g := blas64.General{Rows: r, Cols: c, Stride: c, Data: make([]float64, r*c)}
	for i := range g.Data {
		g.Data[i] = rnd.NormFloat64()
	}
	return g
}

func asDense(g blas64.General) *mat.Dense { return mat.NewDense(g.Rows, g.Cols, g.Data) }

func clone(g blas64.General) blas64.General {
	g.Data = append([]float64(nil), g.Data...)
	return g
}

// TestLower compares everything with gonum's mat, across tile borders, with products that are rounded and with fused ones.
func TestLower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 63, 64, 65, 128, 150, 200}).Draw(t, "n")
		m := rapid.SampledFrom([]int{1, 5, 70}).Draw(t, "columns")
		seed := rapid.Uint64().Draw(t, "seed")
		rnd := rand.New(rand.NewPCG(seed, 1))
		a, l := random(n, seed)
		l.Fused = rapid.Bool().Draw(t, "fused")
		if err := l.Cholesky(); err != nil {
			t.Fatal(err)
		}
		var chol mat.Cholesky
		if !chol.Factorize(a) {
			t.Fatal("not positive definite")
		}
		var want mat.TriDense
		chol.LTo(&want)
		if math.Abs(l.LogDet()-chol.LogDet()) > 1e-10*float64(n) {
			t.Fatalf("log det %v, want %v", l.LogDet(), chol.LogDet())
		}
		check := func(what string, got blas64.General, want mat.Matrix) {
			t.Helper()
			if !mat.EqualApprox(asDense(got), want, 1e-8) {
				t.Fatalf("%s: n = %d, %d columns: wrong", what, n, m)
			}
		}
		b, bt := general(n, m, rnd), general(m, n, rnd)
		x := clone(b)
		l.SolveL(x)
		y := clone(x)
		l.MulL(y)
		check("L·L⁻¹b", y, asDense(b))
		l.SolveLT(x)
		var solved mat.Dense
		if err := chol.SolveTo(&solved, asDense(b)); err != nil {
			t.Fatal(err)
		}
		check("A⁻¹b", x, &solved)
		var back mat.Dense
		right := clone(bt)
		l.SolveLRight(right)
		back.Mul(asDense(right), &want)
		check("bL⁻¹·L", bt, &back)
		right = clone(bt)
		l.SolveLTRight(right)
		back.Mul(asDense(right), want.T())
		check("bL⁻ᵀ·Lᵀ", bt, &back)

		inv := NewLower(n)
		inv.Fused = l.Fused
		l.InvertL(inv)
		var full mat.SymDense
		if err := chol.InverseTo(&full); err != nil {
			t.Fatal(err)
		}
		for i := range Blocks(n) {
			for j := range i + 1 {
				tile := blas64.General{Rows: Width(n, i), Cols: Width(n, j), Stride: Width(n, j), Data: make([]float64, Width(n, i)*Width(n, j))}
				inv.InverseTile(tile, i, j)
				whole := mat.NewDense(n, n, nil)
				whole.Copy(&full)
				check("tile of A⁻¹", tile, whole.Slice(i*Tile, i*Tile+tile.Rows, j*Tile, j*Tile+tile.Cols))
			}
		}
		room := make([]float64, Tile*Tile)
		for j := range Blocks(n) {
			next := j
			inv.InverseColumn(j, room, func(i int, tile blas64.General) {
				want := New(tile.Rows, tile.Cols)
				inv.InverseTile(want, i, j)
				same := slices.Equal(tile.Data, want.Data) || inv.Fused && mat.EqualApprox(asDense(tile), asDense(want), 1e-10)
				if next++; next != i+1 || !same {
					t.Fatalf("tile (%d, %d) of a column of A⁻¹ is not InverseTile's, or not the next after %d", i, j, next-2)
				}
			})
			if next != Blocks(n) {
				t.Fatalf("column %d of A⁻¹ ends before tile %d", j, next)
			}
		}
	})
}

// TestInvertStrips: L⁻¹ of two strips of columns and a narrow last tile has the same bits on every processor and with any number
// of goroutines, and Lᵀ·L⁻ᵀ = I.
func TestInvertStrips(t *testing.T) {
	n := (2*strip-1)*Tile + 2
	_, l := random(n, 3)
	if err := l.Cholesky(); err != nil {
		t.Fatal(err)
	}
	invert := func(processors int) *Lower {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		m := NewLower(n)
		l.InvertL(m)
		return m
	}
	alone := invert(1)
	onEach(func() {
		for _, processors := range []int{1, 4, 4, 4, 4, 4, 4, 4, 4} {
			again := invert(processors)
			for k := range alone.tiles {
				if !slices.Equal(alone.tiles[k].Data, again.tiles[k].Data) {
					t.Fatalf("tile %d of %d differs", k, len(alone.tiles))
				}
			}
		}
	})
	one := alone.Transposed() // L⁻ᵀ
	l.MulLT(one)
	for i := range n {
		for j := range n {
			if want := map[bool]float64{true: 1}[i == j]; math.Abs(one.Data[i*n+j]-want) > 1e-9 {
				t.Fatalf("entry (%d, %d) of Lᵀ·L⁻ᵀ is %v", i, j, one.Data[i*n+j])
			}
		}
	}
}

// TestFused: a signed factor of fused products is the one of rounded products up to rounding, and its bits are the same with AVX-512
// and without.
func TestFused(t *testing.T) {
	const n, negative = 6*Tile + 30, 4 // more than a strip of columns, the last tiles narrower
	factor := func(fused bool) *Lower {
		_, l := random(n, 5)
		l.EachTile(func(_, j int, t blas64.General) {
			if j >= negative { // what is left after eliminating the first blocks is negative definite then
				blas64.Scal(-1, Vec(t.Data))
			}
		})
		l.Fused = fused
		if err := l.CholeskySigned(negative); err != nil {
			t.Fatal(err)
		}
		return l
	}
	rounded, fused := factor(false), factor(true)
	wide := cpu.X86.HasAVX512F
	defer func() { cpu.X86.HasAVX512F = wide }()
	cpu.X86.HasAVX512F = false
	narrow := factor(true)
	for k, want := range rounded.tiles {
		if !mat.EqualApprox(asDense(fused.tiles[k]), asDense(want), 1e-12) {
			t.Errorf("tile %d of %d is not the rounded one", k, len(rounded.tiles))
		}
		if !slices.Equal(fused.tiles[k].Data, narrow.tiles[k].Data) {
			t.Errorf("tile %d of %d depends on AVX-512", k, len(rounded.tiles))
		}
	}
}

// TestProducts compares what is added to a matrix in tiles, and what is solved on both sides, with gonum's mat.
func TestProducts(t *testing.T) {
	for _, n := range []int{1, 64, 65, 150} {
		rnd := rand.New(rand.NewPCG(uint64(n), 2))
		a, l := random(n, uint64(n))
		b := general(70, n, rnd)
		btb := ProductWithin(t.Context(), blas.Trans, b, b)
		var want mat.Dense
		want.Mul(asDense(b).T(), asDense(b))
		if !mat.EqualApprox(asDense(btb), &want, 1e-10) {
			t.Fatalf("n = %d: bᵀb is wrong", n)
		}
		sum := NewLower(n)
		sum.Set(btb)
		sum.AddOuter(-0.5, b)
		half := clone(btb)
		blas64.Scal(0.5, Vec(half.Data))
		eye := New(n, n)
		AddDiagonal(eye, 1)
		sum.SubtractProduct(half, eye)
		sum.EachTile(func(i, j int, tile blas64.General) {
			for _, v := range tile.Data {
				if math.Abs(v) > 1e-10 {
					t.Errorf("n = %d: bᵀb − ½bᵀb − ½bᵀb has %v in tile %d, %d", n, v, i, j)
				}
			}
		})
		if err := l.Cholesky(); err != nil {
			t.Fatal(err)
		}
		white := New(n, n)
		for i := range n {
			for j := range n {
				white.Data[i*n+j] = a.At(i, j)
			}
		}
		l.Whiten(white)
		if !mat.EqualApprox(asDense(white), asDense(eye), 1e-9) {
			t.Errorf("n = %d: L⁻¹AL⁻ᵀ is not I", n)
		}
		unit, z := clone(eye), make([]float64, n)
		l.SolveL(unit)
		l.SolveUnit(z, n/2)
		for i, v := range z {
			if math.Abs(v-unit.Data[i*n+n/2]) > 1e-10 {
				t.Errorf("n = %d: entry %d of L⁻¹e is %v, want %v", n, i, v, unit.Data[i*n+n/2])
			}
		}
	}
}

func TestNotPositive(t *testing.T) {
	for _, bad := range []int{0, 3, 64, 99} {
		_, l := random(100, 1)
		d := l.At(bad/Tile, bad/Tile)
		d.Data[bad%Tile*d.Stride+bad%Tile] = -1
		var e NotPositive
		if err := l.Cholesky(); !errors.As(err, &e) || e.Row != bad {
			t.Errorf("got %v, want the minor that ends in row %d", err, bad)
		}
	}
	_, l := random(100, 1)
	l.At(1, 0).Data[5] = math.NaN()
	if err := l.Cholesky(); err == nil {
		t.Error("no error for NaN")
	}
}

// TestSquare compares aᵀa, and products with matrices that are zero above, below or everywhere, with Gemm.
func TestSquare(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	for _, c := range []int{1, 64, 65, 200} {
		a := general(90, c, rnd)
		want := ProductWithin(t.Context(), blas.Trans, a, a)
		for _, unread := range []int{0, 1, c / 2, c} {
			g := New(c, c)
			Square(g, a, unread)
			for i := range c {
				for j := range c {
					if read := i < c-unread || j < c-unread; read && math.Abs(g.Data[i*c+j]-want.Data[i*c+j]) > 1e-12*90 {
						t.Fatalf("c = %d, %d unread: entry %d, %d is %v, want %v", c, unread, i, j, g.Data[i*c+j], want.Data[i*c+j])
					}
				}
			}
		}
		for _, zero := range []func(i, j int) bool{
			func(i, j int) bool { return i > j },
			func(i, j int) bool { return i < c/3 || j == 70 },
			func(i, j int) bool { return true },
		} {
			r := general(c, 130, rnd)
			for i := range c {
				for j := range r.Cols {
					if zero(i, j) {
						r.Data[i*r.Stride+j] = 0
					}
				}
			}
			if got := Combine(general(90, 130, rnd), a, r); !mat.EqualApprox(asDense(got), asDense(ProductWithin(t.Context(), blas.NoTrans, a, r)), 1e-12) {
				t.Errorf("c = %d: a·r is wrong", c)
			}
		}
	}
}
