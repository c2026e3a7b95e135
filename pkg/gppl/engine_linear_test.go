package gppl_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// relaxing is v·exp(−r/l) by a process of its own, as a kernel of another module would have it.
type relaxing struct{ Variance, Lengthscale float64 }

func (k relaxing) as() gppl.Laplace { return gppl.Laplace(k) }

func (k relaxing) Params() []gppl.Param { return k.as().Params() }
func (k relaxing) WithParams(theta []float64) gppl.Kernel {
	return relaxing(k.as().WithParams(theta).(gppl.Laplace))
}
func (k relaxing) Cov(dst, r []float64)          { k.as().Cov(dst, r) }
func (k relaxing) Contract(grad, w, r []float64) { k.as().Contract(grad, w, r) }
func (k relaxing) Slope(dst, r []float64)        { k.as().Slope(dst, r) }
func (k relaxing) String() string                { return fmt.Sprintf("relaxing(%v, %v)", k.Variance, k.Lengthscale) }
func (k relaxing) Processes(dst []capability.Process) []capability.Process {
	return append(dst, relaxation(k))
}

type relaxation relaxing

func (relaxation) Dim() int { return 1 }
func (b relaxation) Transition(phi, noise []float64, gap float64) {
	phi[0], noise[0] = math.Exp(-gap/b.Lengthscale), -b.Variance*math.Expm1(-2*gap/b.Lengthscale)
}
func (b relaxation) Slopes(dPhi, dNoise, phi, noise []float64, gap float64) {
	dPhi[0], dNoise[0], dPhi[1], dNoise[1] = 0, noise[0], 0, 0
	if a := gap / b.Lengthscale; !math.IsInf(a, 1) {
		dPhi[1], dNoise[1] = a*phi[0], -2*a*phi[0]*phi[0]*b.Variance
	}
}

// twofold is the sum of a process of its own and of a Matérn process of twice the lengthscale.
type twofold struct{ Variance, Lengthscale float64 }

func (k twofold) sum() gppl.Kernel {
	return gppl.Add(gppl.Laplace(k), gppl.Matern32{Variance: k.Variance, Lengthscale: 2 * k.Lengthscale})
}
func (k twofold) Params() []gppl.Param { return gppl.Laplace(k).Params() }
func (k twofold) WithParams(theta []float64) gppl.Kernel {
	return twofold(gppl.Laplace(k).WithParams(theta).(gppl.Laplace))
}
func (k twofold) Cov(dst, r []float64)   { k.sum().Cov(dst, r) }
func (k twofold) Slope(dst, r []float64) { k.sum().Slope(dst, r) }
func (k twofold) Contract(grad, w, r []float64) {
	g := make([]float64, 4)
	k.sum().Contract(g, w, r)
	grad[0] += g[0] + g[2]
	grad[1] += g[1] + g[3]
}
func (k twofold) String() string { return fmt.Sprintf("twofold(%v, %v)", k.Variance, k.Lengthscale) }
func (k twofold) Processes(dst []capability.Process) []capability.Process {
	return append(dst, relaxation(k), gppl.MaternProcess{Order: 1, Variance: k.Variance, Lengthscale: 2 * k.Lengthscale})
}

// TestLinearKernels compares the state-space engine with the dense one for kernels that are linear stochastic differential
// equations, with a mean and known errors: value, gradient, posterior and blocks left out.
func TestLinearKernels(t *testing.T) {
	t.Parallel()
	gppltest.CheckKernel(t, relaxing{1.2, 0.7})
	gppltest.CheckKernel(t, twofold{1.2, 0.7})
	sho := gppl.SHO{Variance: 0.8, Period: 1.3, Quality: 0.5}
	matern := gppl.Matern32{Variance: 1, Lengthscale: 4}
	periodic := gppl.Periodic{Variance: 0.9, Lengthscale: 1, Period: 2.1}
	for _, k := range []gppl.Kernel{
		sho,
		gppl.Add(gppl.Rotation{Variance: 1, Period: 2, Quality: 1, Difference: 0.3, Mix: 0.4},
			gppl.Laplace{Variance: 0.2, Lengthscale: 1}),
		gppl.Mul(matern, periodic),
		gppl.Mul(gppl.Add(matern, sho), gppl.Cosine{Variance: 1, Period: 0.9}),
		gppl.Mul(gppl.Laplace{Variance: 1, Lengthscale: 3}, sho),
		gppl.Mul(gppl.Add(matern, gppl.White{Variance: 0.1}), periodic),
		gppl.Add(relaxing{0.7, 1.4}, gppl.Mul(relaxing{0.7, 3}, periodic)),
		twofold{0.7, 1.4},
		gppl.Mul(gppl.Add(twofold{0.7, 1.4}, sho), periodic),
		responding{1.1, 1.6},
		gppl.Add(gppl.Mul(responding{1.1, 1.6}, periodic), gppl.Mul(responding{0.6, 3}, sho)),
	} {
		t.Run(k.String(), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(8, 9))
			const n = 40
			x, y, errors := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i], errors[i] = 10*rnd.Float64(), rnd.NormFloat64(), 0.2*rnd.Float64()
			}
			x[3] = x[17]
			d, err := gppl.NewData(gppl.Scalars(x), y)
			if err != nil {
				t.Fatal(err)
			}
			d.Errors = errors
			m := gppl.Model{Kernel: k, Noise: 0.05, Mean: gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(1, d.X))}
			var values [2]float64
			var grads, means, variances, left, spread [2][]float64
			for i, engine := range []string{gppl.EngineStateSpace, gppl.EngineDense} {
				loss, err := gppl.NewExact(t.Context(), m, d, gppl.WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				theta := m.Values()
				grads[i] = make([]float64, len(theta))
				if values[i], err = loss.ValueGrad(t.Context(), grads[i], theta); err != nil {
					t.Fatal(err)
				}
				p, err := gppl.NewPosterior(t.Context(), m, d, gppl.WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				means[i], variances[i] = testkit.Must2(p.Latent(t.Context(), gppl.Scalars([]float64{-1, 0.3, 5, 11, x[3]})))(t)
				if left[i], spread[i], err = gppl.LeaveOut(t.Context(), m, d, [][]int{{0}, {5, 9, 11}}, gppl.WithEngine(engine)); err != nil {
					t.Fatal(err)
				}
			}
			if math.Abs(values[0]-values[1]) > 1e-8*n {
				t.Errorf("value %v, dense %v", values[0], values[1])
			}
			for what, v := range map[string][2][]float64{"gradient": grads, "posterior mean": means, "posterior variance": variances,
				"left out": left, "its variance": spread} {
				for j := range v[0] {
					if both := math.IsNaN(v[0][j]) && math.IsNaN(v[1][j]); !both && !(math.Abs(v[0][j]-v[1][j]) <= 1e-6*(1+math.Abs(v[1][j]))) {
						t.Errorf("%s %v, dense %v", what, v[0], v[1])
						break
					}
				}
			}
		})
	}
}

// TestLinearAtLimit: where harmonics are about as many as the state space takes, of a product or of a Periodic that hardly
// changes, an evaluation has the value of the dense engine or is refused. The check of the gradient wants finer ones, and does
// with these.
func TestLinearAtLimit(t *testing.T) {
	x, y := make([]float64, 60), make([]float64, 60)
	for i := range x {
		x[i], y[i] = float64(i)+0.3*float64(i%3), math.Sin(float64(i)/3)
	}
	d := gppl.Data{X: gppl.Scalars(x), Y: y}
	periodic := func(l float64) gppl.Kernel { return gppl.Periodic{Variance: 1, Lengthscale: l, Period: 12} }
	for name, c := range map[string]struct {
		from, to, step float64
		kernel         func(l float64) gppl.Kernel
	}{
		"product": {0.3, 0.1, 0.97, func(l float64) gppl.Kernel {
			return gppl.Mul(gppl.Matern32{Variance: 1, Lengthscale: 50}, periodic(l))
		}},
		"constant": {1e6, 10, 0.7, periodic},
	} {
		taken, refused := 0, 0
		for l := c.from; l > c.to; l *= c.step {
			m := gppl.Model{Kernel: c.kernel(l), Noise: 0.1}
			theta := m.Values()
			exact, err := gppl.NewExact(t.Context(), m, d, gppl.WithEngine(gppl.EngineStateSpace))
			if err != nil {
				t.Fatal(err)
			}
			value, err := exact.ValueGrad(t.Context(), make([]float64, len(theta)), theta)
			if err != nil {
				refused++
				continue
			}
			taken++
			dense, err := gppl.NewExact(t.Context(), m, d, gppl.WithEngine(gppl.EngineDense))
			if err != nil {
				t.Fatal(err)
			}
			want, err := dense.ValueGrad(t.Context(), nil, theta)
			if err != nil || math.Abs(value-want) > 1e-6 {
				t.Errorf("%s, lengthscale %.3g: %v, dense %v (%v)", name, l, value, want, err)
			}
		}
		if taken < 3 || refused < 3 {
			t.Errorf("%s: %d are taken and %d refused: the limit is not among them", name, taken, refused)
		}
	}
}

// TestManyTurns: kernels that turn hundreds of times within the stretch on which gradients are checked pass the check.
func TestManyTurns(t *testing.T) {
	t.Parallel()
	n := testkit.Size(40000, 80000, 200000)
	r := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) + 0.8*r.Float64()
		y[i] = math.Sin(2*math.Pi*x[i]/24) + 0.5*r.NormFloat64()
	}
	for _, m := range []gppl.Model{
		{Kernel: gppl.Mul(gppl.Matern52{Variance: 1, Lengthscale: 3200}, gppl.Cosine{Variance: 1, Period: 3.96}), Noise: 0.26},
		{Kernel: gppl.Mul(gppl.Matern52{Variance: 2.4, Lengthscale: 1400}, gppl.Cosine{Variance: 1, Period: 2.86}), Noise: 0.64},
		{Kernel: gppl.SHO{Variance: 3, Period: 2.1, Quality: 1000}, Noise: 1.4},
		{Kernel: gppl.Mul(gppl.Matern32{Variance: 1, Lengthscale: 5000}, gppl.Periodic{Variance: 1, Period: 5, Lengthscale: 1}),
			Noise: 0.1},
	} {
		l := testkit.Must(gppl.NewExact(t.Context(), m, gppl.Data{X: gppl.Scalars(x), Y: y}, gppl.WithEngine(gppl.EngineStateSpace)))(t)
		if _, err := l.ValueGrad(t.Context(), make([]float64, len(m.Values())), m.Values()); err != nil {
			t.Errorf("%v: %v", m, err)
		}
	}
}
