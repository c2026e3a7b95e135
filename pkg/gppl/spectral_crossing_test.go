package gppl_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestSpectralNearNyquist: the derivatives of a windowed series equal the dense engine's where frequencies of
// the kernel are near the end of the grid, or fall between the series' so that coefficients cross zero.
func TestSpectralNearNyquist(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(8, 1))
	const n = 48
	x, y := make([]float64, n), make([]float64, n)
	var worst float64
	for _, irregular := range []float64{0, 0.3} {
		for i := range x {
			x[i] = float64(i) + irregular*rnd.Float64()
			y[i] = math.Sin(float64(i)/3) + 0.3*rnd.NormFloat64()
		}
		d, err := gppl.NewData(gppl.Scalars(x), y)
		if err != nil {
			t.Fatal(err)
		}
		var kernels []gppl.Kernel
		for i, p := range []float64{1.997, 1.95, 1.99, 2.02, 3.98} {
			if testkit.Quick() && i > 0 {
				continue
			}
			kernels = append(kernels, gppl.Periodic{Variance: 1, Lengthscale: 5, Period: p})
			kernels = append(kernels, gppl.LocPer{Variance: 1, Lengthscale: 300, Period: p, PeriodicLengthscale: 8},
				gppl.SpectralMixture{Variance: 1, Lengthscale: 500, Period: p})
		}
		for _, k := range kernels {
			m := gppl.Model{Kernel: k, Noise: 0.1}
			var grads [2][]float64
			var bound float64
			for i, e := range []string{gppl.EngineDense, gppl.EngineSpectral} {
				loss, err := gppl.NewExact(t.Context(), m, d, gppl.WithEngine(e))
				if err != nil {
					t.Fatal(err)
				}
				theta := gppl.Values(loss.Params())
				grads[i] = make([]float64, len(theta))
				if _, err := loss.ValueGrad(t.Context(), grads[i], theta); err != nil {
					t.Logf("%v by %s: %v", k, e, err)
					grads[1] = nil
					break
				}
				for p := range theta {
					grads[i][p] *= theta[p]
				}
				bound += loss.Report().LastBound
			}
			if grads[1] == nil {
				continue
			}
			slope := 2 * math.Pi * n // derivative in the period, of the order of the phase
			for p := range grads[0] {
				off := math.Abs(grads[0][p] - grads[1][p])
				limit := gradientFactor*slope*bound + 1e-12*math.Abs(grads[0][p])
				worst = max(worst, off/limit)
				if !(off <= limit) {
					t.Errorf("%v, irregular %v: derivative %d is %v, dense %v; allowed %.2g", k, irregular, p, grads[1][p], grads[0][p], limit)
				}
			}
		}
	}
	t.Logf("at most %.2g of what is allowed", worst)
}
