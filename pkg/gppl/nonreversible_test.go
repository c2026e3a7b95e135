package gppl_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// Processes that run differently backwards in time: a driver acts on a response, which does not act back. ΦP∞ of such a process
// is not symmetric, and a filter with Φᵀ instead of Φ computes another covariance: tinygp's issue 277, whose numbers responding
// has.

// responding is the response alone: with a = 1/Lengthscale,
//
//	dx₁ = (0.8·a·x₂ − 2a·x₁)·dt + √(va)·dβ₁,  dx₂ = −a·x₂·dt + √(va)·dβ₂,  f = x₁.
type responding struct{ Variance, Lengthscale float64 }

// P∞ of unit v, from FP∞ + P∞Fᵀ = −I.
const ownVariance, sharedVariance, driverVariance = 91. / 300, 2. / 15, 1. / 2

func (k responding) as() gppl.Laplace     { return gppl.Laplace(k) }
func (k responding) Params() []gppl.Param { return k.as().Params() }
func (k responding) WithParams(theta []float64) gppl.Kernel {
	return responding(k.as().WithParams(theta).(gppl.Laplace))
}
func (k responding) String() string {
	return fmt.Sprintf("responding(%v, %v)", k.Variance, k.Lengthscale)
}

// part is k(r)/v and its derivative in u = r/l.
func (k responding) part(u float64) (value, slope float64) {
	own, driver := math.Exp(-2*u), math.Exp(-u)
	const mixed = 0.8 * sharedVariance
	return (ownVariance-mixed)*own + mixed*driver, -2*(ownVariance-mixed)*own - mixed*driver
}

func (k responding) Cov(dst, r []float64) {
	for i, r := range r {
		c, _ := k.part(r / k.Lengthscale)
		dst[i] = k.Variance * c
	}
}
func (k responding) Slope(dst, r []float64) {
	for i, r := range r {
		if dst[i] = 0; r > 0 {
			_, s := k.part(r / k.Lengthscale)
			dst[i] = k.Variance / k.Lengthscale * s
		}
	}
}
func (k responding) Contract(grad, w, r []float64) {
	for i, r := range r {
		c, s := k.part(r / k.Lengthscale)
		grad[0] += w[i] * k.Variance * c
		grad[1] -= w[i] * k.Variance * r / k.Lengthscale * s
	}
}
func (k responding) Processes(dst []capability.Process) []capability.Process {
	return append(dst, response(k))
}

type response responding

func (response) Dim() int { return 2 }

// decayed is ΦXΦᵀ of a symmetric X = (p, s; s, q), at decays of the response and of the driver.
func decayed(phi []float64, p, s, q float64) (pp, ss, qq float64) {
	return phi[0]*phi[0]*p + 2*phi[0]*phi[1]*s + phi[1]*phi[1]*q, phi[0]*phi[3]*s + phi[1]*phi[3]*q, phi[3] * phi[3] * q
}

func (b response) Transition(phi, noise []float64, gap float64) {
	u := gap / b.Lengthscale
	own, driver := math.Exp(-2*u), math.Exp(-u)
	phi[0], phi[1], phi[2], phi[3] = own, 0.8*(driver-own), 0, driver
	p, s, q := decayed(phi, ownVariance, sharedVariance, driverVariance)
	noise[0], noise[1], noise[3] = b.Variance*(ownVariance-p), b.Variance*(sharedVariance-s), b.Variance*(driverVariance-q)
	noise[2] = noise[1]
}

func (b response) Slopes(dPhi, dNoise, phi, noise []float64, gap float64) {
	clear(dPhi[:4])
	copy(dNoise[:4], noise[:4])
	d, dq := dPhi[4:8], dNoise[4:8]
	clear(d)
	clear(dq)
	u := gap / b.Lengthscale
	if math.IsInf(u, 1) {
		return
	}
	d[0], d[3] = 2*u*phi[0], u*phi[3]
	d[1] = 0.8 * (d[3] - d[0])
	v := b.Variance
	// ∂Q = −∂Φ·P∞·Φᵀ − Φ·P∞·∂Φᵀ
	row0 := [2]float64{d[0]*ownVariance + d[1]*sharedVariance, d[0]*sharedVariance + d[1]*driverVariance}
	row1 := [2]float64{d[3] * sharedVariance, d[3] * driverVariance}
	dq[0] = -2 * v * (row0[0]*phi[0] + row0[1]*phi[1])
	dq[3] = -2 * v * row1[1] * phi[3]
	dq[1] = -v * (row0[1]*phi[3] + row1[0]*phi[0] + row1[1]*phi[1])
	dq[2] = dq[1]
}

func TestNonReversibleKernel(t *testing.T) { gppltest.CheckKernel(t, responding{1.3, 0.7}) }

// TestNonReversibleChannels: a driver, v·exp(−a|τ|), and the response f′ = b·(driver − f) to it, seen by two channels, against
// the dense covariance, h₂ᵀ·exp(Fτ)·P∞·h₁ from the earlier to the later. f is an overdamped oscillator, and the driver f + f′/b.
func TestNonReversibleChannels(t *testing.T) {
	rnd := rand.New(rand.NewPCG(277, 1))
	for range 20 {
		a, b, v := math.Exp(rnd.NormFloat64()), math.Exp(rnd.NormFloat64()), math.Exp(rnd.NormFloat64())
		shared := v * b / (a + b)
		stationary := mat.NewDense(2, 2, []float64{shared, shared, shared, v})
		flow := mat.NewDense(2, 2, []float64{-b, b, 0, -a})
		between := func(earlier, later int, gap float64) float64 { // covariance of channels: 0 is the response, 1 the driver
			var phi mat.Dense
			phi.Scale(gap, flow)
			phi.Exp(&phi)
			phi.Mul(&phi, stationary)
			return phi.At(later, earlier)
		}
		if after, before := between(1, 0, 0.5), between(0, 1, 0.5); !(after > before) {
			t.Fatalf("the response follows its driver by %v and precedes it by %v", after, before)
		}
		c := channelCase{model: gppl.Model{
			Kernel: gppl.SHO{Variance: shared, Period: 2 * math.Pi / math.Sqrt(a*b), Quality: math.Sqrt(a*b) / (a + b)},
			Channels: []gppl.Channel{
				{Name: "response", Value: 1, Noise: 0.05}, {Name: "driver", Value: 1, Slope: 1 / b, Noise: 0.02},
			},
		}}
		const n = 40
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = 8*rnd.Float64(), rnd.NormFloat64()
			c.channel = append(c.channel, i%2)
		}
		x[7] = x[6]
		c.data = gppl.Data{X: gppl.Scalars(x), Y: y}
		want := c.denseOf(t, c.model, func(i, j int) float64 {
			if x[i] > x[j] {
				i, j = j, i
			}
			return between(c.channel[i], c.channel[j], x[j]-x[i])
		})
		loss, err := gppl.NewExact(t.Context(), c.model, viewed(c.data, c.channel, nil))
		if err != nil {
			t.Fatal(err)
		}
		gppltest.CheckLoss(t, loss)
		got, err := loss.ValueGrad(t.Context(), nil, gppl.Values(loss.Params()))
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(got-want.value) <= 1e-8*(n+math.Abs(want.value))) {
			t.Errorf("a = %v, b = %v: value %v, dense %v", a, b, got, want.value)
		}
	}
}
