package gppl_test

// Kernels of a user's own with the engines of ours. This file uses what any other
// module can: TestOtherModule runs it in one.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// Ringing is v·exp(−r²/2l²)·cos(2πqr/l), q = 1/5 of a cycle to a lengthscale: an
// oscillation that loses its phase, of one shape at one scale.
type Ringing struct{ Lengthscale, Variance float64 }

var (
	_ capability.Reacher     = Ringing{}
	_ capability.Bandlimited = Ringing{}
	_ capability.Scaled      = Ringing{}
)

const cycles = 0.2 // q

func (k Ringing) Params() []gppl.Param {
	return []gppl.Param{
		{Name: "memory", Value: k.Lengthscale, Unit: "x", Role: gppl.RoleLengthscale},
		{Name: "power", Value: k.Variance, Unit: "y²", Role: gppl.RoleVariance},
	}
}

func (k Ringing) WithParams(theta []float64) gppl.Kernel {
	if len(theta) != 2 {
		panic(fmt.Sprintf("Ringing.WithParams: len(theta) = %d, want 2", len(theta)))
	}
	return Ringing{theta[0], theta[1]}
}

func (k Ringing) Cov(dst, r []float64) {
	for i, r := range r {
		a := r / k.Lengthscale
		dst[i] = k.Variance * math.Exp(-0.5*a*a) * math.Cos(2*math.Pi*cycles*a)
	}
}

// slope returns a·∂k/∂a, a = r/l, which is −∂k/∂log l.
func (k Ringing) slope(a float64) float64 {
	sin, cos := math.Sincos(2 * math.Pi * cycles * a)
	return -k.Variance * math.Exp(-0.5*a*a) * (a*a*cos + 2*math.Pi*cycles*a*sin)
}

func (k Ringing) Contract(grad, w, r []float64) {
	for i, r := range r {
		a := r / k.Lengthscale
		grad[0] -= w[i] * k.slope(a)
		grad[1] += w[i] * k.Variance * math.Exp(-0.5*a*a) * math.Cos(2*math.Pi*cycles*a)
	}
}

func (k Ringing) Slope(dst, r []float64) {
	for i, r := range r {
		dst[i] = 0
		if r != 0 {
			dst[i] = k.slope(r/k.Lengthscale) / r
		}
	}
}

func (k Ringing) String() string {
	return fmt.Sprintf("Ringing(memory=%.4g, power=%.4g)", k.Lengthscale, k.Variance)
}

// Reach is the envelope's.
func (k Ringing) Reach(eps float64) float64 { return k.Lengthscale * math.Sqrt(-2*math.Log(eps)) }

// Bandwidth is the envelope's, about the frequency of the oscillation.
func (k Ringing) Bandwidth(eps float64) float64 {
	return math.Sqrt(-2*math.Log(eps))/(2*math.Pi*k.Lengthscale) + cycles/k.Lengthscale
}

func (k Ringing) Scale() (variance, lengthscale float64) { return k.Variance, k.Lengthscale }

// TwoMemories is v·e^(−r/l) + v·(1 + a + a²/3)·e⁻ᵃ, a = √5·r/ρl: a fast and a slow
// process of one variance, the second's lengthscale ρ times the first's.
type TwoMemories struct{ Variance, Lengthscale, Ratio float64 }

var _ capability.Markovian = TwoMemories{}

func (k TwoMemories) Params() []gppl.Param {
	return []gppl.Param{
		{Name: "variance", Value: k.Variance, Unit: "y²", Role: gppl.RoleVariance},
		{Name: "lengthscale", Value: k.Lengthscale, Unit: "x", Role: gppl.RoleLengthscale},
		{Name: "ratio", Value: k.Ratio, Role: gppl.RoleShape},
	}
}

func (k TwoMemories) WithParams(theta []float64) gppl.Kernel {
	if len(theta) != 3 {
		panic(fmt.Sprintf("TwoMemories.WithParams: len(theta) = %d, want 3", len(theta)))
	}
	return TwoMemories{theta[0], theta[1], theta[2]}
}

func (k TwoMemories) parts() (fast gppl.Laplace, slow gppl.Matern52) {
	return gppl.Laplace{Variance: k.Variance, Lengthscale: k.Lengthscale},
		gppl.Matern52{Variance: k.Variance, Lengthscale: k.Ratio * k.Lengthscale}
}

func (k TwoMemories) sum() gppl.Kernel {
	fast, slow := k.parts()
	return gppl.Add(fast, slow)
}

func (k TwoMemories) Cov(dst, r []float64)   { k.sum().Cov(dst, r) }
func (k TwoMemories) Slope(dst, r []float64) { k.sum().Slope(dst, r) }

func (k TwoMemories) Contract(grad, w, r []float64) {
	fast, slow := k.parts()
	g := make([]float64, 4)
	fast.Contract(g[:2], w, r)
	slow.Contract(g[2:], w, r)
	grad[0] += g[0] + g[2] // v is in both terms, l in both lengthscales, ρ in the second
	grad[1] += g[1] + g[3]
	grad[2] += g[3]
}

func (k TwoMemories) String() string {
	return fmt.Sprintf("TwoMemories(variance=%.4g, lengthscale=%.4g, ratio=%.4g)", k.Variance, k.Lengthscale, k.Ratio)
}

func (k TwoMemories) Processes(dst []capability.Process) []capability.Process {
	fast, slow := k.parts()
	return append(dst,
		gppl.MaternProcess{Order: 0, Variance: fast.Variance, Lengthscale: fast.Lengthscale, Chain: [][2]float64{{1, 0}, {0, 1}, {0, 0}}},
		gppl.MaternProcess{Order: 2, Variance: slow.Variance, Lengthscale: slow.Lengthscale, Chain: [][2]float64{{1, 0}, {0, 1}, {0, 1}}})
}

// Swell is v·exp(−|a − b|²/2l²)·cos(2πa/p)·cos(2πb/p): a process whose variance comes and goes with where it is.
type Swell struct{ Variance, Lengthscale, Period float64 }

var (
	_ capability.Placed  = Swell{}
	_ capability.Reacher = Swell{}
)

func (k Swell) Params() []gppl.Param {
	return append(k.bound().Params(), gppl.Param{Name: "period", Value: k.Period, Unit: "x", Role: gppl.RolePeriod})
}

func (k Swell) WithParams(theta []float64) gppl.Kernel {
	if len(theta) != 3 {
		panic(fmt.Sprintf("Swell.WithParams: len(theta) = %d, want 3", len(theta)))
	}
	return Swell{theta[0], theta[1], theta[2]}
}

// bound is what distances alone tell.
func (k Swell) bound() gppl.SE { return gppl.SE{Variance: k.Variance, Lengthscale: k.Lengthscale} }

func (k Swell) Cov(dst, r []float64)          { k.bound().Cov(dst, r) }
func (k Swell) Slope(dst, r []float64)        { k.bound().Slope(dst, r) }
func (k Swell) Contract(grad, w, r []float64) { k.bound().Contract(grad[:2], w, r) }
func (k Swell) Reach(eps float64) float64     { return k.bound().Reach(eps) }

func (k Swell) String() string {
	return fmt.Sprintf("Swell(variance=%.4g, lengthscale=%.4g, period=%.4g)", k.Variance, k.Lengthscale, k.Period)
}

func (k Swell) At(x, y []float64) float64 {
	v := []float64{math.Abs(x[0] - y[0])}
	k.Cov(v, v)
	return v[0] * math.Cos(2*math.Pi*x[0]/k.Period) * math.Cos(2*math.Pi*y[0]/k.Period)
}

func (k Swell) ContractAt(grad []float64, w float64, x, y []float64) {
	v := k.At(x, y)
	f := 2 * math.Pi / k.Period
	grad[0] += w * v
	grad[1] += w * v * (x[0] - y[0]) * (x[0] - y[0]) / (k.Lengthscale * k.Lengthscale)
	grad[2] += w * v * f * (x[0]*math.Tan(f*x[0]) + y[0]*math.Tan(f*y[0]))
}

func (k Swell) SlopeAt(dst, x, y []float64) {
	f := 2 * math.Pi / k.Period
	dst[0] = k.At(x, y) * ((x[0]-y[0])/(k.Lengthscale*k.Lengthscale) - f*math.Tan(f*y[0]))
}

func TestOwnKernels(t *testing.T) {
	gppltest.CheckKernel(t, Swell{Variance: 1.3, Lengthscale: 0.9, Period: 7})
	gppltest.CheckKernel(t, Ringing{Lengthscale: 1.4, Variance: 0.8})
	gppltest.CheckKernel(t, TwoMemories{Variance: 1.2, Lengthscale: 0.6, Ratio: 5})
}

// TestOwnKernelEngines asserts which engines compute with a kernel of a user's own,
// on its own, beside one of ours and with White as a factor, and that they
// agree with the dense one.
func TestOwnKernelEngines(t *testing.T) {
	t.Parallel()
	const n = 400
	rnd := rand.New(rand.NewPCG(81, 0))
	irregular, regular, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range y {
		regular[i] = float64(i)
		irregular[i] = float64(i) + 0.6*rnd.Float64()
		y[i] = math.Sin(regular[i]/5) + 0.3*rnd.NormFloat64()
	}
	ringing, memories := Ringing{Lengthscale: 6, Variance: 1}, TwoMemories{Variance: 0.5, Lengthscale: 4, Ratio: 6}
	white, swell := gppl.White{Variance: 0.1}, Swell{Variance: 1, Lengthscale: 2, Period: 37}
	type loss interface {
		gppl.Loss
		Explain() string
	}
	evaluate := func(l loss, err error) (value float64, grad []float64, engines string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		theta := gppl.Values(l.Params())
		grad = make([]float64, len(theta))
		times := 1
		if _, projected := l.(*gppl.Projected); projected {
			times = 35 // nearby, as in training: the interpolation has a set-up of 30
		}
		for range times {
			if value, err = l.ValueGrad(t.Context(), grad, theta); err != nil {
				t.Fatal(err)
			}
		}
		return value, grad, l.Report().Engine
	}
	for _, c := range []struct {
		kernel  gppl.Kernel
		x       []float64
		pl      bool
		chosen  string   // engine of the automatic choice
		engines []string // others that take it
	}{
		{ringing, irregular, false, gppl.EngineSpectral, []string{gppl.EngineBanded}},
		{ringing, regular, false, gppl.EngineToeplitz, []string{gppl.EngineSpectral, gppl.EngineBanded}},
		{gppl.Add(ringing, gppl.SE{Variance: 1, Lengthscale: 9}), irregular, false, gppl.EngineSpectral, []string{gppl.EngineBanded}},
		{gppl.Mul(ringing, gppl.Add(gppl.SE{Variance: 1, Lengthscale: 30}, white)), irregular, false, gppl.EngineBanded,
			[]string{gppl.EngineSpectral}},
		{ringing, irregular, true, gppl.EngineSpectral + ", " + gppl.EngineInterpolated, []string{gppl.EngineBanded}},
		{memories, irregular, false, gppl.EngineStateSpace, nil},
		{memories, regular, false, gppl.EngineToeplitz, []string{gppl.EngineStateSpace}},
		{gppl.Add(memories, gppl.Matern32{Variance: 1, Lengthscale: 20}, white), irregular, false, gppl.EngineStateSpace, nil},
		{memories, irregular, true, gppl.EngineStateSpace, nil},
		{swell, irregular, false, gppl.EngineBanded, nil},
		{gppl.Add(swell, gppl.SE{Variance: 0.5, Lengthscale: 3}, white), irregular, false, gppl.EngineBanded, nil},
	} {
		m := gppl.Model{Kernel: c.kernel, Noise: 0.1}
		d, err := gppl.NewData(gppl.Scalars(c.x), y)
		if err != nil {
			t.Fatal(err)
		}
		build := func(engine string) (loss, error) { return gppl.NewExact(t.Context(), m, d, gppl.WithEngine(engine)) }
		if c.pl {
			p, err := gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, 20, 1)
			if err != nil {
				t.Fatal(err)
			}
			build = func(engine string) (loss, error) {
				return gppl.NewProjected(t.Context(), m, d, p, gppl.WithEngine(engine))
			}
		}
		want, wantGrad, _ := evaluate(build(gppl.EngineDense))
		for _, engine := range append([]string{""}, c.engines...) {
			value, grad, used := evaluate(build(engine))
			if engine == "" {
				engine = c.chosen
			}
			if used != engine {
				t.Errorf("%v: %q, want %s", c.kernel, used, engine)
			}
			if math.Abs(value-want) > 1e-6*n {
				t.Errorf("%v by %s: %v, dense %v", c.kernel, used, value, want)
			}
			for p, g := range grad {
				if math.Abs(g-wantGrad[p]) > 1e-5*(1+math.Abs(wantGrad[p])) {
					t.Errorf("%v by %s: derivative %d is %v, dense %v", c.kernel, used, p, g, wantGrad[p])
				}
			}
		}
	}
}
