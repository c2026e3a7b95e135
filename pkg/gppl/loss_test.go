package gppl_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// randomData is n points of R^d, unsorted, two of them the same, in a box that
// grows with n so that neighbours stay about one lengthscale apart.
func randomData(tb testing.TB, n, d int, seed uint64) gppl.Data {
	tb.Helper()
	rnd := rand.New(rand.NewPCG(seed, 0))
	x, y := make([]float64, n*d), make([]float64, n)
	side := 0.3 * math.Pow(float64(n), 1/float64(d))
	for i := range x {
		x[i] = side * rnd.Float64()
	}
	if n > 1 {
		copy(x[(n-1)*d:], x[:d])
	}
	for i := range y {
		y[i] = math.Sin(x[i*d]) + 0.4*rnd.NormFloat64()
	}
	data, err := gppl.NewData(gppl.Vectors(x, d), y)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func valueAt(tb testing.TB, l gppl.Loss) (value float64, grad []float64) {
	tb.Helper()
	theta := gppl.Values(l.Params())
	grad = make([]float64, len(theta))
	v, err := l.ValueGrad(tb.Context(), grad, theta)
	if err != nil {
		tb.Fatal(err)
	}
	return v, grad
}

func relative(a, b float64) float64 { return math.Abs(a-b) / (1 + math.Abs(b)) }

// TestLosses sends every kernel through every loss, at sizes below, at and
// above a tile's, in one dimension and in three.
func TestLosses(t *testing.T) {
	t.Parallel()
	for i, k := range kernels() {
		for _, d := range []int{1, 3} {
			for j, n := range []int{30, 64, 150} {
				if testkit.Quick() && (i+j)%3 != 0 {
					continue
				}
				if d != 1 && (n != 150 || strings.Contains(k.String(), "eriod")) {
					continue // periodic kernels are not positive definite for d > 1
				}
				t.Run(fmt.Sprintf("%v/n=%d/d=%d", k, n, d), func(t *testing.T) {
					data := randomData(t, n, d, 7)
					m := gppl.Model{Kernel: k, Noise: 0.2}
					gppltest.CheckLoss(t, testkit.Must(gppl.NewExact(t.Context(), m, data))(t))
					p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, data.X, n/2, 3))(t)
					gppltest.CheckLoss(t, testkit.Must(gppl.NewProjected(t.Context(), m, data, p))(t))
					raw := testkit.Must(gppl.NewProjection(t.Context(), gppl.Raw{Design: gppl.Sphere{}}, data.X, n/3, 3))(t)
					gppltest.CheckLoss(t, testkit.Must(gppl.NewProjected(t.Context(), m, data, raw))(t))
					z := apart(testkit.Must(data.X.KMeans(t.Context(), 9, 1))(t))
					gppltest.CheckLoss(t, testkit.Must(gppl.NewVFE(t.Context(), m, data, z, gppl.VFEOptions{}))(t))
				})
			}
		}
	}
}

// apart moves inputs off the data, where a rough kernel has a kink in them and
// central differences converge slowly.
func apart(z gppl.Inputs) gppl.Inputs {
	var moved []float64
	for i := range z.Len() {
		for _, v := range z.At(i) {
			moved = append(moved, v+0.013)
		}
	}
	return gppl.Vectors(moved, z.Dim())
}

// TestLimits checks identities between the losses.
func TestLimits(t *testing.T) {
	const n = 100
	data := randomData(t, n, 1, 11)
	distinct := data.Pick(indices(n - 1)) // the last point repeats the first
	for _, k := range kernels() {
		t.Run(k.String(), func(t *testing.T) {
			m := gppl.Model{Kernel: k, Noise: 0.3}
			exact, exactGrad := valueAt(t, testkit.Must(gppl.NewExact(t.Context(), m, data))(t))

			id := testkit.Must(gppl.NewProjection(t.Context(), gppl.Identity{}, data.X, n, 0))(t)
			pl, plGrad := valueAt(t, testkit.Must(gppl.NewProjected(t.Context(), m, data, id))(t))
			if relative(pl, exact) > 1e-12 {
				t.Errorf("PL with Ω = I is %v, exact %v", pl, exact)
			}
			for i := range plGrad {
				if relative(plGrad[i], exactGrad[i]) > 1e-9 {
					t.Errorf("∂PL with Ω = I is %v, exact %v", plGrad, exactGrad)
				}
			}
			// k = n projections of any kind lose nothing.
			all := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, data.X, n, 5))(t)
			pl, _ = valueAt(t, testkit.Must(gppl.NewProjected(t.Context(), m, data, all))(t))
			if relative(pl, exact) > 1e-10 {
				t.Errorf("PL with k = n is %v, exact %v", pl, exact)
			}
		})
	}
	// With inducing inputs at the data, K_uu must be positive definite without
	// noise: for a rough kernel at distinct inputs it is.
	for _, k := range []gppl.Kernel{
		gppl.Laplace{Variance: 1, Lengthscale: 2},
		gppl.Matern32{Variance: 2, Lengthscale: 1},
		gppl.Add(gppl.Laplace{Variance: 1, Lengthscale: 3}, gppl.Periodic{Variance: 0.5, Lengthscale: 1, Period: 2}),
	} {
		t.Run("VFE at Z = X/"+k.String(), func(t *testing.T) {
			m := gppl.Model{Kernel: k, Noise: 0.3}
			exact, exactGrad := valueAt(t, testkit.Must(gppl.NewExact(t.Context(), m, distinct))(t))
			l := testkit.Must(gppl.NewVFE(t.Context(), m, distinct, distinct.X, gppl.VFEOptions{}))(t)
			vfe, vfeGrad := valueAt(t, l)
			if l.Report().Jitter != 0 || relative(vfe, exact) > 1e-9 {
				t.Errorf("VFE at Z = X is %v (jitter %v), exact %v", vfe, l.Report().Jitter, exact)
			}
			for i := range exactGrad {
				if relative(vfeGrad[i], exactGrad[i]) > 1e-7 {
					t.Errorf("∂VFE at Z = X is %v, exact %v", vfeGrad[:len(exactGrad)], exactGrad)
				}
			}
			fewer := testkit.Must(distinct.X.KMeans(t.Context(), 20, 1))(t)
			if bound, _ := valueAt(t, testkit.Must(gppl.NewVFE(t.Context(), m, distinct, fewer, gppl.VFEOptions{}))(t)); bound < exact {
				t.Errorf("VFE with m = 20 is %v, below the exact %v that it bounds", bound, exact)
			}
		})
	}
}

func indices(n int) []int {
	idx := make([]int, n)
	for i := range idx {
		idx[i] = i
	}
	return idx
}

// TestProjectedRotation checks that Ω → ΩR changes PL by log|det R| alone.
func TestProjectedRotation(t *testing.T) {
	const n, k = 120, 70
	data := randomData(t, n, 1, 13)
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, data.X, k, 1))(t)
	rnd := rand.New(rand.NewPCG(17, 0))
	r := mat.NewDense(k, k, nil)
	for i := range k {
		for j := range k {
			r.Set(i, j, 0.1*rnd.NormFloat64())
		}
		r.Set(i, i, 1+r.At(i, i))
	}
	logDet, _ := mat.LogDet(r)
	var turned mat.Dense
	turned.Mul(testkit.Must(p.Omega(t.Context()))(t), r)
	m := gppl.Model{Kernel: gppl.RQ{Variance: 1, Lengthscale: 1, Alpha: 2}, Noise: 0.1}
	a, ga := valueAt(t, testkit.Must(gppl.NewProjected(t.Context(), m, data, p))(t))
	b, gb := valueAt(t, testkit.Must(gppl.NewProjected(t.Context(), m, data, gppl.ProjectionOf(&turned)))(t))
	if relative(b, a+logDet) > 1e-10 {
		t.Errorf("PL(ΩR) = %v, want PL(Ω) + log|det R| = %v", b, a+logDet)
	}
	for i := range ga {
		if relative(gb[i], ga[i]) > 1e-8 {
			t.Errorf("∂PL(ΩR) = %v, want %v", gb, ga)
		}
	}
}

// TestOrder checks that no loss depends on the order of the observations, nor
// on where the inputs start: times in Unix seconds are as good as any.
func TestOrder(t *testing.T) {
	const n = 130
	data := randomData(t, n, 1, 19)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1.5}, Noise: 0.2}
	want, _ := valueAt(t, testkit.Must(gppl.NewExact(t.Context(), m, data))(t))
	shuffled := data.Pick(rand.New(rand.NewPCG(1, 1)).Perm(n))
	if got, _ := valueAt(t, testkit.Must(gppl.NewExact(t.Context(), m, shuffled))(t)); relative(got, want) > 1e-12 {
		t.Errorf("shuffled: %v, want %v", got, want)
	}
	const day = 86400
	unix := make([]float64, n)
	for i := range unix {
		unix[i] = 1.7e9 + day*data.X.At(i)[0]
	}
	seconds := testkit.Must(gppl.NewData(gppl.Scalars(unix), data.Y))(t)
	m.Kernel = gppl.SE{Variance: 1, Lengthscale: 1.5 * day}
	if got, _ := valueAt(t, testkit.Must(gppl.NewExact(t.Context(), m, seconds))(t)); relative(got, want) > 1e-9 {
		t.Errorf("in Unix seconds: %v, want %v", got, want)
	}
}
