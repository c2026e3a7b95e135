package gppl_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestToeplitzBrokenGrid: where rounding of the inputs breaks a grid, the error is in the bound, also if the period of
// the kernel divides the step, so that it is flat at the lags of the grid.
func TestToeplitzBrokenGrid(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, 3))
	cases, taken := 0, 0
	for _, n := range []int{61, 101, 321} {
		if testkit.Quick() && n > 101 {
			continue
		}
		for _, step := range []float64{0.1, 0.3, 1. / 7} {
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = 1.7e9+step*float64(i), rnd.NormFloat64()
			}
			d, err := gppl.NewData(gppl.Scalars(x), y)
			if err != nil {
				t.Fatal(err)
			}
			for _, divide := range []float64{1000, 37, 10, 1, 0.5, 0.1} {
				for _, k := range []gppl.Kernel{
					gppl.Periodic{Variance: 1, Lengthscale: 1, Period: step / divide},
					gppl.LocPer{Variance: 1, Lengthscale: 30 * step, Period: step / divide, PeriodicLengthscale: 0.7},
					gppl.Mul(gppl.Matern32{Variance: 1, Lengthscale: 9 * step}, gppl.Periodic{Variance: 1, Lengthscale: 2,
						Period: step / divide}),
				} {
					m := gppl.Model{Kernel: k, Noise: math.Pow(10, -3*rnd.Float64())}
					var value [2]float64
					var grads [2][]float64
					var bound float64
					for i, engine := range []string{gppl.EngineDense, gppl.EngineToeplitz} {
						loss, err := gppl.NewExact(t.Context(), m, d, gppl.WithEngine(engine))
						if err != nil {
							t.Fatal(err)
						}
						theta := gppl.Values(loss.Params())
						grads[i] = make([]float64, len(theta))
						if value[i], err = loss.ValueGrad(t.Context(), grads[i], theta); err != nil {
							t.Fatalf("%v by %s: %v", k, engine, err)
						}
						for p := range theta {
							grads[i][p] *= theta[p]
						}
						bound += loss.Report().LastBound
					}
					cases++
					if bound < 1e-3*float64(n) {
						taken++
					}
					if off := math.Abs(value[0] - value[1]); !(off <= bound) {
						t.Errorf("%v, noise %.3g, n=%d by %.3g: %v, dense %v: off by %.3g, bound %.3g",
							k, m.Noise, n, step, value[1], value[0], off, bound)
					}
					steep := max(1, 2*math.Pi*float64(n)*divide)
					for p := range grads[0] {
						if off := math.Abs(grads[0][p] - grads[1][p]); !(off <= gradientFactor*steep*bound) {
							t.Errorf("%v, noise %.3g, n=%d by %.3g: derivative %d off by %.3g, bound %.3g",
								k, m.Noise, n, step, p, off, gradientFactor*steep*bound)
						}
					}
				}
			}
		}
	}
	t.Logf("%d cases, %d with a bound below 1e-3 nats an observation", cases, taken)
}
