package statespace

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

const eps = 0x1p-52

// sums are the kernels of the tests, lengthscales to be multiplied.
var sums = map[string][]component{
	"0":     {{0, 1, 1}},
	"1":     {{1, 1.5, 1}},
	"2":     {{2, 0.7, 1}},
	"0+1":   {{0, 0.4, 0.3}, {1, 1.5, 1}},
	"2+2":   {{2, 1, 0.1}, {2, 0.3, 1}},
	"0+1+2": {{0, 0.2, 0.05}, {1, 1, 1}, {2, 2, 3}},
}

func scaled(cs []component, l float64) []component {
	out := append([]component(nil), cs...)
	for i := range out {
		out[i].Lengthscale *= l
	}
	return out
}

// unit is the size of the rounding errors that A's condition explains: an error
// of eps·v in each entry of K, against eigenvalues of σ² or more.
func unit(n int, cs []component, noise, quad, value float64) float64 {
	return eps * (float64(n)*(1+total(cs)/noise)*(1+quad/float64(n)) + math.Abs(value))
}

func TestNLL(t *testing.T) {
	for name, cs := range sums {
		for _, lay := range layouts {
			t.Run(name+"/"+lay.name, func(t *testing.T) {
				var value, units, gradient, gunits, worstAlpha float64
				rnd := rand.New(rand.NewPCG(1, 2))
				for _, n := range []int{1, 2, 3, 7, 40, 150, 400} {
					for _, l := range []float64{1e-3, 1e-2, 0.1, 1, 10, 100, 1e4} {
						for _, noise := range []float64{1e-6, 1e-3, 0.1, 10} {
							if n > testkit.Size(100, 150, 400) {
								continue
							}
							if n == 400 && (l > 1 && l < 1e4 || l < 1e-2 || noise == 1e-3 || noise == 0.1) {
								continue // dense algebra is slow
							}
							x := sorted(lay.draw(rnd, n))
							cs := scaled(cs, l)
							y := drawY(rnd, x, cs, noise)
							want, ok := denseNLL(x, y, cs, noise)
							if !ok {
								continue
							}
							grad := make([]float64, 2*len(cs)+1)
							f := NewFilter(x, nil)
							got, err := f.NLL(grad, y, cs, noise)
							if err != nil {
								t.Fatalf("n=%d l=%g noise=%g: %v", n, l, noise, err)
							}
							alpha := make([]float64, n)
							f.Solve(alpha, y)

							u := unit(n, cs, noise, dot(y, want.alpha), want.nll)
							dv, dg := math.Abs(got-want.nll), maxDiff(grad, want.grad)
							relative, gnorm := dv/(1+math.Abs(want.nll)), 1+maxNorm(want.grad)
							da := maxDiff(alpha, want.alpha) / maxNorm(want.alpha)
							// Dense algebra adds n equal logarithms, each sum rounded the same way.
							if dv > 16*u || relative > 1e-9 {
								t.Errorf("n=%d l=%g noise=%g: value %.15g, want %.15g, off by %.1f units", n, l, noise, got, want.nll, dv/u)
							}
							if dg > 8*u && dg > 1e-12*gnorm || dg > 3e-7*gnorm {
								t.Errorf("n=%d l=%g noise=%g: gradient %.12g, want %.12g, off by %.1f units", n, l, noise, grad, want.grad, dg/u)
							}
							if da > 1e-11+8*eps*float64(n)*total(cs)/noise {
								t.Errorf("n=%d l=%g noise=%g: alpha is off by %.2g", n, l, noise, da)
							}
							value, units = max(value, relative), max(units, dv/u)
							gradient, gunits = max(gradient, dg/gnorm), max(gunits, dg/u)
							worstAlpha = max(worstAlpha, da)
						}
					}
				}
				t.Logf("worst against dense float64: value %.1e (%.1f units), gradient %.1e (%.1f units), alpha %.1e",
					value, units, gradient, gunits, worstAlpha)
			})
		}
	}
}

// TestSpecialSweeps compares the written-out sweeps with the general ones.
func TestSpecialSweeps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for order := range 3 {
		for _, l := range []float64{1e-3, 0.1, 10} {
			const n = 200
			x, y := sorted(uniform(rnd, n)), normals(rnd, n)
			one := []component{{order, 1.3, l}}
			// A second component of variance 1e-300 changes nothing but the path.
			two := []component{one[0], {0, 1e-300, 1}}
			want, got := make([]float64, 5), make([]float64, 3)
			f, g := NewFilter(x, nil), NewFilter(x, nil)
			wantValue, err := f.NLL(want, y, two, 0.1)
			if err != nil {
				t.Fatal(err)
			}
			gotValue, err := g.NLL(got, y, one, 0.1)
			if err != nil {
				t.Fatal(err)
			}
			want = []float64{want[0], want[1], want[4]}
			if d := math.Abs(gotValue - wantValue); d > 1e-13*math.Abs(wantValue) {
				t.Errorf("order %d, l=%g: value %v, in general %v", order, l, gotValue, wantValue)
			}
			if d := maxDiff(got, want); d > 1e-12*maxNorm(want) {
				t.Errorf("order %d, l=%g: gradient %v, in general %v", order, l, got, want)
			}
		}
	}
}

func TestCentralDifferences(t *testing.T) {
	for name, cs := range sums {
		rnd := rand.New(rand.NewPCG(11, 12))
		x := sorted(layouts[3].draw(rnd, 80))
		cs := scaled(cs, 0.3)
		const noise = 0.05
		y := drawY(rnd, x, cs, noise)
		f := NewFilter(x, nil)
		value := func(u []float64) float64 {
			at := append([]component(nil), cs...)
			for c := range at {
				at[c].Variance, at[c].Lengthscale = math.Exp(u[2*c]), math.Exp(u[2*c+1])
			}
			v, err := f.NLL(nil, y, at, math.Exp(u[2*len(cs)]))
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		var u []float64
		for _, c := range cs {
			u = append(u, math.Log(c.Variance), math.Log(c.Lengthscale))
		}
		u = append(u, math.Log(noise))
		want := fd.Gradient(nil, value, u, &fd.Settings{Formula: fd.Central, Step: 1e-5})
		got := make([]float64, len(u))
		if _, err := f.NLL(got, y, cs, noise); err != nil {
			t.Fatal(err)
		}
		if d := maxDiff(got, want); d > 1e-7*(1+maxNorm(want)) {
			t.Errorf("%s: gradient %v, central differences %v", name, got, want)
		}
	}
}

func TestSolve(t *testing.T) {
	for name, cs := range sums {
		for _, lay := range layouts {
			rnd := rand.New(rand.NewPCG(13, 14))
			for _, n := range []int{1, 2, 30, 200} {
				x := sorted(lay.draw(rnd, n))
				cs := scaled(cs, 0.2)
				const noise = 0.01
				b := normals(rnd, n)
				kept := slices.Clone(b)
				want, _ := denseNLL(x, b, cs, noise)
				f := NewFilter(x, nil)
				if err := f.factoriseSum(blas64.General{}, cs, noise); err != nil {
					t.Fatal(err)
				}
				got := make([]float64, n)
				f.Solve(got, b)
				if !slices.Equal(b, kept) {
					t.Fatal("Solve changed its right-hand side")
				}
				if d := maxDiff(got, want.alpha) / maxNorm(want.alpha); d > 1e-10 {
					t.Errorf("%s/%s n=%d: A⁻¹b is off by %.2g", name, lay.name, n, d)
				}
				if d := math.Abs(f.LogDet() - want.logDet); d > 1e-10*(1+math.Abs(want.logDet)) {
					t.Errorf("%s/%s n=%d: log|A| %v, want %v", name, lay.name, n, f.LogDet(), want.logDet)
				}
				f.Solve(b, b)
				if !slices.Equal(b, got) {
					t.Errorf("%s/%s n=%d: in place A⁻¹b differs", name, lay.name, n)
				}
			}
		}
	}
}

// TestNoiseFree asks for A = K alone: fine for distinct inputs where K is well
// conditioned, an error for inputs that coincide.
func TestNoiseFree(t *testing.T) {
	x := []float64{0, 0.5, 0.7, 2, 1000, 1001}
	y := []float64{1, -1, 0.3, 2, 0.1, 0.5}
	for order := range 3 {
		cs := []component{{order, 2, 1}}
		want, _ := denseNLL(x, y, cs, 0)
		grad := make([]float64, 3)
		got, err := NewFilter(x, nil).NLL(grad, y, cs, 0)
		if err != nil || math.Abs(got-want.nll) > 1e-11*math.Abs(want.nll) || maxDiff(grad, want.grad) > 1e-10*maxNorm(want.grad) {
			t.Errorf("order %d: %v, %v, %v, want %v, %v", order, got, grad, err, want.nll, want.grad)
		}
		var np NotPositive
		if _, err := NewFilter([]float64{0, 1, 1}, nil).NLL(nil, y[:3], cs, 0); !errors.As(err, &np) || np.Row != 2 {
			t.Errorf("order %d, coinciding inputs without noise: %v, want NotPositive{2}", order, err)
		}
	}
}

func TestExtremes(t *testing.T) {
	// Gaps and lengthscales at the ends of the range of float64.
	x := []float64{-1e300, -1, -1, -1 + 1e-16, 0, 5e-324, 1e-300, 1, 1e300}
	y := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	for order := range 3 {
		for _, l := range []float64{5e-324, 1e-300, 1e-10, 1, 1e10, 1e300, math.MaxFloat64} {
			for _, cs := range [][]component{{{order, 1, l}}, {{order, 1, l}, {2 - order, 0.5, 1 / max(l, 1e-300)}}} {
				want, ok := denseNLL(x, y, cs, 0.1)
				grad := make([]float64, 2*len(cs)+1)
				got, err := NewFilter(x, nil).NLL(grad, y, cs, 0.1)
				if err != nil || math.IsNaN(got) || math.IsNaN(maxDiff(grad, grad)) {
					t.Fatalf("order %d, l=%g: %v, %v, %v", order, l, got, grad, err)
				}
				if ok && !math.IsNaN(want.nll) && math.Abs(got-want.nll) > 1e-11*math.Abs(want.nll) {
					t.Errorf("order %d, l=%g: value %v, want %v", order, l, got, want.nll)
				}
			}
		}
	}
}

func TestMisuse(t *testing.T) {
	f := NewFilter([]float64{0, 1}, nil)
	y := []float64{1, 2}
	for _, c := range []component{{0, 0, 1}, {0, -1, 1}, {1, 1, 0}, {1, math.NaN(), 1}, {2, 1, math.Inf(1)}} {
		if _, err := f.NLL(nil, y, []component{c}, 1); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	for _, noise := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := f.NLL(nil, y, sums["0"], noise); err == nil {
			t.Errorf("noise %v: no error", noise)
		}
	}
	for what, call := range map[string]func(){
		"descending inputs":   func() { NewFilter([]float64{1, 0}, nil) },
		"NaN input":           func() { NewFilter([]float64{math.NaN()}, nil) },
		"too few y":           func() { f.NLL(nil, y[:1], sums["0"], 1) },
		"gradient of 2":       func() { f.NLL(make([]float64, 2), y, sums["0"], 1) },
		"no component":        func() { f.NLL(nil, y, nil, 1) },
		"order 3":             func() { f.NLL(nil, y, []component{{3, 1, 1}}, 1) },
		"too few rows":        func() { NewProduct(f.t).gram([]blas64.General{general(1, 1, y)}, nil, general(1, 1, y), sums["0"]) },
		"prediction at a NaN": func() { f.predict(y[:1], nil, []float64{math.NaN()}, y, sums["0"], 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			call()
		}()
	}
	// No observation at all.
	if v, err := NewFilter(nil, nil).NLL(make([]float64, 3), nil, sums["1"], 1); v != 0 || err != nil {
		t.Errorf("no observation: %v, %v", v, err)
	}
	mean, variance := []float64{1}, []float64{0}
	if err := NewFilter(nil, nil).predict(mean, variance, []float64{3}, nil, sums["1"], 1); err != nil || mean[0] != 0 ||
		variance[0] != 1.5 {
		t.Errorf("prior at one input: %v, %v, %v", mean, variance, err)
	}
}

// TestNoAllocation covers changing hyperparameters, as training does.
func TestNoAllocation(t *testing.T) {
	rnd := rand.New(rand.NewPCG(15, 16))
	x, y := sorted(uniform(rnd, 1000)), normals(rnd, 1000)
	for name, cs := range sums {
		f := NewFilter(x, nil)
		grad := make([]float64, 2*len(cs)+1)
		l := 0.1
		allocs := testing.AllocsPerRun(10, func() {
			l *= 1.1
			for c := range cs {
				cs[c].Lengthscale *= 1.1
			}
			if _, err := f.NLL(grad, y, cs, l); err != nil {
				t.Fatal(err)
			}
			f.Solve(y, y)
		})
		for c := range cs {
			cs[c].Lengthscale /= math.Pow(1.1, 11)
		}
		if allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

// TestProperties draws problems too large and too odd for dense algebra to
// settle, and checks what must hold exactly.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		cs := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) component {
			return component{
				Order:       rapid.IntRange(0, 2).Draw(r, "order"),
				Variance:    math.Exp(rapid.Float64Range(-5, 5).Draw(r, "log v")),
				Lengthscale: math.Exp(rapid.Float64Range(-7, 10).Draw(r, "log l")),
			}
		}), 1, 3).Draw(r, "components")
		noise := math.Exp(rapid.Float64Range(-8, 3).Draw(r, "log noise"))
		gap := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1e-9), rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e4))
		n := rapid.IntRange(1, 300).Draw(r, "n")
		gaps := rapid.SliceOfN(gap, n, n).Draw(r, "gaps")
		x, sum := make([]float64, n), 0.0
		for i, g := range gaps {
			sum += g
			x[i] = sum
		}
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		y := drawY(rnd, x, cs, noise)
		keptX, keptY := slices.Clone(x), slices.Clone(y)

		f := NewFilter(x, nil)
		grad := make([]float64, 2*len(cs)+1)
		value, err := f.NLL(grad, y, cs, noise)
		if err != nil {
			r.Fatal(err)
		}
		alpha := make([]float64, n)
		f.Solve(alpha, y)
		quad := dot(y, alpha)
		tol := 20 * unit(n, cs, noise, quad, value)
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= tol) {
				r.Errorf("%s: %v, want %v, off by %.2g > %.2g", what, got, want, math.Abs(got-want), tol)
			}
		}
		if !slices.Equal(x, keptX) || !slices.Equal(y, keptY) {
			r.Fatal("NLL changed its inputs")
		}

		// ½yᵀ(cA)⁻¹y + ½log|cA| has derivative ½(n − yᵀA⁻¹y) in log c at c = 1.
		scale := grad[2*len(cs)]
		for c := range cs {
			scale += grad[2*c]
		}
		near("derivative in the scale of A", scale, 0.5*(float64(n)-quad))

		// A·α = y, by dense algebra.
		a, ka := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
		for _, c := range cs {
			k, _ := gram(c, x)
			a.AddSym(a, k)
		}
		for i := range n {
			a.SetSym(i, i, a.At(i, i)+noise)
		}
		ka.MulVec(a, mat.NewVecDense(n, alpha))
		if d := maxDiff(ka.RawVector().Data, y); d > 1e-11*(1+maxNorm(y))*(1+float64(n)*total(cs)/noise*1e-4) {
			r.Errorf("Aα differs from y by %.2g", d)
		}

		// The order of components, and the direction of time, change nothing.
		slices.Reverse(cs)
		mx, my := make([]float64, n), make([]float64, n)
		for i := range x {
			mx[n-1-i], my[n-1-i] = -x[i], y[i]
		}
		mirrored := make([]float64, len(grad))
		got, err := NewFilter(mx, nil).NLL(mirrored, my, cs, noise)
		if err != nil {
			r.Fatal(err)
		}
		near("value in reversed time", got, value)
		for c := range cs {
			o := len(cs) - 1 - c
			near("∂log v in reversed time", mirrored[2*o], grad[2*c])
			near("∂log l in reversed time", mirrored[2*o+1], grad[2*c+1])
		}

		// Var f(t_i) = σ² − σ⁴(A⁻¹)_ii and E f(t_i) = y_i − σ²α_i.
		mean, variance := make([]float64, n), make([]float64, n)
		if err := f.predict(mean, variance, x, y, cs, noise); err != nil {
			r.Fatal(err)
		}
		vtol := 1e-12*total(cs) + 1e-11*noise + float64(n)*eps*total(cs)
		for i := range mean {
			if d := math.Abs(mean[i] - y[i] + noise*alpha[i]); d > 1e-10*(1+maxNorm(y)) {
				r.Errorf("posterior mean %d: %v, want %v", i, mean[i], y[i]-noise*alpha[i])
			}
			if variance[i] < 0 || variance[i] > min(noise, total(cs))+vtol {
				r.Errorf("posterior variance %d: %v, noise %v, prior %v", i, variance[i], noise, total(cs))
			}
		}
	})
}
