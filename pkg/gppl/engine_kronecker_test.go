package gppl_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// gridOf returns every combination of points of several groups of axes, in random order: groups[g] has sizes[g] random points.
func gridOf(rnd *rand.Rand, d int, groups [][]int, sizes []int) gppl.Inputs {
	var points [][]float64
	points = append(points, make([]float64, d))
	for g, axes := range groups {
		var more [][]float64
		for range sizes[g] {
			at := make([]float64, len(axes))
			for a := range at {
				at[a] = 4 * rnd.NormFloat64()
			}
			for _, p := range points {
				q := slices.Clone(p)
				for a, axis := range axes {
					q[axis] = at[a]
				}
				more = append(more, q)
			}
		}
		points = more
	}
	rnd.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	return gppl.Vectors(slices.Concat(points...), d)
}

// randomGrid is a product over groups of axes, with data on a grid of them.
func randomGrid(rnd *rand.Rand, most int) (gppl.Model, gppl.Data) {
	d := 2 + rnd.IntN(3)
	order := rnd.Perm(d)
	var groups [][]int
	var sizes []int
	for n := 1; len(order) > 0; {
		take := 1 + rnd.IntN(len(order))
		if take == d {
			take-- // at least two groups
		}
		groups, order = append(groups, order[:take]), order[take:]
		size := 1 + rnd.IntN(max(1, min(12, most/n)))
		sizes, n = append(sizes, size), n*size
	}
	var factors []gppl.Kernel
	for _, axes := range groups {
		if len(factors) > 0 && rnd.IntN(8) == 0 {
			continue // an axis of no factor
		}
		factors = append(factors, gppl.On(randomAxes(rnd, len(axes), 1), axes...))
	}
	kernel := gppl.Kernel(gppl.Mul(factors...))
	switch rnd.IntN(5) {
	case 0:
		kernel = gppl.Add(gppl.White{Variance: 0.1}, kernel)
	case 1:
		kernel = gppl.SE{Variance: 1.5, Lengthscale: 2}
	case 2:
		l := make([]float64, d)
		for a := range l {
			l[a] = 1 + 3*rnd.Float64()
		}
		kernel = gppl.ARD(gppl.SE{Variance: 1.5}, l...)
	}
	x := gridOf(rnd, d, groups, sizes)
	data := gppl.Data{X: x, Y: make([]float64, x.Len())}
	for i := range data.Y {
		data.Y[i] = rnd.NormFloat64()
	}
	m := gppl.Model{Kernel: kernel, Noise: 0.05 + rnd.Float64()}
	if rnd.IntN(3) == 0 && x.Len() > 2 {
		m.Mean = gppl.Intercept{}
	}
	return m, data
}

// The tolerances of TestKroneckerRandom, relative to 1 + the size of what is compared.
const (
	gridValue     = 1e-10
	gridGradient  = 1e-9
	gridPredicted = 1e-9
)

// TestKroneckerRandom: products over axes on grids, of one to some 150 points, by the Kronecker engine and by the dense one:
// value, gradient, posterior mean, variance and covariance, and observations left out. 50 cases, with GPPL_LONG 2000.
func TestKroneckerRandom(t *testing.T) {
	t.Parallel()
	worst := map[string]float64{}
	taken := 0
	for seed := range testkit.Size(50, 50, 2000) {
		rnd := rand.New(rand.NewPCG(uint64(seed), 41))
		m, data := randomGrid(rnd, 150)
		by := func(engine string) (l *gppl.Exact, value float64, grad []float64, err error) {
			l = testkit.Must(gppl.NewExact(t.Context(), m, data, gppl.WithEngine(engine)))(t)
			grad = make([]float64, len(l.Params()))
			value, err = l.ValueGrad(t.Context(), grad, gppl.Values(l.Params()))
			return l, value, grad, err
		}
		l, value, grad, err := by(gppl.EngineKronecker)
		if err != nil { // the kernel happens to be no product
			if !strings.Contains(err.Error(), "no product over axes") && !strings.Contains(err.Error(), "no full grid") {
				t.Errorf("seed %d, %v: %v", seed, m, err)
			}
			continue
		}
		taken++
		_, want, wantGrad, err := by(gppl.EngineDense)
		if err != nil {
			t.Fatal(err)
		}
		off := func(what string, got, want, scale, limit float64) {
			e := math.Abs(got-want) / (1 + scale)
			worst[what] = max(worst[what], e)
			if !(e <= limit) {
				t.Errorf("seed %d, %v, n = %d: %s is %.12g, densely %.12g (%.2g)", seed, m, data.Len(), what, got, want, e)
			}
		}
		off("value", value, want, math.Abs(want), gridValue)
		if bound := l.Report().LastBound; math.Abs(value-want) > bound+1e-12*math.Abs(want) {
			t.Errorf("seed %d, %v: off by %.2g, the engine promises %.2g", seed, m, math.Abs(value-want), bound)
		}
		for p := range grad {
			off("gradient", grad[p], wantGrad[p], slices.Max(append(wantGrad, -slices.Min(wantGrad))), gridGradient)
		}
		at := gppl.Vectors(append(slices.Clone(data.X.At(0)), gridOf(rnd, data.X.Dim(), [][]int{{0}}, []int{2}).At(0)...), data.X.Dim())
		predict := func(engine string) (all []float64) {
			p := testkit.Must(gppl.NewPosterior(t.Context(), m, data, gppl.WithEngine(engine)))(t)
			mean, variances := testkit.Must2(p.Latent(t.Context(), at))(t)
			_, cov := testkit.Must2(p.Joint(t.Context(), at))(t)
			slope, _ := testkit.Must2(p.Gradient(t.Context(), at))(t)
			all = append(slices.Concat(mean, variances, slope), cov.At(0, 1))
			mean, variances = testkit.Must2(p.OneStep(t.Context(), gppl.Data{X: at, Y: []float64{1, -1}}))(t)
			all = append(append(all, mean...), variances...)
			if n := data.Len(); n > 3 {
				left, v := testkit.Must2(gppl.LeaveOut(t.Context(), m, data, [][]int{{0}, {1, n - 1}}, gppl.WithEngine(engine)))(t)
				all = append(all, left[0], left[1], v[0], v[1])
			}
			return all
		}
		got, expected := predict(gppl.EngineKronecker), predict(gppl.EngineDense)
		for i := range got {
			off("prediction", got[i], expected[i], math.Abs(expected[i]), gridPredicted)
		}
	}
	if taken < testkit.Size(30, 30, 1200) {
		t.Errorf("the engine took %d cases", taken)
	}
	t.Log(taken, worst)
}

// TestKroneckerChosen: on a grid the engine is chosen, and trains; where the inputs or the kernel are no product, it says so and
// the dense engine takes over.
func TestKroneckerChosen(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	se, matern := gppl.SE{Variance: 1, Lengthscale: 2}, gppl.Matern52{Variance: 1, Lengthscale: 2}
	product := gppl.Mul(gppl.On(matern, 0, 1), gppl.On(se, 2))
	x := gridOf(rnd, 3, [][]int{{0, 1}, {2}}, []int{20, 15})
	y := make([]float64, x.Len())
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	grid := gppl.Data{X: x, Y: y}
	for name, c := range map[string]struct {
		kernel gppl.Kernel
		data   gppl.Data
		engine string
		why    string
	}{
		"space-time":     {product, grid, gppl.EngineKronecker, ""},
		"with white":     {gppl.Add(product, gppl.White{Variance: 0.1}), grid, gppl.EngineKronecker, ""},
		"a point less":   {product, gppl.Data{X: x.Slice(1, x.Len()), Y: y[1:]}, gppl.EngineDense, "no full grid"},
		"isotropic":      {matern, grid, gppl.EngineDense, "no product over axes"},
		"a sum":          {gppl.Add(product, gppl.On(se, 0)), grid, gppl.EngineDense, "a sum"},
		"other axes":     {gppl.Mul(gppl.On(matern, 0), gppl.On(matern, 1, 2)), grid, gppl.EngineDense, "no full grid"},
		"isotropic SE":   {se, grid, gppl.EngineKronecker, ""},
		"errors":         {product, gppl.Data{X: x, Y: y, Errors: slices.Repeat([]float64{0.1}, len(y))}, gppl.EngineDense, "errors of their own"},
		"common to both": {gppl.Mul(gppl.On(matern, 0, 1), gppl.On(matern, 1, 2)), grid, gppl.EngineDense, "no product over axes"},
	} {
		l := testkit.Must(gppl.NewExact(t.Context(), gppl.Model{Kernel: c.kernel, Noise: 0.1}, c.data))(t)
		valueAt(t, l)
		if got, text := l.Report().Engine, l.Explain(); got != c.engine || !strings.Contains(text, c.why) {
			t.Errorf("%s: %s was chosen, want %s because %q:\n%s", name, got, c.engine, c.why, text)
		}
	}
	l := testkit.Must(gppl.NewExact(t.Context(), gppl.Model{Kernel: product, Noise: 0.1}, grid))(t)
	gppltest.CheckLoss(t, l)
}

// TestKroneckerCancelled: an evaluation of a large grid ends with its context, and the next one is right.
func TestKroneckerCancelled(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	x := gridOf(rnd, 2, [][]int{{0}, {1}}, []int{300, 300})
	y := make([]float64, x.Len())
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	m := gppl.Model{Kernel: gppl.ARD(gppl.SE{Variance: 1}, 1, 2), Noise: 0.1}
	l := testkit.Must(gppl.NewExact(t.Context(), m, gppl.Data{X: x, Y: y}))(t)
	want, _ := valueAt(t, l)
	for _, after := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		_, err := l.ValueGrad(ctx, make([]float64, len(l.Params())), gppl.Values(l.Params()))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", after, err)
		}
	}
	if got, _ := valueAt(t, l); got != want {
		t.Errorf("%v after interrupts, %v before", got, want)
	}
}

// BenchmarkGrid is a value and gradient of a product over two axes on a grid of n points, by the Kronecker engine and densely.
//
//	go test ./pkg/gppl -run none -bench Grid
func BenchmarkGrid(b *testing.B) {
	for _, side := range []int{10, 30, 50, 100, 200, 400} {
		for _, engine := range []string{gppl.EngineKronecker, gppl.EngineDense} {
			if engine == gppl.EngineDense && side > 50 {
				continue
			}
			b.Run(fmt.Sprintf("n=%d/%s", side*side, engine), func(b *testing.B) {
				rnd := rand.New(rand.NewPCG(3, uint64(side)))
				x := gridOf(rnd, 2, [][]int{{0}, {1}}, []int{side, side})
				y := make([]float64, x.Len())
				for i := range y {
					y[i] = rnd.NormFloat64()
				}
				m := gppl.Model{Kernel: gppl.Mul(gppl.On(gppl.Matern52{Variance: 1, Lengthscale: 2}, 0),
					gppl.On(gppl.SE{Variance: 1, Lengthscale: 1}, 1)), Noise: 0.1}
				benchmarkAxes(b, m, gppl.Data{X: x, Y: y}, engine)
			})
		}
	}
}

// BenchmarkARD is a value and gradient of a kernel of four axes, with a lengthscale for each or with one for all, densely.
//
//	go test ./pkg/gppl -run none -bench ARD
func BenchmarkARD(b *testing.B) {
	for _, n := range []int{200, 1000, 2000} {
		for _, k := range []gppl.Kernel{gppl.ARD(gppl.SE{Variance: 1}, 1, 2, 3, 4), gppl.SE{Variance: 1, Lengthscale: 2},
			gppl.ARD(gppl.Matern52{Variance: 1}, 1, 2, 3, 4), gppl.Matern52{Variance: 1, Lengthscale: 2}} {
			b.Run(fmt.Sprintf("n=%d/%s", n, strings.Split(k.String(), "(")[0]), func(b *testing.B) {
				rnd := rand.New(rand.NewPCG(4, uint64(n)))
				x, y := make([]float64, 4*n), make([]float64, n)
				for i := range x {
					x[i] = 4 * rnd.Float64()
				}
				for i := range y {
					y[i] = rnd.NormFloat64()
				}
				benchmarkAxes(b, gppl.Model{Kernel: k, Noise: 0.1}, gppl.Data{X: gppl.Vectors(x, 4), Y: y}, gppl.EngineDense)
			})
		}
	}
}

func benchmarkAxes(b *testing.B, m gppl.Model, d gppl.Data, engine string) {
	l, err := gppl.NewExact(b.Context(), m, d, gppl.WithEngine(engine))
	if err != nil {
		b.Fatal(err)
	}
	theta := gppl.Values(l.Params())
	grad := make([]float64, len(theta))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.ValueGrad(b.Context(), grad, theta); err != nil {
			b.Fatal(err)
		}
	}
}
