package auto_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// BenchmarkFit learns a short term beside a rhythm from long series: with search, training, standard errors and further starts.
func BenchmarkFit(b *testing.B) {
	for _, n := range []int{20_000, 200_000} {
		for _, times := range []string{"regular", "irregular"} {
			for _, short := range []gppl.Kernel{gppl.SE{}, gppl.Matern32{}} {
				k := gppl.Add(short, gppl.Periodic{})
				_, rough := short.(gppl.Matern32)
				name := map[bool]string{false: "SE+Periodic", true: "Matern32+Periodic"}[rough]
				b.Run(fmt.Sprintf("n=%d/%s/kernel=%s", n, times, name), func(b *testing.B) {
					d := rhythmic(b, n, times == "regular", rough)
					b.ReportAllocs()
					for b.Loop() {
						r, err := auto.Fit(context.Background(), gppl.Model{Kernel: k, Noise: 1}, d, auto.Settings{})
						if err != nil {
							b.Fatal(err)
						}
						if r.Status != gppl.Converged && r.Status != gppl.Doubtful { // few harmonics hardly tell the variance of a rhythm
							b.Fatal(r)
						}
						b.ReportMetric(float64(r.Evaluations), "evaluations")
					}
				})
			}
		}
	}
}

// rhythmic is a rhythm of period 30 with three harmonics, beside a term with a lengthscale of 1/200 of the range, and noise: the
// term is a sum of 300 waves whose frequencies follow the spectrum of SE or Matern32.
func rhythmic(tb testing.TB, n int, regular, rough bool) gppl.Data {
	rnd := rand.New(rand.NewPCG(uint64(n), 7))
	const waves = 300
	var frequency, phase [waves]float64
	for j := range frequency {
		frequency[j], phase[j] = rnd.NormFloat64()*200/float64(n), 2*math.Pi*rnd.Float64()
		if rough { // Student's t of three degrees of freedom
			a, b, c := rnd.NormFloat64(), rnd.NormFloat64(), rnd.NormFloat64()
			frequency[j] /= math.Sqrt((a*a + b*b + c*c) / 3)
		}
	}
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		if x[i] = float64(i); !regular {
			x[i] = float64(n) * rnd.Float64()
		}
		for j, w := range frequency {
			y[i] += math.Sqrt(2./waves) * math.Cos(w*x[i]+phase[j])
		}
		u := 2 * math.Pi * x[i] / 30
		y[i] += math.Sin(u) + 0.5*math.Cos(2*u) + 0.3*math.Sin(3*u) + 0.3*rnd.NormFloat64()
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
