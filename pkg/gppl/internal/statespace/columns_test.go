package statespace

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// denseColumns is what Gram and Gradient compute, by dense algebra.
func denseColumns(t, known []float64, columns, r blas64.General, cs []component,
	noise float64) (logDet float64, g *mat.Dense, grad []float64, share float64) {
	n := len(t)
	a := mat.NewSymDense(n, nil)
	var parts []*mat.SymDense
	for _, c := range cs {
		k, s := gram(c, t)
		a.AddSym(a, k)
		parts = append(parts, k, s)
	}
	white, errors := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		white.SetSym(i, i, noise)
		errors.SetSym(i, i, known[i])
	}
	a.AddSym(a, white)
	a.AddSym(a, errors)
	parts = append(parts, white, errors)
	var chol mat.Cholesky
	chol.Factorize(a)
	c := mat.NewDense(n, columns.Cols, columns.Data)
	solved, u := new(mat.Dense), new(mat.Dense)
	chol.SolveTo(solved, c)
	g = new(mat.Dense)
	g.Mul(c.T(), solved)
	u.Mul(solved, mat.NewDense(r.Rows, r.Cols, r.Data))
	inverse := mat.NewSymDense(n, nil)
	chol.InverseTo(inverse)
	for _, p := range parts {
		var s float64
		for i := range n {
			for j := range n {
				w := inverse.At(i, j)
				for k := range r.Cols {
					w -= u.At(i, k) * u.At(j, k)
				}
				s += 0.5 * w * p.At(i, j)
			}
		}
		grad = append(grad, s)
	}
	last := len(grad) - 1
	return chol.LogDet(), g, grad[:last], grad[last]
}

// TestColumns compares several columns, with known errors of very different size,
// with dense algebra.
func TestColumns(t *testing.T) {
	for name, cs := range sums {
		for _, lay := range layouts {
			for _, n := range []int{1, 2, 60, chunk + 20} {
				rnd := rand.New(rand.NewPCG(uint64(n), 31))
				x, known := sorted(lay.draw(rnd, n)), make([]float64, n)
				for i := range known {
					known[i] = math.Exp(4 * rnd.NormFloat64())
				}
				cs, noise := scaled(cs, 0.2), 0.01
				columns := general(n, 3, normals(rnd, 3*n))
				for _, cols := range []int{1, 2, 3} {
					if testkit.Quick() && n > 60 && cols != 2 {
						continue
					}
					r := general(3, cols, normals(rnd, 3*cols))
					logDet, gram, grad, share := denseColumns(x, known, columns, r, cs, noise)
					f := NewFilter(x, known)
					if err := f.factoriseSum(columns, cs, noise); err != nil {
						t.Fatal(err)
					}
					g, got := general(3, 3, make([]float64, 9)), make([]float64, len(grad))
					f.Gram(g)
					gotShare := f.Gradient(got, r)
					const tol = 1e-10
					if d := math.Abs(f.LogDet() - logDet); d > tol*float64(n) {
						t.Errorf("%s/%s n=%d: log|A| is off by %.2g", name, lay.name, n, d)
					}
					if d := maxDiff(g.Data, gram.RawMatrix().Data); d > tol*(1+maxNorm(g.Data)) {
						t.Errorf("%s/%s n=%d: CᵀA⁻¹C is off by %.2g", name, lay.name, n, d)
					}
					if d := maxDiff(got, grad); d > tol*(float64(n)+maxNorm(grad)) {
						t.Errorf("%s/%s n=%d, R 3×%d: gradient %v, want %v", name, lay.name, n, cols, got, grad)
					}
					if d := math.Abs(gotShare - share); d > tol*(float64(n)+math.Abs(share)) {
						t.Errorf("%s/%s n=%d, R 3×%d: derivative in the errors %v, want %v", name, lay.name, n, cols, gotShare, share)
					}
				}
			}
		}
	}
}

// TestColumnsAlone: each of several columns has the posterior mean that it has alone,
// and equal errors are like noise.
func TestColumnsAlone(t *testing.T) {
	const n, m = 80, 30
	for name, cs := range sums {
		rnd := rand.New(rand.NewPCG(2, 32))
		x, known := sorted(uniform(rnd, n)), make([]float64, n)
		for i := range known {
			known[i] = 0.07
		}
		cs, columns := scaled(cs, 0.2), general(n, 2, normals(rnd, 2*n))
		at := append(uniform(rnd, m-2), -0.5, 1.5)
		f := NewFilter(x, known)
		if err := f.factoriseSum(columns, cs, 0.03); err != nil {
			t.Fatal(err)
		}
		means, variance := general(m, 2, make([]float64, 2*m)), make([]float64, m)
		f.Posterior(means, variance, at)
		for j := range 2 {
			y, got := make([]float64, n), make([]float64, m)
			for i := range y {
				y[i] = columns.Data[2*i+j]
			}
			for i := range got {
				got[i] = means.Data[2*i+j]
			}
			want, wantVariance := make([]float64, m), make([]float64, m)
			if err := NewFilter(x, nil).predict(want, wantVariance, at, y, cs, 0.1); err != nil {
				t.Fatal(err)
			}
			if d, dv := maxDiff(got, want), maxDiff(variance, wantVariance); d > 1e-12 || dv > 1e-12 {
				t.Errorf("%s: means off by %.2g, variances by %.2g", name, d, dv)
			}
		}
	}
}

// TestManyColumns: as many columns as have their means replayed tell what fewer do, whose means are kept.
func TestManyColumns(t *testing.T) {
	type factoriser func(f *Filter, columns blas64.General, noise float64) error
	cases := map[string]factoriser{}
	for name, cs := range sums {
		cases[name] = func(f *Filter, columns blas64.General, noise float64) error {
			return f.factoriseSum(columns, scaled(cs, 0.2), noise)
		}
	}
	for _, c := range blockCases {
		cases[c.name] = func(f *Filter, columns blas64.General, noise float64) error {
			return f.factorisePairs(columns, c.blocks(c.theta), noise)
		}
	}
	const n, many, few, tol = 2*chunk + 20, panelWidth + 3, 3, 1e-10
	for name, factorise := range cases {
		rnd := rand.New(rand.NewPCG(5, 34))
		x, known := sorted(uniform(rnd, n)), uniform(rnd, n)
		wide := general(n, many, normals(rnd, n*many))
		r := general(many, few, normals(rnd, many*few))
		narrow := general(n, few, make([]float64, n*few))
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, wide, r, 0, narrow)
		one := general(few, few, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
		f, g := NewFilter(x, known), NewFilter(x, known)
		if err := cmp.Or(factorise(f, wide, 0.3), factorise(g, narrow, 0.3)); err != nil {
			t.Fatal(err)
		}
		differ := func(what string, got, want []float64) {
			t.Helper()
			if d := maxDiff(got, want); !(d <= tol*(n+maxNorm(want))) {
				t.Errorf("%s: %s %v, want %v", name, what, got, want)
			}
		}
		got, want := make([]float64, f.Derivatives()), make([]float64, f.Derivatives())
		gotKnown, wantKnown := f.Gradient(got, r), g.Gradient(want, one)
		differ("gradient", append(got, gotKnown), append(want, wantKnown))
		clear(r.Data[few:]) // rows of the first column alone, and none of the last of CR
		r.Data[few-1] = 0
		copy(one.Data, r.Data[:few])
		clear(one.Data[few:])
		for i := range n {
			narrow.Data[i*few] = wide.Data[i*many]
		}
		if err := factorise(g, narrow, 0.3); err != nil {
			t.Fatal(err)
		}
		gotKnown, wantKnown = f.Gradient(got, r), g.Gradient(want, one)
		differ("gradient of a column", append(got, gotKnown), append(want, wantKnown))

		at := append(uniform(rnd, 30), -0.5, 1.5, x[chunk], x[chunk-1])
		means, alone := general(len(at), many, make([]float64, len(at)*many)), general(len(at), few, make([]float64, len(at)*few))
		variance, wantVariance := make([]float64, len(at)), make([]float64, len(at))
		for j := range few { // columns of three chunks
			for i := range n {
				narrow.Data[i*few+j] = wide.Data[i*many+j*many/few]
			}
		}
		if err := factorise(g, narrow, 0.3); err != nil {
			t.Fatal(err)
		}
		f.Reader().Posterior(means, variance, at)
		g.Posterior(alone, wantVariance, at)
		differ("variance", variance, wantVariance)
		end, wantEnd := make([]float64, many), make([]float64, few)
		f.Ahead(end, f.Tail(), 1.7)
		g.Ahead(wantEnd, g.Tail(), 1.7)
		for j := range few {
			differ("mean beyond", end[j*many/few:][:1], wantEnd[j:j+1])
			for i := range at {
				differ("mean", means.Data[i*many+j*many/few:][:1], alone.Data[i*few+j:][:1])
			}
		}
	}
}

// TestReader: readers of one factorisation work at the same time.
func TestReader(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 33))
	x := sorted(uniform(rnd, 200))
	f := NewFilter(x, nil)
	if err := f.factoriseSum(column(normals(rnd, 200)), sums["0+1"], 0.1); err != nil {
		t.Fatal(err)
	}
	at, b := uniform(rnd, 20), normals(rnd, 200)
	ask := func(f *Filter) []float64 {
		all := make([]float64, 20+20+200)
		f.Posterior(column(all[:20]), all[20:40], at)
		f.Solve(all[40:], b)
		return all
	}
	want := ask(f)
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			r := f.Reader()
			for range 5 {
				if !slices.Equal(ask(r), want) {
					t.Error("a reader has other digits")
				}
			}
		})
	}
	wait.Wait()
}
